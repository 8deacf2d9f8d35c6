"""Fifty words for a ranker of texts: TF-IDF, GreedyRankRLS and LGBMRanker in one pipeline.

A query is a sentence, its candidates are ten shortened versions that lack two words in five. The
best one is well connected: the heads of its words are still there. Grades from 0 to 4 come from the
dependencies of a treebank; rankers see the text alone. Prints which words the selection takes, and
how LGBMRanker does with 50 words and with all: times, concordance index and NDCG of unseen
sentences with standard errors, and the comparison query by query.

The sentences come from corpora/. Needs LightGBM and the command zstd.
"""

import subprocess
import time
import warnings
from pathlib import Path

import numpy as np
import sklearn
from lightgbm import LGBMRanker
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from rankrls import GreedyRankRLS, metrics

CORPORA = Path(__file__).resolve().parents[2] / "corpora"


class Ranker(LGBMRanker):
    """LGBMRanker that takes query ids, as a pipeline routes them, not sizes of queries."""

    def fit(self, X, y, *, qid):
        starts = np.flatnonzero(np.append(True, qid[1:] != qid[:-1]))
        return super().fit(X, y, group=np.diff(np.append(starts, len(qid))))


def sentences(path):
    """Words and places of their heads, -1 for the root, of each sentence of 8 to 40 words."""
    text = subprocess.run(["zstd", "-dc", path], check=True, capture_output=True).stdout.decode()
    for block in text.split("\n\n"):
        rows = [line.split("\t") for line in block.splitlines()]
        rows = [row for row in rows if row[0].isdigit()]
        if 8 <= len(rows) <= 40:
            yield [row[1].lower() for row in rows], np.array([int(row[6]) - 1 for row in rows])


def shortened(parsed, rng, versions=10):
    """Texts, grades and queries: random three fifths of the words of each sentence."""
    texts, grades, queries = [], [], []
    for query, (words, heads) in enumerate(parsed):
        for _ in range(versions):
            kept = np.sort(rng.permutation(len(words))[: round(0.6 * len(words))])
            connected = np.mean(np.isin(heads[kept], [-1, *kept]))
            texts.append(" ".join(words[place] for place in kept))
            grades.append(min(4, int(5 * connected)))
            queries.append(query)
    return texts, np.array(grades), np.array(queries)


def main():
    # Of names of columns, and kinds of arrays.
    warnings.filterwarnings("ignore", module="lightgbm|sklearn")
    sklearn.set_config(enable_metadata_routing=True)
    parsed = list(sentences(CORPORA / "sentences.conllu.zst"))
    train, test = parsed[:192], parsed[192:]
    rng = np.random.default_rng(1)
    texts, y, qid = shortened(train, rng)
    test_texts, test_y, test_qid = shortened(test, rng)

    words = TfidfVectorizer(token_pattern=r"\S+", min_df=2)
    selector = GreedyRankRLS(50).set_fit_request(qid=True)
    ranker = Ranker(num_leaves=7, n_jobs=2, random_state=1, verbose=-1).set_fit_request(qid=True)
    pipelines = {
        "50 words, linear": make_pipeline(words, selector),
        "50 words, LGBMRanker": make_pipeline(words, selector, ranker),
        "all words, LGBMRanker": make_pipeline(words, ranker),
    }
    found = {}
    print(f"{len(texts)} texts of {len(train)} sentences, {len(test)} sentences held out\n")
    print(f"{'':22} {'seconds':>7} {'words':>6}  {'cindex':15}  ndcg@5")
    for name, pipeline in pipelines.items():
        begin = time.perf_counter()
        pipeline.fit(texts, y, qid=qid)
        seconds = time.perf_counter() - begin
        scores = pipeline.predict(test_texts)
        count = 50 if "50" in name else len(pipeline[0].vocabulary_)
        found[name] = metrics.evaluate(test_y, scores, qid=test_qid, metrics="cindex,ndcg@5")
        cells = "  ".join(f"{m.mean:.4f} ± {m.standard_error:.4f}" for m in found[name].values())
        print(f"{name:22} {seconds:7.2f} {count:6}  {cells}")

    names = pipelines["50 words, linear"][0].get_feature_names_out()
    chosen = pipelines["50 words, linear"][1]
    print("\nselected first (+ is better kept, - better left out):")
    best = zip(chosen.selected_[:15], chosen.weights_, strict=False)
    print(" ".join(f"{names[column]}{'+' if weight > 0 else '-'}" for column, weight in best))
    few, every = found["50 words, LGBMRanker"], found["all words, LGBMRanker"]
    for name in few:
        each = metrics.paired(few[name], every[name])
        print(
            f"LGBMRanker, {name}: 50 words less all words {each.difference:+.4f} "
            f"± {each.standard_error:.4f}, p {each.p:.3f}"
        )


if __name__ == "__main__":
    main()
