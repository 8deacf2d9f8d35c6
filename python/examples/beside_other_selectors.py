"""Selectors beside each other: the same folds of queries, the same number of columns.

Each selector runs in a process of its own and chooses k columns without each of three folds. The
sentences of the fold are then ranked, by the selector's own weights where it has some, else by
Ridge on its columns. Prints time and peak memory of all three selections, and the concordance index
over all sentences with standard error and difference to the exact selection.

All selectors but GreedyRankRLS know nothing of queries. They get data that are centred within each
query, and these are dense. SequentialFeatureSelector is too slow for all columns: it chooses from
the 40 that SelectKBest likes best. A package that is not installed keeps its row.

    python beside_other_selectors.py [-k 20] [--large]      # --large: ewt-parse of RANKRLS_CORPORA
"""

import argparse
import multiprocessing
import os
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from sklearn.feature_selection import (
    SelectFromModel,
    SelectKBest,
    SequentialFeatureSelector,
    f_regression,
)
from sklearn.linear_model import Lasso, Ridge
from sklearn.model_selection import GroupKFold

from rankrls import GreedyRankRLS, metrics, read_svmlight

try:
    import abess
except ImportError:
    abess = None

CORPORA = Path(__file__).resolve().parents[2] / "corpora"
RIDGE = Ridge(alpha=16, fit_intercept=False)


def centred(values, queries):
    """Dense values less their means within each query."""
    values = np.array(values, dtype=float, order="F")
    for query in np.unique(queries):
        rows = queries == query
        values[rows] -= values[rows].mean(axis=0)
    return values


def lasso(X, y, queries, k):
    """The Lasso penalty that leaves k columns, or nearly, by bisection."""
    low, high = 0.0, np.abs(X.T @ y).max() / len(y)
    for _ in range(12):
        alpha = (low + high) / 2
        model = Lasso(alpha=alpha, fit_intercept=False, tol=1e-3, max_iter=2000).fit(X, y)
        count = np.count_nonzero(model.coef_)
        if count == k:
            break
        low, high = (alpha, high) if count > k else (low, alpha)
    selector = SelectFromModel(model, prefit=True, max_features=k, threshold=1e-12)
    return selector.get_support(True), None


def best_subset(X, y, queries, k):
    model = abess.LinearRegression(support_size=[k], alpha=[16.0], fit_intercept=False, thread=2)
    columns = np.flatnonzero(model.fit(X, y, is_normal=False).coef_)
    return columns, model.coef_[columns]


def sequential(X, y, queries, k):
    few = SelectKBest(f_regression, k=max(40, 2 * k)).fit(X, y).get_support(True)
    folds = list(GroupKFold(3).split(X, y, queries))
    selector = SequentialFeatureSelector(
        RIDGE, n_features_to_select=k, scoring="neg_mean_squared_error", cv=folds
    )
    return few[selector.fit(X[:, few], y).get_support(True)], None


def univariate(X, y, queries, k):
    return SelectKBest(f_regression, k=k).fit(X, y).get_support(True), None


def greedy(strategy, X, y, queries, k):
    model = GreedyRankRLS(k, alpha=16, strategy=strategy).fit(X, y, qid=queries)
    return model.selected_, model.weights_


SELECTORS = {
    "GreedyRankRLS, bounded": lambda *data: greedy("bounded", *data),
    "GreedyRankRLS, distil": lambda *data: greedy("distil", *data),
    "SelectFromModel(Lasso)": lasso,
    "abess": best_subset,
    "SelectKBest(f_regression)": univariate,
    "Sequential, of 40 columns": sequential,
}


def run(name, path, k):
    """Selects without each fold: seconds, MiB before and at most, scores of all rows, weights."""
    data = read_svmlight(path)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    ours = name.startswith("Greedy")
    X = data.X if ours else centred(data.X.toarray(), data.qid)
    y = centred(data.y, data.qid)
    scores, seconds = np.empty(len(y)), 0.0
    for train, test in GroupKFold(3).split(X, y, data.qid):
        part = X[train], y[train], data.qid[train], k
        begin = time.perf_counter()
        columns, weights = SELECTORS[name](*part)
        seconds += time.perf_counter() - begin
        own = "Ridge" if weights is None else "own"
        if weights is None:
            weights = RIDGE.fit(part[0][:, columns], part[1]).coef_
        scores[test] = X[test][:, columns] @ weights
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return seconds, before, peak, scores, own


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-k", type=int, default=20)
    parser.add_argument("--large", action="store_true", help="ewt-parse of RANKRLS_CORPORA")
    options = parser.parse_args()
    path = CORPORA / "parses.svm.zst"
    if options.large:
        path = Path(os.environ["RANKRLS_CORPORA"], "ewt-parse", "train_2000.svm.zst")
    data = read_svmlight(path)
    rows, columns = data.X.shape
    print(f"{path.name}: {rows} parses, {len(set(data.qid))} sentences, {columns} columns\n")
    title = f"{options.k} columns, three folds"
    print(f"{title:25} seconds    MiB  weights  cindex           less exact")
    exact = None
    for name in SELECTORS:
        if name == "abess" and abess is None:
            print(f"{name:25} missing: pip install abess")
            continue
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(max_workers=1, mp_context=spawn) as process:
            result = process.submit(run, name, path, options.k).result()
        seconds, before, peak, scores, own = result
        found = metrics.evaluate(data.y, scores, qid=data.qid, metrics="cindex")["cindex"]
        exact = exact or found
        each = metrics.paired(found, exact)
        print(
            f"{name:25} {seconds:7.2f} {peak:6.0f}  {own:7}  {found.mean:.4f} ± "
            f"{found.standard_error:.4f}  {each.difference:+.4f} ± {each.standard_error:.4f}",
            flush=True,
        )
    print(f"\nPython, packages and data take {before:.0f} MiB of each process")


if __name__ == "__main__":
    main()
