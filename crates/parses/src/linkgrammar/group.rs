//! A program with all that it starts: on Unix a group of processes, which ends as a whole.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Whether the time limit is one of processor time: on Linux the system tells that of a process.
/// Elsewhere it is one of the clock.
pub const PROCESSOR_TIME: bool = cfg!(target_os = "linux");

/// The groups that run.
static RUNNING: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn running() -> MutexGuard<'static, BTreeSet<u32>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All parsers of this process have ended, with their children. As long as this lives none starts, and
/// nothing that they left is taken for an answer.
#[derive(Debug)]
pub struct AllEnded {
    _running: MutexGuard<'static, BTreeSet<u32>>,
}

/// Ends all parsers of this process with their children: for a process that is about to exit
/// without dropping them.
pub fn end_all() -> AllEnded {
    let running = running();
    running.iter().for_each(|&leader| kill(leader));
    AllEnded { _running: running }
}

#[cfg(unix)]
fn kill(leader: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};

    let group = i32::try_from(leader).ok().and_then(Pid::from_raw);
    if let Some(group) = group {
        // It may have ended already.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

#[cfg(not(unix))]
fn kill(_: u32) {}

/// A program that was started, with its children; all of them end when this is dropped.
#[derive(Debug)]
pub(super) struct Group {
    child: Child,
}

impl Group {
    /// Starts a program in a group of its own. Ctrl-C is for this process, which can end in order.
    pub(super) fn start(command: &mut Command) -> io::Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let mut running = running();
        let child = command.spawn()?;
        running.insert(child.id());
        Ok(Self { child })
    }

    pub(super) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Whether the program has ended; its children may go on.
    pub(super) fn has_ended(&mut self) -> bool {
        // Its number stays that of the group until the group was ended.
        #[cfg(unix)]
        {
            use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            let process = Pid::from_child(&self.child);
            !matches!(waitid(WaitId::Pid(process), options), Ok(None))
        }
        #[cfg(not(unix))]
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Ends what is left of it, and tells how the program ended.
    pub(super) fn end(&mut self) -> io::Result<ExitStatus> {
        let mut running = running();
        if running.remove(&self.child.id()) {
            kill(self.child.id());
            // It may have ended already.
            let _ = self.child.kill();
        }
        drop(running);
        self.child.wait()
    }

    /// The time of the processor that the program and its children have taken, where the system tells.
    pub(super) fn processor_time(&self) -> Option<Times> {
        let leader = self.child.id();
        let mut times = Times {
            program: self.program_time()?,
            children: Duration::ZERO,
        };
        for process in fs::read_dir("/proc").ok()?.flatten() {
            let name = process.file_name();
            let number = name.to_str().and_then(|name| name.parse::<u32>().ok());
            let Some(process) = number.filter(|&number| number != leader) else {
                continue;
            };
            if let Some((group, taken)) = stat(process)
                && group == leader
            {
                times.children += taken;
            }
        }
        Some(times)
    }

    /// The time of the program alone, with the children that it has waited for.
    pub(super) fn program_time(&self) -> Option<Duration> {
        Some(stat(self.child.id())?.1)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Nobody asks how it ended.
        let _ = self.end();
    }
}

/// Time of the processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Times {
    pub(super) program: Duration,
    /// The time of the other processes in the group.
    pub(super) children: Duration,
}

fn stat(process: u32) -> Option<(u32, Duration)> {
    if !PROCESSOR_TIME {
        return None;
    }
    parsed(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
}

/// The group, and the time of user and system, its own and that of ended children, in a line of
/// `/proc/PID/stat`, where it is counted in hundredths of a second. The second field is the name of
/// the program, which may have blanks and brackets.
fn parsed(stat: &str) -> Option<(u32, Duration)> {
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    let group = fields.nth(2)?.parse().ok()?;
    let mut hundredths: u64 = 0;
    for field in fields.skip(8).take(4) {
        hundredths = hundredths.checked_add(field.parse().ok()?)?;
    }
    Some((group, Duration::from_millis(hundredths.checked_mul(10)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_found_behind_any_name() {
        let stat = "7 (a ) b) S 1 2 3 4 5 6 7 8 9 10 120 30 4 6 20 0 1";
        assert_eq!(parsed(stat), Some((2, Duration::from_millis(1600))));
        for other in ["", "7 (a) S 1", "7 a S 1 2 3 4 5 6 7 8 9 10 120 30"] {
            assert_eq!(parsed(other), None, "{other}");
        }
        assert_eq!(super::stat(std::process::id()).is_some(), PROCESSOR_TIME);
    }
}
