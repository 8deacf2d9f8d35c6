"""Draws the figures of docs/ and fills in the tables of docs/evidence.md, from the files in data/.

python studies/figures.py            # writes what changed
python studies/figures.py --check    # writes nothing, and fails if something would change
"""

import sys

import pandas as pd
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, PercentFormatter
from pages import filled, row
from style import ROOT, colour, label, printed, versions

DATA = ROOT / "studies/data"
PAGE = ROOT / "docs/evidence.md"
FOUR = 4  # draws of queries
GUM, ALL_OF_GUM = "four times 112 queries of GUM", "all queries of GUM"


def read(name):
    return pd.read_csv(DATA / f"{name}.csv")


def short(value, _=None):
    for limit, sign in [(1e9, "G"), (1e6, "M"), (1e3, "k")]:
        if value >= limit:
            return f"{value / limit:g}{sign}"
    return f"{value:g}"


def logarithmic(axis, ticks=None):
    """A logarithmic axis with plain numbers; less than two decades have 2 and 5, too."""
    getattr(axis.axes, f"set_{axis.axis_name}scale")("log")
    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=[1, 2, 5] if high < 100 * low else [1]))
    if ticks is not None:
        axis.set_ticks(ticks)
    axis.set_major_formatter(FuncFormatter(short))
    axis.set_minor_formatter(NullFormatter())


def lines(axes, data, x, y, series):
    """A line for each series, with its name at its end."""
    for name, own in data.groupby(series, sort=False):
        own = own.sort_values(x)
        axes.plot(own[x], own[y], "o-", color=colour(name), clip_on=False)
        label(axes, own[x].iloc[-1], own[y].iloc[-1], name, colour(name))


def quality(figure):
    """The concordance index of unseen queries by number of features.

    Strokes are the standard error of the lead over exact selection, over the draws.
    """
    data = read("quality")
    data = data[data.labels == "sqrt-sd"]
    panels = [
        (GUM, "112 queries train", ["distil", "residual", "lasso", "exact"]),
        (ALL_OF_GUM, "1,400 queries train", ["distil", "residual", "exact", "univariate"]),
    ]
    for axes, (group, title, selectors) in zip(figure.subplots(1, 2), panels):
        own = data[data.group == group]
        lines(axes, own[own.selector.isin(selectors)], "k", "cindex", "selector")
        for place, name in enumerate(selectors if group == GUM else []):
            at = own[own.selector == name]
            style = {"color": colour(name), "linewidth": 1.2, "alpha": 0.7}
            error = at.spread / FOUR**0.5
            axes.vlines(at.k * 1.035 ** (place - 1), at.cindex - error, at.cindex + error, **style)
        full = own[own.selector == "all columns"].cindex.iloc[0]
        axes.axhline(full, color=colour("muted"), linestyle="--", linewidth=1)
        beside = {"textcoords": "offset points", "color": colour("muted")}
        axes.annotate(f"all columns {full:.3f}", (10, full), (0, -12), **beside)
        logarithmic(axes.xaxis, sorted(own.k.unique()))
        axes.set(title=title, xlabel="features", ylabel="concordance index")
    figure.tight_layout(w_pad=2)


def shares():
    """The share of all columns' gain over the parser that a selection of k features keeps, by draw."""
    data = read("draws")
    own = data[data.labels == "sqrt-sd"]
    index = own.pivot(index=["draw", "k"], columns="selector", values="cindex")
    gains = index.sub(index["parser"], axis=0)
    return gains.div(gains["all columns"], axis=0)[["distil", "lasso", "exact"]]


def kept(figure):
    """The same as lines through the means, and dots."""
    axes, found = figure.subplots(), shares()
    for name, means in found.groupby("k").mean().items():
        axes.plot(means.index, means, color=colour(name), clip_on=False)
        label(axes, means.index[-1], means.iloc[-1], name, colour(name))
        draws = found[name].reset_index("draw", drop=True)
        axes.plot(draws.index, draws, "o", color=colour(name), markersize=3, alpha=0.6)
    logarithmic(axes.xaxis, [10, 20, 50, 100, 200])
    axes.yaxis.set_major_formatter(PercentFormatter(1, 0))
    axes.set(xlabel="features", ylabel="share of the gain of all columns")
    figure.tight_layout()


def when(figure):
    """Time of a selection by strategy, of data that differ in one thing."""
    data = read("when")
    data = data[(data.group != "kappa") | (data.strategy == "sampled")]
    groups = data.groupby("group", sort=False)
    for place, (axes, (group, own)) in enumerate(zip(figure.subplots(2, 3).flat, groups)):
        lines(axes, own, "value", "seconds", "strategy")
        ticks = [0.001, 0.01, 0.1] if group == "density" else sorted(own.value.unique())
        logarithmic(axes.xaxis, [tick for tick in ticks if tick != 40])
        logarithmic(axes.yaxis)
        axes.set(title=f"by {group}", ylabel="" if place % 3 else "seconds")
    figure.tight_layout(w_pad=1, h_pad=2)


def scaling(figure):
    """How time and memory of `bounded` grow, and those of `dense`."""
    data = read("scaling")
    data["megabytes"] = data.peak_bytes / 1e6
    real = (data.study == "real") & (data["data"] == "train_20000") & (data["lambda"] == 16)
    panels = [
        ("more rows", data.study == "rows", "rows", "select_seconds", [1e3, 1e4, 1e5, 1e6]),
        ("more columns", data.study == "columns", "columns", "select_seconds", [7e4, 1e5, 1.3e5]),
        (
            "more non-zeros",
            data.study == "non-zeros",
            "nonzeros",
            "select_seconds",
            [1e6, 2e6, 4e6],
        ),
        ("more queries", data.study == "queries", "queries", "select_seconds", [50, 200, 1000]),
        ("features of train_20000", real, "k", "select_seconds", [10, 50, 200, 1000]),
        ("memory, more rows", data.study == "rows", "rows", "megabytes", [1e3, 1e4, 1e5, 1e6]),
    ]
    for place, (axes, panel) in enumerate(zip(figure.subplots(2, 3).flat, panels)):
        title, only, x, y, ticks = panel
        lines(axes, data[only].dropna(subset=[y]), x, y, "strategy")
        logarithmic(axes.xaxis, ticks)
        logarithmic(axes.yaxis)
        axes.set(title=title, xlabel="non-zeros" if x == "nonzeros" else x)
        axes.set(ylabel="MB" if y == "megabytes" else "" if place % 3 else "seconds")
    figure.tight_layout(w_pad=1, h_pad=2)


def cost(figure):
    """Time against memory of a selection: a dot for each tool, full if it is Algorithm 1's."""
    axes = figure.subplots()
    places = {  # of labels: beside the dot but for these
        "rankrls bounded": (0, -14, "center"),
        "rankrls lowmem": (0, 13, "center"),
        "OrthogonalMatchingPursuit": (-9, 0, "right"),
        "Algorithm 1 in NumPy": (9, 0, "left"),
        "SequentialFeatureSelector": (0, -15, "center"),
        "Lasso": (9, -4, "left"),
    }
    for tool in read("peers").itertuples():
        ours = tool.selector.startswith("rankrls")
        same = tool.exact == "yes"
        shade = colour(tool.selector.split()[-1] if ours else "text" if same else "muted")
        style = {"markersize": 9, "color": shade, "fillstyle": "full" if same else "none"}
        axes.plot(tool.seconds, tool.peak_mib, "o", **style)
        x, y, side = places.get(tool.selector, (9, 0, "left"))
        text = tool.selector + (" (extrapolated)" if tool.extrapolated == "yes" else "")
        style = {"color": shade, "ha": side, "va": "center", "weight": "bold" if ours else "normal"}
        where = (tool.seconds, tool.peak_mib)
        axes.annotate(text, where, (x, y), textcoords="offset points", **style)
    logarithmic(axes.xaxis)
    times = {0.01: "0.01 s", 0.1: "0.1 s", 1: "1 s", 60: "1 min", 3600: "1 h", 86400: "1 day"}
    axes.set_xticks(list(times), times.values())
    logarithmic(axes.yaxis)
    axes.set(xlim=(0.004, 2e6), ylim=(20, 20_000))
    axes.set(xlabel="time of the selection", ylabel="peak memory, MiB")
    figure.tight_layout()


def path(figure):
    """The index of the queries that chose, and of others, by number of features."""
    axes = figure.subplots()
    for strategy, own in read("path").groupby("strategy", sort=False):
        for column, name, style in [("lqo_cindex", "LQO", "--"), ("test_cindex", "test", "-")]:
            axes.plot(own.k, own[column], style, color=colour(strategy))
            end = (own.k.iloc[-1], own[column].iloc[-1])
            label(axes, *end, f"{strategy}, {name}", colour(strategy))
    axes.set(xlim=(0, 60), xlabel="features", ylabel="concordance index")
    figure.tight_layout()


def funnel(figure):
    """Candidates that each level of `bounded` leaves: a stroke for each step, and their sum."""
    data = read("funnel")
    levels = {
        "candidates": "candidates of the step",
        "read": "left by bounds of whole queries",
        "level_0": "left by level 0: one pass over the entries",
        "level_1": "left by level 1: touched queries exactly",
        "level_2": "left by level 2: some queries resolved",
        "evaluated": "computed exactly",
    }
    axes = figure.subplots()
    for place, column in enumerate(levels):
        last = column == "evaluated"
        shade = colour("bounded" if last else "muted")
        total = data[column].sum()
        axes.barh(-place, data[column].mean(), left=1, height=0.62, color=shade, alpha=0.28)
        axes.plot(
            data[column], [-place] * len(data), "|", color=shade, markersize=9, markeredgewidth=1.2
        )
        axes.annotate(
            f"{total:,}",
            (1.02, -place),
            xycoords=("axes fraction", "data"),
            va="center",
            color=colour("text"),
            weight="bold" if last else "normal",
            annotation_clip=False,
        )
    axes.annotate(
        "in 20 steps",
        (1.02, 0.62),
        xycoords=("axes fraction", "data"),
        color=colour("muted"),
        annotation_clip=False,
    )
    axes.set_yticks([-place for place in range(len(levels))], levels.values())
    axes.tick_params("y", length=0, labelcolor=colour("text"))
    axes.grid(axis="y", visible=False)
    axes.spines["left"].set_visible(False)
    logarithmic(axes.xaxis, [1, 10, 100, 1000])
    axes.set(
        xlim=(1, 4000), xlabel="candidates in a step: mean (bar), and each of 20 steps (stroke)"
    )
    figure.tight_layout()
    figure.subplots_adjust(right=0.87)


def tables(page):
    """The page with a table for each group of GUM, and the share of all columns' gain that is kept."""
    data = read("quality")
    for number, group in enumerate([GUM, ALL_OF_GUM], 1):
        own = data[(data.group == group) & (data.labels == "sqrt-sd")]
        ks = own.k.unique()
        lines = [row(["selector", *(f"k = {k}" for k in ks)]), "|---|" + "---|" * len(ks)]
        for place, (selector, found) in enumerate(own.groupby("selector", sort=False)):
            cells = [f"{one.cindex:.3f}" for one in found.itertuples()]
            if place:
                stars = ["*" * (abs(one.ahead) > 2 * one.standard_error) for one in found.itertuples()]
                ahead = [f" ({one:+.3f}{star})" for one, star in zip(found.ahead, stars)]
                cells = [cell + more for cell, more in zip(cells, ahead)]
            lines.append(row([selector, *cells]))
        page = filled(page, f"quality {number}", lines)
        if number == 1:
            lines = [row(["features", *map(str, ks)]), "|---|" + "---:|" * len(ks)]
            for selector, found in shares().items():
                draws = [one for _, one in found.groupby("k")]
                cells = [
                    f"{one.mean():.0%} ({100 * one.min():.0f} to {100 * one.max():.0f})"
                    for one in draws
                ]
                lines.append(row([selector, *cells]))
            page = filled(page, "quality kept", lines)
    return page


FIGURES = [
    ("quality", 380, quality),
    ("kept", 300, kept),
    ("when", 500, when),
    ("scaling", 500, scaling),
    ("cost", 380, cost),
    ("path", 360, path),
    ("funnel", 260, funnel),
]


def main():
    check = sys.argv[1:] == ["--check"]
    new = {
        file: text.encode()
        for name, height, draw in FIGURES
        for file, text in versions(name, height, draw)
    }
    new[ROOT / "paper/kept.pdf"] = printed(240, kept)
    new[PAGE] = tables(PAGE.read_text()).encode()
    changed = [file for file, own in new.items() if not file.exists() or file.read_bytes() != own]
    for file in changed:
        if check:
            print(f"{file.relative_to(ROOT)} is not what studies/figures.py makes of the CSV files")
        else:
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(new[file])
            print(file.relative_to(ROOT))
    return 1 if check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
