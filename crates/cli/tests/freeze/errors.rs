//! Refusals, with parts of their messages: `refused.txt`.
//!
//! A line is `ARGUMENTS => PART`. `[CODE]` begins lines that end with this code. After `[CODE COMMAND | FILE]`,
//! lines are contents of the file. After `[CODE COMMAND | FILE | FIXTURE]`, lines are replacements in the fixture:
//! `BEFORE -> AFTER`.

use crate::folder::Folder;

#[test]
fn what_cannot_be_done_is_refused() {
    let folder = Folder::new();
    let (mut code, mut header, mut wrong) = (0, Vec::new(), Vec::new());
    for line in include_str!("refused.txt").lines() {
        if let Some(head) = line
            .strip_prefix('[')
            .and_then(|line| line.strip_suffix(']'))
        {
            let (number, rest) = head.split_once(' ').unwrap_or((head, ""));
            code = number.parse().unwrap();
            header = rest.split(" | ").collect();
            continue;
        }
        let Some((what, part)) = line.rsplit_once(" => ") else {
            assert!(line.is_empty(), "{line}");
            continue;
        };
        let arguments = match header[..] {
            [arguments, file] => {
                folder.write(file, unescaped(what));
                arguments
            }
            [arguments, file, fixture] => {
                let (before, after) = what.split_once(" -> ").expect(line);
                let [before, after] = [before, after].map(|text| text.replace("\\t", "\t"));
                let whole = folder.read(fixture);
                assert!(whole.contains(&before), "{line}");
                folder.write(file, whole.replacen(&before, &after, 1));
                arguments
            }
            _ => what,
        };
        let output = folder.output(arguments);
        let message = String::from_utf8(output.stderr).unwrap();
        let is_refused = output.status.code() == Some(code) && output.stdout.is_empty();
        if !is_refused || !message.contains(part) {
            wrong.push(format!("{line}: {}, {message}", output.status));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Text with `\n` for ends of lines, and `\xff` for a byte that UTF-8 never has.
fn unescaped(text: &str) -> Vec<u8> {
    let lines = text.replace("\\n", "\n");
    lines
        .split("\\xff")
        .map(str::as_bytes)
        .collect::<Vec<_>>()
        .join(&b'\xff')
}
