"""Why the rows of a query are in their order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Explanation:
    """The rows of a query as a model ranks them, and what each feature adds.

    As text it has the five largest contributions to each row.

    Attributes
    ----------
    rows : ndarray of shape (r,)
        Rows of `X`, from 0, by falling score; equal scores in the order of `X`.
    scores : ndarray of shape (r,)
        Their scores.
    reference : float
        The mean of the scores, or the score of the row that they are held against.
    features : ndarray of shape (p,)
        Columns that add something to one of the rows, in the order of the model.
    names : list of str
        Their names, or their numbers where there are none.
    contributions : ndarray of shape (r, p)
        Weight times the value less that of the reference. A row of it adds up to the score less
        `reference`, but for rounding.
    """

    rows: NDArray[np.int64]
    scores: NDArray[np.float64]
    reference: float
    features: NDArray[np.int64]
    names: list[str]
    contributions: NDArray[np.float64]

    def __str__(self) -> str:
        lines = []
        for row, score, parts in zip(self.rows, self.scores, self.contributions, strict=True):
            lines.append(f"row {row}: score {score:.6g}, difference {score - self.reference:+.6g}")
            largest = np.argsort(-np.abs(parts), kind="stable")[:5]
            lines += [f"  {parts[i]:+.6g}  {self.names[i]}" for i in largest if parts[i] != 0]
        return "\n".join(lines)
