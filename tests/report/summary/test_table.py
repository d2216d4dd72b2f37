"""Tables of findings: every number in its column."""

from __future__ import annotations

from dataclasses import replace

import pytest

import ald
from ald import Audit
from ald.report.summary.sentences import magnitude
from ald.report.summary.table import make_brief_table, make_ranked_table
from ald.results.claims import DRAWN
from tests.tables import decisions, one_crossing, people


def two_rates() -> Audit:
    return ald.audit(
        decisions(2000), prediction="predicted", truth="true", notion="equalized odds", search=ald.Search(trees=5)
    )


@pytest.mark.parametrize(
    "audit", [two_rates(), ald.audit(people(), outcome="y", search=ald.Search(trees=5))], ids=["two", "one"]
)
def test_records_have_the_numbers_of_findings(audit: Audit) -> None:
    """Records of groups and of candidates hold what the findings hold, rate by rate."""
    report = audit.report()
    for records, findings in ((report.records, audit.groups), (report.candidates, audit.candidates)):
        assert findings
        keys = [column.key for column in records.columns]
        for values, finding in zip(records.rows, findings, strict=True):
            row = dict(zip(keys, values, strict=True))
            assert row["criterion"] == str(finding.criterion)
            assert (row["lower"], row["upper"]) == finding.interval
            for key in ("size", "share", "psi", "statistic", "p_adjusted", "log10_p_adjusted", "interval_level"):
                assert row[key] == getattr(finding, key)
            for rate in audit.notion.rates:
                assert row[f"{rate.key}_inside"] == finding.rates_inside[rate.key]
                assert row[f"{rate.key}_outside"] == finding.rates_outside[rate.key]


def test_named_groups_are_the_records_where_nothing_was_searched() -> None:
    """Without a search the rows for machines are the named groups, and there are no candidates."""
    audit = ald.audit(people(), search="none", named_groups=["sex = F", "age > 50"], outcome="y")
    report = audit.report()
    assert [row[0] for row in report.records.rows] == ["sex = F", "age > 50"]
    assert report.candidates.rows == ()


def test_combinations_are_told_in_the_list() -> None:
    """A group that is listed for its combination alone says so in its row; where there is none, no row does."""
    audit = ald.audit(one_crossing(1000), outcome="y", split="none")
    first = audit.groups[0]
    assert first.together is not None
    told = {}
    for test in (first.test, DRAWN):
        found = replace(audit, groups=(replace(first, test=test),))
        table = make_brief_table(found, found.groups)
        row = zip(table.columns, table.rows[0], strict=True)
        told[test] = [entry.text for column, entry in row if column.key == "listed for"]
    assert told == {first.test: [], DRAWN: ["the combination"]}


def test_sizes_on_new_people_are_in_the_table_that_can_be_sorted() -> None:
    """What groups show on new people has a column there, and p of combinations only where one was tested."""
    audit = ald.audit(one_crossing(1000), outcome="y", split="none")
    first = audit.groups[0]
    assert first.together is not None
    table = make_ranked_table(audit)
    place = [column.key for column in table.columns].index("psi_new")
    assert table.rows[0][place].text in magnitude(first, audit)
    for together in (first.together, None):
        alone = make_ranked_table(replace(audit, groups=(replace(first, together=together),)))
        assert ("p_together" in [column.key for column in alone.columns]) is (together is not None)
