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
README = ROOT / "README.md"
DRAWN = "EWT, 112 queries"  # the data of the four draws


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


def shares():
    """The kept share of all columns' gain over the parser, by data, draw and number of features."""
    index = read("draws").pivot(index=["data", "draw", "k"], columns="selector", values="cindex")
    gains = index.sub(index["file order"], axis=0)
    found = gains.div(gains["all columns"], axis=0)[["chosen", "lasso", "exact, as they are"]]
    return found.rename(columns={"exact, as they are": "exact"})


def kept(figure, title=None):
    """The same of the draws of EWT as lines through the means, and a dot for each draw."""
    axes, found = figure.subplots(), shares().loc[DRAWN]
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
        note = "EWT. Lines: means of four draws of 112 queries. Marks: the draws. 0%: the parser"
        headed(figure, title, note)


def kept_on_page(figure):
    """The same with a title. Figures of the paper have captions instead."""
    share = shares().loc[DRAWN].groupby("k").mean()["chosen"]
    kept(figure, f"Fifty chosen features keep {share[50]:.0%} of what all columns gain")


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
    """The page with its tables."""
    page = filled(page, "choice", choice())
    page = filled(page, "beside", beside())
    page = filled(page, "kept", kept_shares())
    return filled(page, "peers", peers())


def dotted(number, sign=""):
    """Three decimals, without the zero before them."""
    return f"{number:{sign}.3f}".replace("0.", ".", 1)


SELECTORS = ["exact, as they are", "lasso", "SelectKBest", "abess"]
WHOLE = ["all columns", "LightGBM, all columns", "LightGBM, our columns", "file order"]


def beside():
    """Rows of the table of other selectors: the lead of each over `select`, with its error."""
    yield row(["data", "k", "chosen", *SELECTORS, *WHOLE])
    yield "|---" + "|---:" * (len(SELECTORS) + len(WHOLE) + 2) + "|"
    for (name, k), own in read("beside").groupby(["data", "k"], sort=False):
        own = own.set_index("selector")
        cells = [name, str(k), dotted(own.cindex["chosen"])]
        for selector in [*SELECTORS, *WHOLE]:
            if selector not in own.index:
                cells.append("")
                continue
            ahead, error = own.ahead[selector], own.error[selector]
            star = "*" if abs(ahead) > 2 * error else ""
            cells.append(f"{dotted(ahead, '+')}{star}±{dotted(error)}")
        yield row(cells)


def readme():
    """Rows of the table of README: the index of selectors and rankers on some of the data."""
    shown = [("documents", 10), ("logs", 10), (DRAWN, 50)]
    words = {
        "chosen": "columns that `select` chooses",
        "lasso": "as many by the lasso of scikit-learn",
        "SelectKBest": "as many by its `SelectKBest`",
        "all columns": "all columns (`train`)",
        "LightGBM, all columns": "all columns, LightGBM",
        "file order": "the order before",
    }
    yield row(["", "pages, 10 columns", "products, 10", "parses, 50"])
    yield "|---" + "|---:" * len(shown) + "|"
    data = read("beside").set_index(["data", "k", "selector"]).cindex
    for selector, text in words.items():
        yield row([text, *(dotted(data[(*one, selector)]) for one in shown)])


def kept_shares():
    """Rows of the table of shares: means, and the least and the largest of several draws."""
    found = shares()
    ks = sorted(set(found.index.get_level_values("k")))
    yield row(["data", "selector", *map(str, ks)])
    yield "|---|---|" + "---:|" * len(ks)
    for name, own in found.groupby("data", sort=False):
        for selector, shown in own.dropna(axis=1).items():
            cells = []
            for _, one in shown.groupby("k"):
                several = f" ({100 * one.min():.0f}-{100 * one.max():.0f})"
                cells.append(f"{one.mean():.0%}" + several * (len(one) > 1))
            yield row([name, selector, *cells])


def choice():
    """Rows of the table of choices by data set: means over draws, also of errors."""
    yield row(["data", "k", "chosen", "test index", "best of twelve leads by"])
    yield "|---|---:|---|---:|---:|"
    data = read("choice")
    for (name, k), own in data.groupby(["data", "k"], sort=False):
        chosen = ", ".join(dict.fromkeys(own.chosen))
        behind = f"{dotted(own.behind.mean())}±{dotted(own.behind_error.mean())}"
        index = f"{dotted(own.cindex.mean())}±{dotted(own.standard_error.mean())}"
        yield row([name, str(k), chosen, index, behind])
    mean, worst = dotted(data.behind.mean()), dotted(data.behind.max())
    yield row(["**mean**, worst", *[""] * 3, f"**{mean}**, {worst}"])


def peers():
    """Rows of the table of costs."""
    yield row(["selector", "selection", "peak memory", "test index"])
    yield "|---" + "|---:" * 3 + "|"
    for one in read("peers").itertuples():
        name = one.selector + (", exact" if one.exact == "yes" else "")
        seconds, index = f"{one.seconds:g} s", dotted(one.cindex)
        if one.extrapolated == "yes":
            seconds, index = f"about {one.seconds / 3600:.0f} h", ""
        yield row([name, seconds, f"{one.peak_mib:,} MiB", index])


FIGURES = [
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
    new[README] = filled(README.read_text(), "beside", readme()).encode()
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
