"""Hostile data cause an error that names the fault, or the answer to a sound copy.

RANKRLS_EXAMPLES=10000 tries so many random examples in each test, not the same 100.
"""

import os
import tempfile
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import rankrls
from rankrls import GreedyRankRLS, GreedyRankRLSCV, RankRLS, _data, metrics

EXAMPLES = os.environ.get("RANKRLS_EXAMPLES")
hostile = settings(
    max_examples=int(EXAMPLES or 100),
    derandomize=EXAMPLES is None,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
ROWS, COLUMNS = 12, 4
RNG = np.random.default_rng(1)
# Sums of a few of these are exact.
SOUND = np.where(RNG.random((ROWS, COLUMNS)) < 0.6, RNG.integers(-8, 9, (ROWS, COLUMNS)) / 4, 0.0)
Y = SOUND @ [2.0, -1.0, 0.0, 0.5] + RNG.integers(0, 3, ROWS) / 2
QID = np.arange(ROWS) // 3

MODELS = {
    "greedy": lambda: GreedyRankRLS(2, alpha=1.0, n_jobs=1),
    "cv": lambda: GreedyRankRLSCV(2, alpha=[1.0], cv=2, n_jobs=1),
    "ridge": lambda: RankRLS(1.0, n_jobs=1),
    "kernel": lambda: RankRLS(1.0, kernel="gaussian", n_jobs=1),
}
FITTED = {name: model().fit(SOUND, Y, qid=QID) for name, model in MODELS.items()}


def written(X, y, qid=None):
    with tempfile.TemporaryDirectory() as folder:
        place = os.path.join(folder, "data.svm")
        rankrls.write(place, X, y, qid=qid)
        again = rankrls.read(place, n_features=COLUMNS)
    return again.X.toarray(), again.y, np.flatnonzero(again.qid[1:] != again.qid[:-1])


# Functions that take training data, and functions that take rows.
FITS = {
    name: lambda *data, make=make, **queries: make().fit(*data, **queries).predict(SOUND)
    for name, make in MODELS.items()
} | {"written": written}
USES = {
    f"{use} {name}": getattr(model, use)
    for name, model in FITTED.items()
    for use in ("predict", "transform", "explain")
    if hasattr(model, use) and (use, name) != ("explain", "kernel")
}


def answer(call, *arguments, **keywords):
    """Its result as numbers, or `None` for an error that users see."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = call(*arguments, **keywords)
        except UnicodeError:
            # It names no argument.
            raise
        except (ValueError, TypeError, MemoryError):
            return None
    if isinstance(found, rankrls.Explanation):
        found = found.rows, found.scores, found.contributions
    found = found if isinstance(found, tuple) else (found,)
    return [part.toarray() if sp.issparse(part) else np.asarray(part) for part in found]


def same(found, expected):
    assert (found is None) == (expected is None), (found, expected)
    for one, other in zip(found or [], expected or [], strict=True):
        if one.dtype.kind == "f":
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
        else:
            assert one.tolist() == other.tolist()


def strided(array, step):
    """The same numbers, `step` places apart."""
    wide = np.zeros(abs(step) * max(1, len(array)), array.dtype)
    wide[::step][: len(array)] = array
    return wide[::step][: len(array)]


def unaligned(array):
    place = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    place[...] = array
    return place


LAYOUTS = st.sampled_from(
    [
        np.copy,
        unaligned,
        lambda array: strided(array, 2),
        lambda array: strided(array, -1),
        lambda array: strided(array, -3),
        lambda array: array.astype(array.dtype.newbyteorder(">")),
        lambda array: unaligned(array.astype(array.dtype.newbyteorder(">"))),
    ]
)


@st.composite
def parts(draw, rows=ROWS):
    """The parts of a compressed matrix: sound, or with one fault."""
    by_row = draw(st.booleans())
    outer, inner = (rows, COLUMNS) if by_row else (COLUMNS, rows)
    sizes = draw(st.lists(st.integers(0, inner + 1), min_size=outer, max_size=outer))
    starts, count = np.cumsum([0, *sizes]), sum(sizes)
    # In any order, and some repeated.
    places = draw(st.lists(st.integers(0, inner - 1), min_size=count, max_size=count))
    values = draw(st.lists(st.integers(-8, 8), min_size=count, max_size=count))
    data, places = np.array(values) / 4, np.array(places, dtype=np.int64)
    numbers = st.sampled_from([-1, 0, 1, inner - 1, inner, count + 1, 2**31 - 1, 2**40, -(2**63)])
    what = draw(st.sampled_from(["sound"] * 3 + ["places", "starts", "cut", "kind", "more"]))
    if what in ("places", "starts"):
        array = places if what == "places" else starts
        assume(len(array))
        array[draw(st.integers(0, len(array) - 1))] = draw(numbers)
    found = {"data": data, "indices": places, "indptr": starts}
    name = draw(st.sampled_from(sorted(found)))
    if what == "cut":
        found[name] = found[name][: draw(st.integers(0, len(found[name])))]
    if what == "kind":
        found[name] = found[name].astype(draw(st.sampled_from(["f8", "c16", "O", "U9", "?"])))
    if what == "more":
        found[name] = np.append(found[name], found[name][-3:])
    kinds = st.sampled_from(["i8", "i4", "u8", "u4", "i2"])
    for name, array in found.items():
        if array.dtype.kind == "i":
            kind = draw(kinds)
            fits = (array.astype(kind) == array).all()
            array = array.astype(kind) if fits else array
        found[name] = array if array.dtype.kind in "O" else draw(LAYOUTS)(array)
    return by_row, found, draw(st.booleans()), draw(st.booleans())


def matrix(by_row, found, canonical, array, rows=ROWS):
    """A matrix of SciPy with these parts, even if SciPy would refuse them."""
    format = ("csr" if by_row else "csc") + ("_array" if array else "_matrix")
    X = getattr(sp, format)((rows, COLUMNS))
    X.data, X.indices, X.indptr = (found[name] for name in ("data", "indices", "indptr"))
    X.has_canonical_format = X.has_sorted_indices = canonical
    return X


def meant(by_row, found, rows=ROWS):
    """The same as an array, if the parts are sound. Repeated entries add up."""
    if found["data"].dtype.kind == "c":
        return None
    data, places, starts = (found[name].tolist() for name in ("data", "indices", "indptr"))
    outer, inner = (rows, COLUMNS) if by_row else (COLUMNS, rows)
    if found["indices"].dtype.kind not in "iu" or found["indptr"].dtype.kind not in "iu":
        return None
    if len(starts) != outer + 1 or starts[0] != 0 or sorted(starts) != starts:
        return None
    if starts[-1] > min(len(data), len(places)):
        return None
    dense = np.zeros((outer, inner))
    for line in range(outer):
        for entry in range(starts[line], starts[line + 1]):
            if not 0 <= places[entry] < inner:
                return None
            dense[line, places[entry]] += float(data[entry])
    return dense if by_row else dense.T.copy()


@hostile
@given(parts(), st.sampled_from(sorted(FITS) + sorted(USES)))
def test_a_matrix_made_by_hand_is_refused_or_means_what_its_parts_mean(made, use):
    X, dense = matrix(*made), meant(*made[:2])
    queries = {"qid": QID} if use in FITS else {}
    call = {**FITS, **USES}[use]
    labels = (Y,) if use in FITS else ()
    expected = None if dense is None else answer(call, dense, *labels, **queries)
    found = answer(call, X, *labels, **queries)
    # SciPy turns numbers of other types into indices.
    whole = all(made[1][name].dtype.kind in "iu" for name in ("indices", "indptr"))
    if found is not None and whole:
        same(found, expected)


NUMBERS = st.one_of(
    st.integers(-3, 3),
    st.sampled_from([2**31, 2**63, 2**64 + 1, 2**70, -(2**63), 10**400]),
    st.floats(),
    st.sampled_from([None, "1", "a", "\ud800", 1j, b"1", (), (1, 2), object(), True]),
)


@st.composite
def vectors(draw, sound):
    """An array of other types, strides and shapes, or a list with a foreign item."""
    if draw(st.booleans()):
        kinds = ["f8", "f4", "i8", "u2", "c16", "U4", "O", "?", "g", "M8[s]"]
        array = np.asarray(sound).astype(draw(st.sampled_from(kinds)))
        if array.dtype.kind != "O":
            array = draw(LAYOUTS)(array)
        if draw(st.integers(0, 5)) == 0:
            shapes = [(-1, 1), (1, -1), (len(sound) // 2, 2, -1)]
            array = array.reshape(draw(st.sampled_from(shapes)))
        return array
    listed = list(np.asarray(sound).tolist())
    for _ in range(draw(st.integers(0, 3))):
        listed[draw(st.integers(0, len(listed) - 1))] = draw(NUMBERS)
    end = draw(st.sampled_from([None, None, 0, 1, -1]))
    return listed[:end]


def plain(values):
    """A sound copy of numbers, or `None` if there is none."""
    if isinstance(values, np.ndarray) and values.dtype.kind == "c":
        return None
    try:
        return np.array(np.asarray(values).tolist(), dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None


@hostile
@given(vectors(Y), st.sampled_from(sorted(FITS)))
def test_labels_are_refused_or_taken_for_what_they_are(y, use):
    found = answer(FITS[use], SOUND, y, qid=QID)
    if isinstance(y, np.ndarray) and y.dtype.kind == "M":
        return
    copy = plain(y)
    same(found, None if copy is None else answer(FITS[use], SOUND, copy, qid=QID))


@hostile
@given(vectors(QID), st.sampled_from(sorted(FITS)))
def test_query_ids_are_refused_or_taken_for_what_they_are(qid, use):
    found = answer(FITS[use], SOUND, Y, qid=qid)
    if found is not None:
        assert len(qid) == ROWS
        # A column counts as its values.
        ids = qid.ravel().tolist() if isinstance(qid, np.ndarray) else qid
        first = list(dict.fromkeys(ids))
        # Numbers in the order of the ids' texts, which folds use.
        names = [name.encode() for name in _data.id_texts(first)]
        order = sorted(names, key=lambda name: (len(name), name))
        numbers = {each: order.index(name) for each, name in zip(first, names, strict=True)}
        same(found, answer(FITS[use], SOUND, Y, qid=[numbers[each] for each in ids]))


@hostile
@given(
    vectors(Y - Y.min()),
    vectors(SOUND[:, 0]),
    st.sampled_from(["cindex", "ndcg@2", "map", "err"]),
)
def test_measures_are_refused_or_those_of_sound_copies(y, scores, metric):
    def measured(y, scores):
        return metrics.evaluate(y, scores, qid=QID, metrics=metric)[metric].per_query

    found = answer(measured, y, scores)
    kinds = [part.dtype.kind for part in (y, scores) if isinstance(part, np.ndarray)]
    if "M" not in kinds:
        copies = plain(y), plain(scores)
        sound = all(copy is not None for copy in copies)
        same(found, answer(measured, *copies) if sound else None)


@hostile
@given(vectors(SOUND[:, 1]), vectors(SOUND[:, 2]), NUMBERS, NUMBERS)
def test_comparisons_are_refused_or_those_of_sound_copies(first, second, confidence, seed):
    def compared(first, second):
        found = metrics.paired(
            first, second, confidence=confidence, random_state=seed, resamples=50
        )
        return np.array([found.difference, found.standard_error, found.p, *found.interval])

    found = answer(compared, first, second)
    if found is not None:
        copies = np.asarray(first, np.float64), np.asarray(second, np.float64)
        same(found, answer(compared, *copies))


@hostile
@given(vectors(Y), vectors(np.arange(ROWS) % 3), vectors([0, 1, 4, 3, 8, 6]))
def test_other_arguments_are_refused_or_taken(teacher, folds, pairs):
    answer(GreedyRankRLS(2, strategy="distil").fit, SOUND, Y, qid=QID, teacher=teacher)
    answer(RankRLS(1.0).fit, SOUND, Y, qid=QID, holdout=folds)
    answer(RankRLS(1.0, kernel="gaussian").fit, SOUND, Y, qid=QID, basis=pairs)
    if isinstance(pairs, np.ndarray) and pairs.ndim == 1:
        pairs = pairs.reshape(-1, 2)
    answer(RankRLS(1.0, objective="pairs").fit, SOUND, pairs=pairs)
    answer(FITTED["greedy"].explain, SOUND, qid=folds, query=0, versus=3)


PARAMETERS = [
    (kind, name)
    for kind in (GreedyRankRLS, GreedyRankRLSCV, RankRLS)
    for name in sorted(kind().get_params())
]


@hostile
@given(st.sampled_from(PARAMETERS), NUMBERS | st.lists(NUMBERS, max_size=3) | st.text(max_size=9))
def test_parameters_are_refused_or_taken(parameter, value):
    kind, name = parameter
    params = {"n_features_to_select": 2} if kind is not RankRLS else {"kernel": "gaussian"}
    answer(kind(**params).set_params(**{name: value}).fit, SOUND, Y, qid=QID)


@pytest.mark.parametrize("use", sorted(USES))
def test_dense_arrays_in_any_layout_are_the_same(use):
    for layout in (
        np.asfortranarray,
        unaligned,
        lambda X: X[::-1].copy()[::-1],
        lambda X: X[:, ::-1].copy()[:, ::-1],
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        lambda X: X.astype(">f8"),
        lambda X: X.astype("g"),
    ):
        same(answer(USES[use], layout(SOUND)), answer(USES[use], SOUND))
        fit = FITS["greedy"]
        same(answer(fit, layout(SOUND), Y, qid=QID), answer(fit, SOUND, Y, qid=QID))
