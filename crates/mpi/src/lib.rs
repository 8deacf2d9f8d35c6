//! Work as the ranks of an MPI job.
//!
//! The first thread of a rank talks to MPI and another works, so that the work may be on any thread
//! and MPI is asked for no more than one.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use mpi::datatype::PartitionMut;
use mpi::topology::{Color, SimpleCommunicator};
use mpi::traits::{Communicator, CommunicatorCollectives, Destination, Source};
use mpi::{Count, Threading};
use rankrls::peers::Peers;

/// Words that go round at once: one for their number, and all where they are few.
const SHORT: usize = 16;

/// Bytes of the stack of the thread that works: as many as the first thread of a process has.
const STACK: usize = 8 << 20;

/// Bytes that hold an alert on its way.
const ALERT: usize = 1 << 10;

/// A job of the thread that talks to MPI, for the communicator of a number.
enum Request {
    Gather(usize, Vec<u64>),
    Divide(usize, usize),
    Alert(usize),
}

/// The way to the thread that talks to MPI.
#[derive(Debug)]
struct Line {
    requests: Sender<Request>,
    answers: Mutex<Receiver<Vec<Vec<u64>>>>,
    alerted: Arc<AtomicBool>,
}

impl Line {
    fn ask(&self, request: Request) -> Vec<Vec<u64>> {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = self.requests.send(request).ok();
        let answer = answer.and_then(|()| answers.recv().ok());
        answer.expect("the thread that talks to MPI outlives this one")
    }
}

/// The ranks of a communicator, for the thread that works.
#[derive(Debug)]
struct Ranks {
    rank: usize,
    count: usize,
    communicator: usize,
    line: Arc<Line>,
}

impl Peers for Ranks {
    fn rank(&self) -> usize {
        self.rank
    }

    fn count(&self) -> usize {
        self.count
    }

    fn gather(&self, own: Vec<u64>) -> Vec<Vec<u64>> {
        self.line.ask(Request::Gather(self.communicator, own))
    }

    fn divide(&self, groups: usize) -> [Arc<dyn Peers>; 2] {
        let size = self.count / groups;
        let numbers = self.line.ask(Request::Divide(self.communicator, size));
        let ranks = |rank, count, place: usize| {
            Arc::new(Self {
                rank,
                count,
                communicator: number(numbers[0][place]),
                line: Arc::clone(&self.line),
            })
        };
        [
            ranks(self.rank % size, size, 0),
            ranks(self.rank / size, groups, 1),
        ]
    }

    fn alert(&self) {
        self.line.ask(Request::Alert(self.communicator));
    }

    fn alerted(&self) -> bool {
        self.line.alerted.load(Ordering::Relaxed)
    }
}

/// Does a job.
fn serve(
    communicators: &mut Vec<SimpleCommunicator>,
    request: Request,
    alerted: &AtomicBool,
) -> Vec<Vec<u64>> {
    match request {
        Request::Gather(which, own) => {
            let all = gather(&communicators[which], &own);
            for communicator in communicators {
                let any = communicator.any_process();
                while any.immediate_probe().is_some() {
                    any.receive::<u64>();
                    alerted.store(true, Ordering::Relaxed);
                }
            }
            all
        }
        Request::Divide(which, size) => {
            let world = &communicators[which];
            let (rank, size) = (world.rank(), of_mpi(size));
            let next = communicators.len();
            let parts = [rank / size, rank % size].map(|color| {
                let part = world.split_by_color(Color::with_value(color));
                part.expect("a rank of a color is in a group")
            });
            communicators.extend(parts);
            vec![vec![next as u64, next as u64 + 1]]
        }
        Request::Alert(which) => {
            let ranks = &communicators[which];
            for other in (0..ranks.size()).filter(|&other| other != ranks.rank()) {
                ranks.process_at_rank(other).buffered_send(&1u64);
            }
            Vec::new()
        }
    }
}

/// The words of every rank.
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
    let lengths_of_mpi: Vec<Count> = lengths.iter().copied().map(of_mpi).collect();
    let starts = lengths.iter().scan(0, |next, length| {
        let start = *next;
        *next += length;
        Some(of_mpi(start))
    });
    let starts: Vec<Count> = starts.collect();
    let mut all = vec![0; lengths.iter().sum()];
    let mut parts = PartitionMut::new(&mut all[..], lengths_of_mpi, starts);
    world.all_gather_varcount_into(own, &mut parts);
    let mut rest = &all[..];
    let parts = lengths.into_iter().map(|length| {
        let part = rest.split_off(..length).unwrap_or_default();
        part.to_vec()
    });
    parts.collect()
}

/// A number of words as MPI counts them.
fn of_mpi(words: usize) -> Count {
    Count::try_from(words).expect("MPI counts in 32 bits: take more ranks")
}

fn number(word: u64) -> usize {
    usize::try_from(word).expect("a number of words")
}

fn size(count: Count) -> usize {
    usize::try_from(count).expect("a number of ranks")
}

/// Does `work` as a rank of the job that `mpirun` has started, or as the only one without it.
pub fn as_rank(work: impl FnOnce(Arc<dyn Peers>) -> ExitCode + Send + 'static) -> ExitCode {
    let Some((mut universe, _)) = mpi::initialize_with_threading(Threading::Funneled) else {
        eprintln!("error: MPI cannot be started");
        return ExitCode::FAILURE;
    };
    let world = universe.world();
    universe.set_buffer_size(ALERT * size(world.size()));
    let (requests, asked) = channel();
    let (answer, answers) = channel();
    let alerted = Arc::<AtomicBool>::default();
    let line = Line {
        requests,
        answers: Mutex::new(answers),
        alerted: Arc::clone(&alerted),
    };
    let ranks = Ranks {
        rank: size(world.rank()),
        count: size(world.size()),
        communicator: 0,
        line: Arc::new(line),
    };
    let thread = thread::Builder::new().stack_size(STACK);
    let Ok(thread) = thread.spawn(move || work(Arc::new(ranks))) else {
        eprintln!("error: rank {} cannot start a thread", world.rank());
        world.abort(1);
    };
    let mut communicators = vec![world];
    // Until the other thread is done.
    for request in asked {
        let _ = answer.send(serve(&mut communicators, request, &alerted));
    }
    thread.join().unwrap_or_else(|_| communicators[0].abort(1))
}
