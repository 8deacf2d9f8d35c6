"""Opens the page of `rankrls tune --html` and looks whether its diagrams are there and fit.

Usage: report.py RANKRLS CHROMIUM
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

WIDTHS = [360, 768, 1280]
SCHEMES = ["light", "dark"]

# Titles and text on the page, as they are drawn.
MEASURE = """() => {
    const box = (element) => element.getBoundingClientRect();
    return {
        scrollWidth: document.documentElement.scrollWidth,
        innerWidth: window.innerWidth,
        svgs: [...document.querySelectorAll("svg")].map((e) => ({
            width: box(e).width, height: box(e).height,
            left: box(e).left, right: box(e).right, top: box(e).top,
            lines: e.querySelectorAll("polyline").length,
        })),
        text: document.body.innerText,
        paper: getComputedStyle(document.body).backgroundColor,
        ink: getComputedStyle(document.body).color,
        axis: getComputedStyle(document.querySelector("svg text")).fill,
        wide: [...document.querySelectorAll("main *")].filter(
            (e) => !e.closest("svg, .table")
                && box(e).right > window.innerWidth + 1).map((e) => e.outerHTML.slice(0, 80)),
    };
}"""


def luminance(colour):
    """WCAG's, of `rgb(r, g, b)`."""
    channels = [int(number) / 255 for number in re.findall(r"\d+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear))


def contrast(first, second):
    low, high = sorted([luminance(first) + 0.05, luminance(second) + 0.05])
    return high / low


def check(page, diagrams, scheme):
    """What is wrong with an open page."""
    found = page.evaluate(MEASURE)
    wrong = []
    if found["scrollWidth"] > found["innerWidth"]:
        wrong.append(f"scrolls sideways: {found['scrollWidth']} > {found['innerWidth']}")
    wrong += [f"out of the page: {element}" for element in found["wide"]]
    if len(found["svgs"]) != diagrams:
        wrong.append(f"{len(found['svgs'])} drawings, expected {diagrams}")
    # Where there is room for two, they stand beside each other.
    beside = len({round(svg["top"]) for svg in found["svgs"]}) < diagrams
    if beside != (found["innerWidth"] > 850):
        wrong.append(f"drawings beside each other: {beside}")
    for svg in found["svgs"]:
        if svg["width"] < 250 or svg["height"] < 60 or svg["lines"] < 1:
            wrong.append(f"expected lines: {svg}")
        if svg["left"] < -0.5 or svg["right"] > found["innerWidth"] + 0.5:
            wrong.append(f"the drawing is out of the page: {svg}")
    if (luminance(found["paper"]) < 0.2) != (scheme == "dark"):
        wrong.append(f"the page is {found['paper']} where {scheme} is preferred")
    for what in ["ink", "axis"]:
        if contrast(found[what], found["paper"]) < 4.5:
            wrong.append(f"{what} {found[what]} can hardly be read on {found['paper']}")
    if "chosen: lambda" not in found["text"]:
        wrong.append("does not name the choice")
    return wrong


def tune(program, folder, name, arguments):
    path = folder / f"{name}.html"
    subprocess.run([program, "tune", *arguments, "--quiet", "--html", path],
                   check=True, stdout=subprocess.DEVNULL, cwd=folder)
    return path


def main(program, chromium):
    screenshots = os.environ.get("RANKRLS_REPORT_SCREENSHOTS")
    failures = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        folder = Path(folder)
        nasty = "a<b>&'" + "long" * 40 + ".svm"
        rows = [f"{row % 3} qid:{row // 4} {row % 5 + 1}:1 {row % 7 + 6}:2" for row in range(40)]
        (folder / nasty).write_text("\n".join(rows) + "\n")
        quick = ["-k", "5", "--lambdas", "4,16"]
        reports = [
            # Each measure of test data has a panel more.
            (tune(program, folder, "corpus",
                  ["@parses", *quick, "--test", "@parses-test", "--metrics", "cindex"]), 3),
            # Long names that are not HTML.
            (tune(program, folder, "names", [nasty, *quick, "--evidence", "lqo"]), 2),
        ]
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for path, diagrams in reports:
            for scheme in SCHEMES:
                for width in WIDTHS:
                    page = browser.new_page(viewport={"width": width, "height": 800},
                                            color_scheme=scheme)
                    asked = []
                    page.on("request", lambda request: asked.append(request.url))
                    page.on("console", lambda message: asked.append(message.text))
                    page.goto(path.as_uri())
                    name = f"{path.stem}, {width} pixels, {scheme}"
                    wrong = check(page, diagrams, scheme)
                    wrong += [f"asks for {url}" for url in asked if url != path.as_uri()]
                    failures += [f"{name}: {what}" for what in wrong]
                    print(f"{'FAILED' if wrong else 'ok':6} {name}")
                    if screenshots:
                        picture = Path(screenshots) / f"{path.stem}-{width}-{scheme}.png"
                        page.screenshot(path=picture, full_page=True)
                    page.close()
        browser.close()
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
