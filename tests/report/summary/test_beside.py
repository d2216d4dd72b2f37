"""What cards say of people who are alike otherwise."""

from __future__ import annotations

import pytest

import ald
from ald import Audit
from ald.report.summary.beside import MOST, tabulate_beside, tell_beside
from ald.report.words import format_signed
from ald.results.beside import Alike, AlikeGap, Beside
from tests.results.test_beside import audited, held_of, people

NOTION = ald.NOTIONS["statistical parity"]


@pytest.fixture(scope="module")
def audit() -> Audit:
    return audited(people())


def held(name: str, gap: float, compared: float = 1.0) -> Alike:
    gaps = (AlikeGap(rate="selection", gap=gap, interval=(gap - 0.1, gap + 0.1), log10_p=-2.0, log10_p_same=None),)
    return Alike(attribute=name, strata=2, compared=compared, gaps=gaps, level="x", inside=0.5, outside=0.25)


def test_the_sentence(audit: Audit) -> None:
    """The crude gap stands beside that given the attribute which changes it most."""
    card = audit.report().cards[0]
    beside = held_of(audit)
    (education,) = (one for one in beside.attributes if one.attribute == "education")
    assert (
        f"Crude gap {format_signed(beside.crude[0].gap)} points; among people with the same education "
        f"{format_signed(education.gaps[0].gap)}." in card.sentences
    )


def test_legitimate_factors_come_first() -> None:
    """With `given` the sentence and the table have all factors together."""
    card = audited(people(), given=["education", "region"]).report().cards[0]
    (told,) = [text for text in card.sentences if text.startswith("Crude gap")]
    assert "among people with the same education and region" in told
    assert card.beside is not None
    names = [row[0].text for row in card.beside.rows]
    assert names[:4] == ["nothing (crude)", "education", "region", "all legitimate factors"]


def test_attributes_that_change_nothing_are_said_to() -> None:
    """Where no attribute changes the gap by a point, no attribute is named."""
    beside = Beside(crude=held("", -0.3).gaps, attributes=(held("a", -0.301), held("b", -0.2999)))
    assert tell_beside(beside, NOTION) == (
        "Crude gap -30.0 points; no other attribute by itself changes it by a point.",
    )
    assert tell_beside(Beside(crude=held("", -0.3).gaps), NOTION) == ()
    assert tabulate_beside(Beside(crude=held("", -0.3).gaps), NOTION, 0.05) is None


def test_the_table_is_short() -> None:
    """Of many attributes those stand in the table that change the gap most, and it says how many more there are."""
    many = tuple(held(f"a{i}", -0.3 + i / 100) for i in range(MOST + 5))
    table = tabulate_beside(Beside(crude=held("", -0.3).gaps, attributes=many), NOTION, 0.05)
    assert table is not None
    assert [row[0].text for row in table.rows[1:3]] == ["a24", "a23"]
    assert len(table.rows) == 1 + MOST
    assert "5 more attributes" in table.caption


def test_who_cannot_be_compared_is_said() -> None:
    """Where a part of the group has nobody like it, the row says how much can be compared."""
    table = tabulate_beside(Beside(crude=held("", -0.3).gaps, attributes=(held("a", -0.2, 0.7),)), NOTION, 0.05)
    assert table is not None
    assert table.rows[1][0].text == "a (70.0% comparable)"


def test_every_format_shows_it(audit: Audit) -> None:
    """HTML, Markdown and PDF have the table."""
    assert "Among people who are alike otherwise" in audit.to_html()
    assert "nothing (crude)" in audit.to_markdown()
    assert audit.to_pdf().startswith(b"%PDF")
