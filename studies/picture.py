"""The picture of README: two parses of a sentence, and the features that decide between them.

python studies/picture.py en_ewt-ud-test.conllu    # makes data/picture.json again; some minutes

It trains on parses of the treebank, as README does, and explains the parses of the sentence in
data/picture.conllu. It takes the Link Grammar parser. `figures.py` draws the picture.
"""

import json
import sys
import tempfile
from pathlib import Path

from matplotlib.patches import Arc
from style import ROOT, WIDTH, colour

DATA = ROOT / "studies/data"
MARGIN = 34  # in pixels
WORDS = {  # for the names of features
    "labels:<MVp~<Mp": "a preposition hangs on a verb and a noun",
    "length:PH~-1": "“an” is linked to the next word for its sound",
    "connectors:A+": "an adjective only modifies the noun after it",
    "num:cost": "the cost that the parser sees",
    "num:length": "the length of all links, in words",
}


def links(text, words):
    """Pairs of places: head and modifier. Texts list links by the place of the modifier."""
    found, last = [], 0
    for link in text.split("; "):
        head, _, modifier = link.split(" ")
        last = next(i for i in range(last, len(words)) if words[i].lower() == modifier.lower())
        heads = [i for i, word in enumerate(words) if word.lower() == head.lower()]
        if heads:  # else it is the wall
            found.append((min(heads, key=lambda i: abs(i - last)), last))
    return found


def picture(figure):
    """Two parses as arcs above the words, and the features that decide as bars."""
    document = json.loads((DATA / "picture.json").read_text())
    lines = (DATA / "picture.conllu").read_text().splitlines()
    words = [line.split("\t")[1] for line in lines if line[:1].isdigit()]
    first, chosen = document["versus"], document["rows"][0]
    parses = [links(row["text"], words) for row in [first, chosen]]
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, WIDTH * 96), ylim=(figure.get_figheight() * 96, 0))
    axes.axis("off")
    places = spread(axes, [word for word in words if word.isalpha()])

    lost = set(parses[0]) - set(parses[1])
    kept = {link for link in parses[1] if any(link[1] == other[1] for other in lost)}
    heading(axes, 28, "The parser's first choice", "two phrases hang on two words each", "bad")
    y = arcs(axes, 44, places, words, parses[0], lost, "bad")
    title = f"The choice of rankrls among {document['rows_of_query']} parses"
    heading(axes, y + 52, title, "each phrase hangs on one word", "good")
    y = arcs(axes, y + 68, places, words, parses[1], kept, "good")
    count, sum_of_all = len(chosen["contributions"]), chosen["difference"]
    title = f"Why: {count} features of the model differ, {sum_of_all:+.2f} in sum"
    heading(axes, y + 56, title, "weight × difference of the values", "text")
    bars(axes, y + 84, chosen["contributions"])


def spread(axes, words):
    """The middle of each word, over the whole width."""
    texts = [axes.text(0, 0, word, fontsize=11) for word in words]
    widths = [text.get_window_extent().width * 96 / axes.figure.dpi for text in texts]
    for text in texts:
        text.remove()
    gap = (WIDTH * 96 - 2 * MARGIN - sum(widths)) / (len(words) - 1)
    starts = [MARGIN + sum(widths[:i]) + i * gap for i in range(len(words))]
    return [start + width / 2 for start, width in zip(starts, widths)]


def heading(axes, y, title, note, shade):
    text = axes.text(MARGIN, y, title, fontsize=11, weight="bold", color=colour(shade))
    box = text.get_window_extent().transformed(axes.transData.inverted())
    axes.text(box.x1 + 12, y, note, fontsize=9.5, color=colour("muted"))


def arcs(axes, top, places, words, parse, marked, shade):
    """Arcs above the words, those of `marked` in colour; gives where the words stand."""
    heights = {link: 20 + 17 * (abs(link[0] - link[1]) - 1) ** 0.8 for link in parse}
    y = top + max(heights.values()) + 8
    for place, word in zip(places, words):
        axes.text(place, y + 5, word, fontsize=11, ha="center", va="top", color=colour("text"))
    for link in parse:
        own = link in marked
        style = {"color": colour(shade if own else "muted"), "linewidth": 2.6 if own else 1.1}
        style["zorder"] = 3 if own else 2
        left, right = sorted(link)
        x = [places[left] + beside(left, right, parse), places[right] + beside(right, left, parse)]
        size = (x[1] - x[0], 2 * heights[link])
        axes.add_patch(Arc((sum(x) / 2, y - 5), *size, theta1=180, theta2=360, **style))
        end = x[0] if link[1] == left else x[1]
        axes.plot(end, y - 5, marker="v", markersize=6 if own else 4, **style)
    return y


def beside(word, other, parse):
    """How far from the middle of a word an arc ends: short ones outside, so that none cross."""
    side = 1 if other > word else -1
    ends = [link[0] + link[1] - word for link in parse if word in link]
    longer = [end for end in ends if (end - word) * side > (other - word) * side]
    return side * (4 + 8 * len(longer))


def bars(axes, y, contributions):
    zero, unit = 440, 520  # in pixels
    step = 26
    middles = [y + step * place for place in range(len(contributions))]
    axes.plot([zero, zero], [y - 12, middles[-1] + 12], color=colour("muted"), linewidth=0.8)
    for middle, one in zip(middles, contributions):
        value = one["contribution"]
        shade = colour("good" if value > 0 else "bad")
        left, width = zero + min(0, value) * unit, abs(value) * unit
        axes.barh(middle, width, left=left, height=14, color=shade)
        style = {"fontsize": 9.5, "va": "center_baseline"}
        axes.text(MARGIN, middle, WORDS[one["name"]], color=colour("text"), **style)
        number = f"{value:+.3f}".replace("-", "−")
        axes.text(zero + max(0, value) * unit + 7, middle, number, color=shade, **style)
        style = {"fontsize": 8.5, "va": "center_baseline", "ha": "right", "color": colour("muted")}
        change = f"{one['reference']:g} → {one['value']:g}".replace("-", "−")
        axes.text(zero - 26, middle, change, **style)
        axes.text(WIDTH * 96 - MARGIN, middle, one["name"], **style)


def main():
    from measure import rankrls, run

    (treebank,) = sys.argv[1:]
    build = [rankrls(), "build"]
    parser = ["--link-grammar", "--linkages", 18, "--time-limit", 5]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpus, one, model = folder / "ewt", folder / "one", folder / "model.json"
        run(*build, treebank, *parser, "-o", corpus)
        data = corpus / "train.svm.zst"
        run(rankrls(), "select", data, "-k", 20, "--strategy", "distil", "-o", model)
        columns = ["--columns", corpus / "names.txt.zst"]
        run(*build, DATA / "picture.conllu", *parser, *columns, "-o", one)
        explain = [rankrls(), "explain", model, one / "test.svm.zst", "letter", "--versus", 1]
        found = run(*explain, "--json")
    (DATA / "picture.json").write_text(found)


if __name__ == "__main__":
    main()
