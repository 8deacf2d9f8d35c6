"""Does another corpus help to rank? Four recipes over plain data.

The target is the corpus whose queries are to be ranked, the source the other one. Losses are
squares, so that each recipe of P. Geurts and G. Louppe (JMLR W&CP 14, 2011) is a change of data:

union               the rows of both; those of the source, and their labels, times the root of the
                    weight of a query
score as a feature  the scores of the source's model are a column more
offset              labels less these scores, which predictions have added again
mix                 the mean of two scores, by the weight that ranks held-out predictions best

Prints the concordance index of test queries, a mean over draws of training queries; in brackets the
difference to the target alone with its standard error, and a star for p <= 0.05 of the paired
randomisation test, corrected by Holm. Columns of the source are found by name. Without a source,
half of the target's queries stand for it, and there is one draw.
"""

import argparse
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from rankers import holm

from rankrls import RankRLS, metrics, read

LINK = Path(__file__).resolve().parents[1] / "corpora" / "link-parses"
ALPHAS = (4, 16, 64, 256, 1024)
UNION_ALPHAS, SOURCE_WEIGHTS = (64, 256), (0.03, 0.3)
FOLDS, DRAWS = 4, 4
RECIPES = ("target alone", "source alone", "union", "score as a feature", "offset", "mix")


def drawn(data, ids):
    """The rows of some queries."""
    rows = np.isin(data.qid, ids)
    return data._replace(X=data.X.tocsr()[rows], y=data.y[rows], qid=data.qid[rows])


def in_columns_of(target, source):
    """The source with the columns of the target, found by name."""
    places = {name: column for column, name in enumerate(target.feature_names) if name}
    pairs = [(old, places[n]) for old, n in enumerate(source.feature_names) if n in places]
    shape = (source.X.shape[1], target.X.shape[1])
    print(f"{len(pairs)} of {shape[0]} columns of the source are among {shape[1]} of the target\n")
    moved = sp.csr_array((np.ones(len(pairs)), tuple(np.transpose(pairs))), shape=shape)
    return source._replace(X=source.X.tocsr() @ moved)


def centred(scores, qid):
    """Scores less the mean of their query."""
    _, query, sizes = np.unique(qid, return_inverse=True, return_counts=True)
    return scores - (np.bincount(query, scores) / sizes)[query]


def best(X, y, qid, **options):
    """RankRLS with the alpha of the least hold-out error."""
    models = (RankRLS(alpha, **options).fit(X, y, qid=qid) for alpha in ALPHAS)
    return min(models, key=lambda model: model.holdout_error_)


def union(target, source):
    """RankRLS on both. The source is a fold of its own, whose errors do not count."""
    query, others = (np.unique(data.qid, return_inverse=True)[1] for data in (target, source))
    fold_of_query = np.random.default_rng(1).permutation(query.max() + 1) % FOLDS
    folds = np.r_[fold_of_query[query], np.full(len(others), FOLDS)]
    qid = np.r_[query, query.max() + 1 + others]
    models = {}
    for root in np.sqrt(SOURCE_WEIGHTS):
        X = sp.vstack([target.X, root * source.X], format="csc")
        y = np.r_[target.y, root * source.y]
        for alpha in UNION_ALPHAS:
            model = RankRLS(alpha, solver="cg").fit(X, y, qid=qid, holdout=folds)
            left = centred(target.y, query) - model.holdout_predictions_[: len(query)]
            models[left @ left] = model
    return models[min(models)]


def predictions(target, source, model, test):
    """Scores of the test rows by each recipe; `model` has learnt from the source."""
    X, y, qid, _ = target
    own = best(X, y, qid)
    alone, held_out = own.predict(test), own.holdout_predictions_
    elsewhere, here = model.predict(test), model.predict(X)
    sizes = [np.std(centred(scores, qid)) for scores in (held_out, here)]

    # Of deviation 1, so that alpha does not count it away.
    def with_column(X, scores):
        return sp.hstack([X, scores[:, None] / sizes[1]], format="csc")

    def mixed(weight, first, second):
        return (1 - weight) * first / sizes[0] + weight * second / sizes[1]

    def held_out_index(weight):
        return metrics.score(y, mixed(weight, held_out, here), qid=qid, metric="cindex")

    yield alone
    yield elsewhere
    yield union(target, source).predict(test)
    yield best(with_column(X, here), y, qid).predict(with_column(test, elsewhere))
    yield best(X, y - here, qid).predict(test) + elsewhere
    yield mixed(max(np.linspace(0, 1, 21), key=held_out_index), alone, elsewhere)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--target", type=Path, metavar="FOLDER", default=LINK)
    parser.add_argument("--source", type=Path, metavar="FOLDER")
    arguments = parser.parse_args()
    pool = read(arguments.target / "train.svm.zst")
    test = read(arguments.target / "test.svm.zst", n_features=pool.X.shape[1])
    ids = np.unique(pool.qid)
    sizes, draws = (10, 20, 50, len(ids)), DRAWS
    if arguments.source:
        source = in_columns_of(pool, read(arguments.source / "train.svm.zst"))
    else:
        source, ids, sizes, draws = drawn(pool, ids[::2]), ids[1::2], (10, 20), 1
    model = best(source.X, source.y, source.qid, holdout=f"folds:{FOLDS}")
    table = [[recipe] for recipe in RECIPES]
    for size in sizes:
        values = []
        for draw in range(draws if size < len(ids) else 1):
            target = drawn(pool, np.random.default_rng(draw).permutation(ids)[:size])
            found = predictions(target, source, model, test.X)
            found = (metrics.evaluate(test.y, scores, qid=test.qid) for scores in found)
            values.append([each["cindex"].per_query for each in found])
        means = np.mean(values, axis=0)
        gains = [metrics.paired(each, means[0]) for each in means]
        stars = holm([gain.p for gain in gains[1:]]) <= 0.05
        table[0].append(f"{np.nanmean(means[0]):.3f}")
        for row, mean, gain, star in zip(table[1:], means[1:], gains[1:], stars, strict=True):
            change = f"{gain.difference:+.3f} ± {gain.standard_error:.3f}{', *' if star else ''}"
            row.append(f"{np.nanmean(mean):.3f} ({change})")
    print(f"| recipe | {' | '.join(f'{size} queries' for size in sizes)} |")
    print("|---" * (len(sizes) + 1) + "|")
    for row in table:
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
