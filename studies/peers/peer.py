"""One selector on one corpus, in a process of its own: prints a line of JSON.

    python peer.py SELECTOR TRAIN TEST K LAMBDA SCORES

Every selector sees query-centred data, so that least squares on it is RankRLS. The file SCORES
receives the scores of the rows of TEST. Time counts from the centred data on, without reading
and centring.
"""

import argparse
import io
import json
import pathlib
import re
import resource
import subprocess
import time

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file


def read(path, width=None):
    """Sparse rows, labels, and the query of every row, counted from 0."""

    if path.endswith(".zst"):
        data = subprocess.run(["zstd", "-dc", path], check=True, capture_output=True).stdout
    else:
        data = pathlib.Path(path).read_bytes()
    # scikit-learn only reads numbers for queries.
    numbers = {}
    number = lambda found: b"qid:%d" % numbers.setdefault(found[1], len(numbers))
    data = re.sub(rb"qid:(\S+)", number, data)
    x, y, qid = load_svmlight_file(
        io.BytesIO(data), query_id=True, n_features=width, zero_based=False
    )
    return x.tocsc(), y, np.unique(qid, return_inverse=True)[1]


def centring(queries):
    """The projection L as a pair: indicator of queries, and their sizes."""
    rows = np.arange(len(queries))
    members = sp.csr_matrix((np.ones(len(queries)), (queries, rows)))
    return members, np.asarray(members.sum(axis=1)).ravel()


def centred(x, members, sizes):
    """L X, dense and by columns."""
    dense = np.asfortranarray(x.toarray())
    dense -= (members.T @ ((members @ x).toarray() / sizes[:, None]))
    return dense


def algorithm_1(x, y, queries, k, lam):
    """Greedy RankRLS as published (algorithm 1), dense, vectorised over the candidates."""
    m, n = x.shape
    groups = [np.flatnonzero(queries == q) for q in range(queries.max() + 1)]
    a, p = y / lam, y.copy()
    c_cache, u_cache = x / lam, x.copy()
    chosen = []
    for _ in range(k):
        # Blocks of candidates keep memory at two caches.
        errors = np.full(n, np.inf)
        for start in range(0, n, 8192):
            block = slice(start, min(start + 8192, n))
            xb, cb, ub = x[:, block], c_cache[:, block], u_cache[:, block]
            scale = 1.0 / (1.0 + np.einsum("ij,ij->j", xb, cb))
            d = scale * (cb.T @ y)
            total = np.zeros(xb.shape[1])
            for rows in groups:
                c_q, u_q = cb[rows], ub[rows]
                gamma = 1.0 / (-1.0 / scale + np.einsum("ij,ij->j", c_q, u_q))
                inner = np.einsum("ij,ij->j", u_q, c_q)
                beta = d + gamma * (u_q.T @ a[rows] - d * inner)
                residual = p[rows, None] - beta * u_q
                total += np.einsum("ij,ij->j", residual, residual)
            errors[block] = total
        errors[chosen] = np.inf
        best = int(errors.argmin())
        chosen.append(best)
        v, c_b, u_b = x[:, best], c_cache[:, best].copy(), u_cache[:, best].copy()
        scale = 1.0 / (1.0 + v @ c_b)
        d = scale * (c_b @ y)
        t = scale * (v @ c_cache)
        for rows in groups:
            gamma = 1.0 / (-1.0 / scale + c_b[rows] @ u_b[rows])
            beta = d + gamma * (u_b[rows] @ a[rows] - d * (u_b[rows] @ c_b[rows]))
            p[rows] -= beta * u_b[rows]
            change = c_cache[rows] - np.outer(c_b[rows], t)
            u_cache[rows] -= np.outer(u_b[rows], t + gamma * (u_b[rows] @ change))
        a -= d * c_b
        c_cache -= np.outer(c_b, t)
    return ridge(x, y, chosen, lam)


def ridge(x, y, chosen, lam):
    """Features and their RankRLS weights."""
    s = x[:, chosen]
    weights = np.linalg.solve(s.T @ s + lam * np.eye(len(chosen)), s.T @ y)
    return list(chosen), weights


def sequential(x, y, queries, k, lam, columns=16):
    """scikit-learn's SequentialFeatureSelector with Ridge and LeaveOneGroupOut.

    It fits queries x candidates models a step, far too many. So this times the first `columns`
    columns and one step, and computes the time of all from it.
    """
    from sklearn.feature_selection import SequentialFeatureSelector
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import LeaveOneGroupOut

    folds = list(LeaveOneGroupOut().split(x, y, queries))
    begin = time.perf_counter()
    SequentialFeatureSelector(
        Ridge(alpha=lam, fit_intercept=False),
        n_features_to_select=1,
        scoring="neg_mean_squared_error",
        cv=folds,
    ).fit(np.ascontiguousarray(x[:, :columns]), y)
    step = (time.perf_counter() - begin) / columns * x.shape[1]
    return None, step * k


def lasso(x, y, ks):
    """For each k, columns and weights: under a falling penalty, the largest model up to k columns.

    The penalty falls by a twentieth, and is bisected where several columns enter at once. A fit
    has the columns that the sequential strong rule keeps (R. Tibshirani et al., 2012), and
    columns that the rule missed.
    """
    from sklearn.linear_model import Lasso

    def fit(penalty, before, weights):
        slope = np.abs(x.T @ (y - x @ weights)) / len(y)
        kept = (slope >= 2 * penalty - before) | (weights != 0)
        while True:
            model = Lasso(penalty, fit_intercept=False, warm_start=True, max_iter=2000, tol=1e-3)
            model.coef_ = weights[kept]
            weights = np.zeros(x.shape[1])
            columns = np.flatnonzero(kept)
            weights[columns] = model.fit(x[:, columns], y).coef_
            slope = np.abs(x.T @ (y - x[:, columns] @ model.coef_)) / len(y)
            missed = (slope > penalty * 1.001) & ~kept
            if not missed.any():
                return weights
            kept |= missed

    penalty = np.abs(x.T @ y).max() / len(y)
    path = [(penalty, np.zeros(x.shape[1]))]
    while np.count_nonzero(path[-1][1]) <= max(ks):
        before, weights = path[-1]
        path.append((0.95 * before, fit(0.95 * before, before, weights)))
    for k in ks:
        above = next(i for i, step in enumerate(path) if np.count_nonzero(step[1]) > k)
        (high, best), (low, _) = path[above - 1], path[above]
        for _ in range(8):
            if np.count_nonzero(best) == k:
                break
            middle = (low + high) / 2
            weights = fit(middle, high, best)
            if np.count_nonzero(weights) <= k:
                high, best = middle, weights
            else:
                low = middle
        chosen = np.flatnonzero(best)
        yield list(chosen), best[chosen]


def matching_pursuit(x, y, queries, k, lam):
    """scikit-learn's OrthogonalMatchingPursuit, with columns scaled to one length as it requires."""
    from sklearn.linear_model import OrthogonalMatchingPursuit

    norms = np.sqrt(np.einsum("ij,ij->j", x, x))
    norms[norms == 0] = np.inf
    model = OrthogonalMatchingPursuit(n_nonzero_coefs=k, fit_intercept=False, precompute=False)
    scaled = x / norms
    chosen = np.flatnonzero(model.fit(scaled, y).coef_)
    return list(chosen), model.coef_[chosen] / norms[chosen]


def best_alone(x, y, queries, k, lam):
    """SelectKBest by the correlation with the labels, and RankRLS weights of the columns."""
    from sklearn.feature_selection import SelectKBest, f_regression

    with np.errstate(divide="ignore", invalid="ignore"):
        chosen = SelectKBest(f_regression, k=k).fit(x, y).get_support(indices=True)
    return ridge(x, y, list(chosen), lam)


def best_subset(x, y, queries, k, lam):
    """abess, with the support size given."""
    from abess import LinearRegression

    model = LinearRegression(support_size=[k], alpha=[lam], fit_intercept=False, thread=2)
    model.fit(x, y, is_normal=False)
    chosen = np.flatnonzero(model.coef_)
    return list(chosen), model.coef_[chosen]


def of_rankrls(train, test, k, lam, scores):
    """The Python package on sparse data, which it centres itself."""
    import rankrls

    x, y, qid, _ = rankrls.read(train)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.perf_counter()
    model = rankrls.GreedyRankRLS(k, alpha=lam, strategy="bounded").fit(x, y, qid=qid)
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    z = rankrls.read(test, n_features=x.shape[1]).X
    np.savetxt(scores, model.predict(z), fmt="%.17g")
    return {
        "features": (model.selected_ + 1).tolist(),
        "seconds": seconds,
        "peak_bytes": peak * 1024,
        "note": f"{(peak - before) / 1024:.0f} MiB more than before `fit`",
    }


SELECTORS = {
    "algorithm-1": algorithm_1,
    "sequential": sequential,
    "lasso": lambda x, y, queries, k, lam: next(lasso(x, y, [k])),
    "omp": matching_pursuit,
    "select-k-best": best_alone,
    "abess": best_subset,
}


def main():
    parser = argparse.ArgumentParser()
    for name in ["selector", "train", "test", "k", "ridge", "scores"]:
        parser.add_argument(name)
    options = parser.parse_args()
    selector, k, lam = options.selector, int(options.k), float(options.ridge)
    if selector == "rankrls-python":
        found = of_rankrls(options.train, options.test, k, lam, options.scores)
        print(json.dumps({"selector": selector, **found}))
        return
    x, y, queries = read(options.train)
    members, sizes = centring(queries)
    y = y - members.T @ (members @ y / sizes)
    dense = centred(x, members, sizes)
    begin = time.perf_counter()
    features, weights = SELECTORS[selector](dense, y, queries, k, lam)
    seconds = time.perf_counter() - begin
    result = {"selector": selector}
    if features is None:
        result["estimated_seconds"] = weights
    else:
        z, _, _ = read(options.test, x.shape[1])
        np.savetxt(options.scores, z[:, features] @ weights, fmt="%.17g")
        result |= {"features": [int(f) + 1 for f in features], "seconds": seconds}
    result["peak_bytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps(result))


if __name__ == "__main__":
    main()
