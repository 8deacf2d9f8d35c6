"""RankRLS under kernels, for all pairs and given pairs, compared with the command."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from conftest import PAIRS
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, GroupKFold

from rankrls import GreedyRankRLS, RankRLS

GAUSSIAN = {"kernel": "gaussian", "gamma": 0.3}


@pytest.fixture
def scattered(small):
    """Rows of a query that are not next to each other."""
    X, y, qid = small
    order = np.random.default_rng(5).permutation(90)
    return X.toarray()[order], y[order], qid[order]


def test_a_kernel_has_coefficients_of_rows(scattered):
    X, y, qid = scattered
    K = rbf_kernel(X, gamma=0.3)
    model = RankRLS(alpha=0.5, **GAUSSIAN).fit(X, y, qid=qid)
    assert sorted(model.support_) == list(range(90))
    coefficients = np.empty(90)
    coefficients[model.support_] = model.dual_coef_
    assert np.allclose(model.predict(X), K @ coefficients)
    assert np.array_equal(model.predict(X), model.predict(sp.csr_array(X)))
    with pytest.raises(AttributeError, match=r"coef_ is there for kernel='linear' alone"):
        _ = model.coef_
    given = RankRLS(alpha=0.5, kernel="precomputed").fit(K, y, qid=qid)
    assert np.allclose(given.predict(K[:7]), model.predict(X[:7]))
    assert np.allclose(given.lqo_predictions_, model.lqo_predictions_)
    assert not hasattr(given, "coef_")
    assert given.support_.shape == given.dual_coef_.shape == (90,)
    model.set_params(kernel="linear", holdout="none").fit(X, y, qid=qid)
    assert not hasattr(model, "dual_coef_")
    assert not hasattr(model, "lqo_predictions_")


def test_pairs_are_held_out(scattered):
    X, y, qid = scattered
    model = RankRLS(alpha=2.0, objective="global", keep_pairs=True, **GAUSSIAN).fit(X, y)
    assert model.holdout_pairs_.shape == model.holdout_predictions_.shape == (90 * 89 // 2, 2)
    assert not hasattr(model, "lqo_predictions_")
    assert 0.5 < model.holdout_cindex_ < model.score(X, y)
    within = RankRLS(holdout="lpo", keep_pairs=True).fit(X, y, qid=qid)
    pairs = within.holdout_pairs_
    assert len(pairs) == 15 * 15
    assert np.array_equal(qid[pairs[:, 0]], qid[pairs[:, 1]])
    assert not hasattr(RankRLS(holdout="lpo").fit(X, y, qid=qid), "holdout_predictions_")


def test_given_pairs_need_neither_labels_nor_queries(scattered):
    X, _, qid = scattered
    model = RankRLS(alpha=0.5, objective="pairs").fit(X, pairs=PAIRS)
    assert model.holdout_predictions_.shape == (4,)
    grades = np.zeros(90)
    grades[[3, 7, 40, 89]] = [4.0, 3.0, 2.0, 1.0]
    by_query = RankRLS(alpha=0.5, objective="pairs")
    by_query.fit(X, grades, qid=qid, pairs=np.array(PAIRS))
    assert np.allclose(by_query.coef_, model.coef_)
    assert np.allclose(by_query.holdout_predictions_, model.holdout_predictions_)
    folds = RankRLS(objective="pairs")
    folds.fit(X, pairs=np.array(PAIRS)[:, :2], holdout=[0, 0, 1, 1])
    assert folds.holdout_predictions_.shape == (4,)


BASIS = {"basis": np.isin(np.arange(90), [80, 3, 41, 0, 17])}


@pytest.mark.parametrize(
    ("params", "of_rows"),
    [
        ({"kernel": "polynomial", "gamma": 0.5, "degree": 3, "coef0": 1.0}, {}),
        (GAUSSIAN, BASIS),
        ({}, BASIS),
        ({}, {"holdout": np.arange(90) % 4}),
        ({"objective": "global", "holdout": "lqo"}, {}),
        ({"kernel": "precomputed"}, BASIS),
        ({"kernel": "precomputed", "objective": "global"}, {}),
    ],
)
def test_rows_are_those_of_the_input(params, of_rows, scattered):
    X, y, qid = scattered
    order = np.argsort(qid, kind="stable")
    moved = {name: values[order] for name, values in of_rows.items()}
    given, sorted_ = X, X[order]
    if params.get("kernel") == "precomputed":
        given, sorted_ = X @ X.T, (X @ X.T)[np.ix_(order, order)]
    ours = RankRLS(**params).fit(given, y, qid=qid, **of_rows)
    theirs = RankRLS(**params).fit(sorted_, y[order], qid=qid[order], **moved)
    assert np.allclose(ours.predict(given)[order], theirs.predict(sorted_))
    assert np.isclose(ours.holdout_error_, theirs.holdout_error_)
    if "basis" in of_rows:
        assert np.array_equal(np.sort(ours.support_), [0, 3, 17, 41, 80])
        assert ours.dual_coef_.shape == (5,)
    if hasattr(ours, "holdout_predictions_"):
        assert np.allclose(ours.holdout_predictions_[order], theirs.holdout_predictions_)


def far(X, offset):
    return X + offset


def far_apart(X, offset):
    """Every other row is far away."""
    return X + np.where(np.arange(len(X)) % 2, offset, 0.0)[:, None]


def far_in_one_column(X, offset):
    return X + np.where(np.arange(X.shape[1]) == 2, -offset, 0.0)


def with_an_outlier(X, offset):
    X = X + 3.0
    X[5, 1] = offset
    return X


def far_where_there_is_a_value(X, offset):
    """Most values are 0."""
    kept = np.random.default_rng(1).random(X.shape) < 0.3
    return np.where(kept, X + offset, 0.0)


MOVES = [far, far_apart, far_in_one_column, with_an_outlier, far_where_there_is_a_value]


@pytest.mark.parametrize("gamma", [1e-18, 1e-3, 0.1, 2.0])
@pytest.mark.parametrize("move", MOVES, ids=lambda move: move.__name__)
def test_a_gaussian_kernel_has_its_digits_wherever_rows_are(move, gamma):
    rng = np.random.default_rng(7)
    X = rng.integers(-64, 64, size=(40, 6)) / 32
    y = rng.normal(size=40)
    for offset in (0.0, 1e2, 1e5, 1e8, 1e12, 1e160):
        A = move(X, offset)
        K = np.exp(-gamma * ((A[:, None] - A[None]) ** 2).sum(axis=2))
        model = RankRLS(1.0, objective="global", kernel="gaussian", gamma=gamma)
        if not np.isfinite(np.square(A.max(axis=0) - A.min(axis=0)) * gamma).all():
            with pytest.raises(ValueError, match="beyond all numbers"):
                model.fit(A, y)
            continue
        if np.ptp(K) < 1e-9:
            # Equal rows have nothing to learn.
            continue
        model.fit(A, y)
        coefficients = np.empty(40)
        coefficients[model.support_] = model.dual_coef_
        size = np.abs(coefficients).sum()
        for form in (np.asarray, sp.csr_array, sp.csc_array):
            assert np.abs(model.predict(form(A)) - K @ coefficients).max() <= 4e-15 * size
        given = RankRLS(1.0, objective="global", kernel="precomputed").fit(K, y)
        assert np.isclose(given.holdout_error_, model.holdout_error_, rtol=1e-9)


@pytest.mark.parametrize(
    "params",
    [
        GAUSSIAN,
        {"kernel": "polynomial", "gamma": 0.5, "degree": 3, "coef0": 1.0, "basis": 20},
        {"basis": 20, "objective": "global"},
        {"objective": "global"},
        {"objective": "pairs"},
        {"objective": "pairs", **GAUSSIAN},
        {"holdout": "lpo"},
        {"holdout": "auto", "solver": "cg"},
        {"holdout": "folds:4", "random_state": 7},
    ],
)
def test_models_are_those_of_the_command(params, scattered, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y, qid = scattered
    # A column that only distinguishes queries.
    X = np.column_stack([X, qid])
    if params.get("objective") == "pairs":
        y = y.copy()
        y[[4, 61, 89]] -= 9.0
    with open("data.svm", "w") as file:
        for row, label, query in zip(X.tolist(), y.tolist(), qid, strict=True):
            entries = (f"{column}:{value!r}" for column, value in enumerate(row, 1) if value)
            print(repr(label), f"qid:{query}", *entries, file=file)
    with open("pairs.txt", "w") as file:
        for preferred, other, *amounts in PAIRS:
            print(preferred + 1, other + 1, *amounts, file=file)
    pairs = PAIRS if params.get("objective") == "pairs" else None
    model = RankRLS(alpha=2.0, keep_pairs=True, **params).fit(X, y, qid=qid, pairs=pairs)
    model.to_json("ours.json")
    names = {"random_state": "seed"}
    # The default of the command, which has no name there.
    given = {names.get(name, name): value for name, value in params.items() if value != "auto"}
    # The command writes a kernel and its parameters as one value.
    kernel = {name: given.pop(name) for name in ("degree", "coef0", "gamma") if name in given}
    if given.get("kernel") == "gaussian" and kernel:
        given["kernel"] += f":{kernel['gamma']}"
    elif given.get("kernel") == "polynomial" and kernel:
        parts = (kernel.get("degree", 2), kernel.get("coef0", 0), kernel.get("gamma", 1))
        given["kernel"] += "".join(f":{part}" for part in parts)
    options = [f"--{name}={value}" for name, value in given.items()]
    if pairs is not None:
        options += ["--pairs", "pairs.txt"]
    options += ["--lambda", 2, "--holdout-scores", "out.txt"]
    found = json.loads(command("train", "data.svm", "-o", "theirs.json", "--json", *options))
    assert Path("ours.json").read_text() == Path("theirs.json").read_text()
    held_out = np.loadtxt("out.txt")
    if held_out.ndim == 2:
        assert np.array_equal(held_out[:, :2] - 1, model.holdout_pairs_)
        held_out = held_out[:, 2:]
    assert np.array_equal(held_out, model.holdout_predictions_)
    assert model.holdout_error_ == found["holdout"]["squared"]
    assert model.holdout_cindex_ == found["holdout"]["cindex"]
    scores = np.loadtxt(command("predict", "ours.json", "data.svm").splitlines())
    loaded = RankRLS.from_json("theirs.json")
    assert np.allclose(scores, model.predict(X), rtol=1e-13, atol=1e-13)
    assert np.array_equal(loaded.predict(X), model.predict(X))
    assert loaded.alpha_ == 2.0
    assert loaded.score(X, y, qid=qid) == model.score(X, y, qid=qid)
    if model.objective != "query":
        assert np.isclose(loaded.score(X, y), model.score(X, y), atol=1e-12)
    assert pickle.loads(pickle.dumps(model)).to_json() == model.to_json()
    assert loaded.to_json() == Path("theirs.json").read_text()
    if model.kernel != "linear":
        with pytest.raises(ValueError, match="load it by RankRLS"):
            GreedyRankRLS.from_json("theirs.json")


def test_gamma_is_searched(small):
    X, y, qid = small
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = RankRLS(kernel="gaussian").set_fit_request(qid=True).set_score_request(qid=True)
        grid = {"gamma": [1e-3, 0.1, 10.0], "alpha": [0.1, 10.0]}
        search = GridSearchCV(ranker, grid, cv=GroupKFold(3)).fit(X, y, qid=qid, groups=qid)
        assert search.best_score_ > 0.7
        assert search.best_params_["gamma"] < 10.0
        # Columns are split with the rows.
        given = clone(ranker).set_params(kernel="precomputed")
        K = rbf_kernel(X, gamma=search.best_params_["gamma"])
        grid = {"alpha": [search.best_params_["alpha"]]}
        again = GridSearchCV(given, grid, cv=GroupKFold(3)).fit(K, y, qid=qid, groups=qid)
        assert np.isclose(again.best_score_, search.best_score_)
