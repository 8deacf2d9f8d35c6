"""Measures the figures again, by the program, and writes the CSV files in data/.

python studies/measure.py path funnel                    # seconds
python studies/measure.py when                           # 10 minutes
python studies/measure.py scaling # a quarter of an hour, 16 GB of memory
python studies/measure.py --small when scaling           # a trial, in target/trials

A selection is a process of its own. Times are medians of five runs, or of the runs in half a
minute, and include the column classes. `peak_bytes` is the most memory of the process.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
CORPORA = ROOT / "corpora"


def run(*command):
    """The output of a command."""
    done = subprocess.run(
        [str(part) for part in command], check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    return done.stdout


def rankrls():
    """The program that `RANKRLS` names, or a built one."""
    if "RANKRLS" not in os.environ:
        run("cargo", "build", "--quiet", "--release", "--locked", "--package", "rankrls-cli")
        os.environ["RANKRLS"] = str(
            ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "release/rankrls"
        )
    return os.environ["RANKRLS"]


def select(data, k, *options, runs=1):
    """The report of a selection, with the median time of some runs."""
    command = [rankrls(), "select", data, "-k", k, "--json", "--quiet", *options]
    found, begin = [], time.monotonic()
    while len(found) < runs and (not found or time.monotonic() - begin < 30):
        found.append(json.loads(run(*command)))
    return found[0] | {"select_seconds": statistics.median(one["select_seconds"] for one in found)}


def zipf(folder, rows, queries, columns, nonzeros, shared=85):
    """Drawn data: columns by Zipf's law; rows of a query share a percentage of their entries."""
    file = Path(folder) / "drawn.svm"
    draw = "cargo run --quiet --release --package rankrls-benches --example draw"
    run(*draw.split(), rows, queries, columns, nonzeros, shared, file)
    return file


def path(small):
    """The index by number of features: of the choosing queries, and of unseen ones."""
    k = 5 if small else 60
    test = ["--test", CORPORA / "link-parses/test.svm.zst", "--metrics", "cindex"]
    for strategy, name in [("bounded", "exact"), ("distil", "distil")]:
        ridge = ["--lambda", 16] if name == "exact" else []
        found = select(CORPORA / "link-parses/train.svm.zst", k, "--strategy", strategy, *ridge, *test)
        for step in found["steps"]:
            test_cindex, error = step["test"]["cindex"], step["standard_errors"]["cindex"]
            yield {
                "strategy": name,
                "k": step["step"],
                "lqo_cindex": step["lqo_cindex"],
                "test_cindex": test_cindex,
                "standard_error": error,
            }


def funnel(small):
    """Candidates left after each level of `bounded`."""
    found = select("@parses", 3 if small else 20, "--lambda", 16, "--strategy", "bounded")
    for step in found["steps"]:
        candidates = found["data"]["column_classes"] - step["step"] + 1
        counts = [candidates, *step["alive"], step["evaluated"]]
        yield {"step": step["step"]} | dict(
            zip(["candidates", "read", "level_0", "level_1", "level_2", "evaluated"], counts)
        )


def when(small):
    """Data that differ from one base in one property."""
    base = {"rows": 1000, "columns": 10_000, "entries": 50, "size": 10, "k": 10}
    groups = {
        "columns": [
            {"columns": 100, "entries": 30},
            *({"columns": n} for n in [1000, 10_000, 50_000]),
        ],
        "rows": [{"rows": n} for n in [200, 1000, 4000]],
        "density": [
            {"density": n / 1000, "columns": 2000, "entries": 2 * n} for n in [1, 5, 50, 300]
        ],
        "query size": [{"size": n} for n in [2, 10, 100]],
        "k": [{"k": n, "columns": 4000} for n in [1, 10, 40, 100]],
    }
    for group, changes in groups.items():
        for change in changes[: 1 if small else None]:
            at = base | change
            value = at["size" if group == "query size" else group]
            with tempfile.TemporaryDirectory() as folder:
                rows = at["rows"]
                data = zipf(
                    folder, rows, rows // at["size"], at["columns"], rows * at["entries"], 0
                )
                strategies = ["dense", "lowmem", "bounded", "sampled", "backfit", "distil"]
                for strategy in strategies:
                    options = ["--lambda", 16, "--strategy", strategy]
                    found = select(data, at["k"], *options, runs=1 if small else 5)
                    yield {
                        "group": group,
                        "strategy": strategy,
                        "value": value,
                        "seconds": found["select_seconds"],
                    }


SIZES = {  # of corpora of parses that grow in one thing: rows, queries, columns, non-zeros
    "rows": [
        (1000, 155, 33_706, 336_720),
        (4000, 633, 108_641, 1_351_948),
        (16_000, 2396, 310_822, 5_446_598),
        (64_000, 9636, 876_661, 21_686_035),
        (250_000, 38_000, 2_400_000, 84_500_000),
        (1_000_000, 153_433, 6_325_792, 337_127_600),
    ],
    "columns": [
        (4000, 623, 64_466, 1_324_055),
        (4000, 612, 95_508, 1_358_552),
        (4000, 579, 112_713, 1_377_308),
        (4000, 610, 125_436, 1_363_113),
        (4000, 628, 134_772, 1_373_954),
    ],
    "non-zeros": [
        (4000, 649, 113_661, 1_190_907),
        (4000, 266, 83_443, 1_706_331),
        (4000, 207, 87_414, 2_322_966),
        (4000, 200, 106_868, 3_204_136),
        (4000, 200, 130_601, 4_193_706),
    ],
    "queries": [
        (4000, 1010, 238_650, 2_069_911),
        (4000, 416, 133_112, 2_075_993),
        (4000, 185, 74_446, 2_089_165),
        (4000, 78, 37_245, 2_093_829),
        (4000, 44, 22_638, 2_102_527),
    ],
    "k": [(8000, 1228, 185_385, 2_722_886)],
    "largest": [(200_000, 38_501, 2_093_452, 59_313_930)],
}


def scaling(small):
    """Growth of the cost of `bounded` on drawn data."""
    for study, sizes in SIZES.items():
        for size in sizes[: 1 if small else None]:
            if small and size[0] > 8000:
                continue
            with tempfile.TemporaryDirectory() as folder:
                ks = [5, 10, 20, 40, 80, 160] if study == "k" else [20]
                strategies = ["bounded", "dense"] if size[0] <= 4000 else ["bounded"]
                yield from trials(study, "drawn", zipf(folder, *size), ks, [16], strategies, small)


def trials(study, name, data, ks, lambdas, strategies, small):
    for strategy in strategies:
        for k in ks[: 1 if small else None]:
            for ridge in lambdas:
                options = ["--lambda", ridge, "--strategy", strategy]
                found = select(data, k, *options, runs=1 if small else 5)
                counts = {
                    key: found["data"][key]
                    for key in ["rows", "queries", "columns", "nonzeros", "column_classes"]
                }
                evaluated = sum(step["evaluated"] for step in found["steps"])
                results = {
                    "select_seconds": found["select_seconds"],
                    "peak_bytes": found["peak_rss_bytes"],
                    "evaluated": evaluated,
                    "lqo_error": found["steps"][-1]["lqo_error"],
                }
                yield {
                    "study": study,
                    "data": name,
                    **counts,
                    "strategy": strategy,
                    "k": k,
                    "lambda": ridge,
                    **results,
                }


STUDIES = {study.__name__: study for study in [path, funnel, when, scaling]}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("studies", nargs="+", choices=STUDIES)
    parser.add_argument("--small", action="store_true")
    options = parser.parse_args()
    folder = ROOT / ("target/trials" if options.small else "studies/data")
    folder.mkdir(parents=True, exist_ok=True)
    for name in options.studies:
        table = pd.DataFrame(STUDIES[name](options.small))
        table.to_csv(folder / f"{name}.csv", index=False)
        print(f"{folder / name}.csv: {len(table)} rows")


if __name__ == "__main__":
    main()
