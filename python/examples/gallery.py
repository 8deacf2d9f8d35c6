"""The picture of docs/python.md: a path, a choice by folds, and rankings that are compared.

    python gallery.py [FILE.svg]

Needs Matplotlib; takes half a minute. Without FILE it writes gallery.svg.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot as plt

from rankrls import GreedyRankRLS, GreedyRankRLSCV, metrics, plot, read

CORPORA = Path(__file__).resolve().parents[2] / "corpora"
STYLE = {
    "font.size": 8,
    "legend.fontsize": 7,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    # Text stays text, and equal pictures are equal files.
    "svg.fonttype": "none",
    "svg.hashsalt": "rankrls",
}

train = read(CORPORA / "parses.svm.zst", names=CORPORA / "parses.names.txt.zst")
test = read(CORPORA / "parses-test.svm.zst", n_features=train.X.shape[1])
X, y, qid, _ = train

with plt.rc_context(STYLE):
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(9.4, 3.2), layout="constrained")

    steps = []
    path = GreedyRankRLS(30, alpha=16).fit(X, y, qid=qid, callback=steps.append)
    plot.path(path, what="lqo_cindex", ax=left)
    unseen = [
        metrics.score(
            test.y,
            test.X[:, path.selected_[: step.number]] @ step.weights,
            qid=test.qid,
            metric="cindex",
        )
        for step in steps
    ]
    left.plot(range(1, 31), unseen, color="black", linewidth=1)
    left.annotate(
        "left out", (30, steps[-1].lqo_cindex), (0, 6), textcoords="offset points", ha="right"
    )
    left.annotate("unseen", (30, unseen[-1]), (0, 6), textcoords="offset points", ha="right")
    left.set(title="plot.path", ylabel="concordance index")

    search = GreedyRankRLSCV(30, strategies=["bounded", "distil"], scoring="cindex", rule="one-se")
    plot.tuning(search.fit(X, y, qid=qid), ax=middle)
    middle.set(title="plot.tuning", ylabel="concordance index by folds")

    found = {}
    for strategy in ["distil", "bounded", "residual", "univariate", "random"]:
        model = GreedyRankRLS(20, alpha=16, strategy=strategy).fit(X, y, qid=qid)
        found[strategy] = metrics.evaluate(test.y, model.predict(test.X), qid=test.qid)
    plot.comparison(found, measure="cindex", ax=right)
    right.set(title="plot.comparison")

    file = sys.argv[1] if len(sys.argv) > 1 else "gallery.svg"
    figure.savefig(file, metadata={"Date": None, "Creator": None})
