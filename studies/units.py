"""The same texts in three units, and which selector ranks them best.

Texts of queries, with words and phrases planted that carry the truth, become columns by tf-idf, by
tf-idf times 100 and by counts. Selectors with their default arguments learn on four fifths of the
queries and rank the rest. The order of the selectors should not depend on the units; that of tf-idf
and of tf-idf times 100 cannot, as every default lambda of rankrls is a share of the mean squared
norm of a centred row.

    python studies/units.py --rows 2000 --queries 150
"""

import argparse

import numpy as np
from lightgbm import LGBMRanker
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import Lasso
from sklearn.model_selection import GroupKFold

from rankrls import GreedyRankRLS
from rankrls.metrics import evaluate

WORDS, PLANTED, PHRASES = 3000, 20, 13


def drawn(rng, rows, queries):
    """Texts, their labels and queries; words by Zipf's law, some of them those of the query."""
    shares = 1 / np.arange(1, WORDS + 1)
    shares /= shares.sum()
    planted = rng.choice(np.arange(20, 400), PLANTED + 2 * PHRASES, replace=False)
    words, pairs = planted[:PLANTED], planted[PLANTED:].reshape(PHRASES, 2)
    effects = rng.normal(size=PLANTED + PHRASES)
    qid = np.sort(rng.integers(queries, size=rows))
    topics = [rng.choice(WORDS, 15, p=shares) for _ in range(queries)]
    texts, labels = [], []
    for query in qid:
        text = list(rng.choice(WORDS, rng.integers(25, 45), p=shares))
        text += list(rng.choice(topics[query], 15))
        label = rng.normal(scale=0.7)
        for place in np.flatnonzero(rng.random(PLANTED + PHRASES) < 0.12):
            label += effects[place]
            text += [words[place]] if place < PLANTED else list(pairs[place - PLANTED])
        texts.append(" ".join(f"w{word}" for word in text))
        labels.append(label)
    return texts, np.array(labels), qid


def centred(values, qid):
    """Less the mean of the query, dense."""
    values = values.toarray() if hasattr(values, "toarray") else values.astype(float)
    for query in np.unique(qid):
        values[qid == query] -= values[qid == query].mean(axis=0)
    return values


def lasso(X, y, qid, X_test):
    """Lasso on centred columns, its alpha by three folds of the queries."""
    X, y = centred(X, qid), centred(y, qid)
    largest = np.abs(X.T @ y).max() / len(y)

    def value(alpha):
        found = []
        for train, test in GroupKFold(3).split(X, y, qid):
            model = Lasso(alpha, fit_intercept=False).fit(X[train], y[train])
            found.append(np.mean((y[test] - model.predict(X[test])) ** 2))
        return np.mean(found)

    alpha = min(largest * 2.0 ** -np.arange(1, 9), key=value)
    return X_test @ Lasso(alpha, fit_intercept=False).fit(X, y).coef_


def trees(X, y, qid, X_test):
    """LightGBM's ranker on all columns, labels in five grades."""
    grades = np.searchsorted(np.quantile(y, [0.2, 0.4, 0.6, 0.8]), y)
    sizes = np.unique(qid, return_counts=True)[1]
    model = LGBMRanker(verbose=-1, n_jobs=2, random_state=1)
    return model.fit(X, grades, group=sizes).predict(X_test)


def selecting(k, **options):
    def scores(X, y, qid, X_test):
        return GreedyRankRLS(k, **options).fit(X, y, qid=qid).predict(X_test)

    return scores


def selectors(numbers):
    for k in numbers:
        yield f"exact, k {k}", selecting(k)
        yield f"distil, k {k}", selecting(k, strategy="distil")
        yield f"exact, scale sd, k {k}", selecting(k, scale="sd")
        yield f"distil, scale sd, k {k}", selecting(k, strategy="distil", scale="sd")
    yield "lasso, any number", lasso
    yield "LightGBM, all columns", trees


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-k", type=int, nargs="+", default=[10, 30])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rows", type=int, default=400)
    parser.add_argument("--queries", type=int, default=40)
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    texts, y, qid = drawn(rng, arguments.rows, arguments.queries)
    words = {"ngram_range": (1, 2), "min_df": 5}
    tfidf = TfidfVectorizer(**words).fit_transform(texts)
    units = {
        "tf-idf": tfidf,
        "tf-idf x 100": 100 * tfidf,
        "counts": CountVectorizer(**words).fit_transform(texts).astype(float),
    }
    print(f"{len(y)} texts, {len(np.unique(qid))} queries, {tfidf.shape[1]} columns")
    print("concordance index over five folds of the queries, standard error over queries")
    for unit, X in units.items():
        for name, selector in selectors(arguments.k):
            values = np.full(arguments.queries, np.nan)
            for train, test in GroupKFold(5).split(X, y, qid):
                scores = selector(X[train], y[train], qid[train], X[test])
                measured = evaluate(y[test], scores, qid=qid[test], metrics="cindex")["cindex"]
                values[np.unique(qid[test])] = measured.per_query
            values = values[~np.isnan(values)]
            error = values.std(ddof=1) / len(values) ** 0.5
            print(f"{unit:13} {name:24} {values.mean():.3f} ± {error:.3f}")


if __name__ == "__main__":
    main()
