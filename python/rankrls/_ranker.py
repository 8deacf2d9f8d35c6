"""The base of all estimators."""

from __future__ import annotations

import copy
import json
import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _data, _rankrls, metrics

if TYPE_CHECKING:
    from typing_extensions import Self

Scale = Literal["auto", "none", "sd", "max"]
Labels = Literal["auto", "raw", "sqrt-sd", "unit"]
QueryWeight = Literal["uniform", "pairs", "size"]


@dataclass(frozen=True, repr=False)
class Explanation:
    """A model's ranking of the rows of a query, and the contributions of each feature.

    As text, it shows the five largest contributions to each row.

    Attributes
    ----------
    rows : ndarray of shape (r,)
        Rows of `X`, from 0, by falling score. Equal scores keep the order of `X`.
    ranks : ndarray of shape (r,)
        Their places in the order, from 1.
    labels : ndarray of shape (r,) or None
        Their labels, if `y` was given.
    scores : ndarray of shape (r,)
        Their scores.
    reference : float
        The mean of the scores, or the score of the row compared with.
    features : ndarray of shape (p,)
        Columns that contribute to at least one row, in the order of the model.
    names : list of str
        Their names, or the numbers of columns without names.
    values : ndarray of shape (r, p)
        Values of the features in the rows. Missing values are filled as in the model.
    contributions : ndarray of shape (r, p)
        Weight times the difference between the value and the reference's value. A row adds up
        to the score less `reference`, except for rounding.
    """

    rows: NDArray[np.int64]
    ranks: NDArray[np.int64]
    labels: NDArray[np.float64] | None
    scores: NDArray[np.float64]
    reference: float
    features: NDArray[np.int64]
    names: list[str]
    values: NDArray[np.float64]
    contributions: NDArray[np.float64]

    def __repr__(self) -> str:
        rows, features = self.contributions.shape
        return f"Explanation({rows} rows, {features} features, reference={self.reference:.6g})"

    def __str__(self) -> str:
        lines = []
        for place, row in enumerate(self.rows):
            label = "" if self.labels is None else f"label {self.labels[place]:g}, "
            score, parts = self.scores[place], self.contributions[place]
            lines.append(
                f"{self.ranks[place]}. row {row}: {label}score {score:.4g}, "
                f"difference {score - self.reference:+.4g}"
            )
            for i in np.argsort(-np.abs(parts), kind="stable")[:5]:
                if parts[i] != 0:
                    value = self.values[place, i]
                    lines.append(f"  {parts[i]:+.4g}  {self.names[i]} = {value:.4g}")
        return "\n".join(lines)


class Ranker(RegressorMixin, BaseEstimator):
    """Checks, scores, and models in files."""

    # Values that parameters may have. The compiled part checks texts further.
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "label_scale": [str],
        "scale": [str],
        "query_weight": [str],
        "max_memory": _data.SIZE,
        "n_jobs": _data.THREADS,
        "random_state": _data.SEED,
    }
    # Whether the columns came with names of their own, in a frame or a table of the model.
    _framed: bool
    n_jobs: int | None
    max_memory: int | str | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        # Scores order the rows of a query; they are not near the labels.
        tags.regressor_tags.poor_score = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in self.__dict__

    def _validate_params(self) -> None:
        super()._validate_params()
        for name, value in self.get_params(deep=False).items():
            if isinstance(value, str):
                _data.text(value, name)
            if isinstance(value, bool) and "boolean" not in self._parameter_constraints[name]:
                raise ValueError(f"{name}: expected a number or a name, found {value}")

    @property
    def coef_(self) -> NDArray[np.float64]:
        """A weight for each column."""
        return self._of_columns("coef_", 0.0, self._fitted("coef_", linear=True).weights)

    def _fitted(self, name: str, *, linear: bool = False) -> _rankrls.Model:
        """The model, for the attribute of this name."""
        if "model_" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if linear and not self._linear:
            raise AttributeError(
                f"{name} is there for kernel='linear' alone: other kernels have dual_coef_ and "
                "support_"
            )
        return self.model_

    def _of_columns(self, name: str, others: Any, values: Any) -> NDArray[Any]:
        """An array with these `values` for the features, made when it is asked for: a model may
        claim as many columns as 32 bits count.
        """
        values = np.asarray(values)
        _data.check_memory(self.n_features_in_ * values.itemsize, name)
        array = np.full(self.n_features_in_, others, dtype=values.dtype)
        array[self.model_.features] = values
        return array

    def _checked(self, X: Any, *, fit: bool) -> Any:
        """A matrix of numbers. In `fit`, its columns replace the results of an earlier fit."""
        if fit:
            for name in [name for name in vars(self) if name.endswith("_")]:
                delattr(self, name)
        options = {
            "accept_sparse": ("csc", "csr"),
            "dtype": np.float64,
            # The compiled part says where a value is not finite.
            "ensure_all_finite": False,
            "ensure_min_samples": 2 if fit else 1,
        }
        try:
            estimator = self if fit else self._as_checked()
            return validate_data(estimator, _data.handed(X), reset=fit, **options)
        except OverflowError as error:
            # An array of objects may hold whole numbers of any size.
            raise ValueError(f"X: expected numbers: {error}") from error

    def _named(self, X: Any, given: Any) -> list[str] | None:
        """Names of the columns of `X`, which `fit` keeps: its own, or those that are `given`."""
        # Those of a frame scikit-learn has found, and compares them with those of other frames.
        self._framed = hasattr(self, "feature_names_in_")
        names = _data.named(X, given)
        if names is not None and not self._framed:
            self.feature_names_in_ = np.array(names, dtype=object)
        return names

    def _as_checked(self) -> Self:
        """The estimator as scikit-learn checks data against it: where the names did not come in a
        frame, data without names are what it was trained on.
        """
        if self._framed or not hasattr(self, "feature_names_in_"):
            return self
        nameless = copy.copy(self)
        del nameless.feature_names_in_
        return nameless

    def _rows(self, X: Any) -> Any:
        """Rows to score, checked like `_checked`. If columns have names, the columns of the
        features are enough.
        """
        names = _data.column_names(X)
        if names is not None and self._are_features(X, names):
            self._refuse_twice(names)
            known = {"accept_sparse": "csr", "dtype": np.float64, "ensure_all_finite": False}
            columns = check_array(_data.handed(X[self._feature_names()]), **known)
            columns = sp.csr_array(columns)
            places = self.model_.features[columns.indices], columns.indptr
            return sp.csr_array((columns.data, *places), shape=(len(X), self.n_features_in_))
        return self._checked(self._check_names(X, names), fit=False)

    def _feature_names(self) -> list[str | None]:
        """Names of the features. None for an unknown name."""
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            known: list[str | None] = self.model_.names
            return known
        if len(names) != self.n_features_in_:
            raise ValueError(
                f"feature_names_in_: expected {self.n_features_in_} names, one a column, found "
                f"{len(names)}"
            )
        return [str(names[feature]) for feature in self.model_.features]

    def _are_features(self, X: Any, names: list[str]) -> bool:
        """Whether `X` is a frame that lacks columns but has those of the features."""
        known = self._feature_names()
        if not self._linear or _data.is_sparse(X) or len(names) == self.n_features_in_:
            return False
        alone = not self._framed or len(names) == len(known)
        return bool(alone and known and all(known) and set(known) <= set(names))

    def _refuse_twice(self, names: list[str]) -> None:
        """Refuses a frame or model that has a feature's name twice."""
        trained = Counter(getattr(self, "feature_names_in_", ()))
        here = Counter(names)
        for name in self._feature_names():
            for counts, where in ((here, "X"), (trained, "the training data")):
                if name is not None and counts[name] > 1:
                    raise ValueError(
                        f"X: which column is {name!r} is not known: {where} has several of this "
                        "name. Pass all columns, or one of each name"
                    )

    def _check_names(self, X: Any, names: list[str] | None) -> Any:
        """`X`, unless its names differ from the names of the model's columns. scikit-learn
        compares the names of frames, if all names are known.
        """
        if (
            names is None
            or (self._framed and not _data.is_sparse(X))
            or X.shape[1] != self.n_features_in_
        ):
            return X
        own = self._feature_names()
        known: Iterable[tuple[int, str | None]] = zip(self.model_.features, own, strict=True)
        if self._framed:
            known = enumerate(self.feature_names_in_)
        for column, name in known:
            found = names[column] if column < len(names) else None
            if name and found and name != found:
                raise ValueError(
                    "The feature names should match those that were passed during fit. Column "
                    f"{column} is {found!r}, and {name!r} in the model. Are the data of another "
                    "corpus? Build them with the columns of the training data; in a frame, put the "
                    "columns in their order"
                )
        # The names have been compared here. scikit-learn would only warn that it knows none.
        return X if _data.is_sparse(X) or self._framed or not any(own) else np.asarray(X)

    def _refuse(self, y: Any, others: dict[str, Any]) -> None:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        if others.pop("sample_weight", None) is not None:
            raise TypeError(
                "sample_weight is not supported: queries are left out whole, so that only queries "
                "can weigh differently; choose their weights with query_weight="
            )
        for name in others:
            remedy = f": {_data.GIVE_QUERIES}" if name.startswith("group") else ""
            raise TypeError(f"fit() got an unexpected keyword argument {name!r}{remedy}")

    def _adopt(self, model: _rankrls.Model) -> dict[str, Any]:
        """The attributes of a fitted model. Returns the other facts of it."""
        facts: dict[str, Any] = json.loads(model.facts)
        self.model_ = model
        self.n_features_in_ = facts["columns"]
        self._linear = facts["kernel"] is None
        # A model from a file may have another objective than the parameter.
        self._objective = facts["objective"]
        if not self._linear:
            self.dual_coef_ = model.coefficients
        return facts

    def predict(self, X: Any, *, qid: Any = None) -> NDArray[np.float64]:
        """Scores rows: a higher score is a better place in the ranking of the query.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (m, n)
            Rows with the columns of the training data. A frame needs only the selected columns.
            A model of the command that was trained with missing values fills nan in the same
            way.
        qid : array-like of shape (m,), optional
            Queries, as in `fit`. Only needed for rows with nan, if the model fills them with
            the mean of their query.

        Returns
        -------
        ndarray of shape (m,)
            Scores in units of the labels, up to a constant in each query.

        Raises
        ------
        ValueError
            For another number of columns, for columns with other names than the model's, and
            for values and scores that are not finite.
        """
        check_is_fitted(self)
        matrix = self._filled(self._rows(X), qid)
        if self._linear and not _data.is_sparse(matrix):
            # The same sums without a copy, in the order of the features.
            scores = np.zeros(matrix.shape[0])
            with np.errstate(all="ignore"):
                for feature, weight in zip(self.model_.features, self.model_.weights, strict=True):
                    scores += weight * matrix[:, feature]
                if np.isfinite(scores).all() and np.isfinite(matrix.sum()):
                    return scores
        # The compiled part says which numbers are not finite.
        scored: NDArray[np.float64] = self.model_.scores(
            _data.canonical(matrix), _data.threads(self.n_jobs)
        )
        row = int(np.argmin(np.isfinite(scored)))
        if not np.isfinite(scored[row]):
            raise ValueError(
                f"X: expected a score for row {row}, found {scored[row]}: scale the data"
            )
        return scored

    def _filled(self, X: Any, qid: Any) -> Any:
        """The matrix, with the numbers that the model names for nan."""
        values = X.data if _data.is_sparse(X) else X
        if not np.isnan(values.sum()):
            return X
        missing = json.loads(self.model_.facts)["missing"]
        if missing is None:
            return X
        if missing == "mean" and qid is None:
            raise ValueError(
                "X has missing values, for which the model takes the mean of their query: pass qid"
            )
        codes, _ = _data.queries(qid, X.shape[0])
        return _data.filled(X, codes, str(missing), _data.threads(self.n_jobs))

    def score(self, X: Any, y: Any, *, qid: Any = None, sample_weight: None = None) -> float:
        """The mean concordance index of the predictions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (m, n)
            Rows.
        y : array-like of shape (m,)
            Labels.
        qid : array-like of shape (m,), optional
            Queries, as in `fit`. Objectives "global" and "pairs" need none: all rows are one query.
        sample_weight : None
            `sklearn.pipeline.Pipeline` passes it on. Refused if it is not None.

        Returns
        -------
        float
            The share of a query's pairs that are ordered correctly, averaged over queries with
            pairs; nan if no query has any.

        Raises
        ------
        ValueError
            Without queries, and for data that `predict` refuses.
        """
        if sample_weight is not None:
            self._refuse(y, {"sample_weight": sample_weight})
        scores, given = self.predict(X, qid=qid), qid
        if qid is None and self._objective != "query":
            qid = np.zeros(len(scores))
        found = metrics.score(y, scores, qid=qid, metric="cindex")
        if json.loads(self.model_.facts)["rows"] == len(scores):
            data = _data.training(self._filled(self._rows(X), given), y, given, least=0)
            _data.tell(self.model_.seen(data))
        return found

    def explain(
        self,
        X: Any,
        y: Any = None,
        *,
        query: Any = None,
        qid: Any = None,
        versus: int | None = None,
    ) -> Explanation:
        """Why the rows of a query are in their order.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (m, n)
            Rows with the columns of the training data.
        y : array-like of shape (m,), optional
            Labels, to show beside the rows.
        query : hashable, optional
            An id of `qid`. Not needed if all rows are one query.
        qid : array-like of shape (m,), optional
            Queries, as in `fit`; without them all rows are one.
        versus : int, optional
            A row of `X` in the query, from 0, to compare with. By default the mean of the scores.

        Returns
        -------
        Explanation
            The rows by falling score, and the contributions of each feature to it.

        Raises
        ------
        ValueError
            For an unknown query or row, for data without any of the features, and for a kernel,
            which has no features.
        """
        check_is_fitted(self)
        matrix = self._rows(X)
        if not self._linear:
            raise ValueError("a kernel model has no features to explain an order by")
        matrix = self._filled(matrix, qid)
        rows = matrix.shape[0]
        labels = np.zeros(rows) if y is None else y
        data = _data.training(matrix, labels, qid, least=0)
        ids = data["known"]
        if query is None and len(ids) > 1:
            raise ValueError(f"query: there are {len(ids)} queries: name one")
        number = 0 if query is None else _data.place_of(query, ids, qid, data["codes"])
        if number is None:
            first = ", ".join(data["ids"][:3])
            other = type(ids[0]).__name__
            kind = "" if isinstance(query, type(ids[0])) else f", and ids are of type {other}"
            raise ValueError(
                f"query: none of the {len(ids)} is called {str(query)!r}; the first are {first}"
                + kind
            )
        if versus is not None:
            versus = int(_data.row_numbers(versus, rows, "versus"))
            if data["codes"][versus] != number:
                name = data["ids"][number]
                raise ValueError(f"versus: row {versus} is not of query {name!r}")
        reference, ranked = self.model_.explain(data, number, versus)
        rows, scores, own, amounts = zip(*ranked, strict=True)
        places = np.unique(np.concatenate(own))
        contributions = np.zeros((len(rows), len(places)))
        for row, where, parts in zip(contributions, own, amounts, strict=True):
            row[np.searchsorted(places, where)] = parts
        features = self.model_.features[places]
        names = self._names()
        values = sp.csr_array(matrix[list(rows)])[:, features]
        return Explanation(
            rows=np.array(rows, dtype=np.int64),
            ranks=np.arange(1, len(rows) + 1),
            labels=None if y is None else data["y"][list(rows)],
            scores=np.array(scores),
            reference=reference,
            features=features,
            names=[names[place] for place in places],
            values=values.toarray(),
            contributions=contributions,
        )

    def _names(self) -> list[str]:
        """Names of the model's features, or the numbers of features without names."""
        pairs = zip(self._feature_names(), self.model_.features, strict=True)
        return [str(name or feature) for name, feature in pairs]

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """The model, as in files of the command.

        Parameters
        ----------
        path : path-like, optional
            A file to write, for ``rankrls predict`` or `from_json`.

        Returns
        -------
        str
            The document.
        """
        check_is_fitted(self)
        names = self.feature_names_in_.tolist() if self._framed else None
        model = self.model_ if self._framed else self.model_.with_names(self._feature_names())
        document: bytes = model.to_json(names)
        text = document.decode()
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    @classmethod
    def from_json(cls, source: str | os.PathLike[str]) -> Any:
        """A fitted predictor from a model of the command or of `to_json`.

        It predicts, explains and knows the names of its columns. Its parameters are the default
        ones: `alpha_`, `strategy_` and the like tell how the model was made. Pickle also keeps
        parameters, hold-out predictions and `cv_results_`. A warning tells that the run of a
        model is unfinished.

        Parameters
        ----------
        source : path-like or str
            The file, or the document itself.

        Returns
        -------
        estimator
            A fitted estimator of this class.

        Raises
        ------
        ValueError
            For a document that is not a model, with line and column.
        """
        if not isinstance(source, (str, os.PathLike)):
            raise TypeError(f"source: expected a path or text, found {type(source).__name__}")
        # No file name begins like this.
        if isinstance(source, str) and source.lstrip()[:1] in ("", "{", "["):
            name, text = "the document", _data.text(source, "source").encode()
            model = _rankrls.Model.from_json(text)
        else:
            name = os.fsencode(source).decode(errors="replace")
            model = _rankrls.Model.from_json(Path(source).read_bytes(), name)
        _data.tell(model.warnings(name))
        estimator = cls()
        estimator._adopt(model)
        names = model.column_names
        estimator._framed = bool(names)
        if names:
            estimator.feature_names_in_ = np.array(names, dtype=object)
        return estimator
