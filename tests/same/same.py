#!/usr/bin/env python3
"""A rewriting changes no number.

    python3 tests/same/same.py OLD NEW [--keep DIR] [--corpora DIR] [--only WORD] [--jobs 2] [--within SHARE]

runs the commands of commands.txt with two programs, and compares every number that they print and write: features,
errors, weights, measures, and the scores of their models. Numbers are equal if they print alike, with all 17 digits.
With --within 1e-9, numbers with a fraction may differ by this share of the largest of their list, and a note says by
how much they do. Features and counts may not.
Where a number stands may change, and what it stands beside: lists are found again by the name of their key.
Exit code 0: all agree. 1: some differ, and each difference stands in a line of its own: command, place, old, new.

The old program is that of the commit before the rewriting:
    git worktree add ../old 371a88e6 && cargo build --manifest-path ../old/Cargo.toml
With --keep, a folder keeps the answers of the old program, and the next run only asks the new one: a minute of two cores.
Builds may be of any profile that optimises the library, as `cargo build` does.
Real data are in the folder of --corpora, or of RANKRLS_CORPORA; without it their commands are left out.

Where the new program names things otherwise, say so in the tables below. A change of numbers that is wanted needs a
new old program: the commit that changed them.
"""

import argparse
import collections
import concurrent.futures
import csv
import gzip
import hashlib
import io
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

# Words of the new program, and of the old one where they differ: (command, or "" for all; words): words of the old one.
# ("tune", "--lambda"): "--lambda" and ("", "info"): "corpus info" would be such. commands.txt speaks as the new one.
OLD_ARGS = {
    ("", "info"): "corpus info", ("", "build"): "corpus build", ("", "--sample"): "--candidates",
    ("", "p/train.svm.zst"): "p.svm.zst", ("", "p/test.svm.zst"): "p-test.svm.zst",
    ("select", "--lambda 16 -o n.json --resume"): "--extend n.json -o n.json",
    ("select", "--lambda 2 --strategy sampled --sample 9 -o n.json --resume"): "--extend n.json -o n.json",
    ("select", "--metrics map,ndcg@10:linear,mean-ndcg:linear,p@10,err,mrr,cindex"): "--gain linear",
    ("evaluate", "--metrics map,ndcg@10:linear,mean-ndcg:linear,p@10,err,mrr,cindex"): "--gain linear",
    ("select", "--metrics map:0.8,ndcg@10,mean-ndcg,p@10:0.8,err:2,mrr:0.8,cindex"): "--relevant-from 0.8 --max-grade 2",
    ("tune", "--lambda"): "--lambdas", ("", "--label-scale"): "--labels", ("tune", "--holdout"): "--evidence",
    ("tune", "--validation"): "--evidence", ("tune", "--table"): "--csv",
    ("tune", "--strategy bounded,distil,residual"): "--strategies bounded,distil,residual",
    ("tune", "--strategy backfit,sampled,random,univariate"): "--strategies backfit,sampled,random,univariate",
    ("tune", "--choose-by ndcg@3:linear"): "--choose-by ndcg@3 --gain linear",
    ("evaluate", "--metrics map,p@3,err:4"): "--metrics map,p@3,err --max-grade 4",
    ("evaluate", "--metrics cindex,label@1,ndcg@5,map:0.9"): "--metrics cindex,label@1,ndcg@5,map --relevant-from 0.9",
}
# Keys, or whole paths of keys, of the old program and of the new one: {"index": "feature"}.
RENAMED = {"index": "feature", "candidates": "sample"}
# Keys, or whole paths of keys, that the new program does not print, and why.
GONE = {
    "path.*.step": "a step is at its place in the list",
    "max_grade": "it stands in the name of a measure", "relevant_from": "it stands in the name of a measure",
}
# A measure with the rules in its name, which the old program took as options.
RULED = re.compile(r"(map|p@\d+|ndcg@\d+|mean-ndcg|err|mrr)(:[^(]+)?(\(\w+\))?")
# Files of the old program and of the new one: {"n.json": "m.json"}.
FILES = {"p-manifest.json": "p/manifest.json"}
# Keys and ends of keys that may differ: times, memory, and what belongs to a machine.
FREE = ("seconds", "bytes", "memory", "memory_bytes", "threads", "version", "schema")
# Counts of work. They are compared, but a difference is a note.
WORK = ("evaluated", "alive", "iterations")
# Commands that print a document.
JSON = ("select", "train", "tune", "evaluate", "explain", "inspect", "info", "build", "corpus info", "corpus build")

HERE = pathlib.Path(__file__).resolve().parent
OURS = HERE.parent.parent / "corpora"
SECONDS = 300  # that a command may take


# ---- data ----

def corpora(folder):
    """Files by the names of commands.txt. Those of the folder are left out if it is None."""
    files = {"parses": OURS / "parses/train.svm.zst", "parses_test": OURS / "parses/test.svm.zst"}
    files |= {"links": OURS / "link-parses/train.svm.zst", "links_test": OURS / "link-parses/test.svm.zst"}
    files |= {"gold": OURS / "nbest-gold.conllu", "nbest": OURS / "nbest.conllu"}
    if folder:
        ewt, letor = folder / "ewt-parse", folder / "letor-mq2008-fold3"
        files |= {"ewt": ewt / "train_2000.svm.zst", "ewt_test": ewt / "test_2000.svm.zst"}
        files |= {"mq": letor / "train.txt.zst", "mq_vali": letor / "vali.txt.zst", "mq_test": letor / "test.txt.zst"}
    return files


def rlscore(folder, part):
    """Data of RLScore as svmlight text; its indices count from 0."""
    columns = [(folder / f"{part}.{what}").read_text().splitlines() for what in ("labels", "qids", "features")]
    for label, query, entries in zip(*columns):
        pairs = (entry.split(":") for entry in entries.split())
        yield f"{label} qid:{query} " + " ".join(f"{int(index) + 1}:{value}" for index, value in pairs)


def svmlight(rows, base=1, queries=True):
    """Rows of (label, query, values) as text. Zeros are left out."""
    for label, query, values in rows:
        entries = [f"{i + base}:{v!r}" for i, v in enumerate(values) if v != 0]
        yield " ".join([repr(label)] + [f"qid:{query}"] * queries + entries)


def odd_rows(draw):
    """Queries of one row and of equal labels; columns that repeat, change sign, or are constant; empty rows."""
    for query, size in enumerate([1, 2, 5, 3, 1, 6, 4, 2, 7, 3, 5, 4], 1):
        label = draw.random()
        for row in range(size):
            x = [draw.gauss(0, 1) if draw.random() < 0.6 else 0.0 for _ in range(9)]
            more = [x[0], -x[1], x[2] + query, 2 * x[3], 1.0, float(query), 0.0, float(row == 0)]
            yield (label if query % 4 == 0 else draw.random(), query, [] if row == 2 else x + more)


def write_data(folder, rl):
    """Writes the small data of commands.txt, the same at every run."""
    draw = random.Random(7)
    odd = list(odd_rows(draw))
    grades = []
    for query in range(1, 31):
        for _ in range(8):
            x = [round(draw.gauss(0, 1), 3) for _ in range(12)] + [float(draw.randrange(3)), 1.0]
            grades.append((min(2, max(0, round(1 + x[0] - 0.5 * x[3] + draw.gauss(0, 0.7)))), query, x))
    large = [(1e6 * y, q, [v * 10.0 ** (3 * (j % 7) - 9) for j, v in enumerate(x)]) for y, q, x in odd]
    one = [(float(y), 1, x) for y, _, x in grades[:24]]
    kernel = [(y, q, [sum(a * b for a, b in zip(x, z)) for _, _, z in grades[:80]]) for y, q, x in grades[:80]]
    pairs = [(a + 1, b + 1, draw.choice([1, 2, 0.5]), draw.choice([1, 3])) for a, b in
             (draw.sample(range(len(grades)), 2) for _ in range(150))]
    table = [["y", "q"] + [f"c{j}" for j in range(1, 7)]]
    for y, q, x in grades[:96]:
        table.append([y, q] + ["" if draw.random() < 0.1 else v for v in x[:6]])
    files = {
        "odd.svm": svmlight(odd), "zero.svm": svmlight(odd, base=0), "large.svm": svmlight(large),
        "returning.svm": svmlight(odd[::2] + odd[1::2]), "one.svm": svmlight(one), "kernel.svm": svmlight(kernel),
        "grades.svm": svmlight(grades), "flat.svm": svmlight(grades, queries=False),
        "pairs.txt": [" ".join(map(str, pair)) for pair in pairs],
        "folds.txt": [str(query % 5) for _, query, _ in grades],
        "basis.txt": [str(row) for row in range(3, 240, 11)],
        "features.txt": ["2", "5", "11", "1"],
        "table.csv": [",".join(map(str, row)) for row in table],
        "teacher.txt": [repr(y + draw.gauss(0, 0.7)) for y, _, _ in grades],
        "scores.txt": [repr(draw.gauss(0, 1)) for _ in grades], "scores2.txt": [str(draw.randrange(4)) for _ in grades],
    }
    if rl:
        files |= {"rl.svm": rlscore(rl, "train"), "rl_test.svm": rlscore(rl, "test")}
    for name, lines in files.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines))
    return {pathlib.Path(name).stem: folder / name for name in files}


# ---- commands ----

def jobs(text):
    """Lists of (command, is it refused), a list for each line."""
    for line in (line for line in text.splitlines() if line and not line.startswith("#")):
        job = []
        for command in line.split(" ; "):
            refused = command.startswith("! ")
            command, _, data = command.removeprefix("! ").partition(" -> ")
            job.append((f"{command} -o model.json" if data else command, refused))
            job += [(f"predict model.json {data} -o scores.txt", refused)] if data else []
        yield job


def spoken_by_old(command):
    """The command in the words of the old program."""
    padded = f" {command} "
    for (which, new), old in OLD_ARGS.items():
        if not which or command.startswith(f"{which} "):
            padded = padded.replace(f" {new} ", f" {old} ")
    return padded.strip()


def answer(program, commands, data):
    """Exit codes, words of refusals, and texts of documents and files, of commands in a new folder."""
    codes, errors, texts = [], [], {}
    with tempfile.TemporaryDirectory() as folder:
        for at, command in enumerate(commands, 1):
            name = " ".join(command.split()[:2 if command.startswith("corpus") else 1])
            words = [word.format_map(data) for word in command.split()] + ["-q"] + ["--json"] * (name in JSON)
            try:
                done = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True, timeout=SECONDS)
            except subprocess.TimeoutExpired:
                codes.append(f"longer than {SECONDS} s")
                break
            codes.append(done.returncode)
            errors.append(done.stderr.replace(str(data["grades"].parent), "DATA") if done.returncode else "")
            texts[f"{at}.json" if name in JSON else f"{at}.txt"] = done.stdout
            if done.returncode:
                break
        for path in sorted(pathlib.Path(folder).rglob("*")):
            if path.is_file() and path.suffix in (".json", ".csv", ".txt"):
                texts[str(path.relative_to(folder))] = path.read_text()
    return {"codes": codes, "errors": errors, "texts": texts}


def kept_answer(keep, key, program, commands, data):
    """The answer in the folder, or a new one, which the folder then keeps."""
    if not keep:
        return answer(program, commands, data)
    name = hashlib.sha256("\n".join([key, *commands]).encode()).hexdigest()[:24]
    path = keep / f"{name}.json.gz"
    if path.exists():
        return json.loads(gzip.decompress(path.read_bytes()))
    found = answer(program, commands, data)
    part = path.with_suffix(f".{os.getpid()}")
    part.write_bytes(gzip.compress(json.dumps(found).encode(), 1))
    part.replace(path)
    return found


# ---- numbers ----

class Number(str):
    """A number as it is printed, which no string of the document is."""


def canonical(text):
    """A number in one spelling, to the bit: 16.0 is 16, and -0.0 is not 0."""
    value = float(text)
    if text.lstrip("-").isdigit() or not value.is_integer() or abs(value) > 1e15 or str(value) == "-0.0":
        return text if text.lstrip("-").isdigit() else repr(value)
    return str(int(value))


def walk(value, path, found):
    """Appends the numbers of a document to the lists of their paths. All members of a list have one path."""
    if isinstance(value, dict):
        for key, member in value.items():
            walk(member, (*path, plain(key)), found)
    elif isinstance(value, list):
        for member in value:
            walk(member, (*path, "*"), found)
    elif isinstance(value, Number):
        found[path].append(canonical(value))


def numbers(name, text):
    """Lists of numbers by path. Lines of a text are one list, whatever they say."""
    found = collections.defaultdict(list)
    if name.endswith(".json"):
        walk(json.loads(text, parse_float=Number, parse_int=Number) if text.strip() else None, (), found)
    elif name.endswith(".csv"):
        for row in csv.DictReader(io.StringIO(text)):
            for key, cell in row.items():
                try:
                    found["*", plain(key)].append(canonical(cell))
                except (TypeError, ValueError):
                    pass
    elif text:
        found["line",] = text.splitlines()
    return found


def plain(key):
    """A key, without the rules of a measure."""
    measure = RULED.fullmatch(key)
    return measure[1] if measure else key


def last(path):
    return next((key for key in reversed(path) if key != "*"), "")


def is_part(few, many):
    """Whether many has the members of few, in their order."""
    rest = iter(many)
    return all(member in rest for member in few)


def apart(old, new, within):
    """The largest difference of two lists, as a share of the largest number; None where it is more than may be."""
    if not within or len(old) != len(new):
        return None
    pairs = [(a, b) for a, b in zip(old, new) if a != b]
    try:
        differences = [abs(float(a) - float(b)) for a, b in pairs]
        largest = max((abs(float(a)) for a in old), default=0.0) if pairs else 1.0
    except ValueError:
        return None
    whole = any(a.lstrip("-").isdigit() and b.lstrip("-").isdigit() for a, b in pairs)
    share = max(differences, default=0.0) / largest if largest else math.inf
    return None if whole or not share <= within else share


def unlike(old, new):
    """What two lists differ in, in words."""
    if len(old) != len(new):
        return f"{len(old)} numbers in the old, {len(new)} in the new: {' '.join(old[:3])} ... {' '.join(new[:3])} ..."
    places = [i for i, (a, b) in enumerate(zip(old, new)) if a != b]
    return f"[{places[0]}] old {old[places[0]]}, new {new[places[0]]}; {len(places)} of {len(old)} differ"


def compare(old, new, within=0.0):
    """Number of equal numbers, differences, and notes, of two documents as lists by path."""
    equal, differ, notes = 0, [], []
    for path, values in old.items():
        if any(key in FREE or key.endswith(("_seconds", "_bytes")) for key in path):
            continue
        place = ".".join(path)
        here = tuple(RENAMED[place].split(".")) if place in RENAMED else path
        names = {last(path), last(here), RENAMED.get(last(path))}
        rivals = {".".join(q): v for q, v in new.items() if last(q) in names}
        others = [new[here]] if here in new else rivals.values()
        shares = [apart(values, other, within) for other in others]
        share = min((share for share in shares if share is not None), default=None)
        same = values if new.get(here) == values else next((v for v in rivals.values() if v == values), None)
        holder = next((q for q, v in rivals.items() if is_part(values, v)), None)
        if new.get(here) == values or (same and here not in new):
            equal += len(values)
        elif share is not None:
            equal += len(values)
            notes.append(f"{last(path) or place} differs by less than 1e{math.ceil(math.log10(share or within))}")
        elif here in new or (rivals and not holder):
            other = new[here] if here in new else next(iter(rivals.values()))
            (notes if set(path) & set(WORK) else differ).append(f"{place} {unlike(values, other)}")
        elif holder:
            equal += len(values)
            notes.append(f"{place} stands in {holder}")
        elif place in GONE or last(path) in GONE:
            notes.append(f"{place} is gone: {GONE.get(place) or GONE[last(path)]}")
        else:
            (notes if set(path) & set(WORK) else differ).append(f"{place} is not in the new: {' '.join(values[:3])} ...")
    return equal, differ, notes


def compare_answers(job, old, new, within):
    """As compare, of all documents of a job."""
    equal, differ, notes = 0, [], []
    for at, code in enumerate(old["codes"]):
        command, refused = job[at]
        if (code != 0) != refused:
            differ.append(f"the old program ends with {code}: {command}: {old['errors'][-1].strip()}")
        elif code != (new["codes"] + [None] * len(job))[at]:
            differ.append(f"old ends with {code}, new with {new['codes'][-1]}: {command}: {new['errors'][-1].strip()}")
    if differ:
        return equal, differ, notes
    if old["errors"] != new["errors"]:
        notes.append(f"words: old {old['errors'][-1].strip()!r}, new {new['errors'][-1].strip()!r}")
    for name, text in old["texts"].items():
        if FILES.get(name, name) not in new["texts"]:
            differ.append(f"{name} is not written")
            continue
        some, others, words = compare(numbers(name, text), numbers(name, new["texts"][FILES.get(name, name)]), within)
        equal += some
        differ += [f"{name} {other}" for other in others]
        notes += [f"{name} {word}" for word in words]
    return equal, differ, notes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--keep", type=pathlib.Path, help="folder of the answers of the old program")
    parser.add_argument("--corpora", type=pathlib.Path, default=os.environ.get("RANKRLS_CORPORA"))
    parser.add_argument("--only", default="", help="run the jobs with this word")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--within", type=float, default=0.0, help="share by which numbers with a fraction may differ")
    asked = parser.parse_args()
    old, new = os.path.abspath(asked.old), os.path.abspath(asked.new)
    if asked.keep:
        asked.keep.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        made = write_data(pathlib.Path(folder), asked.corpora and pathlib.Path(asked.corpora) / "rlscore-parse")
        data = corpora(asked.corpora and pathlib.Path(asked.corpora)) | made
        key = hashlib.sha256(pathlib.Path(old).read_bytes())
        for name in sorted(data):
            key.update(f"{name} {data[name].stat().st_size}".encode())
            key.update(data[name].read_bytes() if name in made else b"")
        table = [job for job in jobs((HERE / "commands.txt").read_text()) if asked.only in " ; ".join(c for c, _ in job)]
        known = {f"{{{name}}}" for name in data}
        able = [job for job in table if all(w in known for c, _ in job for w in c.split() if w.startswith("{"))]

        def both(job):
            commands = [command for command, _ in job]
            before = kept_answer(asked.keep, key.hexdigest(), old, [spoken_by_old(c) for c in commands], data)
            return compare_answers(job, before, answer(new, commands, data), asked.within)

        total, wrong, notes = 0, 0, collections.Counter()
        with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
            for job, (equal, differ, words) in zip(able, pool.map(both, able)):
                total, wrong = total + equal, wrong + len(differ)
                notes.update(words)
                if differ:
                    print(" ; ".join(command for command, _ in job), *differ, sep="\n    ", flush=True)
    for note, times in notes.most_common():
        print(f"note: {note}" + f" ({times} jobs)" * (times > 1))
    if len(able) < len(table):
        print(f"NOT COMPARED: {len(table) - len(able)} jobs, whose data are in the folder of RANKRLS_CORPORA")
    print(f"{sum(map(len, able))} commands, {total:,} numbers, {wrong} differ")
    return 1 if wrong or not total else 0


if __name__ == "__main__":
    sys.exit(main())
