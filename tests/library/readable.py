"""Makes `readable.json`: Algorithm 1 by brute force on the corpora that anybody can read.

python tests/library/readable.py    # takes NumPy and the program zstd, and some minutes

For each candidate it trains again without each query, from the normal equations of dense centred columns. Errors
that differ by 1e-11 or less tie, and the lowest feature wins.
"""

import json
import subprocess
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
STEPS = 8


def read(file, width=None):
    packed = HERE.parent.parent / "corpora" / file
    text = subprocess.run(
        ["zstd", "-dcq", packed], capture_output=True, check=True, text=True
    ).stdout
    lines = [line.split("#")[0].split() for line in text.splitlines()]
    rows = [line for line in lines if line]
    cells = [[cell.split(":") for cell in row[2:]] for row in rows]
    width = width or max(int(cell[0]) for row in cells for cell in row)
    X = np.zeros((len(rows), width))
    for place, row in enumerate(cells):
        for column, value in row:
            if int(column) <= width:
                X[place, int(column) - 1] = float(value)
    y, qid = np.array([float(row[0]) for row in rows]), np.array([row[1] for row in rows])
    return X, y, [np.flatnonzero(qid == query) for query in dict.fromkeys(qid)]


def centred(values, queries):
    values = values.copy()
    for rows in queries:
        values[rows] -= values[rows].mean(axis=0)
    return values


def errors(X, y, queries, chosen, candidates, ridge):
    """For each candidate: the sum over queries of the squared errors of a model that has not seen them."""
    total, together = np.zeros(len(candidates)), {}
    for rows in [slice(None), *queries]:
        own = np.stack([np.column_stack([X[rows][:, chosen], X[rows, new]]) for new in candidates])
        key = "all" if isinstance(rows, slice) else rows[0]
        together[key] = np.einsum("cmi,cmj->cij", own, own), np.einsum("cmi,m->ci", own, y[rows])
    (gram, right), identity = together.pop("all"), ridge * np.eye(len(chosen) + 1)
    for rows in queries:
        a, b = together[rows[0]]
        w = np.linalg.solve(gram - a + identity, (right - b)[..., None])[..., 0]
        own = np.stack([np.column_stack([X[rows][:, chosen], X[rows, new]]) for new in candidates])
        total += ((y[rows] - np.einsum("cmi,ci->cm", own, w)) ** 2).sum(axis=1)
    return total


def cindex(scores, y, queries):
    found = []
    for rows in queries:
        order, more = (
            np.sign(np.subtract.outer(scores[rows], scores[rows])),
            np.subtract.outer(y[rows], y[rows]) > 0,
        )
        if more.any():
            found.append((1 + order[more]).mean() / 2)
    return np.mean(found)


def greedy(X, y, queries, ridge):
    X, y, chosen, path = centred(X, queries), centred(y, queries), [], []
    live = np.flatnonzero((np.abs(X) > 1e-12).any(axis=0))
    for _ in range(STEPS):
        left = [new for new in live if new not in chosen]
        found = errors(X, y, queries, chosen, left, ridge)
        best = np.flatnonzero(found <= found.min() + 1e-11)[0]
        chosen.append(left[best])
        path.append(found[best])
    own = X[:, chosen]
    return chosen, path, np.linalg.solve(own.T @ own + ridge * np.eye(STEPS), own.T @ y)


def main():
    golden = {}
    for corpus, ridge in [("sentences", 1.0), ("documents", 16.0)]:
        X, y, queries = read(f"{corpus}/train.svm.zst")
        chosen, path, weights = greedy(X, y, queries, ridge)
        test, labels, others = read(f"{corpus}/test.svm.zst", X.shape[1])
        golden[f"@{corpus}"] = {
            str(ridge): {
                "features": [int(new) + 1 for new in chosen],
                "lqo_errors": path,
                "weights": list(weights),
                "test_cindex": cindex(test[:, chosen] @ weights, labels, others),
            }
        }
    (HERE / "readable.json").write_text(json.dumps(golden, indent=1) + "\n")


if __name__ == "__main__":
    main()
