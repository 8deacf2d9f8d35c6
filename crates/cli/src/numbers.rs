//! Numbers and names as text.

pub(crate) use rankrls_files::{
    counted, escaped as printable, escaped_lines as printable_lines, exact, short,
};

/// Powers of ten below which numbers are shown with a decimal more.
const POWERS: [f64; 9] = [1e5, 1e4, 1e3, 1e2, 1e1, 1e0, 1e-1, 1e-2, 1e-3];

/// Six significant digits: fixed if readable, else with an exponent. `-` for no number.
pub(crate) fn number(value: impl Into<Option<f64>>) -> String {
    significant(value.into(), 6)
}

/// Four significant digits, for numbers that nobody types again. `-` for no number.
pub(crate) fn four(value: impl Into<Option<f64>>) -> String {
    significant(value.into(), 4)
}

/// So many significant digits, from 3 to 6.
fn significant(value: Option<f64>, digits: usize) -> String {
    let Some(value) = value else {
        return "-".to_owned();
    };
    let magnitude = value.abs();
    if magnitude == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e7).contains(&magnitude) {
        return format!("{value:.*e}", digits - 1);
    }
    fixed(value, &POWERS[6 - digits..])
}

/// A number with as many digits as there are powers of ten from 1 on.
fn fixed(value: f64, powers: &[f64]) -> String {
    let above = powers.iter().take_while(|&&power| value.abs() < power);
    let decimals = above.count();
    format!("{value:.decimals$}")
}

/// A ridge parameter, and its share of the unit.
pub(crate) fn ridge(lambda: f64, unit: f64) -> String {
    let (share, lambda) = (lambda / unit, short(lambda));
    if !(share.is_finite() && share > 0.0) {
        return lambda;
    }
    if !(1e-4..1e6).contains(&share) {
        return format!("{lambda} ({share:.2e} u)");
    }
    // Three digits.
    format!("{lambda} ({} u)", fixed(share, &POWERS[3..]))
}

/// A measure, or `-` if it is undefined.
pub(crate) fn measure(value: impl Into<Option<f64>>) -> String {
    let value = value.into();
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.4}"))
}

/// Sizes of data: rows, queries, columns and non-zeros.
pub(crate) fn sizes(
    rows: usize,
    queries: usize,
    columns: usize,
    nonzeros: impl TryInto<u64>,
) -> String {
    let sizes = [(rows, "row"), (queries, "query"), (columns, "column")];
    let [rows, queries, columns] = sizes.map(|(count, noun)| counted(count, noun));
    let nonzeros = counted(nonzeros, "non-zero");
    format!("{rows}, {queries}, {columns}, {nonzeros}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ridge_parameters_come_with_their_share() {
        for (lambda, unit, text) in [
            (16.0, 230.0, "16 (0.0696 u)"),
            (4.0, 2.0, "4 (2.00 u)"),
            (256.0, 0.87, "256 (294 u)"),
            (1e-9, 2.0, "1e-9 (5.00e-10 u)"),
            (2.0, 0.0, "2"),
            (2.0, f64::INFINITY, "2"),
        ] {
            assert_eq!(ridge(lambda, unit), text);
        }
    }

    #[test]
    fn numbers_have_six_digits() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1.00000"),
            (-12.345_678_9, "-12.3457"),
            (123_456.7, "123457"),
            (1_234_567.8, "1234568"),
            (0.051_234_567, "0.0512346"),
            (0.000_123_456_7, "0.000123457"),
            (1.5e-7, "1.50000e-7"),
            (-2e30, "-2.00000e30"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn figures_of_merit_have_four_digits() {
        for (value, text) in [
            (0.0, "0"),
            (5.394_07, "5.394"),
            (0.041_861_7, "0.04186"),
            (-0.724_748, "-0.7247"),
            (12_345.6, "12346"),
            (1.5e-7, "1.500e-7"),
        ] {
            assert_eq!(four(value), text);
        }
        assert_eq!(four(None), "-");
    }

    #[test]
    fn one_of_a_kind_is_singular() {
        assert_eq!(
            sizes(1, 1, 1, 1_usize),
            "1 row, 1 query, 1 column, 1 non-zero"
        );
        assert_eq!(
            sizes(0, 2, 3, 4_usize),
            "0 rows, 2 queries, 3 columns, 4 non-zeros"
        );
        assert_eq!(counted(2_usize, "column class"), "2 column classes");
    }
}
