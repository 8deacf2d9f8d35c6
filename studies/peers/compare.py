"""Times other selectors beside rankrls, on one corpus, in one run, at equal k.

    python compare.py RANKRLS TRAIN TEST [-k 10] [--lambda 16] [--limit 3600] [-o peers.json]

Every selector runs in a process of its own, one after the other. Prints a table in Markdown.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
STRATEGIES = [
    "bounded",
    "dense",
    "lowmem",
    "backfit",
    "sampled",
    "univariate",
    "residual",
    "random",
    "distil",
]
PEERS = ["rankrls-python", "algorithm-1", "omp", "lasso", "abess", "select-k-best", "sequential"]


def quality(options, folder, ranking):
    """The concordance index of the test queries, and the difference to the exact model's, in pairs."""
    command = [options.rankrls, "evaluate", options.test, "--metrics", "cindex", "--json"]
    command += [*ranking, "--model", folder / f"{STRATEGIES[0]}.json"]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    document = json.loads(found.stdout)
    # Models come before scores in any order of arguments.
    own, sign = (1, -1) if ranking[0] == "--scores" else (0, 1)
    pair = document["comparisons"][0]["metrics"]["cindex"]
    return {
        "cindex": document["rankings"][own]["metrics"]["cindex"],
        "less_exact": [sign * pair["difference"] + 0.0, pair["standard_error"]],
    }


def own(strategy, options, folder):
    model = folder / f"{strategy}.json"
    command = [options.rankrls, "select", options.train, "-k", str(options.k)]
    command += ["--lambda", str(options.ridge), "--strategy", strategy, "-o", model, "--json", "-q"]
    found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return {
        "selector": f"rankrls {strategy}",
        "seconds": found["select_seconds"],
        "peak_bytes": found["peak_rss_bytes"],
        "features": [step["feature"] for step in found["steps"]],
        **quality(options, folder, ["--model", model]),
    }


def peer(selector, options, folder):
    scores = folder / "scores.txt"
    command = [sys.executable, HERE / "peer.py", selector, options.train, options.test]
    command += [str(options.k), str(options.ridge), scores]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=options.limit)
    except subprocess.TimeoutExpired:
        return {"selector": selector, "note": f"not done after {options.limit} s"}
    if run.returncode != 0:
        return {"selector": selector, "note": (run.stderr.strip().splitlines() or ["killed"])[-1]}
    found = json.loads(run.stdout.strip().splitlines()[-1])
    if "features" in found:
        found.update(quality(options, folder, ["--scores", scores]))
    return found


def row(result, exact):
    def cell(key, text):
        return text(result[key]) if key in result else "-"

    seconds = cell("seconds", lambda s: f"{s:.3g} s")
    if "estimated_seconds" in result:
        seconds = f"about {result['estimated_seconds'] / 3600:.0f} h"
    overlap = cell("features", lambda f: f"{len(set(f) & set(exact))} of {len(exact)}")
    memory = cell("peak_bytes", lambda b: f"{b / 2**20:.0f} MiB")
    index = cell("cindex", lambda c: f"{c:.4f}")
    less = cell("less_exact", lambda pair: "{:+.4f} ± {:.4f}".format(*pair))
    cells = [result["selector"], seconds, memory, index, less, overlap, result.get("note", "")]
    return "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rankrls")
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("-k", type=int, default=10)
    parser.add_argument("--lambda", dest="ridge", type=float, default=16.0)
    parser.add_argument("--limit", type=float, default=3600)
    parser.add_argument("-o", "--output", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        results = [own(strategy, options, folder) for strategy in STRATEGIES]
        results += [peer(selector, options, folder) for selector in PEERS]
    exact = results[0]["features"]
    print(
        "| selector | selection | peak memory | test cindex | less the exact | features of the exact | |"
    )
    print("|---|---|---|---|---|---|---|")
    for result in results:
        print(row(result, exact))
    if options.output:
        options.output.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
