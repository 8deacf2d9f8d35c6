"""Measures of rankings: the numbers of ``rankrls evaluate``.

Names are ``map``, ``p@K``, ``ndcg@K``, ``mean-ndcg``, ``err``, ``mrr``, ``cindex`` and
``label@1``, the label of the row ranked first. A name includes its rules. ``map:2``, ``p@5:2``
and ``mrr:2`` count labels from 2 on as relevant. ``ndcg@10:linear`` and ``mean-ndcg:linear``
have gain y instead of 2**y - 1. ``err:4`` has grades up to 4, ``err`` up to the largest label.
``ndcg@10(letor)`` names its convention. The convention "standard" discounts rank r by 1 /
log2(r + 1), averages over tied scores and leaves out queries without a value. "letor"
reproduces published LETOR 4.0 figures.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import (
    Interval,
    StrOptions,
    validate_parameter_constraints,
)
from sklearn.utils.validation import _num_samples

from . import _data, _rankrls

__all__ = ["Comparison", "Measured", "evaluate", "paired", "score"]


@dataclass(frozen=True)
class Measured:
    """A measure over queries.

    Attributes
    ----------
    mean : float
        Mean over the queries that have a value; nan if none has.
    standard_error : float
        Standard error of the mean over queries; nan for fewer than two.
    queries : int
        Queries that have a value.
    left_out : int
        Queries without a value.
    per_query : ndarray of shape (q,)
        The value of each query, in order of first rows; nan if it has none.
    """

    mean: float
    standard_error: float
    queries: int
    left_out: int
    per_query: NDArray[np.float64] = field(repr=False)


@dataclass(frozen=True)
class Comparison:
    """Two rankings, compared query by query.

    Attributes
    ----------
    difference : float
        Mean over queries of the first value less the second.
    standard_error : float
        Its standard error.
    interval : tuple of float
        Ends of the bootstrap interval of the difference.
    p : float
        Two-sided p of the randomisation test.
    exact : bool
        Whether p counts all assignments of signs, not a random sample.
    queries, wins, ties, losses : int
        Queries where both have a value, and how many the first wins, ties and loses.
    """

    difference: float
    standard_error: float
    interval: tuple[float, float]
    p: float
    exact: bool
    queries: int
    wins: int
    ties: int
    losses: int


_RULES: dict[str, list[Any]] = {
    "metrics": [str, "array-like"],
    "convention": [StrOptions({"standard", "letor"})],
}


def evaluate(
    y_true: Any,
    y_score: Any,
    *,
    qid: Any = None,
    metrics: Sequence[str] | str = ("map", "ndcg@10", "mean-ndcg", "cindex"),
    convention: Literal["standard", "letor"] = "standard",
) -> dict[str, Measured]:
    """Measures the rankings of queries by scores.

    Parameters
    ----------
    y_true : array-like of shape (m,)
        Labels: more is better.
    y_score : array-like of shape (m,)
        Scores.
    qid : array-like of shape (m,)
        The query of each row: any hashable ids.
    metrics : sequence of str, default=("map", "ndcg@10", "mean-ndcg", "cindex")
        Measures, as a list or separated by commas, each with its rules.
    convention : {"standard", "letor"}, default="standard"
        Discounts, ties and queries without a value, for measures that name no convention.

    Returns
    -------
    dict of str to Measured
        In the order asked for.

    Raises
    ------
    ValueError
        For unknown measures, lengths that disagree, numbers that are not finite, negative
        labels under a measure that needs grades, and a missing `qid`.

    Examples
    --------
    >>> from rankrls import metrics
    >>> found = metrics.evaluate([2, 1, 0, 1, 0], [0.9, 0.1, 0.5, 0.2, 0.8], qid=[1, 1, 1, 2, 2],
    ...                          metrics="cindex,ndcg@2")
    >>> round(found["cindex"].mean, 4), found["cindex"].per_query.round(4).tolist()
    (0.3333, [0.6667, 0.0])
    """
    validate_parameter_constraints(_RULES, locals(), "evaluate")
    if qid is None:
        raise ValueError(
            f"only rows of one query are compared: {_data.GIVE_QUERIES}. {_data.ROUTE_QUERIES}"
        )
    rows = _num_samples(y_score)
    labels = _data.row_values(y_true, rows, "y_true")
    codes, _ = _data.queries(qid, rows)
    scores = _data.row_values(y_score, rows, "y_score")
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes).tolist()
    names = ",".join(_data.items(metrics, "metrics"))
    ordered = labels[order], scores[order], sizes
    threads = _data.threads(None, 16 * rows)
    found, warned = _rankrls.evaluate(names, *ordered, convention, threads)
    _data.tell(warned)
    return {name: Measured(**_known(text), per_query=values) for name, text, values in found}


def score(
    y_true: Any,
    y_score: Any,
    *,
    qid: Any = None,
    metric: str = "ndcg@10",
    convention: Literal["standard", "letor"] = "standard",
) -> float:
    """The mean of one measure over queries, for `sklearn.metrics.make_scorer`.

    Parameters
    ----------
    y_true, y_score : array-like of shape (m,)
        Labels and scores.
    qid : array-like of shape (m,)
        Queries, as in `evaluate`.
    metric : str, default="ndcg@10"
        The measure, with its rules.
    convention : {"standard", "letor"}, default="standard"
        As in `evaluate`.

    Returns
    -------
    float
        The mean over the queries that have a value; nan if none has.

    Raises
    ------
    ValueError
        As `evaluate`.

    Examples
    --------
    >>> from sklearn.metrics import make_scorer
    >>> from rankrls import metrics
    >>> metrics.score([1, 0, 0, 1], [0.3, 0.1, 0.5, 0.9], qid=[1, 1, 2, 2], metric="mrr")
    1.0
    >>> scorer = make_scorer(metrics.score, metric="ndcg@10")
    """
    found = evaluate(y_true, y_score, qid=qid, metrics=[metric], convention=convention)
    return next(iter(found.values())).mean


_DRAWS: dict[str, list[Any]] = {
    "resamples": [Interval(Integral, 1, 10**8, closed="left")],
    "confidence": [Interval(Real, 0, 1, closed="neither")],
    "random_state": _data.SEED,
}


def paired(
    first: Measured | Any,
    second: Measured | Any,
    *,
    resamples: int = 10_000,
    confidence: float = 0.95,
    random_state: Any = None,
) -> Comparison:
    """Compares two rankings of the same queries: the first less the second.

    Parameters
    ----------
    first, second : Measured or array-like of shape (q,)
        The same measure of both rankings, or its values query by query; nan for none.
    resamples : int, default=10000
        Draws of queries for the interval, and of signs for the test.
    confidence : float, default=0.95
        Share of the means that lie in the interval.
    random_state : int, RandomState or None, default=None
        Seed of the draws; None is seed 1.

    Returns
    -------
    Comparison
        The mean difference, its standard error and interval, and the test of it.

    Raises
    ------
    ValueError
        If the numbers of queries differ.

    Examples
    --------
    >>> from rankrls import metrics
    >>> found = metrics.paired([0.9, 0.5, 1.0], [0.4, 0.5, 0.75])
    >>> found.difference, found.wins, found.ties, found.p
    (0.25, 2, 1, 0.5)
    """
    validate_parameter_constraints(_DRAWS, locals(), "paired")
    ours, theirs = (
        _data.floats(given.per_query if isinstance(given, Measured) else given, name)
        for name, given in (("first", first), ("second", second))
    )
    if ours.ndim != 1 or theirs.ndim != 1:
        raise ValueError(
            "expected a value for each query, found arrays of shape "
            f"{ours.shape} and {theirs.shape}"
        )
    seed = _data.seed(random_state)
    threads = _data.threads(None, resamples * len(ours))
    found = _known(_rankrls.paired(ours, theirs, resamples, confidence, seed, threads))
    interval = np.broadcast_to(found.pop("interval"), 2)
    return Comparison(**found, interval=tuple(interval.tolist()))


def _known(text: str) -> dict[str, Any]:
    """A document with nan for unknown values."""
    return {key: np.nan if value is None else value for key, value in json.loads(text).items()}
