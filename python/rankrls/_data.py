"""Checks users' arguments, and converts them for the compiled part."""

from __future__ import annotations

import copy
import json
import multiprocessing
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence, Set
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
import sklearn
from joblib import cpu_count
from joblib.parallel import get_active_backend
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.utils import assert_all_finite, check_random_state, column_or_1d
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _get_feature_names

from . import _rankrls

GIVE_QUERIES = "pass qid=, one query id a row; of sizes np.repeat(range(len(sizes)), sizes)"
# Cross-validation drops qid unless it is told to route it.
ROUTE_QUERIES = (
    "GridSearchCV and its like drop qid without metadata routing: "
    "sklearn.set_config(enable_metadata_routing=True), and set_fit_request(qid=True) and "
    "set_score_request(qid=True) of the estimator"
)

# Values that parameters may have, in scikit-learn's notation.
COUNT: Any = Interval(Integral, 1, 2**63, closed="left")
NUMBER: Any = Interval(Real, None, None, closed="neither")
RIDGE: list[Any] = [str, Interval(Real, 0, None, closed="neither")]
# Column types of pandas and polars for times.
TIMES = ("date", "time", "duration")
SEED: list[Any] = [Interval(Integral, 0, 2**64, closed="left"), np.random.RandomState, None]
SIZE: list[Any] = [str, Interval(Integral, 1, 2**64, closed="left"), None]
THREADS: list[Any] = [
    Interval(Integral, None, -1, closed="right"),
    Interval(Integral, 1, 4096, closed="both"),
    None,
]


def is_sparse(X: Any) -> bool:
    """Whether `X` is a sparse matrix or array of SciPy."""
    return bool(sp.issparse(X))


def handed(X: Any) -> Any:
    """`X` for scikit-learn, with nan in masked places. Missing times are refused."""
    if is_sparse(X):
        if X.format in ("csr", "csc"):
            # SciPy's own check: its products and conversions trust the indices.
            try:
                X.check_format()
                # It does not check bounds if there are no entries.
                if (X.indptr[1:] < X.indptr[:-1]).any():
                    raise ValueError("indptr must be a non-decreasing sequence")
            except ValueError as error:
                raise ValueError(f"X: not a sound matrix: {error}") from error
            parts = (X.data.flags, X.indices.flags, X.indptr.flags)
            if not all(part.aligned and part.c_contiguous for part in parts):
                return X.copy()
        return X
    if hasattr(X, "columns") and hasattr(X, "to_pandas") and not hasattr(X, "dtypes"):
        # Tables of Arrow and narwhals.
        raise ValueError(
            f"X: expected an array, a sparse matrix, or a frame of pandas or polars, found "
            f"{type(X).__module__}.{type(X).__name__}: pass X.to_pandas()"
        )
    if hasattr(X, "columns"):
        for name, kind in zip(X.columns, X.dtypes, strict=True):
            if str(kind).lower().startswith(TIMES):
                row_values(X[name], len(X), f"X, column {name!r}")
    elif getattr(getattr(X, "dtype", None), "kind", "") in "mM":
        return floats(X, "X")
    return unmasked(X)


def unmasked(values: Any) -> Any:
    """`values`, with nan in masked places, which are missing."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    if not np.ma.is_masked(values):
        return values.data
    kind = np.float64 if values.dtype.kind in "biuf" else object
    filled: NDArray[Any] = np.ma.filled(values.astype(kind), np.nan)
    return filled


def vector(values: Any, name: str) -> Any:
    """An array of one dimension; a column becomes one with a warning, as in scikit-learn."""
    if getattr(values, "ndim", 1) == 2 and values.shape[1] == 1:
        warnings.warn(
            f"{name}: a column was passed where an array of one dimension was expected: "
            "change its shape, for example by ravel()",
            DataConversionWarning,
            stacklevel=2,
        )
        return values.ravel()
    return values


def column_names(X: Any) -> list[str] | None:
    """Names of the columns of a frame, or of data from `read` with names."""
    names = getattr(X, "feature_names", None) if is_sparse(X) else _get_feature_names(X)
    return None if names is None else list(names)


def named(X: Any, given: Any) -> list[str] | None:
    """Names of all columns of `X`: its own, or those that are `given` to `fit`."""
    own = column_names(X)
    own = None if own is None else [text(name, "the name of a column") for name in own]
    if given is None:
        return own if own is None or len(own) == X.shape[1] else None
    found = _names_of(given)
    if found == own:
        return own
    if len(found) != X.shape[1]:
        raise ValueError(
            f"feature_names: expected {X.shape[1]} names, one a column of X, found {len(found)}"
        )
    places: dict[str, int] = {}
    for column, name in enumerate(found):
        if not isinstance(name, str):
            raise ValueError(f"feature_names: expected text, found {name!r} at {column}")
        text(name, "feature_names")
        if own is not None and name != own[column]:
            raise ValueError(
                f"feature_names: column {column} is {own[column]!r} in X, found {name!r}"
            )
        first = places.setdefault(name, column)
        if first != column:
            raise ValueError(
                f"feature_names: expected each name once, found {name!r} at {first} and {column}"
            )
    return [str(name) for name in found]


def _names_of(given: Any) -> list[Any]:
    """Names that stand in an array, or that a fitted transformer has for its output."""
    if hasattr(given, "get_feature_names_out"):
        try:
            return list(given.get_feature_names_out())
        except NotFittedError as error:
            raise ValueError(
                f"feature_names: expected a transformer that is fitted, found {given!r}: a search "
                "fits copies of it, whose names are known after the search"
            ) from error
    if isinstance(given, (str, bytes, Mapping, Set)) or not isinstance(given, Iterable):
        raise ValueError(
            "feature_names: expected a name for each column, or the fitted transformer that X "
            f"comes of, found {given!r}"
        )
    return list(given)


def canonical(X: Any) -> Any:
    """A matrix in the layout of the compiled part.

    Compressed matrices in canonical form and aligned arrays stay as they are. Others are
    copied. The compiled part copies them all, and drops stored zeros.
    """
    if not is_sparse(X):
        return floats(X, "X", ["A"])
    if X.dtype.kind == "c":
        raise ValueError("X: expected numbers: found complex ones")
    if X.dtype != np.float64:
        X = X.astype(np.float64)
    if X.format not in ("csr", "csc"):
        X = X.tocsr()
    # The maker of a matrix may have called it canonical. A new matrix of its arrays checks.
    X = type(X)((X.data, X.indices, X.indptr), shape=X.shape)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def floats(
    values: Any, name: str, layout: Sequence[Literal["C", "A"]] = ("C", "A")
) -> NDArray[np.float64]:
    """Numbers of 64 bits, with nan for a missing time. They are not copied if they already have
    the `layout` of `numpy.require`.
    """
    try:
        array = np.asarray(unmasked(values))
        if array.dtype.kind == "c":
            raise TypeError("found complex ones")
        found = np.require(array, np.float64, layout)
        if array.dtype.kind in "mM":
            # NumPy turns a missing time into a number.
            found[np.isnat(array)] = np.nan
        return found
    except (OverflowError, TypeError, ValueError) as error:
        raise ValueError(f"{name}: expected numbers{wrong_row(values)}: {error}") from error


def wrong_row(values: Any) -> str:
    """The place of the first value that is not a number, in an array of objects."""
    if isinstance(values, np.ndarray) and values.dtype.kind == "O" and values.ndim == 1:
        for row, value in enumerate(values):
            try:
                float(value)
            except (OverflowError, TypeError, ValueError):
                return f", row {row} is {'missing' if is_missing(value) else 'none'}"
    return ""


def row_values(values: Any, rows: int, name: str) -> NDArray[np.float64]:
    """Finite numbers, one a row."""
    try:
        column = column_or_1d(unmasked(values), warn=True)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    if len(column) != rows:
        raise ValueError(f"{name}: expected {rows} numbers, one a row of X, found {len(column)}")
    found = floats(column, name)
    try:
        assert_all_finite(found, input_name=name)
    except ValueError as error:
        row = int(np.argmin(np.isfinite(found)))
        raise ValueError(f"{name}: row {row} is {found[row]}: leave it out. {error}") from None
    return found


def filled(X: Any, codes: NDArray[np.int64], missing: str, n_jobs: int) -> Any:
    """A copy of `X` with numbers for nan: `missing`, or if that is ``mean``, the mean of the
    query. A query without a value gets the mean of the column, and a column without a value
    gets 0.
    """
    if not is_sparse(X):
        X = X.copy()
        columns = np.flatnonzero(np.isnan(X).any(axis=0))
        X[:, columns] = filled(sp.csc_array(X[:, columns]), codes, missing, n_jobs).toarray()
        return X
    X = X.tocsr(copy=True)
    X.sum_duplicates()
    # Only entries of these columns, with the rows of a query together.
    columns = np.unique(X.indices[np.isnan(X.data)])
    entries = np.flatnonzero(np.isin(X.indices, columns))
    places = np.argsort(np.argsort(codes, kind="stable"))
    rows = np.repeat(places, np.diff(X.indptr))[entries]
    owners = np.searchsorted(columns, X.indices[entries])
    order = np.lexsort((rows, owners))
    entries = entries[order]
    parts = {
        "indptr": np.searchsorted(owners[order], np.arange(len(columns) + 1)),
        "indices": rows[order],
        "data": X.data[entries],
    }
    X.data[entries] = _rankrls.fill(parts, np.bincount(codes).tolist(), missing, n_jobs)
    return X


def queries(qid: Any, rows: int) -> tuple[NDArray[np.int64], list[Any]]:
    """The query of each row, as a position in the list of ids, in order of first rows."""
    if qid is None:
        return np.zeros(rows, dtype=np.int64), [0]
    return numbered(qid, rows, "qid", "row of X")


def id_texts(ids: list[Any]) -> list[str]:
    """Query ids as text. An id with the text of an earlier one gets a number, too."""
    names = [text(item, "qid") for item in ids]
    if len(set(names)) < len(names):
        # Ids of two types may have the same text.
        names = [text(repr(item), "qid") for item in ids]
    taken, numbers = set(names), dict.fromkeys(names, 0)
    for place, name in enumerate(names):
        numbers[name] += 1
        if numbers[name] > 1:
            while (numbered := f"{name}~{numbers[name]}") in taken:
                numbers[name] += 1
            taken.add(numbered)
            names[place] = numbered
    return names


def place_of(query: Any, ids: list[Any], qid: Any, codes: NDArray[np.int64]) -> int | None:
    """The position of an id among the distinct ids of `qid`, by the same rules: 3 and 3.0 are
    one, 1 and "1" are two. Times are equal in any unit.
    """
    numbers = {own: place for place, own in enumerate(ids)}
    try:
        found = numbers.get(query)
        if found is None and getattr(query, "ndim", None) == 0 and hasattr(query, "item"):
            found = numbers.get(query.item())
    except TypeError:
        return None
    times = qid.to_numpy() if hasattr(qid, "to_numpy") else qid
    if found is not None or not isinstance(times, np.ndarray) or times.dtype.kind not in "mM":
        return found
    if isinstance(query, (str, Real)) and not isinstance(query, np.timedelta64):
        return None
    try:
        time = query.to_numpy() if hasattr(query, "to_numpy") else query
        equal = times.ravel() == np.asarray(time, dtype=f"{times.dtype.kind}8")
    except (TypeError, ValueError):
        return None
    return int(codes[np.argmax(equal)]) if equal.any() else None


def is_missing(item: Any) -> bool:
    """Whether `item` is missing: None, nan, or `NA` of pandas, which equals nothing."""
    try:
        return item is None or bool(item != item)
    except TypeError:
        return True


def numbered(ids: Any, count: int, name: str, one: str) -> tuple[NDArray[np.int64], list[Any]]:
    """The position of each id among the distinct ids, and these in order of appearance."""
    if isinstance(ids, (Mapping, Set)):
        raise ValueError(f"{name}: expected one id for each {one}, found a {type(ids).__name__}")
    if hasattr(ids, "to_pylist"):
        # An array of Arrow, whose text NumPy does not take.
        ids = ids.to_pylist()
    elif hasattr(ids, "to_numpy"):
        ids = ids.to_numpy()
    elif hasattr(ids, "__array__"):
        ids = np.asanyarray(ids)
    array = vector(ids, name)
    if isinstance(array, np.ndarray) and array.ndim != 1:
        raise ValueError(
            f"{name}: expected one id for each {one}, found an array of shape {array.shape}"
        )
    if isinstance(array, (str, bytes)) or not isinstance(array, Iterable):
        raise ValueError(f"{name}: expected one id for each {one}, found {array!r}")
    # Lists stay as they are: their items may be tuples.
    items = array.tolist() if isinstance(array, np.ndarray) else list(array)
    # Scalars of arrays and tensors are compared by value.
    alone = (hasattr(item, "item") and getattr(item, "ndim", None) == 0 for item in items)
    items = [item.item() if one else item for item, one in zip(items, alone, strict=True)]
    if len(items) != count:
        whole = all(isinstance(item, Integral) for item in items)
        sizes = f". {GIVE_QUERIES}" if name == "qid" and whole and sum(items) == count else ""
        raise ValueError(
            f"{name}: expected {count} ids, one for each {one}, found {len(items)}{sizes}"
        )
    seen: dict[Any, int] = {}
    codes = np.empty(count, dtype=np.int64)
    for place, item in enumerate(items):
        try:
            codes[place] = seen.setdefault(item, len(seen))
        except TypeError as error:
            raise ValueError(f"{name}: expected a hashable id at {place}: {error}") from error
        if is_missing(item):
            raise ValueError(f"{name}: expected an id for each {one}, found {item} at {place}")
    if len(seen) == count > 1 and len({items[0], copy.deepcopy(items[0])}) > 1:
        raise ValueError(
            f"{name}: expected ids that are equal by value, found {type(items[0]).__name__} at 0, "
            "which differs from a copy of itself"
        )
    return codes, list(seen)


def training(
    X: Any,
    y: Any,
    qid: Any,
    teacher: Any = None,
    validation: Any = None,
    *,
    names: list[str] | None = None,
    least: int = 2,
) -> dict[str, Any]:
    """Training data for the compiled part, with at least `least` queries."""
    matrix = canonical(X)
    rows = matrix.shape[0]
    codes, ids = queries(qid, rows)
    if len(ids) < least:
        remedy = GIVE_QUERIES if qid is not None else f"{GIVE_QUERIES}. {ROUTE_QUERIES}"
        raise ValueError(
            f"leave-query-out needs at least {least} queries, found {len(ids)}: {remedy}"
        )
    return {
        "x": matrix,
        "names": names,
        "y": row_values(y, rows, "y"),
        "codes": codes,
        "ids": id_texts(ids),
        "known": ids,
        "teacher": None if teacher is None else row_values(teacher, rows, "teacher"),
        "validation": None if validation is None else canonical(validation),
    }


def row_numbers(values: Any, rows: int, name: str, remedy: str = "") -> NDArray[np.int64]:
    """Row numbers of `X`, from 0."""
    found = floats(values, name)
    wrong = ~((found >= 0) & (found < rows) & (found == np.floor(found)))
    if wrong.any():
        raise ValueError(
            f"{name}: expected rows of X, whole numbers from 0 to {rows - 1}, "
            f"found {found[wrong][0]:g}{remedy}"
        )
    return found.astype(np.int64)


def basis(values: Any, rows: int) -> list[int]:
    """The rows of `X` with a true value. Samplers cut a mask with `X`, unlike row numbers."""
    found = np.asarray(values)
    if found.shape != (rows,) or found.dtype.kind != "b":
        raise ValueError(
            f"basis: expected {rows} times True or False, one for each row of X, found an array of "
            f"{found.dtype} of shape {found.shape}"
        )
    rows_of_basis: list[int] = np.flatnonzero(found).tolist()
    return rows_of_basis


_SPLIT = (
    ". Cross-validation fits on a part of the rows, where the same numbers are other rows: split "
    "the pairs, and fit on each part"
)


def preferences(
    pairs: Any, rows: int, labels: NDArray[np.float64] | None
) -> list[tuple[int, int, float, float]]:
    """Preferred row, other row, magnitude and weight of each pair. Pairs that contradict the
    `labels` of their rows belong to other rows, and are refused.
    """
    given = floats(pairs, "pairs")
    if given.ndim != 2 or given.shape[1] not in (2, 3, 4):
        raise ValueError(
            "pairs: expected the columns preferred, other, and perhaps magnitude and weight, "
            f"found an array of shape {given.shape}"
        )
    compared = row_numbers(given[:, :2], rows, "pairs", _SPLIT)
    amounts = np.ones((len(given), 2))
    amounts[:, : given.shape[1] - 2] = given[:, 2:]
    if labels is not None:
        better = np.sign(labels[compared[:, 0]] - labels[compared[:, 1]]) * np.sign(amounts[:, 0])
        known, wrong = np.count_nonzero(better), np.count_nonzero(better < 0)
        if wrong > known / 4:
            raise ValueError(
                f"pairs: {wrong} of {known} prefer the row with the smaller label, the first at "
                f"{np.argmax(better < 0)}: expected pairs that agree with y; leave y out if it is "
                f"not what they prefer by{_SPLIT}"
            )
    return list(zip(*compared.T.tolist(), *amounts.T.tolist(), strict=True))


# Additions that take about as long as to start a thread on each processor.
_BRIEF = 2**20


def threads(n_jobs: int | None, additions: int = _BRIEF) -> int:
    """The number of threads that `n_jobs` asks for. None means all processors. In a worker of
    joblib or of a pool of processes, and for few `additions`, it means one.
    """
    if additions < _BRIEF:
        return 1
    count = -1 if n_jobs is None else int(n_jobs)
    if count >= 0:
        return count
    # Other workers use the processors already.
    busy = multiprocessing.current_process().daemon or get_active_backend()[0].nesting_level
    return 1 if busy else max(1, cpu_count() + 1 + count)


def seed(random_state: Any) -> int:
    """A seed. None is the command's default."""
    if random_state is None:
        return 1
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def size(max_memory: int | str | None) -> int | None:
    """A number of bytes."""
    if isinstance(max_memory, str):
        return int(_rankrls.memory_size(text(max_memory, "max_memory")))
    return None if max_memory is None else int(max_memory)


def text(value: Any, name: str) -> str:
    """`value` as text that can be written."""
    try:
        found = str(value)
        found.encode()
    except ValueError as error:
        raise ValueError(f"{name}: expected text that UTF-8 can hold: {error}") from error
    return found


def plain(value: Any) -> Any:
    """A parameter for JSON: an array becomes a list."""
    if hasattr(value, "__array__"):
        return np.asarray(value).tolist()
    return list(value) if isinstance(value, Iterable) else float(value)


def document(options: dict[str, Any]) -> str:
    """Options for the compiled part, which reads them from JSON."""
    return json.dumps(options, default=plain)


def check_memory(bytes_needed: int, what: str) -> None:
    """Refuses an array that takes more than the free memory: data may only claim their size."""
    free = _rankrls.free_memory()
    if free is not None and bytes_needed > free:
        raise MemoryError(
            f"{what} takes {bytes_needed:,} bytes, of {free:,} that are free: it has a number for "
            "each column"
        )


def items(values: Any, name: str) -> list[str]:
    """The items of a list, of text with commas, or a single item, each as text."""
    if isinstance(values, str):
        values = values.split(",")
    elif isinstance(values, Real):
        values = [values]
    return [text(each, name).strip() for each in values]


def choices(values: Any, name: str) -> tuple[str | None, list[str]]:
    """A single value, or None for "auto", and the list if there are several values."""
    found = items(values, name)
    if len(found) == 1:
        return None if found[0] == "auto" else found[0], []
    if "auto" in found:
        raise ValueError(f"{name}: 'auto' stands alone; name the values to choose from")
    if len(set(found)) < len(found) or not found:
        raise ValueError(f"{name}: expected each value once, found {found}")
    return None, found


def included(values: Any) -> list[str | int] | None:
    """Columns by names, or by numbers from 0."""
    if values is None:
        return None
    alone = isinstance(values, (str, Integral))
    found: list[str | int] = []
    for each in [values] if alone else values:
        if isinstance(each, str):
            found.append(text(each, "include"))
        elif isinstance(each, Integral) and not isinstance(each, bool) and int(each) >= 0:
            found.append(int(each))
        else:
            raise ValueError(
                f"include: expected names of columns, or numbers from 0 on, found {each!r}"
            )
    return found


def listed(values: Any, name: str) -> str | None:
    """The items as one text, or None."""
    return None if values is None else ",".join(items(values, name))


# From 3.12 on, Python itself skips frames of packages.
_CALLER: dict[str, Any] = {"stacklevel": 3}
if sys.version_info >= (3, 12):
    _CALLER = {
        "skip_file_prefixes": tuple(str(Path(file).parent) for file in (__file__, sklearn.__file__))
    }


def tell(found: Iterable[str]) -> None:
    """Gives warnings to the caller's caller."""
    for message in found:
        warnings.warn(message, UserWarning, **_CALLER)
