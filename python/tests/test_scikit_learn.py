"""What scikit-learn asks of an estimator."""

import subprocess
import sys

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import BaggingRegressor
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import _num_samples

from rankrls import GreedyRankRLS, GreedyRankRLSCV, RankRLS, metrics


def queries_of(X):
    """Scikit-learn's checks know of no queries: every two rows are one."""
    return np.arange(_num_samples(X)) // 2


class WithQueries:
    """Supplies queries where a check has none."""

    def fit(self, X, y, *, qid=None, **others):
        return super().fit(X, y, qid=queries_of(X) if qid is None else qid, **others)

    def score(self, X, y, *, qid=None, sample_weight=None):
        return super().score(X, y, qid=queries_of(X) if qid is None else qid)


class Greedy(WithQueries, GreedyRankRLS):
    pass


class GreedyCV(WithQueries, GreedyRankRLSCV):
    pass


class Ridged(WithQueries, RankRLS):
    pass


ESTIMATORS = [
    Greedy(n_features_to_select=2),
    GreedyCV(n_features_to_select=2, alphas=(1.0, 16.0), cv=2),
    Ridged(),
    Ridged(kernel="gaussian", gamma=0.1),
    RankRLS(objective="global"),
    RankRLS(objective="global", kernel="polynomial", coef0=1.0),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: type(each).__name__)
@pytest.mark.filterwarnings("ignore")
def test_every_check_of_scikit_learn_passes(estimator):
    results = check_estimator(estimator, on_skip=None, on_fail=None)
    failed = {
        each["check_name"]: each["exception"] for each in results if each["status"] == "failed"
    }
    assert not failed
    assert sum(each["status"] == "passed" for each in results) > 40


@pytest.mark.parametrize("kind", [GreedyRankRLS, GreedyRankRLSCV, RankRLS])
def test_parameters_survive_a_clone(kind):
    estimator = kind(max_memory="1GiB", random_state=3)
    assert clone(estimator).get_params() == estimator.get_params()
    assert repr(estimator) == f"{kind.__name__}(max_memory='1GiB', random_state=3)"


def test_names_and_frames_go_through(small):
    X, y, qid = small
    names = [f"word {column}" for column in range(30)]
    frame = pd.DataFrame(X.toarray(), columns=names)
    model = GreedyRankRLS(3).set_output(transform="pandas").fit(frame, y, qid=qid)
    chosen = [names[column] for column in sorted(model.selected_)]
    assert model.get_feature_names_out().tolist() == chosen
    assert list(model.transform(frame).columns) == chosen
    assert f'"name": "{names[model.selected_[0]]}"' in model.to_json()
    plain = GreedyRankRLS(3).fit(X, y, qid=qid)
    assert sp.issparse(plain.transform(X))
    assert np.array_equal(plain.get_support(indices=True), np.sort(model.selected_))
    assert np.array_equal(plain.predict(X), model.predict(frame))


@pytest.mark.parametrize("kind", [GreedyRankRLS, GreedyRankRLSCV])
def test_names_stand_beside_their_weights(kind, small, tmp_path, monkeypatch):
    X, y, qid = small
    names = [f"word {column}" for column in range(30)]
    model = kind(4).fit(pd.DataFrame(X.toarray(), columns=names), y, qid=qid)
    k = model.n_features_
    found = model.to_frame()
    assert list(found.columns) == ["feature", "name", "weight", "step"]
    assert found.step.tolist() == list(range(1, k + 1))
    assert found.name.tolist() == [names[feature] for feature in found.feature]
    assert found.weight.tolist() == model.coef_[found.feature].tolist()
    assert model.support_.nonzero()[0].tolist() == sorted(found.feature)
    assert model.ranking_[found.feature].tolist() == found.step.tolist()
    assert set(model.ranking_[~model.support_]) == {k + 1}
    model.to_json(tmp_path / "model.json")
    pd.testing.assert_frame_equal(kind.from_json(tmp_path / "model.json").to_frame(), found)
    unnamed = kind(4).fit(X, y, qid=qid).to_frame()
    assert unnamed.name.tolist() == unnamed.feature.astype(str).tolist()
    for name in ("support_", "ranking_", "n_features_"):
        assert not hasattr(kind(), name)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        model.to_frame()


def test_sparse_columns_of_a_frame_are_enough(small):
    X, y, qid = small
    frame = pd.DataFrame.sparse.from_spmatrix(X, columns=[f"word {each}" for each in range(30)])
    model = GreedyRankRLS(3).fit(frame, y, qid=qid)
    chosen = frame[[frame.columns[column] for column in model.selected_]]
    assert np.array_equal(model.predict(chosen), model.predict(frame))


def test_names_that_no_file_can_hold_are_refused_there(small):
    X, y, qid = small
    frame = pd.DataFrame(X.toarray(), columns=[f"\ud800 {column}" for column in range(30)])
    model = GreedyRankRLS(3).fit(frame, y, qid=qid)
    assert model.predict(frame).shape == (90,)
    with pytest.raises(ValueError, match="the name of a column: expected text that UTF-8 can"):
        model.to_json()


def test_queries_are_routed(small):
    X, y, qid = small
    with sklearn.config_context(enable_metadata_routing=True):
        selector = GreedyRankRLS().set_fit_request(qid=True).set_score_request(qid=True)
        search = GridSearchCV(
            Pipeline([("scale", MaxAbsScaler()), ("select", selector)]),
            {"select__n_features_to_select": [1, 3], "select__alpha": [0.1, 1.0]},
            # Of a pipeline's own score, older versions of scikit-learn route nothing.
            scoring=make_scorer(metrics.score, metric="cindex").set_score_request(qid=True),
            cv=GroupKFold(3),
        )
        search.fit(X, y, qid=qid, groups=qid)
        assert search.best_params_["select__n_features_to_select"] == 3
        assert search.best_score_ > 0.8
        columns = ColumnTransformer([("words", selector, list(range(10)))])
        columns.fit(X.toarray(), y, qid=qid)
        assert columns.transform(X.toarray()).shape == (90, 10)
        scores = cross_val_score(
            selector, X, y, cv=GroupKFold(3), params={"qid": qid, "groups": qid}
        )
        assert scores.min() > 0.7
    pipeline = make_pipeline(GreedyRankRLS(3), Ridge())
    pipeline.fit(X, y, greedyrankrls__qid=qid)
    assert pipeline.predict(X).shape == (90,)


def test_selection_in_workers_of_joblib(small):
    X, y, qid = small
    fit = joblib.delayed(lambda k: GreedyRankRLS(k).fit(X, y, qid=qid).selected_.tolist())
    found = joblib.Parallel(n_jobs=2)(fit(k) for k in (1, 2, 3, 4))
    assert found == [found[3][:k] for k in (1, 2, 3, 4)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", [GreedyRankRLS(2, alpha=1.0), RankRLS(1.0)])
def test_ids_that_do_not_arrive_are_said_to_need_routing(estimator, small):
    X, y, _ = small
    message = "set_config.enable_metadata_routing=True"
    with pytest.raises(ValueError, match=message):
        cross_val_score(estimator, X, y, error_score="raise")
    qid = np.repeat(np.arange(15), 6)
    with pytest.raises(ValueError, match=message):
        estimator.fit(X, y, qid=qid).score(X, y)
    search = GridSearchCV(estimator, {"scale": ["none", "sd"]}, cv=3, error_score="raise")
    with pytest.raises(ValueError, match=message):
        search.fit(X, y, qid=qid)


def test_rows_of_another_part_are_refused(small):
    X, y, qid = small
    pairs = np.column_stack([np.arange(90), np.arange(90)[::-1]])
    for given in (pairs[:60], pairs):
        search = GridSearchCV(
            RankRLS(objective="pairs"), {"alpha": [1.0, 2.0]}, error_score="raise"
        )
        with pytest.raises(ValueError, match="the same numbers are other rows"):
            search.fit(X, y, pairs=given)
    # The whole of X, as a pipeline hands it over.
    pipeline = make_pipeline(MaxAbsScaler(), RankRLS(1.0, objective="pairs"))
    pipeline.fit(X, y, rankrls__pairs=pairs)
    # Routing would hand them to parts of X and to rows that were drawn.
    with sklearn.config_context(enable_metadata_routing=True):
        for estimator, name in ((RankRLS(), "pairs"), (GreedyRankRLS(), "X_validation")):
            with pytest.raises(TypeError, match=f"Unexpected args: {{{name!r}}}"):
                estimator.set_fit_request(**{name: True})
        with pytest.raises(TypeError, match="pairs"):
            BaggingRegressor(RankRLS(1.0, objective="pairs")).fit(X, y, pairs=pairs)
        bagged = BaggingRegressor(RankRLS(1.0).set_fit_request(qid=True), 3, random_state=0)
        assert (
            metrics.score(y, bagged.fit(X, y, qid=qid).predict(X), qid=qid, metric="cindex") > 0.8
        )


WORKERS = """
import multiprocessing, warnings
import numpy as np
warnings.simplefilter("error")
from rankrls import GreedyRankRLS
X = np.random.default_rng(1).normal(size=(60, 8))

def fit(n_jobs):
    from rankrls import _data
    warnings.simplefilter("error")
    model = GreedyRankRLS(2, alpha=1.0, n_jobs=n_jobs).fit(X, X[:, 3], qid=np.arange(60) // 5)
    return model.selected_.tolist(), _data.threads(n_jobs)

if __name__ == "__main__":
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            found = pool.map(fit, [None, -1, 3])
        assert [threads for _, threads in found] == [1, 1, 3], found
        assert all(selected == found[0][0] for selected, _ in found)
    print("quiet")
"""


def test_workers_of_a_pool_fit_without_a_word(tmp_path):
    program = tmp_path / "workers.py"
    program.write_text(WORKERS)
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=200)
    assert (done.stdout, done.stderr) == ("quiet\n", "")
