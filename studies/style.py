"""One style for all figures: colours, type, titles and labels, one file for light and dark pages.

A strategy has one colour and one mark in every figure. The colours are near the palette of Okabe and
Ito, which colour-blind readers can distinguish. `bounded`, `dense` and `lowmem` select the same
features. Where only the selection counts, `bounded` stands for all three.
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

# Colours on light and dark pages, and the mark of a strategy.
COLOURS = {
    "bounded": ("#0072b2", "#56b4e9", "o"),
    "exact": ("#0072b2", "#56b4e9", "o"),
    "distil": ("#d55e00", "#ff9d4d", "s"),
    "chosen": ("#d55e00", "#ff9d4d", "s"),
    "dense": ("#24292f", "#f0f3f6", "D"),
    "lowmem": ("#7d6b00", "#f0e442", "v"),
    "sampled": ("#3a9bd6", "#a5d8f7", "^"),
    "backfit": ("#7a5c49", "#c9a98f", "X"),
    "lasso": ("#b0558a", "#e4a2c9", "d"),
    # Not strategies.
    "text": ("#1f2328", "#e6edf3", "o"),
    "muted": ("#59636e", "#9198a1", "o"),
    "grid": ("#e4e8ec", "#272d35", ""),
}


def colour(name):
    return COLOURS.get(name, COLOURS["muted"])[0]


def mark(name):
    return COLOURS.get(name, COLOURS["muted"])[2]


def settings():
    text, muted, grid = map(colour, ["text", "muted", "grid"])
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
        "lines.markersize": 4.5,
        "xtick.minor.size": 0,
        "ytick.minor.size": 0,
        "text.color": text,
        "axes.titlecolor": text,
        "axes.labelcolor": muted,
        "axes.edgecolor": muted,
        "xtick.color": muted,
        "ytick.color": muted,
        "axes.facecolor": "none",
        "figure.facecolor": "none",
        "savefig.facecolor": "none",
        "legend.frameon": False,
    }


def headed(figure, title, note="", **pads):
    """A title with the message of the figure, and the meaning of its marks below."""
    lines = title.count("\n") + 1
    high = figure.get_figheight() * 96
    place = {"ha": "left", "va": "top"}
    figure.text(0.008, 1 - 6 / high, title, weight="bold", size=11, **place)
    if note:
        below = 1 - (10 + 17 * lines) / high
        figure.text(0.008, below, note, color=colour("muted"), size=9, **place)
    free = 12 + 17 * lines + (15 * (note.count("\n") + 1) if note else 0)
    figure.tight_layout(rect=(0, 0, 1, 1 - free / high), **pads)


def drawn(height, draw, **form):
    with plt.rc_context({**settings(), "pdf.compression": 0}):
        figure = plt.figure(figsize=(WIDTH, height / 96))
        draw(figure)
        for axes in figure.axes:
            place_labels(axes)
        file = io.BytesIO()
        figure.savefig(file, **form)
        plt.close(figure)
    return file.getvalue()


def printed(height, draw):
    """A figure as a PDF for the paper: the same bytes each time."""
    undated = dict.fromkeys(["CreationDate", "Creator", "Producer"])
    return drawn(height, draw, format="pdf", metadata=undated)


def themed(svg):
    """The text of an SVG file with other colours on dark pages, and an element on a line."""
    lines = re.sub(r"\s*\n(?!\s*<)", " ", svg.rstrip())
    rules = {
        f'[style*="{what}: {light}"]{{{what}:{dark}!important}}'
        for light, dark, _ in COLOURS.values()
        for what in ["fill", "stroke"]
    }
    style = f"<style>@media (prefers-color-scheme:dark){{{''.join(sorted(rules))}}}</style>"
    return re.sub(r" *\n *", "\n", lines).replace("<defs>", f"{style}\n<defs>", 1) + "\n"


def picture(name, height, draw):
    """The file of a figure and its text. `draw` takes an empty figure."""
    svg = drawn(height, draw, format="svg", metadata={"Date": None, "Creator": None})
    return FIGURES / f"{name}.svg", themed(svg.decode())


def label(axes, x, y, text, shade):
    """Labels a line at its end, beside the point. Labels of a diagram stand a line apart."""
    place = {"textcoords": "offset points", "va": "center", "annotation_clip": False}
    axes.annotate(text, (x, y), (7, 0), color=shade, gid="label", **place)


def place_labels(axes, gap=11.5):
    """Moves labels apart, once the scales of the diagram are known."""
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
