"""Diagrams by Matplotlib, which ``pip install './python[plot]'`` installs.

Each function raises an ImportError without Matplotlib.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .metrics import Measured

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["comparison", "path", "tuning"]

# A strategy has the colour of the project's own figures. The colours are near the palette of Okabe
# and Ito, which colour-blind readers can distinguish.
_COLOURS = {
    "bounded": "#0072b2",
    "dense": "#24292f",
    "lowmem": "#7d6b00",
    "sampled": "#3a9bd6",
    "backfit": "#7a5c49",
    "distil": "#d55e00",
    "residual": "#008f68",
    "univariate": "#b97a00",
    "fs-ed": "#b0558a",
}


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("rankrls.plot needs Matplotlib: pip install matplotlib") from error
    return pyplot.subplots(figsize=(6.4, 4.0), layout="constrained")[1]


def _by_features(ax: Axes, quantity: str) -> Axes:
    """Labels the axes, with whole numbers of features."""
    from matplotlib.ticker import MaxNLocator

    ax.set_xlabel("features")
    ax.set_ylabel(quantity)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.grid(alpha=0.3)
    return ax


# So many names stand beside the points of a line, and so many characters of each.
_NAMED, _LETTERS = 20, 24


def _name_points(ax: Axes, model: Any, values: Any) -> None:
    """Writes the names of the features of `model`, where it has some, beside these values."""
    names = model._feature_names() if hasattr(model, "predict") else []
    if not any(names) or len(values) > _NAMED:
        return
    for place, value in enumerate(values):
        name = str(names[place] or "")
        short = name if len(name) <= _LETTERS else f"{name[: _LETTERS - 1]}…"
        ax.annotate(
            short,
            (place + 1, value),
            xytext=(2, 4),
            textcoords="offset points",
            rotation=60,
            fontsize=7,
            # A dollar sign is none of a formula.
            parse_math=False,
        )


def path(model: Any, *, ax: Axes | None = None, what: str = "lqo_error") -> Axes:
    """The leave-query-out error, or the concordance index, after each step of a selection.

    Up to 20 points have the name of the feature that was added, where the model knows names.

    Parameters
    ----------
    model : GreedyRankRLS, GreedyRankRLSCV or SelectionPath
        A fitted estimator, or its path.
    ax : Axes, optional
        The axes to draw into. By default new ones.
    what : {"lqo_error", "lqo_cindex"}, default="lqo_error"
        The quantity to draw.

    Returns
    -------
    Axes
        The axes drawn into.

    Raises
    ------
    ValueError
        For another quantity.

    Examples
    --------
    >>> import numpy as np, rankrls, rankrls.plot
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 8))
    >>> model = rankrls.GreedyRankRLS(4).fit(X, X[:, 3], qid=np.repeat(range(12), 5))
    >>> rankrls.plot.path(model).get_xlabel()
    'features'
    """
    titles = {
        "lqo_error": "leave-query-out error",
        "lqo_cindex": "concordance index of left-out queries",
    }
    if what not in titles:
        raise ValueError(f"what: expected one of {', '.join(titles)}, found {what!r}")
    values = getattr(model, f"{what}_path_") if hasattr(model, "predict") else getattr(model, what)
    ax = _axes(ax)
    strategy = getattr(model, "strategy_", "") or getattr(model, "strategy", "")
    colour = _COLOURS.get(strategy, "#59636e")
    ax.plot(np.arange(1, len(values) + 1), values, marker=".", markersize=4, color=colour)
    _name_points(ax, model, values)
    return _by_features(ax, titles[what])


def tuning(model: Any, *, ax: Axes | None = None, metric: str | None = None) -> Axes:
    """The value of the models of a `GreedyRankRLSCV`, a line for each ridge parameter.

    A strategy has a colour. The line with the chosen model is dark, and has the names of the chosen
    features, as in `path`; the others are light.

    Parameters
    ----------
    model : GreedyRankRLSCV
        A fitted estimator. Its chosen model is marked, with a bar of one standard error.
    ax : Axes, optional
        The axes to draw into. By default new ones.
    metric : str, optional
        One of its `metrics`. By default the judge of models.

    Returns
    -------
    Axes
        The axes drawn into.

    Raises
    ------
    ValueError
        For a measure without values.

    Examples
    --------
    >>> import numpy as np, rankrls, rankrls.plot
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 8))
    >>> model = rankrls.GreedyRankRLSCV(4, alpha=[1, 16], cv=3)
    >>> ax = rankrls.plot.tuning(model.fit(X, X[:, 3], qid=np.repeat(range(12), 5)))
    >>> len(ax.get_legend().get_texts())
    2
    """
    results = model.cv_results_
    column = "score" if metric is None else metric
    if f"mean_test_{column}" not in results:
        raise ValueError(f"metric: {metric!r} is not among metrics={tuple(model.metrics)}")
    ax = _axes(ax)
    for strategy in dict.fromkeys(results["param_strategy"].tolist()):
        colour, label = _COLOURS.get(strategy, "#59636e"), strategy
        for alpha in np.unique(results["param_alpha"]):
            rows = (results["param_strategy"] == strategy) & (results["param_alpha"] == alpha)
            features = results["param_n_features_to_select"][rows]
            values = results[f"mean_test_{column}"][rows]
            if column == "score" and model.scoring == "squared":
                values = -values
            if strategy != model.strategy_ or alpha != model.alpha_:
                ax.plot(features, values, color=colour, alpha=0.4, linewidth=1, label=label)
                label = "_"  # in the legend once
                continue
            ax.plot(features, values, color=colour, linewidth=2, zorder=3)
            chosen = features == model.n_features_to_select_
            _name_points(ax, model, values[features <= model.n_features_to_select_])
            ax.errorbar(
                features[chosen],
                values[chosen],
                results[f"std_error_test_{column}"][rows][chosen],
                fmt="o",
                color=colour,
                capsize=3,
                zorder=4,
                label=f"{model.n_features_to_select_} features of {strategy}, alpha {alpha:.4g}",
            )
    ax.legend()
    quantity = metric or ("squared error" if model.scoring == "squared" else model.scoring)
    return _by_features(ax, quantity)


def comparison(
    found: Mapping[str, Measured | Mapping[str, Measured]],
    *,
    measure: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """One measure of several rankings, each with a bar of two standard errors.

    Parameters
    ----------
    found : mapping of str to Measured or to mappings
        The results of `metrics.evaluate` for each ranking, by name, or one measure of each. The
        results of a single ranking are drawn by the names of its measures. Bars of rankings of
        the same queries may overlap even if `metrics.paired` finds a difference.
    measure : str, optional
        The measure to draw, if `found` has several of each ranking.
    ax : Axes, optional
        The axes to draw into. By default new ones.

    Returns
    -------
    Axes
        The axes drawn into.

    Raises
    ------
    ValueError
        For a measure without values, and for several measures of which none is named.

    Examples
    --------
    >>> from rankrls import metrics, plot
    >>> y, qid = [1, 0, 1, 0], [1, 1, 2, 2]
    >>> first = metrics.evaluate(y, [2, 1, 2, 1], qid=qid)
    >>> second = metrics.evaluate(y, [1, 2, 2, 1], qid=qid)
    >>> ax = plot.comparison({"a": first, "b": second}, measure="cindex")
    >>> [text.get_text() for text in ax.get_yticklabels()], ax.get_xlabel()
    (['a', 'b'], 'cindex, with two standard errors')
    """
    if isinstance(found, Measured) or not isinstance(found, Mapping):
        raise ValueError(f"found: expected measures by the names of rankings, found {found!r}")
    measured = {name: _measured(each, name, measure) for name, each in found.items()}
    ax = _axes(ax)
    places = np.arange(len(measured))
    errors = [2 * each.standard_error for each in measured.values()]
    ax.errorbar([each.mean for each in measured.values()], places, xerr=errors, fmt="o", capsize=3)
    ax.set_yticks(places, list(measured))
    ax.set_xlabel(f"{measure or 'mean'}, with two standard errors")
    ax.invert_yaxis()
    ax.grid(axis="x", alpha=0.3)
    return ax


def _measured(found: Measured | Mapping[str, Measured], name: str, measure: str | None) -> Measured:
    """The measure of a ranking."""
    if isinstance(found, Measured):
        return found
    if not isinstance(found, Mapping):
        raise ValueError(
            f"found: expected the result of metrics.evaluate for {name!r}, found {found!r}"
        )
    if measure is None and len(found) == 1:
        return next(iter(found.values()))
    if measure is None or measure not in found:
        names = ", ".join(map(str, found))
        raise ValueError(f"measure: expected one of {names} for {name!r}, found {measure!r}")
    return found[measure]
