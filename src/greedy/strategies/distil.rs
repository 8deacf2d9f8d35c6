//! Forward selection towards predictions for unseen queries.
//!
//! The state that this strategy judges by has the target `t = (1 - blend) z + blend y` for labels
//! ([`crate::GreedyRankRls::blend`]), `z` being predictions of a teacher that had not seen the
//! query. Towards it, it is [`residual`](super::pursuit): the least regularised training error. A
//! column gets no credit for the noise of its own queries, which is what spoils the search by labels.

use super::pursuit::Pursuit;
use crate::greedy::strategy::Facts;

pub(super) const FACTS: Facts = Facts {
    name: "distil",
    samples: true,
    distils: true,
    memory: Pursuit::memory,
    build: |candidates, _| Box::new(Pursuit::new(candidates)),
    ..Facts::USUAL
};
