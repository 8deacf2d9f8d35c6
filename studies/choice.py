"""Compares the choice of `select` without options with twelve settings: data/choice.csv.

RANKRLS_CORPORA=FOLDER python studies/choice.py [GUM]     # an hour or two
python studies/choice.py --small                          # a trial, in target/trials

Each of the twelve settings has its strategy, scale of labels and scale of columns. Folds of the
training queries choose its lambda. `select` without options chooses among them, and sees no
test data. GUM is a folder with the corpora train and test, as docs/evidence.md builds them.
target/choice keeps the measurements.
"""

import argparse
import itertools
import json
import os
import random
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
from measure import CORPORA, ROOT, rankrls, run
from sklearn.feature_extraction.text import TfidfVectorizer

KEPT = ROOT / "target/choice"
SETTINGS = list(itertools.product(["bounded", "distil"], ["raw", "sqrt-sd"], ["none", "sd", "max"]))
PLAIN = ("bounded", "raw", "none")


def texts(files):
    """Lines of rows of svmlight files."""
    for file in files:
        text = subprocess.run(["zstd", "-dcf", file], check=True, capture_output=True, text=True)
        yield from (line for line in text.stdout.splitlines(True) if not line.startswith("#"))


def by_query(train):
    rows = {}
    for line in texts([train]):
        rows.setdefault(line.split()[1], []).append(line)
    return rows


def drawn(train, queries, draws, tests):
    """Pairs of texts: disjoint sets of `queries` queries, each with the same test queries."""
    rows = by_query(train)
    names = list(rows)
    random.Random(1).shuffle(names)
    test = "".join(line for name in names[-tests:] for line in rows[name])
    for draw in range(draws):
        own = names[draw * queries : (draw + 1) * queries]
        assert (draw + 1) * queries <= len(names) - tests
        yield "".join(line for name in own for line in rows[name]), test


def given(train, test):
    return "".join(texts([train])), "".join(texts([test]))


def both_ways(folder):
    """A corpus, and the same with training and test data exchanged."""
    one = given(folder / "train.svm.zst", folder / "test.svm.zst")
    return [one, one[::-1]]


def in_units(pairs):
    """The same data with a different unit for each column, from 1e-3 to 1e6."""
    for seed, pair in enumerate(pairs):
        units = 10 ** np.random.default_rng(seed).uniform(-3, 6, 10_000)

        def changed(line):
            label, query, *values = line.split()
            pairs = (value.split(":") for value in values)
            own = (f"{column}:{float(value) * units[int(column)]:.9g}" for column, value in pairs)
            return " ".join([label, query, *own]) + "\n"

        yield tuple("".join(map(changed, text.splitlines())) for text in pair)


def by_words(folder):
    """Words and pairs of words of the texts by tf-idf, with the labels of the corpus."""
    files = [(folder / f"{kind}.zst") for kind in ["texts.txt", "test-texts.txt"]]
    files = [[line.split("|", 1)[1] for line in texts([file])] for file in files]
    words = TfidfVectorizer(ngram_range=(1, 2), min_df=2).fit(files[0])
    own = []
    for lines, data in zip(files, ["train.svm.zst", "test.svm.zst"]):
        rows = [line.split()[:2] for line in texts([folder / data])]
        matrix = words.transform(lines)
        cells = (matrix[place] for place in range(matrix.shape[0]))
        own.append(
            "".join(
                " ".join(
                    [
                        *row,
                        *(
                            f"{column + 1}:{value:.9g}"
                            for column, value in sorted(zip(cell.indices, cell.data))
                        ),
                    ]
                )
                + "\n"
                for row, cell in zip(rows, cells)
            )
        )
    return [tuple(own), tuple(own[::-1])]


def data_sets(corpora, gum, small):
    """Each data set with its largest number of features, and its training and test texts."""
    documents = both_ways(CORPORA / "documents")
    yield "documents", 10, documents
    if small:
        return
    yield "logs", 10, both_ways(CORPORA / "logs")
    yield "documents", 30, documents
    yield "documents in units 1e-3 to 1e6", 20, list(in_units(documents))
    yield "tf-idf of words and pairs", 30, by_words(CORPORA / "documents")
    yield "sentences", 20, both_ways(CORPORA / "sentences")
    yield "link-parses", 50, both_ways(CORPORA / "link-parses")
    if gum:
        yield "GUM", 50, [given(gum / "train/train.svm.zst", gum / "test/test.svm.zst")]
    if corpora:
        letor = corpora / "letor-mq2008-fold3"
        yield "MQ2008, fold 3", 20, [given(letor / "train.txt.zst", letor / "test.txt.zst")]
        ewt = corpora / "ewt-parse/train_20000.svm.zst"
        yield "EWT, 112 queries", 50, list(drawn(ewt, 112, 4, 560))
        yield "EWT, 560 queries", 50, list(drawn(ewt, 560, 1, 560))


def measured(folder, k, setting):
    """The choice, and the concordance index of each test query. No setting: choose all."""
    file = folder / ("-".join(setting or ["chosen"]) + f", {k}.json")
    if not file.exists():
        model, queries = folder / "model.json", folder / "queries.csv"
        names = ["--strategy", "--label-scale", "--scale"]
        options = [part for pair in zip(names, setting or []) for part in pair]
        command = [rankrls(), "select", folder / "train.svm", "-k", k, *options, "-o", model]
        report = json.loads(run(*command, "--json", "--quiet"))
        model.with_name("model.json.part").unlink(missing_ok=True)
        test = [folder / "test.svm", "--model", model, "--metrics", "cindex", "--csv", queries]
        run(rankrls(), "evaluate", *test, "--quiet")
        found = {
            "strategy": report["strategy"],
            "lambda": report["lambda"],
            "choice": report.get("choice"),
            "seconds": report["select_seconds"],
            "index": pd.read_csv(queries).cindex.tolist(),
        }
        file.write_text(json.dumps(found))
        print(
            folder.name, file.stem, f"{np.nanmean(np.array(found['index'], float)):.4f}", flush=True
        )
    return json.loads(file.read_text())


def lines(name, k, pairs):
    """Lines of the CSV file, one a draw. `behind` is the lead of the best setting, with its standard error."""
    for draw, (train, test) in enumerate(pairs, 1):
        folder = KEPT / f"{name}, {draw}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "train.svm").write_text(train)
        (folder / "test.svm").write_text(test)
        chosen = measured(folder, k, None)
        names = words(chosen["choice"])
        index = {one: np.array(measured(folder, k, one)["index"], float) for one in SETTINGS}
        best = max(SETTINGS, key=lambda one: round(np.nanmean(index[one]), 6))
        own = np.array(chosen["index"], float)
        behind = index[best] - own
        behind = behind[~np.isnan(behind)]
        judged = own[~np.isnan(own)]
        yield {
            "data": name,
            "k": k,
            "draw": draw,
            "queries": len({line.split()[1] for line in train.splitlines()}),
            "chosen": " ".join(names[:3]),
            "lambda": names[3],
            "cindex": judged.mean(),
            "standard_error": judged.std(ddof=1) / len(judged) ** 0.5,
            "best": " ".join(best).replace("bounded", "exact"),
            "best_cindex": np.nanmean(index[best]),
            "behind": behind.mean(),
            "behind_error": behind.std(ddof=1) / len(behind) ** 0.5,
            "plain": np.nanmean(index[PLAIN]),
        }


def words(choice):
    """Strategy, scale of labels, scale of columns and share of u of a choice."""
    axes = [choice[axis] for axis in ["strategy", "label_scale", "scale"]]
    names = [next(tried["name"] for tried in axis if tried.get("chosen")) for axis in axes]
    return [*names, max(choice["lambda"], key=lambda tried: tried["value"])["name"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gum", nargs="?", type=Path)
    parser.add_argument("--small", action="store_true")
    given = parser.parse_args()
    corpora = os.environ.get("RANKRLS_CORPORA")
    sets = data_sets(corpora and Path(corpora), given.gum, given.small)
    found = [line for one in sets for line in lines(*one)]
    folder = ROOT / ("target/trials" if given.small else "studies/data")
    folder.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(found).to_csv(folder / "choice.csv", index=False, float_format="%.5g")
    print(folder / "choice.csv")


if __name__ == "__main__":
    main()
