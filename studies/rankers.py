"""Other rankers on selected columns: how many columns can go before each of them gets worse?

Trains each ranker on all columns and on the first k that each strategy selects, measures all models
on test queries, and compares them with the same ranker on all columns, query by query: bootstrap
intervals, the randomisation test, and Holm's correction over the comparisons of a ranker. Prints a
table in Markdown, how many columns each ranker needs, and writes all figures as CSV.

    python studies/rankers.py TRAIN --test TEST [--validation VALIDATION] -k 10 20 50
    RANKRLS_CORPORA=FOLDER python studies/rankers.py --fill    # tables of data/rankers.md

Validation queries choose lambda, numbers of rounds and all other settings by --measure. Without
validation data, a quarter of the training queries choose, and models are then trained again on
all training queries. Test queries choose nothing.

Without DATA the script takes a small part of corpora/parses. --fill takes some ten minutes.
"""

import argparse
import itertools
import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp
from joblib import Parallel, delayed
from pages import filled
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.svm import LinearSVC

import rankrls
from rankrls import GreedyRankRLS, RankRLS, metrics

ROOT = Path(__file__).resolve().parents[1]
CORPORA = ROOT / "corpora"
MEASURES = ["map", "p@10", "ndcg@10", "mean-ndcg", "err", "cindex"]
STRATEGIES = ["distil", "exact", "fs-ed", "univariate", "random"]
SELECTION_LAMBDAS = [4.0, 16.0, 64.0]
LAMBDAS = [4.0**exponent for exponent in range(-1, 6)]
# Weights of the hinge losses of all pairs, against half the squared norm of the weights.
COSTS = [0.3, 3.0, 30.0, 300.0]
ROUNDS = [25, 50, 100, 200, 400]
PENALTIES = [0.001, 0.01, 0.1, 1.0]
SMALLEST = [1, 50, 100]


class Rows(NamedTuple):
    """Rows in ascending order of their queries."""

    X: Any
    y: Any
    qid: Any


class Data(NamedTuple):
    """`held` choose the settings of models of `fit`. The last models use `whole`."""

    fit: Rows
    held: Rows
    whole: Rows
    test: Rows


# Rankers: generators of functions from columns to scores, one for each setting.


def linear(weights):
    return lambda X: np.asarray(X @ weights)


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
        yield linear(RankRLS(alpha, n_jobs=1).fit(rows.X, rows.y, qid=rows.qid).coef_)


def rank_svm(rows, costs, options):
    better, worse = pairs(rows)
    # A classifier needs two classes, so every second pair is turned round.
    turned = np.arange(len(better)) % 2 == 1
    X = rows.X.tocsr() if sp.issparse(rows.X) else rows.X
    differences = X[np.where(turned, worse, better)] - X[np.where(turned, better, worse)]
    for cost in costs:
        svm = LinearSVC(C=cost / len(better), dual=False, fit_intercept=False, tol=1e-3)
        yield linear(svm.fit(differences, np.where(turned, -1.0, 1.0)).coef_[0])


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
        yield lambda X, count=count: scores(X, count)


def grades(rows):
    """Whole grades for gradients of NDCG, and whether gains are exponential.

    Labels that are not small whole numbers become their ranks among the query's labels.
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
    for count in rounds:
        yield lambda X, count=count: booster.predict(X, num_iteration=count, num_threads=1)


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
    booster = xgboost.train(params, xgboost.DMatrix(rows.X, labels, qid=rows.qid), rounds)
    return lambda X, **which: booster.predict(xgboost.DMatrix(X, nthread=1), **which)


def lambda_mart_xgboost(rows, rounds, options):
    params = {"max_depth": 4, "learning_rate": 0.05}
    scores = gradients_of_ndcg(rows, max(rounds), options, params)
    for count in rounds:
        yield lambda X, count=count: scores(X, iteration_range=(0, count))


def lambda_rank(rows, penalties, options):
    """Gradients of LambdaRank for a linear model: a neural net without hidden units."""
    params = {"booster": "gblinear", "updater": "coord_descent", "learning_rate": 0.3}
    for penalty in penalties:
        yield gradients_of_ndcg(rows, 100, options, {**params, "lambda": penalty})


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
            ends = [cut(tree, nmin) for tree in trees]

            def scores(X, ends=ends):
                X = sp.csr_matrix(X, dtype=np.float32) if sp.issparse(X) else np.float32(X)
                each = zip(trees, ends, strict=True)
                return sum(tree.value[end[tree.apply(X)], 0, 0] for tree, end in each) / len(trees)

            yield scores

    return fit


def cut(tree, nmin):
    """The node at which each node ends once small nodes are leaves."""
    parent = np.arange(tree.node_count)
    for children in (tree.children_left, tree.children_right):
        inner = np.flatnonzero(children >= 0)
        parent[children[inner]] = inner
    end = np.where(tree.n_node_samples[parent] < nmin, parent, np.arange(tree.node_count))
    while not np.array_equal(end, end[end]):
        end = end[end]
    return end


# Learner, settings, and whether it gets equal columns once. Linear models weigh each.
RANKERS = {
    "RankRLS": (rank_rls, LAMBDAS, False),
    "RankSVM (LinearSVC)": (rank_svm, COSTS, False),
    "RankBoost": (rank_boost, ROUNDS, True),
    "LambdaMART (LightGBM)": (lambda_mart_lightgbm, ROUNDS, True),
    "LambdaMART (XGBoost)": (lambda_mart_xgboost, ROUNDS, True),
    "LambdaRank (XGBoost)": (lambda_rank, PENALTIES, False),
    "extra trees (K = p)": (forest(ExtraTreesRegressor, None), SMALLEST, True),
    "extra trees (K = sqrt p)": (forest(ExtraTreesRegressor, "sqrt"), SMALLEST, True),
    "random forest (K = sqrt p)": (forest(RandomForestRegressor, "sqrt"), SMALLEST, True),
    "bagging (K = p)": (forest(RandomForestRegressor, None), SMALLEST, True),
}


# Data


def sorted_rows(data, dense=None):
    qid = np.unique(data.qid, return_inverse=True)[1]
    order = np.argsort(qid, kind="stable")
    X = sp.csc_matrix(data.X)[order]
    if dense is None:
        # A quarter of the values: a dense array is smaller and faster.
        dense = X.nnz > 0.25 * X.shape[0] * X.shape[1]
    return Rows(X.toarray(order="F") if dense else X, data.y[order], qid[order])


def subset(rows, queries):
    chosen = np.flatnonzero(np.isin(rows.qid, queries))
    return Rows(*(part[chosen] for part in rows))


def read(options):
    data = rankrls.read(options.data)
    whole = sorted_rows(data)

    def other(path):
        found = rankrls.read(path, n_features=data.X.shape[1])
        return sorted_rows(found, not sp.issparse(whole.X))

    test = other(options.test)
    if options.validation is not None:
        return Data(whole, other(options.validation), whole, test)
    queries = np.random.default_rng(options.seed).permutation(np.unique(whole.qid))
    held = len(queries) // 4
    fit, chosen = (subset(whole, part) for part in (queries[held:], queries[:held]))
    return Data(fit, chosen, whole, test)


def distinct(X):
    """The first column of each class of equal columns, without the columns of zeros."""
    X = sp.csc_matrix(X)
    X.sort_indices()
    first = {}
    for column, (start, end) in enumerate(itertools.pairwise(X.indptr)):
        if end > start:
            key = X.indices[start:end].tobytes(), X.data[start:end].tobytes()
            first.setdefault(key, column)
    return list(first.values())


def with_columns(rows, columns):
    return rows if columns is None else rows._replace(X=rows.X[:, columns])


# Selection and training


def judge(options, rows, scores):
    return metrics.score(rows.y, scores, qid=rows.qid, metric=ruled(options, options.measure))


def ruled(options, measure):
    """The measure with its rule of relevance, if it has one."""
    least = options.relevant_from
    return f"{measure}:{least}" if least is not None and measure in {"map", "p@10"} else measure


def selected(data, strategy, options):
    """For each k, the columns of the choice and of the last model, or None."""
    name = "bounded" if strategy == "exact" else strategy
    params = {"strategy": name, "n_features_to_select": max(options.k)}
    if strategy == "random":
        params["random_state"] = options.seed
    if strategy == "distil":
        params["label_scale"] = "raw"

    def path(rows, alpha):
        steps = []
        model = GreedyRankRLS(alpha=alpha, **params)
        model.fit(rows.X, rows.y, qid=rows.qid, callback=steps.append)
        return steps

    def features(steps, k):
        return [step.feature for step in steps[:k]]

    try:
        paths = {alpha: path(data.fit, alpha) for alpha in SELECTION_LAMBDAS}
    except ValueError as error:
        print(f"{strategy} is missing: {str(error).splitlines()[0]}", file=sys.stderr)
        return dict.fromkeys(options.k)
    finals, chosen = {}, {}
    for k in options.k:
        values = {
            alpha: judge(
                options, data.held, data.held.X[:, features(each, k)] @ each[k - 1].weights
            )
            for alpha, each in paths.items()
            if len(each) >= k
        }
        chosen[k] = None
        if values:
            alpha = max(values, key=values.get)
            if alpha not in finals:
                finals[alpha] = path(data.whole, alpha)
            both = paths[alpha], finals[alpha]
            chosen[k] = [sorted(features(each, k)) for each in both]
    return chosen


def train(data, name, columns, options):
    """Chooses the setting of a ranker, and measures it on test queries."""
    fit, settings, _ = RANKERS[name]
    rows, held = (with_columns(part, columns[0]) for part in (data.fit, data.held))
    values = [judge(options, held, model(held.X)) for model in fit(rows, settings, options)]
    best = settings[int(np.argmax(values))]
    model = next(fit(with_columns(data.whole, columns[1]), [best], options))
    test = with_columns(data.test, columns[1])
    names = [ruled(options, measure) for measure in MEASURES]
    found = metrics.evaluate(test.y, model(test.X), qid=test.qid, metrics=names)
    return dict(zip(MEASURES, found.values(), strict=True)), f"{best:g}"


def train_all(data, options):
    """Results of `train` for each ranker, strategy and k. Strategy "all" has k 0."""
    once = [distinct(rows.X) for rows in (data.fit, data.whole)]
    wanted = {}
    for name in options.rankers:
        wanted[name, "all", 0] = once if RANKERS[name][2] else [None, None]
    for strategy in options.strategies:
        for k, columns in selected(data, strategy, options).items():
            for name in options.rankers:
                wanted[name, strategy, k] = columns
    jobs = [key for key, columns in wanted.items() if columns is not None]
    parallel = Parallel(n_jobs=options.workers, verbose=1)
    done = parallel(delayed(train)(data, key[0], wanted[key], options) for key in jobs)
    return {**dict.fromkeys(wanted), **dict(zip(jobs, done, strict=True))}


# Comparison


def holm(p):
    """Holm's correction: p values that hold for all comparisons together; nan stays out."""
    p = np.asarray(p, dtype=float)
    # Sorted by rising p, nan last.
    order = np.argsort(p)
    factors = np.count_nonzero(~np.isnan(p)) - np.arange(len(p))
    steps = np.maximum.accumulate(factors * p[order])
    return np.minimum(steps[np.argsort(order)], 1)


def compare(results, options):
    """Lines of the table: a ranker on some columns by a measure, beside it on all columns."""
    lines = []
    for name, measure in itertools.product(options.rankers, MEASURES):
        family = []
        everything = results[name, "all", 0][0][measure]
        for (_, strategy, k), found in ((key, r) for key, r in results.items() if key[0] == name):
            line = {"ranker": name, "columns": strategy, "k": k or "all", "measure": measure}
            family.append(line)
            if found is None:
                continue
            own, line["setting"] = found[0][measure], found[1]
            line["mean"], line["queries"] = own.mean, own.queries
            line["standard_error"] = own.standard_error
            if strategy != "all":
                each = metrics.paired(own, everything, random_state=options.seed)
                line |= {"difference": each.difference, "p": each.p}
                line["low"], line["high"] = each.interval
        corrected = holm([line.get("p", np.nan) for line in family])
        for line, p in zip(family, corrected, strict=True):
            line["p_holm"] = p
            line["verdict"] = verdict(line, options.margin)
        lines += family
    return lines


def verdict(line, margin):
    """Beside all columns: worse, better, close (the interval excludes a loss of `margin`), open."""
    if line["columns"] == "all":
        return ""
    if "mean" not in line:
        return "missing"
    if line["p_holm"] < 0.05:
        return "better" if line["difference"] > 0 else "worse"
    return "close" if line["low"] > -margin else "open"


def least(lines):
    """The least k from which on no line is worse, and from which on each is close or better."""
    falling = sorted(lines, key=lambda line: -line["k"])

    def as_long_as(*good):
        found = itertools.takewhile(lambda line: line["verdict"] in good, falling)
        return min((line["k"] for line in found), default=None)

    return [as_long_as("close", "better", "open"), as_long_as("close", "better")]


def answers(lines, options):
    """A table in Markdown: a ranker, its mean on all columns, and the least k of each strategy."""
    rows = [["ranker", f"{options.measure} on all columns", *options.strategies]]
    rows.append(["---"] * len(rows[0]))
    lines = [line for line in lines if line["measure"] == options.measure]
    for name in options.rankers:
        own = [line for line in lines if line["ranker"] == name]
        row = [name, f"{own[0]['mean']:.4f} ± {own[0]['standard_error']:.4f}"]
        for strategy in options.strategies:
            part = [line for line in own if line["columns"] == strategy]
            row.append(answer(part, min(options.k)))
        rows.append(row)
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def answer(lines, smallest):
    if any(line["verdict"] == "missing" for line in lines):
        return "missing"
    worse, close = (
        "none" if k is None else f"≤ {k}" if k == smallest > 1 else str(k) for k in least(lines)
    )
    return f"{worse} ({close})"


def write_table(lines, path):
    names = ["ranker", "columns", "k", "measure", "mean", "standard_error", "queries"]
    names += ["difference", "low", "high", "p", "p_holm", "verdict", "setting"]
    table = pd.DataFrame(lines, columns=names).convert_dtypes()
    table.to_csv(path, index=False, float_format="%.6g")


# The command line


def parsed(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("data", nargs="?", type=Path, help="training data")
    add("--test", type=Path, help="test data")
    add("--validation", type=Path, help="data that choose settings")
    add("-k", nargs="+", type=int, default=[1, 2, 5, 10, 20], help="numbers of columns")
    add("--strategy", nargs="+", choices=STRATEGIES, default=STRATEGIES)
    add("--rankers", nargs="+", choices=RANKERS, default=list(RANKERS))
    add("--measure", choices=MEASURES, default="ndcg@10", help="chooses, and decides")
    add("--margin", type=float, default=0.02, help="a loss that matters [%(default)s]")
    add("--relevant-from", type=float, metavar="LABEL", help="the least label of a relevant row")
    add("--trees", type=int, default=100, help="trees of a forest [%(default)s]")
    add("--seed", type=int, default=1)
    add("--workers", type=int, default=-1, help="processes [one a core]")
    add("-o", "--output", type=Path, default=Path("rankers.csv"), help="[%(default)s]")
    options = parser.parse_args(arguments)
    if options.data is not None and options.test is None:
        parser.error("DATA needs test data: --test")
    if options.data is None:
        options.data, options.test = CORPORA / "parses/train.svm.zst", CORPORA / "parses/test.svm.zst"
        options.k, options.trees, options.measure = [5, 20], 10, "cindex"
        options.relevant_from = 0.9
    return options


def table(arguments):
    options = parsed(arguments)
    data = read(options)
    if options.relevant_from is None and data.fit.y.min() > 0:
        sys.exit(
            "error: all labels are above 0, so that all rows are relevant for map and p@10: give "
            "the least relevant label by --relevant-from"
        )
    lines = compare(train_all(data, options), options)
    write_table(lines, options.output)
    return answers(lines, options)


def fill():
    """Fills in the tables of data/rankers.md."""
    page = ROOT / "studies/data/rankers.md"
    letor = os.path.join(os.environ["RANKRLS_CORPORA"], "letor-mq2008-fold3")
    train, validation, test = (f"{letor}/{part}.txt.zst" for part in ["train", "vali", "test"])
    parses = [f"{CORPORA}/link-parses/train.svm.zst", "--test", f"{CORPORA}/link-parses/test.svm.zst"]
    graded = "-k 10 20 50 100 --measure cindex --relevant-from 0.75 --trees 50".split()
    letor = [train, "--validation", validation, "--test", test, *"-k 1 2 5 10 20".split()]
    for name, arguments in {"link-parses": parses + graded, "letor": letor}.items():
        lines = table([*arguments, "-o", f"{ROOT}/target/{name}.csv"]).splitlines()
        page.write_text(filled(page.read_text(), f"rankers {name}", lines))


def main(arguments=None):
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments == ["--fill"]:
        fill()
    else:
        print(table(arguments))


if __name__ == "__main__":
    main()
