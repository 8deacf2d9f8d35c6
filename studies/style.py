"""One style for all figures: colours, type, direct labels, and a light and a dark version.

A strategy has one colour in every figure; `bounded`, `dense` and `lowmem` select the same features,
and `bounded` stands for them where only the selection counts.
"""

import io
import itertools
import re
from pathlib import Path

import matplotlib
from matplotlib import pyplot as plt

matplotlib.use("svg")

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ROOT / "docs/figures"
WIDTH = 760 / 96  # inches: 760 pixels, the width of a page

# Light and dark.
COLOURS = {
    "bounded": ("#0969da", "#58a6ff"),
    "exact": ("#0969da", "#58a6ff"),
    "dense": ("#bc4c00", "#f0883e"),
    "lowmem": ("#8250df", "#bc8cff"),
    "sampled": ("#bf3989", "#f778ba"),
    "backfit": ("#7d6600", "#d4b32c"),
    "distil": ("#1a7f37", "#3fb950"),
    "residual": ("#0e7c86", "#39c5cf"),
    "univariate": ("#8a5a44", "#c69c85"),
    "lasso": ("#cf222e", "#ff7b72"),
    "random": ("#6e7781", "#8b949e"),
    # What is no strategy.
    "text": ("#1f2328", "#e6edf3"),
    "muted": ("#59636e", "#9198a1"),
    "grid": ("#e4e8ec", "#272d35"),
    "paper": ("#ffffff", "#0d1117"),
    "good": ("#1a7f37", "#3fb950"),
    "bad": ("#cf222e", "#ff7b72"),
}
dark = False


def colour(name):
    return COLOURS.get(name, COLOURS["muted"])[dark]


def settings():
    text, muted, grid, paper = map(colour, ["text", "muted", "grid", "paper"])
    return {
        "svg.hashsalt": "rankrls",
        "font.family": "DejaVu Sans",
        "font.size": 9,
        "axes.titlesize": 9.5,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.titlepad": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.linewidth": 0.8,
        "grid.color": grid,
        "grid.linewidth": 0.8,
        "lines.linewidth": 1.8,
        "lines.markersize": 4,
        "xtick.minor.size": 0,
        "ytick.minor.size": 0,
        "text.color": text,
        "axes.titlecolor": text,
        "axes.labelcolor": muted,
        "axes.edgecolor": muted,
        "xtick.color": muted,
        "ytick.color": muted,
        "axes.facecolor": paper,
        "figure.facecolor": paper,
        "savefig.facecolor": paper,
    }


def printed(height, draw):
    """A figure as a PDF for the paper, light: the same bytes each time."""
    global dark
    dark = False
    with plt.rc_context({**settings(), "pdf.compression": 0}):
        figure = plt.figure(figsize=(WIDTH, height / 96))
        draw(figure)
        place_labels(figure.axes[0])
        pages = io.BytesIO()
        undated = dict.fromkeys(["CreationDate", "Creator", "Producer"])
        figure.savefig(pages, format="pdf", metadata=undated)
        plt.close(figure)
    return pages.getvalue()


def versions(name, height, draw):
    """The files of a figure, light and dark, with their text. `draw` takes an empty figure."""
    global dark
    for dark in [False, True]:
        with plt.rc_context(settings()):
            figure = plt.figure(figsize=(WIDTH, height / 96))
            draw(figure)
            for axes in figure.axes:
                place_labels(axes)
            text = io.StringIO()
            figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
            plt.close(figure)
            # An element is a line.
            lines = re.sub(r"\s*\n(?!\s*<)", " ", text.getvalue().rstrip())
            yield (
                FIGURES / f"{name}{'-dark' if dark else ''}.svg",
                re.sub(r" *\n *", "\n", lines) + "\n",
            )


def label(axes, x, y, text, shade):
    """Names a line at its end, beside the point. Labels of a diagram stand a line apart."""
    place = {"textcoords": "offset points", "va": "center", "annotation_clip": False}
    axes.annotate(text, (x, y), (7, 0), color=shade, gid="label", **place)


def place_labels(axes, gap=11.5):
    """Moves labels apart, when the scales of the diagram are known."""
    labels = [text for text in axes.texts if text.get_gid() == "label"]
    own = [axes.transData.transform(text.xy)[1] * 72 / axes.figure.dpi for text in labels]
    order = sorted(range(len(labels)), key=own.__getitem__)
    heights = own.copy()
    for _ in range(200):
        for below, above in itertools.pairwise(order):
            overlap = max(0, gap - (heights[above] - heights[below]))
            heights[below] -= overlap / 2
            heights[above] += overlap / 2
    for text, before, height in zip(labels, own, heights):
        text.set_position((7, height - before))
