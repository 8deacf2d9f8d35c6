//! Labels one above the other that do not overlap.

/// Places as near to `wanted` as may be, in their order, at least `gap` apart, from `top` to
/// `bottom`. `wanted` need not be sorted; where there is no room for all, the gaps are less.
pub(super) fn spread(wanted: &[f64], gap: f64, top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    let room = (bottom - top) / (wanted.len().max(2) - 1) as f64;
    let gap = gap.min(room);
    let mut blocks: Vec<Block> = Vec::new();
    for &index in &order {
        blocks.push(Block {
            middle: wanted[index],
            members: 1,
        });
        settle(&mut blocks, gap, top, bottom);
    }
    let mut placed = vec![0.0; wanted.len()];
    let mut order = order.into_iter();
    for block in blocks {
        for (member, index) in (0..block.members).zip(order.by_ref()) {
            placed[index] = block.top(gap) + gap * member as f64;
        }
    }
    placed
}

/// Labels in a row, as near to each other as they may be.
struct Block {
    middle: f64,
    members: usize,
}

impl Block {
    fn top(&self, gap: f64) -> f64 {
        self.middle - self.half(gap)
    }

    fn bottom(&self, gap: f64) -> f64 {
        self.middle + self.half(gap)
    }

    fn half(&self, gap: f64) -> f64 {
        gap * (self.members - 1) as f64 / 2.0
    }
}

/// Keeps the last block within the limits, and joins it with those that it is too near to.
fn settle(blocks: &mut Vec<Block>, gap: f64, top: f64, bottom: f64) {
    while let Some(mut last) = blocks.pop() {
        let half = last.half(gap);
        // Not `clamp`: rounding may leave no room at all.
        last.middle = last.middle.min(bottom - half).max(top + half);
        match blocks.pop() {
            Some(before) if last.top(gap) < before.bottom(gap) + gap => {
                let members = before.members + last.members;
                let sum = before.middle * before.members as f64 + last.middle * last.members as f64;
                blocks.push(Block {
                    middle: sum / members as f64,
                    members,
                });
            }
            before => {
                blocks.extend(before);
                blocks.push(last);
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_with_room_stay() {
        assert_eq!(spread(&[50.0, 10.0], 15.0, 0.0, 100.0), [50.0, 10.0]);
        assert!(spread(&[], 15.0, 0.0, 100.0).is_empty());
    }

    #[test]
    fn labels_never_overlap() {
        let wanted = [3.0, 99.0, 98.0, 97.0, 50.0, 1.0, 2.0];
        let placed = spread(&wanted, 12.0, 0.0, 100.0);
        let mut sorted = placed.clone();
        sorted.sort_by(f64::total_cmp);
        assert!(sorted.windows(2).all(|pair| pair[1] - pair[0] > 11.999));
        assert!(sorted[0] >= 0.0 && sorted[6] <= 100.0, "{sorted:?}");
        for (a, b) in [(5, 6), (6, 0), (0, 4), (4, 3), (3, 2), (2, 1)] {
            assert!(placed[a] < placed[b], "{placed:?}");
        }
        let full = spread(&[5.0; 30], 12.0, 0.0, 100.0);
        assert!(
            full.iter()
                .all(|place| (-1e-9..=100.0 + 1e-9).contains(place))
        );
    }
}
