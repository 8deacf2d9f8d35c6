"""Threads, callbacks and Ctrl-C."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from rankrls import (
    GreedyRankRLS,
    GreedyRankRLSCV,
    RankRLS,
    Step,
    TuneStep,
    _rankrls,
    metrics,
    write,
)


def test_results_do_not_depend_on_threads(parses):
    train, _ = parses
    found = [
        GreedyRankRLS(10, alpha=16.0, n_jobs=n_jobs, strategy=strategy)
        .fit(train.X, train.y, qid=train.qid)
        .to_json()
        for n_jobs in (1, 2, 5, None, -1)
        for strategy in ("bounded", "distil")
    ]
    assert len(set(found)) == 2


def as_chosen(model, k):
    """A selection of k columns with the settings that folds chose for `model`."""
    names = ("alpha", "scale", "label_scale", "strategy")
    given = {name: getattr(model, f"{name}_") for name in names}
    return GreedyRankRLS(k, **given)


def test_a_callback_sees_every_step_and_may_end_the_selection(small):
    X, y, qid = small
    steps = []
    model = GreedyRankRLS(5, strategy="bounded").fit(X, y, qid=qid, callback=steps.append)
    assert [step.number for step in steps] == [1, 2, 3, 4, 5]
    assert [step.feature for step in steps] == model.selected_.tolist()
    assert [step.lqo_error for step in steps] == model.lqo_error_path_.tolist()
    assert isinstance(steps[0], Step)
    for step in steps:
        smaller = as_chosen(model, step.number).fit(X, y, qid=qid)
        assert step.weights.tolist() == smaller.weights_.tolist()
    exact = GreedyRankRLS(5, strategy="bounded")
    two = exact.fit(X, y, qid=qid, callback=lambda step: step.number == 2)
    assert two.selected_.tolist() == model.selected_[:2].tolist()
    assert two.weights_.tolist() == as_chosen(model, 2).fit(X, y, qid=qid).weights_.tolist()


def test_an_exception_of_the_callback_keeps_what_there_is(small):
    X, y, qid = small

    def fail(step):
        if step.number == 3:
            raise RuntimeError("enough")

    model = GreedyRankRLS(5, strategy="bounded")
    with pytest.raises(RuntimeError, match="enough"):
        model.fit(X, y, qid=qid, callback=fail)
    assert len(model.partial_) == 3
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert not hasattr(model, "support_")
    exact = GreedyRankRLS(5, strategy="bounded").fit(X, y, qid=qid)
    whole = as_chosen(exact, 3).fit(X, y, qid=qid)
    assert model.partial_.weights.tolist() == whole.weights_.tolist()
    # Nothing remains of an earlier fit, and nothing of this one after another.
    assert model.fit(X, y, qid=qid).n_features_ == 5
    assert not hasattr(model, "partial_")
    with pytest.raises(RuntimeError, match="enough"):
        model.fit(X, y, qid=qid, callback=fail)
    for use in (model.predict, model.transform):
        with pytest.raises(NotFittedError):
            use(X)


def resized(array):
    array.resize([1] * array.ndim, refcheck=False)


def overwritten(array):
    array[...] = 1


def owned(X):
    """`X` with arrays of its own, which NumPy can resize."""
    for part in ("data", "indices", "indptr") if sp.issparse(X) else ():
        setattr(X, part, getattr(X, part).copy())
    return X


def arrays(*given):
    """The arrays of matrices and vectors."""
    for each in given:
        yield from (each.data, each.indices, each.indptr) if sp.issparse(each) else (each,)


FORMS = [sp.csc_array, sp.csr_array, np.array, lambda X: np.array(X, order="F")]


@pytest.mark.parametrize("harm", [resized, overwritten])
@pytest.mark.parametrize("form", FORMS)
def test_a_callback_may_do_anything_to_arrays(harm, form, small):
    dense, y, qid = small[0].toarray(), np.clip(np.round(4 * small[1]), 0, 4), small[2]
    for make, others in (
        (lambda: GreedyRankRLS(4, strategy="distil"), {"teacher": y + 1}),
        (lambda: GreedyRankRLS(4, strategy="fs-ed"), {"X_validation": form(dense[:40])}),
        (lambda: GreedyRankRLSCV(4, alpha=[1, 4], cv=3), {}),
    ):
        undisturbed = make().fit(form(dense), y, qid=qid, **others)
        X, labels, ids, calls = owned(form(dense)), y.copy(), qid.copy(), []

        others = {name: owned(given.copy()) for name, given in others.items()}
        # SciPy's checks put views in their place.
        given = list(arrays(X, labels, ids, *others.values()))

        def call(step, given=given, calls=calls):
            calls.append(step)
            if len(calls) == 1:
                for array in given:
                    harm(array)

        found = make().fit(X, labels, qid=ids, callback=call, **others)
        assert calls
        # This includes the hash of the data.
        assert found.to_json() == undisturbed.to_json()


@pytest.fixture
def meanwhile(monkeypatch):
    """Has another thread `harm` arrays while one of these functions is at work."""
    interval = sys.getswitchinterval()

    def during(name, harm, given):
        function = getattr(_rankrls, name)
        begun = threading.Event()

        def other():
            begun.wait()
            for array in given:
                harm(array)

        def work(*arguments):
            # No other thread runs until the work releases Python.
            sys.setswitchinterval(100)
            thread = threading.Thread(target=other)
            thread.start()
            begun.set()
            try:
                return function(*arguments)
            finally:
                sys.setswitchinterval(interval)
                thread.join()

        monkeypatch.setattr(_rankrls, name, work)

    return during


@pytest.mark.parametrize("harm", [resized, overwritten])
@pytest.mark.parametrize("form", FORMS)
def test_another_thread_may_do_anything_to_arrays(
    harm, form, small, meanwhile, monkeypatch, tmp_path
):
    dense, y, qid = small[0].toarray(), *small[1:]
    kernel = dense @ dense.T

    def written(X, y):
        write(tmp_path / "data.svm", X, y, qid=qid)
        return (tmp_path / "data.svm").read_bytes()

    uses = [
        ("select", dense, lambda X, y: GreedyRankRLS(4).fit(X, y, qid=qid).to_json()),
        ("tune", dense, lambda X, y: GreedyRankRLSCV(4, cv=3).fit(X, y, qid=qid).to_json()),
        ("train", dense, lambda X, y: RankRLS().fit(X, y, qid=qid).to_json()),
        ("train", kernel, lambda X, y: RankRLS(kernel="precomputed").fit(X, y, qid=qid).to_json()),
        ("write", dense, written),
        ("paired", y[:40], lambda first, y: metrics.paired(first, y[:40].copy())),
    ]
    for name, values, use in uses:
        make = np.array if values.ndim == 1 else form
        monkeypatch.undo()
        expected = use(make(values), y.copy())
        X, labels = owned(make(values)), y.copy()
        meanwhile(name, harm, list(arrays(X, labels)))
        assert use(X, labels) == expected, name


def test_another_thread_may_write_to_arrays_without_a_crash():
    rng = np.random.default_rng(1)
    X = sp.random_array((300, 400), density=0.1, rng=rng, format="csc", dtype=np.float64)
    y, places, done = rng.normal(size=300), X.indices.copy(), threading.Event()

    def write():
        while not done.is_set():
            X.indices[:] = rng.integers(-(2**31), 2**31, len(places))
            X.indices[:] = places

    other = threading.Thread(target=write)
    other.start()
    try:
        for _ in range(20):
            with contextlib.suppress(RuntimeError, ValueError):
                GreedyRankRLS(30, alpha=1.0).fit(X, y, qid=np.arange(300) // 6)
            with contextlib.suppress(RuntimeError, ValueError):
                RankRLS(1.0).fit(X, y, qid=np.arange(300) // 6)
    finally:
        done.set()
        other.join()


def test_a_callback_sees_all_paths_of_tuning(small):
    X, y, qid = small
    steps = []
    GreedyRankRLSCV(3, alpha=[1, 4], cv=3).fit(X, y, qid=qid, callback=steps.append)
    assert len(steps) == 3 * 2 * (3 + 1)
    assert {step.fold for step in steps} == {None, 0, 1, 2}
    assert isinstance(steps[0], TuneStep)
    model, steps = GreedyRankRLSCV(3, alpha=[1, 4], cv=3), []

    def fail(step):
        steps.append(step)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        model.fit(X, y, qid=qid, callback=fail)
    whole = GreedyRankRLS(3, alpha=model.partial_.alpha).fit(X, y, qid=qid)
    taken = len(model.partial_)
    assert model.partial_.features.tolist() == whole.selected_[:taken].tolist()
    assert taken == max([0, *(step.number for step in steps if step.fold is None)])


def test_other_threads_go_on(parses):
    train, _ = parses
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    other = threading.Thread(target=tick)
    other.start()
    begin = time.perf_counter()
    GreedyRankRLS(60, strategy="dense", alpha=16.0).fit(train.X, train.y, qid=train.qid)
    end = time.perf_counter()
    done.set()
    other.join()
    within = [moment for moment in ticks if begin < moment < end]
    assert max(np.diff([begin, *within, end])) < 0.5 * (end - begin)


INTERRUPTED = """
import sys, numpy as np, scipy.sparse as sp
from rankrls import GreedyRankRLS, GreedyRankRLSCV, RankRLS, metrics
rng = np.random.default_rng(1)
rows = 6000
X = sp.random_array((rows, 30000), density=0.01, rng=rng, format="csc")
y, qid = rng.normal(size=rows), np.arange(rows) // 6
kernel = RankRLS(1.0, kernel="gaussian", gamma=0.1, holdout="none")
kernel.fit(X[:1500, :8], y[:1500], qid=qid[:1500])
many, values = np.tile(X[:1500, :8].toarray(), (400, 1)), rng.random((2, 10**5))
scores, hundreds = rng.random(10**7), np.repeat(np.arange(10**5), 100)
names = ["mean-ndcg", *(f"ndcg@{k}" for k in range(1, 60))]
grades = rng.integers(0, 3, 10**7)
fit = lambda model: lambda: model.fit(X, y, qid=qid)
work = {
    "predict": lambda: kernel.predict(many),
    "paired": lambda: metrics.paired(*values, resamples=10**7),
    "evaluate": lambda: metrics.evaluate(grades, scores, qid=hundreds, metrics=names),
    "tune": fit(GreedyRankRLSCV(3000, strategy=["bounded"])),
}.get(sys.argv[1]) or fit(GreedyRankRLS(3000, strategy=sys.argv[1]))
print("ready", flush=True)
try:
    while True:
        work()
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
WORK = ["bounded", "lowmem", "residual", "distil", "tune", "predict", "paired", "evaluate"]


@pytest.mark.parametrize("work", WORK)
def test_ctrl_c_ends_work_of_minutes(work):
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, work], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    # The signal ends the work at any moment.
    time.sleep(1.5)
    os.kill(process.pid, signal.SIGINT)
    assert process.communicate(timeout=300)[0] == "interrupted\n"
