"""The demands of scikit-learn on an estimator."""

import subprocess
import sys

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import BaggingRegressor
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    cross_val_predict,
    cross_val_score,
    learning_curve,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import _num_samples

from rankrls import GreedyRankRLS, GreedyRankRLSCV, RankRLS, metrics

# Errors of a fit are raised.
STRICT = {cross_val_score: {"error_score": "raise"}, learning_curve: {"error_score": "raise"}}


def queries_of(X):
    """Scikit-learn's checks know no queries, so every two rows are one."""
    return np.arange(_num_samples(X)) // 2


class WithQueries:
    """Supplies queries to a check without them."""

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
    GreedyCV(n_features_to_select=2, alpha=(1.0, 16.0), cv=2),
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


def test_names_that_no_file_can_hold_are_refused(small):
    X, y, qid = small
    frame = pd.DataFrame(X.toarray(), columns=[f"\ud800 {column}" for column in range(30)])
    with pytest.raises(ValueError, match="the name of a column: expected text that UTF-8 can"):
        GreedyRankRLS(3).fit(frame, y, qid=qid)


def test_queries_are_routed(small):
    X, y, qid = small
    with sklearn.config_context(enable_metadata_routing=True):
        selector = GreedyRankRLS().set_fit_request(qid=True).set_score_request(qid=True)
        search = GridSearchCV(
            Pipeline([("scale", MaxAbsScaler()), ("select", selector)]),
            {"select__n_features_to_select": [1, 3], "select__alpha": [0.1, 1.0]},
            # Older versions of scikit-learn route nothing to a pipeline's own score.
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
    # The last rows are in each part, too.
    for given in (pairs[:60], pairs, pairs[35:55]):
        search = GridSearchCV(
            RankRLS(objective="pairs"), {"alpha": [1.0, 2.0]}, error_score="raise"
        )
        with pytest.raises(ValueError, match="the same numbers are other rows"):
            search.fit(X, y, pairs=given)
    # The whole of X, as in a pipeline.
    pipeline = make_pipeline(MaxAbsScaler(), RankRLS(1.0, objective="pairs"))
    pipeline.fit(X, rankrls__pairs=pairs)
    # Routing would pass them to parts of X and to drawn rows.
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


def neighbours(y, rows):
    """Pairs of neighbouring rows, the better one first."""
    return [[row, row + 1] if y[row] > y[row + 1] else [row + 1, row] for row in range(rows)]


def test_pairs_that_the_labels_of_a_part_contradict_are_refused(small):
    X, y, _ = small
    model = RankRLS(1.0, objective="pairs")
    pairs = neighbours(y, 40)
    assert np.array_equal(model.fit(X, y, pairs=pairs).coef_, model.fit(X, pairs=pairs).coef_)
    # A few contradicting pairs, and pairs of equal labels, are allowed.
    model.fit(X, y, pairs=[*pairs, *(pair[::-1] for pair in pairs[:10])])
    model.fit(X, np.zeros(90), pairs=pairs)
    turned = [[worse, better, -1.0] for better, worse in pairs]
    assert np.allclose(model.fit(X, y, pairs=turned).coef_, model.fit(X, pairs=pairs).coef_)
    for use in (cross_val_score, cross_val_predict, learning_curve):
        shuffled = KFold(3, shuffle=True, random_state=1)
        with pytest.raises(ValueError, match="smaller label.*other rows|whole numbers.*other rows"):
            use(model, X, y, params={"pairs": pairs}, cv=shuffled, **STRICT.get(use, {}))
    drawn = np.random.default_rng(2).integers(0, 90, 90)
    with pytest.raises(ValueError, match="prefer the row with the smaller label"):
        model.fit(X[drawn], y[drawn], pairs=pairs)


def test_pairs_that_a_user_splits_are_fitted(small):
    X, y, _ = small

    class ByRows(RegressorMixin, BaseEstimator):
        """Its first column has the numbers of rows."""

        def __init__(self, pairs=None, with_labels=False):
            self.pairs, self.with_labels = pairs, with_labels

        def fit(self, X, y):
            place = {int(row): at for at, row in enumerate(X[:, 0])}
            pairs = [[place[a], place[b]] for a, b in self.pairs if {a, b} <= place.keys()]
            labels = y if self.with_labels else None
            self.model_ = RankRLS(1.0, objective="pairs").fit(X[:, 1:], labels, pairs=pairs)
            return self

        def predict(self, X):
            return self.model_.predict(X[:, 1:])

    numbered = np.column_stack([np.arange(90), X.toarray()])
    for with_labels in (False, True):
        estimator = ByRows(neighbours(y, 89), with_labels)
        found = cross_val_predict(estimator, numbered, y, cv=KFold(5, shuffle=True, random_state=3))
        assert metrics.score(y, found, qid=np.zeros(90), metric="cindex") > 0.7
        bagged = BaggingRegressor(estimator, 3, bootstrap=False, max_samples=0.7, random_state=0)
        scores = bagged.fit(numbered, y).predict(numbered)
        assert metrics.score(y, scores, qid=np.zeros(90), metric="cindex") > 0.7


def test_what_has_a_value_for_each_row_travels_with_the_rows(small):
    X, y, qid = small
    X, seen = X.toarray(), []

    class Seen(RankRLS):
        def fit(self, X, y=None, *, qid=None, pairs=None, basis=None, holdout=None):
            seen.append((X[:, 0], basis, holdout))
            return super().fit(X, y, qid=qid, basis=basis, holdout=holdout)

    # The first column gives the values that should travel with the row.
    basis, folds = np.arange(90) % 7 < 3, qid % 3
    X[:, 0] = np.where(basis, 10.0, 0.0) + folds
    with sklearn.config_context(enable_metadata_routing=True):
        model = Seen(1.0, kernel="gaussian", gamma=0.1)
        model.set_fit_request(qid=True, basis=True, holdout=True).set_score_request(qid=True)
        of_rows = {"qid": qid, "basis": basis, "holdout": folds}
        BaggingRegressor(model, 3, random_state=0).fit(X, y, **of_rows)
        params = {**of_rows, "groups": qid}
        cross_val_score(model, X, y, cv=GroupKFold(4), params=params, error_score="raise")
    assert len(seen) == 7
    for column, mask, fold in seen:
        assert np.array_equal(column, np.where(mask, 10.0, 0.0) + fold)
    for name in ("basis", "holdout"):
        # A parameter goes unchanged into every part.
        with pytest.raises(ValueError, match=f"'{name}' parameter"):
            BaggingRegressor(RankRLS(1.0, **{name: of_rows[name]})).fit(X, y)


def test_weights_that_nobody_has_are_taken(small):
    X, y, qid = small
    for kind in (GreedyRankRLS, GreedyRankRLSCV, RankRLS):
        model = kind().fit(X, y, qid=qid, sample_weight=None)
        assert np.array_equal(model.coef_, kind().fit(X, y, qid=qid).coef_)
        assert model.score(X, y, qid=qid, sample_weight=None) > 0.8
        for weights in (np.ones(90), [1.0] * 90, 0):
            with pytest.raises(TypeError, match="sample_weight is not supported"):
                model.fit(X, y, qid=qid, sample_weight=weights)


def test_measures_take_threads_as_they_have_work(monkeypatch):
    threads, compiled = [], metrics._rankrls

    class Recorded:
        def evaluate(self, *arguments):
            threads.append(arguments[-1])
            return compiled.evaluate(*arguments)

        def paired(self, *arguments):
            threads.append(arguments[-1])
            return compiled.paired(*arguments)

    monkeypatch.setattr(metrics, "_rankrls", Recorded())

    def measured(rows, resamples):
        y = np.arange(rows) % 5
        qid = np.arange(rows) // 10
        found = metrics.evaluate(y, -y, qid=qid, metrics="cindex")["cindex"]
        metrics.paired(found, found, resamples=resamples)

    measured(100, 1000)
    assert threads == [1, 1]
    measured(100_000, 1000)
    assert threads[2:] == [joblib.cpu_count()] * 2
    # Other workers keep the other processors busy.
    joblib.Parallel(n_jobs=2, backend="threading")([joblib.delayed(measured)(100_000, 1000)] * 2)
    assert threads[4:] == [1] * 4


WORKERS = """
import multiprocessing, warnings
import numpy as np
warnings.simplefilter("error")
from rankrls import GreedyRankRLS
X = np.random.default_rng(1).normal(size=(60, 8))

def fit(n_jobs):
    from rankrls import _data
    warnings.simplefilter("error")
    y = X[:, 3] - X[:, 5] / 2
    model = GreedyRankRLS(2, alpha=1.0, n_jobs=n_jobs).fit(X, y, qid=np.arange(60) // 5)
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


def test_a_splitter_by_groups_makes_the_folds(small):
    X, y, qid = small
    splitter = GroupKFold(3)
    model = GreedyRankRLSCV(3, alpha=[1.0], cv=splitter).fit(X, y, qid=qid)
    losses = []
    for rest, left_out in splitter.split(X, y, groups=qid):
        without = GreedyRankRLS(3, alpha=1.0).fit(X[rest], y[rest], qid=qid[rest])
        for query in np.unique(qid[left_out]):
            rows = qid == query
            residuals = y[rows] - without.predict(X[rows])
            losses.append(np.square(residuals - residuals.mean()).sum())
    assert np.isclose(model.cv_results_["mean_test_score"][2], -np.mean(losses))
    with pytest.raises(ValueError, match="is in several folds"):
        GreedyRankRLSCV(3, alpha=[1.0], cv=KFold(4)).fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="is in no test part"):
        GreedyRankRLSCV(3, cv=GroupShuffleSplit(1)).fit(X, y, qid=qid)
