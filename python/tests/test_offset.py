"""Fitting what another model leaves of the labels."""

from __future__ import annotations

import numpy as np
import pytest

from rankrls import GreedyRankRLS, RankRLS


def drawn():
    generator = np.random.default_rng(1)
    X = generator.integers(0, 3, (60, 8)).astype(float)
    y = X[:, 0] + generator.normal(size=60)
    return X, y, np.repeat(np.arange(12), 5), generator.normal(size=60)


@pytest.mark.parametrize("estimator", [RankRLS(), GreedyRankRLS(3, alpha=1.0)])
def test_an_offset_is_taken_off_the_labels_and_added_again(estimator):
    X, y, qid, offset = drawn()
    plain = estimator.fit(X, y - offset, qid=qid).predict(X)
    fitted = estimator.fit(X, y, qid=qid, offset=offset)
    np.testing.assert_array_equal(fitted.predict(X, offset=offset), plain + offset)
    with pytest.raises(ValueError, match="needs the scores"):
        fitted.predict(X)
    again = type(estimator).from_json(fitted.to_json())
    np.testing.assert_array_equal(again.predict(X, offset=offset), plain + offset)
    without = estimator.fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="without an offset"):
        without.predict(X, offset=offset)


def test_hold_out_predictions_have_the_offset():
    X, y, qid, offset = drawn()
    fitted = RankRLS().fit(X, y, qid=qid, offset=offset)
    left = RankRLS().fit(X, y - offset, qid=qid)
    means = np.array([offset[qid == query].mean() for query in qid])
    expected = left.holdout_predictions_ + offset - means
    np.testing.assert_allclose(fitted.holdout_predictions_, expected, atol=1e-12)
    assert fitted.holdout_error_ == pytest.approx(left.holdout_error_)


def test_offsets_that_do_not_fit_are_refused():
    X, y, qid, offset = drawn()
    for wrong in [offset[1:], np.full(60, np.nan)]:
        with pytest.raises(ValueError, match="offset: "):
            RankRLS().fit(X, y, qid=qid, offset=wrong)
    with pytest.raises(ValueError, match="objective query alone"):
        RankRLS(objective="global").fit(X, y, group=[60], offset=offset)
