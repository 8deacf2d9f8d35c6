"""Checks of rankrls against other software: `cargo xtask interop` starts it.

Every function whose name begins with check_ is one check; it gets a Cli and an empty folder.
"""

import io
import os
import random
import subprocess
import tempfile
from pathlib import Path

import lightgbm
import numpy as np
import scipy.sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

ROOT = Path(__file__).resolve().parents[2]


class Cli:
    """The program under test."""

    def __init__(self, program):
        self.program = program

    def __call__(self, *arguments):
        command = [self.program, *map(str, arguments)]
        run = subprocess.run(command, capture_output=True, text=True)
        assert run.returncode == 0, f"{command}: {run.stderr}"
        return run.stdout

    def fails(self, *arguments):
        command = [self.program, *map(str, arguments)]
        run = subprocess.run(command, capture_output=True, text=True)
        assert run.returncode == 1, f"{command}: {run.returncode} {run.stderr}"
        return run.stderr


def same_matrix(left, right):
    """Whether two matrices are the same to the last bit, except for stored zeros."""
    left, right = scipy.sparse.csr_matrix(left), scipy.sparse.csr_matrix(right)
    for matrix in left, right:
        matrix.eliminate_zeros()
        matrix.sort_indices()
    return (
        left.shape == right.shape
        and np.array_equal(left.indptr, right.indptr)
        and np.array_equal(left.indices, right.indices)
        and left.data.astype("f8").tobytes() == right.data.astype("f8").tobytes()
    )


def same_numbers(left, right):
    """Whether bits are equal, except for the sign of zero."""
    left, right = (np.asarray(numbers, "f8") + 0.0 for numbers in (left, right))
    return left.tobytes() == right.tobytes()


def decimal(generator, largest=150):
    """A decimal number in a notation that both readers take.

    Exponents are below `largest`: values whose squares overflow are refused, labels are not.
    """
    digits = generator.choice(
        [
            str(generator.randrange(1000)),
            f"{generator.uniform(0, 10):.{generator.randrange(1, 18)}f}",
            repr(generator.uniform(0, 1)),
            f"{generator.randrange(100)}.",
            f".{generator.randrange(1000)}",
            f"{generator.randrange(1, 10**17)}",
            f"{generator.uniform(1, 10):.{generator.randrange(1, 17)}f}"
            f"e{generator.randrange(-300, largest)}",
            f"{generator.randrange(1, 99)}E+{generator.randrange(20):02}",
        ]
    )
    return generator.choice(["", "", "", "-", "+"]) + digits


def svmlight(generator):
    """A valid file with query ids, with all liberties that both readers allow."""
    lines = []
    for query in generator.sample(range(10**6), generator.randrange(1, 6)):
        for _ in range(generator.randrange(1, 6)):
            columns = sorted(generator.sample(range(1, 60), generator.randrange(0, 9)))
            pairs = [f"{column}:{decimal(generator)}" for column in columns]
            tokens = [decimal(generator, 300), f"qid:{query}", *pairs]
            line = generator.choice([" ", "  ", "\t"]).join(tokens)
            line += generator.choice(["", "", " ", " # 7:1 qid:3", " # docid = GX-1 é"])
            lines.append(line)
            if generator.random() < 0.1:
                lines.append(generator.choice(["", "# a comment", "  "]))
    end = generator.choice(["\n", "\r\n"])
    return end.join(lines) + generator.choice(["", end])


def check_svmlight_is_read_as_scikit_learn_does(cli, folder):
    generator = random.Random(1)
    for number in range(60):
        text = svmlight(generator).encode()
        path = folder / f"{number}.svm"
        path.write_bytes(text)
        expected = load_svmlight_file(io.BytesIO(text), query_id=True, zero_based=False)
        output = folder / f"{number}-out.svm"
        cli("convert", path, "-o", output)
        found = load_svmlight_file(str(output), query_id=True, zero_based=False)
        if found[0].shape[1] == 0:
            # Without columns, scikit-learn assumes one.
            assert expected[0].shape[1] == 1, path
            assert expected[0].nnz == 0, path
        else:
            assert same_matrix(found[0], expected[0]), path
        assert same_numbers(found[1], expected[1]), path
        assert np.array_equal(found[2], expected[2]), path


def check_the_parses_are_those_of_scikit_learn(cli, folder):
    text, again = folder / "parses.svm", folder / "again.svm"
    cli("convert", "@parses", "-o", text)
    matrix, labels, queries = load_svmlight_file(str(text), query_id=True, zero_based=False)
    dump_svmlight_file(matrix, labels, str(again), zero_based=False, query_id=queries)
    written = folder / "written.svm"
    cli("convert", again, "-o", written)
    assert written.read_bytes() == text.read_bytes()


def check_lambdarank_learns_from_a_projected_corpus(cli, folder):
    model = folder / "model.json"
    cli("select", "@parses", "-k", 30, "--lambda", 16, "-o", model)
    data = []
    for name in "@parses", "@parses-test":
        path = folder / f"{name}.svm"
        cli("convert", name, "--model", model, "-o", path)
        read = load_svmlight_file(str(path), query_id=True, zero_based=False)
        assert read[0].shape[1] == 30
        data.append(read)
    names = (folder / "@parses.names.txt").read_text().splitlines()
    assert len(names) == 30
    (columns, labels, queries), (test_columns, test_labels, test_queries) = data
    # Lambdarank wants integer labels: the rank of each within its query.
    grades = np.concatenate(
        [
            np.unique(labels[queries == query], return_inverse=True)[1]
            for query in dict.fromkeys(queries)
        ]
    )
    sizes = [np.sum(queries == query) for query in dict.fromkeys(queries)]
    train = lightgbm.Dataset(
        columns.toarray(), grades, group=sizes, feature_name=[f"f{i}" for i in range(30)]
    )
    options = {
        "objective": "lambdarank",
        "num_leaves": 7,
        "min_data_in_leaf": 20,
        "seed": 1,
        "num_threads": 1,
        "deterministic": True,
        "verbose": -1,
    }
    booster = lightgbm.train(options, train, num_boost_round=100)
    scores = booster.predict(test_columns.toarray())
    concordance = concordance_index(scores, test_labels, test_queries)
    print(f"    LightGBM's lambdarank on 30 columns: concordance index {concordance:.4f}")
    assert concordance > 0.55, concordance
    # The same from files that LightGBM itself reads.
    files = {name: folder / f"{name}.txt" for name in ("@parses", "@parses-test")}
    for name, path in files.items():
        cli("convert", name, "--model", model, "-o", path, "--to", "lightgbm")
    booster = lightgbm.train(options, lightgbm.Dataset(str(files["@parses"])), num_boost_round=100)
    assert np.array_equal(booster.predict(str(files["@parses-test"])), scores)
    path = folder / "scores.txt"
    np.savetxt(path, scores, fmt="%.17g")
    told = cli("evaluate", "@parses-test", "--scores", path, "--metrics", "cindex", "--json")
    assert f'"cindex": {concordance:.6f}'[:-1] in told, told


def concordance_index(scores, labels, queries):
    """Share of pairs in the right order, by query; 0.5 is chance."""
    shares = []
    for query in dict.fromkeys(queries):
        score, label = scores[queries == query], labels[queries == query]
        better = label[:, None] > label[None, :]
        right = (score[:, None] > score[None, :]) + 0.5 * (score[:, None] == score[None, :])
        if better.any():
            shares.append(right[better].mean())
    return np.mean(shares)


def main():
    cli = Cli(os.environ["RANKRLS_COMMAND"])
    for name, check in globals().copy().items():
        if name.startswith("check_"):
            print(name, flush=True)
            with tempfile.TemporaryDirectory() as folder:
                check(cli, Path(folder))


if __name__ == "__main__":
    main()
