"""Repeats the experiment of the Greedy RankRLS paper on folds of the LETOR collections.

python studies/letor.py MQ2008/Fold*                # seconds a fold; RANKRLS names the program

A fold is a folder with train.txt, vali.txt and test.txt, plain, .gz or .zst. Greedy RankRLS is
`rankrls tune` judged by the validation data: all features, every lambda of 2^-10..2^10, and the
largest mean average precision. RankRLS on all features is `rankrls train` with each lambda, chosen
likewise. Of equal values, the larger lambda wins. Test data choose nothing.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

MEASURES = ["map", "p@10", "mean-ndcg", "ndcg@10"]
RULES = ["--convention", "letor", "--metrics", ",".join(MEASURES), "--json", "--quiet"]
LAMBDAS = [2.0**power for power in range(-10, 11)]


def report(*arguments):
    command = [os.environ.get("RANKRLS", "rankrls"), *map(str, arguments)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def part(fold, name):
    files = [fold / f"{name}.txt{ending}" for ending in ["", ".gz", ".zst"]]
    return next((file for file in files if file.exists()), files[0])


def greedy(train, validation, test):
    options = ["-k", 10_000, "--lambda", "2^-10..2^10", "--validation", validation]
    found = report("tune", train, *options, "--choose-by", "map", "--test", test, *RULES)
    steps = found["selection"]["steps"]
    features = [step["feature"] for step in steps]
    return found["chosen"]["lambda"], features, steps[-1]["test"]


def all_features(train, validation, test):
    with tempfile.TemporaryDirectory() as folder:

        def measured(data, ridge):
            model = Path(folder) / f"{ridge}.json"
            if not model.exists():
                options = ["--lambda", ridge, "--holdout", "none", "--json", "--quiet"]
                report("train", train, *options, "-o", model)
            return report("evaluate", data, "--model", model, *RULES)["metrics"]

        best = max(LAMBDAS, key=lambda ridge: (measured(validation, ridge)["map"], ridge))
        return best, measured(test, best)


def main(folds):
    rows = {}
    for fold in folds:
        parts = [part(fold, name) for name in ["train", "vali", "test"]]
        ridge, features, ours = greedy(*parts)
        other, theirs = all_features(*parts)
        rows[fold.name] = [(ours[name], theirs[name]) for name in MEASURES]
        print(f"{fold.name}: lambda {ridge:g}, features {' '.join(map(str, features))}")
        print(f"{fold.name}: lambda {other:g} with all features")
    means = [tuple(sum(one) / len(one) for one in zip(*pairs)) for pairs in zip(*rows.values())]
    if len(folds) > 1:
        rows["average"] = means
    print(f"{'':29}    greedy  all features")
    for place, name in enumerate(MEASURES):
        for fold, pairs in rows.items():
            print(f"{name:10} {fold:18}  {pairs[place][0]:8.4f}{pairs[place][1]:14.4f}")


if __name__ == "__main__":
    given = sys.argv[1:] or sys.exit(__doc__)
    main([Path(fold) for fold in given])
