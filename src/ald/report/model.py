"""What every format shows, as values: a report with its tables, sections and cards.

`ald.report.summary` makes it of an audit; renderers see nothing else. Nothing in a report is escaped: each renderer
escapes for its own format.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Any

from ald.notions import Notion
from ald.report.curves import CurveView
from ald.report.trees import Tree
from ald.report.units import POINTS, Units
from ald.results.details import Dropped
from ald.results.finding import Finding
from ald.results.reliability import Reliability
from ald.results.spreads import Spread


@dataclass(frozen=True, kw_only=True)
class Heading:
    """A column of a table: its header, whether it holds numbers, and what it means."""

    key: str
    header: str
    is_number: bool = True
    meaning: str = ""

    @property
    def is_main(self) -> bool:
        """Whether the column stays where there is little room."""
        return self.key in ("criterion", "people", "psi", "p_adjusted")

    @property
    def is_rates(self) -> bool:
        """Whether the column has a rate inside and outside."""
        return self.key.endswith("in / out")

    @property
    def leaves(self) -> tuple[bool, bool, bool]:
        """How soon the column leaves where there is little room: the larger, the sooner."""
        return not self.is_main, self.key in ("unadjusted gap", "listed for"), not self.is_short

    @property
    def is_short(self) -> bool:
        """Whether the column's texts are short enough to stand in one line."""
        return self.key in ("people", "size_all", "psi", "ratio", "p_adjusted", "found again")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A value of a table: as it is shown, and as the number (or text) that it is sorted and computed by."""

    text: str
    value: Any = None


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A table of a report: what it shows, its columns and its rows."""

    caption: str
    columns: tuple[Heading, ...]
    rows: tuple[tuple[Entry, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Records:
    """Findings for machines: a row of plain values each, with all their digits.

    `remarks`: per row the name of its notion, and why it is undefined, if it is. decimals: of amounts, how many say
    something; None of rates.
    """

    columns: tuple[Heading, ...]
    rows: tuple[tuple[Any, ...], ...]
    remarks: tuple[tuple[str, str | None], ...]
    decimals: int | None = None


@dataclass(frozen=True, kw_only=True)
class Spot:
    """A gap in a chart, with its interval if it has one; None is undefined. label: where it is along the chart."""

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, kw_only=True)
class Stretch:
    """A mean gap over several neighbouring spots, from the first to the last of them."""

    first: int
    last: int
    value: float


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A small chart: gaps of one group from left to right. note: what to see in it, in a few words.

    stretches: means over some of the spots. cut: the spot before which something changed; marked: one that stands out.
    """

    title: str
    note: str
    spots: tuple[Spot, ...]
    stretches: tuple[Stretch, ...] = ()
    cut: int | None = None
    marked: int | None = None


@dataclass(frozen=True, kw_only=True)
class Charts:
    """Small charts of one scale, so that they can be compared. legend: how to read them.

    is_joined: whether the spots of a chart are two or more states of one thing, which a line joins. units: how gaps
    are written.
    """

    title: str
    legend: str
    charts: tuple[Chart, ...]
    is_joined: bool = False
    units: Units = POINTS


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of a report: a title, sentences, and a table if there is one. `key` names it for renderers.

    more: a longer table, for whoever wants to see everything: formats fold it, or leave it out where they cannot.
    charts: a picture; its numbers are in a table of the report.
    """

    key: str
    title: str
    paragraphs: tuple[str, ...] = ()
    table: Grid | None = None
    more: Grid | None = None
    charts: Charts | None = None

    @property
    def has_words(self) -> bool:
        """Whether it says anything where there are no pictures."""
        return bool(self.paragraphs) or self.table is not None


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A number that stands out, with what it counts."""

    text: str
    label: str


@dataclass(frozen=True, kw_only=True)
class Card:
    """Everything about one listed group.

    `rank` is its place in the list; `rank_confidence` and `rank_magnitude` are its places by p-value and by |psi|.
    `about`: which of several notions and outcomes it is about; empty if there is one. `sentences`: the disparity, its
    size and its certainty. `pandas` and `sql` pick its members; `sql` may be None. `numbers`: one row per rate.
    `breakdown`: the group, and what it is without each of its conditions, as a table and as `dropped`. `close`: groups
    folded into it. `beside`: its gap among people who are alike otherwise. `strata`: it in every stratum of legitimate
    factors. `curves`: its rates along its attributes. `tree`, `node`: where the search met it, if trees
    grew, and `origin`: how, in a sentence.
    `spread`, `quantiles`: how amounts are spread inside and outside, as a picture and as a table; None of yes and no.
    `reliability`, `bands`: how well a score tells the truth there; None without a score and a truth.
    """

    rank: int
    rank_confidence: int
    rank_magnitude: int
    finding: Finding
    notion: Notion
    criterion: str
    about: str
    sentences: tuple[str, ...]
    pandas: str
    sql: str | None
    numbers: Grid
    breakdown: Grid | None
    dropped: tuple[Dropped, ...]
    close: Grid | None
    beside: Grid | None
    strata: Grid | None
    curves: tuple[CurveView, ...]
    tree: Tree | None
    node: int
    origin: str
    spread: Spread | None = None
    quantiles: Grid | None = None
    reliability: Reliability | None = None
    bands: Grid | None = None


@dataclass(frozen=True, kw_only=True)
class FindingReport:
    """One finding by itself: the disparity in a sentence, its size and certainty, and its numbers."""

    headline: str
    sentences: tuple[str, ...]
    table: Grid
    has_tree: bool


@dataclass(frozen=True, kw_only=True)
class Report:
    """A result as every format shows it: summarised once, rendered many times.

    subject: what it is a report of, in a word: an audit, a comparison or a watch.
    is_search, ranking, notions: whether groups were searched, in which order they are listed, and for what. has_trees:
    whether trees grew.
    giveaways: the columns that give the outcome away, shown before the groups; None if none does.
    made, day, notes: the file that was audited, the day and the version, as words; the day itself; the auditor's notes.
    group: the words of the headline that say who the group is; empty where it names none.
    overview: what stands beside the groups: every attribute's own gap, and what the audit could have seen.
    table, brief: the listed groups with every number in a column of its own, and in few columns.
    records: the rows of the audit for machines: listed groups, or named ones where nothing was searched.
    footnote: what is to be said of the intervals in these tables, if anything.
    facts, warnings: what was done, and what to beware of, in lines for formats without sections.
    profile: what a law asks for; `sections` has it too.
    provenance: where the report is from, for machines: title, notes, date, file, its SHA-256, and versions.
    """

    subject: str = "audit"
    title: str
    made: tuple[str, ...]
    day: date
    notes: tuple[str, ...]
    headline: str
    group: str
    lead: tuple[str, ...]
    result: str
    groups_title: str
    is_search: bool
    has_trees: bool
    ranking: str
    notions: str
    figures: tuple[Figure, ...]
    giveaways: Section | None
    overview: tuple[Section, ...]
    footnote: str
    table: Grid
    brief: Grid
    records: Records
    facts: tuple[str, ...]
    warnings: tuple[str, ...]
    profile: tuple[Section, ...]
    limitation: str
    provenance: dict[str, Any] = field(default_factory=dict, compare=False)
    # What takes counting or much memory is made when a format asks for it.
    _cards: Callable[[], tuple[Card, ...]] = field(repr=False, compare=False)
    _sections: Callable[[], tuple[Section, ...]] = field(repr=False, compare=False)
    _candidates: Callable[[], Records] = field(repr=False, compare=False)
    _document: Callable[[], dict[str, Any]] = field(repr=False, compare=False)

    @cached_property
    def cards(self) -> tuple[Card, ...]:
        """Everything about every listed group."""
        return self._cards()

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """All that follows the groups: warnings, named groups, data, method, limits."""
        return self._sections()

    @cached_property
    def candidates(self) -> Records:
        """All groups that were tested, best first."""
        return self._candidates()

    @cached_property
    def document(self) -> dict[str, Any]:
        """The audit as plain data, reduced to what fits on a page."""
        return self._document()

    def section(self, key: str) -> Section:
        """The section of this key."""
        return next(section for section in self.sections if section.key == key)
