//! A hash of the query-centred form up to sign, computed without centring.
//!
//! A double is a whole number times a power of 2, so it has a residue modulo the prime `p = 2^61 - 1`. The residue
//! of an exact difference is the difference of the residues. Rows `i - 1` and `i` of a query share a weight, which
//! is 0 if `i` begins a query:
//!
//! ```text
//! h(x)    = the sum over rows i of weight_i (x_(i-1) - x_i) mod p, exactly
//! hash(x) = the lesser of h(x) and p - h(x)
//! ```
//!
//! A constant in a query changes nothing, and a change of sign turns `h` into `p - h`. Consecutive rows with the
//! same value take one multiplication: `x (weight_end - weight_start)`.

use super::query_rows::QueryStarts;
use crate::data::Column;

/// `p`.
const PRIME: u64 = (1 << BITS) - 1;
const BITS: u32 = 61;

/// The hash of a column over queries that begin at `starts`. `None` if the column is constant in every query.
/// O(non-zeros) time.
pub(super) fn form_hash(starts: &QueryStarts, column: Column<'_>) -> Option<u64> {
    let weight_of = |row: u32| {
        let weight = scattered(u64::from(row)) & PRIME;
        if starts.has(row) { 0 } else { weight }
    };
    let (rows, values) = (column.rows, column.values);
    let (mut sum, mut next, mut varies) = (0, 0, false);
    while let (Some(&start), Some(&value)) = (rows.get(next), values.get(next)) {
        let mut end = start;
        while rows.get(next) == Some(&end) && values[next] == value {
            (next, end) = (next + 1, end + 1);
        }
        // A constant fills whole queries.
        varies |= value != 0.0 && !(starts.has(start) && starts.has(end));
        let weight = weight_of(end) + PRIME - weight_of(start);
        let product = u128::from(weight) * u128::from(residue(value));
        sum += u128::from(folded(product));
    }
    let hash = folded(sum) % PRIME;
    varies.then_some(hash.min(PRIME - hash))
}

/// A number below `2^63` that is congruent mod `p` to a number below `2^123`.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the parts have 61 bits and 62"
)]
fn folded(number: u128) -> u64 {
    (number as u64 & PRIME) + (number >> BITS) as u64
}

/// A finite number mod `p`, at most `p`.
fn residue(value: f64) -> u64 {
    let bits = value.to_bits();
    let exponent = bits >> 52 & 0x7ff;
    let normal = exponent.min(1);
    let mantissa = bits & ((1 << 52) - 1) | normal << 52;
    // The last digit counts 2^(exponent - 1075), and 2^61 is 1 mod p. Subnormal numbers have the exponent 1.
    let shift = (exponent + 1 - normal + 18 * u64::from(BITS) - 1075) % u64::from(BITS);
    let turned = mantissa << shift & PRIME | mantissa >> (u64::from(BITS) - shift);
    if value < 0.0 { PRIME - turned } else { turned }
}

/// Mixes another word into `hash`.
pub(crate) fn mix(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// A hash whose highest bits depend on all bits of `hash` (the finaliser of `SplitMix64`).
pub(crate) fn scattered(hash: u64) -> u64 {
    let hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ hash >> 31
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::classes::exact_difference;
    use super::*;
    use crate::data::Queries;

    fn hash(sizes: &[usize], dense: &[f64]) -> Option<u64> {
        let queries = Queries::from_sizes(sizes).unwrap();
        let rows: Vec<u32> = (0..).take(dense.len()).collect();
        let (rows, values) = (&rows, dense);
        form_hash(&QueryStarts::new(&queries), Column { rows, values })
    }

    #[test]
    fn constants_within_queries_have_no_hash() {
        assert_eq!(hash(&[2, 3], &[0.1, 0.1, -7.5, -7.5, -7.5]), None);
        assert_eq!(hash(&[1, 1], &[3.0, f64::MIN_POSITIVE / 4.0]), None);
        assert_eq!(hash(&[3, 1], &[0.0, -0.0, 0.0, 2.0]), None);
        assert!(hash(&[2, 3], &[7.5, 7.5, 7.5, 7.5, 0.0]).is_some());
        assert!(hash(&[2, 3], &[0.0, 7.5, 7.5, 7.5, 7.5]).is_some());
    }

    #[test]
    fn shifted_and_mirrored_columns_share_a_hash() {
        let plain = hash(&[4, 3], &[0.0, 1.0, 0.0, 0.0, 2.0, 0.0, 5.0]);
        let shifted = [3.25, 4.25, 3.25, 3.25, 2.0, 0.0, 5.0];
        assert_eq!(plain, hash(&[4, 3], &shifted));
        let mirrored = shifted.map(|value| 1.0 - value);
        assert_eq!(plain, hash(&[4, 3], &mirrored));
        assert_ne!(plain, hash(&[4, 3], &[0.0, 1.0, 0.0, 0.0, 2.0, 5.0, 0.0]));
    }

    #[test]
    fn rounding_does_not_make_hashes_equal() {
        assert_ne!(hash(&[2], &[0.1, 0.3]), hash(&[2], &[0.0, 0.2]));
        let large = [1.0, 1e16, 1.5];
        assert_ne!(hash(&[3], &large), hash(&[3], &[0.0, 1e16, 0.5]));
    }

    proptest! {
        #[test]
        fn residues_are_those_of_exact_differences(a in any::<f64>(), b in any::<f64>(), places in 0..60) {
            // Numbers with overlapping digits, and arbitrary ones.
            for b in [b, a * (1.0 + b.fract() * 0.5_f64.powi(places))] {
                let (value, rounding) = exact_difference(a, b);
                if rounding.is_finite() {
                    let difference = residue(value) + residue(rounding);
                    prop_assert_eq!((residue(a) + PRIME - residue(b)) % PRIME, difference % PRIME);
                }
            }
        }
    }
}
