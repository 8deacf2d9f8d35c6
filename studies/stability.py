"""How far a hundred bootstrap selections agree: data/stability.csv.

python studies/stability.py    # a minute

Each draws as many queries as there are, with replacement, from corpora/link-parses, and selects
ten features exactly, at lambda 16. The file has the features of the selection on all queries, and
the number of draws with each. `agreement` is the index of Nogueira, Sechidis and Brown (2018): 1
if all draws agree, 0 by chance.
"""

import collections
import json
import random
import subprocess
import tempfile
from pathlib import Path

import pandas as pd
from measure import CORPORA, ROOT, rankrls, run

DRAWS, K = 100, 10
TRAIN = CORPORA / "link-parses/train.svm.zst"


def selected(data):
    command = [rankrls(), "select", data, "-k", K, "--lambda", 16, "--json", "--quiet"]
    return [step["feature"] for step in json.loads(run(*command))["steps"]]


def drawn(rows, folder, seed):
    """A file of queries drawn with replacement. A query drawn twice is two queries."""
    names = random.Random(seed).choices(list(rows), k=len(rows))
    file = Path(folder) / "drawn.svm"
    with file.open("w") as output:
        for place, name in enumerate(names):
            for label, rest in rows[name]:
                output.write(f"{label} qid:{place} {rest}")
    return file


def agreement(draws, columns):
    """1 less the mean variance of a feature's selection, divided by the variance of random draws."""
    counts = collections.Counter(feature for draw in draws for feature in draw)
    shares = [count / len(draws) for count in counts.values()]
    variance = sum(share * (1 - share) for share in shares) * len(draws) / (len(draws) - 1)
    return 1 - variance / (K * (1 - K / columns))


def main():
    text = subprocess.run(["zstd", "-dc", TRAIN], check=True, capture_output=True, text=True).stdout
    names = subprocess.run(
        ["zstd", "-dc", CORPORA / "link-parses/names.txt.zst"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    rows = collections.defaultdict(list)
    for line in text.splitlines(True):
        if not line.startswith("#"):
            label, name, rest = line.split(" ", 2)
            rows[name].append((label, rest))
    with tempfile.TemporaryDirectory() as folder:
        draws = [selected(drawn(rows, folder, seed)) for seed in range(DRAWS)]
    counts = collections.Counter(feature for draw in draws for feature in draw)
    index = agreement(draws, len(names))
    print(f"agreement {index:.3f}, {len(counts)} features in all")
    lines = [
        {
            "feature": feature,
            "name": names[feature - 1],
            "draws": counts[feature],
            "agreement": index,
        }
        for feature in selected(TRAIN)
    ]
    file = ROOT / "studies/data/stability.csv"
    pd.DataFrame(lines).to_csv(file, index=False, float_format="%.3f")
    print(file)


if __name__ == "__main__":
    main()
