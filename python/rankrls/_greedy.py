"""Selection of features."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from . import _data, _rankrls
from ._path import SelectionPath, Step, TuneStep, told
from ._ranker import Labels, QueryWeight, Ranker, Scale

if TYPE_CHECKING:
    import pandas as pd
    from typing_extensions import Self

Refit = Literal["labels", "cross-fitted"]
Convention = Literal["standard", "letor"]
Alphas = float | str | Sequence[float | str]
Columns = str | int | Sequence[str | int]


# Parameters besides alpha that may have a list of values.
AXES = ("scale", "label_scale", "strategy")


class _Selecting(SelectorMixin, Ranker):
    """The base of both selectors. Each lists its own parameters."""

    # Its rows are not the rows of X, so nothing routes it.
    __metadata_request__fit: ClassVar[dict[str, str]] = {"X_validation": UNUSED}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Ranker._parameter_constraints,
        "n_features_to_select": [_data.COUNT],
        "criterion": [str],
        "convention": [StrOptions({"standard", "letor"})],
        "include": [str, Interval(Integral, 0, None, closed="left"), "array-like", None],
        "n_candidates": [_data.COUNT, None],
        "alpha": [*_data.RIDGE, "array-like"],
        "strategy": [str, "array-like"],
        "scale": [str, "array-like"],
        "label_scale": [str, "array-like"],
        "refit": [str, None],
    }
    n_features_to_select: int
    criterion: str
    convention: Convention
    query_weight: QueryWeight
    scale: Scale | Sequence[str]
    include: Columns | None
    n_candidates: int | None
    label_scale: Labels | Sequence[str]
    refit: Refit | None
    random_state: Any

    @abstractmethod
    def _search(
        self,
        data: dict[str, Any],
        options: dict[str, Any],
        callback: Callable[[Any], Any] | None,
        folds: list[int] | None,
    ) -> tuple[dict[str, Any], Any, BaseException | None]:
        """The report, the model if there is one, and the exception that ended the search early."""

    def _folds(self, X: Any, y: Any, qid: Any) -> list[int] | None:
        """The fold of each row, if a splitter draws the folds."""
        return None

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    @property
    def ranking_(self) -> NDArray[np.int64]:
        """The step at which each column was selected."""
        k = len(self._fitted("ranking_").features)
        return self._of_columns("ranking_", k + 1, np.arange(1, k + 1))

    @property
    def support_(self) -> NDArray[np.bool_]:
        """Whether each column is selected."""
        k = len(self._fitted("support_").features)
        return self._of_columns("support_", False, np.ones(k, dtype=bool))

    def transform(self, X: Any) -> Any:
        """The selected columns of `X`, in the order of `X`, not of `selected_` and `weights_`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (m, n)
            Rows with the columns of the training data.

        Returns
        -------
        {ndarray, sparse matrix} of shape (m, k)
            The columns, in the type of `X` or of `set_output`.
        """
        check_is_fitted(self)
        known = self._check_names(X, _data.column_names(X))
        return super(_Selecting, self._as_checked()).transform(_data.handed(known))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the selected columns, in the order of `X`.

        Parameters
        ----------
        input_features : array-like of str, optional
            The names of all columns. They must agree with the names that the model knows.

        Returns
        -------
        ndarray of shape (k,)
            The names. A column without a name is an x and its number.
        """
        check_is_fitted(self)
        named = list(zip(self.selected_.tolist(), self._feature_names(), strict=True))
        if input_features is not None or hasattr(self, "feature_names_in_"):
            names: NDArray[np.object_] = super().get_feature_names_out(input_features)
            # One for each column, and equal to the names that scikit-learn knows.
            given = [] if input_features is None else list(input_features)
            for column, name in named if given else []:
                if name and given[column] != name:
                    raise ValueError(
                        f"input_features: column {column} is {name!r} in the model, found "
                        f"{given[column]!r}"
                    )
            return names
        return np.array([name or f"x{column}" for column, name in sorted(named)], dtype=object)

    def to_frame(self) -> pd.DataFrame:
        """The selected features as a frame of pandas, in order of selection.

        Returns
        -------
        DataFrame
            ``feature``, the column of `X` from 0; ``name``, or the number of a column without a
            name; ``weight``; and ``step`` from 1.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        check_is_fitted(self)
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install pandas") from error
        columns = {"feature": self.selected_, "name": self._names(), "weight": self.weights_}
        return pd.DataFrame({**columns, "step": np.arange(1, self.n_features_ + 1)})

    def _adopt(self, model: _rankrls.Model) -> dict[str, Any]:
        facts = super()._adopt(model)
        if facts["kernel"] is not None:
            raise ValueError("the model has a kernel in place of weights: load it by RankRLS")
        self.selected_, self.weights_ = model.features, model.weights
        self.n_features_ = len(self.selected_)
        self.identical_ = [np.array(columns, dtype=np.int64) for columns in facts["identical"]]
        self.strategy_, settings = facts["strategy"], facts["settings"]
        self.alpha_ = settings["lambda"]
        self.scale_ = settings.get("scale", "none")
        self.label_scale_ = settings.get("label_scale", "raw")
        self.choice_ = facts["choice"]
        self.refit_alpha_ = settings.get("refit_lambda")
        self.lqo_error_path_, self.lqo_cindex_path_ = (
            np.array([step[name] for step in facts["path"]], dtype=np.float64)
            for name in ("lqo_error", "lqo_cindex")
        )
        self.path_ = SelectionPath(
            features=self.selected_,
            weights=self.weights_,
            lqo_error=self.lqo_error_path_,
            lqo_cindex=self.lqo_cindex_path_,
            criterion=np.full(self.n_features_, np.nan),
            strategy=self.strategy_,
            alpha=self.alpha_,
        )
        return facts

    def _measures(self) -> bool:
        """Whether another parameter than the criterion is a measure."""
        return False

    def _options(self, columns: int) -> dict[str, Any]:
        """Options of the compiled part's `GreedyRankRls`, which knows the defaults of None."""
        criterion = self.criterion
        if self.convention != "standard":
            if criterion != "squared":
                criterion = _rankrls.under(criterion, self.convention)
            elif not self._measures():
                raise ValueError(
                    "convention has nothing to measure: it goes with a measure as criterion"
                )
        return {
            "k": min(self.n_features_to_select, columns),
            "criterion": criterion,
            "query_weight": self.query_weight,
            "scale": _data.choices(self.scale, "scale")[0],
            "sample": self.n_candidates,
            "seed": _data.seed(self.random_state),
            "max_memory": _data.size(self.max_memory),
            "label_scale": _data.choices(self.label_scale, "label_scale")[0],
            "refit": self.refit,
        }

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        qid: Any = None,
        teacher: Any = None,
        X_validation: Any = None,
        feature_names: Any = None,
        callback: Callable[[Any], Any] | None = None,
        **refused: Any,
    ) -> Self:
        """Selects features and fits their weights.

        Ctrl-C ends the selection with a KeyboardInterrupt; `partial_` has the steps so far.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (m, n)
            Examples by features, such as parses of sentences by their counts. A copy is taken
            before the work begins, so later changes of `X` and of other arrays do not count.
            Stored zeros are not entries.
        y : array-like of shape (m,)
            Labels: more is better.
        qid : array-like of shape (m,), optional
            The query of each row: integers, text or other hashables. Rows of a query need not
            be next to each other. For given sizes of queries, pass
            ``np.repeat(range(len(sizes)), sizes)``.
        teacher : array-like of shape (m,), optional
            Scores by another model, trained without the labels of the row's query. Strategy
            "distil" and cross-fitted weights use them. By default RankRLS on all columns
            teaches.
        X_validation : {array-like, sparse matrix} of shape (m_val, n), optional
            Rows whose values strategy "fs-ed" compares densities at. By default the rows of
            `X`. Nothing routes them: cross-validation would cut them as it cuts `X`.
        feature_names : array-like of str of shape (n,) or fitted transformer, optional
            Names of the columns, where `X` has none: a sparse matrix, or an array. Of a fitted
            transformer, whose output `X` is, its `get_feature_names_out`. In a pipeline, this may
            be the step before; not in a search, which fits copies of that step.
        callback : callable, optional
            Called with each `Step` of `GreedyRankRLS`, or `TuneStep` of every selection of
            `GreedyRankRLSCV`. A true result ends the selection there, or all selections. The
            choice is made among the models so far. If there is none yet, a RuntimeError says
            so.
        **refused
            Other arguments are refused. Only `sample_weight` may be None.

        Returns
        -------
        estimator
            The fitted estimator.

        Raises
        ------
        ValueError
            For data or parameters that cannot be used. The message says what was found, where,
            and what to do. Leave-query-out needs at least two queries, and folds need as many
            queries as folds.
        MemoryError
            If the strategy takes more than `max_memory`. The message names strategies that fit.
        """
        self._refuse(y, refused)
        self._validate_params()
        matrix = self._checked(X, fit=True)
        names = self._named(X, feature_names)
        validation = None if X_validation is None else self._checked(X_validation, fit=False)
        data = _data.training(matrix, y, qid, teacher, validation, names=names)
        options = self._options(matrix.shape[1])
        options["include"] = _data.included(self.include)
        found, model, ended = self._search(data, options, callback, self._folds(X, y, qid))
        path = SelectionPath._of(found)
        if ended is None and model is None:
            ended = RuntimeError(
                "callback: it ended all selections before there was a model of every fold to "
                "choose from: partial_ has the longest path"
            )
        if ended is not None:
            self.partial_ = path
            raise ended
        _data.tell(found["warnings"])
        self._adopt(model)
        self.path_ = path
        return self


@dataclass(eq=False, repr=False)
class GreedyRankRLS(_Selecting):
    """Selects features by exact leave-query-out error, and ranks by them.

    Greedy RankRLS adds one feature at a time. It takes the feature with which regularised least
    squares predicts left-out queries best [1]_. The least squares are trained on queries and
    features centred within each query.

    Parameters
    ----------
    n_features_to_select : int, default=10
        Features to select, k.
    alpha : float, str or sequence of them, default="auto"
        The ridge parameter (lambda of the paper), above 0, or a share of the mean squared norm
        of a centred row such as "1/64u". With "auto", three folds of the queries choose it, and
        all else that is "auto". With a number nothing is chosen: the selection is the paper's.
        Folds choose from a list, here and in `strategy`, `scale` and `label_scale`.
    strategy : str or sequence of str, default="auto"
        "auto" is the fastest exact strategy that fits into memory. If `alpha` is "auto", folds
        choose between it and "distil". "bounded", "dense" and "lowmem" are exact and find the
        same features. "distil" selects towards the hold-out predictions of RankRLS on all
        columns, for few queries and many columns. "sampled", "residual", "backfit",
        "univariate", "fs-ed" and "random" are cheaper, or serve comparison. "fs-ed" takes
        labels of at most 16 grades.
    criterion : str, default="squared"
        The quantity that each step improves most. "squared" is the leave-query-out error. A
        measure such as "cindex", "map", "mrr", "p@5" or "ndcg@10" judges the leave-query-out
        predictions.
    convention : {"standard", "letor"}, default="standard"
        Convention of the criterion, unless its name has one.
    choose_by : str, optional
        The measure by which folds choose the values of "auto". By default the criterion's
        measure, or "cindex".
    query_weight : {"uniform", "pairs", "size"}, default="uniform"
        Weight of a query of n rows: 1, n or 1/n. Rows, pairs or queries then count alike.
    scale : {"auto", "none", "sd", "max"} or sequence of them, default="auto"
        The divisor of columns, which are centred within queries: their root mean square, or
        their largest absolute value. Weights stay in the units of the data. If `alpha` is
        "auto", folds choose the value of "auto". Otherwise it is "none".
    include : str, int or sequence of them, optional
        Columns that come first, in this order, and count among the k: numbers from 0, or names
        if `X` has names.
    n_candidates : int, optional
        Candidates to judge in a step, drawn at random. By default all, and 59 with "sampled".
    label_scale : {"auto", "raw", "sqrt-sd", "unit"} or sequence of them, default="auto"
        Scale of the labels within each query: "sqrt-sd" divides by the root of their standard
        deviation, "unit" by the deviation. Errors are in its units. If `alpha` is "auto", folds
        choose the value of "auto". Otherwise it is "raw", and "sqrt-sd" with "distil".
    refit : {"labels", "cross-fitted"}, optional
        The target of weights: labels, or three quarters of a teacher's prediction and a quarter
        of the labels. By default "labels", and "cross-fitted" with "distil".
    max_memory : int or str, optional
        Bytes, or a size such as "8GiB". By default the free memory of the machine.
    n_jobs : int, optional
        Threads. Results do not depend on it. None and -1 take all cores, and one core in a
        worker of joblib.
    random_state : int, RandomState or None, default=None
        Seed of random draws. None is seed 1: equal calls give equal results.

    Attributes
    ----------
    selected_ : ndarray of shape (k,)
        Columns in order of selection, from 0. `transform` and `get_feature_names_out` have them
        in the order of `X`. `to_frame` has names beside weights.
    weights_ : ndarray of shape (k,)
        Their weights, in the order of `selected_`.
    n_features_ : int
        k, the number of selected columns.
    support_ : ndarray of shape (n,)
        Whether each column is selected.
    ranking_ : ndarray of shape (n,)
        The step at which each column was selected, from 1; k + 1 for the others.
    coef_ : ndarray of shape (n,)
        Weights of all columns. Only selected columns have weights other than zero.
    lqo_error_path_ : ndarray of shape (k,)
        Leave-query-out error after each step, in squared units of the labels.
    lqo_cindex_path_ : ndarray of shape (k,)
        Concordance index of the leave-query-out predictions after each step.
    identical_ : list of ndarray
        For each selected column, the columns that centre to the same column up to sign.
    strategy_ : str
        The strategy of the selection.
    alpha_ : float
        The ridge parameter of the selection.
    scale_, label_scale_ : str
        The scales of columns and labels in the selection.
    choice_ : dict or None
        All that folds tried, with values and standard errors. None if nothing was open.
    refit_alpha_ : float or None
        The ridge parameter of cross-fitted weights. None if weights fit labels.
    path_ : SelectionPath
        The whole path of the selection.
    partial_ : SelectionPath
        The steps so far, if Ctrl-C or an exception of the callback ended `fit`.
    n_features_in_ : int
        n, the columns of the training data.
    feature_names_in_ : ndarray of shape (n,)
        Their names, if all are text.

    References
    ----------
    .. [1] T. Pahikkala, A. Airola, P. Naula and T. Salakoski, "Greedy RankRLS: a linear time
       algorithm for learning sparse ranking models", SIGIR 2010 Workshop on Feature Generation and
       Selection for Information Retrieval.

    Examples
    --------
    >>> import numpy as np
    >>> from rankrls import GreedyRankRLS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 8))
    >>> y = X[:, 3] - 0.5 * X[:, 5] + 0.1 * rng.normal(size=60)
    >>> qid = np.repeat(np.arange(12), 5)
    >>> model = GreedyRankRLS(n_features_to_select=2).fit(X, y, qid=qid)
    >>> model.selected_.tolist()
    [3, 5]
    >>> model.transform(X).shape
    (60, 2)
    >>> model.score(X, y, qid=qid) > 0.9
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_Selecting._parameter_constraints,
        "choose_by": [str, None],
    }
    n_features_to_select: int = 10
    _: KW_ONLY
    alpha: Alphas = "auto"
    strategy: str | Sequence[str] = "auto"
    criterion: str = "squared"
    convention: Convention = "standard"
    choose_by: str | None = None
    query_weight: QueryWeight = "uniform"
    scale: Scale | Sequence[str] = "auto"
    include: Columns | None = None
    n_candidates: int | None = None
    label_scale: Labels | Sequence[str] = "auto"
    refit: Refit | None = None
    max_memory: int | str | None = None
    n_jobs: int | None = None
    random_state: Any = None

    def _options(self, columns: int) -> dict[str, Any]:
        options = super()._options(columns)
        alpha, strategy = (
            _data.choices(getattr(self, name), name)[0] for name in ("alpha", "strategy")
        )
        if alpha is not None:
            options["lambda"] = alpha
        if strategy is not None:
            options["strategy"] = strategy
        options["choose_by"] = self.choose_by
        return options

    def _search(
        self,
        data: dict[str, Any],
        options: dict[str, Any],
        callback: Callable[[Step], Any] | None,
        folds: list[int] | None,
    ) -> tuple[dict[str, Any], Any, BaseException | None]:
        axes: dict[str, Any] = {name: _data.choices(getattr(self, name), name)[1] for name in AXES}
        alphas = _data.choices(self.alpha, "alpha")[1]
        if alphas:
            axes["lambda"] = ",".join(alphas)
        how = _data.document(
            {"selection": options, "axes": axes, "asked": self.n_features_to_select}
        )
        threads = _data.threads(self.n_jobs)
        text, model, ended = _rankrls.select(data, how, threads, told(callback, Step))
        return json.loads(text), model, ended


@dataclass(eq=False, repr=False)
class GreedyRankRLSCV(_Selecting):
    """Chooses ridge parameter, number of features and strategy by query folds.

    A selection of k features passes through the models of 1, 2, ..., k features. So a ridge
    parameter costs one selection, and one more for each fold. Features are selected anew without
    each fold; ``docs/choosing.md`` of the project has more.

    Parameters
    ----------
    n_features_to_select : int, default=20
        Most features to select.
    alpha : float, str or sequence of them, default="auto"
        Ridge parameters to try: numbers above 0, shares such as "1/64u", or text with ranges of
        them such as "1/256u..1u:2". "auto" is that range, and up to three values past an edge.
        With "auto", folds first choose all else that is "auto" or has a list, as in
        `GreedyRankRLS`.
    strategy : str or sequence of str, default="auto"
        Strategies to choose from: see `GreedyRankRLS`. If `alpha` is given, each is tried with
        every alpha.
    cv : int, "lqo" or splitter, default=5
        Folds of the queries: a number of folds, or a splitter of scikit-learn by groups, such
        as `GroupKFold`, which gets the queries as groups. "lqo" takes leave-query-out
        predictions, which cost nothing more. They are optimistic, because they chose the
        features. The strategy "distil" needs folds.
    scoring : str, optional
        The judge of models: "squared", the squared error, or a measure such as "ndcg@10". By
        default "squared" if `alpha` is given, otherwise the criterion's measure, or "cindex".
    metrics : sequence of str, default=()
        Further measures to report.
    rule : {"best", "one-se"}, default="best"
        "best" takes the best value, "one-se" the fewest features within one standard error of it.
    criterion : str, default="squared"
        As in `GreedyRankRLS`.
    convention : {"standard", "letor"}, default="standard"
        Convention of all measures that do not name one.
    query_weight : str, default="uniform"
        As in `GreedyRankRLS`.
    scale : str or sequence of str, default="auto"
        As in `GreedyRankRLS`.
    include : str, int or sequence of them, optional
        As in `GreedyRankRLS`. A model without all of them is not chosen.
    n_candidates : int, optional
        As in `GreedyRankRLS`.
    label_scale : str or sequence of str, default="auto"
        As in `GreedyRankRLS`.
    refit : str, optional
        As in `GreedyRankRLS`.
    max_memory, n_jobs : int, optional
        As in `GreedyRankRLS`.
    random_state : int, RandomState or None, default=None
        Seed of random draws, also of the folds. None is seed 1: equal calls give equal results.

    Attributes
    ----------
    alpha_ : float
        The chosen ridge parameter.
    n_features_to_select_ : int
        The chosen number of features.
    strategy_ : str
        The chosen strategy.
    scale_, label_scale_ : str
        The scales of columns and labels in the selection.
    choice_ : dict or None
        As in `GreedyRankRLS`: the choice before the grid of alphas.
    best_score_ : float
        The value of the chosen model by `scoring`. Larger is better, as in scikit-learn:
        "squared" has minus the error.
    cv_results_ : dict of ndarray
        A row for each model: ``param_strategy``, ``param_alpha``, ``param_n_features_to_select``,
        ``feature`` (added last), ``mean_test_score`` with its ``std_error_test_score`` over
        queries, ``rank_test_score`` from 1, the same of each of `metrics`, and ``lqo_error``.
    stability_ : float or None
        How far the features of the folds agree at the chosen alpha: Nogueira's index. It is 1
        if they are the same, and about 0 if they agree by chance.
    selected_, weights_ : ndarray of shape (k,)
        As in `GreedyRankRLS`, of the chosen model, which is trained on all queries.
    n_features_ : int
        k, the number of selected columns.
    support_, ranking_, coef_ : ndarray of shape (n,)
        See `GreedyRankRLS`.
    lqo_error_path_, lqo_cindex_path_ : ndarray of shape (k,)
        See `GreedyRankRLS`.
    identical_ : list of ndarray
        See `GreedyRankRLS`.
    refit_alpha_ : float or None
        See `GreedyRankRLS`.
    path_ : SelectionPath
        The whole path of the chosen selection.
    n_features_in_ : int
        n, the columns of the training data.
    feature_names_in_ : ndarray of shape (n,)
        Their names, if all are text.
    partial_ : SelectionPath
        The longest path on all queries, without weights, if Ctrl-C or an exception of the
        callback ended `fit`.

    Examples
    --------
    >>> import numpy as np
    >>> from rankrls import GreedyRankRLSCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 8))
    >>> y = X[:, 3] - 0.5 * X[:, 5] + 0.1 * rng.normal(size=60)
    >>> model = GreedyRankRLSCV(4, alpha=[1, 16], cv=3).fit(X, y, qid=np.repeat(range(12), 5))
    >>> model.alpha_, sorted(model.selected_[:2].tolist())
    (1.0, [3, 5])
    >>> model.cv_results_["mean_test_score"].shape
    (8,)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_Selecting._parameter_constraints,
        "cv": [
            Interval(Integral, 2, 2**63, closed="left"),
            StrOptions({"lqo"}),
            HasMethods("split"),
        ],
        "scoring": [str, None],
        "metrics": [str, "array-like"],
        "rule": [StrOptions({"best", "one-se"})],
    }
    n_features_to_select: int = 20
    _: KW_ONLY
    alpha: Alphas = "auto"
    strategy: str | Sequence[str] = "auto"
    cv: Any = 5
    scoring: str | None = None
    metrics: Sequence[str] = ()
    rule: Literal["best", "one-se"] = "best"
    criterion: str = "squared"
    convention: Convention = "standard"
    query_weight: QueryWeight = "uniform"
    scale: Scale | Sequence[str] = "auto"
    include: Columns | None = None
    n_candidates: int | None = None
    label_scale: Labels | Sequence[str] = "auto"
    refit: Refit | None = None
    max_memory: int | str | None = None
    n_jobs: int | None = None
    random_state: Any = None

    def _adopt(self, model: _rankrls.Model) -> dict[str, Any]:
        facts = super()._adopt(model)
        self.n_features_to_select_ = self.n_features_
        return facts

    def _measures(self) -> bool:
        return self.scoring not in (None, "squared") or len(self.metrics) > 0

    def _judge(self) -> str:
        """The judge of models."""
        if self.scoring is not None:
            return self.scoring
        if _data.items(self.alpha, "alpha") != ["auto"]:
            return "squared"
        return "cindex" if self.criterion == "squared" else self.criterion

    def _grid(self, selection: dict[str, Any]) -> dict[str, Any]:
        """Options of the compiled part's `Tune`."""
        strategy, strategies = _data.choices(self.strategy, "strategy")
        if strategy is not None:
            selection["strategy"] = strategy
        holdout: dict[str, Any] = {"kind": "lqo"}
        if isinstance(self.cv, Integral):
            holdout = {"kind": "folds", "count": self.cv, "seed": selection["seed"]}
        return {
            "lambdas": ",".join(_data.items(self.alpha, "alpha")),
            "strategies": strategies,
            "scales": _data.choices(self.scale, "scale")[1],
            "labels": _data.choices(self.label_scale, "label_scale")[1],
            "holdout": holdout,
            "measure": self._judge(),
            "metrics": _data.items(self.metrics, "metrics"),
            "convention": self.convention,
            "rule": {"name": self.rule},
            "selection": selection,
        }

    def _folds(self, X: Any, y: Any, qid: Any) -> list[int] | None:
        """The fold of each row, drawn by a splitter."""
        if isinstance(self.cv, (Integral, str)):
            return None
        folds = np.full(len(y), -1)
        for number, (_, left_out) in enumerate(self.cv.split(X, y, groups=qid)):
            if (folds[left_out] >= 0).any():
                raise ValueError("cv: a row is in two test parts: expected each row in one")
            folds[left_out] = number
        if (folds < 0).any():
            row = int(np.flatnonzero(folds < 0)[0])
            raise ValueError(f"cv: row {row} is in no test part: expected each row in one")
        return folds.tolist()

    def _search(
        self,
        data: dict[str, Any],
        options: dict[str, Any],
        callback: Callable[[TuneStep], Any] | None,
        folds: list[int] | None,
    ) -> tuple[dict[str, Any], Any, BaseException | None]:
        grid, threads = self._grid(options), _data.threads(self.n_jobs)
        tuned = _rankrls.tune(data, _data.document(grid), threads, told(callback, TuneStep), folds)
        text, model, ended = tuned
        found = json.loads(text)
        if model is not None and ended is None:
            outcomes, choice = found["outcomes"], found["choice"]
            position, k = choice["position"], choice["k"]
            before = sum(len(outcome["points"]) for outcome in outcomes[:position])
            self.stability_ = found["stability"][position]
            self.cv_results_ = self._results(outcomes, grid["metrics"])
            self.best_score_ = self.cv_results_["mean_test_score"][before + k - 1]
        return found, model, ended

    def _results(self, outcomes: list[dict[str, Any]], names: list[str]) -> dict[str, NDArray[Any]]:
        rows = [
            (outcome, number, point, [point["score"], *point["metrics"]])
            for outcome in outcomes
            for number, point in enumerate(outcome["points"], start=1)
        ]
        steps = [point["step"] for *_, point, _ in rows]
        results: dict[str, NDArray[Any]] = {
            "param_strategy": np.array([outcome["strategy"] for outcome, *_ in rows]),
            "param_alpha": np.array([outcome["lambda"] for outcome, *_ in rows], dtype=np.float64),
            "param_n_features_to_select": np.array([number for _, number, *_ in rows], dtype=int),
            "feature": np.array([step["feature"] for step in steps], dtype=np.int64),
            "lqo_error": np.array([step["lqo_error"] for step in steps]),
        }
        for place, name in enumerate(["score", *names]):
            for key, title in (("mean", "mean_test"), ("standard_error", "std_error_test")):
                values = [scores[place][key] for *_, scores in rows]
                results[f"{title}_{name}"] = np.array(values, dtype=np.float64)
        if self._judge() == "squared":
            results["mean_test_score"] *= -1
        for name in ("score", *names):
            costs = -results[f"mean_test_{name}"]
            ranks = rankdata(np.where(np.isnan(costs), np.inf, costs), method="min")
            results[f"rank_test_{name}"] = ranks.astype(np.int32)
        return results
