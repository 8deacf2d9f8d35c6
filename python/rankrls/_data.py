"""What users hand over, as the compiled part takes it."""

from __future__ import annotations

import json
import multiprocessing
import warnings
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from joblib import cpu_count
from joblib.parallel import get_active_backend
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import assert_all_finite, check_random_state, column_or_1d
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _get_feature_names

from . import _rankrls

GIVE_QUERIES = "pass qid=, one query id a row, or group=, the sizes of consecutive queries"
# What cross-validation passes on only where it was told to.
ROUTE_QUERIES = (
    "GridSearchCV and its like drop qid without metadata routing: "
    "sklearn.set_config(enable_metadata_routing=True), and set_fit_request(qid=True) and "
    "set_score_request(qid=True) of the estimator"
)

# What parameters may be, as scikit-learn checks it.
COUNT: Any = Interval(Integral, 1, 2**63, closed="left")
NUMBER: Any = Interval(Real, None, None, closed="neither")
RIDGE: list[Any] = [str, Interval(Real, 0, None, closed="neither")]
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


def sound(X: Any) -> Any:
    """`X`; if it is sparse, made anew of the same parts, whatever it says of them.

    SciPy's products and conversions believe places and flags. Parts are copied where they are not
    in one piece, aligned and in the order of bytes of the machine. CSR and CSC keep their format.
    """
    if not is_sparse(X):
        return unmasked(X)
    if X.ndim != 2:
        raise ValueError(f"X: expected rows by columns, found an array of shape {X.shape}")
    found = ""
    try:
        if X.format not in ("csr", "csc"):
            X = X.tocoo()
            values, rows, columns = (_part(X, name) for name in ("data", "row", "col"))
            return type(X)((values, (rows, columns)), shape=X.shape).tocsc()
        values, places, starts = (_part(X, name) for name in ("data", "indices", "indptr"))
        found = f"; indices are from {places.min(initial=0)} to {places.max(initial=0)}"
        end = starts.max(initial=0)
        made = type(X)((values[:end], places[:end], starts), shape=X.shape)
        made.check_format(full_check=True)
        # SciPy does not look at them where there are no entries.
        if (starts[1:] < starts[:-1]).any():
            raise ValueError("indptr must be a non-decreasing sequence")
    except ValueError as error:
        raise ValueError(f"X: not a sound matrix: {error}{found}") from error
    return made


def unmasked(values: Any) -> Any:
    """`values`; of an array with a mask, nan in the masked places: they are missing."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    if not np.ma.is_masked(values):
        return values.data
    kind = np.float64 if values.dtype.kind in "biuf" else object
    filled: NDArray[Any] = np.ma.filled(values.astype(kind), np.nan)
    return filled


def vector(values: Any, name: str) -> Any:
    """An array of one dimension; a column becomes one with a warning, as scikit-learn has it."""
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
    """Names of the columns of a frame, or of data that `read_svmlight` has read with names."""
    names = getattr(X, "feature_names", None) if is_sparse(X) else _get_feature_names(X)
    return None if names is None else list(names)


def _part(X: Any, name: str) -> NDArray[Any]:
    part = np.asarray(unmasked(getattr(X, name)))
    kinds, what = ("biufOU", "numbers") if name == "data" else ("iu", "whole numbers")
    if part.ndim != 1 or part.dtype.kind not in kinds:
        raise ValueError(
            f"expected one dimension of {what} as {name}, found {part.dtype} of shape {part.shape}"
        )
    return np.require(part, part.dtype.newbyteorder("="), ["C", "A"])


def canonical(X: Any) -> Any:
    """A sound matrix in the layout that the compiled part takes.

    Compressed matrices in canonical form and aligned arrays stay as they are; others are copied.
    """
    if not is_sparse(X):
        return floats(X, "X", ["A"])
    if X.dtype != np.float64:
        X = X.astype(np.float64)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def floats(
    values: Any, name: str, layout: Sequence[Literal["C", "A"]] = ("C", "A")
) -> NDArray[np.float64]:
    """Numbers of 64 bits, not copied where they have the `layout` of `numpy.require`."""
    try:
        array = np.asarray(unmasked(values))
        if array.dtype.kind == "c":
            raise TypeError("found complex ones")
        return np.require(array, np.float64, layout)
    except (OverflowError, TypeError, ValueError) as error:
        raise ValueError(f"{name}: expected numbers: {error}") from error


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
    """A copy of `X` with numbers for nan: `missing`, or if that is ``mean``, the mean of the query,
    of the column where the query has no value, 0 where the column has none.
    """
    if not is_sparse(X):
        X = X.copy()
        columns = np.flatnonzero(np.isnan(X).any(axis=0))
        X[:, columns] = filled(sp.csc_array(X[:, columns]), codes, missing, n_jobs).toarray()
        return X
    X = X.tocsr(copy=True)
    X.sum_duplicates()
    # Entries of these columns alone, the rows of a query next to each other.
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


def queries(qid: Any, group: Any, rows: int) -> tuple[NDArray[np.int64], list[Any]]:
    """The query of each row, as a position in a list of ids, in order of their first rows."""
    if qid is not None and group is not None:
        raise ValueError("qid and group both say what the queries are: pass one of them")
    if group is not None:
        sizes = vector(floats(group, "group"), "group")
        if sizes.ndim != 1 or not ((sizes >= 1) & (sizes == np.floor(sizes))).all():
            raise ValueError(
                "group: expected the sizes of consecutive queries, whole numbers from 1 on"
            )
        if sizes.sum() != rows:
            raise ValueError(
                f"group: expected sizes that add up to {rows}, the rows of X, found "
                f"{sizes.sum():.0f}"
            )
        codes = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes.astype(np.int64))
        return codes, list(range(len(sizes)))
    if qid is None:
        return np.zeros(rows, dtype=np.int64), [0]
    return numbered(qid, rows, "qid", "row of X")


def id_texts(ids: list[Any]) -> list[str]:
    """Query ids as text."""
    names = [text(item, "qid") for item in ids]
    # Ids of two types may look the same as text.
    return names if len(set(names)) == len(names) else [repr(item) for item in ids]


def numbered(ids: Any, count: int, name: str, one: str) -> tuple[NDArray[np.int64], list[Any]]:
    """The position of each id among the different ones, which follow in order of appearance."""
    array = vector(ids.to_numpy() if hasattr(ids, "to_numpy") else ids, name)
    if isinstance(array, np.ndarray) and array.ndim != 1:
        raise ValueError(
            f"{name}: expected one id for each {one}, found an array of shape {array.shape}"
        )
    if isinstance(array, (str, bytes)) or not isinstance(array, Iterable):
        raise ValueError(f"{name}: expected one id for each {one}, found {array!r}")
    # Lists go as they are: their items may be tuples.
    items = array.tolist() if isinstance(array, np.ndarray) else list(array)
    if len(items) != count:
        raise ValueError(f"{name}: expected {count} ids, one for each {one}, found {len(items)}")
    seen: dict[Any, int] = {}
    codes = np.empty(count, dtype=np.int64)
    for place, item in enumerate(items):
        try:
            codes[place] = seen.setdefault(item, len(seen))
            missing = item is None or bool(item != item)
        except TypeError as error:
            raise ValueError(f"{name}: expected a hashable id at {place}: {error}") from error
        if missing:
            raise ValueError(f"{name}: expected an id for each {one}, found {item} at {place}")
    return codes, list(seen)


def training(
    X: Any,
    y: Any,
    qid: Any,
    group: Any,
    teacher: Any = None,
    validation: Any = None,
    *,
    least: int = 2,
) -> dict[str, Any]:
    """Training data for the compiled part, of at least so many queries."""
    matrix = canonical(X)
    rows = matrix.shape[0]
    codes, ids = queries(qid, group, rows)
    if len(ids) < least:
        remedy = GIVE_QUERIES
        if qid is None and group is None:
            remedy += f". {ROUTE_QUERIES}"
        raise ValueError(
            f"leave-query-out needs at least {least} queries, found {len(ids)}: {remedy}"
        )
    return {
        "x": matrix,
        "y": row_values(y, rows, "y"),
        "codes": codes,
        "ids": id_texts(ids),
        "known": ids,
        "teacher": None if teacher is None else row_values(teacher, rows, "teacher"),
        "validation": None if validation is None else canonical(validation),
    }


def row_numbers(values: Any, rows: int, name: str) -> NDArray[np.int64]:
    """Rows of `X`, from 0."""
    found = floats(values, name)
    wrong = ~((found >= 0) & (found < rows) & (found == np.floor(found)))
    if wrong.any():
        raise ValueError(
            f"{name}: expected rows of X, whole numbers from 0 to {rows - 1}, "
            f"found {found[wrong][0]:g}"
        )
    return found.astype(np.int64)


def basis(values: Any, rows: int) -> int | list[int] | None:
    """A number of rows, or different rows of `X`."""
    if values is None or np.ndim(values) == 0:
        return None if values is None else min(int(values), rows + 1)
    found = row_numbers(values, rows, "basis")
    if found.ndim != 1 or len(np.unique(found)) < len(found):
        raise ValueError("basis: expected a number of rows, or a list with each row once")
    rows_of_basis: list[int] = found.tolist()
    return rows_of_basis


def preferences(pairs: Any, rows: int) -> list[tuple[int, int, float, float]]:
    """Preferred row, other row, magnitude and weight of each pair."""
    given = floats(pairs, "pairs")
    if given.ndim != 2 or given.shape[1] not in (2, 3, 4):
        raise ValueError(
            "pairs: expected the columns preferred, other, and perhaps magnitude and weight, "
            f"found an array of shape {given.shape}"
        )
    compared = row_numbers(given[:, :2], rows, "pairs")
    amounts = np.ones((len(given), 2))
    amounts[:, : given.shape[1] - 2] = given[:, 2:]
    return list(zip(*compared.T.tolist(), *amounts.T.tolist(), strict=True))


def holdout(scheme: Any, expected: int, one: str) -> str | list[int] | None:
    """A name, or the fold of each row or pair."""
    if scheme is None or isinstance(scheme, str):
        return None if scheme is None else text(scheme, "holdout")
    codes, _ = numbered(scheme, expected, "holdout, which is no name", one)
    folds: list[int] = codes.tolist()
    return folds


def threads(n_jobs: int | None) -> int:
    """As many threads as `n_jobs` asks for: all processors for None, one in a worker of joblib or
    of a pool of processes.
    """
    count = -1 if n_jobs is None else int(n_jobs)
    if count >= 0:
        return count
    # Others work there already.
    busy = multiprocessing.current_process().daemon or get_active_backend()[0].nesting_level
    return 1 if busy else max(1, cpu_count() + 1 + count)


def seed(random_state: Any) -> int:
    """A seed: that of the command for None."""
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
    """Text that can be written."""
    try:
        found = str(value)
        found.encode()
    except ValueError as error:
        raise ValueError(f"{name}: expected text that UTF-8 can hold: {error}") from error
    return found


def is_same(value: Any, other: Any) -> bool:
    """Whether a parameter is as another, of the same type."""
    return value is other or (type(value) is type(other) and not is_array(value) and value == other)


def is_array(value: Any) -> bool:
    """Whether `value` is an array or a column of a frame."""
    return hasattr(value, "__array__") and np.ndim(value) > 0


def plain(value: Any) -> Any:
    """A parameter as JSON has it; a tuple is marked as such, an array becomes a list."""
    if is_array(value):
        return plain(np.asarray(value).tolist())
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, tuple):
        return {"tuple": [plain(each) for each in value]}
    if isinstance(value, Iterable):
        return [plain(each) for each in value]
    return value.item() if isinstance(value, np.generic) else float(value)


def document(options: dict[str, Any]) -> str:
    """Options for the compiled part, which reads them from JSON."""
    return json.dumps(options, default=plain)


def from_plain(value: Any) -> Any:
    """A parameter from what `plain` has made of it."""
    if isinstance(value, dict):
        return tuple(from_plain(each) for each in value["tuple"])
    return [from_plain(each) for each in value] if isinstance(value, list) else value


def check_memory(bytes_needed: int, what: str) -> None:
    """Refuses arrays of a size that data or a model only claim, where it is not free."""
    free = _rankrls.free_memory()
    if free is not None and bytes_needed > free:
        raise MemoryError(
            f"{what} takes {bytes_needed:,} bytes, of {free:,} that are free: it has a number for "
            "each column"
        )


def items(values: Any, name: str) -> list[str]:
    """What is given as a list, as text with commas, or alone: each as text."""
    if isinstance(values, str):
        values = values.split(",")
    elif isinstance(values, Real):
        values = [values]
    return [text(each, name).strip() for each in values]
