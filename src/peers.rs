//! Ranks: processes, or threads, that each have some of the columns and take every step together.
//!
//! Each rank has all rows, labels and queries, the state of the selection, and the columns that
//! [`Partition`](crate::columns::Partition) gives it. [`ColumnClasses::among`] makes the column
//! classes of a rank know the others; all that selects from them then selects from the columns of
//! all ranks, and ends with the same features, errors and weights on every rank, to the last bit
//! those of one rank with all columns.
//!
//! ```
//! use rankrls::columns::Partition;
//! use rankrls::data::sample;
//! use rankrls::greedy::select_among;
//! use rankrls::peers::on_threads;
//! use rankrls::{Lambda, SelectionOptions, select};
//!
//! let data = sample::train();
//! let options = SelectionOptions::new(5, Lambda::new(16.0)?);
//! let alone = select(&data, &options, &mut ())?;
//! let paths = on_threads(3, |peers| {
//!     let own = Partition::share(&data, peers.count(), peers.rank());
//!     let candidates = options.candidates(&own).among(peers);
//!     select_among(&candidates, &own, own.memory(), &options, &mut ())
//! });
//! for path in paths {
//!     assert_eq!(path?.errors(), alone.errors());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`ColumnClasses::among`]: crate::columns::ColumnClasses::among

use std::fmt;
use std::panic::resume_unwind;
use std::slice::Iter;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

/// The ranks of a job, as one of them sees them.
///
/// Ranks work in step: every rank calls the same methods in the same order. A rank that is lost
/// ends the job.
pub trait Peers: fmt::Debug + Send + Sync {
    /// The number of this rank, from 0.
    fn rank(&self) -> usize;

    /// How many ranks there are.
    fn count(&self) -> usize;

    /// The words of every rank, in order of ranks. They may differ in length.
    fn gather(&self, own: Vec<u64>) -> Vec<Vec<u64>>;
}

impl dyn Peers + '_ {
    /// The values of every rank, in order of ranks.
    pub fn all<T: Wire>(&self, own: &T) -> Vec<T> {
        let mut words = Vec::new();
        own.put(&mut words);
        let all = self.gather(words);
        all.iter().map(|words| T::get(&mut words.iter())).collect()
    }

    /// Whether a rank says yes.
    pub fn any(&self, yes: bool) -> bool {
        self.all(&u64::from(yes)).contains(&1)
    }

    /// The least of the ranks' numbers.
    pub fn least(&self, own: f64) -> f64 {
        self.all(&own).into_iter().fold(f64::INFINITY, f64::min)
    }

    /// The sum of the ranks' counts, place by place.
    pub(crate) fn totals<const N: usize>(&self, own: [usize; N]) -> [usize; N] {
        self.fold(own, |sum, count| sum + count)
    }

    /// The largest of the ranks' counts, place by place.
    pub(crate) fn most<const N: usize>(&self, own: [usize; N]) -> [usize; N] {
        self.fold(own, usize::max)
    }

    fn fold<const N: usize>(
        &self,
        own: [usize; N],
        join: impl Fn(usize, usize) -> usize,
    ) -> [usize; N] {
        let all = self.all(&own).into_iter();
        all.fold([0; N], |found, counts| {
            std::array::from_fn(|place| join(found[place], counts[place]))
        })
    }
}

/// What ranks send each other, as words.
pub trait Wire: Sized {
    /// Adds the words of the value.
    fn put(&self, words: &mut Vec<u64>);

    /// Takes the words of a value that a rank of the same version has put.
    fn get(words: &mut Iter<'_, u64>) -> Self;
}

impl Wire for u64 {
    fn put(&self, words: &mut Vec<u64>) {
        words.push(*self);
    }

    fn get(words: &mut Iter<'_, u64>) -> Self {
        *words.next().expect("a word more")
    }
}

/// Numbers that are a word each.
macro_rules! wire {
    ($($type:ty: |$own:ident| $word:expr, |$found:ident| $value:expr;)+) => {$(
        impl Wire for $type {
            fn put(&self, words: &mut Vec<u64>) {
                let $own = *self;
                words.push($word);
            }

            fn get(words: &mut Iter<'_, u64>) -> Self {
                let $found = u64::get(words);
                $value
            }
        }
    )+};
}

wire! {
    u8: |number| number.into(), |word| u8::try_from(word).expect("a byte");
    u32: |number| number.into(), |word| u32::try_from(word).expect("a number of 32 bits");
    usize: |number| number as u64, |word| usize::try_from(word).expect("a number of this machine");
    f64: |number| number.to_bits(), |word| f64::from_bits(word);
}

impl<T: Wire> Wire for Vec<T> {
    fn put(&self, words: &mut Vec<u64>) {
        self.len().put(words);
        for value in self {
            value.put(words);
        }
    }

    fn get(words: &mut Iter<'_, u64>) -> Self {
        let count = usize::get(words);
        (0..count).map(|_| T::get(words)).collect()
    }
}

impl<T: Wire, const N: usize> Wire for [T; N] {
    fn put(&self, words: &mut Vec<u64>) {
        for value in self {
            value.put(words);
        }
    }

    fn get(words: &mut Iter<'_, u64>) -> Self {
        std::array::from_fn(|_| T::get(words))
    }
}

impl<T: Wire> Wire for Option<T> {
    fn put(&self, words: &mut Vec<u64>) {
        u64::from(self.is_some()).put(words);
        if let Some(value) = self {
            value.put(words);
        }
    }

    fn get(words: &mut Iter<'_, u64>) -> Self {
        (u64::get(words) == 1).then(|| T::get(words))
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    fn put(&self, words: &mut Vec<u64>) {
        self.0.put(words);
        self.1.put(words);
    }

    fn get(words: &mut Iter<'_, u64>) -> Self {
        (A::get(words), B::get(words))
    }
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
            // A rank that is gone is found below.
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

/// Does `work` as `count` ranks, a thread each with a pool of one thread of its own, and returns
/// their results in order of ranks.
///
/// # Panics
/// When a rank does, or when threads cannot be started.
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
            let counts = [peers.rank(), 1];
            let (totals, most) = (peers.totals(counts), peers.most(counts));
            let any = peers.any(rank == 1);
            (peers.gather(words), least, totals, most, any)
        });
        for found in all {
            assert_eq!(found.0, [vec![], vec![0], vec![0, 1]]);
            assert_eq!((found.1, found.4), (-2.0, true));
            assert_eq!((found.2, found.3), ([3, 3], [2, 1]));
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
