"""Writes the data of RLScore's tutorial on ranking: train.svm, test.svm, folds.txt, pairs.txt.

    python housing.py HOUSING FOLDER

HOUSING is the file of the UCI repository, 506 lines of 13 columns and the label. Rows, folds and
pairs are drawn as the tutorial draws them with NumPy and Python 3.
"""

import pathlib
import random
import sys

import numpy as np


def svmlight(rows):
    for row in rows.tolist():
        columns = " ".join(f"{i}:{v!r}" for i, v in enumerate(row[:-1], 1) if v != 0)
        yield f"{row[-1]!r} {columns}"


def folds(rows, count, seed):
    """The fold of every row."""
    draw, left, fold = random.Random(seed), set(range(rows)), [0] * rows
    for number in range(count):
        drawn = draw.sample(sorted(left), rows // count)
        left -= set(drawn)
        for row in drawn:
            fold[row] = number + 1
    return fold


def pairs(labels, count, seed):
    """Pairs of rows, counted from 1, the one with the larger label first."""
    draw, rows = random.Random(seed), range(len(labels))
    while count > 0:
        a, b = draw.choice(rows), draw.choice(rows)
        if labels[a] != labels[b]:
            count -= 1
            yield f"{a + 1} {b + 1}" if labels[a] > labels[b] else f"{b + 1} {a + 1}"


def main():
    housing, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    data = np.loadtxt(housing)
    np.random.RandomState(1).shuffle(data)
    train, test = data[:250], data[250:]
    files = {
        "train.svm": svmlight(train),
        "test.svm": svmlight(test),
        "folds.txt": map(str, folds(len(train), 5, 10)),
        "pairs.txt": pairs(train[:, -1], 1000, 33),
    }
    for name, lines in files.items():
        (folder / name).write_text("".join(line + "\n" for line in lines))


if __name__ == "__main__":
    main()
