"""The estimators."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from . import _data, _rankrls, metrics
from ._explain import Explanation
from ._path import SelectionPath, Step, TuneStep, _told, select

Scale = Literal["none", "sd", "max"]
Labels = Literal["raw", "sqrt-sd", "unit"]
QueryWeight = Literal["uniform", "pairs", "size"]


class _Linear(RegressorMixin, BaseEstimator):
    """What all rankers share: checks, scores, and models as files."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        # Scores order the rows of a query; they do not come near the labels.
        tags.regressor_tags.poor_score = True
        return tags

    def _checked(self, X: Any, *, fit: bool) -> tuple[Any, NDArray[Any] | None]:
        """A matrix of numbers, and the names of its columns; remembers them in `fit`."""
        matrix = validate_data(
            self,
            X,
            reset=fit,
            accept_sparse=("csc", "csr"),
            dtype=np.float64,
            # The compiled part says where a value is that is not finite.
            ensure_all_finite=False,
            ensure_min_samples=2 if fit else 1,
        )
        if not fit:
            _check_finite(matrix)
        return matrix, getattr(self, "feature_names_in_", None)

    def _refuse(self, y: Any, others: dict[str, Any]) -> None:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        if "sample_weight" in others:
            raise TypeError(
                "sample_weight is not supported: queries are left out whole, so that only queries "
                "can weigh differently; choose their weights with query_weight="
            )
        for name in others:
            raise TypeError(f"fit() got an unexpected keyword argument {name!r}")

    def _adopt(self, model: _rankrls.Model) -> None:
        """The attributes of a fitted model."""
        if model.kernel is not None:
            raise ValueError("the model has a kernel in place of weights: load it by RankRLS")
        self.model_ = model
        self.n_features_in_ = model.columns
        self.coef_ = np.zeros(model.columns)
        self.coef_[model.features] = model.weights

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Scores rows: a higher score is a better place in the ranking of the query.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (m, n)
            Rows with the columns of the training data.

        Returns
        -------
        ndarray of shape (m,)
            Scores in units of the labels, up to a constant in each query.

        Raises
        ------
        ValueError
            For another number of columns, and for values that are not finite.
        """
        check_is_fitted(self)
        matrix, _ = self._checked(X, fit=False)
        return self._scores(matrix)

    def _scores(self, X: Any) -> NDArray[np.float64]:
        return np.asarray(X @ self.coef_)

    def score(
        self, X: Any, y: Any, *, qid: Any = None, group: Any = None, sample_weight: None = None
    ) -> float:
        """The mean concordance index of the predictions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (m, n)
            Rows.
        y : array-like of shape (m,)
            Labels.
        qid, group
            Queries, as in `fit`.
        sample_weight : None
            There for `sklearn.pipeline.Pipeline`, which passes it on; refused if it is not None.

        Returns
        -------
        float
            The share of pairs of a query that are ordered correctly, averaged over queries that
            have such a pair; nan if none has.

        Raises
        ------
        ValueError
            Without queries, and for data that `predict` refuses.
        """
        if sample_weight is not None:
            self._refuse(y, {"sample_weight": sample_weight})
        return metrics.score(y, self.predict(X), qid=qid, group=group, metric="cindex")

    def explain(
        self,
        X: Any,
        *,
        query: Any = None,
        qid: Any = None,
        group: Any = None,
        versus: int | None = None,
    ) -> Explanation:
        """Why the rows of a query are in their order.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (m, n)
            Rows with the columns of the training data.
        query : optional
            An id of `qid`, or with `group` the number of a query, from 0. Not needed where all rows
            are one query.
        qid, group
            Queries, as in `fit`; without them all rows are one.
        versus : int, optional
            A row of `X` in the query, from 0, to hold the scores against; by default their mean.

        Returns
        -------
        Explanation
            The rows by falling score, with what each feature adds.

        Raises
        ------
        ValueError
            For a query or row that there is not, for data without any of the features, and for a
            kernel, which has no features.
        """
        check_is_fitted(self)
        matrix, _ = self._checked(X, fit=False)
        if "coef_" not in self.__dict__:
            raise ValueError("a kernel model has no features to explain an order by")
        codes, ids = _data.queries(qid, group, matrix.shape[0])
        if query is None and len(ids) > 1:
            raise ValueError(f"query: there are {len(ids)} queries: name one")
        name = ids[0] if query is None else str(query)
        if name not in ids:
            first = ", ".join(ids[:3])
            raise ValueError(
                f"query: none of the {len(ids)} is called {name!r}; the first are {first}"
            )
        number = ids.index(name)
        if versus is not None and not (0 <= versus < len(codes) and codes[versus] == number):
            raise ValueError(f"versus: row {versus} is not of query {name!r}")
        reference, rows, scores, places, contributions = self.model_.explain(
            _data.canonical(matrix), codes, ids, number, versus
        )
        features = self.model_.features[places]
        names = getattr(self, "feature_names_in_", None)
        known = self.model_.names
        return Explanation(
            rows=rows,
            scores=scores,
            reference=reference,
            features=features,
            names=[
                str((known[place] if names is None else names[feature]) or feature)
                for place, feature in zip(places, features, strict=True)
            ],
            contributions=contributions,
        )

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """The model as the command's files have it.

        Parameters
        ----------
        path : path-like, optional
            Where to write it, for ``rankrls predict`` or `from_json`.

        Returns
        -------
        str
            The document.
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        document: bytes = self.model_.to_json(None if names is None else names.tolist())
        text = document.decode()
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    @classmethod
    def from_json(cls, source: str | os.PathLike[str]) -> Any:
        """A fitted estimator from a model of the command or of `to_json`.

        Parameters
        ----------
        source : path-like or str
            The file, or the document itself.

        Returns
        -------
        estimator
            With the parameters that the model tells, ready to predict.

        Raises
        ------
        ValueError
            For a document that is no model, with line and column.
        """
        if isinstance(source, str) and source.lstrip().startswith("{"):
            model = _rankrls.Model.from_json(source.encode())
        else:
            model = _rankrls.Model.from_json(Path(source).read_bytes(), os.fspath(source))
        estimator = cls(**cls._params_of(model))
        estimator._adopt(model)
        return estimator

    @staticmethod
    def _params_of(model: _rankrls.Model) -> dict[str, Any]:
        return {"alpha": model.alpha}


def _check_finite(X: Any) -> None:
    """Says where a value is that is not finite."""
    sparse = _data.is_sparse(X)
    values = X.data if sparse else X
    if np.isfinite(values.sum()) or np.isfinite(values).all():
        return
    if sparse:
        entries = X.tocoo()
        first = int(np.argmin(np.isfinite(entries.data)))
        row, column, value = entries.row[first], entries.col[first], entries.data[first]
    else:
        row, column = np.argwhere(~np.isfinite(X))[0]
        value = X[row, column]
    what = "NaN" if np.isnan(value) else "infinity"
    raise ValueError(
        f"Input X contains {what}: the value at row {row}, column {column} is {value}; fill gaps "
        "in first, for example with sklearn.impute.SimpleImputer"
    )


class _Selecting(SelectorMixin, _Linear):
    """What both selectors share."""

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.selected_] = True
        return mask

    def _scores(self, X: Any) -> NDArray[np.float64]:
        """The sum of weight times column in order of selection: the bits of the command."""
        scores = np.zeros(X.shape[0])
        if not _data.is_sparse(X):
            for feature, weight in zip(self.selected_, self.weights_, strict=True):
                scores += weight * X[:, feature]
            return scores
        columns = X[:, self.selected_].tocsc()
        columns.sum_duplicates()
        for place, weight in enumerate(self.weights_):
            entries = slice(columns.indptr[place], columns.indptr[place + 1])
            scores[columns.indices[entries]] += weight * columns.data[entries]
        return scores

    def _adopt(self, model: _rankrls.Model) -> None:
        super()._adopt(model)
        self.selected_ = model.features
        self.weights_ = model.weights
        self.identical_ = [np.array(columns, dtype=np.int64) for columns in model.identical]
        self.strategy_ = model.strategy
        self.alpha_ = model.alpha
        self.lqo_error_path_ = np.array([error for error, _ in model.path])
        self.lqo_cindex_path_ = np.array(
            [np.nan if cindex is None else cindex for _, cindex in model.path]
        )

    def _options(self, columns: int) -> dict[str, Any]:
        """The parameters as the compiled part takes them."""
        params = self.get_params(deep=False)
        k = _data.count(params["n_features_to_select"], "n_features_to_select")
        candidates = params["n_candidates"]
        if candidates is not None:
            candidates = _data.count(candidates, "n_candidates")
        teachers = params["teacher_alpha"]
        if teachers is not None:
            teachers = np.atleast_1d(np.asarray(teachers, dtype=np.float64)).tolist()
        blend = params["blend"]
        return {
            "k": min(k, columns),
            "alpha": 1.0,
            "n_candidates": candidates,
            "teacher_alpha": teachers,
            "blend": None if blend is None else _data.number(blend, "blend"),
            **{
                name: str(params[name])
                for name in ("criterion", "convention", "query_weight", "scale", "labels")
            },
            "strategy": str(params.get("strategy", "auto")),
            "refit": params["refit"],
            "seed": _data.seed(params["random_state"]),
            "max_memory": _data.size(params["max_memory"]),
            "threads": _data.threads(params["n_jobs"]),
        }

    def _validation(self, X: Any) -> Any:
        """Rows of validation data, with the columns of the training data."""
        return None if X is None else self._checked(X, fit=False)[0]

    def _warn_of_few(self) -> None:
        asked, found = self.n_features_to_select, len(self.selected_)
        if found < asked:
            warnings.warn(
                f"selected {found} features, not {asked}: no other column varies within a query "
                "and differs from them",
                UserWarning,
                stacklevel=3,
            )


class GreedyRankRLS(_Selecting):
    """Selects features by exact leave-query-out error, and ranks by them.

    Greedy RankRLS adds one feature at a time: the one with which regularised least squares, trained
    on queries and features that are centred within each query, predicts left-out queries best [1]_.

    Parameters
    ----------
    n_features_to_select : int, default=10
        Features to select, k.
    alpha : float or "auto", default=1.0
        The ridge parameter (lambda of the paper), above 0. "auto" takes the best of 1, 4, 16, 64
        and 256 by three folds of the queries.
    strategy : str, default="auto"
        "auto" is the fastest exact strategy that fits into memory. "bounded", "dense" and "lowmem"
        are exact and find the same features. "distil" selects towards the hold-out predictions of
        RankRLS on all columns, and ranks new queries best. "sampled", "residual", "backfit",
        "univariate", "fs-ed" and "random" are cheaper or there to compare. "fs-ed" takes labels of
        at most 16 grades.
    criterion : str, default="squared"
        What each step improves most: the squared error, or a measure of the leave-query-out
        predictions such as "ndcg@10" (strategies "dense" and "lowmem").
    convention : {"standard", "letor"}, default="standard"
        Conventions of the measure.
    labels : {"raw", "sqrt-sd", "unit"}, default="raw"
        Scale of the labels within each query: divided by the root of their standard deviation, or
        by the deviation.
    scale : {"none", "sd", "max"}, default="none"
        What centred columns are divided by. Weights stay in units of the data.
    query_weight : {"uniform", "pairs", "size"}, default="uniform"
        What a query of n rows counts: 1, n or 1/n.
    refit : {"labels", "cross-fitted"}, optional
        What the weights are fitted to; "cross-fitted", three quarters of what a teacher predicts,
        is the default of "distil".
    blend : float, optional
        Share of the labels in what "distil" selects by, from 0 to 1. By default 0.2, and 0.4 from
        500 queries on.
    teacher_alpha : float or sequence of float, optional
        Ridge parameters of the teacher, at most eight: that of least hold-out error is taken. By
        default 4, 16 and 64.
    n_candidates : int, optional
        Candidates drawn at random in each step. By default all, and 59 with strategy "sampled".
    max_memory : int or str, optional
        Bytes, or a size such as "8GiB". By default what the machine has left.
    n_jobs : int, optional
        Threads; results do not depend on it. None and -1 take all cores, and one in a worker of
        joblib.
    random_state : int, RandomState or None, default=None
        Seed of random draws. None is seed 1: equal calls give equal results.
    verbose : int, default=0
        Whether to show progress: by tqdm if it is installed, else in lines on standard error.

    Attributes
    ----------
    selected_ : ndarray of shape (k,)
        Columns in order of selection, from 0.
    weights_ : ndarray of shape (k,)
        Their weights.
    coef_ : ndarray of shape (n,)
        Weights of all columns: zero but for the selected ones.
    lqo_error_path_ : ndarray of shape (k,)
        Leave-query-out error after each step, in squared units of the labels.
    lqo_cindex_path_ : ndarray of shape (k,)
        Concordance index of the leave-query-out predictions after each step.
    identical_ : list of ndarray
        For each selected column, the others that centre to the same one up to sign.
    strategy_, alpha_
        The strategy and ridge parameter that were taken.
    path_ : SelectionPath
        Everything that the selection found.
    partial_ : SelectionPath
        What there was when Ctrl-C or an exception of the callback ended `fit`.
    n_features_in_, feature_names_in_
        Columns of the training data, and their names where they are all text.

    See Also
    --------
    GreedyRankRLSCV : Chooses `alpha`, `strategy` and `n_features_to_select`.
    RankRLS : Trains on all features.

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

    def __init__(
        self,
        n_features_to_select: int = 10,
        *,
        alpha: float | Literal["auto"] = 1.0,
        strategy: str = "auto",
        criterion: str = "squared",
        convention: Literal["standard", "letor"] = "standard",
        labels: Labels = "raw",
        scale: Scale = "none",
        query_weight: QueryWeight = "uniform",
        refit: Literal["labels", "cross-fitted"] | None = None,
        blend: float | None = None,
        teacher_alpha: float | Sequence[float] | None = None,
        n_candidates: int | None = None,
        max_memory: int | str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.strategy = strategy
        self.criterion = criterion
        self.convention = convention
        self.labels = labels
        self.scale = scale
        self.query_weight = query_weight
        self.refit = refit
        self.blend = blend
        self.teacher_alpha = teacher_alpha
        self.n_candidates = n_candidates
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _options(self, columns: int) -> dict[str, Any]:
        auto = isinstance(self.alpha, str) and self.alpha == "auto"
        alpha = None if auto else _data.number(self.alpha, "alpha")
        return {**super()._options(columns), "alpha": alpha}

    @staticmethod
    def _params_of(model: _rankrls.Model) -> dict[str, Any]:
        return {"alpha": model.alpha, "n_features_to_select": max(1, len(model.features))}

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        qid: Any = None,
        group: Any = None,
        teacher: Any = None,
        X_validation: Any = None,
        callback: Callable[[Step], Any] | None = None,
        **refused: Any,
    ) -> GreedyRankRLS:
        """Selects features and fits their weights.

        Ctrl-C ends the selection with a KeyboardInterrupt; `partial_` has what there was.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (m, n)
            Examples by features, such as parses of sentences by their counts. SciPy's CSC of
            float64 with 32-bit indices is used where it is; CSR is transposed once; other types are
            converted once.
        y : array-like of shape (m,)
            Labels: more is better.
        qid : array-like of shape (m,), optional
            The query of each row: integers, text or other hashables. Rows of a query need not be
            next to each other.
        group : array-like of int, optional
            Sizes of consecutive queries, as LightGBM has them, in place of `qid`.
        teacher : array-like of shape (m,), optional
            Scores by another model that has not seen the labels of the row's query, for strategy
            "distil" and cross-fitted weights; by default RankRLS on all columns teaches.
        X_validation : {array-like, sparse matrix} of shape (m_val, n), optional
            Rows at whose values strategy "fs-ed" compares densities; by default those of `X`.
        callback : callable, optional
            Called with each `Step`; a true result ends the selection there.

        Returns
        -------
        GreedyRankRLS
            Itself.

        Raises
        ------
        ValueError
            For data or parameters that cannot be used, with what was found, where, and what to do.
            Leave-query-out needs at least two queries.
        MemoryError
            Where the strategy takes more than `max_memory`: the message names strategies that fit.
        """
        self._refuse(y, refused)
        matrix, _ = self._checked(X, fit=True)
        validation = self._validation(X_validation)
        data = _data.training(matrix, y, qid, group, teacher, validation)
        options = self._options(matrix.shape[1])
        path, model, ended = select(data, options, callback=callback, verbose=self.verbose)
        if ended is not None:
            self.partial_ = path
            raise ended
        assert model is not None
        self._adopt(model)
        self.path_ = path
        if callback is None:
            self._warn_of_few()
        return self


class GreedyRankRLSCV(_Selecting):
    """Chooses ridge parameter, number of features and strategy by query folds.

    A selection of k features passes through the models of 1, 2, ..., k features, so that a grid of
    ridge parameters costs one selection each, and as many more as there are folds. Features are
    selected anew without each fold.

    Parameters
    ----------
    n_features_to_select : int, default=20
        Most features to select.
    alphas : sequence of float, default=(1.0, 4.0, 16.0, 64.0, 256.0)
        Ridge parameters to try, each above 0.
    strategies : sequence of str, default=("auto",)
        Strategies to choose from: see `GreedyRankRLS`.
    cv : int or "lqo", default=5
        Folds of the queries, or leave-query-out predictions: these cost nothing more, and are
        optimistic, as the features were chosen by them. The strategy "distil" needs folds.
    scoring : str, default="squared"
        What models are judged by: the squared error, or a measure such as "ndcg@10" or "cindex".
    metrics : sequence of str, default=()
        Measures to report besides.
    rule : {"best", "one-se"}, default="best"
        "best" takes the best value, "one-se" the fewest features within one standard error of it.
    criterion, convention, labels, scale, query_weight, refit, blend, teacher_alpha, \
n_candidates, max_memory, n_jobs, random_state, verbose
        As in `GreedyRankRLS`; `random_state` also draws the folds.

    Attributes
    ----------
    alpha_ : float
        The chosen ridge parameter.
    n_features_to_select_ : int
        The chosen number of features.
    strategy_ : str
        The chosen strategy.
    best_score_ : float
        The value of the chosen model by `scoring`; lower is better for "squared".
    cv_results_ : dict of ndarray
        A row for each model: ``param_strategy``, ``param_alpha``, ``param_n_features_to_select``,
        ``feature`` (added last), ``mean_test_score`` with its ``std_error_test_score`` over
        queries, ``rank_test_score`` from 1, the same of each of `metrics`, and ``lqo_error``.
    stability_ : float or None
        How much the features of the folds agree with the chosen alpha (Nogueira's index): 1 if they
        are the same, about 0 if by chance.
    selected_, weights_, coef_, lqo_error_path_, lqo_cindex_path_, identical_, path_
        As in `GreedyRankRLS`, of the chosen model, which is trained on all queries.
    partial_ : SelectionPath
        The longest path from all queries, without weights, when Ctrl-C or an exception of the
        callback ended `fit`.

    See Also
    --------
    GreedyRankRLS : Selects with given parameters.

    Notes
    -----
    ``docs/tuning.md`` of the project has the formulas.

    Examples
    --------
    >>> import numpy as np
    >>> from rankrls import GreedyRankRLSCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 8))
    >>> y = X[:, 3] - 0.5 * X[:, 5] + 0.1 * rng.normal(size=60)
    >>> model = GreedyRankRLSCV(4, alphas=[1, 16], cv=3).fit(X, y, qid=np.repeat(range(12), 5))
    >>> model.alpha_, sorted(model.selected_[:2].tolist())
    (1.0, [3, 5])
    >>> model.cv_results_["mean_test_score"].shape
    (8,)
    """

    def __init__(
        self,
        n_features_to_select: int = 20,
        *,
        alphas: Sequence[float] = (1.0, 4.0, 16.0, 64.0, 256.0),
        strategies: Sequence[str] = ("auto",),
        cv: int | Literal["lqo"] = 5,
        scoring: str = "squared",
        metrics: Sequence[str] = (),
        rule: Literal["best", "one-se"] = "best",
        criterion: str = "squared",
        convention: Literal["standard", "letor"] = "standard",
        labels: Labels = "raw",
        scale: Scale = "none",
        query_weight: QueryWeight = "uniform",
        refit: Literal["labels", "cross-fitted"] | None = None,
        blend: float | None = None,
        teacher_alpha: float | Sequence[float] | None = None,
        n_candidates: int | None = None,
        max_memory: int | str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alphas = alphas
        self.strategies = strategies
        self.cv = cv
        self.scoring = scoring
        self.metrics = metrics
        self.rule = rule
        self.criterion = criterion
        self.convention = convention
        self.labels = labels
        self.scale = scale
        self.query_weight = query_weight
        self.refit = refit
        self.blend = blend
        self.teacher_alpha = teacher_alpha
        self.n_candidates = n_candidates
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @staticmethod
    def _params_of(model: _rankrls.Model) -> dict[str, Any]:
        k = max(1, len(model.features))
        return {"alphas": (model.alpha,), "n_features_to_select": k}

    def _grid(self, seed: int) -> dict[str, Any]:
        if self.rule not in ("best", "one-se"):
            raise ValueError(f"rule: expected 'best' or 'one-se', found {self.rule!r}")
        by_lqo = isinstance(self.cv, str) and self.cv == "lqo"
        if not by_lqo and (not isinstance(self.cv, (int, np.integer)) or self.cv < 2):
            raise ValueError(
                f"cv: expected a number of folds from 2 on, or 'lqo', found {self.cv!r}"
            )
        strategies = _data.name_list(self.strategies)
        if "auto" in strategies and len(strategies) > 1:
            raise ValueError("strategies: 'auto' stands alone; name the strategies to choose from")
        return {
            "alphas": [_data.number(alpha, "alphas") for alpha in np.atleast_1d(self.alphas)],
            "strategies": [name for name in strategies if name != "auto"],
            "folds": None if by_lqo else int(self.cv),
            "fold_seed": seed,
            "measure": str(self.scoring),
            "metrics": _data.name_list(self.metrics),
            "rules": json.dumps({"convention": self.convention}),
            "rule": json.dumps({"name": self.rule}),
        }

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        qid: Any = None,
        group: Any = None,
        teacher: Any = None,
        X_validation: Any = None,
        callback: Callable[[TuneStep], Any] | None = None,
        **refused: Any,
    ) -> GreedyRankRLSCV:
        """Tries all ridge parameters and strategies, and trains the model that is best.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (m, n)
            Examples by features.
        y : array-like of shape (m,)
            Labels: more is better.
        qid, group, teacher, X_validation
            As in `GreedyRankRLS.fit`.
        callback : callable, optional
            Called with each `TuneStep` of every selection; a true result ends them all, and the
            choice is made among what there is.

        Returns
        -------
        GreedyRankRLSCV
            Itself.

        Raises
        ------
        ValueError
            As `GreedyRankRLS.fit`; for more folds than queries, and for "lqo" with "distil".
        MemoryError
            As `GreedyRankRLS.fit`.
        """
        self._refuse(y, refused)
        matrix, _ = self._checked(X, fit=True)
        validation = self._validation(X_validation)
        data = _data.training(matrix, y, qid, group, teacher, validation)
        options = self._options(matrix.shape[1])
        grid = self._grid(options["seed"])
        selections = len(set(grid["alphas"])) * max(1, len(grid["strategies"]))
        total = options["k"] * selections * (1 + (grid["folds"] or 0))
        told, done = _told(callback, self.verbose, total, "steps", TuneStep)
        try:
            found, ended = _rankrls.tune(data, options, grid, told)
        finally:
            done()
        path = SelectionPath._of(found)
        if ended is not None:
            self.partial_ = path
            raise ended
        self._adopt(found["model"])
        self.path_ = path
        outcomes = json.loads(found["outcomes"])
        position, k = found["choice"]
        self.n_features_to_select_ = k
        self.best_score_ = outcomes[position]["points"][k - 1]["score"]["mean"]
        self.stability_ = found["stability"][position]
        self.cv_results_ = self._results(outcomes, grid["metrics"])
        return self

    def _results(self, outcomes: list[dict[str, Any]], names: list[str]) -> dict[str, NDArray[Any]]:
        rows = [
            (outcome, number, point)
            for outcome in outcomes
            for number, point in enumerate(outcome["points"], start=1)
        ]
        numbers = np.float64
        scores = np.array([point["score"]["mean"] for *_, point in rows], dtype=numbers)
        results: dict[str, NDArray[Any]] = {
            "param_strategy": np.array([outcome["strategy"] for outcome, *_ in rows]),
            "param_alpha": np.array([outcome["lambda"] for outcome, *_ in rows], dtype=numbers),
            "param_n_features_to_select": np.array([number for _, number, _ in rows], dtype=int),
            "feature": np.array([point["step"]["feature"] for *_, point in rows], dtype=np.int64),
            "mean_test_score": scores,
            "std_error_test_score": np.array(
                [point["score"]["standard_error"] for *_, point in rows], dtype=numbers
            ),
            "rank_test_score": _ranks(scores if self.scoring == "squared" else -scores),
            "lqo_error": np.array([point["step"]["lqo_error"] for *_, point in rows]),
        }
        for place, name in enumerate(names):
            values = [point["metrics"][place] for *_, point in rows]
            for key, title in (("mean", "mean_test"), ("standard_error", "std_error_test")):
                column = np.array([value[key] for value in values], dtype=numbers)
                results[f"{title}_{name}"] = column
        return results


def _ranks(costs: NDArray[np.float64]) -> NDArray[np.int32]:
    """Places from 1; equal costs share the better one, undefined ones come last."""
    known = np.where(np.isnan(costs), np.inf, costs)
    return (1 + np.searchsorted(np.sort(known), known)).astype(np.int32)


class RankRLS(_Linear):
    """Regularised least-squares ranking on all features, with hold-out predictions in closed form.

    Ridge regression on features and labels that are centred within each query, on all pairs of
    rows, or on given ones; of the columns, or under a kernel. One factorisation gives the
    predictions for each query, or pair, by the model trained without it [1]_.

    Parameters
    ----------
    alpha : float, default=1.0
        The ridge parameter (lambda of the paper), above 0.
    objective : {"query", "global", "pairs"}, default="query"
        Pairs of rows to order: those of the same query, all, or the `pairs` of `fit`.
    kernel : {"linear", "gaussian", "polynomial", "precomputed"}, default="linear"
        "linear" gives each column a weight. "gaussian" is ``exp(-gamma |x - z|^2)``, "polynomial"
        ``(gamma x.z + coef0)^degree``. With "precomputed", column j of `X` has the kernel of each
        row with row j of the training data.
    gamma : float, default=1.0
        Of "gaussian" and "polynomial", above 0.
    degree : int, default=2
        Of "polynomial", from 1 on.
    coef0 : float, default=0.0
        Of "polynomial", from 0 on.
    basis : int, array-like of int or None, default=None
        The reduced set: so many rows drawn at random, or these. The model is over the kernel with
        them alone. None is all rows.
    solver : {"auto", "dual", "primal", "cg"}, default="auto"
        "dual" factors a system of the rows, "primal" one of the columns, "cg" iterates and factors
        nothing; "auto" takes the fastest that fits into memory. Kernels without a basis: "dual".
    holdout : str, array-like of shape (m,) or None, default=None
        Rows to hold out: "lqo", each query on its own; "lpo", each pair of rows of a query, or each
        of `pairs`; "folds:N", N groups drawn at random, of queries, of the rows of a single query,
        or of `pairs`; an array with the fold of each row, or of each of `pairs`; "none". "auto" is
        the choice of the command: "lqo", or "lpo" under another objective, or five folds where that
        takes long. None is the same, but holds nothing out where it does not come from the factors:
        with "cg" and, under objective "query", for a single query.
    keep_pairs : bool, default=False
        Whether to keep the predictions of "lpo": two numbers for each pair of rows.
    labels, scale, query_weight, max_memory, n_jobs, random_state
        As in `GreedyRankRLS`. `scale` goes with the linear kernel without `basis`, `query_weight`
        with objective "query".

    Attributes
    ----------
    coef_ : ndarray of shape (n,)
        A weight for each column, under the linear kernel.
    dual_coef_ : ndarray of shape (b,)
        A coefficient for each row of `support_`, under another kernel and with a basis.
    support_ : ndarray of shape (b,)
        These rows of the training data; not in models from files.
    solver_ : str
        The solver that was taken.
    lqo_predictions_ : ndarray of shape (m,)
        Centred predictions for each row by the model that was trained without its query, where
        queries were left out.
    holdout_predictions_ : ndarray of shape (m,), (p,) or (q, 2)
        The same by whatever scheme there was; with `pairs`, the predicted difference of each; of
        "lpo" with `keep_pairs`, a prediction for both rows of `holdout_pairs_`.
    holdout_pairs_ : ndarray of shape (q, 2)
        Rows that "lpo" held out together, with `keep_pairs`.
    holdout_error_ : float
        Sum over queries of the squared centred residuals, in squared units of the labels.
    holdout_cindex_ : float
        Their concordance index; nan where no query has a pair to order.
    condition_ : float
        A bound of how much rounding may be amplified.
    n_features_in_, feature_names_in_
        As in `GreedyRankRLS`.

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

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        objective: Literal["query", "global", "pairs"] = "query",
        kernel: Literal["linear", "gaussian", "polynomial", "precomputed"] = "linear",
        gamma: float = 1.0,
        degree: int = 2,
        coef0: float = 0.0,
        basis: Any = None,
        solver: Literal["auto", "dual", "primal", "cg"] = "auto",
        holdout: Any = None,
        keep_pairs: bool = False,
        labels: Labels = "raw",
        scale: Scale = "none",
        query_weight: QueryWeight = "uniform",
        max_memory: int | str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.objective = objective
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.basis = basis
        self.solver = solver
        self.holdout = holdout
        self.keep_pairs = keep_pairs
        self.labels = labels
        self.scale = scale
        self.query_weight = query_weight
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name == "coef_" and "dual_coef_" in self.__dict__:
                raise AttributeError(
                    "coef_ is there for kernel='linear' alone: other kernels have dual_coef_ and "
                    "support_"
                )
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

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
        group: Any = None,
        pairs: Any = None,
        **refused: Any,
    ) -> RankRLS:
        """Fits weights to all columns, or coefficients to rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (m, n)
            Examples by features; with kernel "precomputed", the kernel of the examples, (m, m).
        y : array-like of shape (m,)
            Labels: more is better. Not needed for objective "pairs".
        qid : array-like of shape (m,), optional
            The query of each row. Needed for objective "query", as is `group` in its place.
        group : array-like of int, optional
            Sizes of consecutive queries, in place of `qid`; ``group=[m]`` compares all rows.
        pairs : array-like of shape (p, 2), (p, 3) or (p, 4), optional
            For objective "pairs": the preferred and the other row of `X`, from 0; by how much, in
            units of the scores, by default 1; and the weight of the pair, by default 1.

        Returns
        -------
        RankRLS
            Itself.

        Raises
        ------
        ValueError
            For data or parameters that cannot be used, for a kernel that is not symmetric or
            indefinite, and without queries or pairs where there have to be some.
        MemoryError
            Where the solver takes more than `max_memory`: the message names solvers that fit.
        """
        if (self.objective == "pairs") != (pairs is not None):
            raise ValueError("objective='pairs' and pairs= of fit go together")
        self._refuse(pairs if y is None else y, refused)
        matrix, _ = self._checked(X, fit=True)
        rows = matrix.shape[0]
        if self.objective == "query" and qid is None and group is None:
            raise ValueError(
                f"only rows of one query are compared: {_data.GIVE_QUERIES}; "
                f"group=[{rows}] compares all rows"
            )
        self._check_combinations()
        data = _data.training(matrix, np.zeros(rows) if y is None else y, qid, group, least=1)
        preferences = None if pairs is None else _data.preferences(pairs, rows)
        held_out = (rows, "row of X") if preferences is None else (len(preferences), "pair")
        options = {
            "alpha": _data.number(self.alpha, "alpha"),
            "objective": str(self.objective),
            "kernel": str(self.kernel),
            "gamma": _data.number(self.gamma, "gamma"),
            "degree": min(_data.count(self.degree, "degree"), 2**31),
            "coef0": _data.number(self.coef0, "coef0"),
            "basis": _data.basis(self.basis, rows),
            "solver": str(self.solver),
            "query_weight": str(self.query_weight),
            "scale": str(self.scale),
            "labels": str(self.labels),
            "holdout": _data.holdout(self.holdout, *held_out),
            "keep_pairs": bool(self.keep_pairs),
            "pairs": preferences,
            "seed": _data.seed(self.random_state),
            "max_memory": _data.size(self.max_memory),
            "threads": _data.threads(self.n_jobs),
        }
        found, ended = _rankrls.train(data, options)
        if ended is not None:
            raise ended
        assert found is not None
        # A fit before this one may have had others.
        for name in list(self.__dict__):
            if name.startswith(("coef_", "dual_", "support_", "lqo_", "holdout_")):
                del self.__dict__[name]
        self._adopt(found["model"])
        self.solver_ = found["solver"]
        self.condition_ = found["condition"]
        if found["support"] is not None:
            self.support_, self.dual_coef_ = found["support"]
        if found["holdout"] is not None:
            scheme, self.holdout_error_, self.holdout_cindex_, predictions, both = found["holdout"]
            if len(both):
                self.holdout_pairs_ = both.reshape(-1, 2)
                predictions = predictions.reshape(-1, 2)
            if len(predictions):
                self.holdout_predictions_ = predictions
            if scheme == "lqo":
                self.lqo_predictions_ = predictions
        return self

    def _check_combinations(self) -> None:
        """Refuses parameters that have nothing to act on."""
        linear, reduced = self.kernel == "linear", self.basis is not None
        if self.scale != "none" and (reduced or not linear):
            raise ValueError("scale goes with kernel='linear', without a basis")
        if self.query_weight != "uniform" and self.objective != "query":
            raise ValueError("query_weight goes with objective='query'")
        if self.labels != "raw" and self.objective == "pairs":
            raise ValueError("labels has nothing to scale: pairs are learnt from")
        if self.solver not in ("auto", "dual") and not (linear or reduced):
            raise ValueError("a kernel has the solver 'dual'; with a basis it has the others, too")

    def _adopt(self, model: _rankrls.Model) -> None:
        if model.kernel is None and self.kernel != "precomputed":
            super()._adopt(model)
            return
        self.model_ = model
        self.n_features_in_ = model.columns
        self.dual_coef_ = model.coefficients

    def _scores(self, X: Any) -> NDArray[np.float64]:
        if "coef_" in self.__dict__:
            return super()._scores(X)
        return self.model_.scores(_data.canonical(X), _data.threads(self.n_jobs))

    def score(
        self, X: Any, y: Any, *, qid: Any = None, group: Any = None, sample_weight: None = None
    ) -> float:
        if self.objective != "query" and qid is None and group is None:
            group = [_num_samples(X)]
        return super().score(X, y, qid=qid, group=group, sample_weight=sample_weight)

    @staticmethod
    def _params_of(model: _rankrls.Model) -> dict[str, Any]:
        params = {"alpha": model.alpha, "objective": model.objective}
        if model.kernel is not None:
            kernel = json.loads(model.kernel)
            params.update(kernel, kernel=kernel.pop("kind"))
        return params
