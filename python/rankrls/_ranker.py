"""What all estimators share."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from . import _data, _rankrls, metrics

Scale = Literal["none", "sd", "max"]
Labels = Literal["raw", "sqrt-sd", "unit"]
QueryWeight = Literal["uniform", "pairs", "size"]


@dataclass(frozen=True, repr=False)
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

    def __repr__(self) -> str:
        rows, features = self.contributions.shape
        return f"Explanation({rows} rows, {features} features, reference={self.reference:.6g})"

    def __str__(self) -> str:
        lines = []
        for row, score, parts in zip(self.rows, self.scores, self.contributions, strict=True):
            lines.append(f"row {row}: score {score:.6g}, difference {score - self.reference:+.6g}")
            largest = np.argsort(-np.abs(parts), kind="stable")[:5]
            lines += [f"  {parts[i]:+.6g}  {self.names[i]}" for i in largest if parts[i] != 0]
        return "\n".join(lines)


class Ranker(RegressorMixin, BaseEstimator):
    """Checks, scores, and models as files."""

    objective: str = "query"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        # Scores order the rows of a query; they do not come near the labels.
        tags.regressor_tags.poor_score = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in self.__dict__

    def _checked(self, X: Any, *, fit: bool) -> Any:
        """A matrix of numbers. In `fit`, its columns replace all that a fit before has found."""
        if fit:
            for name in [name for name in vars(self) if name.endswith("_")]:
                delattr(self, name)
        return validate_data(
            self,
            _data.sound(X),
            reset=fit,
            accept_sparse=("csc", "csr"),
            dtype=np.float64,
            # The compiled part says where a value is that is not finite.
            ensure_all_finite=False,
            ensure_min_samples=2 if fit else 1,
        )

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

    def _adopt(self, model: _rankrls.Model) -> dict[str, Any]:
        """The attributes of a fitted model. Returns what else is known of it."""
        facts: dict[str, Any] = json.loads(model.facts)
        self.model_ = model
        self.n_features_in_ = facts["columns"]
        if facts["kernel"] is None:
            self.coef_ = np.zeros(self.n_features_in_)
            self.coef_[model.features] = model.weights
        else:
            self.dual_coef_ = model.coefficients
        return facts

    def predict(self, X: Any, *, qid: Any = None, group: Any = None) -> NDArray[np.float64]:
        """Scores rows: a higher score is a better place in the ranking of the query.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (m, n)
            Rows with the columns of the training data. A model of the command that was trained with
            ``--missing`` takes the same for nan.
        qid, group
            Queries, as in `fit`: only for a model of ``--missing mean`` and rows with nan.

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
        matrix = self._filled(self._checked(X, fit=False), qid, group)
        values = matrix.data if _data.is_sparse(matrix) else matrix
        if not np.isfinite(values.sum()) and not np.isfinite(values).all():
            # It refuses them, and says where the value is.
            self.model_.scores(_data.canonical(matrix), 1)
        return self._scores(matrix)

    def _scores(self, X: Any) -> NDArray[np.float64]:
        if "coef_" in self.__dict__:
            return np.asarray(X @ self.coef_)
        scores: NDArray[np.float64] = self.model_.scores(
            _data.canonical(X), _data.threads(self.n_jobs)
        )
        return scores

    def _filled(self, X: Any, qid: Any, group: Any) -> Any:
        """The matrix with numbers for nan, where the model says which."""
        values = X.data if _data.is_sparse(X) else X
        if not np.isnan(values.sum()):
            return X
        missing = json.loads(self.model_.facts)["missing"]
        if missing is None:
            return X
        if missing == "mean" and qid is None and group is None:
            raise ValueError(
                "X has missing values, for which the model takes the mean of their query: pass qid "
                "or group"
            )
        codes, _ = _data.queries(qid, group, X.shape[0])
        return _data.filled(X, codes, missing)

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
            Queries, as in `fit`; for objective "global" and "pairs" all rows are one without them.
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
        if self.objective != "query" and qid is None and group is None:
            group = [_num_samples(X)]
        scores = self.predict(X, qid=qid, group=group)
        return metrics.score(y, scores, qid=qid, group=group, metric="cindex")

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

        Raises
        ------
        ValueError
            For a query or row that there is not, for data without any of the features, and for a
            kernel, which has no features.
        """
        check_is_fitted(self)
        matrix = self._checked(X, fit=False)
        if "coef_" not in self.__dict__:
            raise ValueError("a kernel model has no features to explain an order by")
        matrix = self._filled(matrix, qid, group)
        rows = matrix.shape[0]
        data = _data.training(matrix, np.zeros(rows), qid, group, least=0)
        ids = data["ids"]
        if query is None and len(ids) > 1:
            raise ValueError(f"query: there are {len(ids)} queries: name one")
        name = ids[0] if query is None else str(query)
        if name not in ids:
            first = ", ".join(ids[:3])
            raise ValueError(
                f"query: none of the {len(ids)} is called {name!r}; the first are {first}"
            )
        number = ids.index(name)
        if versus is not None:
            versus = int(_data.row_numbers(versus, rows, "versus"))
            if data["codes"][versus] != number:
                raise ValueError(f"versus: row {versus} is not of query {name!r}")
        reference, ranked = self.model_.explain(data, number, versus)
        rows, scores, own, amounts = zip(*ranked, strict=True)
        places = np.unique(np.concatenate(own))
        contributions = np.zeros((len(rows), len(places)))
        for row, where, parts in zip(contributions, own, amounts, strict=True):
            row[np.searchsorted(places, where)] = parts
        features = self.model_.features[places]
        names = self._names()
        return Explanation(
            rows=np.array(rows, dtype=np.int64),
            scores=np.array(scores),
            reference=reference,
            features=features,
            names=[names[place] for place in places],
            contributions=contributions,
        )

    def _names(self) -> list[str]:
        """Names of the features of the model, or their numbers where there are none."""
        known, features = self.model_.names, self.model_.features
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            known = [names[feature] for feature in features]
        return [str(name or feature) for name, feature in zip(known, features, strict=True)]

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """The model as the command's files have it.

        Parameters
        ----------
        path : path-like, optional
            Where to write it, for ``rankrls predict`` or `from_json`.
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            names = [_data.text(name, "the name of a column") for name in names]
        document: bytes = self.model_.to_json(names)
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

        Raises
        ------
        ValueError
            For a document that is no model, with line and column.
        """
        if isinstance(source, str) and source.lstrip().startswith("{"):
            model = _rankrls.Model.from_json(_data.text(source, "source").encode())
        else:
            name = os.fsencode(source).decode(errors="replace")
            model = _rankrls.Model.from_json(Path(source).read_bytes(), name)
        facts = json.loads(model.facts)
        estimator = cls(**cls._params_of(facts))
        estimator._adopt(model)
        return estimator
