"""Python tells of faults as the command and the library do."""

import json
import pathlib

import pytest

from rankrls import GreedyRankRLS, RankRLS, read

TABLE = pathlib.Path(__file__).parents[2] / "tests" / "support" / "faults.json"
FAULTS = json.loads(TABLE.read_text())


def fitted(estimator, path):
    data = read(path)
    return estimator.fit(data.X, data.y, qid=data.qid)


def left_out(X, y):
    return RankRLS(alpha=1.0, holdout="lqo").fit(X, y, qid=[0] * len(y))


MADE = {
    "a missing value": lambda path: read(path, label="grade", query="query"),
    "a share of labels without a teacher": lambda path: fitted(
        GreedyRankRLS(1, alpha=1.0, blend=0.5), path
    ),
    "weights of queries where none are compared": lambda path: fitted(
        RankRLS(alpha=1.0, objective="global", query_weight="size"), path
    ),
    "little memory": lambda path: read(path, max_memory=16),
    "a query left out of one": lambda path: left_out(*read(path)[:2]),
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault["fault"])
def test_faults_are_told_as_elsewhere(fault, tmp_path):
    path = tmp_path / fault["file"]
    path.write_text(fault["text"])
    with pytest.raises((ValueError, MemoryError)) as raised:
        MADE[fault["fault"]](path)
    for part in [*fault["said"], fault["python"]]:
        assert part in str(raised.value)
