"""Fills in the tables of docs/other-rankers.md by python/examples/rankers.py; some ten minutes.

RANKRLS_CORPORA=FOLDER python studies/rankers.py
python studies/rankers.py --small    # prints a table of few rows, and fills in nothing

The package must be installed: pip install ./python
"""

import os
import sys

from measure import ROOT, run
from pages import filled

PAGE = ROOT / "docs/other-rankers.md"
CORPORA = ROOT / "corpora"


def table(name, *arguments):
    file = ROOT / f"target/trials/{name}.csv"
    file.parent.mkdir(parents=True, exist_ok=True)
    return (
        run(sys.executable, "python/examples/rankers.py", *arguments, "-o", file)
        .rstrip()
        .splitlines()
    )


def main():
    if sys.argv[1:] == ["--small"]:
        print("\n".join(table("small")))
        return
    letor = os.path.join(os.environ["RANKRLS_CORPORA"], "letor-mq2008-fold3")
    train, validation, test = (f"{letor}/{part}.txt.zst" for part in ["train", "vali", "test"])
    parses = [CORPORA / "link-parses/train.svm.zst", "--test", CORPORA / "link-parses/test.svm.zst"]
    graded = ["--measure", "cindex", "--relevant-from", 0.75, "--trees", 50]
    parses = table("link-parses", *parses, "-k", 10, 20, 50, 100, *graded)
    letor = table("letor", train, "--validation", validation, "--test", test, "-k", 1, 2, 5, 10, 20)
    page = filled(PAGE.read_text(), "rankers link-parses", parses)
    PAGE.write_text(filled(page, "rankers letor", letor))


if __name__ == "__main__":
    main()
