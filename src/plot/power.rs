//! Names of ridge parameters.

use crate::Lambda;

/// A ridge parameter: powers of two as such.
#[expect(clippy::cast_possible_truncation, reason = "exponents of floats")]
pub(crate) fn power(lambda: Lambda) -> String {
    let exponent = lambda.value().log2();
    if exponent.fract() != 0.0 || exponent == 0.0 {
        return lambda.to_string();
    }
    let digit = |char: char| match char {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '0' | '4'..='9' => char::from_u32(0x2070 + (char as u32 - '0' as u32)).unwrap_or(char),
        char => char,
    };
    let exponent = (exponent as i32).to_string();
    format!("2{}", exponent.chars().map(digit).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_are_named_as_such() {
        for (value, text) in [
            (1.0, "1"),
            (0.000_976_562_5, "2⁻¹⁰"),
            (8.0, "2³"),
            (2_f64.powi(45), "2⁴⁵"),
            (3.0, "3"),
        ] {
            assert_eq!(power(Lambda::new(value).unwrap()), text);
        }
    }
}
