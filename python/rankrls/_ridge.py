"""RankRLS on all features, and under kernels."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import Interval
from sklearn.utils.metadata_routing import UNUSED

from . import _data, _rankrls
from ._ranker import Labels, QueryWeight, Ranker, Scale


@dataclass(eq=False, repr=False)
class RankRLS(Ranker):
    """Regularised least-squares ranking on all features, with hold-out predictions in closed form.

    Ridge regression on features and labels that are centred within each query, over all pairs
    of rows, or over given ones; on the columns, or under a kernel. One factorisation gives the
    predictions for each query, or pair, by the model trained without it [1]_.

    Parameters
    ----------
    alpha : float, str or sequence of them, default="auto"
        Ridge parameters (lambda of the paper), above 0. The one with the least hold-out error
        is used. Text has numbers, ranges, and shares of the mean squared norm of a centred row
        such as "1/64u". "auto" is "1/256u..1u:2", and up to three values past an edge.
    objective : {"query", "global", "pairs"}, default="query"
        Pairs of rows to order: pairs of the same query, all pairs, or the `pairs` of `fit`.
    kernel : {"linear", "gaussian", "polynomial", "precomputed"}, default="linear"
        "linear" gives each column a weight. "gaussian" is ``exp(-gamma |x - z|^2)``, "polynomial"
        ``(gamma x.z + coef0)^degree``. With "precomputed", column j of `X` has the kernel of each
        row with row j of the training data.
    gamma : float, default=1.0
        Parameter of "gaussian" and "polynomial", above 0.
    degree : int, default=2
        Parameter of "polynomial", from 1 on.
    coef0 : float, default=0.0
        Parameter of "polynomial", from 0 on.
    basis : int or None, default=None
        Rows of the reduced set, drawn at random. The model uses the kernel with these rows
        alone. None is all rows, or the rows that `fit` is given.
    solver : {"auto", "dual", "primal", "cg"}, default="auto"
        "dual" factors a system of the rows, "primal" one of the columns. "cg" iterates and factors
        nothing: its hold-outs have six digits. "auto" takes the fastest that fits into memory.
        Kernels without a basis: "dual".
    holdout : str or None, default=None
        Rows to hold out. "lqo" is each query on its own. "lpo" is each pair of rows of a query,
        or each of `pairs`. "folds:N" is N groups drawn at random: of queries, of the rows of a
        single query, or of `pairs`. `fit` takes known folds. "none" holds nothing out. "auto"
        is the choice of the command: "lqo", or "lpo" under another objective, or five folds if
        that takes long. None is the same, with one exception: for a single alpha it holds
        nothing out if the factors give no hold-outs. That concerns "cg", and a single query
        under objective "query".
    keep_pairs : bool, default=False
        Whether to keep the predictions of "lpo": two numbers for each pair of rows.
    label_scale : {"auto", "raw", "sqrt-sd", "unit"}, default="auto"
        Scale of the labels within each query: divided by the root of their standard deviation,
        or by the deviation. Not for objective "pairs". If `alpha` is "auto", hold-outs choose
        the value of "auto", by objective "query" and the linear kernel without a basis.
        Otherwise it is "raw".
    scale : {"auto", "none", "sd", "max"}, default="auto"
        The divisor of centred columns, under the linear kernel without a basis. "auto" as for
        `label_scale`, otherwise "none".
    query_weight : {"uniform", "pairs", "size"}, default="uniform"
        Weight of a query of n rows under objective "query": 1, n or 1/n.
    max_memory : int or str, optional
        Bytes, or a size such as "8GiB". By default the free memory of the machine.
    n_jobs : int, optional
        Threads. Results do not depend on it. None and -1 take all cores, and one core in a
        worker of joblib.
    random_state : int, RandomState or None, default=None
        Seed of random draws. None is seed 1: equal calls give equal results.

    Attributes
    ----------
    coef_ : ndarray of shape (n,)
        A weight for each column, under the linear kernel.
    dual_coef_ : ndarray of shape (b,)
        A coefficient for each row of `support_`, under another kernel and with a basis.
    support_ : ndarray of shape (b,)
        The basis rows in the training data. Models from files lack them.
    alpha_ : float
        The ridge parameter of the model.
    scale_, label_scale_ : str
        The scales of columns and labels in the model.
    choice_ : list of dict
        The scales that hold-outs compared, each with its concordance index. Empty if nothing
        was open.
    unit_ : float
        The mean squared norm of a centred row, the unit of shares.
    solver_ : str
        The solver of the model.
    lqo_predictions_ : ndarray of shape (m,)
        Centred predictions for each row by the model trained without its query, if queries were
        left out.
    holdout_predictions_ : ndarray of shape (m,), (p,) or (q, 2)
        The same by any scheme. With `pairs`, the predicted difference of each pair. For "lpo"
        with `keep_pairs`, a prediction for both rows of `holdout_pairs_`.
    holdout_pairs_ : ndarray of shape (q, 2)
        Rows that "lpo" held out together, with `keep_pairs`.
    holdout_error_ : float
        Sum over queries of the squared centred residuals, in squared units of the labels.
    holdout_cindex_ : float
        Concordance index of the hold-out predictions; nan if no query has a pair to order.
    condition_ : float
        A bound on the amplification of rounding.
    n_features_in_ : int
        n, the columns of the training data.
    feature_names_in_ : ndarray of shape (n,)
        Their names, if all are text.

    References
    ----------
    .. [1] T. Pahikkala, E. Tsivtsivadze, A. Airola, J. Jarvinen and J. Boberg, "An efficient
       algorithm for learning to rank from preference graphs", Machine Learning 75 (2009).

    Examples
    --------
    >>> import numpy as np
    >>> from rankrls import RankRLS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 8))
    >>> y = X[:, 3] - 0.5 * X[:, 5] + 0.1 * rng.normal(size=60)
    >>> model = RankRLS(alpha=1.0).fit(X, y, qid=np.repeat(range(12), 5))
    >>> model.lqo_predictions_.shape, model.holdout_cindex_ > 0.9
    ((60,), True)

    All pairs of rows, under a kernel, and a few preferences in place of labels:

    >>> model = RankRLS(objective="global", kernel="gaussian", gamma=0.1).fit(X, y)
    >>> model.score(X, y) > model.holdout_cindex_ > 0.9
    True
    >>> scores = RankRLS(objective="pairs").fit(X, pairs=[[0, 1], [2, 1]]).predict(X)
    >>> bool(scores[0] > scores[1] < scores[2])
    True
    """

    # Pairs count rows of this X, so nothing routes them with a part of the rows.
    __metadata_request__fit: ClassVar[dict[str, str]] = {"pairs": UNUSED}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Ranker._parameter_constraints,
        "alpha": [*_data.RIDGE, "array-like"],
        "objective": [str],
        "kernel": [str],
        "gamma": [Interval(Real, 0, None, closed="neither")],
        "degree": [Interval(Integral, 1, 2**31, closed="both")],
        "coef0": [Interval(Real, 0, None, closed="left")],
        "basis": [_data.COUNT, None],
        "solver": [str],
        "holdout": [str, None],
        "keep_pairs": ["boolean"],
    }
    alpha: float | str | Sequence[float | str] = "auto"
    _: KW_ONLY
    objective: Literal["query", "global", "pairs"] = "query"
    kernel: Literal["linear", "gaussian", "polynomial", "precomputed"] = "linear"
    gamma: float = 1.0
    degree: int = 2
    coef0: float = 0.0
    basis: int | None = None
    solver: Literal["auto", "dual", "primal", "cg"] = "auto"
    holdout: str | None = None
    keep_pairs: bool = False
    label_scale: Labels = "auto"
    scale: Scale = "auto"
    query_weight: QueryWeight = "uniform"
    max_memory: int | str | None = None
    n_jobs: int | None = None
    random_state: Any = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.target_tags.required = self.objective != "pairs"
        return tags

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        qid: Any = None,
        pairs: Any = None,
        basis: Any = None,
        holdout: Any = None,
        feature_names: Any = None,
        **refused: Any,
    ) -> RankRLS:
        """Fits weights to all columns, or coefficients to rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (m, n)
            Examples by features. With kernel "precomputed", their kernel, of shape (m, m).
        y : array-like of shape (m,)
            Labels: more is better. Not needed for objective "pairs", whose `pairs` have to agree
            with them.
        qid : array-like of shape (m,), optional
            The query of each row, needed for objective "query"; ``np.zeros(m)`` compares all rows.
        pairs : array-like of shape (p, 2), (p, 3) or (p, 4), optional
            For objective "pairs". A row has the preferred and the other row of `X`, from 0. A
            third column has the difference of their scores, a fourth the weight of the pair.
            Both are 1 by default. Rows count in this `X`. Cross-validation and samplers hand
            over a part of `X`, where these numbers are other rows, so nothing routes `pairs`
            there.
        basis : array-like of bool of shape (m,), optional
            Whether each row belongs to the basis, in place of the parameter.
        holdout : array-like of shape (m,) or (p,), optional
            The fold of each row, or of each of `pairs`, in place of the parameter.
        feature_names : array-like of str of shape (n,) or fitted transformer, optional
            Names of the columns, as in `GreedyRankRLS`.
        **refused
            Other arguments are refused. Only `sample_weight` may be None.

        Returns
        -------
        RankRLS
            The fitted estimator.

        Raises
        ------
        ValueError
            For data or parameters that cannot be used, for an asymmetric or indefinite kernel,
            and for missing queries or pairs.
        MemoryError
            If the solver takes more than `max_memory`. The message names solvers that fit.
        """
        self._validate_params()
        if (self.objective == "pairs") != (pairs is not None):
            raise ValueError("objective='pairs' and pairs= of fit go together")
        for name, given in (("basis", basis), ("holdout", holdout)):
            if given is not None and getattr(self, name) is not None:
                raise ValueError(f"{name}: both the parameter and fit have one: leave one out")
        self._refuse(pairs if y is None else y, refused)
        matrix = self._checked(X, fit=True)
        rows = matrix.shape[0]
        if self.objective == "query" and qid is None:
            raise ValueError(
                f"only rows of one query are compared: {_data.GIVE_QUERIES}; "
                f"qid=np.zeros({rows}) compares all rows. {_data.ROUTE_QUERIES}"
            )
        names = self._named(X, feature_names)
        data = _data.training(matrix, np.zeros(rows) if y is None else y, qid, names=names, least=0)
        labels = None if y is None else data["y"]
        preferences = None if pairs is None else _data.preferences(pairs, rows, labels)
        folds: Any = self.holdout
        if holdout is not None:
            held_out = (rows, "row of X") if preferences is None else (len(preferences), "pair")
            folds = _data.numbered(holdout, held_out[0], "holdout", held_out[1])[0].tolist()
        count = None if self.basis is None else min(int(self.basis), rows + 1)
        training = {
            "alpha": ",".join(_data.items(self.alpha, "alpha")),
            "kernel": self.kernel,
            "gamma": self.gamma,
            "degree": self.degree,
            "coef0": self.coef0,
            "basis": count if basis is None else _data.basis(basis, rows),
            "holdout": folds,
            "keep_pairs": self.keep_pairs,
            "pairs": preferences,
            "seed": _data.seed(self.random_state),
            "options": {
                "objective": self.objective,
                "solver": None if self.solver == "auto" else self.solver,
                "query_weight": self.query_weight,
                "scale": None if self.scale == "auto" else self.scale,
                "label_scale": None if self.label_scale == "auto" else self.label_scale,
                "max_memory": _data.size(self.max_memory),
            },
        }
        found = _rankrls.train(data, _data.document(training), _data.threads(self.n_jobs))
        report = json.loads(found["report"])
        _data.tell(report["warnings"])
        self._adopt(found["model"])
        self.choice_ = report["choice"]
        self.unit_ = report["unit"]
        self.solver_ = report["solver"]
        # JSON has no infinity.
        self.condition_ = np.inf if report["condition"] is None else report["condition"]
        if len(found["support"]):
            self.support_, self.dual_coef_ = found["support"], found["coefficients"]
        if report["scheme"] is not None:
            self.holdout_error_ = report["error"]
            self.holdout_cindex_ = np.nan if report["cindex"] is None else report["cindex"]
            predictions = found["predictions"]
            if len(found["pairs"]):
                self.holdout_pairs_ = found["pairs"].reshape(-1, 2)
                predictions = predictions.reshape(-1, 2)
            if len(predictions):
                self.holdout_predictions_ = predictions
            if report["scheme"] == "lqo":
                self.lqo_predictions_ = predictions
        return self

    def _adopt(self, model: _rankrls.Model) -> dict[str, Any]:
        facts = super()._adopt(model)
        self.alpha_ = facts["settings"]["lambda"]
        self.scale_ = facts["settings"].get("scale", "none")
        self.label_scale_ = facts["settings"].get("label_scale", "raw")
        if self.kernel == "precomputed":
            # Its features are rows. In a model from a file, they are columns.
            self._linear = False
            self.support_, self.dual_coef_ = model.features, model.weights
        return facts
