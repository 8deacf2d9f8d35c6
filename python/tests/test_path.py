"""Paths, tuning, measures, files and diagrams."""

import gzip
import subprocess
import sys

import matplotlib
import numpy as np
import pytest
from sklearn.metrics import ndcg_score

import rankrls
import rankrls.plot
from rankrls import GreedyRankRLS, GreedyRankRLSCV, RankRLS, metrics

matplotlib.use("Agg")


def test_alpha_is_chosen_where_it_is_not_given(parses):
    train, _ = parses
    model = GreedyRankRLS(3, alpha="auto").fit(train.X, train.y, qid=train.qid)
    assert model.alpha_ == GreedyRankRLS(3).fit(train.X, train.y, qid=train.qid).alpha_
    distilled = GreedyRankRLS(3, strategy="distil").fit(train.X, train.y, qid=train.qid)
    assert distilled.refit_alpha_ == distilled.path_.unit / 64
    # The teacher of a choice has one of four alphas: an exact strategy has none.
    model = GreedyRankRLS(3, strategy="bounded").fit(train.X, train.y, qid=train.qid)
    chosen = {name: getattr(model, f"{name}_") for name in ("alpha", "scale", "label_scale")}
    given = GreedyRankRLS(3, strategy="bounded", **chosen)
    np.testing.assert_array_equal(
        given.fit(train.X, train.y, qid=train.qid).weights_, model.weights_
    )
    assert distilled.path_.teacher[0] in ("dual", "primal")


@pytest.mark.parametrize(
    "estimator",
    [
        GreedyRankRLS(4),
        GreedyRankRLS(4, strategy="distil"),
        GreedyRankRLSCV(4, cv=3),
        RankRLS(),
    ],
)
def test_values_in_other_units_give_the_same_scores(parses, estimator):
    train, test = parses
    scores = []
    for factor in (1, 2**-7, 2**5):
        model = estimator.fit(factor * train.X, train.y, qid=train.qid)
        scores.append(model.predict(factor * test.X))
    np.testing.assert_array_equal(scores[1], scores[0])
    np.testing.assert_array_equal(scores[2], scores[0])


def test_a_choice_at_an_edge_warns(parses):
    train, _ = parses
    with pytest.warns(UserWarning, match="the chosen alpha 0.001 is the largest of the grid"):
        RankRLS(alpha=[0.0001, 0.001]).fit(train.X, train.y, qid=train.qid)


def test_a_teacher_from_elsewhere_teaches(small):
    X, y, qid = small
    model = GreedyRankRLS(3, strategy="distil", alpha=1.0)
    given = model.fit(X, y, qid=qid, teacher=y + 5 * (X @ np.eye(30)[29])).selected_
    assert model.path_.teacher[0] is None
    assert 29 in given
    with pytest.raises(ValueError, match="do not rise with the labels"):
        model.fit(X, y, qid=qid, teacher=-y)


def test_the_chosen_model_is_the_best_of_the_table(small):
    X, y, qid = small
    model = GreedyRankRLSCV(
        6, alpha=[0.1, 1, 10], cv=3, scoring="ndcg@10", metrics=["map"], label_scale="unit"
    )
    grades = np.clip(np.round(y - y.min()), 0, 4)
    model.fit(X, grades, qid=qid)
    results = model.cv_results_
    best = np.flatnonzero(results["rank_test_score"] == 1)
    assert model.best_score_ == results["mean_test_score"].max()
    assert model.alpha_ in results["param_alpha"][best]
    assert model.n_features_to_select_ in results["param_n_features_to_select"][best]
    assert len(model.selected_) == model.n_features_to_select_
    assert all(len(column) == 18 for column in results.values())
    assert 0 < model.stability_ <= 1
    sparse = GreedyRankRLSCV(6, alpha=[1], cv=3, rule="one-se").fit(X, y, qid=qid)
    assert sparse.n_features_to_select_ <= 6


def test_ridge_holds_out_what_was_asked_for(small):
    X, y, qid = small
    model = RankRLS(alpha=0.5).fit(X, y, qid=qid)
    for query in (0, 7):
        left = qid != query
        other = RankRLS(alpha=0.5).fit(X.tocsr()[left], y[left], qid=qid[left])
        scores = other.predict(X.tocsr()[~left])
        assert np.allclose(model.lqo_predictions_[~left], scores - scores.mean(), atol=1e-10)
    folds = RankRLS(holdout="folds:3", solver="cg").fit(X, y, qid=qid)
    assert folds.solver_ == "cg"
    assert not hasattr(folds, "lqo_predictions_")
    assert folds.holdout_predictions_.shape == (90,)
    assert not hasattr(RankRLS(1.0, solver="cg").fit(X, y, qid=qid), "holdout_error_")
    single = RankRLS(1.0).fit(X, y, qid=np.zeros(90))
    assert not hasattr(single, "lqo_predictions_")


def test_measures_agree_with_scikit_learn():
    rng = np.random.default_rng(1)
    y, scores, qid = rng.integers(0, 5, 60), rng.normal(size=60), rng.permutation(60) % 6
    found = metrics.evaluate(y, scores, qid=qid, metrics="ndcg@5:linear")
    found = found["ndcg@5:linear"]
    order = list(dict.fromkeys(qid.tolist()))
    expected = [ndcg_score([y[qid == q]], [scores[qid == q]], k=5) for q in order]
    assert np.allclose(found.per_query, expected, atol=1e-12)
    assert np.isclose(found.standard_error, np.std(expected, ddof=1) / np.sqrt(6))
    assert (found.queries, found.left_out) == (6, 0)
    relevant = metrics.score(y, scores, qid=qid, metric="map:3")
    assert relevant == metrics.score(y >= 3, scores, qid=qid, metric="map")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y_true": [1, 0]}, "y_true: expected 3 numbers"),
        ({"y_score": [[1, 1], [2, 1], [3, 1]]}, "y_score: .*1d array"),
        ({"y_score": [1, np.nan, 2]}, "y_score: row 1 is nan"),
        ({"qid": None}, "only rows of one query are compared"),
        ({"metrics": "auc"}, 'unknown metric "auc"'),
        ({"metrics": []}, "empty name"),
        ({"y_true": [1, -1, 0], "metrics": "ndcg@10"}, "needs grades"),
        (
            {"convention": "other"},
            "'convention' parameter of evaluate must be a str among .*Got 'other'",
        ),
        ({"y_score": [1j, 2, 3]}, "y_score: Complex data not supported"),
        ({"metrics": "map:nan"}, "metric map: expected the least label of a relevant row"),
        ({"metrics": "ndcg@10:cubic"}, "metric ndcg@10: expected a gain, exponential or linear"),
    ],
)
def test_measures_that_are_refused(arguments, message):
    given = {"y_true": [1, 0, 1], "y_score": [1, 2, 3], "qid": [1, 1, 1], **arguments}
    with pytest.raises(ValueError, match=message):
        metrics.evaluate(given.pop("y_true"), given.pop("y_score"), **given)


def test_results_are_short_to_look_at(parses):
    train, test = parses
    assert repr(test) == f"RankingData({test.X.shape[0]} rows, 19424 columns, {test.X.nnz} entries)"
    model = GreedyRankRLS(3, alpha=16.0).fit(train.X, train.y, qid=train.qid)
    found = metrics.evaluate(test.y, model.predict(test.X), qid=test.qid)["map"]
    assert repr(found).endswith(f"queries={found.queries}, left_out={found.left_out})")
    query = test.qid[0]
    assert repr(model.explain(test.X, qid=test.qid, query=query)).startswith("Explanation(")
    assert len(repr(model.explain(test.X, qid=test.qid, query=query))) < 80


def test_two_rankings_are_compared():
    rng = np.random.default_rng(1)
    first = rng.random(40)
    found = metrics.paired(first, first - 0.1 - 0.01 * rng.random(40), random_state=3)
    assert found.interval[0] > 0.1 > found.p
    assert (found.wins, found.ties, found.losses) == (40, 0, 0)
    with pytest.raises(ValueError, match="cannot be paired"):
        metrics.paired([1.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="'confidence' parameter of paired must be a float"):
        metrics.paired([1.0], [1.0], confidence=95)
    with pytest.raises(ValueError, match="'resamples' .*an int in the range .*100000000"):
        metrics.paired([1.0], [1.0], resamples=2**62)


def test_files_read_back_as_they_were_written(small, tmp_path):
    X, y, qid = small
    for name, ids in (
        ("a.svm", qid),
        ("b.svm.gz", [f"q{each}" for each in qid]),
        ("c.svm.zst", qid),
    ):
        rankrls.write(tmp_path / name, X, y, qid=ids)
        again = rankrls.read(tmp_path / name, n_features=30)
        assert (again.X != X).nnz == 0
        assert np.array_equal(again.y, y)
        assert again.qid.tolist() == list(ids)
        assert again.feature_names is None
    rankrls.write(tmp_path / "zero.svm", X, y, qid=np.ones(90), zero_based=True)
    again = rankrls.read(tmp_path / "zero.svm", zero_based=True, n_features=30)
    assert (again.X != X).nnz == 0
    assert rankrls.read(tmp_path / "a.svm", n_features=5).X.shape == (90, 5)
    assert gzip.decompress((tmp_path / "b.svm.gz").read_bytes())


def test_files_that_are_refused(tmp_path, small):
    path = tmp_path / "bad.svm"
    path.write_text("1 qid:1 1:1\n0 qid:2 1:2\n1 qid:1 2:x\n")
    with pytest.raises(ValueError, match=r"bad\.svm:3:"):
        rankrls.read(path)
    path.write_text("1 qid:1 1:1\n0 qid:2 1:2\n1 qid:1 2:5\n")
    with pytest.warns(UserWarning, match='query "1" comes back on line 3'):
        assert rankrls.read(path).qid.tolist() == [1, 1, 2]
    with pytest.raises(FileNotFoundError):
        rankrls.read(tmp_path / "none.svm")
    X, y, _ = small
    with pytest.raises(OSError, match="none"):
        rankrls.write(tmp_path / "none" / "a.svm", X, y, qid=np.ones(90))
    with pytest.raises(ValueError, match=r"row \d, column 0 is NaN"):
        rankrls.write(tmp_path / "a.svm", X * np.nan, y, qid=np.ones(90))
    with pytest.raises(ValueError, match="found complex"):
        rankrls.write(tmp_path / "a.svm", X * 1j, y, qid=np.ones(90))
    assert not (tmp_path / "a.svm").exists()


def test_names_come_with_the_data(parses):
    train, test = parses
    assert train.X.shape[1] == test.X.shape[1] == len(train.feature_names)
    assert isinstance(train.feature_names[0], str)


def test_diagrams(small, tmp_path):
    X, y, qid = small
    model = GreedyRankRLSCV(
        4, alpha=[1, 4], strategy=["dense", "residual"], cv=3, metrics=["cindex"]
    )
    model.fit(X, y, qid=qid)
    axes = [
        rankrls.plot.path(model),
        rankrls.plot.path(model.path_, what="lqo_cindex"),
        rankrls.plot.tuning(model),
        rankrls.plot.tuning(model, metric="cindex"),
    ]
    for number, ax in enumerate(axes):
        ax.figure.savefig(tmp_path / f"{number}.png")
    legend = [text.get_text() for text in axes[2].get_legend().get_texts()]
    chosen = f"{model.n_features_to_select_} features of {model.strategy_}, alpha"
    assert {"dense", "residual"} < set(legend)
    assert len(legend) == 3
    assert legend[-1].startswith(chosen) or legend[1].startswith(chosen)
    for ax in axes:
        assert all(tick == round(tick) for tick in ax.get_xticks())
    with pytest.raises(ValueError, match="metric: 'map' is not among"):
        rankrls.plot.tuning(model, metric="map")
    with pytest.raises(ValueError, match="what: expected"):
        rankrls.plot.path(model, what="error")


def test_a_comparison_takes_what_evaluate_returns():
    y, queries = [1, 0, 1, 0], [1, 1, 2, 2]
    several = {
        name: metrics.evaluate(y, scores, qid=queries, metrics="cindex,mrr")
        for name, scores in (("a", [2, 1, 2, 1]), ("b", [1, 2, 2, 1]))
    }
    shown = rankrls.plot.comparison(several, measure="mrr")
    assert [text.get_text() for text in shown.get_yticklabels()] == ["a", "b"]
    one = rankrls.plot.comparison(several["a"])
    assert [text.get_text() for text in one.get_yticklabels()] == ["cindex", "mrr"]
    alone = {name: {"mrr": found["mrr"]} for name, found in several.items()}
    values = [
        rankrls.plot.comparison(found, **given).lines[0].get_xdata().tolist()
        for found, given in (
            (several, {"measure": "mrr"}),
            (alone, {}),
            ({name: found["mrr"] for name, found in several.items()}, {}),
        )
    ]
    assert values[0] == values[1] == values[2] == [1.0, 0.75]
    for wrong in ({}, {"measure": "map"}):
        with pytest.raises(ValueError, match="measure: expected one of cindex, mrr for 'a'"):
            rankrls.plot.comparison(several, **wrong)
    for wrong in (several["a"]["mrr"], {"a": 3}):
        with pytest.raises(ValueError, match="found: expected"):
            rankrls.plot.comparison(wrong)


def test_rules_stand_in_names():
    given = {"y_true": [2, 0, 1], "y_score": [1, 2, 0], "qid": [1, 1, 1]}
    found = metrics.evaluate(**given, metrics=["err:4", "err", "ndcg@5", "ndcg@5(letor)"])
    assert list(found) == ["err:4", "err", "ndcg@5", "ndcg@5(letor)"]
    assert found["err:4"].mean < found["err"].mean
    assert found["ndcg@5(letor)"].mean == 0 < found["ndcg@5"].mean
    assert metrics.score(**given, metric="ndcg@5", convention="letor") == 0
    named = metrics.score(**given, metric="ndcg@5(standard)", convention="letor")
    assert named == found["ndcg@5"].mean


def test_labels_of_first_rows_may_be_any_number():
    given = {"y_true": [-2.5, 4, 1], "y_score": [1, 1, 3], "qid": [1, 1, 2]}
    for convention, mean in (("standard", 0.875), ("letor", -0.75)):
        assert metrics.score(**given, metric="label@1", convention=convention) == mean


TABLE = "grade,query,a,b,id\n2,x,1,NA,7\n0,x,2,3,8\n1,y,0,4,9\n0,y,5,NA,7\n"


def test_tables_are_read_as_the_command_reads_them(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(TABLE)
    columns = {"label": "grade", "query": "query", "ignore": ["id"]}
    data = rankrls.read(path, **columns, missing=-1)
    assert data.feature_names.tolist() == ["a", "b"]
    assert data.qid.tolist() == ["x", "x", "y", "y"]
    assert data.X.toarray().tolist() == [[1, -1], [2, 3], [0, 4], [5, -1]]
    mean = rankrls.read(path, **columns, missing="mean").X.toarray()
    assert mean.tolist() == [[1, 3], [2, 3], [0, 4], [5, 4]]
    path.rename(tmp_path / "data.txt")
    again = rankrls.read(tmp_path / "data.txt", **columns, missing=-1, format="csv")
    assert again.X.toarray().tolist() == data.X.toarray().tolist()
    path.write_text(TABLE)
    for given, message in (
        ({}, "name that column by label"),
        ({"label": "grade", "query": "query"}, "pass missing=0; as the mean"),
        ({"missing": "median", **columns}, "missing: expected a finite number, or mean"),
        ({"missing": np.nan, **columns}, "'missing' parameter of read must be .*Got nan"),
        ({"format": "arff"}, 'format: expected one of auto, svmlight, .* found "arff"'),
        ({"max_memory": "much"}, "max_memory: "),
    ):
        with pytest.raises(ValueError, match=message):
            rankrls.read(path, **given)


def test_data_without_queries_are_one(tmp_path):
    path = tmp_path / "data.svm"
    path.write_text("1 1:1\n0 2:1\n1 1:2\n0 2:3\n")
    assert rankrls.read(path).qid.tolist() == [1, 1, 1, 1]
    with pytest.raises(FileNotFoundError, match="none"):
        rankrls.read(path, names=tmp_path / "none")


LARGE_INDEX = """
import resource, sys
import rankrls
limit, given = int(sys.argv[2]), eval(sys.argv[3])
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    print(rankrls.read(sys.argv[1], **given).X.shape)
except MemoryError as error:
    print("MemoryError", error)
"""


@pytest.mark.parametrize("given", ["{}", "{'max_memory': '1MiB'}"])
@pytest.mark.parametrize("limit", [4 << 30, 64 << 30])
def test_one_large_index_takes_no_memory_that_there_is_not(given, limit, tmp_path):
    path = tmp_path / "large.svm"
    path.write_text("1 4294967294:1")
    command = [sys.executable, "-c", LARGE_INDEX, path, str(limit)]
    done = subprocess.run([*command, given], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    if limit == 4 << 30 or given != "{}":
        assert "4294967294 columns, for which SciPy takes 16.0 GiB" in done.stdout, done.stdout
        assert "n_features=" in done.stdout
    done = subprocess.run([*command, "{'n_features': 5}"], capture_output=True, text=True)
    assert done.stdout == "(1, 5)\n", done.stderr
