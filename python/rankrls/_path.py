"""The path of a selection."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _data, _rankrls


class Step(NamedTuple):
    """A step of a selection, for callbacks."""

    number: int
    """Features selected so far."""
    feature: int
    """The column that was added, from 0."""
    lqo_error: float
    """Leave-query-out error with it, in squared units of the labels."""
    lqo_cindex: float | None
    """Concordance index of the leave-query-out predictions, if a query has a pair to order."""


class TuneStep(NamedTuple):
    """A step of one of the selections that `GreedyRankRLSCV` makes, for callbacks."""

    alpha: float
    """Its ridge parameter."""
    fold: int | None
    """The fold that it does without; None: all training data."""
    number: int
    """Features that this selection has so far."""
    feature: int
    """The column that was added, from 0."""
    lqo_error: float
    """Leave-query-out error with it."""


@dataclass(frozen=True)
class SelectionPath:
    """What a selection found, step by step.

    Attributes
    ----------
    features : ndarray of shape (k,)
        Columns in order of selection, from 0.
    weights : ndarray of shape (k,)
        Weights of the final model, in order of selection.
    lqo_error : ndarray of shape (k,)
        Leave-query-out error after each step: the sum over queries of squared centred residuals, in
        squared units of the labels.
    lqo_cindex : ndarray of shape (k,)
        Concordance index of the leave-query-out predictions after each step; nan where no query has
        a pair to order.
    criterion : ndarray of shape (k,)
        The measure that steps were chosen by; nan for the squared error.
    strategy : str
        The strategy; empty where the selection was ended in the middle of a step.
    alpha : float
        The ridge parameter; nan as above.
    condition : float
        By how much rounding may be amplified in errors and weights; nan as above.
    teacher : tuple or None
        Solver, ridge parameter and concordance index of the teacher, if there was one.
    weights_path : ndarray of shape (k, k) or None
        Row ``t`` has the weights after ``t + 1`` steps, in order of selection.
    test_scores : ndarray of shape (m_test, k) or None
        Scores of test rows after each step.
    """

    features: NDArray[np.int64]
    weights: NDArray[np.float64]
    lqo_error: NDArray[np.float64]
    lqo_cindex: NDArray[np.float64]
    criterion: NDArray[np.float64]
    strategy: str
    alpha: float
    condition: float
    teacher: tuple[str | None, float | None, float | None] | None = None
    weights_path: NDArray[np.float64] | None = None
    test_scores: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.features)

    @classmethod
    def _of(cls, found: dict[str, Any]) -> SelectionPath:
        none = np.empty(0)
        known = {
            "features": none.astype(np.int64),
            **dict.fromkeys(("weights", "lqo_error", "lqo_cindex", "criterion"), none),
            **{"strategy": "", "alpha": np.nan, "condition": np.nan},
            **found,
        }
        return cls(**{name: known[name] for name in cls.__dataclass_fields__ if name in known})


def select(
    data: dict[str, Any],
    options: dict[str, Any],
    *,
    keep_path: bool = False,
    test: Any = None,
    callback: Callable[[Step], Any] | None = None,
    verbose: int = 0,
) -> tuple[SelectionPath, _rankrls.Model | None, BaseException | None]:
    """Selects; returns what there is also when a signal or a callback ended it."""
    told, done = _told(callback, verbose, options["k"], "features", Step)
    try:
        found, ended = _rankrls.select(data, options, keep_path, test, told)
    finally:
        done()
    path = SelectionPath._of(found)
    if path.condition > 1e8:
        warnings.warn(
            f"rounding may cost {np.log10(path.condition):.0f} of 16 digits of errors and weights: "
            "raise alpha, or scale the columns with scale='sd'",
            RuntimeWarning,
            stacklevel=4,
        )
    return path, found.get("model"), ended


def _told(
    callback: Callable[[Any], Any] | None,
    verbose: int,
    total: int,
    unit: str,
    kind: type[Step] | type[TuneStep],
) -> tuple[Callable[..., bool] | None, Callable[[], None]]:
    """What the compiled part calls after a step, and what to call at the end."""
    if callback is not None and not callable(callback):
        raise ValueError(f"callback: expected something to call with each step, found {callback!r}")
    if callback is None and not verbose:
        return None, lambda: None
    bar = _bar(total, unit) if verbose else None

    def told(*values: Any) -> bool:
        if bar is not None:
            bar.update(1)
        return bool(callback is not None and callback(kind(*values)))

    return told, bar.close if bar is not None else lambda: None


def _bar(total: int, unit: str) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Lines(total, unit)
    return tqdm(total=total, unit=f" {unit}", leave=False)


class _Lines:
    """Progress in ten lines, where tqdm is not installed."""

    def __init__(self, total: int, unit: str) -> None:
        self.total, self.unit, self.done = total, unit, 0

    def update(self, steps: int) -> None:
        before, self.done = self.done, self.done + steps
        if 10 * self.done // self.total > 10 * before // self.total:
            print(f"{self.done}/{self.total} {self.unit}", file=sys.stderr, flush=True)

    def close(self) -> None:
        pass


def select_path(
    X: Any,
    y: Any,
    *,
    qid: Any = None,
    group: Any = None,
    X_test: Any = None,
    n_features_to_select: int = 10,
    teacher: Any = None,
    X_validation: Any = None,
    callback: Callable[[Step], Any] | None = None,
    **params: Any,
) -> SelectionPath:
    """Selects features and returns every model on the way.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (m, n)
        Examples by features. SciPy's CSC with values of 64 bits is used where it is.
    y : array-like of shape (m,)
        Labels: more is better.
    qid : array-like of shape (m,), optional
        The query of each row: any hashable ids.
    group : array-like of int, optional
        Sizes of consecutive queries, in place of `qid`.
    X_test : {array-like, sparse matrix} of shape (m_test, n), optional
        Rows to score after each step.
    n_features_to_select : int, default=10
        Steps to take, k.
    teacher : array-like of shape (m,), optional
        Scores by a model that has not seen the labels of the row's query: see `GreedyRankRLS.fit`.
    X_validation : {array-like, sparse matrix} of shape (m_val, n), optional
        Rows for strategy "fs-ed": see `GreedyRankRLS.fit`.
    callback : callable, optional
        Called with each `Step`; a true result ends the selection.
    **params
        Other parameters of `GreedyRankRLS`.

    Returns
    -------
    SelectionPath
        With `weights_path`, and with `test_scores` if there is `X_test`.

    Raises
    ------
    ValueError
        For data or parameters that cannot be used: the message has what was found, where, and what
        to do.
    MemoryError
        Where the strategy takes more than `max_memory`: the message names strategies that fit.

    Examples
    --------
    >>> import numpy as np
    >>> from rankrls import select_path
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 8))
    >>> y = X[:, 3] - 0.5 * X[:, 5] + 0.1 * rng.normal(size=60)
    >>> path = select_path(X, y, qid=np.repeat(range(12), 5), n_features_to_select=3)
    >>> path.features[:2].tolist()
    [3, 5]
    >>> path.weights_path.shape
    (3, 3)
    """
    from ._estimators import GreedyRankRLS

    estimator = GreedyRankRLS(n_features_to_select, **params)
    matrix, _ = estimator._checked(X, fit=True)
    test = None if X_test is None else _data.canonical(estimator._checked(X_test, fit=False)[0])
    validation = estimator._validation(X_validation)
    path, _, ended = select(
        _data.training(matrix, y, qid, group, teacher, validation),
        estimator._options(matrix.shape[1]),
        keep_path=True,
        test=test,
        callback=callback,
        verbose=estimator.verbose,
    )
    if ended is not None:
        raise ended
    return path
