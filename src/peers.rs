//! Ranks: processes or threads that each have some of the columns and take every step together.
//!
//! Each rank has all rows, labels and queries, the state of the selection, and its
//! [`share`](crate::columns::share) of the columns. [`ColumnClasses::among`] makes the classes of a rank
//! know the others. A selection on them then is over the columns of all ranks. It ends with the same features,
//! errors and weights on every rank, equal to the last bit to one rank with all columns.
//!
//! ```
//! use rankrls::columns::share;
//! use rankrls::data::sample;
//! use rankrls::greedy::job::{select, select_among, unwatched};
//! use rankrls::peers::on_threads;
//! use rankrls::{Lambda, GreedyRankRls};
//!
//! let data = sample::train();
//! let options = GreedyRankRls::new(5, Lambda::new(16.0)?);
//! let alone = select(&data, &options, &mut unwatched)?;
//! let paths = on_threads(3, |peers| {
//!     let own = share(&data, peers.count(), peers.rank());
//!     let candidates = options.candidates(&own)?.among(peers);
//!     select_among(&candidates, &own, &options, &[], &mut unwatched)
//! });
//! for path in paths {
//!     assert_eq!(path?.errors(), alone.errors());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`ColumnClasses::among`]: crate::ColumnClasses::among

use std::fmt;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::memory::Memory;

/// The ranks of a job, from the view of one of them.
///
/// Ranks work in step: every rank calls the same methods in the same order. A lost rank ends the job.
pub trait Peers: fmt::Debug + Send + Sync {
    /// The number of this rank, from 0.
    fn rank(&self) -> usize;

    /// Number of ranks.
    fn count(&self) -> usize;

    /// The words of every rank, in the order of ranks. They may differ in length.
    fn gather(&self, own: Vec<u64>) -> Vec<Vec<u64>>;
}

impl dyn Peers + '_ {
    /// The values of every rank, in the order of ranks.
    #[expect(clippy::missing_panics_doc, reason = "ranks are of one version")]
    pub fn all<T: Clone + Serialize + DeserializeOwned>(&self, own: &T) -> Vec<T> {
        if self.count() == 1 {
            return vec![own.clone()];
        }
        let all = self.gather(to_words(own));
        let value = |words: &Vec<u64>| from_words(words).expect("ranks are of one version");
        all.iter().map(value).collect()
    }

    /// Whether any rank says yes.
    pub(crate) fn any(&self, yes: bool) -> bool {
        self.all(&yes).contains(&true)
    }

    /// The largest held memory and the least limit of all ranks, so that all ranks plan alike.
    pub(crate) fn agreed(&self, own: Memory) -> Memory {
        let all = self.all(&(own.held, own.limit));
        let held = all.iter().map(|&(held, _)| held).fold(0, u64::max);
        Memory::limit(all.iter().filter_map(|&(_, limit)| limit).min()).holding(held)
    }

    /// The least of the ranks' numbers.
    pub(crate) fn least(&self, own: f64) -> f64 {
        self.all(&own).into_iter().fold(f64::INFINITY, f64::min)
    }
}

/// A value as words: its bytes, padded with zeros. Types whose serialisation depends on their values, such as
/// options, are not suitable.
#[expect(
    clippy::missing_panics_doc,
    reason = "numbers, texts and lists of them have bytes"
)]
pub fn to_words<T: Serialize>(value: &T) -> Vec<u64> {
    let mut bytes = postcard::to_stdvec(value).expect("numbers, texts and lists of them");
    bytes.resize(bytes.len().next_multiple_of(size_of::<u64>()), 0);
    let (words, _) = bytes.as_chunks();
    words.iter().copied().map(u64::from_le_bytes).collect()
}

/// The value with these [words](to_words). `None` if they are not such a value.
pub fn from_words<T: DeserializeOwned>(words: &[u64]) -> Option<T> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    postcard::from_bytes(&bytes).ok()
}

/// The only rank.
#[derive(Debug, Clone, Copy, Default)]
pub struct Alone;

impl Peers for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn count(&self) -> usize {
        1
    }

    fn gather(&self, own: Vec<u64>) -> Vec<Vec<u64>> {
        vec![own]
    }
}

/// A rank that is a thread.
#[derive(Debug)]
struct Thread {
    rank: usize,
    /// To every rank.
    senders: Vec<Sender<Vec<u64>>>,
    /// From every rank.
    receivers: Vec<Mutex<Receiver<Vec<u64>>>>,
}

impl Peers for Thread {
    fn rank(&self) -> usize {
        self.rank
    }

    fn count(&self) -> usize {
        self.senders.len()
    }

    fn gather(&self, own: Vec<u64>) -> Vec<Vec<u64>> {
        for sender in &self.senders {
            // The receiving side finds a lost rank.
            let _ = sender.send(own.clone());
        }
        let receive = |(rank, receiver): (usize, &Mutex<Receiver<_>>)| {
            let receiver = receiver.lock().unwrap_or_else(PoisonError::into_inner);
            receiver
                .recv()
                .unwrap_or_else(|_| panic!("rank {rank} is gone"))
        };
        self.receivers.iter().enumerate().map(receive).collect()
    }
}

/// Does `work` as `count` ranks, each in a thread with its own pool of one thread. Returns the results in the order
/// of ranks.
///
/// # Panics
/// If a rank panics, or if threads cannot be started.
pub fn on_threads<T: Send>(count: usize, work: impl Fn(Arc<dyn Peers>) -> T + Sync) -> Vec<T> {
    let mut senders: Vec<Vec<Sender<_>>> = (0..count).map(|_| Vec::new()).collect();
    let receivers = (0..count).map(|_| {
        let from = senders.iter_mut().map(|senders| {
            let (sender, receiver) = channel();
            senders.push(sender);
            Mutex::new(receiver)
        });
        from.collect::<Vec<_>>()
    });
    let receivers: Vec<_> = receivers.collect();
    let work = &work;
    std::thread::scope(|scope| {
        let ranks = senders.into_iter().zip(receivers).enumerate();
        let start = |(rank, (senders, receivers))| {
            let peers = Thread {
                rank,
                senders,
                receivers,
            };
            scope.spawn(move || {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
                let pool = pool.expect("a thread can be started");
                pool.install(|| work(Arc::new(peers)))
            })
        };
        let ranks: Vec<_> = ranks.map(start).collect();
        let results = ranks.into_iter().map(std::thread::ScopedJoinHandle::join);
        let results = results.map(|result| result.unwrap_or_else(|panic| resume_unwind(panic)));
        results.collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_gathers_the_same() {
        let alone = Alone.gather(vec![3, 4]);
        assert_eq!(alone, [[3, 4]]);
        let all = on_threads(3, |peers| {
            let rank = peers.rank() as u64;
            let words: Vec<u64> = (0..rank).collect();
            let least = peers.least(-(rank as f64));
            let any = peers.any(rank == 1);
            let values = peers.all(&(Some(-0.0), words.len(), "é".to_owned()));
            (peers.gather(words), (least, any), values)
        });
        for found in all {
            assert_eq!(found.0, [vec![], vec![0], vec![0, 1]]);
            assert_eq!(found.1, (-2.0, true));
            let value = |rank| (Some(-0.0), rank, "é".to_owned());
            assert_eq!(found.2, [0, 1, 2].map(value));
        }
    }

    #[test]
    #[should_panic(expected = "on its own")]
    fn a_rank_that_fails_ends_the_others() {
        on_threads(2, |peers| {
            assert!(peers.rank() > 0, "on its own");
            peers.gather(Vec::new());
        });
    }
}
