"""A random forest teaches the strategy "distil" which columns to take.

"distil" selects towards scores by a model that has not seen the labels of the row's query. Here a
forest on all columns makes them: for each of five folds of the sentences it learns from the others
and writes the scores of the fold into a .npy file. Forests are gone when the selection starts; it
maps the file. Prints times, the concordance index of the forest out of fold, and that of held-out
sentences with standard errors for the exact strategy, "distil" with its own teacher (RankRLS on all
columns), with the forest, and with the mean of both.

Reads corpora/link-parses; with RANKRLS_CORPORA, ewt-parse in that folder.
"""

import os
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import GroupKFold

from rankrls import GreedyRankRLS, RankRLS, metrics, read_svmlight

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


def write_scores(path, data):
    """Scores of every row by a forest that has not seen its query, fold by fold."""
    _, query, sizes = np.unique(data.qid, return_inverse=True, return_counts=True)
    labels = data.y - (np.bincount(query, data.y) / sizes)[query]
    X = data.X.tocsr()
    scores = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(len(labels),))
    for train, fold in GroupKFold(5).split(X, labels, data.qid):
        forest = RandomForestRegressor(
            50, max_features=300, min_samples_leaf=3, n_jobs=2, random_state=1
        )
        scores[fold] = forest.fit(X[train], labels[train]).predict(X[fold])
        scores.flush()


def main():
    train, test = read()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "teacher.npy")
        begin = time.perf_counter()
        write_scores(path, train)
        seconds = time.perf_counter() - begin
        forest = np.load(path, mmap_mode="r")
        own = RankRLS(16, labels="sqrt-sd").fit(train.X, train.y, qid=train.qid).lqo_predictions_
        for name, scores in {"forest": forest, "RankRLS": own}.items():
            index = metrics.evaluate(train.y, scores, qid=train.qid, metrics="cindex")["cindex"]
            print(f"{name} out of fold: cindex {index.mean:.4f} ± {index.standard_error:.4f}")
        print(f"the forest took {seconds:.1f} s\n")
        runs = {
            "exact": {},
            "distil, own teacher": {"strategy": "distil"},
            "distil, forest": {"strategy": "distil", "teacher": forest},
            "distil, mean of both": {
                "strategy": "distil",
                "teacher": forest / forest.std() + own / own.std(),
            },
        }
        print(f"{'':20}  k  seconds  cindex           less own teacher")
        for k in (10, 50):
            found = {}
            for name, run in runs.items():
                model = GreedyRankRLS(
                    k, alpha=16, labels="sqrt-sd", strategy=run.get("strategy", "bounded")
                )
                begin = time.perf_counter()
                model.fit(train.X, train.y, qid=train.qid, teacher=run.get("teacher"))
                seconds = time.perf_counter() - begin
                measured = metrics.evaluate(
                    test.y, model.predict(test.X), qid=test.qid, metrics="cindex"
                )
                found[name] = (measured["cindex"], seconds)
            for name, (index, seconds) in found.items():
                each = metrics.paired(index, found["distil, own teacher"][0])
                print(
                    f"{name:20} {k:2} {seconds:8.2f}  {index.mean:.4f} ± {index.standard_error:.4f}"
                    f"  {each.difference:+.4f} ± {each.standard_error:.4f}"
                )


if __name__ == "__main__":
    main()
