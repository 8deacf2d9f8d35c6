"""Fifty columns for XGBRanker, in place of a hundred thousand.

Selects 50 columns of parses by GreedyRankRLS, and trains the same XGBRanker on them and on all
columns, both sparse. Prints times, and the concordance index of held-out sentences with standard
errors, of the linear model of the selection too, and compares the rankers sentence by sentence.

Reads corpora/link-parses; with RANKRLS_CORPORA, ewt-parse in that folder.
Needs XGBoost.
"""

import os
import time
from pathlib import Path

import numpy as np
from xgboost import XGBRanker

from rankrls import GreedyRankRLS, metrics, read_svmlight

CORPORA = Path(__file__).resolve().parents[2] / "corpora"


def read():
    if "RANKRLS_CORPORA" in os.environ:
        folder = Path(os.environ["RANKRLS_CORPORA"], "ewt-parse")
        paths = folder / "train_2000.svm.zst", folder / "test_2000.svm.zst"
    else:
        paths = CORPORA / "link-parses.svm.zst", CORPORA / "link-parses-test.svm.zst"
    train = read_svmlight(paths[0])
    print(f"{paths[0].name}: {train.X.shape[0]} parses, {train.X.shape[1]} columns\n")
    return train, read_svmlight(paths[1], n_features=train.X.shape[1])


def main():
    train, test = read()
    # XGBRanker wants ids in ascending order; any numbers do, as long as queries stay together.
    queries = np.unique(train.qid, return_inverse=True)[1]
    order = np.argsort(queries, kind="stable")
    found = {}
    print(f"{'':24} {'columns':>7} {'select s':>8} {'train s':>8}  cindex")

    def row(name, scores, columns, selecting, training):
        measured = metrics.evaluate(test.y, scores, qid=test.qid, metrics="cindex")["cindex"]
        found[name] = measured
        times = f"{selecting:8.2f} {training:8.2f}"
        print(f"{name:24} {columns:7} {times}  {measured.mean:.4f} ± {measured.standard_error:.4f}")

    def boost(name, X, X_test, selecting=0.0):
        # Pairs, as labels are shares between 0 and 1, not grades.
        ranker = XGBRanker(
            objective="rank:pairwise",
            max_depth=3,
            learning_rate=0.1,
            subsample=0.5,
            colsample_bytree=0.5,
            n_jobs=2,
            random_state=1,
        )
        rows = X.tocsr()[order]
        begin = time.perf_counter()
        ranker.fit(rows, train.y[order], qid=queries[order])
        training = time.perf_counter() - begin
        row(name, ranker.predict(X_test.tocsr()), X.shape[1], selecting, training)

    for strategy in ("bounded", "distil"):
        begin = time.perf_counter()
        selector = GreedyRankRLS(50, alpha=16, strategy=strategy)
        selector.fit(train.X, train.y, qid=train.qid)
        seconds = time.perf_counter() - begin
        row(f"{strategy}, linear", selector.predict(test.X), 50, seconds, 0.0)
        few = selector.transform(train.X), selector.transform(test.X)
        boost(f"{strategy}, XGBRanker", *few, seconds)
    boost("all columns, XGBRanker", train.X, test.X)

    print("\ncindex less that of XGBRanker on all columns")
    for name in list(found)[:-1]:
        each = metrics.paired(found[name], found["all columns, XGBRanker"])
        print(f"{name:24} {each.difference:+.4f} ± {each.standard_error:.4f}, p {each.p:.3f}")


if __name__ == "__main__":
    main()
