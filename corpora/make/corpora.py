"""Draws the two corpora that come with the program, and that anybody can read: `sentences` and `documents`.

python corpora/make/corpora.py    # writes corpora/sentences and corpora/documents: the same bytes each time

`lexicon.py` has the words of the sentences, and `animals.py` the facts of the documents. Both were
written for this project, and have its licence. It takes the programs `rankrls` (or RANKRLS) and `zstd`.
"""

import itertools
import math
import os
import random
import subprocess
from collections import Counter
from pathlib import Path

import animals
import lexicon

ROOT = Path(__file__).resolve().parents[2]
SENTENCES = 160
PARSES = 14  # of a sentence at most
PAGES = 10  # of a question
OUT, DRAFTS = ROOT / "corpora", ROOT / "target/corpora"
RANKRLS = os.environ.get("RANKRLS", "rankrls")


# Sentences


class Sentence:
    """Words in their order with tag, head and label, and what may be attached elsewhere."""

    def __init__(self):
        self.words, self.heads, self.open = [], [], []

    def add(self, word, tag, head=None, label="root"):
        self.words.append((word, tag))
        self.heads.append((head, label))
        return len(self.words) - 1

    def phrase(self, text, head, label):
        """A noun with what stands before it. Returns the place of the noun."""
        *before, noun = text.split()
        at = len(self.words) + len(before)
        for word in before:
            kind = "DET" if word.lower() in lexicon.ARTICLES else "ADJ"
            self.add(word, kind, at, "det" if kind == "DET" else "mod")
        kind = "PROPN" if noun[0].isupper() else "NOUN"
        return self.add(noun, kind, head, label)

    def modify(self, site, text):
        """A noun with its preposition, or a verb after `that`, at the word `site`. Returns a new site.

        The arc has the name of the preposition: `cut -with-> knife`.
        """
        first, rest = text.split(" ", 1)
        start = len(self.words)
        if first == "that":
            self.add("that", "PRON", start + 1, "subj")
            self.open.append((start, self.add(rest, "VERB", site, "that")))
            return None
        self.add(first, "ADP", start + len(text.split()) - 1, "case")
        noun = self.phrase(rest, site, first)
        self.open.append((start, noun))
        return noun

    def sites(self, head, before):
        """The words to which a phrase may be attached: those that no arc covers."""
        places = []
        at = before - 1
        while at is not None:
            if self.words[at][1] in ["VERB", "NOUN", "PROPN"]:
                places.append(at)
            at = head[at]
        return places

    def conllu(self, name, heads, score=None):
        lines = [f"# sent_id = {name}"]
        if score is None:
            lines.append("# text = " + " ".join(word for word, _ in self.words[:-1]) + ".")
        else:
            lines.append(f"# score = {score:.2f}")
        for place, ((word, tag), head) in enumerate(zip(self.words, heads)):
            at, label = 0 if head is None else head + 1, self.heads[place][1]
            lines.append(f"{place + 1}\t{word}\t_\t{tag}\t_\t_\t{at}\t{label}\t_\t_")
        return "\n".join(lines) + "\n\n"


def noun_of(text):
    return text.split()[-1]


def drawn_sentence(draw):
    """Subject, verb and object, and two or three phrases: first those of nouns, then those of the verb."""
    sentence = Sentence()
    verb, (objects, phrases) = draw.choice(list(lexicon.VERBS.items()))
    subject = draw.choice(lexicon.SUBJECTS)
    at = len(subject.split())
    sentence.phrase(subject, at, "subj")
    sentence.add(verb, "VERB")
    thing = draw.choice(objects)
    site = sentence.phrase(thing, at, "obj")
    wanted, of_nouns = draw.choice([2, 2, 3]), draw.choice([0, 1, 2, 2, 3])
    used = {noun_of(subject), noun_of(thing)}
    while len(sentence.open) < of_nouns and site is not None:
        noun = sentence.words[site][0]
        own = [text for text in lexicon.NOUNS.get(noun, []) if noun_of(text) not in used]
        if not own:
            break
        text = draw.choice(own)
        used.add(noun_of(text))
        site = sentence.modify(site, text)
    kinds = draw.sample(phrases, len(phrases))
    for kind in kinds[: wanted - len(sentence.open)]:
        own = [text for text in kind if noun_of(text) not in used]
        if own:
            text = draw.choice(own)
            used.add(noun_of(text))
            sentence.modify(at, text)
    sentence.add(".", "PUNCT", at, "punct")
    return sentence


def parses(sentence):
    """Ways to attach the phrases without crossing arcs, with costs: least for the nearest noun, then for verbs."""
    found = [([head for head, _ in sentence.heads], 0)]
    for start, place in sentence.open:
        longer = []
        for heads, costs in found:
            sites = sentence.sites(heads, start)
            if sentence.heads[place][1] == "that":
                sites = [site for site in sites if sentence.words[site][1] != "VERB"]
            for more, site in enumerate(sites):
                cost = 0.5 if sentence.words[site][1] == "VERB" else 0.3 + 0.5 * more
                longer.append(([*heads[:place], site, *heads[place + 1 :]], costs + cost))
        found = longer
    found.sort(key=lambda one: one[1])
    return found[:PARSES]


def sentences():
    """A treebank and a list of candidates, from which `rankrls build` makes the corpus."""
    draw, gold, candidates, seen = random.Random(1), "", "", set()
    while len(seen) < SENTENCES:
        sentence = drawn_sentence(draw)
        words = tuple(sentence.words)
        if len(sentence.open) < 2 or words in seen:
            continue
        seen.add(words)
        name = f"s{len(seen)}"
        gold += sentence.conllu(name, [head for head, _ in sentence.heads])
        for heads, cost in parses(sentence):
            candidates += sentence.conllu(name, heads, -cost)
    (DRAFTS / "sentences.conllu").write_text(gold)
    (DRAFTS / "nbest.conllu").write_text(candidates)
    command = (
        "build sentences.conllu --candidates nbest.conllu --templates labelled,labels,tag-arcs"
    )
    folder = OUT / "sentences"
    subprocess.run([RANKRLS, *command.split(), "-o", folder], cwd=DRAFTS, check=True)


# Documents


def words_of(text):
    """The words of a text in lower case, and those of several as one."""
    words = "".join(char if char.isalnum() else " " for char in text.lower()).split()
    return [animals.ONE_OF_MANY.get(word, word) for word in words if word not in animals.STOP]


class Bm25:
    """Scores of a field by the words that it shares with a question."""

    def __init__(self, texts, k1=1.2, b=0.75):
        self.counts = [Counter(words_of(text)) for text in texts]
        self.mean = sum(map(Counter.total, self.counts)) / len(texts)
        self.found = Counter(word for count in self.counts for word in count)
        self.k1, self.b = k1, b

    def score(self, question, page):
        count, score = self.counts[page], 0
        length = 1 - self.b + self.b * count.total() / self.mean
        for word in set(question):
            often, pages = count[word], self.found[word]
            rare = math.log(1 + (len(self.counts) - pages + 0.5) / (pages + 0.5))
            score += rare * often * (self.k1 + 1) / (often + self.k1 * length)
        return score


def pages(draw):
    """For each animal a page on each subject, and one on all in short: (animal, subject, title, body)."""
    for animal, facts in animals.FACTS.items():
        values = {"one": animal, "many": animals.MANY.get(animal, animal + "s"), **facts}
        for subject, (titles, bodies, _) in animals.SUBJECTS.items():
            title, body = (draw.choice(texts).format(**values) for texts in [titles, bodies])
            yield animal, subject, title[0].upper() + title[1:], body[0].upper() + body[1:]
        body = " ".join(text.format(**values) for text in animals.SHORT)
        yield animal, "all", animal.capitalize(), body


def rows(draw):
    """(question, page, label, columns) of the best pages for each question by BM25, best first."""
    known = list(pages(draw))
    titles, bodies = (Bm25([page[field] for page in known]) for field in [2, 3])
    visits = [round(math.exp(draw.gauss(4 + (page[1] == "all"), 1))) for page in known]
    days = [draw.randrange(3000) for _ in known]
    for animal, subject in itertools.product(animals.FACTS, animals.SUBJECTS):
        many = animals.MANY.get(animal, animal + "s")
        question = draw.choice(animals.SUBJECTS[subject][2]).format(one=animal, many=many)
        asked = words_of(question)
        score = [(titles.score(asked, at), bodies.score(asked, at)) for at in range(len(known))]
        best = sorted(range(len(known)), key=lambda at: -sum(score[at]))[:PAGES]
        for at in best:
            about, of, title, body = known[at]
            label = (2 if of == subject else of == "all") if about == animal else 0
            columns = {
                "title:bm25": round(score[at][0], 2),
                "body:bm25": round(score[at][1], 2),
                "title:words": len(title.split()),
                "body:words": len(body.split()),
                "page:visits-a-day": visits[at],
                "page:days-since-change": days[at],
            }
            named = sorted(set(words_of(title)))
            columns.update((f"title:{word}", 1) for word in named)
            pairs = itertools.product(sorted(set(asked)), named)
            columns.update((f"question~title:{word}~{other}", 1) for word, other in pairs)
            yield animal, question, int(label), columns, f"{question} | {title}. {body}"


def written(name, text):
    folder = OUT / "documents"
    folder.mkdir(exist_ok=True)
    packed = subprocess.run(["zstd", "-19", "-q", "-c"], input=text.encode(), stdout=-1, check=True)
    (folder / f"{name}.zst").write_bytes(packed.stdout)


def documents():
    """Questions on one half of the animals to train on, on the other half to test on."""
    draw = random.Random(1)
    halves = {True: [], False: []}
    own = set(draw.sample(list(animals.FACTS), len(animals.FACTS) // 2))
    for row in rows(draw):
        halves[row[0] in own].append(row)
    numbers = {}
    for *_, columns, _ in halves[True]:
        for column in columns:
            numbers.setdefault(column, len(numbers) + 1)
    for train, rows_of in halves.items():
        lines, names = [], {}
        for _, question, label, columns, _ in rows_of:
            qid = names.setdefault(question, f"q{len(names) + 1}")
            cells = sorted(
                (numbers[column], value) for column, value in columns.items() if column in numbers
            )
            cells = " ".join(f"{column}:{value}" for column, value in cells if value)
            lines.append(f"{label} qid:{qid} {cells}\n")
        written("train.svm" if train else "test.svm", "".join(lines))
        texts = "".join(row[-1] + "\n" for row in rows_of)
        written("texts.txt" if train else "test-texts.txt", texts)
    written("names.txt", "".join(f"{name}\n" for name in numbers))


if __name__ == "__main__":
    DRAFTS.mkdir(parents=True, exist_ok=True)
    sentences()
    documents()
