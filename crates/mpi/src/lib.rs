//! Selection as the ranks of an MPI job.
//!
//! The first thread of a rank talks to MPI, and another one works. The work may then use any thread, and MPI needs
//! to support only one.

mod failure;
mod select;

use std::process::ExitCode;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use mpi::datatype::PartitionMut;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives};
use mpi::{Count, Threading};
use rankrls::peers::Peers;

pub use select::run;

/// Words of a message that goes round at once. It has one word for the length, and all others if they fit.
const SHORT: usize = 16;

/// Stack of the working thread, in bytes: the usual size of a first thread.
const STACK: usize = 8 << 20;

/// The ranks of the job, as the working thread sees them.
#[derive(Debug)]
struct Ranks {
    rank: usize,
    count: usize,
    /// The words to gather.
    requests: Sender<Vec<u64>>,
    answers: Mutex<Receiver<Vec<Vec<u64>>>>,
}

impl Peers for Ranks {
    fn rank(&self) -> usize {
        self.rank
    }

    fn count(&self) -> usize {
        self.count
    }

    fn gather(&self, own: Vec<u64>) -> Vec<Vec<u64>> {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = self.requests.send(own).ok();
        let answer = answer.and_then(|()| answers.recv().ok());
        answer.expect("the thread that talks to MPI outlives this one")
    }
}

/// Gathers the words of every rank.
fn gather(world: &SimpleCommunicator, own: &[u64]) -> Vec<Vec<u64>> {
    let count = size(world.size());
    let mut short = [0; SHORT];
    short[0] = own.len() as u64;
    for (place, word) in short[1..].iter_mut().zip(own) {
        *place = *word;
    }
    let mut all = vec![0; SHORT * count];
    world.all_gather_into(&short[..], &mut all[..]);
    let shorts = all.chunks_exact(SHORT);
    let lengths: Vec<usize> = shorts.clone().map(|words| number(words[0])).collect();
    if lengths.iter().all(|&length| length < SHORT) {
        let words = shorts.zip(lengths);
        return words
            .map(|(words, length)| words[1..=length].to_vec())
            .collect();
    }
    receive(&lengths, |parts| {
        world.all_gather_varcount_into(own, parts);
    })
}

/// Parts of these lengths, filled by `fill`.
fn receive(
    lengths: &[usize],
    fill: impl FnOnce(&mut PartitionMut<'_, [u64], Vec<Count>, Vec<Count>>),
) -> Vec<Vec<u64>> {
    let (counts, starts) = places(lengths);
    let mut all = vec![0; lengths.iter().sum()];
    fill(&mut PartitionMut::new(&mut all[..], counts, starts));
    let mut rest = &all[..];
    let parts = lengths.iter().map(|&length| {
        let part = rest.split_off(..length).unwrap_or_default();
        part.to_vec()
    });
    parts.collect()
}

/// Lengths and starts of consecutive parts, in MPI's count type.
fn places(lengths: &[usize]) -> (Vec<Count>, Vec<Count>) {
    let starts = lengths.iter().scan(0, |next, length| {
        let start = *next;
        *next += length;
        Some(of_mpi(start))
    });
    (
        lengths.iter().copied().map(of_mpi).collect(),
        starts.collect(),
    )
}

/// A number of words in MPI's count type.
fn of_mpi(words: usize) -> Count {
    Count::try_from(words).expect("MPI counts in 32 bits: take more ranks")
}

fn number(word: u64) -> usize {
    usize::try_from(word).expect("a number of words")
}

fn size(count: Count) -> usize {
    usize::try_from(count).expect("a number of ranks")
}

/// Does `work` as a rank of the job that `mpirun` has started. Without `mpirun`, it is the only rank.
pub fn as_rank(work: impl FnOnce(Arc<dyn Peers>) -> ExitCode + Send + 'static) -> ExitCode {
    let Some((universe, _)) = mpi::initialize_with_threading(Threading::Funneled) else {
        eprintln!("error: MPI cannot be started");
        return ExitCode::FAILURE;
    };
    let world = universe.world();
    let (requests, asked) = channel();
    let (answer, answers) = channel();
    let ranks = Ranks {
        rank: size(world.rank()),
        count: size(world.size()),
        requests,
        answers: Mutex::new(answers),
    };
    let thread = thread::Builder::new().stack_size(STACK);
    let Ok(thread) = thread.spawn(move || work(Arc::new(ranks))) else {
        eprintln!("error: rank {} cannot start a thread", world.rank());
        world.abort(1);
    };
    // Ends when the working thread has ended.
    for own in asked {
        let _ = answer.send(gather(&world, &own));
    }
    thread.join().unwrap_or_else(|_| world.abort(1))
}
