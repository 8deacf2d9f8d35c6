"""Measures selectors of other packages beside the choice of `select`: data/beside.csv, draws.csv.

RANKRLS_CORPORA=FOLDER python studies/beside.py [GUM]    # an hour
python studies/beside.py --small                         # a trial, in target/trials

The data sets and draws are those of choice.py, but for the largest; target/choice keeps the
measurements of both. Selectors of other packages see data and labels centred within queries.
Three folds of the training queries choose the scale of columns for the lasso, and the number of
trees. `rankrls train` without options fits the weights. Test queries choose nothing.
"""

import argparse
import json
import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from choice import KEPT, PLAIN, data_sets, measured
from measure import ROOT, rankrls, run

sys.path.append(str(ROOT / "studies/peers"))
import peer

DENSE = 20_000  # columns, at most, for a selector of dense data
LARGE = "EWT, 560 queries"  # is left out: it takes hours
DRAWS = ["EWT, 112 queries", "GUM"]  # take LINES with each of KS
KS = [10, 20, 50, 100, 200]
LINES = ["chosen", "exact, as they are", "lasso", "all columns", "file order"]
TREES = [10, 25, 50, 100, 200]


class Train:
    """Training data, and its columns that vary within queries and differ from all before."""

    def __init__(self, folder):
        self.folder = folder
        x, y, self.queries = peer.read(str(folder / "train.svm"))
        self.all, self.width, self.y = x, x.shape[1], y
        self.members, self.sizes = peer.centring(self.queries)
        self.labels = y - self.members.T @ (self.members @ y / self.sizes)
        means = self.members @ x
        squares = np.asarray(x.multiply(x).sum(axis=0)).ravel()
        inner = means.multiply(means).T @ (1 / self.sizes)
        self.norms = np.sqrt(np.maximum(squares - inner, 0))
        varies = self.norms**2 > 1e-9 * np.maximum(squares, 1e-300)
        entries = [slice(*x.indptr[at : at + 2]) for at in range(self.width)]
        keys = [(x.indices[own].tobytes(), x.data[own].tobytes()) for own in entries]
        first = {key: at for at, key in reversed(list(enumerate(keys))) if varies[at]}
        self.columns = np.sort(list(first.values()))
        slopes = np.abs(x.T @ self.labels)[self.columns]
        self.correlations = slopes / self.norms[self.columns]

    def centred(self):
        return peer.centred(self.all[:, self.columns], self.members, self.sizes)

    def folds(self):
        """Which rows each of three folds of the queries holds out."""
        fold = np.random.default_rng(1).permutation(len(self.sizes)) % 3
        return [fold[self.queries] == own for own in range(3)]


def cindex(scores, labels, queries):
    """The mean share of the pairs of a query that are in order; a tie counts one half."""
    found = []
    for query in np.unique(queries):
        rows = queries == query
        above = labels[rows][:, None] > labels[rows]
        ahead = scores[rows][:, None] - scores[rows]
        if above.any():
            found.append(np.mean((np.sign(ahead[above]) + 1) / 2))
    return np.mean(found)


def lasso(train, ks):
    """Columns by the lasso. Folds choose between columns as they are and of one deviation."""
    x = train.centred()
    deviations = train.norms[train.columns] / np.sqrt(len(train.y))

    def judged(divisors):
        for out in train.folds():
            k, own = min(ks[-1], 50), ~out
            columns, _ = next(peer.lasso(x[own] / divisors, train.labels[own], [k]))
            small = x[:, columns] / divisors[columns]
            ridge = (small[own] ** 2).sum() / own.sum() / 16
            _, weights = peer.ridge(small[own], train.labels[own], np.arange(len(columns)), ridge)
            yield cindex(small[out] @ weights, train.y[out], train.queries[out])

    best = max([np.ones_like(deviations), deviations], key=lambda own: np.mean(list(judged(own))))
    for columns, _ in peer.lasso(x / best, train.labels, ks):
        yield train.columns[columns]


def abess(train, ks):
    """Columns by abess; its threshold of a better splice is for labels of variance 1."""
    from abess import LinearRegression

    x, labels = train.centred(), train.labels / train.labels.std()
    for k in ks:
        model = LinearRegression(support_size=[k], fit_intercept=False, thread=1)
        yield train.columns[np.flatnonzero(model.fit(x, labels).coef_)]


def select_k_best(train, ks):
    """The order of SelectKBest by f_regression, on the centred data."""
    order = np.argsort(-train.correlations, kind="stable")
    for k in ks:
        yield train.columns[order[:k]]


def grades(train):
    """Labels for LightGBM: grades as they are, other labels by five parts of each query."""
    if set(train.y) <= set(range(5)):
        return train.y.astype(int)
    ranks = np.empty(len(train.y))
    for query in np.unique(train.queries):
        rows = np.flatnonzero(train.queries == query)
        ranks[rows] = train.y[rows].argsort().argsort() / len(rows)
    return np.minimum((5 * ranks).astype(int), 4)


def lightgbm(train, columns):
    """Scores of LambdaMART for the test rows; the folds choose the number of trees."""
    from lightgbm import LGBMRanker

    x, labels, queries = train.all[:, columns].tocsr(), grades(train), train.queries

    def fitted(rows):
        rows = rows[np.argsort(queries[rows], kind="stable")]
        settings = {"num_leaves": 7, "min_child_samples": 5, "n_jobs": 1, "verbose": -1}
        model = LGBMRanker(n_estimators=TREES[-1], random_state=1, deterministic=True, **settings)
        sizes = np.bincount(queries[rows])
        return model.fit(x[rows], labels[rows], group=sizes[sizes > 0])

    values = np.zeros(len(TREES))
    for out in train.folds():
        model = fitted(np.flatnonzero(~out))
        for place, trees in enumerate(TREES):
            scores = model.predict(x[out], num_iteration=trees)
            values[place] += cindex(scores, train.y[out], queries[out])
    test = peer.read(str(train.folder / "test.svm"))[0].tocsr()
    test.resize(test.shape[0], train.width)
    model = fitted(np.arange(len(labels)))
    return model.predict(test[:, columns], num_iteration=TREES[values.argmax()])


def judged(folder, *ranking):
    """The index of each test query."""
    queries = folder / "queries.csv"
    test = [folder / "test.svm", "--metrics", "cindex", "--csv", queries, "--quiet"]
    run(rankrls(), "evaluate", *test, *ranking)
    return pd.read_csv(queries).cindex.tolist()


def by_scores(folder, scores):
    """The index of each test query by scores of its rows."""
    np.savetxt(folder / "scores.txt", scores)
    return judged(folder, "--scores", folder / "scores.txt")


def by_columns(folder, columns):
    """Weights of `rankrls train` for some columns; without any, for all."""
    model, given = folder / "model.json", []
    if columns is not None:
        (folder / "columns.txt").write_text("".join(f"{at + 1}\n" for at in columns))
        given = ["--features", folder / "columns.txt"]
    run(rankrls(), "train", folder / "train.svm", *given, "-o", model, "--quiet")
    return judged(folder, "--model", model)


def selected(folder, k):
    """The columns that `select` chooses without options."""
    report = run(rankrls(), "select", folder / "train.svm", "-k", k, "--json", "--quiet")
    return np.array([step["feature"] for step in json.loads(report)["steps"]]) - 1


SELECTORS = {"lasso": lasso, "SelectKBest": select_k_best, "abess": abess}
WHOLE = {  # whatever k
    "all columns": lambda train: by_columns(train.folder, None),
    "LightGBM, all columns": lambda train: by_scores(train.folder, lightgbm(train, train.columns)),
    "file order": lambda train: judged(train.folder, "--file-order"),
}


def peers(folder, k, ks):
    """For each selector, by number of columns, the index of each test query."""
    train = None
    for name in [*WHOLE, *SELECTORS, "LightGBM, our columns"]:
        own = ks if name in LINES else [k]
        file = folder / f"{', '.join([name, *([] if name in WHOLE else map(str, own))])}.json"
        if not file.exists():
            train = train or Train(folder)
            if name in ["lasso", "abess"] and len(train.columns) > DENSE:
                continue
            if name in SELECTORS:
                found = [by_columns(folder, columns) for columns in SELECTORS[name](train, own)]
            elif name in WHOLE:
                found = [WHOLE[name](train)] * len(own)
            else:
                found = [by_scores(folder, lightgbm(train, selected(folder, k)))]
            file.write_text(json.dumps(found))
            means = [f"{np.nanmean(np.array(one, float)):.4f}" for one in found]
            print(folder.name, name, *means, flush=True)
        yield name, dict(zip(own, json.loads(file.read_text())))


def indices(folder, k, ks):
    """By selector and number of columns the index of each test query, ours first."""
    for own in ks:
        yield ("chosen", own), measured(folder, own, None)["index"]
        yield ("exact, as they are", own), measured(folder, own, PLAIN)["index"]
    for name, found in peers(folder, k, ks):
        yield from (((name, own), index) for own, index in found.items())


def lines(name, k, ks, pairs):
    """Lines of both files: of each draw, and of their mean beside what `select` chooses."""
    found = []
    for draw, (train, test) in enumerate(pairs, 1):
        folder = KEPT / f"{name}, {draw}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "train.svm").write_text(train)
        (folder / "test.svm").write_text(test)
        own = dict(indices(folder, k, ks))
        found.append({key: np.array(index, float) for key, index in own.items()})
    # Draws of one test set are a mean for each query; else all queries count.
    shared = len({test for _, test in pairs}) == 1 < len(pairs)
    together = (lambda own: np.mean(own, axis=0)) if shared else np.concatenate
    for selector, own in found[0]:
        index, ours = (
            together([draw[key] for draw in found]) for key in [(selector, own), ("chosen", own)]
        )
        ahead = (index - ours)[~np.isnan(index)]
        line = {"data": name, "k": own, "selector": selector}
        yield (
            [
                {**line, "draw": draw, "cindex": np.nanmean(one[selector, own])}
                for draw, one in enumerate(found, 1)
            ],
            {
                **line,
                "cindex": np.nanmean(index),
                "ahead": ahead.mean(),
                "error": ahead.std(ddof=1) / len(ahead) ** 0.5,
            },
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gum", nargs="?", type=Path)
    parser.add_argument("--small", action="store_true")
    given = parser.parse_args()
    corpora = os.environ.get("RANKRLS_CORPORA")
    draws, means = [], []
    sets = data_sets(corpora and Path(corpora), given.gum, given.small)
    for name, k, pairs in (own for own in sets if own[0] != LARGE):
        for own, mean in lines(name, k, KS if name in DRAWS else [k], pairs):
            draws += own if name in DRAWS and mean["selector"] in LINES else []
            means += [mean] if mean["k"] == k else []
    folder = ROOT / ("target/trials" if given.small else "studies/data")
    folder.mkdir(parents=True, exist_ok=True)
    for file, table in [("draws", draws), ("beside", means)]:
        pd.DataFrame(table).to_csv(folder / f"{file}.csv", index=False, float_format="%.5g")
        print(folder / f"{file}.csv")


if __name__ == "__main__":
    main()
