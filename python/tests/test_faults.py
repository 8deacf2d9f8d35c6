"""Messages of the library name the arguments of Python."""

import re

import numpy as np
import pandas as pd
import pytest

from rankrls import GreedyRankRLS, GreedyRankRLSCV, RankRLS, read


def fitted(estimator, path):
    data = read(path)
    return estimator.fit(data.X, data.y, qid=data.qid)


ROWS = "1 qid:a 1:1\n0 qid:a 2:1\n1 qid:b 1:3\n0 qid:b 2:2\n"
WEIGHTED = RankRLS(alpha=1.0, objective="global", query_weight="size")
FAULTS = [
    (
        "grade,query,a,b\n2,q,1,0.5\n1,q,2,\n0,q,3,1\n",
        lambda path: read(path, format="csv", label="grade", query="query"),
        "pass missing=0; as the mean of their query, missing='mean'",
    ),
    (ROWS, lambda path: fitted(WEIGHTED, path), "query_weight goes with objective='query'"),
    (ROWS, lambda path: read(path, max_memory=16), "(raise max_memory, or take fewer rows"),
]


@pytest.mark.parametrize(("text", "use", "told"), FAULTS)
def test_remedies_name_arguments(text, use, told, tmp_path):
    path = tmp_path / "--missing=0"
    path.write_text(text)
    with pytest.raises((ValueError, MemoryError), match=re.escape(told)):
        use(path)


INCLUDED = [
    ({"include": "lenght"}, "include: no column is called 'lenght'; is it 'length'?"),
    ({"include": ["x"]}, "include: no column is called 'x' among the 4 that have names"),
    ({"include": ["length", 0]}, "include: column 0 ('length') is there twice"),
    ({"include": 4}, "include: there is no column 4: expected numbers from 0 to 3"),
    ({"include": [True]}, "expected names of columns, or numbers from 0 on, found True"),
    ({"include": [-1]}, "expected names of columns, or numbers from 0 on, found -1"),
    ({"include": [1.0]}, "expected names of columns, or numbers from 0 on, found 1.0"),
    ({"include": ["year"]}, "include: column 2 ('year') is constant within every query"),
    ({"include": [0, 1]}, "include: column 1 ('minus') equals column 0 ('length') but for a"),
    ({"include": [0, 1, 3]}, "include: expected at most k columns, as they count among"),
]


@pytest.mark.parametrize(("parameters", "told"), INCLUDED)
@pytest.mark.parametrize("selector", [GreedyRankRLS, GreedyRankRLSCV])
def test_columns_that_cannot_be_included_are_refused(selector, parameters, told):
    length = [1.0, 0.0, 2.0, 0.0, 1.0, 5.0, 1.0, 3.0]
    columns = {"length": length, "minus": [3 - each for each in length]}
    frame = pd.DataFrame({**columns, "year": [1, 1, 2, 2, 3, 3, 4, 4], "clicks": range(8)})
    qid = [0, 0, 1, 1, 2, 2, 3, 3]
    options = {"cv": 2} if selector is GreedyRankRLSCV else {}
    with pytest.raises(ValueError, match=re.escape(told.replace("'", '"'))):
        selector(2, **options, **parameters).fit(frame, range(8), qid=qid)


def test_names_to_include_need_names():
    data = np.random.default_rng(0).random((8, 3))
    told = "as the columns have no names: give their numbers, from 0 to 2"
    with pytest.raises(ValueError, match=told):
        GreedyRankRLS(2, include="length").fit(data, range(8), qid=[0, 0, 1, 1, 2, 2, 3, 3])
