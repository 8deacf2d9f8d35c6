"""The path of a selection, and its steps for callbacks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


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
    weights: NDArray[np.float64]
    """Weights of the features so far, in order of selection."""


class TuneStep(NamedTuple):
    """A step of one of the selections that `GreedyRankRLSCV` makes, for callbacks."""

    alpha: float
    """Its ridge parameter."""
    fold: int | None
    """The fold that it leaves out. None if it uses all training data."""
    number: int
    """Features selected so far."""
    feature: int
    """The column that was added, from 0."""
    lqo_error: float
    """Leave-query-out error with it."""


@dataclass(frozen=True, repr=False)
class SelectionPath:
    """A selection step by step.

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
        The measure that chose the steps; nan for the squared error.
    strategy : str
        The strategy. Empty if the selection ended within a step.
    alpha : float
        The ridge parameter. nan if the selection ended within a step.
    unit : float
        The mean squared norm of a centred row, the unit of shares of alpha. nan likewise.
    condition : float
        How much errors and weights may amplify rounding. nan likewise.
    teacher : tuple or None
        Solver, ridge parameter and concordance index of the teacher, if there was one.
    """

    features: NDArray[np.int64]
    weights: NDArray[np.float64]
    lqo_error: NDArray[np.float64]
    lqo_cindex: NDArray[np.float64]
    criterion: NDArray[np.float64]
    strategy: str = ""
    alpha: float = np.nan
    unit: float = np.nan
    condition: float = np.nan
    teacher: tuple[str | None, float | None, float | None] | None = None

    def __len__(self) -> int:
        return len(self.features)

    def __repr__(self) -> str:
        return f"SelectionPath({len(self)} features, {self.strategy!r}, alpha={self.alpha:.6g})"

    @classmethod
    def _of(cls, found: dict[str, Any]) -> SelectionPath:
        """Makes a path from the compiled part's report."""

        def each(name: str) -> NDArray[np.float64]:
            return np.array([step.get(name) for step in found["steps"]], dtype=np.float64)

        teacher, condition = found.get("teacher"), found.get("condition", np.nan)
        return cls(
            features=each("feature").astype(np.int64),
            weights=np.array(found["weights"], dtype=np.float64),
            lqo_error=each("lqo_error"),
            lqo_cindex=each("lqo_cindex"),
            criterion=each("criterion"),
            strategy=found.get("strategy", ""),
            alpha=found.get("alpha", np.nan),
            unit=found.get("unit", np.nan),
            # JSON has no infinity.
            condition=np.inf if condition is None else condition,
            teacher=teacher and (teacher["solver"], teacher["lambda"], teacher["cindex"]),
        )


def told(callback: Any, kind: type[Step] | type[TuneStep]) -> Callable[..., Any] | None:
    """A function that the compiled part calls after a step. It asks `callback`."""
    if callback is None:
        return None
    if not callable(callback):
        raise ValueError(f"callback: expected something to call with each step, found {callback!r}")
    return lambda *values: callback(kind(*values))
