#!/usr/bin/env python3
"""A rewriting takes no more time and memory.

    python3 tests/same/turns.py OLD NEW [--corpora DIR] [--only WORD] [--rounds 3]

times whole commands of two programs in turns: old, new, old, new and so on, so that whatever else the machine does meets
both. Prints a Markdown table of medians: seconds of the command, seconds that it says reading and the work took, and
peak memory; the ratio is new by old. Give it two release builds and an idle machine. All jobs take long:
--only takes some of them.
Options that the new program renames stand in OLD_ARGS of same.py. Needs the data of --corpora, or of RANKRLS_CORPORA.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from same import JSON, spoken_by_old

# Name and command. {small} are 2,000 rows, {large} 20,000.
JOBS = {
    "bounded-50": "select {large} -k 50 --lambda 16 --strategy bounded",
    "bounded-200": "select {large} -k 200 --lambda 16 --strategy bounded",
    "bounded-500": "select {large} -k 500 --lambda 16 --strategy bounded",
    "dense-50": "select {small} -k 50 --lambda 16 --strategy dense",
    "lowmem-50": "select {small} -k 50 --lambda 16 --strategy lowmem",
    "residual-100": "select {large} -k 100 --lambda 16 --strategy residual",
    "distil-50": "select {large} -k 50 --lambda 16 --strategy distil",
    "tune-lqo": "tune {small} -k 50 --lambda 4,16,64 --holdout lqo",
    "tune-folds": "tune {small} -k 50 --lambda 4,16,64 --holdout folds:5",
    "train": "train {small} --lambda 16",
    "train-list": "train {small} --lambda 1,4,16,64",
    "read-small": "info {small}",
    "read-large": "info {large}",
}
# What a row shows, in the order of a run's numbers.
SHOWN = ("whole s", "reading s", "work s", "peak MiB")


def run(program, command, data):
    """The numbers of SHOWN, of one run; None for those that the program does not say."""
    name = " ".join(command.split()[:2 if command.startswith("corpus") else 1])
    words = [word.format_map(data) for word in command.split()] + ["-q"] + ["--json"] * (name in JSON)
    with tempfile.TemporaryFile() as out:
        begun = time.perf_counter()
        child = subprocess.Popen([program, *words], stdout=out)
        _, status, usage = os.wait4(child.pid, 0)
        whole = time.perf_counter() - begun
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            sys.exit(f"{program} {' '.join(words)}: exit code {child.returncode}")
        out.seek(0)
        says = numbers(json.load(out))
    work = next((says[key] for key in ("select_seconds", "tune_seconds", "train_seconds") if key in says), None)
    kibibytes = usage.ru_maxrss / 1024 if sys.platform == "darwin" else usage.ru_maxrss
    return whole, says.get("load_seconds"), work, says.get("peak_rss_bytes", kibibytes * 1024) / 2**20


def numbers(document):
    """Times and memory of a document, at the top or one level below."""
    inner = [value for value in document.values() if isinstance(value, dict)]
    found = {}
    for part in [*inner, document]:
        found |= {key: value for key, value in part.items() if key.endswith(("_seconds", "_bytes")) and value is not None}
    return found


def cells(old, new):
    """Median of the old, of the new, and their ratio, for each number of SHOWN."""
    for before, after in zip(zip(*old), zip(*new)):
        if None in before or None in after:
            yield "–"
            continue
        a, b = statistics.median(before), statistics.median(after)
        yield f"{a:.3g} → {b:.3g} ({b / a:.2f})" if a < 1000 else f"{a:.0f} → {b:.0f} ({b / a:.2f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--corpora", type=pathlib.Path, default=os.environ.get("RANKRLS_CORPORA"))
    parser.add_argument("--only", default="", help="run the jobs with this word in their name or command")
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    if not asked.corpora:
        sys.exit("NOT TIMED: the data are in the folder that --corpora or RANKRLS_CORPORA names")
    folder = pathlib.Path(asked.corpora).absolute() / "ewt-parse"
    data = {"small": folder / "train_2000.svm.zst", "large": folder / "train_20000.svm.zst"}
    print("| job | " + " | ".join(SHOWN) + " |\n|---|" + "---|" * len(SHOWN))
    for name, command in JOBS.items():
        if asked.only not in f"{name} {command}":
            continue
        old, new = [], []
        for _ in range(asked.rounds):
            old.append(run(os.path.abspath(asked.old), spoken_by_old(command), data))
            new.append(run(os.path.abspath(asked.new), command, data))
        print(f"| {name} | " + " | ".join(cells(old, new)) + " |", flush=True)


if __name__ == "__main__":
    main()
