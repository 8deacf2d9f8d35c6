"""The filter fs-ed, and explanations of an order."""

import json

import numpy as np
import pytest

import rankrls
from rankrls import GreedyRankRLS, GreedyRankRLSCV, RankRLS


@pytest.fixture
def graded(small):
    X, y, qid = small
    return X, np.clip(np.round(2 * (y - y.min())), 0, 4), qid


def test_the_filter_selects_as_the_command(graded, command, tmp_path):
    X, grades, qid = graded
    train, validation = tmp_path / "train.svm", tmp_path / "validation.svm"
    rankrls.write(train, X, grades, qid=qid)
    rankrls.write(validation, X[:20], grades[:20], qid=qid[:20])
    select = ("select", train, "-k", 5, "--lambda", 1, "--strategy", "fs-ed", "--json", "-q")
    for more, rows in ((), None), (("--validation", validation), X[:20]):
        model = GreedyRankRLS(5, strategy="fs-ed").fit(X, grades, qid=qid, X_validation=rows)
        assert model.strategy_ == "fs-ed"
        steps = json.loads(command(*select, *more))["steps"]
        assert [step["feature"] - 1 for step in steps] == model.selected_.tolist()


def test_the_filter_takes_validation_rows_everywhere(graded):
    X, grades, qid = graded
    validated = GreedyRankRLS(5, strategy="fs-ed").fit(X, grades, qid=qid, X_validation=X[:20])
    again = GreedyRankRLS(5, strategy="fs-ed")
    again.fit(X, grades, qid=qid, X_validation=X[:20].toarray())
    assert validated.selected_.tolist() == again.selected_.tolist()
    with pytest.raises(ValueError, match="features"):
        GreedyRankRLS(2, strategy="fs-ed").fit(X, grades, qid=qid, X_validation=X[:, :3])
    several = GreedyRankRLSCV(3, strategy=["bounded", "fs-ed"], alpha=[1], cv=3)
    several.fit(X, grades, qid=qid, X_validation=X[:20])
    assert set(several.cv_results_["param_strategy"]) == {"bounded", "fs-ed"}


@pytest.mark.parametrize("estimator", [GreedyRankRLS(5), RankRLS(alpha=3.0)])
@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("moved", [False, True])
def test_contributions_add_up_to_the_order(small, estimator, dense, moved):
    X, y, qid = small
    X = X.toarray() if dense else X
    if moved:
        # Scattered rows of a query.
        order = np.argsort(np.arange(len(y)) % 6, kind="stable")
        X, y, qid = X[order], y[order], np.asarray(qid)[order]
    model = estimator.fit(X, y, qid=qid)
    scores = model.predict(X)
    own = np.flatnonzero(np.asarray(qid) == 5)
    for versus in (None, own[1]):
        found = model.explain(X, query=5, qid=qid, versus=versus)
        assert sorted(found.rows) == own.tolist()
        assert found.scores.tolist() == sorted(found.scores, reverse=True)
        assert found.scores == pytest.approx(scores[found.rows])
        reference = scores[own].mean() if versus is None else scores[versus]
        assert found.reference == pytest.approx(reference)
        assert found.contributions.sum(axis=1) == pytest.approx(found.scores - found.reference)
        differences = X[found.rows][:, found.features]
        differences = differences if dense else differences.toarray()
        assert found.values == pytest.approx(differences)
        assert found.ranks.tolist() == list(range(1, len(own) + 1))
        assert found.labels is None
        against = differences.mean(axis=0) if versus is None else X[[versus]][:, found.features]
        differences = differences - (against if dense or versus is None else against.toarray())
        assert found.contributions == pytest.approx(model.coef_[found.features] * differences)
    assert isinstance(found, rankrls.Explanation)
    text = str(found).splitlines()
    assert text[0].startswith(f"1. row {found.rows[0]}: score ")
    assert text[-1].startswith((f"{len(found.rows)}. row ", "  +", "  -"))
    # The row itself makes no difference.
    assert not found.contributions[found.rows == own[1]].any()


def test_labels_stand_beside_their_rows(small):
    X, y, qid = small
    model = GreedyRankRLS(2).fit(X, y, qid=qid)
    for labels in (y, y.tolist()):
        found = model.explain(X, labels, query=5, qid=qid)
        assert found.labels.tolist() == y[found.rows].tolist()
    assert f"row {found.rows[0]}: label {found.labels[0]:g}, score" in str(found)
    with pytest.raises(ValueError, match="y: expected 90 numbers, one a row of X, found 89"):
        model.explain(X, y[:-1], query=5, qid=qid)


def test_orders_that_cannot_be_explained_are_refused(small):
    X, y, qid = small
    model = GreedyRankRLS(2).fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="none of the 15 is called '77'; the first are 0, 1, 2"):
        model.explain(X, query=77, qid=qid)
    with pytest.raises(ValueError, match="there are 15 queries: name one"):
        model.explain(X, qid=qid)
    with pytest.raises(ValueError, match="versus: row 6 is not of query '0'"):
        model.explain(X, query=0, qid=qid, versus=6)
    for versus in (-1, 1000, 0.5):
        with pytest.raises(ValueError, match=f"versus: expected rows of X, .* found {versus}"):
            model.explain(X, query=0, qid=qid, versus=versus)
    others = X.toarray()
    others[:, model.selected_] = 0
    with pytest.raises(ValueError, match="any of the 2 features"):
        model.explain(others)
    kernel = RankRLS(kernel="gaussian").fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="a kernel model has no features"):
        kernel.explain(X)


def test_queries_are_named_as_their_ids_are(small):
    X, y, qid = small
    model = GreedyRankRLS(2, alpha=1.0).fit(X, y, qid=qid)
    expected = model.explain(X, query=3, qid=qid).rows.tolist()
    for ids in (qid, qid.astype(float), qid.tolist(), qid.astype(object)):
        for query in (3, 3.0, np.int64(3), np.float32(3)):
            assert model.explain(X, query=query, qid=ids).rows.tolist() == expected
        with pytest.raises(ValueError, match="none of the 15 is called '3'.*ids are of type"):
            model.explain(X, query="3", qid=ids)
    text = [str(each) for each in qid]
    assert model.explain(X, query="3", qid=text).rows.tolist() == expected
    tuples = [(each, "a") for each in qid.tolist()]
    assert model.explain(X, query=(3, "a"), qid=tuples).rows.tolist() == expected
    for wrong in (3, [3], None):
        with pytest.raises(ValueError, match="query: "):
            model.explain(X, query=wrong, qid=text)
