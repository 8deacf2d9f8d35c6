"""Measures again how well selectors rank unseen queries: data/quality.csv.

RANKRLS_CORPORA=FOLDER python studies/quality.py target/gum    # hours
python studies/quality.py target/gum --headline                # half an hour: data/draws.csv alone
python studies/quality.py FOLDER --small                       # a trial, in target/trials

FOLDER has the corpora train, dev and test, as docs/evidence.md builds them. Training sets are
drawn by queries. Five folds of the training queries choose lambda for each selector, scale of
labels and number of features. `distil` has its default. Selectors of other packages choose
features, which RankRLS weights with a lambda chosen likewise. target/quality keeps the
measurements. data/draws.csv has the index of each draw, for the selectors of README.md.
"""

import argparse
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp
from measure import ROOT, rankrls, run
from sklearn.datasets import dump_svmlight_file

sys.path.append(str(ROOT / "studies/peers"))
from peer import read

KEPT = ROOT / "target/quality"
OWN = ["exact", "distil", "residual", "backfit", "univariate"]
PEERS = ["lasso", "elastic net", "abess", "lightgbm", "mutual information"]
BOTH = ["all columns", "parser"]
SPARSE = ["exact", "distil", "residual", "univariate", *BOTH]
HEADLINE = ["exact", "distil", "lasso", *BOTH]
FOUR = "four times 112 queries of GUM"
KS = [10, 20, 50, 100, 200]
LAMBDAS = "1/64u,1/16u,1/4u"


def texts(files):
    """Lines of rows of svmlight files."""
    for file in files:
        text = subprocess.run(["zstd", "-dc", file], check=True, capture_output=True, text=True)
        yield from (line for line in text.stdout.splitlines(True) if not line.startswith("#"))


def drawn(group, train, tests, queries=None, draws=1):
    """Folders with train.svm and test.svm: disjoint sets of queries, or all queries."""
    rows = {}
    for line in texts(train):
        rows.setdefault(line.split()[1], []).append(line)
    names = list(rows)
    random.Random(1).shuffle(names)
    queries = queries or len(names)
    for draw in range(draws):
        folder = KEPT / f"{group}, {draw + 1}"
        folder.mkdir(parents=True, exist_ok=True)
        own = names[draw * queries : (draw + 1) * queries]
        (folder / "train.svm").write_text("".join(line for name in own for line in rows[name]))
        (folder / "test.svm").write_text("".join(texts(tests)))
        yield folder


def judged(folder, kind, file):
    """The index of each test query by a model or by scores."""
    queries = folder / "queries.csv"
    command = [rankrls(), "evaluate", folder / "test.svm", kind, file, "--metrics", "cindex"]
    run(*command, "--csv", queries, "--quiet")
    return pd.read_csv(queries).cindex.tolist()


def by_strategy(folder, selector, labels, ks):
    train, grid, model = (folder / name for name in ["train.svm", "grid.csv", "model.json"])
    strategy = ["--strategy", "bounded" if selector == "exact" else selector, "--label-scale", labels]
    many = len({line.split()[1] for line in train.open()}) >= 500
    lambdas = ("1/64u" if many else "1/16u") if selector == "distil" else LAMBDAS
    folds = [
        "--holdout",
        "folds:5",
        "--seed",
        1,
        "--choose-by",
        "cindex",
        "--table",
        grid,
        "--quiet",
    ]
    run(rankrls(), "tune", train, "-k", max(ks), *strategy, "--lambda", lambdas, *folds)
    values = pd.read_csv(grid)
    for k in ks:
        best = values[values.k == k].nlargest(1, "value").iloc[0]
        ridge = ["--lambda", best["lambda"], "-o", model, "--quiet"]
        run(rankrls(), "select", train, "-k", k, *strategy, *ridge)
        yield best.value, judged(folder, "--model", model)


def by_all_columns(folder, train, labels):
    model = folder / "model.json"
    folds = ["--holdout", "folds:5", "--seed", 1, "--choose-by", "cindex", "-o", model, "--quiet"]
    command = [rankrls(), "train", train, "--lambda", LAMBDAS, "--label-scale", labels, "--json", *folds]
    return json.loads(run(*command))["holdout"]["cindex"], judged(folder, "--model", model)


def by_peer(folder, selector, labels, ks):
    x, y, queries = read(str(folder / "train.svm"))
    # The first of all columns with the same entries.
    entries = [slice(*x.indptr[place : place + 2]) for place in range(x.shape[1])]
    keys = [(x.indices[own].tobytes(), x.data[own].tobytes()) for own in entries]
    first = {key: place for place, key in reversed(list(enumerate(keys))) if key[0]}
    columns = np.sort(list(first.values()))
    small, scores = folder / "small.svm", folder / "scores.txt"

    def write(columns):
        kept = x @ sp.diags(np.isin(np.arange(x.shape[1]), columns).astype(float))
        dump_svmlight_file(kept.tocsr(), y, str(small), zero_based=False, query_id=queries)

    dump_svmlight_file(x[:, columns], y, str(small), zero_based=False, query_id=queries)
    command = [sys.executable, ROOT / "studies/peers/peer.py", selector, small, small]
    printed = run(*command, ",".join(map(str, ks)), 16, scores, "--label-scale", labels)
    for line in printed.splitlines():
        write(columns[np.array(json.loads(line)["features"], dtype=int) - 1])
        yield by_all_columns(folder, small, labels)


def measured(folder, selector, labels, ks):
    """For each k, the index over folds and the index of each test query."""
    file = folder / f"{selector}, {labels}.json"
    if not file.exists():
        print(folder.name, file.stem)
        if selector == "parser":  # it lists its best parse first
            rows = sum(1 for _ in (folder / "test.svm").open())
            np.savetxt(folder / "scores.txt", -np.arange(rows))
            found = [(0.0, judged(folder, "--scores", folder / "scores.txt"))] * len(ks)
        elif selector == "all columns":
            found = [by_all_columns(folder, folder / "train.svm", labels)] * len(ks)
        else:
            select = by_strategy if selector in OWN else by_peer
            found = list(select(folder, selector, labels, ks))
        file.write_text(json.dumps(found))
    return json.loads(file.read_text())


def table(group, folders, selectors, ks):
    """Lines of the CSV file. `ahead` is the lead of a selector over the first one, followed by
    its standard error over queries and its deviation over draws.
    """
    scales = ["raw", "sqrt-sd"]
    for selector in selectors:
        for labels in [*scales, "best"]:
            for place, k in enumerate(ks):
                index = []
                for name in [selector, selectors[0]]:
                    draws = []
                    for folder in folders:
                        found = {one: measured(folder, name, one, ks)[place] for one in scales}
                        draws.append(
                            (max(found.values()) if labels == "best" else found[labels])[1]
                        )
                    index.append(np.array(draws, dtype=float))
                ahead = index[0] - index[1]
                queries = np.nanmean(ahead, axis=0)
                queries = queries[~np.isnan(queries)]
                means = np.nanmean(ahead, axis=1)
                yield {
                    "group": group,
                    "labels": labels,
                    "selector": selector,
                    "k": k,
                    "cindex": np.nanmean(index[0], axis=1).mean(),
                    "ahead": queries.mean(),
                    "standard_error": queries.std(ddof=1) / len(queries) ** 0.5,
                    "spread": means.std(ddof=1) if len(means) > 1 else 0.0,
                }


def draws(folders, selectors, ks):
    """Lines of a CSV file with the mean index of each draw."""
    for selector in selectors:
        for labels in ["raw", "sqrt-sd"]:
            for draw, folder in enumerate(folders, 1):
                for k, (_, index) in zip(ks, measured(folder, selector, labels, ks)):
                    cindex = np.nanmean(np.array(index, dtype=float))
                    yield {
                        "labels": labels,
                        "selector": selector,
                        "draw": draw,
                        "k": k,
                        "cindex": cindex,
                    }


def write(lines, file):
    file.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(lines).to_csv(file, index=False, float_format="%.5f")
    print(file)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--headline", action="store_true")
    options = parser.parse_args()
    parts = ["train/train", "dev/test", "test/test"]
    train, *tests = (options.folder / f"{part}.svm.zst" for part in parts)
    data = ROOT / "studies/data"
    if options.small:
        folders = list(drawn("small", [train], tests, 30, 2))
        lines = table("small", folders, ["exact", "distil", "lasso", *BOTH], [2, 5])
        write(lines, ROOT / "target/trials/quality.csv")
        write(draws(folders, ["exact", "distil"], [2, 5]), ROOT / "target/trials/draws.csv")
        return
    folders = list(drawn(FOUR, [train], tests, 112, 4))
    write(draws(folders, HEADLINE, KS), data / "draws.csv")
    if options.headline:
        return
    lines = list(table(FOUR, folders, [*OWN, *PEERS, *BOTH], KS))
    group = "all queries of GUM"
    lines += table(group, list(drawn(group, [train], tests)), SPARSE, KS)
    letor = Path(os.environ["RANKRLS_CORPORA"]) / "letor-mq2008-fold3"
    group, parts = "MQ2008, fold 3", [[letor / f"{part}.txt.zst"] for part in ["train", "test"]]
    lines += table(group, list(drawn(group, *parts)), [*OWN, *PEERS, "all columns"], [5, 10, 20])
    write(lines, data / "quality.csv")


if __name__ == "__main__":
    main()
