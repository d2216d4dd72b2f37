"""Details for reports: counted on D2, and true to the data."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import ald
from ald import Audit, Criterion
from ald.assess.assessment import Terms, assess
from ald.data.coded import AuditData
from ald.groups.tree import CodedCondition, CodedCriterion
from ald.notions import NOTIONS, Notion
from ald.results.details import BINS, LEVELS, Details, PeopleInMemory, Subject, details
from tests.coded import coded
from tests.tables import decisions, intersection, people

PARITY = NOTIONS["statistical parity"]


def level_of(data: AuditData, attribute: int, level: str) -> CodedCondition:
    return CodedCondition(attribute, 0, 0, (data.attributes[attribute].levels.index(level),))


def details_of(criterion: CodedCriterion, notion: Notion, data: AuditData) -> Details:
    return details([Subject(criterion=criterion, notion=notion, outcome=None, people=PeopleInMemory(data))], Terms())


def test_dropped_conditions_are_groups_of_their_own() -> None:
    """A group without a condition has the numbers that the assessment gives the group without it."""
    data = coded({"sex": people()["sex"], "age": people()["age"], "y": people()["y"]})
    names = [attribute.name for attribute in data.attributes]
    age, sex = names.index("age"), names.index("sex")
    criterion = tuple(sorted([CodedCondition(age, 20, 50), level_of(data, sex, "F")]))
    found = details_of(criterion, PARITY, data)
    assert [entry.attribute for entry in found.dropped[0]] == ["age", "sex"]
    for entry, kept in zip(found.dropped[0], (sex, age), strict=True):
        alone = tuple(condition for condition in criterion if condition.attribute == kept)
        expected = assess([alone], data, PARITY)
        assert entry.size == expected.size[0]
        assert entry.psi == pytest.approx(float(expected.psi[0]))
        intervals = expected.intervals(0.05)
        assert entry.interval == pytest.approx((float(intervals.low[0]), float(intervals.high[0])))
        assert entry.rates_inside["selection"] == pytest.approx(float(expected.rate_in[0, 0]))


def test_curves_count_everyone_once() -> None:
    """The bins of a curve hold everyone of D2 exactly once, and `within` those who satisfy the other conditions."""
    audit = ald.audit(people(3000), outcome="y", search=ald.Search(trees=5))
    assert any(len(finding.criterion) > 1 for finding in audit.groups) or audit.groups
    for curve in audit.details.curves:
        assert sum(sum(bin_.counts) for bin_ in curve.bins) == audit.data_summary.rows_assess
    for entries in audit.details.dropped:
        for entry in entries:
            assert sum(map(sum, entry.within)) == entry.size


def test_every_used_attribute_has_a_curve() -> None:
    """There is a curve for each attribute of a listed group, and for no other."""
    audit = ald.audit(people(3000), outcome="y", search=ald.Search(trees=5))
    used = {condition.attribute for finding in audit.groups for condition in finding.criterion}
    assert {curve.attribute for curve in audit.details.curves} == used


def test_bins_of_numbers() -> None:
    """Many values fall into at most 24 bins of about equal size, whose ends are values of the data."""
    values = np.random.default_rng(0).normal(size=4000)
    data = coded({"x": values.tolist(), "y": [0, 1] * 2000})
    (curve,) = details_of((CodedCondition(0, 5, 900),), PARITY, data).curves
    assert len(curve.bins) == BINS
    sizes = [sum(bin_.counts) for bin_ in curve.bins]
    assert max(sizes) - min(sizes) <= 2
    ends = [(bin_.first, bin_.last) for bin_ in curve.bins]
    assert all(first in values and last in values for first, last in ends)
    assert ends == sorted(ends)
    frame = pd.DataFrame({"x": values, "y": [0, 1] * 2000})
    for bin_ in curve.bins:
        inside = frame[(frame.x >= bin_.first) & (frame.x <= bin_.last)]
        assert list(bin_.counts) == [int((inside.y == 0).sum()), int((inside.y == 1).sum())]


def test_few_values_have_bins_of_their_own() -> None:
    """Up to 24 values stand by themselves; missing ones come last."""
    columns = {"x": [1.0, 2.0, 2.0, None, 5.0] * 40, "y": [0, 1] * 100}
    (curve,) = details_of((CodedCondition(0, 1, 2),), PARITY, coded(columns)).curves
    assert [(bin_.first, bin_.last, bin_.levels) for bin_ in curve.bins] == [
        (1.0, 1.0, ()), (2.0, 2.0, ()), (5.0, 5.0, ()), (None, None, (None,))
    ]  # fmt: skip
    assert [sum(bin_.counts) for bin_ in curve.bins] == [40, 80, 40, 40]


def test_levels_as_they_are() -> None:
    """Levels have a bin each, in their order; "missing" is a level like any other."""
    columns = {"x": ["b", "a", None, "a"] * 50, "y": [0, 1] * 100}
    data = coded(columns)
    (curve,) = details_of((level_of(data, 0, "a"),), PARITY, data).curves
    assert [bin_.levels for bin_ in curve.bins] == [("a",), ("b",), (None,)]
    assert [sum(bin_.counts) for bin_ in curve.bins] == [100, 50, 50]


def test_many_levels() -> None:
    """Of many unordered levels the 30 largest stand by themselves, and the others share a bin without names."""
    words = [f"w{i:03}" for i in range(60) for _ in range(i + 1)]
    data = coded({"x": words, "y": [i % 2 for i in range(len(words))]})
    (curve,) = details_of((level_of(data, 0, "w001"),), PARITY, data).curves
    assert len(curve.bins) == LEVELS + 1
    assert [bin_.levels for bin_ in curve.bins[:-1]] == [(f"w{i:03}",) for i in range(30, 60)]
    assert (curve.bins[-1].levels, curve.bins[-1].n_levels) == ((), 30)
    assert sum(sum(bin_.counts) for bin_ in curve.bins) == len(words)


def test_ordered_levels_join_into_runs() -> None:
    """Many ordered levels are joined into runs, named by their first and last level."""
    order = [f"l{i:03}" for i in range(60)]
    y = [int((i % 60 > 40) != (i % 7 == 0)) for i in range(1200)]
    audit = ald.audit(
        ald.source({"x": order * 20, "y": y}, kinds={"x": order}), outcome="y", search=ald.Search(trees=3)
    )
    (curve,) = audit.details.curves
    assert len(curve.bins) <= BINS
    assert any(len(bin_.levels) == 2 for bin_ in curve.bins)
    assert sum(bin_.n_levels for bin_ in curve.bins) == 60


def test_a_condition_alone_is_not_dropped() -> None:
    """Without its only condition a group is everyone: there is nothing to say."""
    data = coded({"x": ["a", "b"] * 50, "y": [0, 1] * 50})
    assert details_of((level_of(data, 0, "a"),), PARITY, data).dropped == ((),)


def test_nothing_listed_nothing_counted() -> None:
    """An audit without groups has no details."""
    audit = ald.audit({"x": ["a", "b"] * 100, "y": [0, 0, 1, 1] * 50}, outcome="y", search=ald.Search(trees=2))
    assert audit.groups == ()
    assert audit.details == Details()


@pytest.mark.parametrize("notion", ["equalized odds", "accuracy"])
def test_documents_keep_details(notion: str) -> None:
    """Details that are read back are those that were written."""
    audit = ald.audit(decisions(3000), prediction="predicted", truth="true", notion=notion, search=ald.Search(trees=5))
    assert Audit.from_json(audit.to_json()).details == audit.details
    assert audit.details.curves


def test_a_damaged_document() -> None:
    """Details that do not fit the groups are an error."""
    document = json.loads(ald.audit(people(), outcome="y", search=ald.Search(trees=3)).to_json())
    for damage in (
        lambda d: d["details"]["dropped"].pop(),
        lambda d: d["details"]["curves"].clear(),
        lambda d: d["details"]["curves"][0]["bins"][0]["counts"].append(1),
    ):
        broken = json.loads(json.dumps(document))
        damage(broken)
        with pytest.raises(ald.InputError, match="its `details` do not fit"):
            Audit.from_json(json.dumps(broken))


def test_undefined_stays_undefined() -> None:
    """Where no one of the group without a condition counts for the rate, psi is undefined and says why."""
    columns = {"x": ["a", "b"] * 100, "z": ["u"] * 100 + ["v"] * 100}
    columns["truth"] = [int(x == "a" or i % 4 == 1) for i, x in enumerate(columns["x"])]
    columns["prediction"] = [i % 3 % 2 for i in range(200)]
    data = coded(columns)
    group = (level_of(data, 0, "a"), level_of(data, 1, "u"))
    (without_x, without_z) = details_of(group, NOTIONS["predictive equality"], data).dropped[0]
    assert without_x.psi is not None
    assert without_z.psi is None
    assert without_z.undefined == "the false positive rate is undefined in the group: no one there counts for it"


def test_criteria_name_conditions_in_the_same_order() -> None:
    """Dropped conditions come in the order in which the criterion names them, whatever the order of columns."""
    columns = intersection()
    audit = ald.audit(
        {name: columns[name] for name in ("sex", "member", "age", "y")}, outcome="y", search=ald.Search(trees=5)
    )
    assert any(len(entries) > 1 for entries in audit.details.dropped)
    for finding, entries in zip(audit.groups, audit.details.dropped, strict=True):
        names = [condition.attribute for condition in Criterion(finding.criterion)]
        assert [entry.attribute for entry in entries] in ([], names)
