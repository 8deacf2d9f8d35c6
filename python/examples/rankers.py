"""Other rankers on selected columns: how many columns can go before each of them gets worse?

Trains each ranker on all columns and on the first k that each strategy selects, measures all models
on test queries, and compares them with the same ranker on all columns, query by query: bootstrap
intervals, the randomisation test, and Holm's correction over the comparisons of a ranker. Writes a
page (HTML) and a table (CSV), and prints how many columns each ranker needs.

    python rankers.py MQ2008                      # a folder with Fold1, Fold2, ..., or one fold
    python rankers.py TRAIN --test TEST [--validation VALIDATION]

Lambda, numbers of rounds and all other settings are chosen by --measure on validation queries.
Without validation data these are a quarter of the training queries; models are then trained again
on all training queries. Test queries choose nothing. For folds of LETOR the tables of the Greedy
RankRLS paper are printed, too, with RankSVM beside RankRLS.

A package that is not installed keeps its rows, marked as missing. Without DATA the script makes a
small page of corpora/parses.
"""

import argparse
import csv
import html
import importlib.metadata
import importlib.util
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.svm import LinearSVC

from rankrls import RankRLS, metrics, read_svmlight, select_path

MEASURES = ["map", "p@10", "ndcg@10", "mean-ndcg", "err", "cindex"]
STRATEGIES = {
    "distil": "distil",
    "exact": "bounded",
    "fs-ed": "fs-ed",
    "univariate": "univariate",
    "random": "random",
}
SELECTION_LAMBDAS = [4.0, 16.0, 64.0]
LAMBDAS = [4.0**exponent for exponent in range(-1, 6)]
# Of the hinge losses of all pairs together, against half the squared norm of the weights.
COSTS = [0.3, 3.0, 30.0, 300.0]
ROUNDS = [25, 50, 100, 200, 400]
SMALLEST = [1, 50, 100]


class Rows(NamedTuple):
    """Rows in ascending order of their queries."""

    X: Any
    y: Any
    qid: Any


class Fold(NamedTuple):
    """Data of one experiment."""

    name: str
    fit: Rows
    """Models learn from these while settings are chosen."""
    held: Rows
    """These choose the settings."""
    whole: Rows | None
    """The last models learn from these; None: from `fit`."""
    test: Rows


class Model(NamedTuple):
    """A trained ranker."""

    scores: Callable[[Any], Any]
    size: int
    """Weights that are not 0, stumps, or nodes of trees."""


def linear(weights):
    return Model(lambda X: np.asarray(X @ weights), int(np.count_nonzero(weights)))


def pairs(rows):
    """Rows that should come first, and the rows of the same query that they should precede."""
    _, starts = np.unique(rows.qid, return_index=True)
    found = []
    for query in np.split(np.arange(len(rows.y)), starts[1:]):
        better, worse = np.nonzero(np.subtract.outer(rows.y[query], rows.y[query]) > 0)
        found.append((query[better], query[worse]))
    return tuple(np.concatenate(side) for side in zip(*found, strict=True))


def rank_rls(rows, alphas, options):
    for alpha in alphas:
        model = RankRLS(alpha, n_jobs=1).fit(rows.X, rows.y, qid=rows.qid)
        yield linear(model.coef_)


def rank_svm(rows, costs, options):
    better, worse = pairs(rows)
    # A classifier wants two classes: every second pair is turned round.
    sign = np.where(np.arange(len(better)) % 2, -1.0, 1.0)
    X = rows.X.tocsr() if sp.issparse(rows.X) else rows.X
    differences = X[better] - X[worse]
    if sp.issparse(differences):
        differences = sp.csr_matrix(differences.multiply(sign[:, None]))
    else:
        differences *= sign[:, None]
    for cost in costs:
        svm = LinearSVC(C=cost / len(better), dual=False, fit_intercept=False, tol=1e-3)
        yield linear(svm.fit(differences, sign).coef_[0])


def svm_rank(rows, costs, options):
    better, _ = pairs(rows)
    queries = len(np.unique(rows.qid))

    def write(path, X, y, qid):
        with open(path, "w") as file:
            for row, label, query in zip(sp.csr_matrix(X), y, qid, strict=True):
                entries = zip(row.indices, row.data, strict=True)
                cells = "".join(f" {column + 1}:{value:.17g}" for column, value in entries)
                file.write(f"{label:.17g} qid:{query + 1}{cells}\n")

    def run(*arguments):
        subprocess.run(list(map(str, arguments)), check=True, capture_output=True)

    for cost in costs:
        with tempfile.TemporaryDirectory() as folder:
            train, model = Path(folder, "train"), Path(folder, "model")
            write(train, *rows)
            # svm_rank divides the losses by the number of queries.
            run("svm_rank_learn", "-c", cost * queries / len(better), train, model)
            learned = model.read_bytes()

        def scores(X, learned=learned):
            with tempfile.TemporaryDirectory() as folder:
                data, model, found = (Path(folder, name) for name in ("data", "model", "found"))
                model.write_bytes(learned)
                write(data, X, np.zeros(X.shape[0]), np.zeros(X.shape[0], dtype=int))
                run("svm_rank_classify", data, model, found)
                return np.loadtxt(found, ndmin=1)

        yield Model(scores, rows.X.shape[1])


def rank_boost(rows, rounds, options, bins=10):
    """RankBoost of Freund, Iyer, Schapire and Singer (2003): weighted stumps on single columns.

    A stump fires above a threshold from 0 on, or below one up to 0, so that it never fires where a
    column is 0. Thresholds are quantiles of the other values.
    """
    X = sp.csc_matrix(rows.X)
    better, worse = pairs(rows)
    stumps, fires = [], []
    for column, (start, end) in enumerate(itertools.pairwise(X.indptr)):
        entries, places = X.data[start:end], X.indices[start:end]
        values = np.unique(np.append(entries, 0.0))
        if len(values) > bins + 1:
            shares = np.linspace(0, 1, bins + 1)
            values = np.unique(np.append(np.quantile(entries, shares, method="lower"), 0.0))
        for low, high in itertools.pairwise(values):
            above = low >= 0
            stumps.append((column, low if above else high, above))
            fires.append(places[entries > low if above else entries < high])
    ends = np.cumsum([0, *map(len, fires)])
    places = np.concatenate([*fires, np.empty(0, dtype=int)])
    fired = sp.csr_matrix((np.ones(len(places)), places, ends), (len(fires), X.shape[0]))
    share = np.full(len(better), 1 / len(better))
    chosen = []
    for _ in range(max(rounds) if stumps else 0):
        potential = np.bincount(better, share, X.shape[0]) - np.bincount(worse, share, X.shape[0])
        gain = fired @ potential
        best = int(np.argmax(np.abs(gain)))
        edge = np.clip(gain[best], -1 + 1e-9, 1 - 1e-9)
        weight = 0.5 * np.log((1 + edge) / (1 - edge))
        chosen.append((*stumps[best], weight))
        fire = fired[[best]].toarray()[0]
        share *= np.exp(-weight * (fire[better] - fire[worse]))
        share /= share.sum()

    def scores(X, count):
        if not chosen:
            return np.zeros(X.shape[0])
        columns, thresholds, above, weights = map(np.array, zip(*chosen[:count], strict=True))
        values = X[:, columns]
        values = values.toarray() if sp.issparse(values) else values
        return np.where(above, values > thresholds, values < thresholds) @ weights

    for count in rounds:
        yield Model(lambda X, count=count: scores(X, count), min(count, len(chosen)))


def grades(rows):
    """Whole grades for gradients of NDCG, and whether gains are exponential.

    Labels that are no small whole numbers become their place among the labels of their query.
    """
    if (rows.y == np.floor(rows.y)).all() and rows.y.min() >= 0 and rows.y.max() <= 30:
        return rows.y.astype(int), True
    places = np.empty(len(rows.y), dtype=int)
    for query in np.unique(rows.qid):
        chosen = rows.qid == query
        places[chosen] = np.unique(rows.y[chosen], return_inverse=True)[1]
    return places, False


def lambda_mart_lightgbm(rows, rounds, options):
    import lightgbm

    labels, exponential = grades(rows)
    gains = np.arange(labels.max() + 1)
    params = {
        "objective": "lambdarank",
        "num_leaves": 15,
        "learning_rate": 0.05,
        "label_gain": (2.0**gains - 1 if exponential else gains).tolist(),
        "seed": options.seed,
        "deterministic": True,
        "num_threads": 1,
        "verbose": -1,
    }
    data = lightgbm.Dataset(rows.X, labels, group=np.bincount(rows.qid)[np.unique(rows.qid)])
    booster = lightgbm.train(params, data, max(rounds))
    leaves = [tree["num_leaves"] for tree in booster.dump_model()["tree_info"]]
    for count in rounds:
        yield Model(
            lambda X, count=count: booster.predict(X, num_iteration=count, num_threads=1),
            sum(2 * each - 1 for each in leaves[:count]),
        )


def gradients_of_ndcg(rows, rounds, options, params):
    import xgboost

    labels, exponential = grades(rows)
    params = {
        "objective": "rank:ndcg",
        "ndcg_exp_gain": exponential,
        "seed": options.seed,
        "nthread": 1,
        "verbosity": 0,
        **params,
    }
    return xgboost.train(params, xgboost.DMatrix(rows.X, labels, qid=rows.qid), rounds)


def lambda_mart_xgboost(rows, rounds, options):
    import xgboost

    params = {"max_depth": 4, "learning_rate": 0.05}
    booster = gradients_of_ndcg(rows, max(rounds), options, params)
    nodes = [len(tree.splitlines()) for tree in booster.get_dump()]
    for count in rounds:

        def scores(X, count=count):
            return booster.predict(xgboost.DMatrix(X, nthread=1), iteration_range=(0, count))

        yield Model(scores, sum(nodes[:count]))


def lambda_rank(rows, penalties, options):
    """Gradients of LambdaRank for a linear model: a neural net without hidden units."""
    for penalty in penalties:
        params = {
            "booster": "gblinear",
            "updater": "coord_descent",
            "learning_rate": 0.3,
            "lambda": penalty,
        }
        booster = gradients_of_ndcg(rows, 100, options, params)
        document = json.loads(booster.save_raw("json"))
        weights = document["learner"]["gradient_booster"]["model"]["weights"]
        # The last is a constant.
        yield linear(np.array(weights[:-1]))


def forest(kind, features):
    """Trees of Geurts and Louppe (2011): regression on single rows.

    `features` columns are tried in a node (K), and nodes of fewer than nmin rows are not split. A
    tree for a larger nmin is one for nmin 1, cut: nodes choose their splits independently.
    """

    def fit(rows, smallest, options):
        model = kind(options.trees, max_features=features, random_state=options.seed, n_jobs=1)
        model.fit(rows.X.astype(np.float32), rows.y)
        trees = [tree.tree_ for tree in model.estimators_]
        for nmin in smallest:
            ends, size = zip(*(cut(tree, nmin) for tree in trees), strict=True)

            def scores(X, ends=ends):
                X = sp.csr_matrix(X, dtype=np.float32) if sp.issparse(X) else np.float32(X)
                each = (
                    tree.value[end[tree.apply(X)], 0, 0]
                    for tree, end in zip(trees, ends, strict=True)
                )
                return sum(each) / len(trees)

            yield Model(scores, sum(size))

    return fit


def cut(tree, nmin):
    """The node at which each node ends once small nodes are leaves, and how many nodes are left."""
    parent = np.arange(tree.node_count)
    for children in (tree.children_left, tree.children_right):
        inner = np.flatnonzero(children >= 0)
        parent[children[inner]] = inner
    small = tree.n_node_samples[parent] < nmin
    end = np.where(small, parent, np.arange(tree.node_count))
    while not np.array_equal(end, end[end]):
        end = end[end]
    small[0] = False
    return end, int(tree.node_count - small.sum())


@dataclass(frozen=True)
class Ranker:
    """A learner of rankings."""

    fit: Callable[..., Any]
    """Of rows, settings and options: a model for each setting."""
    setting: str
    settings: list[Any]
    package: str = "scikit-learn"
    """That it needs, as on PyPI, or a program."""
    install: str = ""
    distinct: bool = True
    """Whether equal columns are given once. Linear models weigh each."""

    def missing(self):
        """Why it cannot run, if so."""
        program = self.package.startswith("svm_rank")
        find = shutil.which if program else importlib.util.find_spec
        if self.install and find(self.package) is None:
            return f"{self.package} is not installed: {self.install}"
        return None


SVM_RANK = (
    "download SVMrank from www.cs.cornell.edu/people/tj/svm_light/svm_rank.html, make, and put "
    "svm_rank_learn and svm_rank_classify on the PATH"
)
LIGHTGBM, XGBOOST = (
    {"package": name, "install": f"pip install {name}"} for name in ("lightgbm", "xgboost")
)
RANKERS = {
    "RankRLS": Ranker(rank_rls, "lambda", LAMBDAS, distinct=False),
    "RankSVM (LinearSVC)": Ranker(rank_svm, "cost", COSTS, distinct=False),
    "RankSVM (svm_rank)": Ranker(
        svm_rank, "cost", COSTS, package="svm_rank_learn", install=SVM_RANK, distinct=False
    ),
    "RankBoost": Ranker(rank_boost, "rounds", ROUNDS),
    "LambdaMART (LightGBM)": Ranker(lambda_mart_lightgbm, "rounds", ROUNDS, **LIGHTGBM),
    "LambdaMART (XGBoost)": Ranker(lambda_mart_xgboost, "rounds", ROUNDS, **XGBOOST),
    "LambdaRank (XGBoost)": Ranker(
        lambda_rank, "penalty", [0.001, 0.01, 0.1, 1.0], distinct=False, **XGBOOST
    ),
    "extra trees (K = p)": Ranker(forest(ExtraTreesRegressor, None), "nmin", SMALLEST),
    "extra trees (K = sqrt p)": Ranker(forest(ExtraTreesRegressor, "sqrt"), "nmin", SMALLEST),
    "random forest (K = sqrt p)": Ranker(forest(RandomForestRegressor, "sqrt"), "nmin", SMALLEST),
    "bagging (K = p)": Ranker(forest(RandomForestRegressor, None), "nmin", SMALLEST),
}


# Data


def sorted_rows(data):
    qid = np.unique(data.qid, return_inverse=True)[1]
    order = np.argsort(qid, kind="stable")
    X = sp.csc_matrix(data.X)[order]
    # A quarter of the values: a dense array is smaller and faster.
    dense = X.nnz > 0.25 * X.shape[0] * X.shape[1]
    return Rows(X.toarray(order="F") if dense else X, data.y[order], qid[order])


def subset(rows, queries):
    chosen = np.flatnonzero(np.isin(rows.qid, queries))
    return Rows(*(part[chosen] for part in rows))


def read_fold(name, train, validation, test, seed):
    data = read_svmlight(train)
    whole = sorted_rows(data)

    def other(path):
        found = read_svmlight(path, n_features=data.X.shape[1])
        rows = sorted_rows(found)
        if sp.issparse(rows.X) != sp.issparse(whole.X):
            X = sp.csc_matrix(rows.X) if sp.issparse(whole.X) else rows.X.toarray(order="F")
            rows = rows._replace(X=X)
        return rows

    if validation is not None:
        return Fold(name, whole, other(validation), None, other(test))
    queries = np.random.default_rng(seed).permutation(np.unique(whole.qid))
    held = len(queries) // 4
    if held == 0:
        raise ValueError(f"{train}: expected at least 4 queries, found {len(queries)}")
    return Fold(
        name, subset(whole, queries[held:]), subset(whole, queries[:held]), whole, other(test)
    )


def read(options):
    data = options.data
    if not data.exists():
        raise ValueError(f"{data}: there is no such file or folder")
    if not data.is_dir():
        if options.test is None:
            raise ValueError(f"{data} is one file: give test data by --test")
        return [read_fold(data.name, data, options.validation, options.test, options.seed)]
    folders = sorted(path for path in data.glob("Fold*") if path.is_dir()) or [data]
    folds = []
    for folder in folders:
        parts = []
        for part in ("train", "vali", "test"):
            names = [folder / f"{part}.txt{ending}" for ending in ("", ".gz", ".zst")]
            found = [name for name in names if name.exists()]
            if not found:
                raise ValueError(f"{folder}: expected {part}.txt, or the same with .gz or .zst")
            parts.append(found[0])
        folds.append(read_fold(folder.name, *parts, options.seed))
    return folds


def distinct(X):
    """The first column of each class of equal columns, without the columns of zeros."""
    X = sp.csc_matrix(X)
    X.sort_indices()
    first = {}
    for column, (start, end) in enumerate(itertools.pairwise(X.indptr)):
        if end > start:
            key = X.indices[start:end].tobytes(), X.data[start:end].tobytes()
            first.setdefault(key, column)
    return tuple(first.values())


# Selection and training


def selected(fold, strategy, options):
    """Columns of the rows for the choice and of all rows, for each k; or why there are none."""
    most = max(options.k)
    params = {"strategy": STRATEGIES[strategy], "n_features_to_select": most}
    if strategy == "random":
        params["random_state"] = options.seed

    def path(rows, alpha, test=None):
        return select_path(rows.X, rows.y, qid=rows.qid, X_test=test, alpha=alpha, **params)

    try:
        paths = {alpha: path(fold.fit, alpha, fold.held.X) for alpha in SELECTION_LAMBDAS}
        finals, chosen = {}, {}
        for k in options.k:
            values = {
                alpha: options.judge(fold.held, each.test_scores[:, k - 1])
                for alpha, each in paths.items()
                if len(each) >= k
            }
            if not values:
                chosen[k] = f"fewer than {k} columns can be selected"
                continue
            alpha = max(values, key=values.get)
            if fold.whole is not None and alpha not in finals:
                finals[alpha] = path(fold.whole, alpha)
            last = finals.get(alpha, paths[alpha])
            chosen[k] = tuple(
                tuple(sorted(each.features[:k].tolist())) for each in (paths[alpha], last)
            )
        return chosen
    except (ValueError, MemoryError) as error:
        reason = str(error).splitlines()[0]
        return dict.fromkeys(options.k, f"strategy {STRATEGIES[strategy]}: {reason}")


def with_columns(rows, columns):
    return rows if columns is None else rows._replace(X=rows.X[:, list(columns)])


FOLDS, OPTIONS = [], None


def begin(folds, options):
    """Gives a process its data."""
    global OPTIONS
    FOLDS[:] = folds
    OPTIONS = options


def processor_seconds():
    """Of this process, and of programs that it has run."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def train(fold, name, columns, last_columns):
    """Chooses the setting of a ranker, trains it and measures it on test queries."""
    ranker, fold = RANKERS[name], FOLDS[fold]
    try:
        start = processor_seconds()
        fit, held = (with_columns(rows, columns) for rows in (fold.fit, fold.held))
        values, models = [], []
        for model in ranker.fit(fit, ranker.settings, OPTIONS):
            values.append(OPTIONS.judge(held, model.scores(held.X)))
            models.append(model)
        best = int(np.argmax(values))
        model, setting = models[best], ranker.settings[best]
        if fold.whole is not None:
            model = next(ranker.fit(with_columns(fold.whole, last_columns), [setting], OPTIONS))
        seconds = processor_seconds() - start
        test = with_columns(fold.test, last_columns)
        start = processor_seconds()
        scores = model.scores(test.X)
        scoring = processor_seconds() - start
        found = metrics.evaluate(test.y, scores, qid=test.qid, metrics=MEASURES, **OPTIONS.rules)
        tried = zip(ranker.settings, values, strict=True)
        return {
            "values": {measure: each.per_query for measure, each in found.items()},
            "setting": f"{setting:g}",
            "tried": " ".join(f"{each:g}:{value:.4f}" for each, value in tried),
            "seconds": seconds,
            "scoring": 1e6 * scoring / len(test.y),
            "size": model.size,
        }
    except Exception as error:
        return {"missing": f"{type(error).__name__}: {' '.join(str(error).split())}"}


class Progress:
    """A line on standard error: rewritten on a terminal, else ten lines in all."""

    def __init__(self, total):
        self.total, self.done, self.start = total, 0, time.monotonic()
        self.shown = sys.stderr.isatty()

    def step(self, text):
        self.done += 1
        seconds = time.monotonic() - self.start
        left = seconds * (self.total - self.done) / self.done
        filled = 30 * self.done // self.total
        line = f"[{'#' * filled:30}] {self.done}/{self.total}, {left:.0f} s left, {text}"
        if self.shown:
            print(f"\r\033[K{line[:100]}", end="", file=sys.stderr, flush=True)
            if self.done == self.total:
                print("\r\033[K", end="", file=sys.stderr)
        elif 10 * self.done // self.total > 10 * (self.done - 1) // self.total:
            print(line, file=sys.stderr, flush=True)


def train_all(folds, options):
    """What `train` found for each ranker, strategy, k and fold; strategy "all" has k 0."""
    rankers = {name: RANKERS[name].missing() for name in options.rankers}
    needed = [name for name, reason in rankers.items() if reason is None]
    wanted = {}
    for place, fold in enumerate(folds):
        once = tuple(distinct(rows.X) for rows in (fold.fit, fold.whole or fold.fit))
        for strategy in options.strategies:
            print(f"{fold.name}: {strategy} selects", file=sys.stderr, flush=True)
            for k, columns in selected(fold, strategy, options).items():
                for name in options.rankers:
                    wanted[name, strategy, k, place] = columns
        for name in options.rankers:
            wanted[name, "all", 0, place] = once if RANKERS[name].distinct else (None, None)
    jobs = {}
    for (name, _, _, place), columns in wanted.items():
        if name in needed and not isinstance(columns, str):
            jobs[(place, name, *columns)] = None
    # Long ones first: many columns, and forests, which are the last of the rankers.
    names = list(RANKERS)
    widths = {job: len(job[2]) if job[2] else np.inf for job in jobs}
    order = sorted(jobs, key=lambda job: (-widths[job], -names.index(job[1])))
    progress = Progress(max(len(order), 1))
    spawn = get_context("spawn")
    with ProcessPoolExecutor(options.workers, spawn, begin, (folds, options)) as pool:
        running = {pool.submit(train, *job): job for job in order}
        try:
            for done in as_completed(running):
                job = running[done]
                jobs[job] = done.result()
                progress.step(job[1])
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise

    def found(key, columns):
        reason = rankers[key[0]] or (columns if isinstance(columns, str) else None)
        return {"missing": reason} if reason else jobs[(key[3], key[0], *columns)]

    return {key: found(key, columns) for key, columns in wanted.items()}


# Comparison


def holm(p):
    """Holm's correction: p values that hold for all comparisons together; nan stays out."""
    p = np.asarray(p, dtype=float)
    adjusted = np.full(len(p), np.nan)
    order = [place for place in np.argsort(p, kind="stable") if not np.isnan(p[place])]
    most = 0.0
    for rank, place in enumerate(order):
        most = max(most, min(1.0, (len(order) - rank) * p[place]))
        adjusted[place] = most
    return adjusted


def compare(results, folds, options):
    """Lines of the table: a ranker on some columns by a measure, beside it on all columns."""
    lines = []
    choices = [("all", 0), *itertools.product(options.strategies, options.k)]
    for name in options.rankers:
        found = {
            choice: [results[(name, *choice, place)] for place in range(len(folds))]
            for choice in choices
        }
        for measure in MEASURES:
            family = []
            for choice in choices:
                reasons = [each["missing"] for each in found[choice] if "missing" in each]
                strategy, k = choice
                width = folds[0].fit.X.shape[1]
                line = {"ranker": name, "columns": strategy, "k": k or width, "measure": measure}
                family.append(line)
                if reasons:
                    line["missing"] = reasons[0]
                    continue
                values = np.concatenate([each["values"][measure] for each in found[choice]])
                line |= summary(values)
                for key in ("setting", "tried"):
                    line[key] = "; ".join(each[key] for each in found[choice])
                for key in ("seconds", "scoring", "size"):
                    line[key] = float(np.mean([each[key] for each in found[choice]]))
                if strategy == "all":
                    everything = values
                elif "missing" not in family[0]:
                    each = metrics.paired(values, everything, random_state=options.seed)
                    line |= {
                        "difference": each.difference,
                        "low": each.interval[0],
                        "high": each.interval[1],
                        "p": each.p,
                    }
            for line, p in zip(
                family, holm([line.get("p", np.nan) for line in family]), strict=True
            ):
                line["p_holm"] = p
                line["verdict"] = verdict(line, options.margin)
            lines += family
    return lines


def summary(values):
    values = values[~np.isnan(values)]
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    mean = values.mean() if len(values) else np.nan
    return {"mean": mean, "standard_error": error, "queries": len(values)}


def verdict(line, margin):
    """Beside all columns: worse, better, close (the interval excludes a loss of `margin`), open."""
    if "missing" in line:
        return "missing"
    if line["columns"] == "all":
        return ""
    if np.isnan(line["p_holm"]):
        return "open"
    if line["p_holm"] < 0.05:
        return "better" if line["difference"] > 0 else "worse"
    return "close" if line["low"] > -margin else "open"


def least(lines):
    """The least k from which on no line is worse, and from which on each is close or better."""
    answers = []
    for good in (("close", "better", "open"), ("close", "better")):
        answer = None
        for line in sorted(lines, key=lambda line: -line["k"]):
            if line["verdict"] not in good:
                break
            answer = line["k"]
        answers.append(answer)
    return answers


def answers(lines, measure, options):
    """A table: a ranker, its mean on all columns, and the least k of each strategy."""
    rows = []
    for name in options.rankers:
        own = [line for line in lines if line["ranker"] == name and line["measure"] == measure]
        row = [name, of_mean(own[0])]
        for strategy in options.strategies:
            part = [line for line in own if line["columns"] == strategy]
            row.append(answer(part, own[0], options))
        rows.append(row)
    return ["ranker", f"{measure} on all columns", *options.strategies], rows


def answer(lines, everything, options):
    if "missing" in everything or any("missing" in line for line in lines):
        return "missing"
    worse, close = (
        "none" if k is None else f"≤ {k}" if k == min(options.k) and k > 1 else str(k)
        for k in least(lines)
    )
    return f"{worse} ({close})"


def of_mean(line):
    if "missing" in line:
        return "missing"
    return f"{line['mean']:.4f} ± {line['standard_error']:.4f}"


def letor_tables(folds, options):
    """Tables of the Greedy RankRLS paper by its protocol, with RankSVM in a column of its own.

    MAP on validation data chooses lambda and k, or the cost; the convention is that of LETOR.
    """
    rules = {"convention": "letor"}
    kinds = ["map", "p@10", "mean-ndcg", "ndcg@10"]
    lambdas = [2.0**exponent for exponent in range(-10, 11)]
    svms = [name for name in ("RankSVM (LinearSVC)", "RankSVM (svm_rank)") if name in RANKERS]
    svms = [name for name in svms if RANKERS[name].missing() is None]
    found = {}
    for fold in folds:
        held, test = fold.held, fold.test
        both = (sp.vstack if sp.issparse(held.X) else np.vstack)([held.X, test.X])
        cut = len(held.y)

        def judged(scores, held=held):
            return metrics.score(held.y, scores, qid=held.qid, metric="map", **rules)

        greedy, whole = [], []
        for alpha in lambdas:
            # Ties go to few columns, then to the lambda nearest 1, then to the larger one.
            near = (-abs(np.log2(alpha)), alpha)
            path = select_path(
                fold.fit.X,
                fold.fit.y,
                qid=fold.fit.qid,
                X_test=both,
                n_features_to_select=len(varying(fold.fit)),
                alpha=alpha,
            )
            for k, scores in enumerate(path.test_scores.T, start=1):
                greedy.append((judged(scores[:cut]), -k, *near, scores[cut:]))
            model = RankRLS(alpha).fit(fold.fit.X, fold.fit.y, qid=fold.fit.qid)
            scores = model.predict(both)
            whole.append((judged(scores[:cut]), *near, scores[cut:]))
        scored = {
            "greedy RankRLS": max(greedy, key=lambda each: each[:-1])[-1],
            "RankRLS": max(whole, key=lambda each: each[:-1])[-1],
        }
        for name in svms:
            ranker = RANKERS[name]
            models = list(ranker.fit(fold.fit, ranker.settings, options))
            best = max(models, key=lambda model: judged(model.scores(held.X)))
            scored[name] = best.scores(test.X)
        for name, scores in scored.items():
            each = metrics.evaluate(test.y, scores, qid=test.qid, metrics=kinds, **rules)
            for kind in kinds:
                found.setdefault(kind, {}).setdefault(name, []).append(each[kind].mean)
    tables = []
    for kind, columns in found.items():
        rows = [
            [fold.name, *(f"{values[place]:.4f}" for values in columns.values())]
            for place, fold in enumerate(folds)
        ]
        if len(folds) > 1:
            rows.append(["mean", *(f"{np.mean(values):.4f}" for values in columns.values())])
        tables.append((f"{kind} on test data", ["fold", *columns], rows))
    return tables


def varying(rows):
    """Columns that are not constant within every query."""
    X = rows.X.toarray() if sp.issparse(rows.X) else rows.X
    starts = np.unique(rows.qid, return_index=True)[1]
    low, high = (each.reduceat(X, starts) for each in (np.minimum, np.maximum))
    return np.flatnonzero((low < high).any(axis=0))


# Output


def markdown(head, rows):
    return "\n".join(
        f"| {' | '.join(map(str, row))} |" for row in [head, ["---"] * len(head), *rows]
    )


def table_file(lines, path):
    names = ["ranker", "columns", "k", "measure", "mean", "standard_error", "queries"]
    names += ["difference", "low", "high", "p", "p_holm", "verdict"]
    names += ["setting", "tried", "seconds", "scoring", "size", "missing"]
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        for line in lines:
            numbers = {key: f"{value:.6g}" for key, value in line.items() if type(value) is float}
            numbers |= {key: f"{v:.6g}" for key, v in line.items() if isinstance(v, np.floating)}
            writer.writerow({**line, **{k: v for k, v in numbers.items() if v != "nan"}})


STYLE = """
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#57606a;--rule:#d5dae0;--paper:#fff}
@media (prefers-color-scheme:dark){:root{--ink:#e8eaed;--soft:#a4acb6;--rule:#3a414b;
--paper:#14161a}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:72rem;
margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums;margin:.5rem 0}
th,td{padding:.2rem .6rem;text-align:right;border-bottom:1px solid var(--rule);white-space:nowrap}
:is(th,td):first-child{text-align:left}.wide{overflow-x:auto}.soft,.open{color:var(--soft)}
.worse{color:#c0392b;font-weight:600}.better{color:#1a7f37;font-weight:600}.missing{font-style:italic}
.charts{display:flex;flex-wrap:wrap;gap:1rem}summary{cursor:pointer;margin:.3rem 0}
svg text{fill:var(--ink);font-size:11px}svg .rule{stroke:var(--rule)}svg .level{stroke:var(--soft)}
"""
COLOURS = ["#2b7bba", "#d1495b", "#3a9d5d", "#b07d12", "#8256b3"]


def chart(name, lines, options):
    """The measure against k: a line a strategy, and all columns, dashed, with a standard error."""
    lines = [line for line in lines if "missing" not in line]
    values = [line["mean"] for line in lines]
    if len(values) < 2:
        return ""
    whole = [line for line in lines if line["columns"] == "all"]
    ends = [each["mean"] + sign * each["standard_error"] for each in whole for sign in (-1, 1)]
    low, high = min(values + ends), max(values + ends)
    width, height, left, top = 300, 190, 42, 24

    def x(k):
        place = options.k.index(k) / max(len(options.k) - 1, 1)
        return left + 8 + place * (width - left - 16)

    def y(value):
        return top + (high - value) / (high - low or 1) * (height - top - 22)

    parts = [f'<text x="{left}" y="14" font-weight="600">{html.escape(name)}</text>']
    for value in np.linspace(low, high, 4):
        parts.append(
            f'<line class="rule" x1="{left}" x2="{width}" y1="{y(value):.1f}" y2="{y(value):.1f}"/>'
            f'<text x="{left - 4}" y="{y(value) + 4:.1f}" text-anchor="end">{value:.3f}</text>'
        )
    for k in options.k:
        parts.append(f'<text x="{x(k):.1f}" y="{height - 4}" text-anchor="middle">{k}</text>')
    if whole:
        parts.append(
            f'<rect x="{left}" width="{width - left}" y="{y(ends[1]):.1f}" '
            f'height="{y(ends[0]) - y(ends[1]):.1f}" fill="#888" opacity=".18"/>'
            f'<line class="level" stroke-dasharray="5 4" x1="{left}" x2="{width}" '
            f'y1="{y(whole[0]["mean"]):.1f}" y2="{y(whole[0]["mean"]):.1f}"/>'
        )
    for strategy, colour in zip(options.strategies, itertools.cycle(COLOURS)):
        own = [line for line in lines if line["columns"] == strategy]
        points = " ".join(f"{x(line['k']):.1f},{y(line['mean']):.1f}" for line in own)
        parts.append(
            f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{points}"/>'
        )
        for line in own:
            full = line["verdict"] != "worse"
            parts.append(
                f'<circle cx="{x(line["k"]):.1f}" cy="{y(line["mean"]):.1f}" r="3.5" '
                f'stroke="{colour}" fill="{colour if full else "var(--paper)"}"/>'
            )
    return (
        f'<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{html.escape(name)}">{"".join(parts)}</svg>'
    )


def html_table(head, rows, classes=None):
    """A table of text; `classes` has the class of each row."""

    def cells(row):
        return "".join(f"<td>{html.escape(str(text))}" for text in row)

    body = "".join(
        f"<tr{f' class={kind}' if kind else ''}>{cells(row)}\n"
        for row, kind in zip(rows, classes or [None] * len(rows), strict=True)
    )
    top = "".join(f"<th>{html.escape(text)}" for text in head)
    return f'<div class="wide"><table><tr>{top}\n{body}</table></div>\n'


def details(name, lines, options):
    """All measures of a ranker, a row for each choice of columns."""
    own = [line for line in lines if line["ranker"] == name]
    head = ["columns", "k", *MEASURES, "difference", "95% interval", "p", "Holm", "verdict"]
    head += [RANKERS[name].setting, "s", "µs a row", "size"]
    rows, kinds = [], []
    for line in (line for line in own if line["measure"] == options.measure):
        key = line["columns"], line["k"]
        kinds.append(line["verdict"])
        if "missing" in line:
            rows.append([*key, line["missing"]])
            continue
        means = {other["measure"]: other for other in own if (other["columns"], other["k"]) == key}
        row = [*key]
        for measure in MEASURES:
            each = means[measure]
            mark = "*" if each["verdict"] in ("worse", "better") else ""
            row.append(f"{each['mean']:.3f} ± {each['standard_error']:.3f}{mark}")
        if "difference" in line:
            row.append(f"{line['difference']:+.3f}")
            row.append(f"{line['low']:+.3f} to {line['high']:+.3f}")
            row += [f"{line['p']:.3f}", f"{line['p_holm']:.3f}", line["verdict"]]
        else:
            row += [""] * 5
        row += [line["setting"], f"{line['seconds']:.2f}", f"{line['scoring']:.1f}"]
        rows.append([*row, f"{line['size']:,.0f}"])
    return html_table(head, rows, kinds)


def page(lines, tables, notes, options):
    charts = "".join(
        chart(
            name,
            [x for x in lines if x["ranker"] == name and x["measure"] == options.measure],
            options,
        )
        for name in options.rankers
    )
    legend = " ".join(
        f'<span style="color:{colour}">● {html.escape(strategy)}</span>'
        for strategy, colour in zip(options.strategies, itertools.cycle(COLOURS))
    )
    lost = {line["missing"] for line in lines if "missing" in line}
    missing = "".join(f"<li>{html.escape(reason)}</li>" for reason in sorted(lost))
    parts = [
        f"<h1>{html.escape(options.title)}</h1>",
        "".join(f"<p>{html.escape(note)}</p>" for note in notes),
        "<h2>How few columns are enough</h2>",
        f"<p>{html.escape(explained(options))}</p>",
        html_table(*answers(lines, options.measure, options)),
        *(
            f"<details><summary>By {measure}</summary>"
            f"{html_table(*answers(lines, measure, options))}</details>\n"
            for measure in MEASURES
            if measure != options.measure
        ),
        f"<h2>{html.escape(options.measure)} against the number of columns</h2>",
        f"<p>{legend} <span class=soft>dashed: all columns, with one standard error; hollow: "
        "significantly worse</span></p>",
        f'<div class="charts">{charts}</div>',
        "<h2>All figures</h2><p>Means over test queries ± standard errors; * differs from all "
        f"columns after Holm's correction. Difference, interval, p and verdict are of "
        f"{html.escape(options.measure)}. Seconds of processor time are of the choice among all "
        "settings and the training; size counts weights, stumps or nodes of trees.</p>",
        *(
            f"<details><summary>{html.escape(name)}</summary>{details(name, lines, options)}"
            "</details>\n"
            for name in options.rankers
        ),
        *(f"<h2>{html.escape(title)}</h2>{html_table(*table)}" for title, *table in tables),
        f"<h2>Missing</h2><ul>{missing}</ul>" if missing else "",
    ]
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{html.escape(options.title)}</title><style>{STYLE}</style>\n"
        + "\n".join(parts)
        + "</html>\n"
    )


def explained(options):
    return (
        "The least number of columns from which on the ranker is not significantly worse than on "
        f"all columns (5%, Holm's correction over the {len(options.strategies) * len(options.k)} "
        "comparisons of the ranker), and in brackets the least number from which on the 95% "
        f"interval of the difference also excludes a loss of {options.margin:g}. Between the two "
        "the test queries cannot tell."
    )


def described(folds, options):
    rows, width = (folds[0].whole or folds[0].fit).X.shape
    counts = [
        sum(len(np.unique(part(fold).qid)) for fold in folds)
        for part in (lambda fold: fold.whole or fold.fit, lambda fold: fold.test)
    ]
    validation = "a quarter of the training queries" if folds[0].whole else "validation data"
    packages = ("rankrls", "scikit-learn", "lightgbm", "xgboost", "numpy")
    versions = []
    for name in packages:
        try:
            versions.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            versions.append(f"{name} missing")
    rules = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in options.rules.items())
    return [
        f"{', '.join(fold.name for fold in folds)}: {rows} rows and {counts[0]} queries to train, "
        f"{counts[1]} queries to test, {width} columns.",
        f"Settings are chosen by {options.measure} on {validation}. Measures: {rules}. "
        f"Forests have {options.trees} trees, seed {options.seed}. The columns of random are one "
        "draw. Standard errors are over test queries, not over training sets.",
        f"{'; '.join(versions)}.",
    ]


class Options(argparse.Namespace):
    """What the command line says."""

    @property
    def rules(self) -> dict[str, Any]:
        given = {"relevant_from": self.relevant_from, "max_grade": self.max_grade}
        return {
            "convention": self.convention,
            "gain": self.gain,
            **{name: value for name, value in given.items() if value is not None},
        }

    def judge(self, rows, scores):
        found = metrics.score(rows.y, scores, qid=rows.qid, metric=self.measure, **self.rules)
        if np.isnan(found):
            raise ValueError(f"no query that chooses settings has a value of {self.measure}")
        return found


def names_of(kind, known):
    def parse(text):
        names = [name.strip() for name in text.split(",")]
        wrong = [name for name in names if name not in known]
        if wrong:
            raise argparse.ArgumentTypeError(f"no {kind} {wrong[0]!r}: expected {', '.join(known)}")
        return names

    return parse


def numbers(text):
    found = sorted({int(part) for part in text.split(",")})
    if found[0] < 1:
        raise argparse.ArgumentTypeError(f"expected numbers of columns from 1 on, found {found[0]}")
    return found


def parsed(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("data", nargs="?", type=Path, help="a folder of folds, a fold, or training data")
    add("--test", type=Path, help="test data, where DATA is a file")
    add("--validation", type=Path, help="data that choose settings, where DATA is a file")
    add("-k", type=numbers, help="numbers of columns, as 5,10,20")
    add("--strategies", type=names_of("strategy", STRATEGIES), default=list(STRATEGIES))
    add("--rankers", type=names_of("ranker", RANKERS), default=list(RANKERS))
    add("--measure", choices=MEASURES, help="chooses, and decides [ndcg@10; cindex without grades]")
    add("--margin", type=float, default=0.02, help="a loss that matters [%(default)s]")
    add("--convention", choices=["standard", "letor"], default="standard")
    add("--gain", choices=["exponential", "linear"], default="exponential")
    add("--relevant-from", type=float, metavar="LABEL", help="the least label of a relevant row")
    add("--max-grade", type=float, metavar="GRADE", help="the largest grade of the scale, for ERR")
    add("--trees", type=int, help="trees of a forest [100]")
    add("--seed", type=int, default=1)
    add("--workers", type=int, default=os.cpu_count(), help="processes [%(default)s]")
    add("--title", help="of the page")
    add("-o", "--output", type=Path, default=Path("rankers"), help="NAME of NAME.html, NAME.csv")
    options = parser.parse_args(arguments, Options())
    if options.data is None:
        corpora = Path(__file__).resolve().parents[2] / "corpora"
        options.data, options.test = corpora / "parses.svm.zst", corpora / "parses-test.svm.zst"
        options.k = options.k or [5, 20]
        options.trees = options.trees or 10
        options.relevant_from = options.relevant_from or 0.9
    options.k = options.k or [1, 2, 5, 10, 20]
    options.trees = options.trees or 100
    options.title = options.title or f"Rankers on selected columns of {options.data.name}"
    return options


def run(options):
    start = time.monotonic()
    folds = read(options)
    labels = np.concatenate([fold.fit.y for fold in folds])
    if options.relevant_from is None and labels.min() > 0:
        raise ValueError(
            "all labels are above 0, so that all rows are relevant for map and p@10: give "
            "the least relevant label by --relevant-from"
        )
    if labels.min() < 0:
        raise ValueError(f"expected labels from 0 on for NDCG and ERR, found {labels.min():g}")
    graded = (labels == np.floor(labels)).all()
    options.measure = options.measure or ("ndcg@10" if graded else "cindex")
    for name in options.rankers:
        reason = RANKERS[name].missing()
        if reason:
            print(f"{name} is marked as missing: {reason}", file=sys.stderr)
    lines = compare(train_all(folds, options), folds, options)
    tables = letor_tables(folds, options) if options.data.is_dir() else []
    notes = described(folds, options)
    made = [options.output.with_name(options.output.name + end) for end in (".html", ".csv")]
    made[0].write_text(page(lines, tables, notes, options), encoding="utf-8")
    table_file(lines, made[1])
    print(markdown(*answers(lines, options.measure, options)))
    for title, head, rows in tables:
        print(f"\n{title}\n\n{markdown(head, rows)}")
    seconds = time.monotonic() - start
    print(f"\nwrote {made[0]} and {made[1]} in {seconds:.0f} s", file=sys.stderr)


def main(arguments=None):
    # A process of its own for each core: libraries start no threads of their own.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    try:
        run(parsed(arguments))
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
