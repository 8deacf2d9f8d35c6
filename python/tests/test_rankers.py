"""The study that trains other rankers: its own learner, its statistics and its table."""

import csv
import os
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import ROOT
from sklearn.tree import DecisionTreeRegressor

from rankrls import write

sys.path.insert(0, str(ROOT / "studies"))
import rankers

pytestmark = pytest.mark.skipif(
    "RANKRLS_EXAMPLES" not in os.environ,
    reason="a weekly job, which sets RANKRLS_EXAMPLES, tries the study",
)


def rows(X, y, sizes):
    return rankers.Rows(
        np.asarray(X, dtype=float), np.asarray(y), np.repeat(range(len(sizes)), sizes)
    )


def test_rank_boost_of_three_rows_by_hand():
    # Both columns order two of three pairs. After the first, the pair it ties has weight
    # 1 / (1 + 2 / sqrt 5), and the second orders it and one of the others.
    data = rows([[1, 0], [0, 1], [0, 0]], [2, 1, 0], [3])
    data.X[0, 1] = 1
    one, two = rankers.rank_boost(data, [1, 2], None)
    first = np.log(5) / 2
    tied = 1 / (1 + 2 / np.sqrt(5))
    edge = tied + (1 - tied) / 2
    second = np.log((1 + edge) / (1 - edge)) / 2
    assert one(data.X) == pytest.approx([first, 0, 0])
    assert two(data.X) == pytest.approx([first + second, second, 0])


def test_rank_boost_errs_less_than_its_bound():
    rng = np.random.default_rng(5)
    X = np.where(rng.random((60, 7)) < 0.5, rng.normal(size=(60, 7)), 0.0)
    data = rows(X, (X[:, 0] - X[:, 3] + 0.3 * rng.normal(size=60)).round(), [6] * 10)
    counts = [1, 5, 40]
    better, worse = rankers.pairs(data)
    errors, bounds = [], []
    for model in rankers.rank_boost(data, counts, None):
        scores = model(X)
        margins = scores[better] - scores[worse]
        errors.append(np.mean(margins <= 0))
        bounds.append(np.mean(np.exp(-margins)))
    assert (np.array(errors) <= bounds).all()
    assert (np.diff(bounds) < 0).all()
    assert errors[-1] < 0.05
    sparse = data._replace(X=sp.csc_matrix(X))
    last = list(rankers.rank_boost(sparse, counts, None))[-1]
    assert last(sparse.X) == pytest.approx(scores)


def test_trees_are_cut_as_they_would_have_grown():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    whole = DecisionTreeRegressor(random_state=0).fit(X, y).tree_
    for nmin in (1, 20, 50, 300):
        small = DecisionTreeRegressor(min_samples_split=max(nmin, 2), random_state=0).fit(X, y)
        found = whole.value[rankers.cut(whole, nmin)[whole.apply(np.float32(X))], 0, 0]
        assert found == pytest.approx(small.predict(X))


def test_holm_goes_down_step_by_step():
    assert rankers.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    found = rankers.holm([np.nan, 0.6, 0.02])
    assert np.isnan(found[0])
    assert found[1:] == pytest.approx([0.6, 0.04])
    assert rankers.holm([0.9, 0.8]).tolist() == [1.0, 1.0]


def test_the_least_k_has_no_worse_one_above_it():
    verdicts = {1: "open", 2: "worse", 5: "open", 10: "close", 20: "better"}
    lines = [{"k": k, "verdict": verdict} for k, verdict in verdicts.items()]
    assert rankers.least(lines) == [5, 10]
    assert rankers.least(lines[:2]) == [None, None]


def test_verdicts():
    line = {"columns": "exact", "mean": 0.5, "p_holm": 0.01, "difference": -0.1, "low": -0.15}
    assert rankers.verdict(line, 0.02) == "worse"
    assert rankers.verdict({**line, "difference": 0.1, "low": 0.05}, 0.02) == "better"
    assert rankers.verdict({**line, "p_holm": 0.5, "low": -0.03}, 0.02) == "open"
    assert rankers.verdict({**line, "p_holm": 0.5, "low": -0.01}, 0.02) == "close"
    assert rankers.verdict({"columns": "exact"}, 0.02) == "missing"


@pytest.fixture
def collection(tmp_path):
    """Training and test data in which two of six columns matter."""
    rng = np.random.default_rng(7)
    files = tmp_path / "train.svm", tmp_path / "test.svm"
    for file, queries in zip(files, (32, 12), strict=True):
        X = rng.random((6 * queries, 6)).round(3)
        y = np.digitize(X[:, 1] - X[:, 4] + 0.1 * rng.normal(size=len(X)), [0, 0.4])
        write(file, X, y, qid=np.repeat(range(queries), 6))
    return [str(files[0]), "--test", str(files[1])]


def test_table_and_file(collection, tmp_path, capsys):
    names = ["RankRLS", "RankSVM (LinearSVC)", "RankBoost", "LambdaMART (LightGBM)"]
    names += ["LambdaRank (XGBoost)", "extra trees (K = sqrt p)"]
    options = ["-k", "1", "2", "9", "--strategy", "exact", "random", "--rankers", *names]
    output = tmp_path / "rankers.csv"
    rankers.main([*collection, *options, "--trees", "5", "--workers", "2", "-o", str(output)])
    table = capsys.readouterr().out.splitlines()
    assert table[0] == "| ranker | ndcg@10 on all columns | exact | random |"
    assert [line.split(" | ")[0] for line in table[2:]] == [f"| {name}" for name in names]
    # No strategy has nine columns to select.
    assert all(line.endswith("| missing | missing |") for line in table[2:])
    with open(output, newline="") as file:
        lines = list(csv.DictReader(file))
    # All columns, and two strategies with three k.
    assert len(lines) == len(names) * 7 * len(rankers.MEASURES)
    for line in lines:
        assert (line["verdict"] == "missing") == (line["k"] == "9")
        assert (line["mean"] != "") == (line["k"] != "9")
    exact = [line for line in lines if line["columns"] == "exact" and line["measure"] == "ndcg@10"]
    worse = {(line["ranker"], line["k"]) for line in exact if line["verdict"] == "worse"}
    assert ("RankRLS", "1") in worse
    assert ("RankRLS", "2") not in worse


def test_labels_above_0_need_a_threshold(tmp_path):
    rng = np.random.default_rng(1)
    path = tmp_path / "train.svm"
    write(path, rng.random((40, 3)), 1 + rng.random(40), qid=np.repeat(range(8), 5))
    with pytest.raises(SystemExit, match=r"error: all labels are above 0.*--relevant-from"):
        rankers.main([str(path), "--test", str(path)])
