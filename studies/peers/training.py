"""Times RLScore's QueryRankRLS beside `rankrls train`: training and leave-query-out predictions.

    python training.py RANKRLS DATA... [--lambda 1] [--runs 5]

Every run is a process of its own, one after the other; time and memory are the least of the runs.
Time counts from sparse data in memory to the weights and the predictions of the last held-out
query. Prints a table in Markdown.
"""

import argparse
import importlib
import inspect
import json
import pathlib
import resource
import subprocess
import sys
import tarfile
import tempfile
import time

import numpy as np
from peer import read

RELEASE = "rlscore-0.8.1"


def rlscore():
    """QueryRankRLS of the published archive, made to work with NumPy 2 and Python 3.11."""
    folder = pathlib.Path(sys.prefix) / RELEASE
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=sys.prefix) as name:
            pip = "-m pip download --quiet --no-deps --no-binary :all: --no-build-isolation --dest"
            wanted = RELEASE.replace("-", "==")
            if subprocess.run([sys.executable, *pip.split(), name, wanted], check=False).returncode:
                sys.exit(f"pip cannot download the source of {wanted}")
            with tarfile.open(f"{name}/{RELEASE}.tar.gz") as archive:
                archive.extractall(name, filter="data")
            tools = pathlib.Path(name) / RELEASE / "rlscore/utilities/array_tools.py"
            text = tools.read_text().replace(", dtype=np.long, copy=False", "")
            tools.write_text(text.replace(", copy = False", ""))
            # QueryRankRLS uses no compiled code, but imports it. The archive has C code by Cython
            # 0.25, which no longer compiles.
            for path in tools.parents[1].glob("**/*.c"):
                path.with_suffix(".py").write_text("")
            tools.parents[2].rename(folder)
    np.mat, inspect.getargspec = np.asmatrix, inspect.getfullargspec
    sys.modules["numpy.linalg.linalg"] = np.linalg
    sys.path.insert(0, str(folder))
    return importlib.import_module("rlscore.learner.query_rankrls").QueryRankRLS


def train(data, scores, lambdas):
    """Trains for every ridge parameter; the files `scores` receive predictions of left-out queries."""
    learner = rlscore()
    x, y, queries = read(data)
    x, predictions = x.tocsr(), np.empty((len(lambdas), len(y)))
    begin = time.perf_counter()
    model = learner(x, y, queries.tolist(), lambdas[0])
    for ridge, held_out in zip(lambdas, predictions, strict=True):
        if ridge != model.regparam:
            model.solve(ridge)
        for rows in model.qidlist:
            held_out[rows] = model.holdout(rows)
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    errors = []
    for place, held_out in enumerate(predictions):
        np.savetxt(f"{scores}.{place}", held_out, fmt="%.17g")
        residuals = [y[rows] - held_out[rows] for rows in model.qidlist]
        errors.append(sum(len(r) * r.var() for r in residuals))
    print(json.dumps({"seconds": seconds, "peak_bytes": peak, "errors": errors}))


def printed(command):
    """The JSON document of a command."""
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise ChildProcessError((run.stderr.strip().splitlines() or ["killed"])[-1])
    # RLScore prints too; the document of rankrls has many lines.
    return json.loads(run.stdout[run.stdout.index("{") :])


def row(options, data, lambdas, folder):
    """A row of the table. The two take turns, so that a busy machine slows both."""
    rankrls, copy, scores = options.rankrls, f"{folder}/data.svm", f"{folder}/scores"
    subprocess.run([rankrls, "convert", data, "-o", copy, "-q"], check=True)
    own = [rankrls, "train", copy, "--lambda", lambdas, "--holdout", "lqo", "--json", "-q"]
    own += ["-o", f"{folder}/model.json"]
    peer = [sys.executable, __file__, "--train", copy, scores, lambdas]
    cells, runs = [pathlib.Path(data).name, lambdas], []
    try:
        for _ in range(options.runs):
            runs.append((printed(own), printed(peer)))
    except ChildProcessError as error:
        return [*cells, "", f"missing: {error}", "", "", "", "", "", ""]
    seconds = min(own["train_seconds"] for own, _ in runs)
    their_seconds = min(peer["seconds"] for _, peer in runs)
    peak = min(own["peak_rss_bytes"] for own, _ in runs)
    their_peak = min(peer["peak_bytes"] for _, peer in runs)
    own, peer = runs[-1]
    cindex, squared = 0.0, 0.0
    for place, (mine, error) in enumerate(zip(own["lambdas"], peer["errors"], strict=True)):
        evaluate = [rankrls, "evaluate", copy, "--scores", f"{scores}.{place}", "--json"]
        evaluate += ["--metrics", "cindex"]
        found = subprocess.run(evaluate, check=True, capture_output=True)
        theirs = json.loads(found.stdout)["metrics"]["cindex"]
        cindex = max(cindex, abs(mine["lqo_cindex"] - theirs))
        squared = max(squared, abs(mine["lqo_error"] / error - 1))
    cells += [f"{seconds:.3g} s", f"{their_seconds:.3g} s", f"{their_seconds / seconds:.0f}"]
    cells += [f"{one / 2**20:.0f} MiB" for one in (peak, their_peak)]
    cells += [f"{their_peak / peak:.0f}"]
    return [*cells, f"{cindex:.0e}", f"{squared:.0e}"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rankrls")
    parser.add_argument("data", nargs="+")
    parser.add_argument("--lambda", dest="lambdas", action="append")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    print("| data | lambda | time | RLScore | ratio | memory | RLScore | ratio | cindex | error |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for data in options.data:
        for lambdas in options.lambdas or ["1"]:
            with tempfile.TemporaryDirectory() as folder:
                print("| " + " | ".join(row(options, data, lambdas, folder)) + " |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--train"]:
        train(*sys.argv[2:4], [float(ridge) for ridge in sys.argv[4].split(",")])
    else:
        main()
