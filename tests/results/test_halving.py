"""One halving's answers, ranked together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from ald.assess.together import Combination
from ald.options import AuditConfig
from ald.results.halving import overlaps, rank_answers
from tests.coded import coded
from tests.halvings import one_halving
from tests.tables import people


def test_answers_are_ranked_with_one_correction() -> None:
    """Two questions are corrected and ordered as one list, of which at most `groups` are listed."""
    config = AuditConfig(notion="statistical parity", outcome="y", trees=3, search="leaves", groups=2)  # type: ignore[arg-type]
    split = one_halving(coded(people(2000)), config)
    (answer,) = split.answers
    both = rank_answers(split.d1, split.d2, [answer, answer], config)
    p = np.exp(np.tile(answer.assessment.log_p, 2))
    assert np.exp(both.scores.log_p_adjusted) == pytest.approx(stats.false_discovery_control(p))
    assert both.scores.log_p[both.order].tolist() == sorted(both.scores.log_p.tolist())
    assert both.chosen.tolist() == both.significant[:2].tolist()
    n = len(answer.proposed)
    assert len(both.criteria) == 2 * n
    assert [both.place(i) for i in (0, n - 1, n, 2 * n - 1)] == [(0, 0), (0, n - 1), (1, 0), (1, n - 1)]


def test_both_claims_are_corrected_together() -> None:
    """A combination is one more test of the family; one that is significant alone is what a group is listed for."""
    config = AuditConfig(notion="statistical parity", outcome="y", trees=3, search="leaves")  # type: ignore[arg-type]
    split = one_halving(coded(people(2000)), config)
    (answer,) = split.answers
    weak = int(np.nanargmax(answer.assessment.log_p))
    told = Combination(statistic=60.0, df=1, log_p=-30.0, as_strong=None, drawn=None)
    tests = tuple(told if i == weak else None for i in range(len(answer.proposed)))
    both = rank_answers(split.d1, split.d2, [replace(answer, together=tests)], config)
    p = np.exp(np.append(answer.assessment.log_p, -30.0))
    corrected = stats.false_discovery_control(p)
    assert np.exp(both.groups.log_p_adjusted) == pytest.approx(corrected[:-1])
    assert np.exp(both.together.log_p_adjusted[weak]) == pytest.approx(corrected[-1])
    assert both.n_tests == both.tested + 1
    assert both.alone.tolist() == [i == weak for i in range(len(p) - 1)]
    assert weak in both.significant
    assert both.rejected(0.05) == int((corrected <= 0.05).sum())
    assert np.isfinite(both.log_p).sum() == both.n_tests


def test_overlaps_are_counted_on_d2() -> None:
    """Other descriptions of a group have their size on D2 and the share of the group that they hold."""
    config = AuditConfig(notion="statistical parity", outcome="y", trees=3)  # type: ignore[arg-type]
    split = one_halving(coded(people(2000)), config)
    (answer,) = split.answers
    found = overlaps(answer.proposed, answer.d2)
    assert set(found) == set(range(len(answer.proposed.also)))
    assert all(0 < share <= 1 and size > 0 for others in found.values() for _, size, share in others)
