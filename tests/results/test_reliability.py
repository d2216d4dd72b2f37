"""Bands of a score and the area under the ROC curve, inside and outside listed groups."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

import ald
from ald.results.reliability import BANDS, Reliability
from tests.data.test_scores import scored


def halved() -> dict[str, Any]:
    return scored() | {"half": np.tile([0, 1], 1500)}


def test_areas_and_bands_by_scikit_learn() -> None:
    """Areas are scikit-learn's on the half that tested; bands hold everyone once, with plain means."""
    data = halved()
    audit = ald.audit(data, score="p", truth="y", split="half")
    (told, *_) = audit.details.reliabilities
    tests, inside = data["half"] == 1, audit.groups[0].criterion.mask(data)
    for side, area in ((inside, told.auc_inside), (~inside, told.auc_outside)):
        rows = tests & side
        assert area.value == pytest.approx(metrics.roc_auc_score(data["y"][rows], data["p"][rows]))
        low, high = area.interval
        assert low is not None
        assert high is not None
        assert low < (area.value or 0) < high
    assert 5 <= len(told.bands) <= BANDS
    for band in told.bands:
        here = tests & (data["p"] >= band.first) & (data["p"] <= band.last)
        for side, shown in ((inside, band.inside), (~inside, band.outside)):
            assert shown.people == (here & side).sum()
            assert shown.score == pytest.approx(data["p"][here & side].mean())
            assert shown.truth == pytest.approx(data["y"][here & side].mean())
    assert sum(band.inside.people for band in told.bands) == audit.groups[0].size


def test_intervals_of_areas_are_those_of_delong() -> None:
    """The variance of an area is DeLong's, by the placements of both truths (a loop over all pairs), on its logit."""
    data = halved()
    audit = ald.audit(data, score="p", truth="y", split="half")
    (told, *_) = audit.details.reliabilities
    tests, inside = data["half"] == 1, audit.groups[0].criterion.mask(data)
    for side, area in ((inside, told.auc_inside), (~inside, told.auc_outside)):
        score, truth = data["p"][tests & side], data["y"][tests & side] == 1
        wins = np.array([[(a > b) + 0.5 * (a == b) for b in score[~truth]] for a in score[truth]], float)
        value = wins.mean()
        error = np.sqrt(wins.mean(axis=1).var(ddof=1) / len(wins) + wins.mean(axis=0).var(ddof=1) / wins.shape[1])
        middle, half = np.log(value / (1 - value)), stats.norm.isf(0.025) * error / (value * (1 - value))
        expected = [1 / (1 + np.exp(-end)) for end in (middle - half, middle + half)]
        assert area.interval == pytest.approx(tuple(expected))


def test_weighted_people() -> None:
    """In surveys areas and shares are by weights, and areas have no interval."""
    data = halved() | {"w": np.tile([1.0, 2.0, 3.0], 1000)}
    audit = ald.audit(data, score="p", truth="y", split="half", weights=ald.SurveyWeights("w"))
    (told, *_) = audit.details.reliabilities
    rows = (data["half"] == 1) & audit.groups[0].criterion.mask(data)
    theirs = metrics.roc_auc_score(data["y"][rows], data["p"][rows], sample_weight=data["w"][rows])
    assert told.auc_inside.value == pytest.approx(theirs)
    assert told.auc_inside.interval == (None, None)


def test_plain_data_and_back() -> None:
    """What was told comes back from a document, and audits without a truth have none."""
    audit = ald.audit(halved(), score="p", truth="y", split="half")
    (told, *_) = audit.details.reliabilities
    assert Reliability.from_dict(told.to_dict()) == told
    assert ald.Audit.from_json(audit.to_json()).to_json() == audit.to_json()
    alone = ald.audit(halved(), score="p", exclude="y", split="half")
    assert "reliabilities" not in alone.to_dict()["details"]
