"""Draws docs/when/when.svg, and fills in the tables of docs/when.md, from what `cargo bench --bench
when` measured; keeps the medians in docs/when/when.csv. Needs nothing but Python 3.

    python3 docs/when/plot.py [target/criterion]

Without the folder it draws from when.csv.
"""

import csv
import json
import math
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
PAGE = HERE.parent / "when.md"
GROUPS = ["columns", "rows", "density", "query size", "k", "kappa"]
COLOURS = {
    "dense": "#c1462f",
    "lowmem": "#b58900",
    "bounded": "#1b6ca8",
    "sampled": "#6c6f7d",
    "backfit": "#2a8f5b",
}
ACROSS, WIDTH, HEIGHT = 3, 320, 250


def measured(folder):
    """(group, strategy, value, median seconds) of every benchmark."""
    lines = []
    for group in GROUPS:
        for strategy in COLOURS:
            for path in (folder / group / strategy).glob("*/new/estimates.json"):
                median = json.loads(path.read_text())["median"]["point_estimate"] / 1e9
                lines.append((group, strategy, float(path.parent.parent.name), median))
    order = {name: place for place, name in enumerate([*GROUPS, *COLOURS])}
    return sorted(lines, key=lambda line: (order[line[0]], order[line[1]], line[2]))


def load():
    with open(HERE / "when.csv", encoding="ascii", newline="") as file:
        return [(g, s, float(v), float(t)) for g, s, v, t in list(csv.reader(file))[1:]]


def save(lines):
    with open(HERE / "when.csv", "w", encoding="ascii", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["group", "strategy", "value", "seconds"])
        writer.writerows((g, s, f"{v:g}", f"{t:.6g}") for g, s, v, t in lines)


def bounds(values):
    low, high = math.log10(min(values)), math.log10(max(values))
    return low - 0.08 * (high - low or 1), high + 0.08 * (high - low or 1)


def seconds(value):
    for unit, size in (("s", 1), ("ms", 1e-3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value * 1e6:.3g} µs"


def panel(lines, group, left, top):
    own = [line for line in lines if line[0] == group]
    x_low, x_high = bounds([line[2] for line in own])
    y_low, y_high = bounds([line[3] for line in own])
    box = (left + 58, top + 34, WIDTH - 74, HEIGHT - 92)

    def at(x, y):
        across = (math.log10(x) - x_low) / (x_high - x_low)
        up = (math.log10(y) - y_low) / (y_high - y_low)
        return box[0] + across * box[2], box[1] + (1 - up) * box[3]

    parts = [f'<text class="title" x="{left + 58}" y="{top + 20}">by {group}</text>']
    for power in range(math.ceil(y_low), math.floor(y_high) + 1):
        _, y = at(own[0][2], 10.0**power)
        parts.append(f'<path class="grid" d="M{box[0]} {y:.1f}h{box[2]}"/>')
        parts.append(f'<text class="tick" x="{box[0] - 6}" y="{y + 4:.1f}" text-anchor="end">{seconds(10.0**power)}</text>')
    for value in sorted({line[2] for line in own}):
        x, _ = at(value, own[0][3])
        parts.append(f'<path class="grid" d="M{x:.1f} {box[1]}v{box[3]}"/>')
        parts.append(f'<text class="tick" x="{x:.1f}" y="{box[1] + box[3] + 16}" text-anchor="middle">{value:,g}</text>')
    for strategy, colour in COLOURS.items():
        points = [at(v, t) for _, s, v, t in own if s == strategy]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{path}"/>')
        parts += [f'<circle fill="{colour}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in points]
    return parts


def draw(lines):
    height = 2 * HEIGHT + 30
    width = ACROSS * WIDTH
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        "<title>Time of a selection by strategy</title>",
        "<style>svg{background:#fff}text{font:13px sans-serif;fill:#444}.title{font-size:15px;fill:#111}"
        ".grid{stroke:#ddd}@media(prefers-color-scheme:dark){svg{background:#16181d}text{fill:#b8bcc6}"
        ".title{fill:#f2f3f5}.grid{stroke:#333842}}</style>",
    ]
    for place, group in enumerate(GROUPS):
        parts += panel(lines, group, place % ACROSS * WIDTH, place // ACROSS * HEIGHT)
    for place, (strategy, colour) in enumerate(COLOURS.items()):
        x = 58 + place * 130
        parts.append(f'<rect fill="{colour}" x="{x}" y="{height - 24}" width="18" height="4"/>')
        parts.append(f'<text x="{x + 24}" y="{height - 18}">{strategy}</text>')
    (HERE / "when.svg").write_text("\n".join([*parts, "</svg>"]) + "\n", encoding="utf-8")


def table(lines, group):
    values = sorted({line[2] for line in lines if line[0] == group})
    rows = [f"| {group} | " + " | ".join(f"{value:,g}" for value in values) + " |"]
    rows.append("|---|" + "---:|" * len(values))
    for strategy in COLOURS:
        times = {v: t for g, s, v, t in lines if (g, s) == (group, strategy)}
        rows.append(f"| `{strategy}` | " + " | ".join(seconds(times[v]) for v in values) + " |")
    return "\n".join(rows)


def fill(lines):
    page = PAGE.read_text(encoding="utf-8")
    for group in GROUPS:
        mark = f"<!-- {group} -->"
        pattern = re.escape(mark) + r"\n.*?\n<!-- end -->"
        text = f"{mark}\n{table(lines, group)}\n<!-- end -->"
        page, count = re.subn(pattern, lambda _: text, page, flags=re.S)
        assert count == 1, group
    PAGE.write_text(page, encoding="utf-8")


def main():
    if len(sys.argv) > 1:
        save(measured(pathlib.Path(sys.argv[1])))
    lines = load()
    draw(lines)
    fill(lines)


if __name__ == "__main__":
    main()
