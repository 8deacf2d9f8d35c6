"""Files of ranking data."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils._param_validation import validate_parameter_constraints

from . import _data, _rankrls


class RankingData(NamedTuple):
    """Ranking data from a file.

    The first three fields are the arguments of `fit`: ``X, y, qid, *_ = read(path)`` goes with
    ``fit(X, y, qid=qid)``.
    """

    X: sp.csc_array
    """Examples by features, of shape (m, n): column 0 is the first feature of the file.

    It keeps the names of the features: a model with other names for its columns refuses it.
    """
    y: NDArray[np.float64]
    """Labels, of shape (m,)."""
    qid: NDArray[Any]
    """The query of each row, of shape (m,): integers if all ids are integers, otherwise text."""
    feature_names: NDArray[np.object_] | None
    """Names of the features, of shape (n,), if the data have them."""

    def __repr__(self) -> str:
        rows, columns = self.X.shape
        return f"RankingData({rows} rows, {columns} columns, {self.X.nnz} entries)"


_READING: dict[str, list[Any]] = {
    "n_features": [_data.COUNT, None],
    "zero_based": ["boolean"],
    "format": [str],
    "label": [str, None],
    "query": [str, None],
    "ignore": [str, "array-like"],
    "missing": [str, _data.NUMBER, None],
    "max_memory": _data.SIZE,
}


def read(
    path: str | os.PathLike[str],
    *,
    n_features: int | None = None,
    zero_based: bool = False,
    names: str | os.PathLike[str] | None = None,
    format: str = "auto",
    label: str | None = None,
    query: str | None = None,
    ignore: Sequence[str] = (),
    missing: float | Literal["mean"] | None = None,
    max_memory: int | str | None = None,
) -> RankingData:
    r"""Reads svmlight / LETOR text with query ids, or a table with a header.

    A file may be compressed by gzip or zstd. Matrices of SciPy and arrays of NumPy need no
    reading: `fit` takes them.

    Parameters
    ----------
    path : path-like
        The file.
    n_features : int, optional
        Columns to keep. Those beyond are dropped. Test data take it from the training data. By
        default the highest column of the file is the last.
    zero_based : bool, default=False
        Whether the first feature of the file is 0, not 1.
    names : path-like, optional
        A file with the names of the features, one a line. By default ``NAME.names.txt`` or
        ``names.txt.zst`` of a corpus beside the data, if there is one. A table has names in its
        header.
    format : str, default="auto"
        "svmlight", "csv" or "tsv". "auto" decides by the name of the file.
    label : str, optional
        The label column of a table. Tables need it.
    query : str, optional
        The query column of a table.
    ignore : sequence of str, default=()
        Columns of a table to leave out.
    missing : float or "mean", optional
        The number to read for missing values, or the mean of their query. Without it, missing
        values are refused.
    max_memory : int or str, optional
        Bytes, or a size such as "8GiB", that the data may take. By default the free memory of
        the machine.

    Returns
    -------
    RankingData
        Matrix, labels, the query of each row, and names of features if there are any.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        For a file that is damaged or ambiguous, with line, column, and the expected and found text.
    MemoryError
        For more data than `max_memory` allows. SciPy keeps a number for each column up to the
        last. One large index in a small file may take all memory: `n_features` cuts it off.

    Examples
    --------
    >>> import rankrls, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "train.svm"
    >>> _ = path.write_text("2 qid:a 1:0.5 3:1\n0 qid:a 2:1\n1 qid:b 1:1\n0 qid:b 3:2\n")
    >>> data = rankrls.read(path)
    >>> data.X.shape, data.y.tolist(), data.qid.tolist()
    ((4, 3), [2.0, 0.0, 1.0, 0.0], ['a', 'a', 'b', 'b'])
    """
    validate_parameter_constraints(_READING, locals(), "read")
    reading = {
        "zero_based": zero_based,
        "width": n_features,
        "names": None if names is None else Path(names),
        "format": format,
        "label": label,
        "query": query,
        "ignore": [ignore] if isinstance(ignore, str) else _data.items(ignore, "ignore"),
        "missing": None if missing is None else _data.text(missing, "missing"),
        "max_memory": _data.size(max_memory),
    }
    found = _rankrls.read(Path(path), reading)
    _data.tell(found["warnings"])
    X = sp.csc_array((found["data"], found["indices"], found["indptr"]), shape=found["shape"])
    sizes = np.diff(found["offsets"].astype(np.int64))
    feature_names = None if found["names"] is None else np.array(found["names"], dtype=object)
    # Sparse arrays take attributes, and lose them when columns are selected.
    vars(X)["feature_names"] = feature_names
    qid = np.repeat(_ids(found["ids"], len(sizes)), sizes)
    return RankingData(X, found["y"], qid, feature_names)


def _ids(ids: list[str] | None, count: int) -> NDArray[Any]:
    """Ids as integers, if that loses nothing."""
    if ids is None:
        return np.arange(1, count + 1)
    try:
        whole = np.array([int(name) for name in ids], dtype=np.int64)
    except (ValueError, OverflowError):
        return np.array(ids)
    return whole if [str(number) for number in whole.tolist()] == ids else np.array(ids)


def write(
    path: str | os.PathLike[str],
    X: Any,
    y: Any,
    *,
    qid: Any = None,
    zero_based: bool = False,
) -> None:
    """Writes svmlight / LETOR text with query ids.

    Numbers have the fewest digits that read back to the same value. A name that ends in ``.gz`` or
    ``.zst`` is compressed. The file appears whole or not at all.

    Parameters
    ----------
    path : path-like
        The file.
    X : {array-like, sparse matrix} of shape (m, n)
        Examples by features.
    y : array-like of shape (m,)
        Labels.
    qid : array-like of shape (m,), optional
        The query of each row. Scattered rows of a query are moved together.
    zero_based : bool, default=False
        Whether the first feature is written as 0, not 1.

    Raises
    ------
    ValueError
        For numbers that `read` would not read back, lengths that disagree, ids with blanks or
        ``#``, and the name of a table.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import numpy as np, rankrls, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "data.svm"
    >>> rankrls.write(path, np.array([[0.0, 2.0], [1.0, 0.0]]), [1, 0], qid=["q", "q"])
    >>> print(path.read_text(), end="")
    1 qid:q 2:2
    0 qid:q 1:1
    """
    matrix = _data.canonical(_data.handed(X))
    if matrix.ndim != 2:
        raise ValueError(f"X: expected rows by columns, found an array of shape {matrix.shape}")
    data = _data.training(matrix, y, qid, least=0)
    _rankrls.write(Path(path), data, zero_based)
