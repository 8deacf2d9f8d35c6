//! Commands on several ranks: one of them fails, and all end with one message.
//!
//! Whatever a rank sends has a word at its end that says whether the rank is at work or has ended. A
//! rank that ends sends its error, if it has one; ranks that are at work then learn of it when they
//! next gather, and end as well. The first rank tells what all have to say.
//!
//! Ranks in groups gather in their group, and then, where all are to meet, with those of their number
//! in the other groups: so ranks of a group are always at the same gather when one of them ends. A
//! group that ends alerts the others, whose ranks look for that before they gather.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use anyhow::{Result, bail};
use rankrls::data::DataHash;
use rankrls::peers::{Peers, grouped};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::args::usage;
use super::output::counted;

/// The last word of a rank at work.
const WORKS: u64 = 0;

/// The last word of a rank that has ended; before it, its exit code and its error.
const ENDED: u64 = 1;

/// An error for people, and the exit code.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) code: u8,
    /// Without a line end.
    pub(super) text: String,
}

/// What ranks sent when one of them had ended.
struct End {
    all: Vec<Vec<u64>>,
    /// Whether these are the ranks of a group, and the others have to learn of it.
    in_group: bool,
}

/// Ranks that learn when one has ended.
#[derive(Debug)]
struct Told {
    peers: Arc<dyn Peers>,
    /// If these are those of a number in each group: the ranks of the group.
    group: Option<Arc<Told>>,
    /// If these are the ranks of a group: those who alert it.
    alerts: Option<Arc<dyn Peers>>,
    /// The ranks of the group, and those of the number of this rank, once the ranks are in groups.
    divided: OnceLock<[Arc<Told>; 2]>,
}

impl Told {
    fn new(peers: &Arc<dyn Peers>) -> Self {
        Self {
            peers: Arc::clone(peers),
            group: None,
            alerts: None,
            divided: OnceLock::new(),
        }
    }

    fn gather_here(&self, mut own: Vec<u64>) -> Vec<Vec<u64>> {
        if self.alerts.as_ref().is_some_and(|others| others.alerted()) {
            own = vec![ENDED];
        } else {
            own.push(WORKS);
        }
        let mut all = self.peers.gather(own);
        if all.iter().any(|words| words.last() != Some(&WORKS)) {
            let in_group = self.alerts.is_some();
            // Not a panic: nothing is printed.
            resume_unwind(Box::new(End { all, in_group }));
        }
        for words in &mut all {
            words.pop();
        }
        all
    }

    /// The last words of all ranks, of which this one has ended with `result`, or because of others.
    fn last_words(&self, result: &Result<ExitCode, Failure>, end: Option<End>) -> Vec<Vec<u64>> {
        let (peers, groups) = match self.divided.get() {
            None => (&self.peers, None),
            Some([group, others]) => (&group.peers, Some(&others.peers)),
        };
        let failed = end.is_some() || result.is_err();
        let End { all, in_group } = end.unwrap_or_else(|| {
            let mut words = Vec::new();
            if let Err(failure) = result {
                words.push(u64::from(failure.code));
                words.extend(failure.text.bytes().map(u64::from));
            }
            words.push(ENDED);
            let all = peers.gather(words);
            let in_group = true;
            End { all, in_group }
        });
        let Some(groups) = groups else {
            return all;
        };
        let all = if in_group {
            if failed {
                groups.alert();
            }
            let mut words = joined(&all);
            words.push(ENDED);
            groups.gather(words)
        } else {
            all
        };
        let of_group = |mut words: Vec<u64>| match words.pop() {
            Some(ENDED) => parted(&words),
            _ => vec![Vec::new(); peers.count()],
        };
        all.into_iter().flat_map(of_group).collect()
    }
}

impl Peers for Told {
    fn rank(&self) -> usize {
        self.peers.rank()
    }

    fn count(&self) -> usize {
        self.peers.count()
    }

    fn gather(&self, own: Vec<u64>) -> Vec<Vec<u64>> {
        if let Some([group, others]) = self.divided.get() {
            let own = group.gather_here(own);
            let all = others.gather_here(joined(&own));
            return all.iter().flat_map(|words| parted(words)).collect();
        }
        if let Some(group) = &self.group {
            group.gather_here(Vec::new());
        }
        self.gather_here(own)
    }

    fn divide(&self, groups: usize) -> [Arc<dyn Peers>; 2] {
        // All are here.
        self.gather(Vec::new());
        let [own, others] = self.peers.divide(groups);
        let group = Arc::new(Self {
            alerts: Some(Arc::clone(&others)),
            ..Self::new(&own)
        });
        let others = Arc::new(Self {
            group: Some(Arc::clone(&group)),
            ..Self::new(&others)
        });
        let divided = self.divided.get_or_init(|| [group, others]);
        divided.clone().map(|peers| peers as Arc<dyn Peers>)
    }
}

/// The words of several ranks in one.
fn joined(all: &[Vec<u64>]) -> Vec<u64> {
    let with_length = |words: &Vec<u64>| [vec![words.len() as u64], words.clone()].concat();
    all.iter().flat_map(with_length).collect()
}

/// Those that were joined.
fn parted(mut rest: &[u64]) -> Vec<Vec<u64>> {
    let mut all = Vec::new();
    while let [length, words @ ..] = rest {
        let (words, others) = words.split_at(usize::try_from(*length).unwrap_or(0));
        all.push(words.to_vec());
        rest = others;
    }
    all
}

/// Does `work` on this rank, and ends when all ranks have ended.
pub(super) fn run(
    peers: &Arc<dyn Peers>,
    work: impl FnOnce(Arc<dyn Peers>) -> Result<ExitCode, Failure>,
) -> Result<ExitCode, Failure> {
    let told = Arc::new(Told::new(peers));
    let at_work: Arc<dyn Peers> = Arc::<Told>::clone(&told);
    let found = catch_unwind(AssertUnwindSafe(|| work(at_work)));
    let (result, end) = match found {
        Ok(result) => (result, None),
        Err(cause) => match cause.downcast::<End>() {
            Ok(end) => (Ok(ExitCode::FAILURE), Some(*end)),
            Err(panic) => (Err(panicked(&*panic)), None),
        },
    };
    match failures(&told.last_words(&result, end)) {
        None => result,
        Some(failure) => Err(failure),
    }
}

/// The ranks of the group of this one, of as many `groups` of `peers` as --groups asks for.
pub(super) fn group(peers: &Arc<dyn Peers>, groups: usize) -> Result<Arc<dyn Peers>> {
    let ranks = peers.count();
    if ranks.is_multiple_of(groups) {
        return Ok(grouped(peers, groups));
    }
    let divisors = (1..=ranks).filter(|&number| ranks.is_multiple_of(number));
    let divisors: Vec<String> = divisors.map(|number| number.to_string()).collect();
    let (ranks, divisors) = (counted(ranks, "rank"), divisors.join(", "));
    Err(usage(format_args!(
        "--groups: expected a number that divides {ranks} ({divisors}), found {groups}; mpirun -n N \
         rankrls-mpi starts N ranks"
    )))
}

fn panicked(cause: &(dyn Any + Send)) -> Failure {
    let text = cause.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| cause.downcast_ref::<&str>().copied());
    Failure {
        code: 1,
        text: format!("error: {}", text.unwrap_or("a panic")),
    }
}

/// The errors of ranks that have ended, each once, with the ranks that had it unless all had.
fn failures(all: &[Vec<u64>]) -> Option<Failure> {
    let mut found: Vec<(Failure, Vec<usize>)> = Vec::new();
    for (rank, words) in all.iter().enumerate() {
        let [code, text @ .., ENDED] = &words[..] else {
            continue;
        };
        let bytes = text.iter().filter_map(|&word| u8::try_from(word).ok());
        let failure = Failure {
            code: u8::try_from(*code).unwrap_or(1),
            text: String::from_utf8_lossy(&bytes.collect::<Vec<u8>>()).into_owned(),
        };
        match found
            .iter_mut()
            .find(|(other, _)| other.text == failure.text)
        {
            Some((_, ranks)) => ranks.push(rank),
            None => found.push((failure, vec![rank])),
        }
    }
    let code = found.iter().map(|(failure, _)| failure.code).max()?;
    let lines = found.into_iter().map(|(failure, ranks)| match &ranks[..] {
        ranks if ranks.len() == all.len() => failure.text,
        [rank] => format!("rank {rank}: {}", failure.text),
        ranks => {
            let ranks: Vec<String> = ranks.iter().map(usize::to_string).collect();
            format!("ranks {}: {}", ranks.join(", "), failure.text)
        }
    });
    Some(Failure {
        code,
        text: lines.collect::<Vec<_>>().join("\n"),
    })
}

/// Refuses a rank with other options, or of another version, than the first.
pub(super) fn check_options(peers: &dyn Peers) -> Result<()> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(env!("CARGO_PKG_VERSION").as_bytes());
    for argument in std::env::args_os().skip(1) {
        hasher.update(&[0]);
        hasher.update(argument.as_encoded_bytes());
    }
    check_alike(
        peers,
        &hasher.finalize().to_string(),
        "another version or other options",
    )
}

/// Refuses a rank with a share of other data than the first.
pub(super) fn check_data(peers: &dyn Peers, data: DataHash) -> Result<()> {
    check_alike(peers, &data.to_string(), "a part of other data")
}

fn check_alike(peers: &dyn Peers, own: &str, difference: &str) -> Result<()> {
    let all = peers.gather(own.bytes().map(u64::from).collect());
    if all[peers.rank()] != all[0] {
        bail!("this rank has {difference} than rank 0");
    }
    Ok(())
}

/// What the first rank has, for all.
pub(super) fn of_first<T: Serialize + DeserializeOwned>(peers: &dyn Peers, own: T) -> T {
    if peers.count() == 1 {
        return own;
    }
    let own = (peers.rank() == 0).then_some(own);
    let all = peers.values(&Vec::from_iter(own));
    all.into_iter().flatten().next().expect("a first rank")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rankrls::peers::on_threads;

    fn outcomes(work: impl Fn(&dyn Peers) -> Result<ExitCode, Failure> + Sync) -> Vec<String> {
        outcomes_of(3, |told| {
            let result = work(&**told)?;
            told.gather(Vec::new());
            Ok(result)
        })
    }

    fn outcomes_of(
        count: usize,
        work: impl Fn(&Arc<dyn Peers>) -> Result<ExitCode, Failure> + Sync,
    ) -> Vec<String> {
        let all = on_threads(count, |peers| run(&peers, |told| work(&told)));
        let text = |result: Result<ExitCode, Failure>| {
            result.map_or_else(|end| end.text, |_| String::new())
        };
        all.into_iter().map(text).collect()
    }

    fn refuse(text: &str) -> Result<ExitCode, Failure> {
        Err(Failure {
            code: 1,
            text: text.to_owned(),
        })
    }

    #[test]
    fn one_rank_that_ends_ends_all_with_one_message() {
        let done = |_: &dyn Peers| Ok(ExitCode::SUCCESS);
        assert_eq!(outcomes(done), [""; 3]);
        let found = outcomes(|peers| match peers.rank() {
            1 => refuse("error: no file"),
            _ => Ok(ExitCode::SUCCESS),
        });
        assert_eq!(found, ["rank 1: error: no file"; 3]);
        assert_eq!(
            outcomes(|_| refuse("error: no file")),
            ["error: no file"; 3]
        );
        let found = outcomes(|peers| match peers.rank() {
            1 => Ok(ExitCode::SUCCESS),
            rank => {
                peers.gather(Vec::new());
                refuse(if rank == 0 { "error: a" } else { "error: b" })
            }
        });
        assert_eq!(found, ["rank 0: error: a\nrank 2: error: b"; 3]);
    }

    #[test]
    fn a_panic_ends_all() {
        let found = outcomes(|peers| {
            assert!(peers.rank() != 2, "on its own");
            peers.gather(Vec::new());
            Ok(ExitCode::SUCCESS)
        });
        assert_eq!(found, ["rank 2: error: on its own"; 3]);
    }

    /// Rank 4 of 6 ends while other groups are at work that takes for ever, wait for all, or end
    /// themselves.
    #[test]
    fn a_rank_that_ends_ends_other_groups() {
        for waits in [false, true] {
            for meets in [false, true] {
                let found = outcomes_of(6, |told| {
                    let group = grouped(told, 3);
                    group.gather(Vec::new());
                    let all = group.groups().gather(vec![told.rank() as u64]);
                    assert_eq!(all.len(), 3);
                    if told.rank() == 4 {
                        return refuse("error: no file");
                    }
                    loop {
                        if group.groups().rank() == 0 && waits {
                            told.gather(Vec::new());
                        }
                        if group.groups().rank() == 1 && meets {
                            group.groups().gather(Vec::new());
                        }
                        group.gather(Vec::new());
                    }
                });
                assert_eq!(found, ["rank 4: error: no file"; 6]);
            }
        }
    }

    #[test]
    fn groups_that_are_done_end_alike() {
        let found = outcomes_of(4, |told| {
            let group = grouped(told, 2);
            let ranks = told.gather(vec![told.rank() as u64; told.rank()]);
            assert_eq!(ranks, [vec![], vec![1], vec![2; 2], vec![3; 3]]);
            assert_eq!(group.count(), 2);
            match told.rank() {
                1 | 3 => refuse("error: a"),
                _ => Ok(ExitCode::SUCCESS),
            }
        });
        assert_eq!(found, ["ranks 1, 3: error: a"; 4]);
        let found = outcomes_of(4, |told| {
            grouped(told, 2);
            Ok(ExitCode::SUCCESS)
        });
        assert_eq!(found, [""; 4]);
    }

    #[test]
    fn all_have_what_the_first_has() {
        let all = on_threads(3, |peers| {
            let own = peers.rank().to_string();
            (
                of_first(&*peers, own.clone()),
                check_alike(&*peers, &own, "another number").is_err(),
            )
        });
        assert_eq!(
            all.iter().map(|found| found.1).collect::<Vec<_>>(),
            [false, true, true]
        );
        assert!(all.iter().all(|found| found.0 == "0"));
    }
}
