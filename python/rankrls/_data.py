"""What users hand over, as the compiled part takes it."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils import check_random_state, column_or_1d

from . import _rankrls

GIVE_QUERIES = "pass qid=, one query id a row, or group=, the sizes of consecutive queries"


def is_sparse(X: Any) -> bool:
    """Whether `X` is a sparse matrix or array of SciPy."""
    return bool(sp.issparse(X))


def check_places(X: Any) -> None:
    """Refuses CSR or CSC whose places lead outside of the matrix: SciPy's products believe them."""
    rows, columns = X.shape if X.format == "csr" else X.shape[::-1]
    starts, places = X.indptr, X.indices
    whole = len(starts) == rows + 1 and starts[0] == 0
    if not whole or (np.diff(starts) < 0).any() or starts[-1] > min(len(places), len(X.data)):
        raise ValueError(
            f"X: expected indptr to rise from 0 to the number of entries, in {rows + 1} places"
        )
    used = places[: starts[-1]]
    if len(used) and not (used.min() >= 0 and used.max() < columns):
        worst = used.min() if used.min() < 0 else used.max()
        raise ValueError(f"X: expected indices from 0 to {columns - 1}, found {worst}")


def canonical(X: Any) -> Any:
    """A checked matrix in the layout that the compiled part takes.

    Compressed matrices in canonical form and arrays stay as they are; anything else is copied.
    """
    if not is_sparse(X):
        return np.asarray(X, dtype=np.float64)
    if X.format not in ("csc", "csr"):
        X = X.tocsc()
    if X.dtype != np.float64:
        X = X.astype(np.float64)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def labels(y: Any, rows: int) -> NDArray[np.float64]:
    """Finite labels, one a row."""
    column = column_or_1d(y, warn=True)
    if len(column) != rows:
        raise ValueError(f"y: expected {rows} labels, one a row of X, found {len(column)}")
    try:
        values = np.ascontiguousarray(column, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y: expected numbers: {error}") from error
    finite = np.isfinite(values)
    if not finite.all():
        row = int(np.argmin(finite))
        # The words that scikit-learn's checks look for.
        what = (
            "NaN" if np.isnan(values[row]) else "infinity or a value too large for dtype('float64')"
        )
        raise ValueError(
            f"Input y contains {what}. The label of row {row} is {values[row]}; leave out rows "
            "without a label"
        )
    return values


def scores(values: Any, rows: int, name: str) -> NDArray[np.float64]:
    """Finite numbers, one a row."""
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.shape != (rows,):
        raise ValueError(
            f"{name}: expected {rows} numbers, one a row of X, found an array of shape "
            f"{array.shape}"
        )
    finite = np.isfinite(array)
    if not finite.all():
        row = int(np.argmin(finite))
        raise ValueError(f"{name}: row {row} is {array[row]}: expected finite numbers")
    return array


def queries(qid: Any, group: Any, rows: int) -> tuple[NDArray[np.int64], list[str]]:
    """The query of each row, as a position in a list of names, in order of their first rows."""
    if qid is not None and group is not None:
        raise ValueError("qid and group both say what the queries are: pass one of them")
    if group is not None:
        sizes = np.asarray(group, dtype=np.float64)
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
        return codes, [str(number) for number in range(len(sizes))]
    if qid is None:
        return np.zeros(rows, dtype=np.int64), ["0"]
    # Lists go as they are: their items may be tuples.
    array = qid.to_numpy() if hasattr(qid, "to_numpy") else qid
    if isinstance(array, np.ndarray) and array.ndim != 1:
        raise ValueError(f"qid: expected one id a row, found an array of shape {array.shape}")
    items = array.tolist() if isinstance(array, np.ndarray) else list(array)
    if len(items) != rows:
        raise ValueError(f"qid: expected {rows} query ids, one a row of X, found {len(items)}")
    seen: dict[Any, int] = {}
    codes = np.empty(rows, dtype=np.int64)
    for row, item in enumerate(items):
        if item is None or item != item:
            raise ValueError(f"qid: row {row} has no query id, found {item}")
        try:
            codes[row] = seen.setdefault(item, len(seen))
        except TypeError as error:
            raise ValueError(f"qid: row {row}: expected a hashable id: {error}") from error
    names = [str(item) for item in seen]
    # Ids of two types may look the same as text.
    if len(set(names)) < len(names):
        names = [repr(item) for item in seen]
    return codes, names


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
        raise ValueError(
            f"leave-query-out needs at least {least} queries, found {len(ids)}: {GIVE_QUERIES}"
        )
    return {
        "x": matrix,
        "y": labels(y, rows),
        "codes": codes,
        "ids": ids,
        "teacher": None if teacher is None else scores(teacher, rows, "teacher"),
        "validation": None if validation is None else canonical(validation),
    }


def row_numbers(values: Any, rows: int, name: str) -> NDArray[np.int64]:
    """Rows of `X`, from 0."""
    found = np.asarray(values, dtype=np.float64)
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
        return None if values is None else min(count(values, "basis"), rows + 1)
    found = row_numbers(values, rows, "basis")
    if found.ndim != 1 or len(np.unique(found)) < len(found):
        raise ValueError("basis: expected a number of rows, or a list with each row once")
    rows_of_basis: list[int] = found.tolist()
    return rows_of_basis


def preferences(pairs: Any, rows: int) -> list[tuple[int, int, float, float]]:
    """Preferred row, other row, magnitude and weight of each pair."""
    given = np.asarray(pairs, dtype=np.float64)
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
        return scheme
    folds = np.asarray(scheme)
    if folds.shape != (expected,):
        raise ValueError(
            f"holdout: expected a name, or {expected} folds, one for each {one}, found an array "
            f"of shape {folds.shape}"
        )
    if any(fold is None or fold != fold for fold in folds.tolist()):
        raise ValueError(f"holdout: a {one} has no fold: expected numbers or names")
    codes: dict[Any, int] = {}
    return [codes.setdefault(fold, len(codes)) for fold in folds.tolist()]


def threads(n_jobs: int | None) -> int:
    """As many threads as `n_jobs` asks for: all cores for None, one within a worker of joblib."""
    count = int(effective_n_jobs(-1 if n_jobs is None else n_jobs))
    if count > 4096:
        raise ValueError(f"n_jobs: expected at most 4096 threads, found {n_jobs}")
    return count


def seed(random_state: Any) -> int:
    """A seed: that of the command for None."""
    if random_state is None:
        return 1
    if isinstance(random_state, numbers.Integral):
        if random_state < 0:
            raise ValueError(f"random_state: expected a number from 0 on, found {random_state}")
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def size(max_memory: int | str | None) -> int | None:
    """A number of bytes."""
    if max_memory is None:
        return None
    if isinstance(max_memory, str):
        return _rankrls.memory_size(max_memory)
    if not isinstance(max_memory, numbers.Integral) or max_memory < 1:
        raise ValueError(
            f"max_memory: expected a number of bytes or a size such as '8GiB', found {max_memory!r}"
        )
    return int(max_memory)


def count(value: Any, name: str) -> int:
    """A whole number from 1 on."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
        raise ValueError(f"{name}: expected a whole number from 1 on, found {value!r}")
    return int(value)


def number(value: Any, name: str) -> float:
    """A number; whether it is in its range is for the compiled part to say."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ValueError(f"{name}: expected a number, found {value!r}")
    return float(value)


def ridge(value: Any, name: str) -> str:
    """A ridge parameter for the compiled part to read: a number, or text such as "1/64u"."""
    if isinstance(value, str):
        return value
    found = number(value, name)
    if not 0 < found < np.inf:
        raise ValueError(f"{name}: expected a finite number above 0, found {found:g}")
    return repr(found)


def ridge_list(values: Any, name: str) -> str:
    """Several of them, or the only one."""
    if isinstance(values, (str, numbers.Real)):
        return ridge(values, name)
    listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
    if not listed:
        raise ValueError(f"{name}: expected at least one number, found none")
    return ",".join(ridge(value, name) for value in listed)


def name_list(names: Sequence[str] | str) -> list[str]:
    """Names, given as a list or separated by commas."""
    parts = names.split(",") if isinstance(names, str) else names
    return [str(part).strip() for part in parts]
