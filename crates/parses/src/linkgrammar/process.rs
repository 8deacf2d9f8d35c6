//! The program at the other end of three pipes.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use rankrls_files::{escaped, quote};
use thiserror::Error;

use super::group::{Group, Times};
use super::{Answer, Options, Version, output};

/// Bytes of a sentence that the program takes; it ends at 2,047.
const LONGEST: usize = 2000;

/// Time by the clock until the dictionary is read, if the time limit is less.
const START: Duration = Duration::from_secs(if cfg!(test) { 12 } else { 30 });

/// A parser that takes none of the processor for so long does nothing.
const IDLE: Duration = Duration::from_secs(10);

/// How many times its limit of processor time a parser may take by the clock: a loaded machine is
/// no fault of the parser's.
const CLOCK: u32 = 20;

/// How often it is looked whether to go on.
const TICK: Duration = Duration::from_millis(100);

/// How often it is looked what a parser does.
const LOOK: Duration = Duration::from_secs(1);

/// Time for the last words of a parser that ends.
const LAST: Duration = Duration::from_secs(1);

/// Bytes of a line of the program at the most.
const LINE: usize = 1 << 20;

/// Bytes of memory that an answer takes at the most, and for each linkage more.
const ANSWER: usize = 1 << 20;
const LINKAGE: usize = 1 << 16;

/// Bytes of memory that a line takes beside its own.
const BESIDE: usize = 32;

/// Lines that wait to be read.
const WAITING: usize = 64;

/// Lines of errors and versions that are kept, and bytes of each.
const NOTES: usize = 1000;
const NOTE: usize = 1 << 12;

/// A Link Grammar parser that waits for sentences.
///
/// The program and its children end when this is dropped.
#[derive(Debug)]
pub struct LinkParser {
    options: Options,
    version: Version,
    /// How many times the time limit it may take by the clock.
    clock: u32,
    /// Whether nobody waits for answers any more.
    stop: Arc<AtomicBool>,
    /// None after it ended or had to be ended.
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    group: Group,
    questions: Sender<String>,
    said: Receiver<Said>,
    notes: Receiver<String>,
}

/// The output of the program.
#[derive(Debug)]
enum Said {
    Line(String),
    TooLong,
}

/// How waiting for an answer ended.
enum Waited {
    Lines(Vec<String>),
    Ended,
    /// The program was late; the first line that it did say, if it said something.
    Late(Duration, Option<String>),
    /// More than so many bytes, with the first line.
    TooMuch(usize, Option<String>),
}

/// The limits of a parser for an answer.
#[derive(Debug, Clone, Copy)]
struct Limits<'a> {
    /// Time of the processor; by the clock where the system does not tell it.
    processor: Duration,
    clock: Duration,
    bytes: usize,
    stop: &'a AtomicBool,
}

impl LinkParser {
    /// Starts the program and waits until it parses.
    pub fn start(options: &Options) -> Result<Self, LinkGrammarError> {
        Self::start_until(options, &Arc::default())
    }

    /// Does not wait any more once `stop` is set.
    pub(crate) fn start_until(
        options: &Options,
        stop: &Arc<AtomicBool>,
    ) -> Result<Self, LinkGrammarError> {
        let (running, version) = Running::start(options, stop)?;
        Ok(Self {
            options: options.clone(),
            version,
            clock: CLOCK,
            stop: Arc::clone(stop),
            running: Some(running),
        })
    }

    /// The same parser; its sentences run out of time once `stop` is set.
    pub(crate) fn until(mut self, stop: &Arc<AtomicBool>) -> Self {
        self.stop = Arc::clone(stop);
        self
    }

    /// The version that it named when it started.
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// Parses a sentence. Whatever the program does about it is an answer.
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
            None => Running::start(&self.options, &self.stop)?.0,
        };
        // The blank keeps the program from taking the sentence for a command or a comment.
        let line = sentence.replace(char::is_control, " ");
        let limit = self.options.limit;
        running.ask(&format!(" {line}\n"), limit);
        let time = self.options.time_limit;
        let limits = Limits {
            processor: time + time / 2 + Duration::from_secs(2),
            clock: time * self.clock,
            bytes: ANSWER + LINKAGE * self.options.linkages,
            stop: &self.stop,
        };
        Ok(match running.wait(limit, &limits) {
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
            Waited::TooMuch(bytes, _) => Answer::Unreadable(format!(
                "expected an answer of at most {bytes} bytes, found more"
            )),
            Waited::Late(..) => Answer::TimedOut,
            Waited::Ended => Answer::Ended(running.last_words()),
        })
    }
}

impl Running {
    /// Starts the program, has it parse a word, and tells its version.
    fn start(options: &Options, stop: &AtomicBool) -> Result<(Self, Version), LinkGrammarError> {
        let mut running = Self::launch(options)?;
        running.ask("", options.limit);
        let program = shown(&options.program);
        let time = START.max(options.time_limit);
        let limits = Limits {
            processor: time,
            clock: time,
            bytes: ANSWER,
            stop,
        };
        let beginning = |first: Option<String>| match first {
            Some(line) => format!("; it said {} first", quote(line.as_bytes())),
            None => String::new(),
        };
        let reason = match running.wait(options.limit, &limits) {
            Waited::Lines(_) => {
                let found = running.version();
                let version = found.ok_or(LinkGrammarError::Version { program })?;
                return Ok((running, version));
            }
            Waited::Ended => running.last_words(),
            Waited::Late(passed, first) => {
                format!("no answer in {} s{}", passed.as_secs(), beginning(first))
            }
            Waited::TooMuch(bytes, first) => {
                format!("no answer in its first {bytes} bytes{}", beginning(first))
            }
        };
        Err(LinkGrammarError::Start { program, reason })
    }

    /// Gives it the line of a `sentence`, or none, and a command and a word that tell where the answer
    /// ends. A program that has ended takes nothing, which is seen when it says nothing.
    fn ask(&mut self, sentence: &str, limit: usize) {
        let _ = self
            .questions
            .send(format!("{sentence}!limit={limit}\nx\n"));
    }

    fn launch(options: &Options) -> Result<Self, LinkGrammarError> {
        let mut group = Group::start(&mut command(options)).map_err(|source| {
            let program = shown(&options.program);
            if source.kind() == io::ErrorKind::NotFound {
                LinkGrammarError::Absent { program }
            } else {
                LinkGrammarError::Run { program, source }
            }
        })?;
        let child = group.child();
        let stdin = child.stdin.take().expect("a pipe was asked for");
        let stdout = child.stdout.take().expect("a pipe was asked for");
        let stderr = child.stderr.take().expect("a pipe was asked for");
        let ((questions, asked), (say, said)) = (channel(), sync_channel(WAITING));
        let (note, notes) = sync_channel(NOTES);
        // A program that does not read, or does not stop printing, keeps a thread waiting, not this one.
        thread::spawn(move || pass_on(&asked, stdin));
        thread::spawn(move || forward(stdout, &say));
        thread::spawn(move || take_notes(stderr, &note));
        Ok(Self {
            group,
            questions,
            said,
            notes,
        })
    }

    /// The lines up to the answer to the command that followed the sentence. The word after that
    /// makes the program write out all it has; what it says of it is read as well.
    /// It waits as long as the program keeps to the `limits`, and does something.
    fn wait(&mut self, limit: usize, limits: &Limits<'_>) -> Waited {
        let (mark, end) = (format!("limit set to {limit}"), "[0]");
        let mut watch = Watch::new(&self.group, limits);
        let (mut lines, mut marked) = (Vec::<String>::new(), false);
        let mut bytes = 0;
        loop {
            let said = self.said.recv_timeout(watch.tick());
            match said {
                Ok(Said::Line(line)) => {
                    bytes += line.len() + BESIDE;
                    if marked && line == end {
                        return Waited::Lines(lines);
                    } else if line == mark {
                        marked = true;
                    } else if !marked {
                        lines.push(line);
                    }
                }
                Ok(Said::TooLong) => bytes = usize::MAX,
                Err(RecvTimeoutError::Disconnected) => return Waited::Ended,
                Err(RecvTimeoutError::Timeout) if watch.is_long() && self.group.has_ended() => {
                    // A child of it has its output open still.
                    return Waited::Ended;
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if bytes > limits.bytes {
                return Waited::TooMuch(limits.bytes, lines.into_iter().next());
            }
            if watch.is_over(&self.group) {
                return Waited::Late(watch.start.elapsed(), lines.into_iter().next());
            }
        }
    }

    fn version(&self) -> Option<Version> {
        let mut dictionary = None;
        let deadline = Instant::now() + IDLE;
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
        let deadline = Instant::now() + LAST;
        while !self.group.has_ended() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(5));
        }
        let stayed = !self.group.has_ended();
        let how = match self.group.end() {
            Ok(_) if stayed => "it closed its output and went on".to_owned(),
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        let deadline = Instant::now() + LAST;
        let mut error = None;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.notes.recv_timeout(left) {
                Ok(note) if note.contains("rror") => error = Some(note.trim().to_owned()),
                Ok(_) => {}
                Err(_) => break,
            }
        }
        match error {
            Some(error) => format!("the parser ended ({how}): {error}"),
            None => format!("the parser ended ({how})"),
        }
    }
}

/// The limits of an answer while it is waited for.
struct Watch<'a> {
    limits: &'a Limits<'a>,
    start: Instant,
    /// Time of the processor before.
    before: Option<Duration>,
    /// The time of the children before, once it is known.
    children: Option<Duration>,
    last: Option<Times>,
    /// For how long nothing was done.
    idle: Duration,
    looked: Instant,
    /// When to look again.
    next: Instant,
}

impl<'a> Watch<'a> {
    fn new(group: &Group, limits: &'a Limits<'a>) -> Self {
        let start = Instant::now();
        Self {
            limits,
            start,
            before: group.program_time(),
            children: None,
            last: None,
            idle: Duration::ZERO,
            looked: start,
            // A thread takes no more of the processor than passes by the clock.
            next: start + LOOK.min(limits.processor).min(limits.clock),
        }
    }

    /// How long to wait for a line.
    fn tick(&self) -> Duration {
        TICK.min(self.next.saturating_duration_since(Instant::now()))
    }

    /// Whether it has taken longer than answers do for the most part.
    fn is_long(&self) -> bool {
        self.start.elapsed() >= LOOK
    }

    /// Whether the parser has had its time, or does nothing.
    fn is_over(&mut self, group: &Group) -> bool {
        if self.limits.stop.load(Ordering::Relaxed) {
            return true;
        }
        let now = Instant::now();
        if now < self.next {
            return false;
        }
        let passed = now - self.start;
        let times = group.processor_time();
        let taken = match (self.before, times) {
            (Some(before), Some(times)) => {
                let children = *self.children.get_or_insert(times.children);
                let of_children = times.children.saturating_sub(children);
                times.program.saturating_sub(before) + of_children
            }
            _ => passed,
        };
        // A machine that was asleep itself is no fault of the parser's.
        self.idle += (now - self.looked).min(2 * LOOK);
        if times.is_none() || times != self.last {
            self.idle = Duration::ZERO;
        }
        (self.last, self.looked) = (times, now);
        let Limits {
            processor, clock, ..
        } = *self.limits;
        let left = (processor.saturating_sub(taken)).min(clock.saturating_sub(passed));
        // The system counts in hundredths of a second.
        self.next = now + left.clamp(Duration::from_millis(10), LOOK);
        left.is_zero() || self.idle >= IDLE
    }
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
    command
}

/// A path with folders in it is that of this process, not of the folder the program runs in.
fn resolved(program: &Path) -> PathBuf {
    let named = program.components().count() > 1;
    let path = named.then(|| std::path::absolute(program).ok()).flatten();
    path.unwrap_or_else(|| program.to_owned())
}

/// A program as messages call it.
fn shown(program: &Path) -> String {
    escaped(&program.display().to_string())
}

/// Gives the program what it is asked, until it or who asks is gone.
fn pass_on(asked: &Receiver<String>, mut stdin: ChildStdin) {
    for text in asked {
        if stdin
            .write_all(text.as_bytes())
            .and_then(|()| stdin.flush())
            .is_err()
        {
            return;
        }
    }
}

/// Hands over each line without its end, and whether it was cut at `longest` bytes, until there are no
/// more or `take` breaks.
fn each_line(from: impl Read, longest: usize, mut take: impl FnMut(&str, bool) -> ControlFlow<()>) {
    let mut reader = BufReader::new(from);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let mut rest = reader.by_ref().take(longest as u64);
        let Ok(1..) = rest.read_until(b'\n', &mut bytes) else {
            return;
        };
        let cut = bytes.len() == longest && !bytes.ends_with(b"\n");
        let line = String::from_utf8_lossy(&bytes);
        if take(line.trim_end_matches(['\n', '\r']), cut).is_break() {
            return;
        }
    }
}

/// Sends lines until there are no more, one is too long, or nobody takes them.
fn forward(from: impl Read, to: &SyncSender<Said>) {
    each_line(from, LINE, |line, cut| {
        let said = if cut {
            Said::TooLong
        } else {
            Said::Line(line.to_owned())
        };
        if to.send(said).is_err() || cut {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
}

/// Sends lines as messages may have them, and drops those for which there is no room: the program
/// does not wait for anybody to read them.
fn take_notes(from: impl Read, to: &SyncSender<String>) {
    each_line(from, NOTE, |line, _| {
        let _ = to.try_send(escaped(line));
        ControlFlow::Continue(())
    });
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
        /// The program that was looked for.
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
    /// It ended, kept silent, or said something else, before it had parsed anything.
    #[error(
        "{program} does not start as the Link Grammar parser does: {reason} (the parser is the program link-parser; its English dictionary is in the Debian package link-grammar-dictionaries-en)"
    )]
    Start {
        /// The program.
        program: String,
        /// The last it said, or what it did.
        reason: String,
    },
    /// It does not tell its versions as the known ones do.
    #[error(
        "{program}: expected the versions of dictionary and library, found none: it is no Link Grammar parser, or of a version that is not known (known are versions 5.12)"
    )]
    Version {
        /// The program.
        program: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linkgrammar::PROCESSOR_TIME;

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
            let greeting = "echo 'Info: Dictionary version 1.0, x' >&2\n\
                echo 'Info: Library version fake-1. Enter' >&2\nread a; read b\n\
                echo 'limit set to 1000'; echo '[0]'\n";
            bare_script(&format!("{greeting}{body}"))
        }

        fn bare_script(body: &str) -> (tempfile::TempDir, Options) {
            let folder = tempfile::tempdir().unwrap();
            let program = folder.path().join("parser");
            fs::write(&program, format!("#!/bin/sh\n{body}\n")).unwrap();
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

        /// A script that does as told, and what is said of its start.
        fn refusal(body: &str) -> String {
            let (_folder, options) = bare_script(body);
            let begin = Instant::now();
            let error = LinkParser::start(&options).unwrap_err();
            assert!(begin.elapsed() < START + 2 * IDLE, "{body}");
            assert!(matches!(error, LinkGrammarError::Start { .. }), "{error}");
            let error = error.to_string();
            assert!(error.contains("link-grammar-dictionaries-en"), "{error}");
            error
        }

        #[test]
        fn one_that_does_not_start_as_the_parser_does_is_told() {
            thread::scope(|scope| {
                for (body, expected) in [
                    ("exec sleep 1000", "no answer in 1"),
                    ("sleep 1000", "no answer in 1"),
                    ("sleep 1000 & exit 3", "the parser ended (exit status: 3)"),
                    ("echo Hello; exec sleep 1000", "it said \"Hello\" first"),
                    ("exec cat", "it said \"!limit=1000\" first"),
                    ("while :; do echo y; sleep 0.2; done", "it said \"y\" first"),
                    (
                        "exec yes",
                        "no answer in its first 1048576 bytes; it said \"y\" first",
                    ),
                    ("exec cat /dev/zero", "no answer in its first 1048576 bytes"),
                    ("exec yes '' ", "no answer in its first 1048576 bytes"),
                    ("yes >&2 & exec sleep 1000", "no answer in 12 s"),
                    ("while :; do :; done", "no answer in 12 s"),
                    (
                        "exec >&-; exec sleep 1000",
                        "it closed its output and went on",
                    ),
                    (
                        "exec >&- 2>&-; sleep 1000 & wait",
                        "it closed its output and went on",
                    ),
                    (
                        "echo 'Fatal error: \u{1b}[31m' >&2",
                        r"Fatal error: \u{1b}[31m",
                    ),
                ] {
                    scope.spawn(move || {
                        let error = refusal(body);
                        assert!(error.contains(expected), "{body}: {error}");
                        assert!(!error.contains('\u{1b}'), "{error}");
                    });
                }
            });
        }

        #[test]
        fn an_answer_without_end_is_an_answer_that_is_not_understood() {
            for body in [
                "read s; exec yes",
                "read s; exec cat /dev/zero",
                "read s; yes >&2 & exec yes",
            ] {
                let (_folder, options) = script(body);
                let mut parser = LinkParser::start(&options).unwrap();
                for _ in 0..2 {
                    let answer = parser.parse("a").unwrap();
                    let expected = "expected an answer of at most 2359296 bytes, found more";
                    assert_eq!(answer, Answer::Unreadable(expected.to_owned()), "{body}");
                }
            }
        }

        #[test]
        fn one_that_does_nothing_about_a_sentence_is_ended() {
            let (_folder, options) = script("read s; sleep 1000");
            let options = Options {
                time_limit: Duration::from_secs(3600),
                ..options
            };
            let mut parser = LinkParser::start(&options).unwrap();
            let begin = Instant::now();
            assert_eq!(parser.parse("a").unwrap(), Answer::TimedOut);
            assert!(!PROCESSOR_TIME || begin.elapsed() < 3 * IDLE);
        }

        #[test]
        fn nothing_that_it_prints_unasked_keeps_it_waiting() {
            let (_folder, options) = script(
                "yes 'a note' | head -100000 >&2\n\
                 while :; do echo 'limit set to 1000'; echo '[0]'; done",
            );
            let mut parser = LinkParser::start(&options).unwrap();
            let sentence = "a ".repeat(900);
            for _ in 0..100 {
                let none = Answer::Failed("no linkages".to_owned());
                assert_eq!(parser.parse(&sentence).unwrap(), none);
            }
        }

        /// Whether a process is there, and no zombie.
        fn lives(process: &str) -> bool {
            let state = std::process::Command::new("ps")
                .args(["-o", "stat=", "-p", process])
                .output();
            let state = String::from_utf8(state.unwrap().stdout).unwrap();
            !state.trim().is_empty() && !state.starts_with('Z')
        }

        #[test]
        fn its_children_end_with_it() {
            let body = "sleep 1000 & echo $! > \"$0.child\"\n";
            for rest in [
                "read s; sleep 1000",
                "read s; exit 1",
                "read s; exec >&-; wait",
            ] {
                let (folder, options) = script(&format!("{body}{rest}"));
                let mut parser = LinkParser::start(&options).unwrap();
                let file = folder.path().join("parser.child");
                let begin = Instant::now();
                let child = loop {
                    match fs::read_to_string(&file) {
                        Ok(text) if text.ends_with('\n') => break text.trim().to_owned(),
                        _ => assert!(begin.elapsed() < START, "no child"),
                    }
                };
                assert!(lives(&child));
                if rest != "read s; sleep 1000" {
                    let answer = parser.parse("a").unwrap();
                    assert!(!matches!(answer, Answer::Linkages(_)), "{answer:?}");
                }
                drop(parser);
                assert!(!lives(&child), "{rest}");
            }
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
