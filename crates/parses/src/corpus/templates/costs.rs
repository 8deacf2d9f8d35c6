//! What is said of a parse as a whole.

use super::Described;
use crate::bag::{Bag, ONE};

pub(super) fn describe(parse: &Described<'_>, bag: &mut Bag) {
    let costs = &parse.parse.costs;
    let whole = |count: u32| i32::try_from(count).unwrap_or(i32::MAX).saturating_mul(ONE);
    bag.add(format_args!("num:length"), whole(costs.length));
    for (name, value) in [
        ("cost", costs.disjuncts),
        ("unused", costs.unused.map(whole)),
        ("score", costs.score),
    ] {
        if let Some(value) = value {
            bag.add(format_args!("num:{name}"), value);
        }
    }
}
