"""Draws the figures of docs/ and fills in the tables of docs/evidence.md, from the files in data/.

python studies/figures.py            # writes changed files
python studies/figures.py --check    # writes nothing, and fails if something would change
"""

import sys

import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, PercentFormatter
from pages import filled, row
from style import ROOT, colour, headed, label, mark, picture, printed

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
    """A logarithmic axis with plain numbers; below two decades also with 2 and 5."""
    getattr(axis.axes, f"set_{axis.axis_name}scale")("log")
    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=[1, 2, 5] if high < 100 * low else [1]))
    if ticks is not None:
        axis.set_ticks(ticks)
    axis.set_major_formatter(FuncFormatter(short))
    axis.set_minor_formatter(NullFormatter())


def lines(axes, data, x, y, series, named=True):
    """A line for each series, with its name at its end."""
    for name, own in data.groupby(series, sort=False):
        own = own.sort_values(x)
        axes.plot(own[x], own[y], color=colour(name), marker=mark(name), clip_on=False)
        if named:
            label(axes, own[x].iloc[-1], own[y].iloc[-1], name, colour(name))


def level(axes, value, text, below=False):
    """A dashed line at a value, with a label."""
    axes.axhline(value, color=colour("muted"), linestyle="--", linewidth=1)
    where = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
    axes.annotate(text, (0, value), (4, -12 if below else 4), color=colour("muted"), **where)


def growth(axes, panel):
    """Dotted guides with the slope of growth in proportion."""
    low, high = axes.get_xlim()
    bottom, top = axes.get_ylim()
    for start in [10.0**power for power in range(-8, 8)]:
        style = {"color": colour("muted"), "linestyle": ":", "linewidth": 0.8, "alpha": 0.6}
        axes.plot([low, high], [start, start * high / low], scalex=False, scaley=False, **style)
    axes.set(xlim=(low, high), ylim=(bottom, top), xlabel=panel)


def legend(axes, text):
    """Text in place of a diagram."""
    axes.set_axis_off()
    style = {"va": "top", "color": colour("muted"), "linespacing": 1.6}
    axes.text(0, 1, text, transform=axes.transAxes, **style)


def quality(figure):
    """The concordance index of unseen queries by number of features."""
    data = read("quality")
    data = data[data.labels == "sqrt-sd"]
    panels = [
        (GUM, "trained on 112 queries", ["distil", "residual", "lasso", "exact"]),
        (ALL_OF_GUM, "trained on 1,400 queries", ["distil", "residual", "exact", "univariate"]),
    ]
    both = figure.subplots(1, 2, sharey=True)
    for axes, (group, title, selectors) in zip(both, panels):
        own = data[data.group == group]
        lines(axes, own[own.selector.isin(selectors)], "k", "cindex", "selector")
        for place, name in enumerate(selectors if group == GUM else []):
            at = own[own.selector == name]
            style = {"color": colour(name), "linewidth": 1.2, "alpha": 0.7}
            error = at.spread / FOUR**0.5
            axes.vlines(at.k * 1.035 ** (place - 1), at.cindex - error, at.cindex + error, **style)
        for name, words in [("all columns", "all columns"), ("parser", "order of the parser")]:
            value = own[own.selector == name].cindex.iloc[0]
            level(axes, value, f"{words} {value:.3f}")
        logarithmic(axes.xaxis, sorted(own.k.unique()))
        axes.set(title=title, xlabel="features (logarithmic)")
    both[0].set(ylabel="concordance index, unseen queries")
    headed(
        figure,
        "With few queries, distil ranks unseen ones best; with many, exact selection ties with it",
        "GUM. Strokes: standard error of the lead over exact selection, four draws of 112 queries",
        w_pad=2,
    )


def shares():
    """The share of all columns' gain over the parser that a selection of k features keeps, by draw."""
    data = read("draws")
    own = data[data.labels == "sqrt-sd"]
    index = own.pivot(index=["draw", "k"], columns="selector", values="cindex")
    gains = index.sub(index["parser"], axis=0)
    return gains.div(gains["all columns"], axis=0)[["distil", "lasso", "exact"]]


def kept(figure, title=None):
    """The same as lines through the means, and a dot for each draw."""
    axes, found = figure.subplots(), shares()
    for place, (name, means) in enumerate(found.groupby("k").mean().items()):
        axes.plot(means.index, means, color=colour(name), clip_on=False)
        label(axes, means.index[-1] * 1.05, means.iloc[-1], name, colour(name))
        draws = found[name].reset_index("draw", drop=True)
        beside = draws.index * 1.03 ** (place - 1)
        style = {"color": colour(name), "markersize": 4, "alpha": 0.7, "clip_on": False}
        axes.plot(beside, draws, mark(name), **style)
    level(axes, 1, "all columns")
    logarithmic(axes.xaxis, [10, 20, 50, 100, 200])
    axes.yaxis.set_major_formatter(PercentFormatter(1, 0))
    axes.set(xlabel="features (logarithmic)", ylabel="share of the gain over the parser")
    axes.set(xlim=(9, 215), ylim=(0, 1.08))
    if title is None:
        figure.tight_layout()
    else:
        note = "GUM. Lines: means of four draws of 112 queries. Marks: the draws. 0%: the parser"
        headed(figure, title, note)


def kept_on_page(figure):
    """The same with a title. Figures of the paper have captions instead."""
    share = shares().groupby("k").mean()["distil"]
    kept(figure, f"Twenty features of distil keep {share[20]:.0%} of what all columns gain")


def when(figure):
    """Time of a selection by strategy, on data that differ in one property."""
    data = read("when")
    data["milliseconds"] = 1000 * data.seconds
    groups = {
        "columns": "columns",
        "rows": "rows",
        "density": "share of entries that are not 0",
        "query size": "rows of a query",
        "k": "features that are selected",
    }
    *panels, last = figure.subplots(2, 3, sharey=True).flat
    for place, (axes, (group, words)) in enumerate(zip(panels, groups.items())):
        own = data[data.group == group]
        lines(axes, own, "value", "milliseconds", "strategy")
        ticks = [0.001, 0.01, 0.1] if group == "density" else sorted(own.value.unique())
        logarithmic(axes.xaxis, [tick for tick in ticks if tick != 40])
        logarithmic(axes.yaxis, [1, 10, 100, 1000, 10_000])
        axes.set(ylim=(1, 40_000), ylabel="" if place % 3 else "milliseconds")
        growth(axes, words)
    legend(
        last,
        "Dotted: time in proportion to\nthe horizontal axis. Both axes\nare logarithmic.\n\n"
        "distil trains a model of all\ncolumns first.",
    )
    headed(
        figure,
        "bounded is the fastest of the exact strategies from 1,000 columns on",
        "Ten features of 1,000 rows, 10,000 columns, 50 entries a row, but for what a panel changes",
        w_pad=1,
        h_pad=2,
    )


def scaling(figure):
    """Growth of time and memory, for `bounded` and `dense`."""
    data = read("scaling")
    data["megabytes"] = data.peak_bytes / 1e6
    seconds, memory = "select_seconds", "megabytes"
    rows, entries = data.study == "rows", data.study == "non-zeros"
    panels = [
        (rows, "rows", seconds, "rows", [1e3, 1e4, 1e5, 1e6]),
        (entries, "nonzeros", seconds, "non-zeros, 4,000 rows", [1e6, 2e6, 4e6]),
        (data.study == "queries", "queries", seconds, "queries, 4,000 rows", [50, 200, 1000]),
        (data.study == "k", "k", seconds, "features, 8,000 rows", [5, 20, 80]),
        (rows, "rows", memory, "rows", [1e3, 1e4, 1e5, 1e6]),
    ]
    *areas, last = figure.subplots(2, 3).flat
    for axes, (only, x, y, words, ticks) in zip(areas, panels):
        lines(axes, data[only].dropna(subset=[y]), x, y, "strategy")
        logarithmic(axes.xaxis, ticks)
        logarithmic(
            axes.yaxis, [0.01, 0.1, 1, 10, 100] if y == seconds else [10, 100, 1000, 10_000]
        )
        axes.set(ylim=(0.01, 200) if y == seconds else (10, 20_000))
        axes.set(title="time, s" if y == seconds else "memory, MB")
        growth(axes, words)
    legend(
        last,
        "Dotted: in proportion to the\nhorizontal axis. All axes are\nlogarithmic; those of time\nare the same.\n\n"
        "dense ends at 4,000 rows: its\nmatrices grow as rows times\ncolumn classes.",
    )
    largest = data[rows].sort_values("rows").iloc[-1]
    found = f"{largest.select_seconds:.0f} s and {largest.megabytes / 1000:.1f} GB"
    headed(
        figure,
        f"A million rows take {found}, about in proportion to the rows",
        "bounded; twenty features at lambda 16, on two cores",
        w_pad=1,
        h_pad=2,
    )


def cost(figure):
    """Time against memory of a selection: a dot for each tool, full for Algorithm 1."""
    axes, peers = figure.subplots(), read("peers")
    peers = peers[peers.drawn == "yes"]
    places = {  # of labels that do not stand beside their dot
        "rankrls bounded": (0, -14, "center"),
        "rankrls lowmem": (0, 13, "center"),
        "OrthogonalMatchingPursuit": (-9, 0, "right"),
        "Algorithm 1 in NumPy": (9, 0, "left"),
        "SequentialFeatureSelector": (0, -15, "center"),
        "Lasso": (9, -4, "left"),
    }
    for tool in peers.itertuples():
        ours = tool.selector.startswith("rankrls")
        same, guessed = tool.exact == "yes", tool.extrapolated == "yes"
        shade = colour(tool.selector.split()[-1] if ours else "text" if same else "muted")
        face = shade if same and not guessed else "none"
        style = {"s": 75, "facecolor": face, "edgecolor": shade, "linewidth": 1.3}
        axes.scatter(tool.seconds, tool.peak_mib, linestyle=":" if guessed else "-", **style)
        x, y, side = places.get(tool.selector, (9, 0, "left"))
        style = {"color": shade, "ha": side, "va": "center", "weight": "bold" if ours else "normal"}
        where = (tool.seconds, tool.peak_mib)
        axes.annotate(tool.selector, where, (x, y), textcoords="offset points", **style)
    logarithmic(axes.xaxis)
    times = {0.01: "0.01 s", 0.1: "0.1 s", 1: "1 s", 60: "1 min", 3600: "1 h", 86400: "1 day"}
    axes.set_xticks(list(times), times.values())
    logarithmic(axes.yaxis)
    axes.set(xlim=(0.004, 2e6), ylim=(20, 20_000))
    axes.set(xlabel="time of the selection (logarithmic)", ylabel="peak memory, MiB (logarithmic)")
    kinds = [("the columns of Algorithm 1", colour("text")), ("other columns", "none")]
    dot = {"marker": "o", "markersize": 8, "linestyle": "none", "markeredgecolor": colour("text")}
    dots = [Line2D([], [], markerfacecolor=face, label=words, **dot) for words, face in kinds]
    axes.legend(handles=dots, loc="lower right", labelcolor=colour("muted"))
    ours = peers[peers.selector == "rankrls bounded"].seconds.iloc[0]
    numpy = peers[peers.selector == "Algorithm 1 in NumPy"].seconds.iloc[0]
    headed(
        figure,
        f"Ten of 107,291 columns: {ours:.3f} s by rankrls, {numpy:.0f} s by this algorithm in NumPy",
        "corpora/link-parses, two cores. The dotted ring is extrapolated from some of its steps",
    )


def path(figure):
    """The index of the choosing queries, and of unseen ones, by number of features."""
    axes, data = figure.subplots(), read("path")
    kinds = [("lqo_cindex", "promised", "--"), ("test_cindex", "unseen", "-")]
    for strategy, own in data.groupby("strategy", sort=False):
        for column, name, style in kinds:
            axes.plot(own.k, own[column], style, color=colour(strategy))
            end = (own.k.iloc[-1], own[column].iloc[-1])
            label(axes, *end, f"{strategy}, {name}", colour(strategy))
        error = own.standard_error
        band = {"color": colour(strategy), "alpha": 0.12, "linewidth": 0}
        axes.fill_between(own.k, own.test_cindex - error, own.test_cindex + error, **band)
    axes.set(xlim=(0, 60), xlabel="features", ylabel="concordance index")
    exact = data[data.strategy == "exact"].iloc[-1]
    headed(
        figure,
        f"At {exact.k} features leave-query-out promises {exact.lqo_cindex:.2f} for exact selection; "
        f"unseen queries give {exact.test_cindex:.2f}",
        "corpora/link-parses. Dashed: leave-query-out, which chose the features. Solid: unseen queries,\n"
        "with one standard error",
    )


def funnel(figure):
    """Candidates that each level of `bounded` leaves: a stroke for each step, and the median."""
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
        stroke = {"color": shade, "markersize": 11, "markeredgewidth": 1.2, "alpha": 0.7}
        axes.plot(data[column], [-place] * len(data), "|", **stroke)
        axes.plot(data[column].median(), -place, "D", color=shade, markersize=6)
        where = {"xycoords": ("axes fraction", "data"), "annotation_clip": False}
        words = {"va": "center", "weight": "bold" if last else "normal"}
        axes.annotate(f"{data[column].sum():,}", (1.02, -place), **words, **where)
    style = {"color": colour("muted"), "annotation_clip": False}
    axes.annotate("in 20 steps", (1.02, 0.62), xycoords=("axes fraction", "data"), **style)
    axes.set_yticks([-place for place in range(len(levels))], levels.values())
    axes.tick_params("y", length=0, labelcolor=colour("text"))
    axes.grid(axis="y", visible=False)
    axes.spines["left"].set_visible(False)
    logarithmic(axes.xaxis, [1, 10, 100, 1000])
    axes.set(xlim=(1, 4000), xlabel="candidates in a step (logarithmic)")
    share = 1 - data.evaluated.sum() / data.candidates.sum()
    headed(
        figure,
        f"Bounds drop {share:.1%} of the candidates before their error is computed",
        "@parses. Strokes: the 20 steps; diamonds: medians. Step 1 knows no bounds yet",
    )
    figure.subplots_adjust(right=0.87)


def tables(page):
    """The page with a table for each group of GUM, and the kept share of all columns' gain."""
    data = read("quality")
    for number, group in enumerate([GUM, ALL_OF_GUM], 1):
        own = data[(data.group == group) & (data.labels == "sqrt-sd")]
        ks = own.k.unique()
        lines = [row(["selector", *(f"k = {k}" for k in ks)]), "|---|" + "---|" * len(ks)]
        for place, (selector, found) in enumerate(own.groupby("selector", sort=False)):
            cells = [f"{one.cindex:.3f}" for one in found.itertuples()]
            if place:
                stars = [
                    "*" * (abs(one.ahead) > 2 * one.standard_error) for one in found.itertuples()
                ]
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
    page = filled(page, "choice", choice())
    return filled(page, "peers", peers())


def choice():
    """Rows of the table of choices by data set: each a mean over draws."""
    titles = [
        "data",
        "queries",
        "k",
        "chosen",
        "test index",
        "best of twelve",
        "less than it",
        "exact, raw, none",
    ]
    yield row(titles)
    yield "|---|---:|---:|---|---:|---|---:|---:|"
    data = read("choice")
    for (name, k), own in data.groupby(["data", "k"], sort=False):
        chosen, best = (", ".join(dict.fromkeys(own[title])) for title in ["chosen", "best"])
        error = (own.behind_error**2).sum() ** 0.5 / len(own)
        behind = f"{own.behind.mean():.3f} ± {error:.3f}"
        index = f"{own.cindex.mean():.3f} ± {own.standard_error.mean():.3f}"
        best = f"{best}: {own.best_cindex.mean():.3f}"
        queries = ", ".join(map(str, dict.fromkeys(own.queries)))
        yield row(
            [name, queries, str(k), chosen, index, best, behind, f"{own['plain'].mean():.3f}"]
        )
    mean, worst = data.behind.mean(), data.behind.max()
    yield row(["**mean**, worst", *[""] * 5, f"**{mean:.3f}**, {worst:.3f}", ""])


def peers():
    """Rows of the table of other packages: `ahead` is the lead of exact selection, `shared` counts its columns."""
    titles = [
        "selector",
        "selection",
        "peak memory",
        "test cindex",
        "less the exact",
        "shared columns",
    ]
    yield row(titles)
    yield "|---" + "|---:" * 5 + "|"
    for one in read("peers").itertuples():
        seconds = f"{one.seconds:g} s"
        if one.extrapolated == "yes":
            yield row(
                [one.selector, f"about {one.seconds / 3600:.0f} h", f"{one.peak_mib:,} MiB", *"---"]
            )
            continue
        error = f" ± {one.standard_error:.3f}" if one.standard_error else ""
        name = one.selector + (", exact" if one.exact == "yes" else "")
        figures = [f"{one.peak_mib:,} MiB", f"{one.cindex:.4f}", f"{one.ahead:+.3f}{error}"]
        yield row([name, seconds, *figures, f"{one.shared:.0f} of 10"])


FIGURES = [
    ("quality", 420, quality),
    ("kept", 350, kept_on_page),
    ("when", 560, when),
    ("scaling", 560, scaling),
    ("cost", 430, cost),
    ("path", 410, path),
    ("funnel", 310, funnel),
]


def main():
    check = sys.argv[1:] == ["--check"]
    new = {}
    for one in FIGURES:
        file, text = picture(*one)
        new[file] = text.encode()
    new[ROOT / "paper/kept.pdf"] = printed(240, kept)
    new[PAGE] = tables(PAGE.read_text()).encode()
    changed = [file for file, own in new.items() if not file.exists() or file.read_bytes() != own]
    for file in changed:
        if check:
            print(f"{file.relative_to(ROOT)} differs from the result of studies/figures.py")
        else:
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(new[file])
            print(file.relative_to(ROOT))
    return 1 if check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
