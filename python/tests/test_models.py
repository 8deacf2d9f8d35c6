"""Copies of estimators, models in files, and the columns of models."""

import copy
import json
import pickle
import re
import subprocess
import sys

import joblib
import numpy as np
import pandas as pd
import polars
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import rankrls
import rankrls.plot
from rankrls import GreedyRankRLS, GreedyRankRLSCV, RankRLS

NAMES = [f"word {column}" for column in range(30)]
GIVEN = [
    GreedyRankRLS(),
    GreedyRankRLS(50, alpha=1.0),
    GreedyRankRLS(3, alpha="1/64u", strategy="lowmem", scale="max", query_weight="pairs"),
    GreedyRankRLS(
        4,
        strategy="distil",
        label_scale="unit",
        scale="sd",
        query_weight="size",
        refit="cross-fitted",
    ),
    GreedyRankRLS(3, criterion="cindex", convention="letor", strategy="dense"),
    GreedyRankRLS(3, alpha=np.float64(2), strategy="sampled", n_candidates=7, random_state=9),
    GreedyRankRLSCV(3, alpha=[1, "1/4u"], strategy=("dense", "distil"), cv=3, scoring="cindex"),
    GreedyRankRLSCV(3, alpha="1,4", metrics=["map", "cindex"], random_state=5, cv=3),
    RankRLS(),
    RankRLS(0.5, scale="sd", label_scale="unit", query_weight="pairs", solver="primal"),
    RankRLS([1.0, 4.0], holdout="folds:3", random_state=4),
    RankRLS("auto", holdout="folds:4", kernel="gaussian", gamma=0.3),
    RankRLS(2.0, kernel="polynomial", degree=3, coef0=1.0, gamma=0.5, basis=4),
    RankRLS(2.0, basis=40, random_state=3),
    RankRLS(2.0, objective="global", holdout="lpo", keep_pairs=True),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", GIVEN, ids=repr)
def test_copies_keep_all_and_files_the_predictor(estimator, small, tmp_path):
    X, y, qid = small
    frame = pd.DataFrame(X.toarray(), columns=NAMES)
    for twin in (copy.copy(estimator), copy.deepcopy(estimator), pickled(estimator)):
        assert repr(twin) == repr(estimator)
        assert not hasattr(twin, "alpha_")
    model = clone(estimator).set_params(n_jobs=1, max_memory="1GiB").fit(frame, y, qid=qid)
    text = model.to_json(tmp_path / "model.json")
    joblib.dump(model, tmp_path / "model.joblib")
    copies = [copy.copy(model), copy.deepcopy(model), pickled(model)]
    for twin in [*copies, joblib.load(tmp_path / "model.joblib")]:
        assert repr(twin) == repr(model)
        assert vars(twin).keys() == vars(model).keys()
        assert np.array_equal(twin.predict(frame), model.predict(frame))
        assert twin.to_json() == text
        assert clone(twin).fit(frame, y, qid=qid).to_json() == text
    loaded = type(model).from_json(tmp_path / "model.json")
    for each in (loaded, pickled(loaded)):
        assert repr(each) == f"{type(model).__name__}()"
        assert each.feature_names_in_.tolist() == NAMES
        assert np.array_equal(each.predict(frame), model.predict(frame))
        assert each.score(frame, y, qid=qid) == model.score(frame, y, qid=qid)
        assert (each.to_json(), each.alpha_) == (text, model.alpha_)
    if isinstance(model, RankRLS):
        return
    for name in ("selected_", "weights_", "ranking_", "support_", "lqo_error_path_", "coef_"):
        assert np.array_equal(getattr(loaded, name), getattr(model, name))
    assert loaded.get_feature_names_out().tolist() == model.get_feature_names_out().tolist()
    assert loaded.path_.features.tolist() == model.path_.features.tolist()
    assert (loaded.strategy_, loaded.refit_alpha_) == (model.strategy_, model.refit_alpha_)
    assert rankrls.plot.path(loaded) is not None


def pickled(estimator):
    return pickle.loads(pickle.dumps(estimator))


def test_a_precomputed_kernel_comes_back(small):
    X, y, qid = small
    K = (X @ X.T).toarray()
    model = RankRLS(1.0, kernel="precomputed").fit(K, y, qid=qid)
    assert not hasattr(model, "coef_")
    assert np.array_equal(pickled(model).predict(K), model.predict(K))
    assert np.array_equal(RankRLS.from_json(model.to_json()).predict(K), model.predict(K))


MODELS = [GreedyRankRLS(4), GreedyRankRLSCV(4, alpha=[1.0], cv=3), RankRLS(1.0)]
FRAMES = [pd.DataFrame, polars.DataFrame]


def framed(kind, X, names=NAMES):
    dense = X.toarray()
    return kind({name: dense[:, place] for place, name in enumerate(names)})


@pytest.mark.parametrize("frames", FRAMES)
@pytest.mark.parametrize("estimator", MODELS, ids=repr)
def test_other_names_and_orders_are_refused_of_a_loaded_model(estimator, frames, small):
    X, y, qid = small
    frame = framed(frames, X)
    model = clone(estimator).fit(frame, y, qid=qid)
    loaded = type(model).from_json(model.to_json())
    assert np.array_equal(loaded.predict(frame), model.predict(frame))
    renamed = framed(frames, X, [f"other {name}" for name in NAMES])
    for wrong in (frame[NAMES[::-1]], renamed, frame[NAMES[:-1]]):
        for use in (loaded.predict, model.predict, getattr(loaded, "transform", loaded.predict)):
            with pytest.raises(ValueError, match="feature names should match|has 29 features"):
                use(wrong)


@pytest.mark.parametrize("frames", FRAMES)
@pytest.mark.parametrize("estimator", MODELS, ids=repr)
def test_the_selected_columns_are_enough(estimator, frames, small):
    X, y, qid = small
    frame = framed(frames, X)
    model = clone(estimator).fit(frame, y, qid=qid)
    loaded = type(model).from_json(model.to_json())
    features = [NAMES[feature] for feature in model.coef_.nonzero()[0]]
    # All columns are compared with the training data's, in their order.
    for own in (features,) if isinstance(model, RankRLS) else (features, features[::-1]):
        for each in (loaded, model):
            assert np.allclose(
                each.predict(frame[own]), model.predict(frame), rtol=1e-12, atol=1e-15
            )
            explained = each.explain(frame[own], qid=qid, query=3)
            assert np.allclose(
                explained.contributions, model.explain(frame, qid=qid, query=3).contributions
            )
    if isinstance(model, RankRLS):
        return
    with pytest.raises(ValueError, match="feature names should match|features"):
        loaded.predict(frame[features[1:]])
    # Without names, the columns are unknown.
    with pytest.raises(ValueError, match="features"):
        loaded.predict(model.transform(X.toarray()))


def table(path, names, X, y, qid):
    frame = pd.DataFrame(X, columns=names)
    frame.assign(grade=y, query=qid).to_csv(path, index=False)
    return frame


def test_names_of_a_model_of_the_command_hold_for_frames(small, command, tmp_path):
    X, y, qid = small
    X = X.toarray()[:, :10]
    names = [f"f{column}" for column in range(10)]
    frame = table(tmp_path / "train.csv", names, X, y, qid)
    path = tmp_path / "model.json"
    named = ["--label", "grade", "--query", "query"]
    command("select", tmp_path / "train.csv", *named, "-k", 3, "--lambda", 1, "-o", path, "-q")
    scores = np.loadtxt(command("predict", path, tmp_path / "train.csv").splitlines())
    model = GreedyRankRLS.from_json(path)
    chosen = [names[feature] for feature in sorted(model.selected_)]
    assert model.get_feature_names_out().tolist() == chosen
    assert np.array_equal(model.predict(frame), scores)
    # Columns of other names are left out, as in the command.
    for more in (frame[chosen], frame.assign(other=1.0), frame.assign(other=1.0)[chosen[::-1]]):
        assert np.allclose(model.predict(more), scores, rtol=1e-12)
    for wrong in (frame[names[::-1]], frame.rename(columns={chosen[1]: "renamed"})):
        for use in (model.predict, model.transform):
            with pytest.raises(ValueError, match="feature names should match"):
                use(wrong)


def test_data_of_another_corpus_are_refused(small, tmp_path):
    X, y, qid = small
    for corpus, names in (("a", NAMES), ("b", NAMES[5:] + NAMES[:5])):
        rankrls.write(tmp_path / f"{corpus}.svm", X, y, qid=qid)
        rankrls.write(tmp_path / f"{corpus}-test.svm", X, y, qid=qid)
        (tmp_path / f"{corpus}.names.txt").write_text("\n".join(names) + "\n")
    own, other = (rankrls.read(tmp_path / f"{name}.svm") for name in "ab")
    assert own.feature_names.tolist() == NAMES
    test = rankrls.read(tmp_path / "a-test.svm", n_features=30)
    for estimator in (GreedyRankRLS(4), RankRLS(1.0)):
        fitted = estimator.fit(own.X, y, qid=qid)
        for model in (fitted, type(fitted).from_json(fitted.to_json())):
            assert np.array_equal(model.predict(test.X), fitted.predict(X))
            for use in (model.predict, getattr(model, "transform", model.predict)):
                with pytest.raises(ValueError, match="of another corpus"):
                    use(other.X)
    (tmp_path / "a.names.txt").write_text("c0\n")
    with pytest.raises(
        ValueError, match=r"a\.names\.txt: expected at least 30 names, one a column"
    ):
        rankrls.read(tmp_path / "a.svm")


CLAIMS = """
import json, resource, sys
import numpy as np, scipy.sparse as sp
from rankrls import GreedyRankRLS, RankRLS
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
kind = {"greedy": GreedyRankRLS, "ridge": RankRLS, "kernel": RankRLS}[sys.argv[2]]
model = kind.from_json(sys.argv[1])
assert model.n_features_in_ == 4_000_000_000
parts = np.array([1.0, 2.0]), np.array([0, 3]), np.array([0, 1, 2])
X = sp.csr_array(parts, shape=(2, 4 * 10**9))
print(model.predict(X).tolist())
for name in ("coef_", "support_", "ranking_"):
    try:
        getattr(model, name)
    except (AttributeError, MemoryError):
        pass
assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 1 << 20
print("ends")
"""


@pytest.mark.parametrize("name", ["greedy", "ridge", "kernel"])
def test_a_model_takes_no_memory_for_what_it_only_claims(name, tmp_path):
    X = np.array([[1.0, 0, 0, 2], [0, 1, 0, 1], [2, 0, 1, 0], [0, 3, 0, 1]])
    y, qid = [1, 0, 1, 0], [1, 1, 2, 2]
    model = {
        "greedy": GreedyRankRLS(2, alpha=1.0, n_jobs=1),
        "ridge": RankRLS(1.0, n_jobs=1),
        "kernel": RankRLS(1.0, kernel="gaussian", n_jobs=1),
    }[name]
    model.fit(X, y, qid=qid)
    document = json.loads(model.to_json())
    document["data"]["columns"] = 4_000_000_000
    path = tmp_path / "model.json"
    path.write_text(json.dumps(document))
    done = subprocess.run(
        [sys.executable, "-c", CLAIMS, path, name], capture_output=True, text=True
    )
    assert done.stdout.endswith("ends\n"), done.stderr
    expected = model.predict(sp.csr_array(np.array([[1.0, 0, 0, 0], [0, 0, 0, 2]])))
    assert np.allclose(json.loads(done.stdout.splitlines()[0]), expected)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"column_names": ["a"]},
            "column_names: expected 30 names, one a column, or none, found 1",
        ),
        ({"column_names": ["a"] * 30}, r"steps\[0\].name: expected the name of its column"),
        ({"estimator": {"class": "A"}}, "unknown field `estimator`"),
    ],
)
def test_names_of_a_file_are_checked(change, message, small):
    X, y, qid = small
    frame = pd.DataFrame(X.toarray(), columns=NAMES)
    document = json.loads(GreedyRankRLS(3).fit(frame, y, qid=qid).to_json())
    with pytest.raises(ValueError, match=message):
        GreedyRankRLS.from_json(json.dumps({**document, **change}))


def test_an_unfinished_model_of_the_command_warns(small, tmp_path):
    X, y, qid = small
    document = json.loads(GreedyRankRLS(3).fit(X, y, qid=qid).to_json())
    text = json.dumps({**document, "unfinished": {"taken": 3, "asked": 40}})
    path = tmp_path / "model.json.part"
    path.write_text(text)
    told = "is the model of an unfinished run: it has 3 of 40 features"
    for source, name in ((path, re.escape(str(path))), (text, "the document")):
        with pytest.warns(UserWarning, match=f"{name} {told}"):
            model = GreedyRankRLS.from_json(source)
        assert json.loads(model.to_json())["unfinished"] == {"taken": 3, "asked": 40}
