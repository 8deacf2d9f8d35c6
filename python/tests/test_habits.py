"""Slightly unusual arguments and requests of users."""

import datetime
import enum
import json
import pickle
import subprocess
import sys
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import polars
import pytest
import scipy.sparse as sp

from rankrls import GreedyRankRLS, GreedyRankRLSCV, RankRLS, metrics, read, write


@dataclass(frozen=True)
class Query:
    """An id whose text does not identify it."""

    value: int = field(repr=False)


class Text(str):
    """Text that differs in more than its letters."""

    def __new__(cls, value):
        self = super().__new__(cls, "q")
        self.value = value
        return self

    def __eq__(self, other):
        return isinstance(other, Text) and self.value == other.value

    def __hash__(self):
        return hash(self.value)

    def __deepcopy__(self, memo):
        return Text(self.value)


Colour = enum.Enum("Colour", {f"c{place}": place for place in range(15)})
Colour.__str__ = Colour.__repr__ = lambda self: "a colour"


@pytest.mark.parametrize("form", [Query, Text, Colour, lambda place: (place, Query(place))])
def test_ids_of_one_text_are_as_many_queries(form, small):
    X, y, qid = small
    ids = [form(place) for place in qid.tolist()]
    for make in (lambda: GreedyRankRLS(3, alpha=1.0), lambda: RankRLS(1.0)):
        found, expected = make().fit(X, y, qid=ids), make().fit(X, y, qid=qid)
        assert found.coef_.tolist() == expected.coef_.tolist()
        one, other = found.explain(X, query=form(7), qid=ids), found.explain(X, query=7, qid=qid)
        assert one.rows.tolist() == other.rows.tolist()
        assert one.scores.tolist() == other.scores.tolist()
    measured = metrics.evaluate(y, y[::-1], qid=ids, metrics="cindex")["cindex"]
    assert len(measured.per_query) == 15
    held_out = [RankRLS(1.0).fit(X, y, qid=qid, holdout=folds) for folds in (ids, qid)]
    assert held_out[0].holdout_error_ == held_out[1].holdout_error_


@pytest.mark.parametrize("kind", [pd.DataFrame, polars.DataFrame])
def test_a_frame_with_the_name_of_a_feature_twice_is_refused(kind, small):
    X, y, qid = small
    names = [f"c{column}" for column in range(30)]
    model = GreedyRankRLS(3, alpha=1.0).fit(pd.DataFrame(X.toarray(), columns=names), y, qid=qid)
    own = [names[column] for column in model.selected_]
    frame = kind(X.toarray()[:, model.selected_], **schema(kind, own))
    assert np.allclose(
        model.predict(frame), model.predict(pd.DataFrame(X.toarray(), columns=names))
    )
    # A model of the command knows only the names of its features.
    document = json.loads(model.to_json())
    del document["column_names"]
    alone = GreedyRankRLS.from_json(json.dumps(document))
    assert np.allclose(alone.predict(frame), model.predict(frame))
    if kind is pd.DataFrame:
        twice = pd.concat([frame, frame[own[:1]]], axis=1)
        # By scikit-learn from 1.7 on.
        with pytest.raises(ValueError, match=f"'{own[0]}' (2 times|is not known: X has)"):
            alone.predict(twice)
        with pytest.raises(ValueError, match=f"feature|'{own[0]}'"):
            model.predict(twice)


def schema(kind, names):
    return {"columns": names} if kind is pd.DataFrame else {"schema": names}


def test_a_callback_that_ends_all_before_there_is_a_model_is_told(small):
    X, y, qid = small
    model, calls = GreedyRankRLSCV(3, alpha=[1, 4], cv=3), []
    with pytest.raises(RuntimeError, match="callback: it ended all selections before"):
        model.fit(X, y, qid=qid, callback=lambda step: calls.append(step) or True)
    assert len(model.partial_) == max([0, *(step.number for step in calls if step.fold is None)])
    assert not hasattr(model, "cv_results_")


def test_an_explanation_takes_a_column_of_labels(small):
    X, y, qid = small
    model = GreedyRankRLS(3, alpha=1.0).fit(X, y, qid=qid)
    with pytest.warns(UserWarning, match="column"):
        found = model.explain(X, y[:, None], query=3, qid=qid)
    assert str(found) == str(model.explain(X, y, query=3, qid=qid))


@pytest.mark.parametrize("unit", ["D", "s", "us", "ns"])
@pytest.mark.parametrize("kind", ["M", "m"])
def test_times_are_found_by_equality(kind, unit, small):
    X, y, qid = small
    times = qid.astype(f"{kind}8[D]").astype(f"{kind}8[{unit}]")
    model = GreedyRankRLS(3, alpha=1.0).fit(X, y, qid=times)
    expected = model.explain(X, query=7, qid=qid).rows.tolist()
    day = datetime.date(1970, 1, 8) if kind == "M" else datetime.timedelta(days=7)
    given = pd.Timestamp(1970, 1, 8) if kind == "M" else pd.Timedelta(days=7)
    for query in (times[7 * 6], times[7 * 6].astype(f"{kind}8[ms]"), day, given):
        forms = [times, pd.Series(times), list(times)]
        for ids in forms if query is times[7 * 6] else forms[:2]:
            assert model.explain(X, query=query, qid=ids).rows.tolist() == expected
    with pytest.raises(ValueError, match="query: none of the 15"):
        model.explain(X, query=times[0] + np.timedelta64(400, "D"), qid=times)


class Arrow:
    """A table of neither pandas nor polars."""

    column_names = ("a", "b")
    columns = ()

    def to_pandas(self):
        raise AssertionError


class ArrowText:
    """An array of text that NumPy must copy."""

    def __init__(self, values):
        self.values = values

    def to_numpy(self):
        raise ValueError("Needed to copy 1 chunks with 0 nulls, but zero_copy_only was True")

    def to_pylist(self):
        return self.values


def test_tables_of_arrow_are_refused_and_ids_taken(small, tmp_path):
    X, y, qid = small
    model = GreedyRankRLS(3, alpha=1.0).fit(X, y, qid=ArrowText([f"q{each}" for each in qid]))
    assert model.coef_.tolist() == GreedyRankRLS(3, alpha=1.0).fit(X, y, qid=qid).coef_.tolist()
    for use in (
        lambda: GreedyRankRLS().fit(Arrow(), y, qid=qid),
        lambda: RankRLS().fit(Arrow(), y, qid=qid),
        lambda: model.predict(Arrow()),
        lambda: model.transform(Arrow()),
        lambda: write(tmp_path / "data.svm", Arrow(), y),
    ):
        with pytest.raises(ValueError, match=r"X: expected .*Arrow: pass X.to_pandas\(\)"):
            use()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            {"y": pd.Series([1.0, pd.NA, *range(88)], dtype=object)},
            "y: expected numbers, row 1 is missing",
        ),
        (
            {"y": np.array([1, 2, 10**400, *range(87)], dtype=object)},
            "y: expected numbers, row 2 is",
        ),
        (
            {"qid": pd.Series(["a", pd.NA, *("b" * 88)], dtype=object)},
            "qid: expected an id .* at 1",
        ),
        (
            {"qid": pd.Series(["a", pd.NA, *("b" * 88)], dtype="string")},
            "qid: expected an id .* at 1",
        ),
        ({"qid": [6] * 15}, r"found 15. pass qid=.*np.repeat\(range"),
        ({"qid": dict.fromkeys(range(90), 1)}, "qid: expected one id .*, found a dict"),
        ({"qid": set(range(90))}, "qid: expected one id .*, found a set"),
    ],
)
def test_what_is_no_label_and_no_id_is_told_with_its_row(data, message, small):
    X, y, qid = small
    with pytest.raises(ValueError, match=message):
        GreedyRankRLS(2, alpha=1.0).fit(X, **{"y": y, "qid": qid, **data})


def test_a_whole_number_past_all_floats_names_its_argument(small):
    X, y, qid = small
    X = X.toarray().astype(object)
    X[4, 2] = 10**400
    with pytest.raises(ValueError, match="X: expected numbers: int too large"):
        GreedyRankRLS(2, alpha=1.0).fit(X, y, qid=qid)


def test_names_of_a_model_are_compared_with_those_that_are_given(small):
    X, y, qid = small
    names = [f"c{column}" for column in range(30)]
    X = X.copy()
    X.feature_names = np.array(names, dtype=object)
    model = GreedyRankRLS(3, alpha=1.0).fit(X, y, qid=qid)
    expected = [names[column] for column in sorted(model.selected_)]
    assert model.get_feature_names_out().tolist() == expected
    assert model.get_feature_names_out(names).tolist() == expected
    with pytest.raises(ValueError, match="input_features is not equal to feature_names_in_"):
        model.get_feature_names_out(names[::-1])
    alone = GreedyRankRLS.from_json(model.to_json())
    with pytest.raises(ValueError, match="input_features: column .* is 'c.*' in the model, found"):
        alone.get_feature_names_out(names[::-1])


@pytest.mark.parametrize("value", [1e300, -1e305, 3.4028234663852886e38, 9.96921e36, 1e200])
def test_values_that_are_read_as_missing_are_not_written(value, small, tmp_path):
    X, y, qid = small
    X = X.toarray()
    X[7, 2] = value
    with pytest.raises(ValueError, match="feature 3 of row 7 is .*expected other values"):
        write(tmp_path / "data.svm", X, y, qid=qid)
    assert not list(tmp_path.iterdir())
    X[7, 2] = 9e36
    write(tmp_path / "data.svm", X, y, qid=qid)
    assert read(tmp_path / "data.svm").X[7, 2] == 9e36


@pytest.mark.parametrize("name", ["o.csv", "o.TSV", "o.csv.gz", "o.tsv.zst"])
def test_svmlight_is_not_written_under_the_name_of_a_table(name, small, tmp_path):
    X, y, qid = small
    with pytest.raises(ValueError, match="path: .* ends as a table does"):
        write(tmp_path / name, X, y, qid=qid)
    assert not list(tmp_path.iterdir())


def test_each_measure_of_a_search_has_ranks(small):
    X, y, qid = small
    model = GreedyRankRLSCV(3, alpha=[1, 4], cv=3, metrics=["cindex"]).fit(X, y, qid=qid)
    found = model.cv_results_
    for name in ["cindex", "score"]:
        values = found[f"mean_test_{name}"]
        assert values[np.argmin(found[f"rank_test_{name}"])] == max(values)
    assert model.best_score_ == max(found["mean_test_score"]) < 0


def test_a_matrix_that_says_falsely_that_it_is_canonical_is_what_its_parts_mean(small):
    X, y, qid = small
    coo = X.tocoo()
    twice = sp.coo_array(
        (np.tile(coo.data / 2, 2), (np.tile(coo.row, 2), np.tile(coo.col, 2))), shape=X.shape
    )
    for form in ("csr", "csc"):
        parts = getattr(sp, f"{form}_array")(X.shape)
        outer, inner = (twice.row, twice.col) if form == "csr" else (twice.col, twice.row)
        order = np.argsort(outer, kind="stable")
        parts.data, parts.indices = twice.data[order], inner[order]
        count = X.shape[form == "csc"] + 1
        parts.indptr = np.searchsorted(outer[order], np.arange(count)).astype(np.int32)
        parts.has_canonical_format = True
        found = GreedyRankRLS(3, alpha=1.0).fit(parts, y, qid=qid)
        assert found.to_json() == GreedyRankRLS(3, alpha=1.0).fit(X, y, qid=qid).to_json()


@pytest.mark.parametrize(
    ("source", "kind"),
    [("", ValueError), (" ", ValueError), ("[]", ValueError), (b"{}", TypeError), (3, TypeError)],
)
def test_what_is_no_model_is_refused(source, kind):
    with pytest.raises(kind, match=r"model\.json|source"):
        GreedyRankRLS.from_json(source)


@pytest.mark.parametrize("name", ["n_features_to_select", "alpha", "random_state"])
def test_truth_is_no_number(name, small):
    X, y, qid = small
    with pytest.raises(ValueError, match=f"{name}: expected a number or a name, found True"):
        GreedyRankRLS(**{name: True}).fit(X, y, qid=qid)
    RankRLS(1.0, keep_pairs=True, holdout="lpo", objective="global").fit(X, y)


def test_models_are_pickled(small):
    X, y, qid = small
    model = GreedyRankRLS(3, alpha=1.0).fit(X, y, qid=qid)
    assert pickle.loads(pickle.dumps(model)).predict(X).tolist() == model.predict(X).tolist()


AT_WORK = """
import threading, time
import numpy as np
from rankrls import GreedyRankRLS
rng = np.random.default_rng(1)
X, y, qid = rng.normal(size=(300, 200)), rng.normal(size=300), np.arange(300) // 6
steps = []
def call(step):
    steps.append(step)
    for _ in range(20000):
        pass
def work():
    while True:
        GreedyRankRLS(190, alpha=1.0).fit(X, y, qid=qid, callback=call)
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
while len(steps) < 50:
    time.sleep(0.01)
print("done", flush=True)
"""


def test_python_ends_quietly_while_daemon_threads_are_at_work():
    done = subprocess.run(
        [sys.executable, "-c", AT_WORK], capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
