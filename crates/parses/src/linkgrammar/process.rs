//! The program, which reads one sentence after the other. It is restarted after a sentence at which it ends, runs
//! out of time, or prints unreadable output.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rankrls_files::escaped;

use super::group::Group;
use super::output::Answer;
use crate::Error;

/// Number of linkages that the parser sorts by cost. Of more linkages it draws as many, always the same ones.
const LIMIT: usize = 1000;

/// Most bytes of a sentence. The program itself ends at 2,047.
const LONGEST: usize = 2000;

/// Time for reading the dictionary.
const START: Duration = Duration::from_secs(30);

/// Wall-clock time for a sentence, in addition to twice its processor time.
const SPARE: Duration = Duration::from_secs(2);

/// Most bytes of an answer, and most bytes of each linkage in it.
const ANSWER: usize = 1 << 20;
const LINKAGE: usize = 1 << 16;

/// How to parse.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// The program, which is searched for as the system searches programs.
    pub(crate) program: PathBuf,
    /// Most linkages of a sentence, cheapest first: from 1 to 1,000.
    pub(crate) linkages: usize,
    /// Seconds for a sentence. The program stops by itself after this much processor time. It is killed after twice
    /// that, and `spare`, by the clock.
    pub(crate) time_limit: u64,
    /// Time for reading the dictionary.
    start: Duration,
    spare: Duration,
}

impl Options {
    pub(crate) fn new(program: impl Into<PathBuf>, linkages: usize, time_limit: u64) -> Self {
        Self {
            program: program.into(),
            linkages,
            time_limit,
            start: START,
            spare: SPARE,
        }
    }

    /// The program with all arguments that decide its output. It prefers dictionaries in its working folder, so
    /// that folder must have none.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        let fixed = "en -verbosity=1 -graphics=0 -postscript=1 -ps-header=0 -walls=1 -disjuncts=1 \
            -constituents=0 -links=0 -spell=0 -null=1 -islands-ok=0 -panic=0 -rand=1";
        command
            .args(fixed.split_whitespace())
            .arg(format!("-limit={LIMIT}"))
            .arg(format!("-timeout={}", self.time_limit.max(1)))
            .arg(format!("-test=auto-next-linkage:{}", self.linkages))
            .env("LC_ALL", "C.UTF-8")
            .current_dir("/");
        command
    }

    /// The program's name in messages.
    fn shown(&self) -> String {
        escaped(&self.program.display().to_string())
    }

    fn group(&self, command: &mut Command) -> Result<Group, Error> {
        Group::start(command).map_err(|error| {
            let program = self.shown();
            Error::Failed(if error.kind() == io::ErrorKind::NotFound {
                format!(
                    "{program} was not found: install the Link Grammar parser (Debian packages link-grammar \
                     and link-grammar-dictionaries-en), or take candidates from a file"
                )
            } else {
                format!("{program} cannot be run: {error}")
            })
        })
    }
}

/// The error where the system has no thread left for a parser.
pub(crate) fn no_thread(error: &io::Error) -> Error {
    Error::Failed(format!("no thread could be started for a parser: {error}"))
}

/// Versions of parser and dictionary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Version {
    /// The version of the parser, such as `link-grammar-5.12.0`.
    pub(crate) parser: String,
    /// The version of the dictionary, such as `5.11.0`.
    pub(crate) dictionary: String,
}

impl Version {
    /// Starts the program without a sentence, and reads its versions.
    pub(crate) fn of(options: &Options) -> Result<Self, Error> {
        let mut command = options.command();
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let group = options.group(command.stderr(Stdio::piped()))?;
        let stderr = group.child().stderr.take().expect("a pipe was asked for");
        let mut said = Vec::new();
        let read = || stderr.take(ANSWER as u64).read_to_end(&mut said);
        let found = group.within(options.start, &AtomicBool::new(false), read);
        let (_, late) = found.map_err(|error| no_thread(&error))?;
        let ended = group.end();
        let said = String::from_utf8_lossy(&said);
        let found = |key| said.lines().find_map(|line| after(line, key));
        if let (Some(parser), Some(dictionary)) =
            (found("Library version "), found("Dictionary version "))
        {
            return Ok(Self { parser, dictionary });
        }
        let reason = if late {
            format!("no answer in {} s", options.start.as_secs_f64())
        } else {
            how(ended)
        };
        Err(Error::Failed(format!(
            "{}: expected the versions of a Link Grammar parser and its dictionary, found none ({reason}): known \
             are versions 5.12, and the Debian package link-grammar-dictionaries-en has the English dictionary",
            options.shown()
        )))
    }
}

/// The word after `key` in a line, without a comma or full stop at its end.
fn after(line: &str, key: &str) -> Option<String> {
    let word = line.split_once(key)?.1.split_whitespace().next()?;
    Some(word.trim_end_matches([',', '.']).to_owned())
}

fn how(ended: io::Result<ExitStatus>) -> String {
    ended.map_or_else(|error| error.to_string(), |status| status.to_string())
}

/// A Link Grammar parser that waits for sentences. Once `stop` is set, every sentence runs out of time.
#[derive(Debug)]
pub(crate) struct LinkParser<'a> {
    options: &'a Options,
    stop: &'a AtomicBool,
    /// `None` before the first sentence, and after a sentence that ended the program.
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    group: Group,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

/// The reason why there is no answer.
enum Unanswered {
    Ended,
    TooLong,
}

impl<'a> LinkParser<'a> {
    pub(crate) fn new(options: &'a Options, stop: &'a AtomicBool) -> Self {
        Self {
            options,
            stop,
            running: None,
        }
    }

    /// Parses a sentence. Whatever the program does is an answer.
    pub(crate) fn parse(&mut self, sentence: &str) -> Result<Answer, Error> {
        if sentence.len() > LONGEST {
            let bytes = sentence.len();
            let reason = format!("{bytes} bytes, over the {LONGEST} that can be parsed");
            return Ok(Answer::Failed(reason));
        }
        let mut time = Duration::from_secs(2 * self.options.time_limit) + self.options.spare;
        // The leading blank keeps the program from reading the sentence as a command or a comment.
        let line = format!(" {}\n", sentence.replace(char::is_control, " "));
        let mut questions = vec![&*line];
        let mut running = if let Some(running) = self.running.take() {
            running
        } else {
            // The program's greeting answers no sentence.
            questions.insert(0, "");
            time += self.options.start;
            Running::start(self.options)?
        };
        let most = ANSWER + LINKAGE * self.options.linkages;
        let Running {
            group,
            stdin,
            stdout,
        } = &mut running;
        let found = group.within(time, self.stop, || {
            let mut answers = questions.iter().map(|line| ask(stdin, stdout, line, most));
            answers.try_fold(String::new(), |_, answer| answer)
        });
        let (said, late) = found.map_err(|error| no_thread(&error))?;
        Ok(match said {
            _ if late => Answer::TimedOut,
            Ok(printed) => {
                let answer = Answer::of(printed);
                if !matches!(answer, Answer::Unreadable(_)) {
                    self.running = Some(running);
                }
                answer
            }
            Err(Unanswered::TooLong) => Answer::Unreadable(format!(
                "expected an answer of at most {most} bytes, found more"
            )),
            Err(Unanswered::Ended) => {
                Answer::Ended(format!("the parser ended ({})", how(group.end())))
            }
        })
    }
}

impl Running {
    fn start(options: &Options) -> Result<Self, Error> {
        let mut command = options.command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let group = options.group(command.stderr(Stdio::null()))?;
        let mut child = group.child();
        let stdin = child.stdin.take().expect("a pipe was asked for");
        let stdout = child.stdout.take().expect("a pipe was asked for");
        drop(child);
        Ok(Self {
            group,
            stdin,
            stdout: BufReader::new(stdout),
        })
    }
}

/// Gives the program the `line` of a sentence, then a command and a word that mark the end of the answer. The word
/// makes the program print all its output. Reads at most `most` bytes.
fn ask(
    stdin: &mut ChildStdin,
    stdout: &mut BufReader<ChildStdout>,
    line: &str,
    most: usize,
) -> Result<String, Unanswered> {
    // A program that has ended reads nothing. Its silence shows that below.
    let _ = stdin.write_all(format!("{line}!limit={LIMIT}\nx\n").as_bytes());
    let (mark, end) = (format!("limit set to {LIMIT}"), "[0]");
    let mut answer = stdout.take(most as u64);
    let (mut printed, mut marked, mut bytes) = (String::new(), false, Vec::new());
    loop {
        bytes.clear();
        match answer.read_until(b'\n', &mut bytes) {
            Ok(1..) => {}
            _ if answer.limit() == 0 => return Err(Unanswered::TooLong),
            _ => return Err(Unanswered::Ended),
        }
        let line = String::from_utf8_lossy(&bytes);
        let line = line.trim_end_matches(['\n', '\r']);
        if marked && line == end {
            return Ok(printed);
        } else if line == mark {
            marked = true;
        } else if !marked {
            printed.push_str(line);
            printed.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::output::linkages;
    use super::*;

    static GO_ON: AtomicBool = AtomicBool::new(false);

    fn options(program: impl Into<PathBuf>, time_limit: u64) -> Options {
        Options::new(program, 3, time_limit)
    }

    /// Whether there is a parser, or must be.
    fn present() -> bool {
        let version = Version::of(&options("link-parser", 10));
        let needed = std::env::var_os("RANKRLS_LINK_GRAMMAR").is_some();
        if let (Err(error), false) = (&version, needed) {
            eprintln!("NOT TESTED: {error}");
            return false;
        }
        version.unwrap().parser.starts_with("link-grammar-5.")
    }

    #[test]
    fn sentences_are_parsed_one_after_the_other() {
        let options = options("link-parser", 1);
        let mut parser = LinkParser::new(&options, &GO_ON);
        if !present() {
            return;
        }
        for sentence in [
            "The dog saw the man with a telescope.",
            "!limit=5",
            "% a comment?",
            "It isn't (all) that \"easy\", is it?",
            "Café Müller's “dogs” — 日本語 …",
        ] {
            let Answer::Printed(printed) = parser.parse(sentence).unwrap() else {
                panic!("{sentence}");
            };
            let letters: String = sentence.split_whitespace().collect();
            let found = linkages(&printed).unwrap();
            assert!((1..=3).contains(&found.len()));
            assert!(found.iter().all(|one| one.places(&letters).is_some()));
        }
        for length in [300, 3000] {
            let long = "a ".repeat(length);
            assert!(matches!(parser.parse(&long).unwrap(), Answer::Failed(_)));
        }
        let slow = "old buy a with of the dog and saw in to ".repeat(9);
        assert_eq!(parser.parse(&slow).unwrap(), Answer::TimedOut);
        let good = parser.parse("Dogs sing.").unwrap();
        assert!(matches!(good, Answer::Printed(_)));
    }

    #[test]
    fn what_is_absent_is_told_with_the_packages() {
        let absent = Version::of(&options("no-such-link-parser", 1));
        let error = absent.unwrap_err().to_string();
        assert!(
            error.contains("no-such-link-parser was not found"),
            "{error}"
        );
        assert!(error.contains("link-grammar-dictionaries-en"), "{error}");
    }

    #[cfg(unix)]
    mod in_place_of_it {
        use std::fs;

        use super::*;

        /// A script in place of the parser. Waits less for one that never answers.
        fn script(body: &str, answers: bool) -> (tempfile::TempDir, Options) {
            let folder = tempfile::tempdir().unwrap();
            let program = folder.path().join("parser");
            // Another process writes it. A program that this process has open for writing cannot run, and a test
            // that starts a child at this moment would pass the open file on.
            let write = "printf '#!/bin/sh\n%s\n' \"$1\" > \"$0\" && chmod 755 \"$0\"";
            let mut shell = std::process::Command::new("/bin/sh");
            let written = shell.args(["-c", write]).arg(&program).arg(body).status();
            assert!(written.unwrap().success());
            let options = options(program, 1);
            if answers {
                return (folder, options);
            }
            let [start, spare] = [300, 200].map(Duration::from_millis);
            let impatient = Options {
                time_limit: 0,
                start,
                spare,
                ..options
            };
            (folder, impatient)
        }

        #[test]
        fn one_that_does_not_start_as_the_parser_does_is_told() {
            for (body, reason) in [
                ("exec sleep 1000", "no answer in 0.3 s"),
                ("exit 3", "exit status: 3"),
            ] {
                let (_folder, options) = script(body, body == "exit 3");
                let error = Version::of(&options).unwrap_err().to_string();
                let expected = format!("and its dictionary, found none ({reason})");
                assert!(error.contains(&expected), "{body}: {error}");
            }
        }

        #[test]
        fn one_that_fails_at_a_sentence_is_started_again() {
            let answer = "echo 'limit set to 1000'; echo '[0]'";
            // Reads the questions at the start, and then the sentence and the lines behind it.
            let (start, read) = (
                format!("read x; read x; {answer}"),
                "read s; read x; read x",
            );
            for (body, expected) in [
                (
                    format!("{start}; read s; exit 3"),
                    "Ended(\"the parser ended (exit status: 3)",
                ),
                ("exec sleep 60".to_owned(), "TimedOut"),
                (
                    format!("{start}; exec cat /dev/zero"),
                    "Unreadable(\"expected an answer of at most 1245184 bytes",
                ),
                (
                    format!("{start}; {read}; echo 'cost vector = (BETTER=1)'; {answer}"),
                    "Unreadable(\"expected the costs of a linkage, found \\\"cost vector = (BETTER=1)",
                ),
            ] {
                let (_folder, options) = script(&body, expected != "TimedOut");
                let mut parser = LinkParser::new(&options, &GO_ON);
                for _ in 0..2 {
                    let found = format!("{:?}", parser.parse("a").unwrap());
                    assert!(found.starts_with(expected), "{body}: {found}");
                }
            }
        }

        /// Whether a process runs and is not a zombie.
        fn lives(process: &str) -> bool {
            let state = Command::new("ps")
                .args(["-o", "stat=", "-p", process])
                .output();
            let state = String::from_utf8(state.unwrap().stdout).unwrap();
            !state.trim().is_empty() && !state.starts_with('Z')
        }

        #[test]
        fn its_children_end_with_it() {
            let body = "sleep 1000 & echo $! > \"$0.child\"\nread s";
            for (rest, stop) in [("exit 1", false), ("exec >&-; wait", false), ("wait", true)] {
                let (folder, options) = script(&format!("{body}; {rest}"), false);
                let stop = AtomicBool::new(stop);
                let mut parser = LinkParser::new(&options, &stop);
                parser.parse("a").unwrap();
                let file = folder.path().join("parser.child");
                if let Ok(child) = fs::read_to_string(file) {
                    assert!(!lives(child.trim()), "{rest}");
                }
            }
        }
    }
}
