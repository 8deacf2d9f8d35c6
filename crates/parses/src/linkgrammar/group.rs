//! A program with all processes that it starts.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Interval between checks whether a program is late.
const TICK: Duration = Duration::from_millis(50);

/// The first processes of the running groups.
static RUNNING: Mutex<Vec<u32>> = Mutex::new(Vec::new());

fn running() -> MutexGuard<'static, Vec<u32>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends all parsers of this process with their children, before an exit that does not drop them. No parser starts
/// as long as the returned guard lives.
pub fn end_all() -> MutexGuard<'static, Vec<u32>> {
    let running = running();
    running.iter().for_each(|&leader| kill_group(leader));
    running
}

#[cfg(unix)]
fn kill_group(leader: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};

    let group = i32::try_from(leader).ok().and_then(Pid::from_raw);
    if let Some(group) = group {
        // It may have ended already.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

#[cfg(not(unix))]
fn kill_group(_: u32) {}

/// A program with all processes that it starts: on Unix, a process group. They end when this is dropped.
#[derive(Debug)]
pub(super) struct Group {
    leader: u32,
    child: Mutex<Child>,
}

impl Group {
    /// Starts a program in a group of its own. Ctrl-C then reaches only this process, which can end in order.
    pub(super) fn start(command: &mut Command) -> io::Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let mut running = running();
        let child = command.spawn()?;
        running.push(child.id());
        Ok(Self {
            leader: child.id(),
            child: Mutex::new(child),
        })
    }

    pub(super) fn child(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kill(&self) {
        kill_group(self.leader);
        // It may have ended already.
        let _ = self.child().kill();
    }

    /// Does `work` with the program, and kills the program after `time`, or once `stop` is set. Returns the result, and
    /// whether the program was killed. Fails if no thread starts.
    pub(super) fn within<T>(
        &self,
        time: Duration,
        stop: &AtomicBool,
        work: impl FnOnce() -> T,
    ) -> io::Result<(T, bool)> {
        let begin = Instant::now();
        let (done, waiting) = channel::<()>();
        thread::scope(|scope| {
            let watch = thread::Builder::new().spawn_scoped(scope, move || {
                // The channel closes when the work is done.
                while waiting.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                    if begin.elapsed() >= time || stop.load(Ordering::Relaxed) {
                        self.kill();
                        return true;
                    }
                }
                false
            })?;
            let found = work();
            drop(done);
            Ok((found, watch.join().expect("it does not panic")))
        })
    }

    /// Ends all remaining processes, and returns the exit status of the program.
    pub(super) fn end(&self) -> io::Result<ExitStatus> {
        let mut running = running();
        // Its number names the group until somebody has waited for it.
        if running.contains(&self.leader) {
            self.kill();
            running.retain(|&leader| leader != self.leader);
        }
        drop(running);
        self.child().wait()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Nobody reads the exit status.
        let _ = self.end();
    }
}
