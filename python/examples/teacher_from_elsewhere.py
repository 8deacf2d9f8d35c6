"""A random forest teaches the strategy "distil" which columns to take.

"distil" selects towards scores by a model that has not seen the labels of the row's query. Here a
forest on all columns makes them, out of five folds of the sentences of corpora/link-parses. Prints
the concordance index of the forest out of fold, and that of held-out sentences with standard errors
for 50 columns of the exact strategy, of "distil" with its own teacher (RankRLS on all columns), and
of "distil" with the forest.
"""

from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import GroupKFold, cross_val_predict

from rankrls import GreedyRankRLS, RankRLS, metrics, read_svmlight

CORPORA = Path(__file__).resolve().parents[2] / "corpora"


def by_forest(data):
    """Scores of every row by a forest that has not seen its query."""
    _, query, sizes = np.unique(data.qid, return_inverse=True, return_counts=True)
    labels = data.y - (np.bincount(query, data.y) / sizes)[query]
    forest = RandomForestRegressor(
        50, max_features=300, min_samples_leaf=3, n_jobs=2, random_state=1
    )
    return cross_val_predict(forest, data.X.tocsr(), labels, groups=data.qid, cv=GroupKFold(5))


def concordance(data, scores):
    return metrics.evaluate(data.y, scores, qid=data.qid, metrics="cindex")["cindex"]


def main():
    train = read_svmlight(CORPORA / "link-parses.svm.zst")
    test = read_svmlight(CORPORA / "link-parses-test.svm.zst", n_features=train.X.shape[1])
    forest = by_forest(train)
    own = RankRLS(16, labels="sqrt-sd").fit(train.X, train.y, qid=train.qid).lqo_predictions_
    for name, scores in {"forest": forest, "RankRLS": own}.items():
        index = concordance(train, scores)
        print(f"{name} out of fold: cindex {index.mean:.4f} ± {index.standard_error:.4f}")

    found = {}
    runs = {
        "distil, own teacher": ("distil", None),
        "distil, forest": ("distil", forest),
        "exact": ("bounded", None),
    }
    print(f"\n{'':20} cindex           less own teacher")
    for name, (strategy, teacher) in runs.items():
        model = GreedyRankRLS(50, alpha=16, labels="sqrt-sd", strategy=strategy)
        model.fit(train.X, train.y, qid=train.qid, teacher=teacher)
        index = found[name] = concordance(test, model.predict(test.X))
        each = metrics.paired(index, found["distil, own teacher"])
        print(
            f"{name:20} {index.mean:.4f} ± {index.standard_error:.4f}  "
            f"{each.difference:+.4f} ± {each.standard_error:.4f}"
        )


if __name__ == "__main__":
    main()
