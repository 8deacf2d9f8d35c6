//! Where names have room: beside the ends of lines, and near a point.

use super::svg::Point;

/// A name beside the end of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Label {
    /// Where its middle would be best.
    pub(super) wanted: f64,
    pub(super) height: f64,
    /// Whether it may be left out.
    pub(super) spare: bool,
}

/// A label that may be left out is, rather than so far from where it wants to be.
const FAR: f64 = 45.0;

/// Where the middles of labels are, so that none overlaps another and all are near where they want to
/// be, between `top` and `bottom`. `None`: left out, as there is no room.
pub(super) fn spread(labels: &[Label], (top, bottom): Point) -> Vec<Option<f64>> {
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by(|&a, &b| labels[a].wanted.total_cmp(&labels[b].wanted));
    loop {
        let own: Vec<Label> = order.iter().map(|&label| labels[label]).collect();
        let places = apart(&own, (top, bottom));
        let high: f64 = own.iter().map(|label| label.height).sum();
        let far =
            |(label, place): (&Label, &f64)| label.spare && (label.wanted - place).abs() > FAR;
        let narrow = high > bottom - top || own.iter().zip(&places).any(far);
        if let Some(place) = crowded(labels, &order).filter(|_| narrow) {
            order.remove(place);
            continue;
        }
        let mut shown = vec![None; labels.len()];
        for (&label, place) in order.iter().zip(places) {
            shown[label] = Some(place);
        }
        return shown;
    }
}

/// The place in `order` of the spare label that is nearest to its neighbours.
fn crowded(labels: &[Label], order: &[usize]) -> Option<usize> {
    let wanted = |place: usize| order.get(place).map(|&label| labels[label].wanted);
    let room = |place: usize| {
        let before = place.checked_sub(1).and_then(wanted);
        let (own, after) = (wanted(place)?, wanted(place + 1));
        let gaps = [
            before.map(|other| own - other),
            after.map(|other| other - own),
        ];
        Some(gaps.into_iter().flatten().sum::<f64>())
    };
    let spare = (0..order.len()).filter(|&place| labels[order[place]].spare);
    spare.min_by(|&a, &b| room(a).partial_cmp(&room(b)).unwrap_or(a.cmp(&b)))
}

/// The middles of labels that are in order.
fn apart(labels: &[Label], (top, bottom): Point) -> Vec<f64> {
    let mut places: Vec<f64> = labels.iter().map(|label| label.wanted).collect();
    let gap = |place: usize| f64::midpoint(labels[place].height, labels[place + 1].height);
    let pairs = labels.len().saturating_sub(1);
    // Each pair moves apart by the same length, until all have room.
    for _ in 0..200 {
        for pair in 0..pairs {
            let overlap = (gap(pair) - (places[pair + 1] - places[pair])).max(0.0);
            places[pair] -= overlap / 2.0;
            places[pair + 1] += overlap / 2.0;
        }
    }
    let mut least = f64::NEG_INFINITY;
    for (place, label) in places.iter_mut().zip(labels) {
        let half = label.height / 2.0;
        *place = place.max(top + half).max(least + half);
        least = *place + half;
    }
    let mut most = bottom;
    for (place, label) in places.iter_mut().zip(labels).rev() {
        let half = label.height / 2.0;
        *place = place.min(most - half);
        most = *place - half;
    }
    places
}

/// A rectangle: its upper left corner, width and height.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rectangle {
    pub(super) at: Point,
    pub(super) size: Point,
}

impl Rectangle {
    /// Whether a point is inside, or nearer than `margin`.
    pub(super) fn holds(&self, (x, y): Point, margin: f64) -> bool {
        let within = |value: f64, from: f64, extent: f64| {
            (from - margin..=from + extent + margin).contains(&value)
        };
        within(x, self.at.0, self.size.0) && within(y, self.at.1, self.size.1)
    }
}

/// A place for a text of this `size` near a point within `area`, over as few as there can be of the
/// points that are `taken`.
pub(super) fn near((x, y): Point, size: Point, area: Rectangle, taken: &[Point]) -> Rectangle {
    let (width, height) = size;
    let cost = |place: &Rectangle| {
        let hits = taken.iter().filter(|&&point| place.holds(point, 3.0));
        let across = place.at.0 + width / 2.0 - x;
        let down = place.at.1 + height / 2.0 - y;
        4.0 * hits.count() as f64 + 0.1 * across.hypot(2.0 * down)
    };
    let clamped = |left: f64, top: f64| {
        let most = |from: f64, extent: f64, own: f64| (from + extent - own).max(from);
        let right = most(area.at.0, area.size.0, width);
        let bottom = most(area.at.1, area.size.1, height);
        Rectangle {
            at: (left.clamp(area.at.0, right), top.clamp(area.at.1, bottom)),
            size,
        }
    };
    let distances = [11.0, 18.0, 27.0, 40.0, 58.0, 80.0, 105.0];
    let places = distances.into_iter().flat_map(|far| {
        let [left, right] = [x - far - width, x + far];
        let [above, below] = [y - far - height, y + far];
        let [middle, beside] = [x - width / 2.0, y - height / 2.0];
        [
            clamped(middle, above),
            clamped(middle, below),
            clamped(right, beside),
            clamped(left, beside),
            clamped(x, above),
            clamped(x, below),
            clamped(x - width, above),
            clamped(x - width, below),
        ]
    });
    // The point itself stays free.
    let free = places.filter(|place| !place.holds((x, y), 7.0));
    let best = free.min_by(|a, b| cost(a).total_cmp(&cost(b)));
    best.unwrap_or_else(|| clamped(x - width / 2.0, y + 11.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(wanted: &[f64], spare: bool, room: Point) -> Vec<Option<f64>> {
        let height = 10.0;
        let label = |&wanted: &f64| Label {
            wanted,
            height,
            spare,
        };
        spread(&wanted.iter().map(label).collect::<Vec<_>>(), room)
    }

    #[test]
    fn labels_stand_a_line_apart_and_within() {
        let room = (0.0, 100.0);
        for wanted in [
            &[5.0, 50.0, 95.0][..],
            &[50.0; 8],
            &[-20.0, -10.0, 0.0, 500.0],
            &[99.0, 98.0, 97.0, 3.0],
            &[0.0; 10],
        ] {
            let places = places(wanted, false, room);
            let mut places: Vec<f64> = places.into_iter().map(Option::unwrap).collect();
            places.sort_by(f64::total_cmp);
            assert!(places[0] >= 5.0 - 1e-9 && places[places.len() - 1] <= 95.0 + 1e-9);
            assert!(
                places
                    .windows(2)
                    .all(|pair| pair[1] - pair[0] >= 10.0 - 1e-9)
            );
        }
        // Those with room stay where they are, the others are about their mean.
        assert_eq!(places(&[20.0, 60.0], false, room), [Some(20.0), Some(60.0)]);
        let near = places(&[60.0, 60.0], false, room);
        assert_eq!(near, [Some(55.0), Some(65.0)]);
    }

    #[test]
    fn spare_labels_without_room_are_left_out() {
        let wanted: Vec<f64> = (0..21).map(f64::from).collect();
        let shown = places(&wanted, true, (0.0, 100.0));
        assert!(
            (4..10).contains(&shown.iter().flatten().count()),
            "{shown:?}"
        );
        let far =
            |(wanted, shown): (&f64, &Option<f64>)| shown.is_some_and(|shown| shown - wanted > FAR);
        assert!(!wanted.iter().zip(&shown).any(far));
        let all = places(&wanted, false, (0.0, 100.0));
        assert_eq!(all.iter().flatten().count(), 21);
    }

    #[test]
    fn a_text_near_a_point_is_over_nothing_else_where_it_can_be() {
        let area = Rectangle {
            at: (0.0, 0.0),
            size: (400.0, 200.0),
        };
        // A curve that falls from the upper left.
        let curve = (1..400).map(|x| (f64::from(x), 200.0 - 4000.0 / f64::from(x + 20)));
        let curve: Vec<Point> = curve.collect();
        for point in [curve[5], curve[80], curve[390], (0.0, 0.0), (400.0, 200.0)] {
            let place = near(point, (120.0, 30.0), area, &curve);
            assert!(!curve.iter().any(|&point| place.holds(point, 0.0)));
            assert!(area.holds(place.at, 0.0) && place.at.0 + 120.0 <= 400.0);
        }
        // What is larger than the area begins where the area does.
        let place = near((10.0, 10.0), (900.0, 30.0), area, &curve);
        assert!(place.at.0.abs() < 1e-9);
    }
}
