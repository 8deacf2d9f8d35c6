"""Reranks the parses of Link Grammar by a few features that a person can read.

GreedyRankRLSCV chooses ridge parameter, strategy (exact or "distil") and number of features by
folds of the training sentences. Prints the choice, the features by name, and the concordance index
and NDCG of held-out sentences for the best model of each strategy and for the parser's own order.
--plot FILE draws what the folds found.

    python parse_reranking.py [--plot tuning.svg]
"""

import argparse
import time
from pathlib import Path

import numpy as np

from rankrls import GreedyRankRLS, GreedyRankRLSCV, metrics, read_svmlight

CORPORA = Path(__file__).resolve().parents[2] / "corpora"
STRATEGIES = ("bounded", "distil")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plot", metavar="FILE")
    options = parser.parse_args()
    train = read_svmlight(
        CORPORA / "link-parses.svm.zst", names=CORPORA / "link-parses-names.txt.zst"
    )
    test = read_svmlight(CORPORA / "link-parses-test.svm.zst", n_features=train.X.shape[1])

    begin = time.perf_counter()
    search = GreedyRankRLSCV(50, alphas=(4, 16, 64), strategies=STRATEGIES, scoring="cindex").fit(
        train.X, train.y, qid=train.qid
    )
    seconds = time.perf_counter() - begin
    print(
        f"{train.X.shape[0]} parses of {len(set(train.qid))} sentences, {train.X.shape[1]} columns"
    )
    print(
        f"chosen in {seconds:.1f} s: {search.strategy_}, alpha {search.alpha_:g}, "
        f"{search.n_features_to_select_} features; cindex of folds {search.best_score_:.4f}\n"
    )
    print("   weight  feature")
    for column, weight in list(zip(search.selected_, search.weights_, strict=True))[:15]:
        print(f"{weight:9.4f}  {train.feature_names[column]}")

    places = np.concatenate([np.arange(n, 0, -1) for n in np.unique_counts(test.qid).counts])
    rankings = {"order of the parser": places.astype(float)}
    results = search.cv_results_
    for strategy in STRATEGIES:
        # The best model of the strategy by the same folds.
        rows = np.flatnonzero(results["param_strategy"] == strategy)
        best = rows[np.argmax(results["mean_test_score"][rows])]
        k, alpha = results["param_n_features_to_select"][best], results["param_alpha"][best]
        model = GreedyRankRLS(int(k), alpha=alpha, strategy=strategy)
        model.fit(train.X, train.y, qid=train.qid)
        mark = " (chosen)" if strategy == search.strategy_ else ""
        rankings[f"{strategy}, {k} features{mark}"] = model.predict(test.X)
    title = f"{len(set(test.qid))} held-out sentences"
    print(f"\n{title:28}  {'cindex':15}  ndcg@5")
    found = {}
    for name, scores in rankings.items():
        found[name] = metrics.evaluate(test.y, scores, qid=test.qid, metrics="cindex,ndcg@5")
        cells = "  ".join(f"{m.mean:.4f} ± {m.standard_error:.4f}" for m in found[name].values())
        print(f"{name:28}  {cells}")
    first, second = list(found.values())[1:3]
    each = metrics.paired(second["cindex"], first["cindex"])
    print(
        f"\ndistil less bounded, cindex: {each.difference:+.4f} ± {each.standard_error:.4f}, "
        f"p {each.p:.3f}; better on {each.wins} sentences, worse on {each.losses}"
    )
    if options.plot:
        from rankrls import plot

        plot.tuning(search).figure.savefig(options.plot)
        print(f"diagram: {options.plot}")


if __name__ == "__main__":
    main()
