"""Data in all shapes, and refused data."""

import functools
import json
import resource
import subprocess
import sys

import numpy as np
import pandas as pd
import polars
import pytest
import scipy.sparse as sp
from conftest import PAIRS
from sklearn.exceptions import DataConversionWarning

from rankrls import GreedyRankRLS, GreedyRankRLSCV, RankRLS, _data, metrics, write


def fitted(X, y, **queries):
    model = GreedyRankRLS(5, alpha=0.5).fit(X, y, **queries)
    return model.selected_.tolist(), model.weights_.tolist(), model.lqo_error_path_.tolist()


@pytest.mark.parametrize(
    "form",
    [
        lambda X: X.tocsr(),
        lambda X: X.tocoo(),
        lambda X: sp.csc_matrix(X),
        lambda X: sp.csr_matrix(X),
        lambda X: sp.lil_array(X),
        lambda X: X.toarray(),
        lambda X: np.asfortranarray(X.toarray()),
        lambda X: X.toarray()[:, ::-1].copy()[:, ::-1],
        lambda X: X.toarray().tolist(),
        lambda X: pd.DataFrame(X.toarray()),
        lambda X: polars.DataFrame(X.toarray()),
        lambda X: wide(X),
        lambda X: unsorted(X),
        lambda X: with_zeros(X),
        lambda X: with_zeros(X).tocsr(),
        lambda X: with_zeros(X).tocoo(),
    ],
)
def test_every_form_of_the_data_gives_the_same_bits(form, small):
    X, y, qid = small
    for make in (lambda: GreedyRankRLS(5), lambda: RankRLS(2.0)):
        found, expected = (make().fit(data, y, qid=qid) for data in (form(X), X))
        # Counts and the hash of the data are in it, too.
        assert nameless(found) == nameless(expected)


def nameless(model):
    """Its document without names of columns, which frames have."""
    document = json.loads(model.to_json())
    document.pop("column_names", None)
    for feature in document["steps"]:
        feature.pop("name", None)
    return document


def with_zeros(X):
    """The same with zeros of both signs among its entries."""
    dense, X = X.toarray(), sp.csc_array(np.ones(X.shape))
    X.data[:] = np.where(dense == 0, np.where(np.arange(30) % 2 == 0, 0.0, -0.0), dense).T.ravel()
    assert X.nnz == dense.size
    return X


def wide(X):
    """The same with indices of 64 bits."""
    X = X.copy()
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def unsorted(X):
    """The same with entries in another order, one of them in two parts."""
    X = X.tocoo()
    rows, columns = (np.append(places, places[0]) for places in (X.row, X.col))
    values = np.append(X.data, X.data[0] / 2)
    values[0] /= 2
    order = np.lexsort((np.random.default_rng(1).random(len(rows)), columns))
    bounds = np.searchsorted(columns[order], np.arange(X.shape[1] + 1))
    parts = (values[order], rows[order].astype(np.int32), bounds.astype(np.int32))
    return sp.csc_array(parts, shape=X.shape)


@pytest.mark.parametrize("kind", [np.float32, np.int64, np.int8, bool])
def test_other_numbers_are_converted(kind, small):
    X, y, qid = small
    X = X.copy()
    X.data = np.ceil(4 * X.data)
    narrow = X.astype(kind)
    assert fitted(narrow, y, qid=qid) == fitted(narrow.astype(np.float64), y, qid=qid)
    assert fitted(narrow.tocsr(), y, qid=qid) == fitted(narrow.toarray(), y, qid=qid)


@pytest.mark.parametrize(
    "form",
    [
        lambda qid: [f"query {each}" for each in qid],
        lambda qid: qid.astype(np.float64) / 4,
        lambda qid: [(each, "a") for each in qid.tolist()],
        lambda qid: pd.Series(qid, index=qid[::-1]),
        lambda qid: pd.Series([f"q{each}" for each in qid]),
        lambda qid: polars.Series(qid),
        lambda qid: qid.astype(np.uint8),
        lambda qid: [frozenset([each]) for each in qid.tolist()],
        lambda qid: [Tensor(each) for each in qid],
        lambda qid: Tensor(qid),
    ],
)
def test_queries_are_any_hashable_ids(form, small):
    X, y, qid = small
    assert fitted(X, y, qid=form(qid)) == fitted(X, y, qid=qid)


class Tensor:
    """Values that hash by identity, as PyTorch has them."""

    def __init__(self, values):
        self.values, self.ndim = values, np.ndim(values)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype)

    def item(self):
        return self.values.item()


class Shape:
    """An id that equals only itself."""

    def __init__(self, value):
        self.value, self.ndim = value, 0


class Lone(Shape):
    """A tensor of one number: its comparisons are by value, and it hashes by identity."""

    __hash__ = object.__hash__

    def __init__(self, value):
        self.value, self.ndim = value, 1

    def __eq__(self, other):
        return self.value == other.value


@pytest.mark.parametrize(
    "form",
    [Shape, Lone, lambda value: (Shape(value), 1), lambda value: (1, (Tensor(value),)), object],
)
def test_ids_that_differ_from_their_copies_are_refused(form, small):
    X, y, qid = small

    class Thing:
        def __init__(self, value):
            self.value = value

    form = Thing if form is object else form
    ids = [form(value) for value in qid]
    for fit in (GreedyRankRLS(2).fit, RankRLS().fit):
        with pytest.raises(ValueError, match="qid: expected ids that are equal by value, found"):
            fit(X, y, qid=ids)
    with pytest.raises(ValueError, match="qid: expected ids that are equal by value, found"):
        metrics.evaluate(y, y, qid=ids)
    # One object a query differs from others by identity, as it should.
    things = [form(value) for value in range(15)]
    assert fitted(X, y, qid=[things[value] for value in qid]) == fitted(X, y, qid=qid)


def times(kind):
    """Times in all forms, with a missing time in row 7."""
    array = (np.arange(90) * 7 % 13 + 1).astype(f"{kind}8[s]")
    array[7] = "NaT"
    series = pd.Series(array)
    forms = [array.astype(f"{kind}8[{unit}]") for unit in ("ms", "us", "ns")]
    forms += [array[:, None], series, series.to_frame(), series.astype(object), list(series)]
    forms += [polars.Series(array.astype(f"{kind}8[us]").tolist())]
    if kind == "M":
        forms += [array.astype("M8[D]"), series.dt.tz_localize("UTC"), series.dt.to_period("D")]
    return forms


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["m", "M"])
def test_missing_times_are_refused(kind, small, tmp_path):
    X, y, qid = small
    greedy = GreedyRankRLS(2, alpha=1.0)
    uses = [
        lambda given: greedy.fit(X, given, qid=qid),
        lambda given: RankRLS(1.0).fit(X, given, qid=qid),
        lambda given: GreedyRankRLS(2, strategy="distil").fit(X, y, qid=qid, teacher=given),
        lambda given: metrics.evaluate(given, y, qid=qid, metrics="cindex"),
        lambda given: metrics.evaluate(y, given, qid=qid, metrics="cindex"),
        lambda given: write(tmp_path / "data.svm", X, given, qid=qid),
        lambda given: greedy.fit(X, y, qid=given),
        lambda given: RankRLS(1.0).fit(X, y, qid=qid, holdout=given),
        lambda given: metrics.evaluate(y, y, qid=given, metrics="cindex"),
    ]
    for given in times(kind):
        for use in uses:
            with pytest.raises(ValueError, match=r"row 7 is nan|at 7$|expected numbers"):
                use(given)


@pytest.mark.parametrize("frame", [pd.DataFrame, polars.DataFrame])
@pytest.mark.parametrize("chosen", [slice(None), [2], [2, 0]])
def test_missing_times_are_no_features(frame, chosen, small):
    X, y, qid = small
    sound = pd.DataFrame(X.toarray()[:, :4], columns=list("abcd"))
    sound = sound.apply(lambda column: pd.to_timedelta(np.round(1e6 * column).astype(int), "us"))
    y = sound.c.dt.total_seconds() + y / 100
    model = GreedyRankRLS(1, alpha=1.0).fit(sound, y, qid=qid)
    assert model.selected_.tolist() == [2]
    broken = sound.copy()
    broken.loc[7, "c"] = pd.NaT
    columns = sound.columns[chosen]
    if chosen == slice(None) or len(columns) == 1:
        assert np.array_equal(model.predict(frame(sound[columns])), model.predict(sound))
    for use in (model.predict, lambda X: model.explain(X, qid=qid, query=1)):
        with pytest.raises(ValueError, match="column 'c': row 7 is nan|feature names should match"):
            use(frame(broken[columns]))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array, pd.DataFrame])
@pytest.mark.parametrize("kernel", ["linear", "polynomial"])
def test_scores_beyond_all_numbers_are_refused(form, kernel, small):
    X, y, qid = small
    X = np.round(8 * X.toarray())
    model = RankRLS(1e-3, kernel=kernel).fit(X, y * 1e10, qid=qid)
    far = np.zeros((4, 30))
    far[2, 4], far[3, 9] = 1e305, -1e305
    with pytest.raises(ValueError, match="expected a score for row 2, found"):
        model.predict(form(far))
    if kernel == "linear":
        selected = GreedyRankRLS(3, alpha=1e-3).fit(X, y * 1e10, qid=qid)
        with pytest.raises(ValueError, match="expected a score for row 2, found"):
            selected.predict(form(far))
    assert np.isfinite(model.predict(form(far[:2]))).all()


@pytest.mark.parametrize("label_scale", ["raw", "sqrt-sd"])
def test_labels_too_small_for_their_squares_are_refused(label_scale, small):
    X, y, qid = small
    grades = np.round(4 * y)
    usual = RankRLS(1.0, label_scale=label_scale).fit(X, grades, qid=qid)
    for size in (1e-300, 1e-307, 1e-309, 1e-318, 1e-322):
        for model in (
            RankRLS(1.0, label_scale=label_scale),
            GreedyRankRLS(2, alpha=1.0, label_scale=label_scale),
        ):
            with pytest.raises(ValueError, match="the labels are too small"):
                model.fit(X, size * grades, qid=qid)
    # A single query with such labels is not enough.
    some = np.where(qid == 3, 1e-318, 1.0) * grades
    assert np.isfinite(RankRLS(1.0, label_scale=label_scale).fit(X, some, qid=qid).coef_).all()
    scaled = RankRLS(1.0, label_scale=label_scale).fit(X, 2.0**-200 * grades, qid=qid)
    size = 2.0**-200 if label_scale == "raw" else 2.0**-100
    assert np.allclose(scaled.coef_ / size, usual.coef_, rtol=1e-12)


def test_rows_of_a_query_may_be_anywhere(small):
    X, y, qid = small
    order = np.random.default_rng(1).permutation(90)
    # Queries in order of their first rows, as in files.
    first = np.unique(qid[order], return_index=True)[1]
    place = np.argsort(np.argsort(first))
    sorted_rows = order[np.lexsort((np.arange(90), place[qid[order]]))]
    expected = RankRLS().fit(X.tocsr()[sorted_rows], y[sorted_rows], qid=qid[sorted_rows])
    model = RankRLS().fit(X.tocsr()[order], y[order], qid=qid[order])
    assert np.array_equal(model.coef_, expected.coef_)
    back = np.argsort(order)
    expected_of_row = np.empty(90)
    expected_of_row[sorted_rows] = expected.lqo_predictions_
    assert np.array_equal(model.lqo_predictions_[back], expected_of_row)
    teacher = y + np.random.default_rng(2).normal(size=90)
    options = {"strategy": "distil", "n_features_to_select": 4}
    one, two = GreedyRankRLS(**options), GreedyRankRLS(**options)
    one.fit(X, y, qid=qid, teacher=teacher)
    two.fit(X.tocsr()[order], y[order], qid=qid[order], teacher=teacher[order])
    assert one.selected_.tolist() == two.selected_.tolist()
    assert np.allclose(one.weights_, two.weights_, rtol=1e-9)


LARGE = """
import numpy as np, resource, scipy.sparse as sp
from rankrls import GreedyRankRLS
rows, columns = 4000, 6000
# Each column is one of ten, so that there are ten candidates, and 384 MB of entries.
values = np.random.default_rng(1).normal(size=(10, rows))
data = np.tile(values.ravel(), columns // 10)[: rows * columns]
indices = np.tile(np.arange(rows, dtype=np.int32), columns)
indptr = np.arange(columns + 1, dtype=np.int32) * rows
X = sp.csc_array((data, indices, indptr), shape=(rows, columns))
X.has_canonical_format = True
GreedyRankRLS(1, alpha=1.0).fit(X[:, :10], values[0], qid=np.arange(rows) // 10)
del values
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
model = GreedyRankRLS(5, alpha=1.0).fit(X, data[:rows], qid=np.arange(rows) // 10)
assert len(model.identical_[0]) == columns // 10 - 1
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak)
"""


def test_a_fit_takes_a_copy_of_the_data_and_little_more():
    done = subprocess.run([sys.executable, "-c", LARGE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss > 288 << 10
    # Kilobytes: the copy, of 12 bytes an entry, is 281,250.
    assert int(done.stdout) < 281_250 + 30_000


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize(
    ("part", "place", "value", "message"),
    [
        ("indices", 5, 10**9, "X: .* must be <"),
        ("indices", 5, -1, "X: .* must be >= 0"),
        ("indptr", -1, 10**6, "Last value of index pointer should be"),
    ],
)
def test_places_outside_of_a_matrix_are_refused(small, form, part, place, value, message):
    X, y, qid = small
    greedy, ridge = (model.fit(X, y, qid=qid) for model in (GreedyRankRLS(3), RankRLS(1.0)))
    fit = functools.partial(GreedyRankRLS(3).fit, y=y, qid=qid)
    damaged = X.asformat(form, copy=True)
    getattr(damaged, part)[place] = value
    for use in (greedy.predict, greedy.transform, ridge.predict, fit):
        with pytest.raises(ValueError, match=message):
            use(damaged)


def broken(X, row, column, value):
    X = X.tolil()
    X[row, column] = value
    return X.tocsc()


@pytest.mark.parametrize("form", [sp.csc_array, sp.csr_array, lambda X: X.toarray()])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_named(form, value, small):
    X, y, qid = small
    X = form(broken(X, 17, 4, value))
    for estimator in (GreedyRankRLS(2), GreedyRankRLSCV(2, cv=2), RankRLS()):
        with pytest.raises(ValueError, match="row 17, column 4 is (NaN.*SimpleImputer|inf|-inf)"):
            estimator.fit(X, y, qid=qid)
    model = GreedyRankRLS(2).fit(small[0], y, qid=qid)
    with pytest.raises(ValueError, match="row 17, column 4 is (NaN.*SimpleImputer|inf|-inf)"):
        model.predict(X)


K = np.eye(90)
TIMES = pd.DataFrame({"a": range(90), "b": pd.to_timedelta(range(90), "s")})
TIMES.loc[3, "b"] = pd.NaT
K[3, 5] = 0.5
DATA = [
    ({"y": np.ones(89)}, "y: expected 90 numbers, one a row of X, found 89"),
    ({"y": np.ones((90, 2))}, "1d array"),
    ({"y": np.array(["a"] * 90)}, "y: expected numbers"),
    ({"y": None}, "requires y to be passed"),
    ({"qid": np.zeros(90)}, "at least 2 queries, found 1: pass qid="),
    ({"qid": None}, "at least 2 queries, found 1: pass qid="),
    ({"qid": np.zeros(91)}, "expected 90 ids, one for each row of X, found 91"),
    ({"qid": np.zeros((90, 2))}, "expected one id for each row"),
    ({"qid": np.ma.array(np.arange(90) // 6, mask=np.arange(90) == 4)}, "found None at 4"),
    ({"y": np.ma.array(np.ones(90), mask=np.arange(90) == 4)}, "row 4 is nan"),
    ({"y": np.ma.array(np.ones(90, int), mask=np.arange(90) == 4)}, "row 4 is nan"),
    ({"teacher": np.ma.array(np.ones(90), mask=np.arange(90) == 4)}, "teacher: row 4 is nan"),
    ({"X": np.ma.array(np.ones((90, 3)), mask=np.eye(90, 3))}, "row 0, column 0 is NaN"),
    ({"qid": [None] + [1] * 89}, "an id for each row of X, found None at 0"),
    ({"qid": [1.0] * 89 + [float("nan")]}, "an id for each row of X, found nan at 89"),
    ({"qid": [[1]] + [[2]] * 89}, "expected a hashable id at 0"),
    ({"qid": 7}, "qid: expected one id for each row of X, found 7"),
    ({"qid": "a" * 90}, "qid: expected one id for each row of X, found 'aaa"),
    ({"qid": pd.Series([None, 1] * 45, dtype="Int64")}, "qid: expected .* at 0"),
    ({"qid": ["\ud800", "b"] * 45}, "qid: expected text that UTF-8 can hold"),
    ({"qid": [10**5000, 1] * 45}, "qid: expected text"),
    ({"y": pd.Series([pd.NaT, *pd.to_timedelta(range(89), "s")])}, "y: row 0 is nan"),
    ({"teacher": np.array(["NaT", *range(89)], "m8[s]")}, "teacher: row 0 is nan"),
    ({"X": np.array([["NaT", 1], *[[1, 2]] * 89], "m8[s]")}, "row 0, column 0 is NaN"),
    ({"X": TIMES}, "X, column 'b': row 3 is nan"),
    ({"X": polars.from_pandas(TIMES)}, "X, column 'b': row 3 is nan"),
    ({"qid": np.array(["NaT"] * 90, "M8[s]")}, "found None at 0"),
    ({"teacher": np.ones(3)}, "teacher: expected 90 numbers"),
    ({"teacher": np.full(90, np.nan)}, "teacher: row 0 is nan"),
    ({"teacher": np.ones(90)}, "they teach nothing"),
    ({"callback": 3}, "expected something to call"),
    ({"X": np.ones((90, 3))}, "constant within every query"),
    ({"qid": np.arange(90)}, "has a single row"),
]
PARAMETERS = [
    (
        {"n_jobs": 10**9},
        r"'n_jobs' parameter of GreedyRankRLS must be .*\[1, 4096\] or None. Got 1000",
    ),
    ({"n_jobs": 0}, "'n_jobs' parameter of GreedyRankRLS must be an int .*Got 0"),
    ({"n_jobs": 1.5}, "'n_jobs' parameter of GreedyRankRLS must be an int .*Got 1.5"),
    ({"alpha": None}, "'alpha' parameter .* must be .* a float .*Got None"),
    ({"alpha": -1.0}, r"'alpha' .*a float in the range \(0.0, inf\).* Got -1"),
    ({"alpha": 0}, r"'alpha' .*a float in the range \(0.0, inf\).* Got 0"),
    ({"alpha": float("nan")}, r"'alpha' .*a float in the range \(0.0, inf\).* Got nan"),
    ({"alpha": 10**400}, "alpha: alpha is inf: expected a finite number above 0"),
    ({"alpha": "large"}, 'alpha: expected a number above 0, found "large"'),
    ({"n_features_to_select": 0}, r"'n_features_to_select' .*an int in the range \[1, .*Got 0"),
    ({"n_features_to_select": 2.5}, "'n_features_to_select' .*an int in the range .*Got 2.5"),
    ({"n_features_to_select": True}, "n_features_to_select: .*True"),
    ({"strategy": "best"}, "strategy: .*best"),
    ({"criterion": "auc"}, "criterion: .*auc"),
    ({"criterion": "ndcg@10", "strategy": "bounded"}, "can not judge by ndcg@10"),
    ({"label_scale": "log"}, "label_scale: .*log.*expected one of raw"),
    ({"scale": "unit"}, "scale: "),
    ({"query_weight": "heavy"}, "query_weight: "),
    ({"refit": "twice"}, "refit: .*twice"),
    ({"n_candidates": 0}, r"'n_candidates' .*an int in the range \[1, .*Got 0"),
    ({"n_candidates": 5, "strategy": "dense"}, "can not judge a random subset"),
    ({"max_memory": 1000}, "the classes of columns need .* 1000 bytes are allowed"),
    (
        {"max_memory": 1000, "alpha": 1.0},
        "the classes of columns need .* 1000 bytes are allowed",
    ),
    ({"max_memory": "much"}, "max_memory: "),
    ({"max_memory": -1}, "'max_memory' .* must be an instance of 'str', an int .*Got -1"),
    ({"max_memory": 2**70}, "'max_memory' .* an int in the range .*Got 118"),
    ({"random_state": -1}, "'random_state' .*RandomState' or None. Got -1"),
    ({"random_state": 2**70}, "'random_state' .*RandomState' or None. Got 118"),
    ({"n_candidates": 2**70}, "'n_candidates' .*9223.*Got 118"),
    ({"strategy": "\ud800"}, "strategy: expected text that UTF-8 can hold"),
    ({"refit": 3}, "'refit' .*must be an instance of 'str' or None. Got 3"),
    ({"strategy": "fs-ed"}, "expected grades: at most 16"),
]
GRIDS = [
    ({"max_memory": 1000}, "the classes of columns need"),
    ({"cv": 1}, "'cv' .*must be an int in the range .*implementing 'split'. Got 1"),
    ({"cv": 99}, "99"),
    ({"cv": 2**70}, "'cv' .*must be an int in the range .*implementing 'split'. Got 118"),
    ({"cv": "lqo", "strategy": ["distil"]}, "biased"),
    ({"alpha": []}, "alpha: expected values .* found an empty one"),
    ({"alpha": None}, "'alpha' .*an array-like. Got None"),
    ({"strategy": None}, "'strategy' .*an array-like. Got None"),
    ({"metrics": 3}, "'metrics' .*an array-like. Got 3"),
    ({"alpha": [1, 0]}, "alpha is 0: expected a finite number above 0"),
    ({"scoring": "auc"}, "scoring: "),
    ({"metrics": ["auc"]}, "unknown metric"),
    ({"rule": "first"}, "'rule' parameter of GreedyRankRLSCV must be a str among .*Got 'first'"),
    ({"strategy": ["auto", "distil"]}, "'auto' stands alone"),
    ({"strategy": ["none"]}, "strategy: "),
    ({"scoring": "ndcg@10"}, "needs grades, from 0 on"),
]
RIDGE = [
    ({}, {"qid": None}, r"qid=np.zeros\(90\) compares all rows"),
    ({}, {"qid": np.zeros(90)}, "is not known, as .*or give a number for alpha"),
    ({"solver": "lu"}, {}, "solver: "),
    ({"alpha": None}, {}, "'alpha' parameter of RankRLS must be .*Got None"),
    ({"keep_pairs": "yes"}, {}, "'keep_pairs' .*'bool'.*Got 'yes'"),
    ({"max_memory": 1000}, {}, "the classes of columns need"),
    ({"objective": "all"}, {}, "objective: .*query, global, pairs"),
    ({"kernel": "rbf"}, {}, "kernel: .*linear, gaussian, polynomial, precomputed"),
    ({"kernel": "gaussian", "gamma": 0}, {}, r"'gamma' .*\(0.0, inf\). Got 0"),
    ({"kernel": "gaussian", "gamma": "scale"}, {}, "'gamma' .*a float .*Got 'scale'"),
    ({"kernel": "polynomial", "coef0": -1}, {}, r"'coef0' .*\[0.0, inf\). Got -1"),
    ({"kernel": "polynomial", "degree": 0}, {}, r"'degree' .*\[1, .*Got 0"),
    ({"kernel": "precomputed"}, {}, "90 rows and 30 columns: expected a column for each row"),
    ({"kernel": "precomputed"}, {"X": K}, "not symmetric: .* row 5, column 3 and 0.5 in row 3"),
    ({"kernel": "precomputed"}, {"X": -np.eye(90)}, "the kernel is indefinite"),
    ({"kernel": "gaussian", "solver": "primal"}, {}, "a kernel has the solver dual"),
    ({"kernel": "gaussian", "scale": "sd"}, {}, "scale goes with kernel='linear'"),
    ({"kernel": "gaussian", "max_memory": "100kB"}, {}, "a reduced set fits, with a basis of"),
    ({"basis": 91}, {}, "a basis of 91 rows: expected from 1 to 90"),
    ({"basis": 0}, {}, r"'basis' .*an int in the range \[1, .*or None. Got 0"),
    ({"basis": [3, 89]}, {}, r"'basis' .*an int in the range .*or None. Got \[3, 89\]"),
    ({}, {"basis": [3, 89]}, r"basis: expected 90 times True or False.* of shape \(2,\)"),
    ({}, {"basis": np.ones(90)}, "basis: expected 90 times True or False.* of float64"),
    ({}, {"basis": np.zeros(90, bool)}, "a basis of 0 rows: expected from 1 to 90"),
    ({"basis": 3}, {"basis": np.ones(90, bool)}, "basis: both the parameter and fit have one"),
    ({"holdout": "lqo"}, {"holdout": np.arange(90) % 3}, "holdout: both the parameter and fit"),
    ({"holdout": "loo"}, {}, "holdout: .*expected one of lqo, lpo, folds:N, auto, none"),
    ({"holdout": np.arange(90)}, {}, "'holdout' parameter of RankRLS must be an instance of 'str'"),
    ({}, {"holdout": [0, 1]}, "holdout: expected 90 ids, one for each row of X, found 2"),
    ({}, {"holdout": np.zeros(90)}, "all examples are in one group"),
    ({}, {"holdout": np.full(90, np.nan)}, "expected an id for each row of X, found nan at 0"),
    ({"holdout": "lpo", "solver": "cg"}, {}, "solver cg has no hold-outs by lpo"),
    ({"objective": "global", "query_weight": "size"}, {}, "query_weight goes with objective"),
    ({"objective": "pairs"}, {}, "objective='pairs' and pairs= of fit go together"),
    ({}, {"pairs": PAIRS}, "objective='pairs' and pairs= of fit go together"),
    ({"objective": "pairs"}, {"pairs": [[0, 90]]}, "pairs: expected rows .* to 89, found 90"),
    ({"objective": "pairs"}, {"pairs": [0, 1]}, r"pairs: .* found an array of shape \(2,\)"),
    ({"objective": "pairs"}, {"pairs": [[4, 4]]}, "expected two rows, found row 5 twice"),
    ({"objective": "pairs"}, {"pairs": [[4, 5, 1, 0]]}, "expected a finite weight above 0"),
    (
        {"objective": "pairs", "label_scale": "unit"},
        {"pairs": PAIRS, "y": None},
        "pairs are learnt from",
    ),
    ({"objective": "pairs"}, {"pairs": PAIRS, "y": None, "holdout": [1]}, "4 ids, one for each"),
    (
        {"objective": "pairs", "holdout": "lqo"},
        {"pairs": PAIRS, "y": None},
        "objective pairs has no hold-outs",
    ),
    ({"objective": "pairs"}, {"pairs": [[0, 1]], "y": np.arange(90)}, "1 of 1 prefer the row with"),
    (
        {"objective": "pairs"},
        {"pairs": [[1, 0, -1], [5, 4, 2]], "y": np.arange(90)},
        "1 of 2 prefer the row with the smaller label, the first at 0: expected pairs that agree",
    ),
]
REFUSED = [
    *((GreedyRankRLS, {}, given, message) for given, message in DATA),
    *((GreedyRankRLS, params, {}, message) for params, message in PARAMETERS),
    *((GreedyRankRLSCV, params, {}, message) for params, message in GRIDS),
    *((RankRLS, *row) for row in RIDGE),
]


@pytest.mark.parametrize(("kind", "params", "given", "message"), REFUSED)
def test_what_cannot_be_used_is_refused(kind, params, given, message, small):
    X, y, qid = small
    given = {"X": X, "y": y, "qid": qid, **given}
    usual = {} if kind is RankRLS else {"n_features_to_select": 2}
    if "teacher" in given:
        usual["strategy"] = "distil"
    error = MemoryError if params.get("max_memory") in (1000, "100kB") else ValueError
    with pytest.raises(error, match=message):
        kind(**{**usual, **params}).fit(**given)


def test_too_little_memory_names_what_fits(small):
    _, y, qid = small
    rng = np.random.default_rng(1)
    wide = sp.csc_array(np.where(rng.random((90, 3000)) < 0.3, rng.random((90, 3000)), 0.0))
    with pytest.raises(MemoryError, match="strategy dense needs .*these fit: .*lowmem"):
        GreedyRankRLS(20, alpha=1.0, strategy="dense", max_memory="4MiB").fit(wide, y, qid=qid)


def test_sample_weights_are_refused_with_the_reason(small):
    X, y, qid = small
    with pytest.raises(TypeError, match="only queries can weigh differently"):
        GreedyRankRLS(2).fit(X, y, qid=qid, sample_weight=np.ones(90))
    with pytest.raises(TypeError, match="unexpected keyword argument 'weights'"):
        RankRLS().fit(X, y, qid=qid, weights=np.ones(90))
    with pytest.raises(TypeError, match=r"'group': pass qid=, .* np.repeat"):
        RankRLS().fit(X, y, group=[6] * 15)
    assert GreedyRankRLS(2).fit(X, y, qid=qid, sample_weight=None).n_features_ == 2


def test_degenerate_data(small):
    X, y, qid = small
    with pytest.warns(UserWarning, match="selected 30 features, not 50"):
        assert len(GreedyRankRLS(50).fit(X, y, qid=qid).selected_) == 30
    with pytest.raises(ValueError, match="X has 29 features, but GreedyRankRLS is expecting 30"):
        GreedyRankRLS(2).fit(X, y, qid=qid).predict(X[:, :29])
    model = GreedyRankRLS(2).fit(X, np.zeros(90), qid=qid)
    assert not model.coef_.any()
    with pytest.raises(ValueError, match="score"):
        RankRLS(1e-3).fit(X, y, qid=qid).predict(np.full((1, 30), 1e308))
    with pytest.raises(ValueError, match="column 7 has values too large"):
        GreedyRankRLS(2).fit(broken(X, 3, 7, 1e60), y, qid=qid)


@pytest.mark.parametrize(
    "form",
    [
        lambda qid: qid.reshape(-1, 1),
        lambda qid: pd.DataFrame({"qid": qid}),
        lambda qid: polars.DataFrame({"qid": qid}),
        lambda qid: pd.DataFrame({"qid": [f"q{each}" for each in qid]}),
    ],
)
def test_queries_may_be_a_column_as_labels_may(form, small):
    X, y, qid = small
    with pytest.warns(DataConversionWarning, match="a column was passed"):
        assert fitted(X, y, qid=form(qid)) == fitted(X, y, qid=qid)


def brute_filled(X, qid, missing):
    """By definition, in one loop."""
    X = X.copy()
    for column in X.T:
        holes = np.isnan(column)
        known = column[~holes].mean() if (~holes).any() else 0.0
        means = {}
        for query in set(qid):
            own = column[(np.asarray(qid) == query) & ~holes]
            means[query] = own.mean() if len(own) else known
        column[holes] = [means[query] for query in np.asarray(qid)[holes]]
        if missing != "mean":
            column[holes] = float(missing)
    return X


@pytest.mark.parametrize("missing", ["mean", "2.5"])
@pytest.mark.parametrize("apart", [False, True])
def test_missing_values_are_filled_as_defined(missing, apart):
    rng = np.random.default_rng(2)
    X = np.where(rng.random((60, 12)) < 0.4, rng.normal(size=(60, 12)), 0.0)
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:10, 0] = np.nan
    X[:, 1] = np.nan
    X[:, 2] = 0.25
    qid = np.repeat(np.arange(6), 10)
    qid = rng.permutation(qid) if apart else qid
    codes, _ = _data.numbered(qid, 60, "qid", "row")
    expected = brute_filled(X, qid.tolist(), missing)
    for form in (np.asarray, sp.csr_array, sp.csc_array, sp.csc_matrix):
        given = form(X)
        found = _data.filled(given, codes, missing, 1)
        found = found.toarray() if sp.issparse(found) else found
        assert np.allclose(found, expected, rtol=1e-13, atol=1e-15)
        before = given.toarray() if sp.issparse(given) else given
        assert np.array_equal(before, X, equal_nan=True)


HOLES = """
import numpy as np, resource, scipy.sparse as sp
from rankrls import _data
rows, columns = 3000, 1_000_000
rng = np.random.default_rng(1)
places = rng.integers(0, rows, columns), np.arange(columns)
X = sp.csr_array((rng.normal(size=columns), places), shape=(rows, columns))
codes = np.arange(rows) // 3
for holes in (1, columns):
    X.data[:holes] = np.nan
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = _data.filled(X, codes, "mean", 1)
    assert not np.isnan(found.data).any()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 300_000
"""


def test_missing_values_cost_what_entries_cost():
    # Dense, the columns would be 24 GB.
    done = subprocess.run([sys.executable, "-c", HOLES], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
