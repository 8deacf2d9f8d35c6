"""Checks of rankrls against other software: `cargo xtask interop` starts it.

Every function whose name begins with check_ is one check; it gets a Cli and an empty folder.
"""

import io
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import lightgbm
import numpy as np
import scipy.sparse
from sklearn.datasets import load_svmlight_file

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


def load_npz(path):
    """Matrix, labels and queries of NAME.npz and what is beside it."""
    matrix = scipy.sparse.load_npz(path)
    labels = np.load(path.with_suffix(".labels.npy"))
    queries = np.load(path.with_suffix(".qids.npy"))
    return matrix, labels, queries


def save_npz(path, matrix, labels, queries, compressed=True):
    scipy.sparse.save_npz(path, matrix, compressed=compressed)
    np.save(path.with_suffix(".labels.npy"), labels)
    if queries is not None:
        np.save(path.with_suffix(".qids.npy"), queries)


def same_matrix(left, right):
    """Whether two matrices are the same to the last bit, zeros that are stored left aside."""
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
    """Equal bits, the sign of zero left aside."""
    left, right = (np.asarray(numbers, "f8") + 0.0 for numbers in (left, right))
    return left.tobytes() == right.tobytes()


def decimal(generator, largest=150):
    """A decimal number in one of the notations that both readers take, with exponents below `largest`:
    values whose squares overflow are refused, labels are not."""
    digits = generator.choice(
        [
            str(generator.randrange(1000)),
            f"{generator.uniform(0, 10):.{generator.randrange(1, 18)}f}",
            repr(generator.uniform(0, 1)),
            f"{generator.randrange(100)}.",
            f".{generator.randrange(1000)}",
            f"{generator.randrange(1, 10**17)}",
            f"{generator.uniform(1, 10):.{generator.randrange(1, 17)}f}e{generator.randrange(-300, largest)}",
            f"{generator.randrange(1, 99)}E+{generator.randrange(20):02}",
        ]
    )
    return generator.choice(["", "", "", "-", "+"]) + digits


def svmlight(generator):
    """A valid file with query ids, in all liberties that both readers allow."""
    lines = []
    for query in generator.sample(range(10**6), generator.randrange(1, 6)):
        for _ in range(generator.randrange(1, 6)):
            columns = sorted(generator.sample(range(1, 60), generator.randrange(0, 9)))
            pairs = [f"{column}:{decimal(generator)}" for column in columns]
            tokens = [decimal(generator, 300), f"qid:{query}", *pairs]
            line = generator.choice([" ", "  ", "\t"]).join(tokens)
            line += generator.choice(["", "", " ", "# 7:1 qid:3", " # docid = GX-1 é"])
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
        output = folder / f"{number}.npz"
        cli("convert", path, "-o", output)
        found = load_npz(output)
        if found[0].shape[1] == 0:
            # Where there are no columns scikit-learn takes one.
            assert expected[0].shape[1] == 1 and expected[0].nnz == 0, path
        else:
            assert same_matrix(found[0], expected[0]), path
        assert same_numbers(found[1], expected[1]), path
        assert np.array_equal(found[2], expected[2]), path


def check_matrices_are_those_of_scikit_learn(cli, folder):
    text = folder / "parses.svm"
    cli("convert", "@parses", "-o", text)
    expected = load_svmlight_file(str(text), query_id=True, zero_based=False)
    for layout in "csr", "csc":
        path = folder / f"parses-{layout}.npz"
        cli("convert", text, "-o", path, "--layout", layout)
        matrix, labels, queries = load_npz(path)
        assert matrix.format == layout and matrix.has_canonical_format
        assert matrix.indices.dtype == np.int32 and matrix.data.dtype == np.float64
        assert same_matrix(matrix, expected[0])
        assert np.array_equal(labels, expected[1]) and np.array_equal(queries, expected[2])
        assert queries.dtype == np.int64
        again = folder / f"again-{layout}.svm"
        cli("convert", path, "-o", again)
        assert again.read_bytes() == text.read_bytes()


def shuffled(matrix, generator):
    """The same matrix with the entries of each row or column in another order."""
    matrix = matrix.copy()
    for start, end in zip(matrix.indptr[:-1], matrix.indptr[1:]):
        order = start + generator.permutation(end - start)
        matrix.indices[start:end] = matrix.indices[order]
        matrix.data[start:end] = matrix.data[order]
    matrix.has_sorted_indices = False
    return matrix


def check_matrices_of_scipy_are_read(cli, folder):
    generator = np.random.default_rng(1)
    queries = np.repeat([5, 3, 900], [4, 10, 6])
    number = 0
    for data_type in "f4", "f8", "i1", "i8", "u2", "?":
        for index_type in "i4", "i8":
            for make in scipy.sparse.csr_matrix, scipy.sparse.csc_array:
                matrix = scipy.sparse.random(20, 33, 0.2, rng=generator)
                matrix.data = (100 * matrix.data - 50).astype(data_type)
                matrix = shuffled(make(matrix), generator)
                matrix.indices = matrix.indices.astype(index_type)
                matrix.indptr = matrix.indptr.astype(index_type)
                labels = generator.integers(0, 5, 20).astype(["f8", "i4", "u1"][number % 3])
                ids = [queries, queries.astype("i4"), queries.astype("U"), queries.astype("S")]
                path, output = folder / f"{number}.npz", folder / f"{number}-out.npz"
                save_npz(path, matrix, labels, ids[number % 4], compressed=number % 2 == 0)
                cli("convert", path, "-o", output)
                found = load_npz(output)
                assert same_matrix(found[0], matrix), path
                assert np.array_equal(found[1], labels) and np.array_equal(found[2], queries)
                text = folder / f"{number}.svm"
                cli("convert", path, "-o", text)
                read = load_svmlight_file(str(text), query_id=True, zero_based=False)
                assert same_matrix(read[0], matrix) and np.array_equal(read[1], labels), path
                number += 1


def check_big_ends_may_come_first(cli, folder):
    matrix = scipy.sparse.csr_matrix(np.array([[0, -1.5], [1e-300, 0]]))
    path, output = folder / "big.npz", folder / "out.npz"
    save_npz(path, matrix, np.array([-3, 2], ">i2"), np.array(["é", "b"], ">U1"))
    arrays = dict(np.load(path))
    for name in "indices", "indptr", "data", "shape":
        arrays[name] = arrays[name].astype(arrays[name].dtype.newbyteorder(">"))
    np.savez(path, **arrays)
    cli("convert", path, "-o", output)
    found = load_npz(output)
    assert same_matrix(found[0], matrix)
    assert found[1].tolist() == [-3, 2] and found[2].tolist() == ["é", "b"]


def check_identifiers_of_all_kinds_come_back(cli, folder):
    matrix = scipy.sparse.csr_matrix(np.eye(3))
    for ids in ["é", "é", "語z"], ["01", "01", "1"], ["a", "b", "c"]:
        path, output = folder / "a.npz", folder / "b.npz"
        save_npz(path, matrix, np.zeros(3), np.array(ids))
        cli("convert", path, "-o", output)
        assert load_npz(output)[2].tolist() == ids


def check_matrices_that_are_none_are_refused(cli, folder):
    path, labels = folder / "bad.npz", np.zeros(3)
    matrix = scipy.sparse.csr_matrix(np.eye(3))

    def refused(part, matrix=matrix, labels=labels, queries=None, **changes):
        save_npz(path, matrix, labels, queries)
        if changes:
            arrays = dict(np.load(path))
            arrays.update(changes)
            np.savez(path, **arrays)
        error = cli.fails("convert", path, "-o", folder / "out.npz")
        assert part in error and "panicked" not in error, error

    refused("row[0]: expected each column once", indices=np.array([1, 1, 2]), indptr=np.array([0, 2, 2, 3]))
    refused("indices[2]: expected an index from 0 to 2, found 3", indices=np.array([0, 1, 3]))
    refused("indices[0]: expected an index from 0 to 2, found -1", indices=np.array([-1, 1, 2]))
    refused("indptr[2]: expected at least 2", indptr=np.array([0, 2, 1, 3]))
    refused("indptr[0]: expected 0, found 1", indptr=np.array([1, 2, 2, 3]))
    refused("indices: expected 9 elements", indptr=np.array([0, 2, 2, 9]))
    refused("indptr: expected 4 elements", indptr=np.array([0, 3]))
    refused("data[1]: expected a finite value, found NaN", data=np.array([1, np.nan, 1]))
    refused("data: expected numbers for values", data=np.array(["a", "b", "c"]))
    refused("data: expected booleans, integers", data=np.array([1j, 2j, 3j]))
    refused("data: expected booleans, integers", data=np.array([1, 1, 1], "f2"))
    refused("data[0]: expected a value that a 64-bit float holds", data=np.array([2**53 + 1, 0, 0]))
    refused("format: expected compressed rows", format=np.array(b"bsr"))
    refused("shape: expected the numbers of rows and columns", shape=np.array([3]))
    refused("shape[0]: expected a length", shape=np.array([-3, 3]))
    refused("expected compressed rows", matrix=scipy.sparse.coo_matrix(np.eye(3)))
    refused("labels[1]: expected a finite label, found inf", labels=np.array([0, np.inf, 0]))
    refused("shape[0]: expected as many rows as there are labels, 4, found 3", labels=np.zeros(4))
    refused("qids: expected 3 identifiers, one for each row, found 2", queries=np.array([1, 2]))
    refused("labels: expected an array of one dimension", labels=np.zeros((3, 1)))
    refused('qids[2]: expected the rows of a query next to each other, found query "1" again', queries=np.array([1, 2, 1]))
    refused("qids[0]: expected whole numbers or text", queries=np.array([1.5, 2, 1]))
    path.with_suffix(".qids.npy").unlink()
    # Of objects NumPy makes pickles, which nobody should load.
    refused("labels: expected booleans, integers", labels=np.array([1, None, 2]))
    save_npz(path, matrix, labels, None)
    whole = path.read_bytes()
    for end in 0, 10, len(whole) // 2, len(whole) - 1:
        path.write_bytes(whole[:end])
        error = cli.fails("convert", path, "-o", folder / "out.npz")
        assert "bad.npz" in error and "panicked" not in error, error


def check_a_bomb_is_stopped(cli, folder):
    path = folder / "bomb.npz"
    matrix = scipy.sparse.csr_matrix((10**8, 3))
    save_npz(path, matrix, np.zeros(10**8, "i1"), None)
    assert path.stat().st_size < 2**20
    error = cli.fails("info", path, "--max-memory", "100MiB")
    assert "at most 104857600 bytes of memory" in error, error


def check_lambdarank_learns_from_a_projected_corpus(cli, folder):
    model = folder / "model.json"
    cli("select", "@parses", "-k", 30, "--lambda", 16, "-o", model)
    data = []
    for name in "@parses", "@parses-test":
        path = folder / f"{name}.svm"
        cli("convert", name, "--model", model, "-o", path)
        matrix = folder / f"{name}.npz"
        cli("convert", name, "--model", model, "-o", matrix)
        read = load_svmlight_file(str(path), query_id=True, zero_based=False)
        assert read[0].shape[1] == 30
        assert same_matrix(read[0], load_npz(matrix)[0])
        data.append(read)
    names = (folder / "@parses.names.txt").read_text().splitlines()
    assert len(names) == 30
    (columns, labels, queries), (test_columns, test_labels, test_queries) = data
    # Lambdarank wants integer labels: the rank of each within its query.
    grades = np.concatenate(
        [np.unique(labels[queries == query], return_inverse=True)[1] for query in dict.fromkeys(queries)]
    )
    sizes = [np.sum(queries == query) for query in dict.fromkeys(queries)]
    train = lightgbm.Dataset(columns.toarray(), grades, group=sizes, feature_name=[f"f{i}" for i in range(30)])
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
    # The same from files that LightGBM reads by itself.
    files = {name: folder / f"{name}.txt" for name in ("@parses", "@parses-test")}
    for name, path in files.items():
        cli("convert", name, "--model", model, "-o", path, "--for", "lightgbm")
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
    cli = Cli(sys.argv[1])
    for name, check in globals().copy().items():
        if name.startswith("check_"):
            print(name, flush=True)
            with tempfile.TemporaryDirectory() as folder:
                check(cli, Path(folder))


if __name__ == "__main__":
    main()
