"""The command on a terminal: it prints progress, and then its results."""

import os
import pty
import re
import subprocess

import pytest

DATA = "2 qid:a 1:1 2:0.3\n1 qid:a 2:1\n0 qid:a 3:1\n1 qid:b 1:1 2:2\n0 qid:b 2:1\n"
PRINTING = [
    "select a.svm -k 2 --lambda 1",
    "select a.svm -k 2 --lambda 1 --json",
    "select a.svm -k 2 --lambda 1 -o -",
    "select a.svm -k 2 --lambda 1 -o /dev/stdout",
    "tune a.svm -k 2",
    "compare a.svm -k 2 --lambda 1",
    "train a.svm --lambda 1",
    "predict m.json a.svm",
    "predict m.json a.svm -o -",
    "predict m.json a.svm -o /dev/stdout",
    "evaluate a.svm --model m.json",
    "explain m.json a.svm a",
    "inspect m.json",
    "info a.svm",
    "convert a.svm -o -",
    "completions bash",
]


def on_terminal(program, arguments, folder):
    """A terminal's text from a run, and the exit code."""
    ours, theirs = pty.openpty()
    run = subprocess.Popen(
        [program, *arguments.split()], cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            more = os.read(ours, 65536)
        except OSError:
            break
        if not more:
            break
        shown += more
    os.close(ours)
    return shown.decode(), run.wait()


@pytest.fixture
def folder(program, tmp_path):
    (tmp_path / "a.svm").write_text(DATA)
    select = "select a.svm -k 2 --lambda 1 -o m.json -q"
    subprocess.run([program, *select.split()], cwd=tmp_path, check=True, capture_output=True)
    return tmp_path


@pytest.mark.parametrize("arguments", PRINTING)
def test_every_command_prints_to_a_terminal(program, folder, arguments):
    shown, code = on_terminal(program, arguments, folder)
    assert code == 0, shown
    run = subprocess.run(
        [program, *arguments.split()], cwd=folder, capture_output=True, text=True, check=True
    )
    lines = shown.replace("\r\n", "\n")
    steady = [re.sub(r"[\d.]+", "", line) for line in run.stdout.splitlines()]
    # The last bar is removed. Below it stand the results, with warnings around them.
    printed = re.sub(r"[\d.]+", "", lines.rpartition("\x1b[2K")[2])
    assert "\n".join(steady) in printed


def test_scores_on_a_terminal_have_nothing_between_them(program, folder):
    # Reading takes long enough for a bar.
    queries = (DATA.replace("qid:", f"qid:{query}") for query in range(20_000))
    (folder / "many.svm").write_text("".join(queries))
    shown, code = on_terminal(program, "predict m.json many.svm", folder)
    assert code == 0
    scores = [float(line) for line in shown.split("\r\n")[:-1]]
    assert len(scores) == 100_000
