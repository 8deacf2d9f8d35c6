"""The picture of docs/python.md: a path, a choice by folds, and compared rankings.

    python gallery.py [FILE.svg]

Needs Matplotlib; takes half a minute. Without FILE it writes gallery.svg.
"""

import io
import sys
from pathlib import Path

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot as plt

from rankrls import GreedyRankRLS, GreedyRankRLSCV, metrics, plot, read

CORPORA = Path(__file__).resolve().parents[2] / "corpora"
# Colours on light pages and on dark ones.
TEXT, GRID = ("#1f2328", "#e6edf3"), ("#b0b0b0", "#59636e")
DARK = dict([TEXT, GRID, ("#0072b2", "#56b4e9"), ("#d55e00", "#ff9d4d")])
STYLE = {
    "font.size": 8,
    "legend.fontsize": 7,
    "legend.framealpha": 0,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": plt.cycler(color=["#0072b2"]),
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "grid.color": GRID[0],
    **dict.fromkeys(
        ["text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"], TEXT[0]
    ),
    # Text stays text, and equal pictures make equal files.
    "svg.fonttype": "none",
    "svg.hashsalt": "rankrls",
}

train = read(CORPORA / "parses/train.svm.zst", names=CORPORA / "parses/names.txt.zst")
test = read(CORPORA / "parses/test.svm.zst", n_features=train.X.shape[1])
# A copy has no names, which would crowd diagrams as small as these.
X, y, qid = train.X.copy(), train.y, train.qid

with plt.rc_context(STYLE):
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(9.4, 3.2), layout="constrained")

    steps = []
    path = GreedyRankRLS(30, alpha=16).fit(X, y, qid=qid, callback=steps.append)
    plot.path(path, what="lqo_cindex", ax=left)
    scores = [test.X[:, path.selected_[: step.number]] @ step.weights for step in steps]
    unseen = [metrics.score(test.y, each, qid=test.qid, metric="cindex") for each in scores]
    left.plot(range(1, 31), unseen, color=TEXT[0], linewidth=1)
    for words, values, above in [("left out", path.lqo_cindex_path_, 8), ("unseen", unseen, -18)]:
        place = {"textcoords": "offset points", "ha": "right"}
        left.annotate(words, (30, values[-1]), (0, above), **place)
    left.set(title="Left-out queries promise more", ylabel="concordance index")

    grid = {"alpha": "1/1024u..1u:2", "strategy": ["bounded", "distil"]}
    search = GreedyRankRLSCV(30, scoring="cindex", rule="one-se", **grid)
    plot.tuning(search.fit(X, y, qid=qid), ax=middle)
    middle.sharey(left)
    middle.set(title="The fewest within one standard error", ylabel="concordance index by folds")
    left.set_ylim(0.5, 0.74)

    found = {}
    for strategy in ["distil", "bounded", "residual", "univariate", "random"]:
        model = GreedyRankRLS(20, alpha=16, strategy=strategy).fit(X, y, qid=qid)
        found[strategy] = metrics.evaluate(test.y, model.predict(test.X), qid=test.qid)
    plot.comparison(found, measure="cindex", ax=right)
    right.set(title="Twenty features on unseen queries")

    drawn = io.StringIO()
    figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})

rules = [
    f'[style*="{what}: {light}"]{{{what}:{dark}!important}}'
    for light, dark in DARK.items()
    for what in ["fill", "stroke"]
]
style = f"<style>@media (prefers-color-scheme:dark){{{''.join(rules)}}}</style>"
file = Path(sys.argv[1] if len(sys.argv) > 1 else "gallery.svg")
file.write_text(drawn.getvalue().replace("<defs>", f"{style}\n <defs>", 1))
