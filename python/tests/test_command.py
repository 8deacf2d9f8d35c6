"""The package gives the bits and models of the command."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import CORPORA

from rankrls import GreedyRankRLS, GreedyRankRLSCV, RankRLS, read, write

TRAIN, TEST = CORPORA / "parses/train.svm.zst", CORPORA / "parses/test.svm.zst"
TUNED = ["--lambda", "1,4", "--holdout", "folds:3", "--json"]
EXACT = ["bounded", "dense", "lowmem"]
OTHERS = ["sampled", "residual", "backfit", "univariate", "random", "distil"]


@pytest.mark.parametrize("strategy", EXACT + OTHERS)
def test_selections_are_those_of_the_command(strategy, parses, command):
    train, _ = parses
    labels = "sqrt-sd" if strategy == "distil" else "raw"
    model = GreedyRankRLS(8, alpha=16.0, strategy=strategy, label_scale=labels, random_state=7)
    model.fit(train.X, train.y, qid=train.qid)
    options = [
        "--strategy",
        strategy,
        "-k",
        8,
        "--lambda",
        16,
        "--label-scale",
        labels,
        "--seed",
        7,
    ]
    found = json.loads(command("select", TRAIN, *options, "--json"))
    assert (model.selected_ + 1).tolist() == [step["feature"] for step in found["steps"]]
    assert model.weights_.tolist() == found["weights"]
    assert model.lqo_error_path_.tolist() == [step["lqo_error"] for step in found["steps"]]
    assert model.lqo_cindex_path_.tolist() == [step["lqo_cindex"] for step in found["steps"]]


@pytest.mark.parametrize("form", [list, np.array, lambda ids: [str(each) for each in ids]])
def test_folds_are_those_of_the_command_in_any_order_of_rows(form, small, command, tmp_path):
    X, y, _ = small
    # As text, 10 comes before 2.
    qid = np.repeat([10, 2, 1, 33, 4, 5, 100, 7, 21, 9, 3, 12, 6, 14, 8], 6)
    order = np.random.default_rng(1).permutation(90)
    write(tmp_path / "data.svm", X, y, qid=form(qid))
    found = json.loads(command("select", tmp_path / "data.svm", "-k", 3, "--json"))
    held_out = ["--lambda", "1,4,16", "--holdout", "folds:4", "--json"]
    trained = json.loads(command("train", tmp_path / "data.svm", *held_out))
    for rows in (np.arange(90), order):
        data = X.tocsr()[rows], y[rows]
        ids = form(qid[rows])
        model = GreedyRankRLS(3).fit(*data, qid=ids)
        assert (model.selected_ + 1).tolist() == [step["feature"] for step in found["steps"]]
        assert model.alpha_ == pytest.approx(found["lambda"], rel=1e-12)
        ridge = RankRLS([1, 4, 16], holdout="folds:4").fit(*data, qid=ids)
        assert ridge.alpha_ == trained["lambda"]
        assert ridge.holdout_error_ == pytest.approx(trained["holdout"]["squared"], rel=1e-9)
        several = GreedyRankRLSCV(3, alpha=[1, 4], cv=3).fit(*data, qid=ids)
        tuned = command("tune", tmp_path / "data.svm", "-k", 3, *TUNED)
        value = json.loads(tuned)["chosen"]["value"]
        assert several.best_score_ == pytest.approx(-value, rel=1e-9)


def facts(path):
    """A model without the names of other columns, which the package adds."""
    model = json.loads(path.read_text())
    return {key: model[key] for key in model if key != "column_names"}


@pytest.mark.parametrize("strategy", ["auto", *EXACT, *OTHERS])
def test_defaults_are_those_of_the_command(strategy, parses, command, tmp_path):
    train, _ = parses
    model = GreedyRankRLS(4, strategy=strategy).fit(train.X, train.y, qid=train.qid)
    named = ["--names", CORPORA / "parses/names.txt.zst", "-o", tmp_path / "model.json"]
    command("select", TRAIN, "--strategy", strategy, "-k", 4, *named)
    model.to_json(tmp_path / "ours.json")
    assert facts(tmp_path / "ours.json") == facts(tmp_path / "model.json")


@pytest.mark.parametrize("strategy", ["bounded", "distil", "sampled"])
def test_columns_to_include_are_those_of_the_command(strategy, parses, command, tmp_path):
    train, _ = parses
    names = ["dist:PN~P:+1", "anc:in:PP^NP"]
    options = {"alpha": 16.0, "strategy": strategy}
    by_name = GreedyRankRLS(5, **options, include=names).fit(train.X, train.y, qid=train.qid)
    by_name.to_json(tmp_path / "ours.json")
    asked = ["--strategy", strategy, "-k", 5, "--lambda", 16, "-o", tmp_path / "model.json"]
    named = ["--names", CORPORA / "parses/names.txt.zst", "--include", ",".join(names)]
    command("select", TRAIN, *asked, *named)
    assert facts(tmp_path / "ours.json") == facts(tmp_path / "model.json")
    assert by_name.selected_[:2].tolist() == [866, 1085]
    by_number = GreedyRankRLS(5, **options, include=np.array([866, 1085]))
    by_number.fit(train.X, train.y, qid=train.qid)
    assert by_number.weights_.tolist() == by_name.weights_.tolist()


def test_tuning_begins_with_columns_to_include(parses, command):
    train, _ = parses
    model = GreedyRankRLSCV(4, alpha=[16], cv=3, include=[866, "anc:in:PP^NP"])
    model.fit(train.X, train.y, qid=train.qid)
    names = ["--names", CORPORA / "parses/names.txt.zst", "--include", "867,anc:in:PP^NP"]
    asked = ["-k", 4, "--lambda", 16, "--holdout", "folds:3", "--json"]
    found = json.loads(command("tune", TRAIN, *asked, *names))["selection"]
    assert (model.selected_ + 1).tolist() == [step["feature"] for step in found["steps"]]
    assert model.selected_[:2].tolist() == [866, 1085]
    assert model.weights_.tolist() == found["weights"]


def test_training_defaults_are_those_of_the_command(parses, command, tmp_path):
    train, _ = parses
    RankRLS().fit(train.X, train.y, qid=train.qid).to_json(tmp_path / "ours.json")
    named = ["--names", CORPORA / "parses/names.txt.zst", "-o", tmp_path / "model.json"]
    command("train", TRAIN, *named)
    assert facts(tmp_path / "ours.json") == facts(tmp_path / "model.json")


def test_each_loads_the_models_of_the_other(parses, command, tmp_path):
    train, test = parses
    ours, theirs = tmp_path / "ours.json", tmp_path / "theirs.json"
    model = GreedyRankRLS(5, alpha=16.0).fit(train.X, train.y, qid=train.qid)
    model.to_json(ours)
    names = CORPORA / "parses/names.txt.zst"
    command("select", TRAIN, "-k", 5, "--lambda", 16, "--names", names, "-o", theirs)
    assert ours.read_text() == theirs.read_text()
    loaded = GreedyRankRLS.from_json(theirs)
    assert loaded.selected_.tolist() == model.selected_.tolist()
    assert loaded.strategy_ == model.strategy_
    assert loaded.alpha_ == 16.0
    for path in (ours, theirs):
        scores = np.loadtxt(command("predict", path, TEST).splitlines())
        assert np.array_equal(scores, model.predict(test.X))
        assert np.array_equal(scores, loaded.predict(test.X.tocsr()))
        assert np.array_equal(scores, loaded.predict(test.X.toarray()))
    with pytest.raises(ValueError, match=r"model\.json:1:12: expected a model"):
        GreedyRankRLS.from_json('{"schema": 3}')
    with pytest.raises(FileNotFoundError):
        GreedyRankRLS.from_json(tmp_path / "none.json")


@pytest.mark.parametrize("missing", ["mean", "3.5"])
def test_missing_values_are_what_they_were_in_training(missing, command, tmp_path):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(24, 3))
    X[rng.random(X.shape) < 0.3] = np.nan
    X[:6, 1] = np.nan
    qid, y = np.repeat(np.arange(4), 6), rng.integers(0, 3, size=24)
    table, path = tmp_path / "train.csv", tmp_path / "model.json"
    cells = ([*x, *others] for x, *others in zip(X, y, qid, strict=True))
    rows = [",".join(map(str, row)) for row in cells]
    table.write_text("\n".join(["a,b,c,grade,query", *rows]) + "\n")
    named = ["--label", "grade", "--query", "query", "--missing", missing]
    command("train", table, *named, "--lambda", 1, "-o", path)
    scores = np.loadtxt(command("predict", path, table).splitlines())
    model = RankRLS.from_json(path)
    for matrix in (X, sp.csr_array(X), sp.csc_matrix(X)):
        assert np.allclose(model.predict(matrix, qid=qid), scores, rtol=1e-12)
        assert 0 <= model.score(matrix, y, qid=qid) <= 1
        explained = model.explain(matrix, query=2, qid=qid)
        assert np.allclose(explained.scores, scores[explained.rows], rtol=1e-12)
    assert np.isnan(X).any()
    if missing == "mean":
        with pytest.raises(ValueError, match="pass qid"):
            model.predict(X)
    else:
        assert np.allclose(model.predict(X), scores, rtol=1e-12)


def test_training_on_all_features_is_that_of_the_command(parses, command, tmp_path):
    train, test = parses
    model = RankRLS(alpha=16.0).fit(train.X, train.y, qid=train.qid)
    path = tmp_path / "model.json"
    found = json.loads(command("train", TRAIN, "--lambda", 16, "-o", path, "--json"))
    assert model.holdout_error_ == found["lqo_error"]
    assert model.holdout_cindex_ == found["lqo_cindex"]
    scores = np.loadtxt(command("predict", path, TEST).splitlines())
    assert np.array_equal(scores, model.predict(test.X))
    assert np.array_equal(RankRLS.from_json(path).predict(test.X), scores)


def test_tuning_is_that_of_the_command(parses, command, tmp_path):
    train, _ = parses
    model = GreedyRankRLSCV(
        6, alpha=[4, 16], strategy=["bounded", "distil"], cv=3, scoring="cindex", metrics=["map"]
    )
    model.fit(train.X, train.y, qid=train.qid)
    table = tmp_path / "models.json"
    options = [
        "-k",
        6,
        "--lambda",
        "4,16",
        "--strategy",
        "bounded,distil",
        "--holdout",
        "folds:3",
    ]
    options += ["--choose-by", "cindex", "--metrics", "map", "--table", table]
    command("tune", TRAIN, *options)
    rows = json.loads(table.read_text())
    rows = rows["models"] if isinstance(rows, dict) else rows
    assert len(rows) == len(model.cv_results_["feature"])
    assert np.array_equal(
        np.sort([row["value"] for row in rows]), np.sort(model.cv_results_["mean_test_score"])
    )


@pytest.mark.parametrize("name", ["documents", "sentences"])
def test_what_is_not_given_is_chosen_as_by_the_command(name, command):
    folder = CORPORA / name
    X, y, qid, _ = read(folder / "train.svm.zst", names=folder / "names.txt.zst")
    model = GreedyRankRLS(6).fit(X, y, qid=qid)
    found = json.loads(command("select", f"@{name}", "-k", 6, "--json"))
    assert model.choice_ == found["choice"]
    assert [tried["name"] for tried in model.choice_["scale"]] == ["none", "sd", "max"]
    assert model.scale_ == found.get("scale", "none")
    assert model.label_scale_ == found.get("label_scale", "raw")
    assert (model.strategy_, model.alpha_) == (found["strategy"], found["lambda"])
    assert model.weights_.tolist() == found["weights"]
    # Giving the chosen setting gives the same model, and nothing is chosen.
    names = ("alpha", "scale", "label_scale", "strategy")
    given = {each: getattr(model, f"{each}_") for each in names}
    again = GreedyRankRLS(6, **given)
    if model.strategy_ != "distil":
        assert again.fit(X, y, qid=qid).weights_.tolist() == found["weights"]
        assert again.choice_ is None
    search = GreedyRankRLSCV(4, cv=3).fit(X, y, qid=qid)
    tuned = json.loads(command("tune", f"@{name}", "-k", 4, "--holdout", "folds:3", "--json"))
    assert search.choice_ == tuned["choice"]
    assert search.best_score_ == tuned["chosen"]["value"]
    assert search.weights_.tolist() == tuned["selection"]["weights"]
    ridge = RankRLS().fit(X, y, qid=qid)
    trained = json.loads(command("train", f"@{name}", "--json"))
    assert ridge.choice_ == trained["choice"]["tried"]
    assert ridge.scale_ == trained.get("scale", "none")
    assert (ridge.alpha_, ridge.holdout_cindex_) == (
        trained["lambda"],
        trained["holdout"]["cindex"],
    )


def test_lists_narrow_the_choice_as_for_the_command(command):
    X, y, qid, _ = read(CORPORA / "documents" / "train.svm.zst")
    lists = {"scale": ["sd", "max"], "strategy": ["backfit", "bounded"]}
    search = GreedyRankRLSCV(3, cv=3, label_scale="raw", **lists).fit(X, y, qid=qid)
    options = ["--scale", "sd,max", "--strategy", "backfit,bounded", "--label-scale", "raw"]
    options += ["--holdout", "folds:3", "--json"]
    tuned = json.loads(command("tune", "@documents", "-k", 3, *options))
    assert search.choice_ == tuned["choice"]
    assert search.weights_.tolist() == tuned["selection"]["weights"]
    model = GreedyRankRLS(3, label_scale="raw", **lists).fit(X, y, qid=qid)
    assert model.choice_ == search.choice_
    alphas = ["1/64u", "1/4u"]
    model = GreedyRankRLS(3, alpha=alphas, scale="sd").fit(X, y, qid=qid)
    assert [tried["name"] for tried in model.choice_["lambda"]] == alphas
    assert (model.scale_, model.label_scale_) == ("sd", "raw")
    for name, values in {"scale": ["auto", "sd"], "strategy": ["bounded", "bounded"]}.items():
        with pytest.raises(ValueError, match=f"{name}: "):
            GreedyRankRLS(3, **{name: values}).fit(X, y, qid=qid)


def test_a_number_is_the_selection_of_the_paper(command):
    X, y, qid, _ = read(CORPORA / "documents" / "train.svm.zst")
    model = GreedyRankRLS(4, alpha=16).fit(X, y, qid=qid)
    found = json.loads(command("select", "@documents", "-k", 4, "--lambda", 16, "--json"))
    assert model.weights_.tolist() == found["weights"]
    assert (model.scale_, model.label_scale_, model.choice_) == ("none", "raw", None)
