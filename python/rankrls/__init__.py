"""Selects sparse features for learning to rank, by exact leave-query-out error.

Greedy RankRLS (Pahikkala, Airola, Naula and Salakoski, 2010) adds one feature at a time. It
takes the feature with which a regularised least-squares model errs least on left-out queries.
Costs follow the non-zeros of the data: a million columns of text are fine.

=====================  =====================================================================
`GreedyRankRLS`        selects features; a scikit-learn selector and regressor
`GreedyRankRLSCV`      chooses strategy, ridge parameter and number of features by query folds
`RankRLS`              trains on all features, with hold-out predictions in closed form
`read`                 reads ranking data with query ids; `write` writes them
`rankrls.metrics`      NDCG, MAP, ERR and others, with standard errors and paired tests
`rankrls.plot`         diagrams of paths, tuning and comparisons, by Matplotlib
=====================  =====================================================================
"""

import atexit

from . import metrics
from ._files import RankingData, read, write
from ._greedy import GreedyRankRLS, GreedyRankRLSCV
from ._path import SelectionPath, Step, TuneStep
from ._ranker import Explanation
from ._rankrls import __version__
from ._rankrls import end as _end
from ._ridge import RankRLS

# Runs before Python ends working threads.
atexit.register(_end)

__all__ = [
    "Explanation",
    "GreedyRankRLS",
    "GreedyRankRLSCV",
    "RankRLS",
    "RankingData",
    "SelectionPath",
    "Step",
    "TuneStep",
    "__version__",
    "metrics",
    "read",
    "write",
]
