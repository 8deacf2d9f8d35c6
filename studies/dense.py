"""Fills in the table of studies/data/dense.md for hundreds of dense columns; some five minutes.

RANKRLS_CORPORA=FOLDER python studies/dense.py
python studies/dense.py --small    # two folds of few queries, printed, and fills in nothing

The 46 columns of MQ2008 and drawn products of two of them make 300 and 1,000 dense columns.
LightGBM learns from all of them, or from k that a selector takes without the test fold. Fold 3 of
the collection has all queries in three parts. Here they are one set, split into five folds by query.
The package must be installed.
"""

import os
import sys
import time
import warnings

import numpy as np
from joblib import Parallel, delayed
from lightgbm import LGBMRanker
from measure import ROOT
from pages import filled, row
from sklearn.linear_model import lars_path_gram
from sklearn.model_selection import GroupKFold

from rankrls import GreedyRankRLS, metrics, read

PAGE = ROOT / "studies/data/dense.md"
WIDTHS, SIZES = [300, 1000], [10, 20, 50]
COLUMNS = 46  # of MQ2008
EVERYTHING = "all columns"
warnings.filterwarnings("ignore", module="sklearn|lightgbm")


def corpus(width):
    """All queries, with products up to so many columns."""
    folder = f"{os.environ['RANKRLS_CORPORA']}/letor-mq2008-fold3"
    parts = [
        read(f"{folder}/{part}.txt.zst", n_features=COLUMNS)
        for part in ["train", "vali", "test"]
    ]
    X = np.concatenate([part.X.toarray() for part in parts])
    y = np.concatenate([part.y for part in parts])
    qid = np.unique(np.concatenate([part.qid for part in parts]), return_inverse=True)[1]
    order = np.argsort(qid, kind="stable")
    pairs = np.stack(np.triu_indices(COLUMNS), axis=1)
    drawn = np.random.default_rng(1).permutation(len(pairs))[: width - COLUMNS]
    left, right = pairs[np.sort(drawn)].T
    return np.hstack([X, X[:, left] * X[:, right]])[order], y[order], qid[order]


def ranker():
    return LGBMRanker(
        n_estimators=100,
        num_leaves=15,
        learning_rate=0.05,
        n_jobs=1,
        random_state=1,
        deterministic=True,
        force_col_wise=True,
        verbose=-1,
    )


def trained(X, y, qid):
    return ranker().fit(X, y, group=np.unique(qid, return_counts=True)[1])


def centred(values, qid):
    sizes = np.bincount(qid)
    sums = np.zeros((len(sizes), *values.shape[1:]))
    np.add.at(sums, qid, values)
    return values - (sums.T / np.maximum(sizes, 1)).T[qid]


def by_gain(X, y, qid):
    return np.argsort(-trained(X, y, qid).booster_.feature_importance("gain"), kind="stable")


def by_lasso(X, y, qid):
    """Columns in the order in which the lasso takes them, all of one deviation."""
    X, y = centred(X, qid), centred(y, qid)
    scale = np.sqrt((X**2).mean(axis=0))
    X = X / np.where(scale > 0, scale, 1)
    _, active, _ = lars_path_gram(X.T @ y, X.T @ X, n_samples=len(y), max_iter=2 * max(SIZES))
    return np.array(active)


def by(strategy):
    def order(X, y, qid):
        model = GreedyRankRLS(max(SIZES), scale="sd", strategy=strategy, n_jobs=1)
        return model.fit(X, y, qid=qid).selected_

    return order


SELECTORS = {
    "LightGBM's gain": by_gain,
    "lasso": by_lasso,
    "exact": by("auto"),
    "`distil`": by("distil"),
}


def of_fold(X, y, qid, train, held):
    """Scores of the rows held out, and processor seconds of the training, by selector and k."""
    found = {}

    def fit(name, k, columns):
        begin = time.process_time()
        model = trained(X[np.ix_(train, columns)], y[train], qid[train])
        seconds = time.process_time() - begin
        found[name, k] = model.predict(X[np.ix_(held, columns)]), seconds

    fit(EVERYTHING, 0, np.arange(X.shape[1]))
    for name, order in SELECTORS.items():
        columns = order(X[train], y[train], np.unique(qid[train], return_inverse=True)[1])
        for k in SIZES:
            fit(name, k, columns[:k])
    return found


def measured(X, y, qid, folds):
    """NDCG@10 of each query, and mean seconds of a training, by selector and number of columns."""
    folds = list(GroupKFold(folds, shuffle=True, random_state=1).split(X, groups=qid))
    jobs = (delayed(of_fold)(X, y, qid, train, held) for train, held in folds)
    parts = Parallel(n_jobs=len(folds))(jobs)
    found, seconds = {}, {}
    for key in parts[0]:
        scores = np.empty(len(y))
        for (_, held), part in zip(folds, parts):
            scores[held] = part[key][0]
        found[key] = metrics.evaluate(y, scores, qid=qid, metrics="ndcg@10")["ndcg@10"]
        seconds[key] = np.mean([part[key][1] for part in parts])
    return found, seconds


def table(widths, folds, queries=None):
    yield row(["columns", "LightGBM learns from", *[f"{k} columns" for k in SIZES]])
    yield row(["---:", "---", *["---"] * len(SIZES)])
    for width in widths:
        X, y, qid = corpus(width)
        if queries is not None:
            X, y, qid = X[qid < queries], y[qid < queries], qid[qid < queries]
        found, seconds = measured(X, y, qid, folds)
        everything = found[EVERYTHING, 0]
        whole = f"{everything.mean:.4f} ± {everything.standard_error:.4f}"
        yield row([f"{width:,}", EVERYTHING, whole, *[""] * (len(SIZES) - 1)])
        for name in SELECTORS:
            cells = []
            for k in SIZES:
                each = metrics.paired(found[name, k], everything)
                star = ", *" if each.p <= 0.05 else ""
                error = f"{each.standard_error:.4f}"
                cells.append(f"{found[name, k].mean:.4f} ({each.difference:+.4f} ± {error}{star})")
            yield row([f"{width:,}", name, *cells])
        times = {k: f"{own:.2f}" for (name, k), own in seconds.items() if name != "lasso"}
        print(f"{width} columns, processor seconds of a training by k: {times}", file=sys.stderr)


def main():
    if sys.argv[1:] == ["--small"]:
        print("\n".join(table(WIDTHS[:1], 2, 100)))
        return
    lines = list(table(WIDTHS, 5))
    print("\n".join(lines))
    PAGE.write_text(filled(PAGE.read_text(), "dense", lines))


if __name__ == "__main__":
    main()
