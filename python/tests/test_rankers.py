"""The example that trains other rankers: its own learners, its statistics and its page."""

import csv
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import ROOT
from sklearn.tree import DecisionTreeRegressor

from rankrls import write_svmlight

sys.path.insert(0, str(ROOT / "python" / "examples"))
import rankers


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
    assert one.scores(data.X) == pytest.approx([first, 0, 0])
    assert two.scores(data.X) == pytest.approx([first + second, second, 0])
    assert (one.size, two.size) == (1, 2)


def test_rank_boost_errs_less_than_its_bound():
    rng = np.random.default_rng(5)
    X = np.where(rng.random((60, 7)) < 0.5, rng.normal(size=(60, 7)), 0.0)
    data = rows(X, (X[:, 0] - X[:, 3] + 0.3 * rng.normal(size=60)).round(), [6] * 10)
    counts = [1, 5, 40]
    better, worse = rankers.pairs(data)
    errors, bounds = [], []
    for model in rankers.rank_boost(data, counts, None):
        scores = model.scores(X)
        margins = scores[better] - scores[worse]
        errors.append(np.mean(margins <= 0))
        bounds.append(np.mean(np.exp(-margins)))
    assert (np.array(errors) <= bounds).all()
    assert (np.diff(bounds) < 0).all()
    assert errors[-1] < 0.05
    sparse = data._replace(X=sp.csc_matrix(X))
    last = list(rankers.rank_boost(sparse, counts, None))[-1]
    assert last.scores(sparse.X) == pytest.approx(scores)


def test_trees_are_cut_as_they_would_have_grown():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    whole = DecisionTreeRegressor(random_state=0).fit(X, y).tree_
    for nmin in (1, 20, 50, 300):
        small = DecisionTreeRegressor(min_samples_split=max(nmin, 2), random_state=0).fit(X, y)
        ends, size = rankers.cut(whole, nmin)
        found = whole.value[ends[whole.apply(np.float32(X))], 0, 0]
        assert found == pytest.approx(small.predict(X))
        assert size == small.tree_.node_count


def test_svm_rank_reads_and_writes_files(tmp_path, monkeypatch):
    # In its place, programs that keep the training data as the model and score by column 2.
    learn = '#!/bin/sh\n[ "$1" = -c ] && cp "$3" "$4"\n'
    classify = '#!/bin/sh\nsed \'s/.* 2:\\([^ ]*\\).*/\\1/\' "$1" > "$3"; cp "$2" kept\n'
    for name, text in [("svm_rank_learn", learn), ("svm_rank_classify", classify)]:
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert "svm_rank_learn is not installed" in rankers.RANKERS["RankSVM (svm_rank)"].missing()
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert rankers.RANKERS["RankSVM (svm_rank)"].missing() is None
    data = rows([[1, 0.5], [0, 2], [3, 4]], [1, 0, 2], [2, 1])
    (model,) = rankers.svm_rank(data, [3.0], None)
    assert model.scores(data.X).tolist() == [0.5, 2, 4]
    assert (tmp_path / "kept").read_text() == "1 qid:1 1:1 2:0.5\n0 qid:1 2:2\n2 qid:2 1:3 2:4\n"


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
    line = {"columns": "exact", "p_holm": 0.01, "difference": -0.1, "low": -0.15}
    assert rankers.verdict(line, 0.02) == "worse"
    assert rankers.verdict({**line, "difference": 0.1, "low": 0.05}, 0.02) == "better"
    assert rankers.verdict({**line, "p_holm": 0.5, "low": -0.03}, 0.02) == "open"
    assert rankers.verdict({**line, "p_holm": 0.5, "low": -0.01}, 0.02) == "close"
    assert rankers.verdict({"missing": "no package"}, 0.02) == "missing"


@pytest.fixture
def collection(tmp_path):
    """Two folds in the layout of LETOR; two of six columns matter."""
    rng = np.random.default_rng(7)
    for fold in (1, 2):
        folder = tmp_path / "tiny" / f"Fold{fold}"
        folder.mkdir(parents=True)
        for part, queries in [("train", 20), ("vali", 10), ("test", 12)]:
            X = rng.random((6 * queries, 6)).round(3)
            y = np.digitize(X[:, 1] - X[:, 4] + 0.1 * rng.normal(size=len(X)), [0, 0.4])
            write_svmlight(folder / f"{part}.txt", X, y, qid=np.repeat(range(queries), 6))
    return tmp_path / "tiny"


def test_page_and_table_of_two_folds(collection, tmp_path, capsys, monkeypatch):
    absent = rankers.Ranker(None, "rounds", [1], package="no_such", install="pip install no_such")
    monkeypatch.setitem(rankers.RANKERS, "another", absent)
    names = ["RankRLS", "RankSVM (LinearSVC)", "RankBoost", "LambdaMART (LightGBM)"]
    names += ["LambdaRank (XGBoost)", "extra trees (K = sqrt p)", "another"]
    options = ["-k", "1,2,9", "--strategies", "exact,random", "--rankers", ",".join(names)]
    output = tmp_path / "page"
    rankers.main([str(collection), *options, "--trees", "5", "--workers", "2", "-o", str(output)])
    said = capsys.readouterr()
    assert "another is marked as missing: no_such is not installed: pip install no_such" in said.err
    assert "| fold | greedy RankRLS | RankRLS | RankSVM (LinearSVC)" in said.out
    assert "| mean | " in said.out
    with open(tmp_path / "page.csv", newline="") as file:
        lines = list(csv.DictReader(file))
    # All columns, and two strategies with three k.
    assert len(lines) == len(names) * 7 * len(rankers.MEASURES)
    for line in lines:
        known = line["ranker"] != "another" and line["k"] != "9"
        assert bool(line["missing"]) != known
        if known:
            assert int(line["queries"]) <= 24
            assert line["mean"]
    assert {line["missing"] for line in lines if line["k"] == "9"} == {
        "fewer than 9 columns can be selected",
        "no_such is not installed: pip install no_such",
    }
    exact = [line for line in lines if line["columns"] == "exact" and line["measure"] == "ndcg@10"]
    worse = {(line["ranker"], line["k"]) for line in exact if line["verdict"] == "worse"}
    assert ("RankRLS", "1") in worse
    assert ("RankRLS", "2") not in worse
    page = (tmp_path / "page.html").read_text()
    assert "no_such is not installed: pip install no_such" in page
    assert "src=" not in page
    assert "href=" not in page


def test_labels_above_0_need_a_threshold(tmp_path):
    rng = np.random.default_rng(1)
    path = tmp_path / "train.svm"
    write_svmlight(path, rng.random((40, 3)), 1 + rng.random(40), qid=np.repeat(range(8), 5))
    with pytest.raises(SystemExit, match=r"error: all labels are above 0.*--relevant-from"):
        rankers.main([str(path), "--test", str(path)])
    with pytest.raises(SystemExit, match=r"error: .* is one file: give test data by --test"):
        rankers.main([str(path)])
    with pytest.raises(SystemExit, match=r"expected train.txt, or the same with .gz or .zst"):
        rankers.main([str(tmp_path)])
