"""Data that tests share."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import rankrls

ROOT = Path(__file__).resolve().parents[2]
CORPORA = ROOT / "corpora"
# Preferred and other row of 90, magnitude and weight.
PAIRS = [[3, 4, 1.0, 2.0], [40, 4, 0.5, 1.0], [7, 61, 2.0, 1.0], [3, 89, 1.0, 1.0]]


@pytest.fixture(scope="session")
def parses():
    """The corpus that comes with rankrls: training and test data."""
    train = rankrls.read(CORPORA / "parses/train.svm.zst", names=CORPORA / "parses/names.txt.zst")
    test = rankrls.read(CORPORA / "parses/test.svm.zst", n_features=train.X.shape[1])
    return train, test


@pytest.fixture
def small():
    """Some 90 rows in 15 queries that a few of 30 sparse columns explain."""
    rng = np.random.default_rng(3)
    X = sp.csc_array(np.where(rng.random((90, 30)) < 0.3, rng.random((90, 30)), 0.0))
    weights = np.zeros(30)
    weights[[4, 9, 20]] = [2.0, -1.0, 0.5]
    y = X @ weights + 0.1 * rng.normal(size=90)
    return X, y, np.repeat(np.arange(15), 6)


@pytest.fixture(scope="session")
def program():
    """The command under test, which RANKRLS_COMMAND names in all tests."""
    path = os.environ.get("RANKRLS_COMMAND")
    if path is None:
        pytest.skip("RANKRLS_COMMAND names no program: cargo xtask python builds one and sets it")
    return path


@pytest.fixture(scope="session")
def command(program):
    """Runs the command of the same checkout."""

    def run(*arguments):
        done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
