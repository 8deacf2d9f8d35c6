"""Draws `corpora/logs`: what the search of a shop logs of a query and a product, in units of their own.

python corpora/make/logs.py    # the same bytes each time; takes the program zstd

A product has a quality, and matches a query by its title, text and brand. People see the upper products more
often. A judge gave the grades 0 to 4 by match and quality, with some errors. Nobody's data are in it.
"""

import math
import random
import subprocess
from pathlib import Path

OUT = Path(__file__).resolve().parents[1] / "logs"
PARTS = {"train": 40, "test": 40}  # queries
TODAY = 20_800  # days since 1970
LIMITS = [0.6, 1.5, 2.4, 3.2]  # of the grades 1 to 4


def short(value):
    """A count as it is, and three digits of what was measured."""
    return str(value) if isinstance(value, int) else f"{value:.3g}"


def heavy(draw, mean, spread):
    """A draw of many small and a few very large values, whose median is `mean`."""
    return mean * math.exp(draw.gauss(0, spread))


def count(draw, mean):
    """A whole number about so large."""
    return max(0, round(draw.gauss(mean, math.sqrt(mean))))


def text_columns(draw, words, rare, match):
    """Scores of a query and the texts of a product: sums over the words that they share."""
    fields = {
        "title": (match[0], 8, 0.9),
        "body": (match[1], 180, 0.6),
        "brand": (match[2], 1, 1.2),
    }
    for name, (fit, length, weight) in fields.items():
        share = round(words / (1 + math.exp(-1.7 * fit))) / words
        size = max(1, round(heavy(draw, length, 0.4)))
        bm25 = share * rare * words * weight * heavy(draw, 1, 0.15)
        yield f"{name}_bm25", bm25
        yield f"{name}_cover", share
        yield f"{name}_exact", int(share == 1 and draw.random() < 0.7)
        if name == "brand":
            return
        yield f"{name}_tfidf", bm25 * heavy(draw, 9, 0.25)
        yield f"{name}_lm", -words * (12 - 7 * share) * heavy(draw, 1, 0.06)
        yield f"{name}_cosine", share / math.sqrt(size) * heavy(draw, 0.3, 0.2)
        yield f"{name}_words", size
        yield f"{name}_chars", count(draw, 6 * size)
        yield f"{name}_first_match", 0 if share == 0 else round(heavy(draw, size / 3, 0.7)) + 1


def click_columns(draw, volume, place, quality, relevant):
    """What people did: seen by place, clicked by title and relevance, bought by quality."""
    seen = round(volume / (1 + 0.35 * place) * heavy(draw, 1, 0.3))
    rate = 0.2 / (1 + math.exp(3 - 0.7 * relevant + draw.gauss(0, 1)))
    clicks = count(draw, seen * rate)
    carts = count(draw, clicks * 0.1 / (1 + math.exp(-quality)))
    yield "query_seen_30d", seen
    yield "query_clicks_30d", clicks
    yield "query_ctr_30d", clicks / max(1, seen)
    yield "query_carts_30d", carts
    yield "query_orders_30d", count(draw, carts * 0.4)
    yield "query_clicks_7d", count(draw, clicks / 4)
    yield "query_dwell_seconds", heavy(draw, 18 * math.exp(0.2 * relevant), 0.8) if clicks else 0
    yield (
        "query_bounce_rate",
        1 / (1 + math.exp(0.5 * relevant + draw.gauss(0, 1))) if clicks else 0,
    )


def product_columns(draw, quality, age):
    """What is known of a product, whoever asks."""
    popular = heavy(draw, math.exp(0.6 * quality), 1.1)
    price = round(heavy(draw, 30, 1.2), 2)
    reviews = count(draw, 12 * popular)
    yield "views_30d", round(9000 * popular * heavy(draw, 1, 0.3))
    yield "clicks_30d", count(draw, 700 * popular)
    yield "orders_30d", count(draw, 25 * popular)
    yield "orders_total", count(draw, 25 * popular * age / 30)
    yield "returns_30d", count(draw, 2 * popular * math.exp(-0.4 * quality))
    yield "wishlists", count(draw, 60 * popular)
    yield "reviews", reviews
    rating = min(5, max(1, 3.9 + 0.45 * quality + draw.gauss(0, 0.25)))
    yield "rating", round(rating, 1) if reviews else 0
    yield "price", price
    yield "price_cents", round(100 * price)
    yield "discount", draw.choice([0, 0, 0, 0.05, 0.1, 0.2, 0.3])
    yield "margin", round(0.25 + draw.gauss(0, 0.08), 3)
    yield "shipping_cost", draw.choice([0, 0, 2.9, 4.9, 9.9])
    yield "shipping_days", draw.choice([1, 1, 2, 2, 3, 5, 10])
    yield "stock", round(heavy(draw, 60, 1.5))
    yield "weight_grams", round(heavy(draw, 800, 1.4))
    yield "images", 1 + count(draw, 3 + max(0, quality))
    yield "seller_orders", round(heavy(draw, 20_000, 2))
    yield "seller_rating", round(min(5, 4.3 + 0.15 * quality + draw.gauss(0, 0.2)), 2)
    yield "seller_age_days", round(heavy(draw, 900, 0.8))
    yield "age_days", age
    yield "listed_day", TODAY - age
    yield "changed_days", round(age * draw.random())
    yield "category_depth", draw.choice([2, 3, 3, 4, 5])
    yield "category_products", round(heavy(draw, 3000, 1.3))
    yield "link_rank", heavy(draw, 0.002, 0.8)
    yield "links", count(draw, 5 * popular)
    yield "spam_score", round(1 / (1 + math.exp(2 + quality + draw.gauss(0, 1))), 3)


def query_columns(words, volume, rare):
    """What is the same for all products of a query: no ranker can use it alone."""
    yield "asked_words", words
    yield "asked_30d", volume
    yield "asked_idf", rare


def query(draw):
    """Rows of a query in the order of the shop's old ranking: (grade, columns)."""
    words, rare = draw.choice([1, 2, 2, 3, 3, 4]), 2 + 4 * draw.random()
    volume = round(heavy(draw, 300, 1.2))
    found = []
    for _ in range(draw.choice([8, 9, 10, 10, 11, 12])):
        match = [draw.gauss(0, 1) for _ in range(3)]
        quality, age = draw.gauss(0, 1), 1 + round(heavy(draw, 300, 1))
        relevant = 0.8 + match[0] + 0.5 * match[1] + 0.3 * match[2] + 0.5 * quality
        old = match[0] + match[1] + 0.2 * quality + draw.gauss(0, 1.2)
        found.append((old, match, quality, age, relevant))
    found.sort(key=lambda product: -product[0])
    for place, (_, match, quality, age, relevant) in enumerate(found):
        grade = sum(relevant + draw.gauss(0, 0.6) > limit for limit in LIMITS)
        yield (
            grade,
            [
                *text_columns(draw, words, rare, match),
                *click_columns(draw, volume, place, quality, relevant),
                *product_columns(draw, quality, age),
                *query_columns(words, volume, rare),
            ],
        )


def written(name, text):
    packed = subprocess.run(["zstd", "-19", "-q", "-c"], input=text.encode(), stdout=-1, check=True)
    (OUT / f"{name}.zst").write_bytes(packed.stdout)


def main():
    OUT.mkdir(exist_ok=True)
    draw = random.Random(1)
    for part, queries in PARTS.items():
        lines = []
        for number in range(queries):
            for grade, columns in query(draw):
                names = [name for name, _ in columns]
                cells = ((place, short(value)) for place, (_, value) in enumerate(columns, 1))
                cells = " ".join(f"{place}:{value}" for place, value in cells if float(value))
                lines.append(f"{grade} qid:{part}{number + 1} {cells}\n")
        written(f"{part}.svm", "".join(lines))
    written("names.txt", "".join(f"{name}\n" for name in names))


if __name__ == "__main__":
    main()
