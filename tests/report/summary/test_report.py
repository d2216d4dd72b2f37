"""The report's model: what every format shows."""

from __future__ import annotations

import hashlib
import platform
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pytest
import scipy

import ald
from ald import Audit
from ald.report.curves import bin_label
from ald.report.model import Report
from ald.report.summary.sentences import LIMITATION
from tests.tables import decisions, intersection, people, write_csv


@pytest.fixture(scope="module")
def audit() -> Audit:
    columns = people(3000) | {"k": [1] * 3000}
    return ald.audit(columns, outcome="y", search=ald.Search(trees=5))


@pytest.fixture(scope="module")
def report(audit: Audit) -> Report:
    return audit.report()


def test_a_report_from_a_document(audit: Audit) -> None:
    """The document alone gives the same report."""
    again = Audit.from_json(audit.to_json()).report()
    first = audit.report()
    for name in ("title", "headline", "lead", "result", "figures", "table", "sections", "limitation"):
        assert getattr(again, name) == getattr(first, name)
    assert again.cards == first.cards


def test_reports_are_values(report: Report) -> None:
    """A report cannot be changed."""
    with pytest.raises(FrozenInstanceError):
        report.headline = "x"  # type: ignore[misc]


def test_table(audit: Audit, report: Report) -> None:
    """The ranked table has a row per group, with the finding's own numbers to compute with."""
    keys = [column.key for column in report.table.columns]
    assert keys == ["criterion", "size", "share", "size_all", "psi", "selection_inside", "selection_outside", "ratio",
                    "lower", "p_adjusted"]  # fmt: skip
    assert all(column.meaning for column in report.table.columns)
    for finding, row in zip(audit.groups, report.table.rows, strict=True):
        values = dict(zip(keys, (entry.value for entry in row), strict=True))
        assert values["size"] == finding.size
        assert values["size_all"] == finding.size_all
        assert values["psi"] == finding.psi
        assert values["lower"] == finding.interval[0]
        assert values["p_adjusted"] == finding.log10_p_adjusted
        assert row[keys.index("psi")].text == f"{100 * finding.psi:+.1f}"


def test_ranks(report: Report) -> None:
    """Cards know their places by confidence and by magnitude."""
    by_p = sorted(report.cards, key=lambda card: card.finding.log10_p or 0.0)
    by_psi = sorted(report.cards, key=lambda card: -abs(card.finding.psi or 0.0))
    assert [card.rank_confidence for card in by_p] == list(range(1, len(by_p) + 1))
    assert [card.rank_magnitude for card in by_psi] == list(range(1, len(by_psi) + 1))
    assert [card.rank for card in report.cards] == list(range(1, len(by_p) + 1))


def test_breakdown() -> None:
    """The breakdown begins with the group itself and has a row for each dropped condition."""
    audit = ald.audit(intersection(), outcome="y", search=ald.Search(trees=5))
    cards = audit.report().cards
    assert any(card.breakdown for card in cards)
    for card, entries in zip(cards, audit.details.dropped, strict=True):
        if card.breakdown is None:
            assert len(card.finding.criterion) == 1
            continue
        rows = card.breakdown.rows
        assert rows[0][3].value == pytest.approx(100 * card.finding.psi)
        assert [row[3].value for row in rows[1:]] == pytest.approx([100 * entry.psi for entry in entries])
        assert rows[1][0].text.startswith("without ")


def test_curves(audit: Audit, report: Report) -> None:
    """Every condition has a curve per rate, whose rates are those of its counts, within their intervals."""
    assert report.cards
    for card in report.cards:
        assert [view.attribute for view in card.curves] == [c.attribute for c in card.finding.criterion]
        for view in card.curves:
            curve = audit.details.curve(view.attribute)
            for point, bin_ in zip(view.series[0].points, curve.bins, strict=True):
                assert point.n == sum(bin_.counts)
                assert point.rate == pytest.approx(bin_.counts[1] / sum(bin_.counts))
                assert point.low is not None
                assert point.high is not None
                assert point.low <= point.rate <= point.high
                assert point.label == bin_label(bin_, view.kind)
            assert len(view.series) == (1 if len(card.finding.criterion) == 1 else 2)


def test_sections(report: Report) -> None:
    """Sections say what was searched and left out, how, with which settings and software, and what it is not."""
    assert [section.key for section in report.overview] == ["gaps", "seen"]
    titles = [section.key for section in report.sections]
    assert titles == ["data", "left-out", "method", "settings", "versions", "limits"]
    left_out = report.section("left-out").table
    assert left_out is not None
    assert [entry.text for entry in left_out.rows[0]] == ["k", "constant (always '1')"]
    versions = report.section("versions").table
    assert versions is not None
    assert {row[0].text: row[1].text for row in versions.rows} == {
        "ALD": ald.__version__,
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "SciPy": scipy.__version__,
    }
    settings = report.section("settings").table
    assert settings is not None
    assert {"seed", "level", "trees", "adjust"} <= {row[0].text for row in settings.rows}
    assert LIMITATION in report.section("limits").paragraphs
    attributes = report.section("data").table
    assert attributes is not None
    assert [row[0].text for row in attributes.rows] == ["age", "sex", "hired", "seen", "member", "score"]


def test_fingerprint_of_the_input(tmp_path: Path) -> None:
    """A report of a file has its SHA-256; other data has none, and the report says so."""
    path = write_csv(tmp_path / "x.csv", people())
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert digest in ald.audit(path, outcome="y", search=ald.Search(trees=2)).report().section("data").paragraphs[-1]
    assert (
        "none" in ald.audit(people(), outcome="y", search=ald.Search(trees=2)).report().section("data").paragraphs[-1]
    )


def test_several_rates() -> None:
    """With several rates there are rates of each in the table, a row per rate in cards, and no single ratio."""
    audit = ald.audit(
        decisions(3000),
        prediction="predicted",
        truth="true",
        notion="equalized odds",
        search=ald.Search(trees=5),
        split=ald.Split(repeats=2),
    )
    report = audit.report()
    keys = [column.key for column in report.table.columns]
    assert {"psi", "fpr_inside", "fnr_outside", "stability"} <= set(keys)
    records = {column.key for column in report.records.columns}
    assert {"psi_fpr", "psi_fnr", "statistic"} <= records - set(keys)
    assert "ratio" not in keys
    assert [row[0].text for row in report.cards[0].numbers.rows] == ["false positive rate", "false negative rate"]
    assert {view.rate.key for view in report.cards[0].curves} == {"fpr", "fnr"}


def test_warnings_come_first() -> None:
    """Warnings are a section of their own, before all others."""
    columns = people()
    columns["sex"] = [value if i % 3 else value.lower() for i, value in enumerate(columns["sex"])]
    report = ald.audit(columns, outcome="y", search=ald.Search(trees=3)).report()
    assert report.sections[0].key == "warnings"
    assert "levels of 'sex'" in report.sections[0].paragraphs[0]


def test_rounded_bounds() -> None:
    """Bounds of many decimals are rounded in words and whole in code."""
    audit = ald.audit(ald.datasets.make_synthetic(1), outcome="y", search=ald.Search(trees=5))
    card = next(card for card in audit.report().cards if "age" in card.criterion)
    assert len(card.criterion) < len(str(card.finding.criterion))
    (condition,) = [c for c in card.finding.criterion if c.attribute == "age"]
    assert repr(condition.lower) in card.pandas  # type: ignore[union-attr]


def test_origin() -> None:
    """A card says whether a tree proposed the group or comes close to it."""
    columns = people()
    assert "most similar" in ald.audit(columns, outcome="y", search=ald.Search(trees=3)).report().cards[0].origin
    assert (
        "Proposed by node"
        in ald.audit(columns, outcome="y", search=ald.Search("leaves", trees=3)).report().cards[0].origin
    )
