//! Work on several ranks. If one fails, all end with one message.
//!
//! Every message ends with a status word: the rank works, or has ended. A rank that ends sends its error, if it has
//! one. Working ranks learn of it at their next gathering, and end too. The first rank prints the errors of all.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Result, bail};
use rankrls::peers::{Peers, from_words, to_words};

/// The last word of a rank at work.
const WORKS: u64 = 0;

/// The last word of a rank that has ended. Before it come its exit code and its error, if it has one.
const ENDED: u64 = 1;

/// An error in words for people, and the exit code.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) code: u8,
    /// Without a line end.
    pub(super) text: String,
}

/// The words of all ranks at the gathering where one had ended.
struct End(Vec<Vec<u64>>);

/// Ranks that all end at the next gathering after one has ended.
#[derive(Debug)]
struct FailFast(Arc<dyn Peers>);

impl Peers for FailFast {
    fn rank(&self) -> usize {
        self.0.rank()
    }

    fn count(&self) -> usize {
        self.0.count()
    }

    fn gather(&self, mut own: Vec<u64>) -> Vec<Vec<u64>> {
        own.push(WORKS);
        let mut all = self.0.gather(own);
        if all.iter().any(|words| words.last() != Some(&WORKS)) {
            // Unlike a panic, this prints nothing.
            resume_unwind(Box::new(End(all)));
        }
        for words in &mut all {
            words.pop();
        }
        all
    }
}

/// Does `work` on this rank, and returns when all ranks have ended.
pub(super) fn run(
    peers: &Arc<dyn Peers>,
    work: impl FnOnce(Arc<dyn Peers>) -> Result<ExitCode, Failure>,
) -> Result<ExitCode, Failure> {
    let fail_fast = Arc::new(FailFast(Arc::clone(peers)));
    let found = catch_unwind(AssertUnwindSafe(|| work(fail_fast)));
    let (result, told) = match found {
        Ok(result) => (result, None),
        Err(cause) => match cause.downcast::<End>() {
            Ok(end) => (Ok(ExitCode::FAILURE), Some(end.0)),
            Err(panic) => (Err(panicked(&*panic)), None),
        },
    };
    let all = told.unwrap_or_else(|| {
        let failure = result.as_ref().err();
        let mut words = to_words(&failure.map(|failure| (failure.code, &failure.text)));
        words.push(ENDED);
        peers.gather(words)
    });
    match failures(&all) {
        None => result,
        Some(failure) => Err(failure),
    }
}

fn panicked(cause: &(dyn Any + Send)) -> Failure {
    let text = cause.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| cause.downcast_ref::<&str>().copied());
    Failure {
        code: 1,
        text: format!("error: {}", text.unwrap_or("a panic")),
    }
}

/// The errors of ranks that have ended, each once. It names the ranks that had it, unless all had it.
fn failures(all: &[Vec<u64>]) -> Option<Failure> {
    let mut found: Vec<(Failure, Vec<usize>)> = Vec::new();
    for (rank, words) in all.iter().enumerate() {
        let [failure @ .., ENDED] = &words[..] else {
            continue;
        };
        let Some((code, text)) = from_words::<Option<(u8, String)>>(failure).flatten() else {
            continue;
        };
        let failure = Failure { code, text };
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

/// Refuses a rank whose value differs from the first rank's.
pub(super) fn check_alike(peers: &dyn Peers, own: &str, difference: &str) -> Result<()> {
    let all = peers.all(&own.to_owned());
    if all[peers.rank()] != all[0] {
        bail!("this rank has {difference} than rank 0");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rankrls::peers::on_threads;

    fn outcomes(work: impl Fn(&dyn Peers) -> Result<ExitCode, Failure> + Sync) -> Vec<String> {
        let all = on_threads(3, |peers| {
            run(&peers, |peers| {
                let result = work(&*peers)?;
                peers.gather(Vec::new());
                Ok(result)
            })
        });
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

    #[test]
    fn a_rank_that_differs_is_refused() {
        let all = on_threads(3, |peers| {
            let own = (peers.rank() / 2).to_string();
            check_alike(&*peers, &own, "another number").is_err()
        });
        assert_eq!(all, [false, false, true]);
    }
}
