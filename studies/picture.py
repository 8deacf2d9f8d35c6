"""The picture of README: two parses of a sentence, and the deciding features.

python studies/picture.py en_ewt-ud-test.conllu    # makes data/picture-* again, and draws; some minutes

It trains on parses of the treebank, as README does, and explains the parses of the sentence in
data/picture.conllu. It needs the Link Grammar parser. `rankrls explain --plot` draws.
"""

import json
import sys
import tempfile
from pathlib import Path

from measure import rankrls, run
from style import FIGURES, ROOT

DATA = ROOT / "studies/data"
MODEL, ROWS, TEXTS = (DATA / f"picture{end}" for end in ["-model.json", ".svm", "-texts.txt"])


def columns(rows):
    """The entries in columns of the model. Thousands of others change nothing."""
    shown = run(rankrls(), "inspect", MODEL, "--json")
    kept = {str(step["feature"]) for step in json.loads(shown)["steps"]}
    lines = [line.split() for line in rows.splitlines() if not line.startswith("#")]
    own = [[*line[:2], *(one for one in line[2:] if one.split(":")[0] in kept)] for line in lines]
    return "".join(" ".join(line) + "\n" for line in own)


def main():
    (treebank,) = sys.argv[1:]
    build = [rankrls(), "build"]
    parser = ["--link-grammar", "--linkages", 18, "--time-limit", 5]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpus, one = folder / "ewt", folder / "one"
        run(*build, treebank, *parser, "-o", corpus)
        data = corpus / "train.svm.zst"
        run(rankrls(), "select", data, "-k", 20, "--strategy", "distil", "-o", MODEL)
        known = ["--columns", corpus / "names.txt.zst"]
        run(*build, DATA / "picture.conllu", *parser, *known, "-o", one)
        ROWS.write_text(columns(run("zstd", "-dc", one / "test.svm.zst")))
        TEXTS.write_text(run("zstd", "-dc", one / "test-texts.txt.zst"))
    explain = [rankrls(), "explain", MODEL, ROWS, "letter", "--versus", "first", "--texts", TEXTS]
    run(*explain, "--plot", FIGURES / "picture.svg")


if __name__ == "__main__":
    main()
