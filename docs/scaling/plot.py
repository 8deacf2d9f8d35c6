"""Draws docs/scaling/scaling.svg from docs/scaling/scaling.csv, and fills in the tables of
docs/scaling.md. Needs nothing but Python 3.

    python3 docs/scaling/plot.py
"""

import csv
import math
import pathlib
import re

HERE = pathlib.Path(__file__).parent
PAGE = HERE.parent / "scaling.md"
COLOURS = {"bounded": "#1b6ca8", "dense": "#c1462f"}

# title, study, horizontal field, unit, vertical field, unit
PANELS = [
    ("more sentences", "rows", "rows", "rows", "select_seconds", "s"),
    ("a larger vocabulary", "columns", "columns", "columns", "select_seconds", "s"),
    ("longer sentences", "non-zeros", "nonzeros", "non-zeros", "select_seconds", "s"),
    ("more parses a sentence", "queries", "queries", "queries", "select_seconds", "s"),
    ("more features", "k", "k", "k", "select_seconds", "s"),
    ("less regularisation", "lambda", "lambda", "lambda", "select_seconds", "s"),
    ("memory of the process", "rows", "nonzeros", "non-zeros", "peak_bytes", "bytes"),
    ("more features, train_20000", "real-k", "k", "k", "select_seconds", "s"),
    ("less regularisation, train_20000", "real-lambda", "lambda", "lambda", "select_seconds", "s"),
]
ACROSS, WIDTH, HEIGHT, MARGIN = 3, 320, 230, 52


def load():
    """The lines of the study, numbers as numbers."""

    def value(text):
        try:
            return float(text)
        except ValueError:
            return text

    with open(HERE / "scaling.csv", encoding="ascii", newline="") as file:
        return [{key: value(text) for key, text in line.items()} for line in csv.DictReader(file)]


def points(lines, study, strategy, x, y):
    chosen = (l for l in lines if l["study"] == study and l["strategy"] == strategy)
    return sorted((l[x], l[y]) for l in chosen if l[y] != "" and l[x] > 0 and l[y] > 0)


def slope(pairs):
    """Least-squares exponent b of y = a x^b."""
    xs, ys = ([math.log(pair[i]) for pair in pairs] for i in (0, 1))
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((x - mean_x) ** 2 for x in xs)
    return sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys)) / spread


def span(values):
    """Powers of ten around the values."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def short(power):
    if -4 < power < 4:
        return f"{10.0**power:,g}"
    return "10" + str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def panel(lines, left, top, title, study, x, x_unit, y, y_unit):
    """One log-log diagram."""
    series = {name: points(lines, study, name, x, y) for name in COLOURS}
    drawn = [pair for pairs in series.values() for pair in pairs]
    if not drawn:
        return []
    x_low, x_high = span([pair[0] for pair in drawn])
    y_low, y_high = span([pair[1] for pair in drawn])
    right, bottom = left + WIDTH - MARGIN - 8, top + HEIGHT - 70

    def at(px, py):
        across = (math.log10(px) - x_low) / (x_high - x_low)
        up = (math.log10(py) - y_low) / (y_high - y_low)
        return left + across * (right - left), bottom - up * (bottom - top)

    svg = [f'<text x="{left}" y="{top - 12}" class="title">{title}</text>']
    for power in range(x_low, x_high + 1, 1 if x_high - x_low < 6 else 2):
        h, _ = at(10.0**power, 10.0**y_low)
        svg.append(f'<path d="M{h:.1f} {top}V{bottom}" class="grid"/>')
        svg.append(f'<text x="{h:.1f}" y="{bottom + 14}" class="x">{short(power)}</text>')
    for power in range(y_low, y_high + 1):
        _, v = at(10.0**x_low, 10.0**power)
        svg.append(f'<path d="M{left} {v:.1f}H{right}" class="grid"/>')
        svg.append(f'<text x="{left - 5}" y="{v + 4:.1f}" class="y">{short(power)}</text>')
    svg.append(f'<text x="{(left + right) / 2:.0f}" y="{bottom + 28}" class="x">{x_unit}; {y_unit} upwards</text>')
    for name, pairs in series.items():
        if not pairs:
            continue
        places = [at(*pair) for pair in pairs]
        path = "L".join(f"{h:.1f} {v:.1f}" for h, v in places)
        svg.append(f'<path d="M{path}" fill="none" stroke="{COLOURS[name]}" stroke-width="1.5"/>')
        svg += [f'<circle cx="{h:.1f}" cy="{v:.1f}" r="2.5" fill="{COLOURS[name]}"/>' for h, v in places]
    return svg


def draw(lines):
    rows = -(-len(PANELS) // ACROSS)
    width, height = ACROSS * WIDTH + 12, rows * HEIGHT + 30
    svg = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">',
        "<style>.grid{stroke:#ddd;stroke-width:1}.title{font-size:13px;font-weight:bold}"
        ".x{text-anchor:middle}.y{text-anchor:end}</style>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for number, (title, *rest) in enumerate(PANELS):
        left = MARGIN + (number % ACROSS) * WIDTH
        top = 58 + (number // ACROSS) * HEIGHT
        svg += panel(lines, left, top, title, *rest)
    for place, (name, colour) in enumerate(COLOURS.items()):
        svg.append(f'<circle cx="{MARGIN + 90 * place}" cy="16" r="4" fill="{colour}"/>')
        svg.append(f'<text x="{MARGIN + 8 + 90 * place}" y="20">{name}</text>')
    (HERE / "scaling.svg").write_text("\n".join([*svg, "</svg>\n"]), encoding="utf-8")


def power(unit, pairs):
    """The exponent, if the points are far enough apart to tell one."""
    if len(pairs) < 3 or pairs[-1][0] < 3 * pairs[0][0]:
        return "-"
    return f"{unit}^{slope(pairs):.2f}"


def fits(lines):
    """How time and memory grow along each study."""
    out = [
        "| study | against | strategy | range | time ~ | time, last three ~ | memory ~ |",
        "|---|---|---|---:|---:|---:|---:|",
    ]
    for title, study, x, x_unit, y, _ in PANELS:
        if y != "select_seconds":
            # Of the study of rows, time against non-zeros.
            title = "more sentences"
        for name in COLOURS:
            times = points(lines, study, name, x, "select_seconds")
            if len(times) < 3:
                continue
            memory = points(lines, study, name, x, "peak_bytes")
            powers = " | ".join(power(x_unit, pairs) for pairs in (times, times[-3:], memory))
            ends = f"{times[0][0]:,.10g} to {times[-1][0]:,.10g}"
            out.append(f"| {title} | {x_unit} | {name} | {ends} | {powers} |")
    return out


def table(lines):
    """Everything that was measured."""
    out = [
        "| study | strategy | rows | queries | columns | non-zeros | classes | k | lambda | classes, s"
        " | selection, s | ms a feature | passes a feature | peak memory, MB |",
        "|---|---|" + "---:|" * 12,
    ]
    for l in lines:
        if l["study"].startswith("real-"):
            continue
        each = l["select_seconds"] / l["k"]
        cells = [l["study"], l["strategy"]]
        cells += [f"{l[key]:,.0f}" for key in ("rows", "queries", "columns", "nonzeros", "classes", "k")]
        cells += [f"{l['lambda']:g}", f"{l['classes_seconds']:.3f}", f"{l['select_seconds']:.3f}"]
        cells += [f"{1e3 * each:.2f}", f"{each / l['pass_seconds']:.1f}"]
        cells.append(f"{l['peak_bytes'] / 1e6:,.0f}" if l["peak_bytes"] != "" else "-")
        out.append(f"| {' | '.join(cells)} |")
    return out


def fill(name, content):
    """Puts lines between the markers of that name."""
    markers = rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)"
    page = PAGE.read_text(encoding="utf-8")
    body = "\n".join(content) + "\n"
    page, count = re.subn(markers, lambda m: m[1] + body + m[2], page, flags=re.DOTALL)
    if count != 1:
        raise SystemExit(f"{PAGE}: expected markers begin and end {name} once, found {count}")
    PAGE.write_text(page, encoding="utf-8")


def main():
    lines = load()
    # Of the largest real data there are two series: in k, and in lambda.
    real = [l for l in lines if l["data"] == "train_20000" and l["strategy"] == "bounded"]
    lines += [{**l, "study": "real-k"} for l in real if l["lambda"] == 16]
    lines += [{**l, "study": "real-lambda"} for l in real if l["k"] == 50]
    draw(lines)
    fill("fits", fits(lines))
    fill("figures", table(lines))


main()
