"""The library's warnings and refusals in Python."""

import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, cross_val_predict

import rankrls
from rankrls import GreedyRankRLS, GreedyRankRLSCV, RankRLS, metrics


def ranked(rows=48):
    """A frame sorted by grade within queries of four, and its labels and queries."""
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"a": rng.normal(size=rows), "b": rng.integers(0, 9, size=rows)})
    y = np.tile([3.0, 2.0, 1.0, 0.0], rows // 4)
    return X.assign(a=X.a + y), y, np.repeat(np.arange(rows // 4), 4)


def told(work):
    """The warnings of `work`. From Python 3.12 on, all of them point to this file."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        work()
    if sys.version_info >= (3, 12):
        assert all(warning.filename == __file__ for warning in found), [w.filename for w in found]
    assert all(warning.category is UserWarning for warning in found)
    return [str(warning.message) for warning in found]


FITS = [
    GreedyRankRLS(1, alpha=1.0),
    GreedyRankRLSCV(1, alpha=[1.0], cv=3),
    RankRLS(alpha=1.0),
]


@pytest.mark.parametrize("estimator", FITS, ids=lambda estimator: type(estimator).__name__)
def test_row_numbers_are_told(estimator):
    X, y, qid = ranked()
    assert told(lambda: estimator.fit(X, y, qid=qid)) == []
    numbers = np.arange(48.0)
    (message,) = told(lambda: estimator.fit(X.assign(index=numbers), y, qid=qid))
    assert message.startswith('column "index" counts the rows')
    assert message.endswith('leave it out, of a table by ignore="index"')
    array = X.assign(index=numbers).to_numpy()
    (message,) = told(lambda: estimator.fit(array, y, qid=qid))
    assert message.startswith("column 2 counts the rows")


def test_labels_queries_and_digits_are_told():
    X, y, qid = ranked()
    for estimator in FITS:
        (message,) = told(lambda e=estimator: e.fit(X, qid * 1.0, qid=qid))
        assert message.startswith("the labels are constant within every query")
        few = told(lambda e=estimator: e.fit(X[:16], y[:16], qid=qid[:16]))
        assert few == [
            "there are only 4 queries: predictions for one by a model of the others say little"
        ]
    # The labels are the difference of nearly equal columns.
    twins = np.c_[X.a, X.a + 1e-6 * X.b]
    for estimator in [
        GreedyRankRLS(2, alpha=1e-13, strategy="dense"),
        GreedyRankRLSCV(2, alpha=[1e-13], cv=3, strategy=["dense"]),
        RankRLS(alpha=1e-13),
    ]:
        messages = told(lambda e=estimator: e.fit(twins, X.b, qid=qid))
        (message,) = [text for text in messages if "digit" in text]
        assert message.endswith("alpha is small beside the values or columns are nearly the same")
        assert "lambda" not in message


def test_edges_and_all_features_are_told():
    X, y, qid = ranked()
    X = pd.concat([X, X.a * X.b], axis=1).to_numpy()
    messages = told(lambda: GreedyRankRLSCV(2, alpha=[1e3, 1e6], cv=3).fit(X, y, qid=qid))
    assert messages[0] == (
        "the chosen alpha 1000 is the smallest of the grid: a smaller one may do better"
    )


def test_residuals_of_conjugate_gradients_are_told():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 40)) * np.logspace(0, 6, 40)
    y, qid = rng.normal(size=60), np.repeat(np.arange(12), 5)
    messages = told(lambda: RankRLS(alpha=1e-9, solver="cg").fit(X, y, qid=qid))
    assert any("conjugate gradients came to a residual of" in text for text in messages)


def test_grades_that_are_counts_are_told():
    labels, scores, qid = [2000, 5, 1500, 0, 40, 3], [2, 1, 1, 2, 2, 1], [1, 1, 2, 2, 3, 3]
    (message,) = told(lambda: metrics.evaluate(labels, scores, qid=qid, metrics="ndcg@10"))
    assert "gain in ndcg@10 is 2^label - 1" in message
    assert message.endswith("take ndcg@10:linear")
    assert told(lambda: metrics.score(labels, scores, qid=qid, metric="ndcg@10")) == [message]
    linear = {"metrics": "ndcg@10:linear"}
    assert told(lambda: metrics.evaluate(labels, scores, qid=qid, **linear)) == []
    X, y, qid = ranked()
    model = GreedyRankRLS(1, alpha=1.0, criterion="ndcg@2")
    assert told(lambda: model.fit(X, y, qid=qid)) == []
    (message,) = told(lambda: model.fit(X, 100 * y, qid=qid))
    assert message.endswith("take ndcg@2:linear")


def test_a_teacher_that_has_seen_the_labels_is_told(parses):
    train, _ = parses
    X, y, qid = train.X, train.y, train.qid
    model = GreedyRankRLS(3, alpha=1.0, strategy="distil")
    folds = cross_val_predict(Ridge(), X, y, groups=qid, cv=GroupKFold(5))
    assert told(lambda: model.fit(X, y, qid=qid, teacher=folds)) == []
    for seen in (y, 3 * y + qid, Ridge(1e-3).fit(X, y).predict(X)):
        (message,) = told(lambda seen=seen: model.fit(X, y, qid=qid, teacher=seen))
        assert "of the pairs of a query as the labels do" in message
    search = GreedyRankRLSCV(3, alpha=[1.0, 4.0], cv=3, strategy="distil")
    (message,) = told(lambda: search.fit(X, y, qid=qid, teacher=y))
    assert "of the pairs of a query as the labels do" in message


def test_training_data_that_are_scored_are_told():
    X, y, qid = ranked()
    for model in (GreedyRankRLS(2, alpha=1.0), RankRLS(alpha=1.0)):
        model.fit(X, y, qid=qid)
        (message,) = told(lambda model=model: model.score(X, y, qid=qid))
        assert message.startswith("the test data are the training data")
        assert told(lambda model=model: model.score(X, y[::-1].copy(), qid=qid)) == []
        assert told(lambda model=model: model.score(X[:-1], y[:-1], qid=qid[:-1])) == []


def test_labels_are_no_names(tmp_path):
    data, names = tmp_path / "x.svm", tmp_path / "labels.txt"
    data.write_text("1 qid:a 1:1 3:2\n0 qid:a 2:1\n1 qid:b 1:1\n0 qid:b 3:2\n")
    names.write_text("1\n0\n" * 50)
    with pytest.raises(ValueError, match="names of 3 columns, each once, found 100 names"):
        rankrls.read(data, names=names)


def test_names_that_are_shifted_are_told(tmp_path):
    data, names = tmp_path / "x.svm", tmp_path / "names.txt"
    data.write_text("1 qid:a 1:1 3:2\n0 qid:a 2:1\n1 qid:b 1:1\n0 qid:b 3:2\n")
    names.write_text("bias\nprice\nage\nsize\n")
    (message,) = told(lambda: rankrls.read(data, names=names))
    assert message.startswith("there are 4 names for 3 columns")
    assert message.endswith("pass zero_based")
    assert told(lambda: rankrls.read(data, names=names, zero_based=True)) == []


def test_folds_that_cut_queries_are_told():
    X, y, qid = ranked(24)
    (message,) = told(lambda: RankRLS(alpha=1.0).fit(X, y, qid=qid, holdout=np.arange(24) // 6))
    assert message.startswith("the folds cut 2 queries, the first of them")
    assert told(lambda: RankRLS(alpha=1.0).fit(X, y, qid=qid, holdout=np.arange(24) // 8)) == []


@pytest.mark.parametrize(
    ("given", "params", "message"),
    [
        ({"teacher": True}, {}, "there is nothing to teach: a teacher goes with strategy='distil'"),
        ({"X_validation": True}, {}, "X_validation goes with strategy='fs-ed'"),
        ({}, {"convention": "letor"}, "convention has nothing to measure"),
    ],
)
def test_parameters_without_effect_are_refused(given, params, message):
    X, y, qid = ranked()
    extra = {"teacher": y + X.b, "X_validation": X}
    extra = {name: extra[name] for name in given}
    for estimator in [
        GreedyRankRLS(1, alpha=1.0, **params),
        GreedyRankRLS(1, alpha=1.0, strategy="bounded", **params),
        GreedyRankRLSCV(1, alpha=[1.0], cv=3, **params),
    ]:
        with pytest.raises(ValueError, match=message):
            estimator.fit(X, y, qid=qid, **extra)


def test_a_row_a_query_is_the_cause():
    X, y, _ = ranked()
    for estimator in FITS:
        with pytest.raises(ValueError, match="each of the 48 queries has a single row"):
            estimator.fit(X, y, qid=np.arange(48))


def test_sound_data_get_no_warning(parses):
    train, test = parses
    datasets = pytest.importorskip("sklearn.datasets")
    for name in ["iris", "wine", "breast_cancer", "digits", "diabetes"]:
        data = getattr(datasets, f"load_{name}")()
        order = np.random.default_rng(0).permutation(len(data.data))
        X, y = data.data[order], data.target[order]
        assert (
            told(lambda X=X, y=y: RankRLS(alpha="1u").fit(X, y, qid=np.arange(len(y)) // 10)) == []
        )
    assert told(lambda: GreedyRankRLS(3, alpha=16).fit(train.X, train.y, qid=train.qid)) == []
    scores = np.arange(len(test.y))
    assert told(lambda: metrics.evaluate(test.y, scores, qid=test.qid)) == []
