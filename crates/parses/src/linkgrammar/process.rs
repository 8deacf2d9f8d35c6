//! The program at the other end of three pipes.

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use rankrls_files::quote;
use thiserror::Error;

use super::{Answer, Options, Version, output};

/// Bytes of a sentence that the program takes; it ends at 2,047.
const LONGEST: usize = 2000;

/// Time for reading the dictionary.
const START: Duration = Duration::from_secs(60);

/// Whether the time limit is one of processor time: on Linux the system tells that of a process.
/// Elsewhere it is one of the clock.
pub const PROCESSOR_TIME: bool = cfg!(target_os = "linux");

/// How many times its limit of processor time a parser may take by the clock: a loaded machine is
/// no fault of the parser's.
const CLOCK: u32 = 20;

/// A Link Grammar parser that waits for sentences.
///
/// The program ends when this is dropped.
#[derive(Debug)]
pub struct LinkParser {
    options: Options,
    version: Version,
    /// How many times the time limit it may take by the clock.
    clock: u32,
    /// None after it ended or had to be ended.
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
    notes: Receiver<String>,
}

/// How waiting for an answer ended.
enum Waited {
    Lines(Vec<String>),
    Ended,
    Late,
}

impl LinkParser {
    /// Starts the program and waits until it parses.
    ///
    /// # Errors
    /// [`LinkGrammarError`] when it is not there or does not start.
    pub fn start(options: &Options) -> Result<Self, LinkGrammarError> {
        let (running, version) = Running::start(options)?;
        Ok(Self {
            options: options.clone(),
            version,
            clock: CLOCK,
            running: Some(running),
        })
    }

    /// What it said of its version when it started.
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// Parses a sentence. Whatever the program does about it is an answer.
    ///
    /// # Errors
    /// [`LinkGrammarError`] when the program cannot be started again after it ended.
    pub fn parse(&mut self, sentence: &str) -> Result<Answer, LinkGrammarError> {
        if sentence.len() > LONGEST {
            let reason = format!(
                "{} bytes, over the {LONGEST} that can be parsed",
                sentence.len()
            );
            return Ok(Answer::Failed(reason));
        }
        let mut running = match self.running.take() {
            Some(running) => running,
            None => Running::start(&self.options)?.0,
        };
        // The blank keeps the program from taking the sentence for a command or a comment.
        let line = sentence.replace(char::is_control, " ");
        let limit = self.options.limit;
        running.ask(&format!(" {line}\n"), limit);
        let time = self.options.time_limit;
        let time = time + time / 2 + Duration::from_secs(2);
        Ok(
            match running.wait(limit, time, self.options.time_limit * self.clock) {
                Waited::Lines(lines) => match output::answer(&lines) {
                    Ok(answer) => {
                        running.notes.try_iter().for_each(drop);
                        self.running = Some(running);
                        answer
                    }
                    // Who knows what else it has to say: the next sentence gets another process.
                    Err((expected, found)) => {
                        let found = quote(found.as_bytes());
                        Answer::Unreadable(format!("expected {expected}, found {found}"))
                    }
                },
                Waited::Late => Answer::TimedOut,
                Waited::Ended => Answer::Ended(running.last_words()),
            },
        )
    }
}

impl Running {
    /// Starts the program, has it parse a word, and tells its version.
    fn start(options: &Options) -> Result<(Self, Version), LinkGrammarError> {
        let mut running = Self::launch(options)?;
        running.ask("", options.limit);
        let program = options.program.display().to_string();
        let reason = match running.wait(options.limit, START, START * CLOCK) {
            Waited::Lines(_) => {
                let version = running.version();
                let version = version.ok_or(LinkGrammarError::Version { program })?;
                return Ok((running, version));
            }
            Waited::Ended => running.last_words(),
            Waited::Late => format!("no answer in {} s", START.as_secs()),
        };
        Err(LinkGrammarError::Start { program, reason })
    }

    /// Gives it the line of a `sentence`, or none, and a command and a word that tell where the answer
    /// ends. A program that has ended takes nothing, which is seen when it says nothing.
    fn ask(&mut self, sentence: &str, limit: usize) {
        let asked = write!(self.stdin, "{sentence}!limit={limit}\nx\n");
        drop(asked.and_then(|()| self.stdin.flush()));
    }

    fn launch(options: &Options) -> Result<Self, LinkGrammarError> {
        let mut child = command(options).spawn().map_err(|source| {
            let program = options.program.display().to_string();
            if source.kind() == io::ErrorKind::NotFound {
                LinkGrammarError::Absent { program }
            } else {
                LinkGrammarError::Run { program, source }
            }
        })?;
        let stdin = child.stdin.take().expect("a pipe was asked for");
        let stdout = child.stdout.take().expect("a pipe was asked for");
        let stderr = child.stderr.take().expect("a pipe was asked for");
        let ((line, lines), (note, notes)) = (channel(), channel());
        thread::spawn(move || forward(stdout, &line));
        thread::spawn(move || forward(stderr, &note));
        Ok(Self {
            child,
            stdin,
            lines,
            notes,
        })
    }

    /// The lines up to the answer to the command that followed the sentence. The word after that
    /// makes the program write out all it has; what it says of it is read as well.
    /// It waits until the program has taken `time` of the processor, or `clock` has passed.
    fn wait(&mut self, limit: usize, time: Duration, clock: Duration) -> Waited {
        let (mark, end) = (format!("limit set to {limit}"), "[0]");
        let (start, before) = (Instant::now(), processor_time(self.child.id()));
        let mut lines = Vec::new();
        let mut marked = false;
        // A thread takes no more of the processor than passes by the clock, so that there is no
        // need to look before `left` has passed.
        let mut left = time.min(clock);
        loop {
            match self.lines.recv_timeout(left) {
                Ok(line) if marked && line == end => return Waited::Lines(lines),
                Ok(line) if line == mark => marked = true,
                Ok(line) if !marked => lines.push(line),
                Ok(_) => (),
                Err(RecvTimeoutError::Disconnected) => return Waited::Ended,
                Err(RecvTimeoutError::Timeout) => {
                    let passed = start.elapsed();
                    let now = before.zip(processor_time(self.child.id()));
                    let taken = now.map_or(passed, |(before, now)| now.saturating_sub(before));
                    if taken >= time || passed >= clock {
                        return Waited::Late;
                    }
                    left = time.saturating_sub(taken).min(clock.saturating_sub(passed));
                    // The system counts in hundredths of a second.
                    left = left.max(Duration::from_millis(10));
                }
            }
        }
    }

    fn version(&self) -> Option<Version> {
        let mut dictionary = None;
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let note = self.notes.recv_timeout(left).ok()?;
            if let Some(version) = after(&note, "Dictionary version ") {
                dictionary = Some(version.to_owned());
            } else if let Some(version) = after(&note, "Library version ") {
                return Some(Version {
                    parser: version.to_owned(),
                    dictionary: dictionary?,
                });
            }
        }
    }

    /// Why it ended, as far as it said.
    fn last_words(&mut self) -> String {
        let status = self.child.wait();
        let error = self.notes.iter().filter(|note| note.contains("rror"));
        let error = error.last().map(|note| note.trim().to_owned());
        let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
        match error {
            Some(error) => format!("the parser ended ({status}): {error}"),
            None => format!("the parser ended ({status})"),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The time of the processor that a process has taken, where the system tells.
fn processor_time(process: u32) -> Option<Duration> {
    if !PROCESSOR_TIME {
        return None;
    }
    processor_time_of(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
}

/// Time of user and system in a line of `/proc/PID/stat`, where it is counted in hundredths of a
/// second. The second field is the name of the program, which may have blanks and brackets.
fn processor_time_of(stat: &str) -> Option<Duration> {
    let mut fields = stat.rsplit_once(") ")?.1.split(' ').skip(11);
    let (user, system): (u64, u64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some(Duration::from_millis(10 * (user + system)))
}

/// The word of a line after `key`, without a comma or full stop at its end.
fn after<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let word = line.split_once(key)?.1.split_whitespace().next()?;
    Some(word.trim_end_matches([',', '.']))
}

/// The program with all that decides what it says. It looks for dictionaries in the folder that it
/// runs in first, so that is one without any.
fn command(options: &Options) -> Command {
    let mut command = Command::new(resolved(&options.program));
    command
        .arg("en")
        .args([
            "-verbosity=1",
            "-graphics=0",
            "-postscript=1",
            "-ps-header=0",
        ])
        .args(["-walls=1", "-disjuncts=1", "-constituents=0", "-links=0"])
        .args([
            "-spell=0",
            "-null=1",
            "-islands-ok=0",
            "-panic=0",
            "-rand=1",
        ])
        .arg(format!("-limit={}", options.limit))
        .arg(format!("-timeout={}", options.time_limit.as_secs().max(1)))
        .arg(format!("-test=auto-next-linkage:{}", options.linkages))
        .env("LC_ALL", "C.UTF-8")
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // Ctrl-C is for us, who can end in order.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command
}

/// A path with folders in it is that of this process, not of the folder the program runs in.
fn resolved(program: &Path) -> PathBuf {
    let named = program.components().count() > 1;
    let path = named.then(|| std::path::absolute(program).ok()).flatten();
    path.unwrap_or_else(|| program.to_owned())
}

/// Sends lines until there are no more, or nobody takes them.
fn forward(from: impl io::Read, to: &Sender<String>) {
    let mut reader = BufReader::new(from);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        match reader.read_until(b'\n', &mut bytes) {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                let line = String::from_utf8_lossy(&bytes);
                if to
                    .send(line.trim_end_matches(['\n', '\r']).to_owned())
                    .is_err()
                {
                    return;
                }
            }
        }
    }
}

/// The program does not run, or does not start as the known versions do. What is wrong with one sentence
/// is an [`Answer`].
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LinkGrammarError {
    /// There is no such program.
    #[error(
        "{program} was not found: install the Link Grammar parser (Debian packages link-grammar and link-grammar-dictionaries-en), or take candidates from a file"
    )]
    Absent {
        /// What was looked for.
        program: String,
    },
    /// The system cannot run it.
    #[error("{program} cannot be run")]
    Run {
        /// The program.
        program: String,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// It ended, or kept silent, before it had parsed anything.
    #[error(
        "{program} does not start: {reason} (the English dictionary is in the Debian package link-grammar-dictionaries-en)"
    )]
    Start {
        /// The program.
        program: String,
        /// The last it said, or what it did.
        reason: String,
    },
    /// It does not tell its versions as the known ones do.
    #[error(
        "{program}: expected the versions of dictionary and library, found none: this version of it is not known"
    )]
    Version {
        /// The program.
        program: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A parser, or none and a word about it.
    fn parser(options: &Options) -> Option<LinkParser> {
        match LinkParser::start(options) {
            Ok(parser) => Some(parser),
            Err(error @ LinkGrammarError::Absent { .. })
                if std::env::var_os("RANKRLS_LINK_GRAMMAR").is_none() =>
            {
                eprintln!("NOT TESTED: {error}");
                None
            }
            Err(error) => panic!("{error}"),
        }
    }

    fn options(linkages: usize) -> Options {
        Options {
            linkages,
            ..Options::default()
        }
    }

    #[test]
    fn sentences_are_parsed_one_after_the_other() {
        let Some(mut parser) = parser(&options(3)) else {
            return;
        };
        assert!(parser.version().parser.starts_with("link-grammar-5."));
        for (sentence, letters) in [
            (
                "The dog saw the man with a telescope.",
                "Thedogsawthemanwithatelescope.",
            ),
            ("!limit=5", "!limit=5"),
            ("% a comment?", "%acomment?"),
            (
                "It isn't (all) that \"easy\", is it?",
                "Itisn't(all)that\"easy\",isit?",
            ),
            (
                "Café Müller's “dogs” — 日本語 …",
                "CaféMüller's“dogs”—日本語…",
            ),
        ] {
            let Answer::Linkages(linkages) = parser.parse(sentence).unwrap() else {
                panic!("{sentence}");
            };
            assert!((1..=3).contains(&linkages.len()));
            for linkage in linkages {
                assert!(linkage.places(letters).is_some(), "{linkage:?}");
            }
        }
        let long = "a ".repeat(300);
        assert!(matches!(parser.parse(&long).unwrap(), Answer::Failed(_)));
        let longer = "a ".repeat(3000);
        assert!(matches!(parser.parse(&longer).unwrap(), Answer::Failed(_)));
        assert!(matches!(
            parser.parse("Dogs sing.").unwrap(),
            Answer::Linkages(_)
        ));
    }

    #[test]
    fn processor_time_is_found_behind_any_name() {
        let stat = "7 (a ) b) S 1 2 3 4 5 6 7 8 9 10 120 30 0 0 20 0 1";
        let found = processor_time_of(stat);
        assert_eq!(found, Some(Duration::from_millis(1500)));
        for other in ["", "7 (a) S 1 2", "7 a S 1 2 3 4 5 6 7 8 9 10 120 30"] {
            assert_eq!(processor_time_of(other), None, "{other}");
        }
        assert_eq!(processor_time(std::process::id()).is_some(), PROCESSOR_TIME);
    }

    #[test]
    fn a_sentence_without_end_runs_out_of_time() {
        let options = Options {
            time_limit: Duration::from_secs(1),
            ..options(5)
        };
        let Some(mut parser) = parser(&options) else {
            return;
        };
        let sentence = "old buy a with of the dog and saw in to ".repeat(9);
        assert_eq!(parser.parse(&sentence).unwrap(), Answer::TimedOut);
        assert!(matches!(
            parser.parse("Dogs sing.").unwrap(),
            Answer::Linkages(_)
        ));
    }

    #[test]
    fn what_is_absent_is_told_with_the_packages() {
        let options = Options {
            program: PathBuf::from("no-such-link-parser"),
            ..Options::default()
        };
        let error = LinkParser::start(&options).unwrap_err().to_string();
        assert!(
            error.contains("no-such-link-parser was not found"),
            "{error}"
        );
        assert!(error.contains("link-grammar-dictionaries-en"), "{error}");
    }

    #[cfg(unix)]
    mod in_place_of_it {
        use std::fs;
        use std::os::unix::fs::PermissionsExt;

        use super::*;

        /// A script that greets as the parser does and then does as told.
        fn script(body: &str) -> (tempfile::TempDir, Options) {
            let folder = tempfile::tempdir().unwrap();
            let program = folder.path().join("parser");
            let greeting = "echo 'Info: Dictionary version 1.0, x' >&2\n\
                echo 'Info: Library version fake-1. Enter' >&2\nread a; read b\n\
                echo 'limit set to 1000'; echo '[0]'\n";
            fs::write(&program, format!("#!/bin/sh\n{greeting}{body}")).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
            let options = Options {
                program,
                time_limit: Duration::from_secs(1),
                ..Options::default()
            };
            (folder, options)
        }

        #[test]
        fn one_that_crashes_is_started_again() {
            let (_folder, options) = script("read s; echo 'Fatal error: boo' >&2; exit 3\n");
            let mut parser = LinkParser::start(&options).unwrap();
            assert_eq!(parser.version().parser, "fake-1");
            for _ in 0..2 {
                match parser.parse("a").unwrap() {
                    Answer::Ended(reason) => {
                        assert!(reason.contains('3') && reason.contains("boo"), "{reason}");
                    }
                    other => panic!("{other:?}"),
                }
            }
        }

        #[test]
        fn one_that_hangs_is_ended() {
            let (_folder, options) = script("read s; exec sleep 60\n");
            let mut parser = LinkParser::start(&options).unwrap();
            parser.clock = 1;
            assert_eq!(parser.parse("a").unwrap(), Answer::TimedOut);
        }

        #[test]
        fn time_is_that_of_the_processor() {
            if !PROCESSOR_TIME {
                return;
            }
            // Longer than the 3.5 s that it has, but asleep.
            let (_folder, options) =
                script("read s; sleep 5; echo 'limit set to 1000'; echo '[0]'; read x\n");
            let mut parser = LinkParser::start(&options).unwrap();
            let none = Answer::Failed("no linkages".to_owned());
            assert_eq!(parser.parse("a").unwrap(), none);
            let (_folder, options) = script("read s; while :; do :; done\n");
            let mut parser = LinkParser::start(&options).unwrap();
            assert_eq!(parser.parse("a").unwrap(), Answer::TimedOut);
        }

        #[test]
        fn one_that_says_something_else_is_told_and_started_again() {
            let (_folder, options) = script(
                "read s; echo 'cost vector = (BETTER=1)'; echo 'limit set to 1000'; echo '[0]'; read x\n",
            );
            let mut parser = LinkParser::start(&options).unwrap();
            for _ in 0..2 {
                let Answer::Unreadable(told) = parser.parse("a").unwrap() else {
                    panic!("it was read");
                };
                let expected =
                    "expected the costs of a linkage, found \"cost vector = (BETTER=1)\"";
                assert_eq!(told, expected);
            }
        }
    }
}
