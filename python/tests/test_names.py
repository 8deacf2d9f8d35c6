"""Names of columns where the data have none: from `fit` to pictures and files."""

import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

import rankrls.plot
from rankrls import GreedyRankRLS, GreedyRankRLSCV, RankRLS

NAMES = [f"word {column}" for column in range(30)]
SELECTORS = [GreedyRankRLS(4, alpha=1.0), GreedyRankRLSCV(4, alpha=[1.0], cv=3)]
ALL = [*SELECTORS, RankRLS(1.0), RankRLS(1.0, objective="global")]
FORMS = [sp.csr_array, sp.csc_matrix, lambda X: X.toarray()]


@pytest.fixture(autouse=True)
def strict():
    """Fitted with names that `fit` was given, data without names are no surprise."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*feature names")
        yield


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("estimator", ALL, ids=repr)
def test_names_that_fit_is_given_are_everywhere(estimator, form, small):
    X, y, qid = small
    plain = clone(estimator).fit(X, y, qid=qid)
    model = clone(estimator).fit(form(X), y, qid=qid, feature_names=np.array(NAMES))
    assert model.feature_names_in_.tolist() == NAMES
    assert np.array_equal(model.predict(form(X)), plain.predict(form(X)))
    why = model.explain(form(X), y, qid=qid, query=3)
    assert why.names == [NAMES[feature] for feature in why.features]
    assert f"  {why.names[np.abs(why.contributions[0]).argmax()]} = " in str(why)
    steps = json.loads(model.to_json())["steps"]
    assert [step["name"] for step in steps] == [NAMES[step["feature"] - 1] for step in steps]
    again = type(model).from_json(model.to_json())
    assert str(again.explain(form(X), y, qid=qid, query=3)) == str(why)
    assert again.to_json() == model.to_json()
    # Frames that name their columns otherwise are refused, and others taken.
    frame = pd.DataFrame(X.toarray(), columns=NAMES)
    for each in (model, again):
        assert np.allclose(each.predict(frame), plain.predict(X))
        with pytest.raises(ValueError, match="feature names should match"):
            each.predict(frame.rename(columns={NAMES[why.features[0]]: "other"}))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("estimator", SELECTORS, ids=repr)
def test_selectors_name_what_they_keep(estimator, form, small):
    X, y, qid = small
    model = clone(estimator).fit(form(X), y, qid=qid, feature_names=NAMES)
    found = model.to_frame()
    assert found.name.tolist() == [NAMES[feature] for feature in model.selected_]
    kept = [NAMES[feature] for feature in sorted(model.selected_)]
    again = type(model).from_json(model.to_json())
    for each in (model, again):
        assert each.get_feature_names_out().tolist() == kept
        assert each.to_frame().equals(found)
    assert sp.issparse(model.transform(X))
    assert isinstance(model.transform(X.toarray()), np.ndarray)
    framed = model.set_output(transform="pandas").transform(X.toarray())
    assert framed.columns.tolist() == kept
    by_name = clone(estimator).set_params(include=[NAMES[7]])
    assert by_name.fit(form(X), y, qid=qid, feature_names=NAMES).selected_[0] == 7


def test_points_have_names(small):
    X, y, qid = small
    search = GreedyRankRLSCV(4, alpha=[1.0, 4.0], cv=3)
    search.fit(X, y, qid=qid, feature_names=["$a$ and a long name of a column", *NAMES[1:]])
    names = [search.feature_names_in_[feature] for feature in search.selected_]
    for ax in (rankrls.plot.path(search), rankrls.plot.tuning(search)):
        assert [text.get_text() for text in ax.texts] == names
        ax.figure.draw_without_rendering()
    model = GreedyRankRLS(1, alpha=1.0, include=[0])
    model.fit(X, y, qid=qid, feature_names=["$a$ and a long name of a column", *NAMES[1:]])
    assert rankrls.plot.path(model).texts[0].get_text() == "$a$ and a long name of …"
    for nameless in (GreedyRankRLS(4, alpha=1.0).fit(X, y, qid=qid), search.path_):
        assert not rankrls.plot.path(nameless).texts
    many = GreedyRankRLS(21, alpha=1.0).fit(X, y, qid=qid, feature_names=NAMES)
    assert not rankrls.plot.path(many).texts


def test_the_command_writes_the_same_model(small, command, tmp_path):
    X, y, qid = small
    rankrls.write(tmp_path / "train.svm", X, y, qid=qid)
    (tmp_path / "given.txt").write_text("\n".join(NAMES) + "\n")
    named = ["--names", tmp_path / "given.txt", "-o", tmp_path / "model.json"]
    command("select", tmp_path / "train.svm", "-k", 4, "--lambda", 1, *named)
    theirs = (tmp_path / "model.json").read_text()
    model = GreedyRankRLS(4, alpha=1.0).fit(X, y, qid=qid, feature_names=NAMES)
    assert json.loads(model.to_json()) == json.loads(theirs)
    loaded = GreedyRankRLS.from_json(tmp_path / "model.json")
    assert loaded.to_frame().equals(model.to_frame())
    (tmp_path / "given.txt").rename(tmp_path / "train.names.txt")
    X = rankrls.read(tmp_path / "train.svm").X
    assert GreedyRankRLS(4, alpha=1.0).fit(X, y, qid=qid).to_json() == model.to_json()


WRONG = [
    (NAMES[:-1], "feature_names: expected 30 names, one a column of X, found 29"),
    ([*NAMES[:-1], 3], "feature_names: expected text, found 3 at 29"),
    ([*NAMES[:-1], None], "feature_names: expected text, found None at 29"),
    ([*NAMES[:-1], NAMES[2]], "expected each name once, found 'word 2' at 2 and 29"),
    ("word", "feature_names: expected a name for each column, or the fitted transformer that X"),
    (7, "feature_names: expected a name for each column, or the fitted transformer that X"),
    (dict.fromkeys(NAMES), "feature_names: expected a name for each column"),
    ([*NAMES[:-1], "\ud800"], "feature_names: expected text that UTF-8 can hold"),
    (CountVectorizer(), "feature_names: expected a transformer that is fitted, found Count"),
]


@pytest.mark.parametrize(("given", "told"), WRONG)
@pytest.mark.parametrize("estimator", ALL[:3], ids=repr)
def test_what_names_no_columns_is_refused(estimator, given, told, small):
    X, y, qid = small
    with pytest.raises(ValueError, match=re.escape(told)):
        clone(estimator).fit(X, y, qid=qid, feature_names=given)


def test_names_of_the_data_stay(small):
    X, y, qid = small
    frame = pd.DataFrame(X.toarray(), columns=NAMES)
    model = GreedyRankRLS(4, alpha=1.0)
    model.fit(frame, y, qid=qid, feature_names=NAMES)
    assert len(json.loads(model.to_json())["column_names"]) == 30
    told = "feature_names: column 0 is 'word 0' in X, found 'word 29'"
    with pytest.raises(ValueError, match=told):
        model.fit(frame, y, qid=qid, feature_names=NAMES[::-1])
    numbered = pd.DataFrame(X.toarray())
    model.fit(numbered, y, qid=qid, feature_names=NAMES)
    assert model.to_frame().name.str.startswith("word").all()
    model.fit(X, y, qid=qid)
    assert not hasattr(model, "feature_names_in_")


def texts():
    """Rows of words and a number, their labels and queries."""
    rng = np.random.default_rng(2)
    words = np.array(["rome", "oslo", "train", "hotel", "night", "spring"])
    rows = [" ".join(rng.choice(words, 3)) for _ in range(60)]
    frame = pd.DataFrame({"text": rows, "price": rng.integers(1, 90, 60).astype(float)})
    return frame, frame.text.str.count("oslo") + frame.price / 100, np.repeat(np.arange(12), 5)


def columns():
    """Sparse columns of them, as scikit-learn makes them."""
    parts = [(CountVectorizer(dtype=float), "text"), (MaxAbsScaler(), ["price"])]
    return make_column_transformer(*parts, sparse_threshold=1.0, verbose_feature_names_out=False)


def test_names_of_the_steps_before_come_through():
    frame, y, qid = texts()
    made, scaler, selector = columns(), MaxAbsScaler(), GreedyRankRLS(2, alpha=0.1)
    pipeline = make_pipeline(made, scaler, selector)
    given = {"greedyrankrls__qid": qid, "greedyrankrls__feature_names": pipeline[:-1]}
    pipeline.fit(frame, y, **given)
    assert sp.issparse(made.transform(frame))
    assert selector.to_frame().name.tolist() == ["oslo", "price"]
    assert selector.feature_names_in_.tolist() == made.get_feature_names_out().tolist()
    assert pipeline.get_feature_names_out().tolist() == ["oslo", "price"]
    assert np.isfinite(pipeline.predict(frame)).all()
    with pytest.raises(ValueError, match="expected 7 names, one a column of X, found 6"):
        selector.fit(
            made.transform(frame), y, qid=qid, feature_names=CountVectorizer().fit(frame.text)
        )
    with sklearn.config_context(enable_metadata_routing=True):
        routed = clone(selector).set_fit_request(qid=True, feature_names=True)
        again = columns()
        make_pipeline(again, routed).fit(frame, y, qid=qid, feature_names=again)
        assert routed.to_frame().name.tolist() == ["oslo", "price"]


def test_names_are_given_after_a_search():
    frame, y, qid = texts()
    with sklearn.config_context(enable_metadata_routing=True):
        selector = GreedyRankRLS(2).set_fit_request(qid=True).set_score_request(qid=True)
        search = GridSearchCV(
            make_pipeline(columns(), selector),
            {"greedyrankrls__alpha": [0.1, 1.0]},
            cv=GroupKFold(3),
            scoring=lambda pipeline, X, y: np.corrcoef(pipeline.predict(X), y)[0, 1],
        )
        best = search.fit(frame, y, qid=qid, groups=qid).best_estimator_
    assert best[-1].to_frame().name.tolist() != ["oslo", "price"]
    best[-1].feature_names_in_ = best[:-1].get_feature_names_out()
    assert best[-1].to_frame().name.tolist() == ["oslo", "price"]
    assert [step["name"] for step in json.loads(best[-1].to_json())["steps"]] == ["oslo", "price"]
    assert np.isfinite(best.predict(frame)).all()
    best[-1].feature_names_in_ = best[:-1].get_feature_names_out()[1:]
    with pytest.raises(ValueError, match="feature_names_in_: expected 7 names, one a column"):
        best[-1].to_frame()
