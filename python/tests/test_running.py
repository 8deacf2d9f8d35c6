"""Threads, callbacks, progress and Ctrl-C."""

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

from rankrls import GreedyRankRLS, GreedyRankRLSCV, RankRLS, Step, TuneStep, select_path


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


def test_a_callback_sees_every_step_and_may_end_the_selection(small):
    X, y, qid = small
    steps = []
    model = GreedyRankRLS(5).fit(X, y, qid=qid, callback=steps.append)
    assert [step.number for step in steps] == [1, 2, 3, 4, 5]
    assert [step.feature for step in steps] == model.selected_.tolist()
    assert [step.lqo_error for step in steps] == model.lqo_error_path_.tolist()
    assert isinstance(steps[0], Step)
    two = GreedyRankRLS(5).fit(X, y, qid=qid, callback=lambda step: step.number == 2)
    assert two.selected_.tolist() == model.selected_[:2].tolist()
    assert two.weights_.tolist() == GreedyRankRLS(2).fit(X, y, qid=qid).weights_.tolist()


def test_an_exception_of_the_callback_keeps_what_there_is(small):
    X, y, qid = small

    def fail(step):
        if step.number == 3:
            raise RuntimeError("enough")

    model = GreedyRankRLS(5)
    with pytest.raises(RuntimeError, match="enough"):
        model.fit(X, y, qid=qid, callback=fail)
    assert len(model.partial_) == 3
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert not hasattr(model, "support_")
    whole = GreedyRankRLS(3).fit(X, y, qid=qid)
    assert model.partial_.weights.tolist() == whole.weights_.tolist()
    # Nothing is left of a fit before it, nor of it after another.
    assert model.fit(X, y, qid=qid).n_features_ == 5
    assert not hasattr(model, "partial_")
    with pytest.raises(RuntimeError, match="enough"):
        model.fit(X, y, qid=qid, callback=fail)
    for use in (model.predict, model.transform):
        with pytest.raises(NotFittedError):
            use(X)


def test_arrays_that_change_meanwhile_are_an_error(small):
    X, y, qid = small
    X = X.copy()

    def change(_):
        X.indices[:] = 2**31 - 1

    # The test data are read once the features are selected.
    with pytest.raises(
        RuntimeError, match=r"Arrays must not change before it ends: .* pass copies"
    ):
        select_path(
            small[0], y, qid=qid, X_test=X, n_features_to_select=3, alpha=1.0, callback=change
        )


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
    GreedyRankRLSCV(3, alphas=[1, 4], cv=3).fit(X, y, qid=qid, callback=steps.append)
    assert len(steps) == 3 * 2 * (3 + 1)
    assert {step.fold for step in steps} == {None, 0, 1, 2}
    assert isinstance(steps[0], TuneStep)
    model, steps = GreedyRankRLSCV(3, alphas=[1, 4], cv=3), []

    def fail(step):
        steps.append(step)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        model.fit(X, y, qid=qid, callback=fail)
    whole = GreedyRankRLS(3, alpha=model.partial_.alpha).fit(X, y, qid=qid)
    taken = len(model.partial_)
    assert model.partial_.features.tolist() == whole.selected_[:taken].tolist()
    assert taken == max([0, *(step.number for step in steps if step.fold is None)])


def test_progress_is_shown(small, capsys, monkeypatch):
    X, y, qid = small
    GreedyRankRLS(5, verbose=1).fit(X, y, qid=qid)
    assert "features" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    GreedyRankRLS(5, verbose=1).fit(X, y, qid=qid)
    assert "5/5 features" in capsys.readouterr().err


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
    assert max(np.diff([begin, *within, end])) < 0.25 + 0.2 * (end - begin)


def test_progress_of_a_choice_ends_at_its_whole(small, capsys, monkeypatch):
    X, y, qid = small
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    for alphas in ("auto", "1/4096u..1/1024u:2", [1e-9, 1e-8]):
        # What fits best is at an edge, so that "auto" goes on.
        GreedyRankRLSCV(3, alphas=alphas, cv=2, verbose=1).fit(X, y, qid=qid)
        lines = capsys.readouterr().err.split()
        shown = [line.split("/") for line in lines if "/" in line]
        assert all(int(done) <= int(total) for done, total in shown)
        assert shown[-1][0] == shown[-1][1]


INTERRUPTED = """
import sys, time, numpy as np, scipy.sparse as sp
from rankrls import GreedyRankRLS, GreedyRankRLSCV, RankRLS
kind, strategy = sys.argv[1:]
rng = np.random.default_rng(1)
X = sp.random_array((6000, 30000), density=0.01, rng=rng, format="csc")
y, qid = rng.normal(size=6000), np.arange(6000) // 6
model = {
    "select": lambda: GreedyRankRLS(3000, strategy=strategy),
    "tune": lambda: GreedyRankRLSCV(3000, strategies=[strategy]),
}[kind]()
GreedyRankRLS(1).fit(X, y, qid=qid)
print("ready", flush=True)
try:
    model.fit(X, y, qid=qid)
except KeyboardInterrupt:
    print(time.time(), len(model.partial_), flush=True)
"""


@pytest.mark.parametrize(
    ("kind", "strategy"),
    [
        ("select", "bounded"),
        ("select", "lowmem"),
        ("select", "residual"),
        ("select", "distil"),
        ("tune", "bounded"),
    ],
)
def test_ctrl_c_ends_within_half_a_second(kind, strategy):
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, kind, strategy], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(1.5)
    begin = time.time()
    os.kill(process.pid, signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    end, steps = out.split()
    # Half a second on a machine that does nothing else; tests run beside others.
    assert float(end) - begin < 2.0
    assert 0 <= int(steps) < 3000
    print(kind, strategy, f"{float(end) - begin:.2f} s, {steps} steps")


WAITING = """
import sys, time, numpy as np, scipy.sparse as sp
from rankrls import RankRLS, metrics, read_svmlight, write_svmlight
rng = np.random.default_rng(1)
if sys.argv[1] == "predict":
    X = rng.normal(size=(1500, 8))
    model = RankRLS(1.0, kernel="gaussian", gamma=0.1, holdout="none")
    model.fit(X, X[:, 0], qid=np.arange(1500) // 6)
    many = np.tile(X, (400, 1))
    work = lambda: model.predict(many)
elif sys.argv[1] == "paired":
    values = rng.random((2, 100_000))
    work = lambda: metrics.paired(*values, resamples=1_000_000)
else:
    y, scores = rng.integers(0, 3, 10_000_000), rng.random(10_000_000)
    group = np.full(100_000, 100)
    names = ["mean-ndcg", *(f"ndcg@{k}" for k in range(1, 60))]
    work = lambda: metrics.evaluate(y, scores, group=group, metrics=names)
print("ready", flush=True)
try:
    work()
    print("done", flush=True)
except KeyboardInterrupt:
    print(time.time(), flush=True)
"""


@pytest.mark.parametrize("work", ["predict", "paired", "evaluate"])
def test_ctrl_c_ends_other_work_within_a_second(work):
    process = subprocess.Popen(
        [sys.executable, "-c", WAITING, work], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(2.5)
    begin = time.time()
    os.kill(process.pid, signal.SIGINT)
    out, _ = process.communicate(timeout=120)
    assert float(out) - begin < 2.0
    print(work, f"{float(out) - begin:.2f} s")
