"""Tables as lines of text."""

from __future__ import annotations

import pytest

from ald.report.layout import lines_of, with_headers
from ald.report.model import Entry, Grid, Heading


def table(*names: str, rates: int = 1) -> Grid:
    """A table of groups with their people, some rates and a gap."""
    columns = (
        Heading(key="criterion", header="group", is_number=False),
        Heading(key="people", header="people"),
        *(Heading(key=f"r{i} in / out", header=f"r{i} in / out") for i in range(rates)),
        Heading(key="psi", header="gap"),
    )
    rows = tuple(
        (
            Entry(text=name),
            Entry(text=f"{number:,}"),
            *(Entry(text="10.0% / 20.0%") for _ in range(rates)),
            Entry(text="-10.0"),
        )
        for number, name in enumerate(names, 1000)
    )
    return Grid(caption="", columns=columns, rows=rows)


def test_what_fits_is_one_line_per_row() -> None:
    """Names to the left, numbers to the right, and no empty lines."""
    assert lines_of(table("a", "longer"), 80) == [
        "group   people    r0 in / out    gap",
        "a        1,000  10.0% / 20.0%  -10.0",
        "longer   1,001  10.0% / 20.0%  -10.0",
    ]


def test_names_that_leave_no_room_stand_above_their_numbers() -> None:
    """Names are numbered and whole, and numbers stay in columns."""
    name = "x " * 40 + "end"
    lines = lines_of(table(name, "b"), 60, numbered=True)
    assert lines[0] == "   people    r0 in / out    gap"
    assert " ".join(" ".join(lines[1:3]).split()) == f"1. {name}"
    assert lines[3:] == ["    1,000  10.0% / 20.0%  -10.0", "2. b", "    1,001  10.0% / 20.0%  -10.0"]


@pytest.mark.parametrize("width", [40, 60, 80, 100, 140])
@pytest.mark.parametrize("rates", [1, 2, 3])
def test_no_number_is_lost_at_any_width(width: int, rates: int) -> None:
    """Rates that do not fit beside one another go below together, with their headers; no line is too wide."""
    lines = lines_of(table("some group of people", "another one", rates=rates), width, numbered=True)
    assert max(map(len, lines)) <= width
    text = " ".join(" ".join(lines).split())
    assert text.count("10.0% / 20.0%") == 2 * rates
    assert text.count("-10.0") == 2
    below = [line for line in lines if line.lstrip().startswith("r0 in / out 10.0%")]
    assert not below or "r0 in / out" not in lines[0]


def test_wide_characters_take_two_columns() -> None:
    """Numbers stay below one another beside names of any script."""
    first, second = lines_of(table("日本", "abcd"), 80)[1:]
    assert first.index("1,000") == second.index("1,001") - 2


def test_a_long_name_is_cut_where_rows_are_lines() -> None:
    """Where rows are not numbered, a name is shortened in its middle to the room there is, and so is what acts."""
    lines = lines_of(table("start" + "x" * 300 + "\x1b[31mend"), 60)
    assert len(lines) == 2
    assert max(map(len, lines)) <= 60
    assert lines[1].startswith("start")
    assert "\x1b" not in lines[1]


def test_empty_entries_have_no_header() -> None:
    """Entries in running text have their headers; empty ones are left out."""
    columns = [Heading(key="a", header="a"), Heading(key="b", header="b")]
    assert with_headers(columns, [Entry(text="1"), Entry(text="")]) == "a 1"
