"""Why the rows of a query are in their order."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _data


@dataclass(frozen=True)
class Explanation:
    """The rows of a query as a model ranks them, and what each feature adds.

    Attributes
    ----------
    rows : ndarray of shape (r,)
        Rows of `X`, from 0, by falling score; equal scores in the order of `X`.
    scores : ndarray of shape (r,)
        Their scores.
    reference : float
        The mean of the scores, or the score of the row that they are held against.
    features : ndarray of shape (p,)
        Columns of the model that have a value in one of the rows, in the order of the model.
    names : list of str or None
        Their names, as far as they are known.
    values : ndarray of shape (r, p)
        Their values in the rows.
    contributions : ndarray of shape (r, p)
        Weight times the value less that of the reference. A row of it adds up to the score less
        `reference`, but for rounding.
    """

    rows: NDArray[np.int64]
    scores: NDArray[np.float64]
    reference: float
    features: NDArray[np.int64]
    names: list[str | None]
    values: NDArray[np.float64]
    contributions: NDArray[np.float64]

    def largest(self, row: int, n: int = 5) -> list[tuple[str, float]]:
        """The features that tell most about a row.

        Parameters
        ----------
        row : int
            A row of `X`, from 0: one of `rows`.
        n : int, default=5
            How many features, at most.

        Returns
        -------
        list of (str, float)
            Names, or numbers where there are none, with contributions that are not 0, the largest
            in magnitude first.

        Raises
        ------
        ValueError
            For a row of another query.
        """
        places = np.flatnonzero(self.rows == row)
        if not len(places):
            raise ValueError(f"row {row} is not of the query, which has {_listed(self.rows)}")
        parts = self.contributions[places[0]]
        order = np.argsort(-np.abs(parts), kind="stable")[:n]
        return [
            (self.names[place] or str(self.features[place]), float(parts[place]))
            for place in order
            if parts[place] != 0
        ]


def _listed(rows: NDArray[np.int64]) -> str:
    rows = np.sort(rows)
    if rows[0] + len(rows) == rows[-1] + 1:
        return f"{rows[0]} to {rows[-1]}"
    return ", ".join(map(str, rows))


def explanation(
    X: Any,
    scores: NDArray[np.float64],
    model: tuple[NDArray[np.int64], NDArray[np.float64], list[str | None]],
    query: Any,
    queries: tuple[NDArray[np.int64], list[str]],
    versus: int | None,
) -> Explanation:
    """Explains the rows of a query of `X`, which have these scores."""
    features, weights, names = model
    chosen = X[:, features]
    empty = chosen.count_nonzero() == 0 if _data.is_sparse(X) else not chosen.any()
    if len(features) and empty:
        raise ValueError(
            f"no row of X has a value other than 0 in any of the {len(features)} features of the "
            "model: are the columns others?"
        )
    rows = _rows(query, *queries)
    places = None
    if versus is not None:
        places = np.flatnonzero(rows == versus)
        if not len(places):
            raise ValueError(f"versus: row {versus} is not of the query, which has {_listed(rows)}")
    part = chosen.tocsr()[rows] if _data.is_sparse(X) else chosen[rows]
    part = part.toarray() if _data.is_sparse(X) else np.asarray(part)
    present = np.flatnonzero(part.any(axis=0))
    values, own = part[:, present], scores[rows]
    reference = values.mean(axis=0) if places is None else values[places[0]]
    contributions = weights[present] * (values - reference)
    order = np.argsort(-own, kind="stable")
    return Explanation(
        rows=rows[order],
        scores=own[order],
        reference=float(own.mean() if places is None else own[places[0]]),
        features=features[present],
        names=[names[place] for place in present],
        values=values[order],
        contributions=contributions[order],
    )


def _rows(query: Any, codes: NDArray[np.int64], ids: list[str]) -> NDArray[np.int64]:
    if query is None:
        if len(ids) > 1:
            raise ValueError(f"query: there are {len(ids)} queries: name one")
        return np.arange(len(codes))
    name = str(query)
    if name not in ids:
        near = difflib.get_close_matches(name, ids, 3, 0.0)
        raise ValueError(
            f"query: none of the {len(ids)} is called {name!r}; near it are {', '.join(near)}"
        )
    return np.flatnonzero(codes == ids.index(name))
