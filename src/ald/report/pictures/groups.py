"""All listed groups in one picture: psi with its interval, the number of people, and the rates inside and outside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Protocol

from ald.notions import Notion
from ald.report.markup import Content, Markup, element, number
from ald.report.svg import Axis, Picture, circle, fit_text, line, picture, round_ticks, standalone, text
from ald.report.units import Points, common_units, units_of, units_of_notion
from ald.report.words import confidence
from ald.results.finding import Finding

_LABEL, _GAP, _HEAD, _FOOT = 22.0, 16.0, 40.0, 26.0
# The height of a rate: more where its name stands above it.
_LANE, _NAMED_LANE = 26.0, 32.0
_LARGEST_DOT = 11.0
# The width of a picture by itself, in pixels.
_WIDTH = 760.0


class Drawn(Protocol):
    """A group as the picture shows it: its places in the list, which it is, and what was found."""

    @property
    def rank(self) -> int: ...
    @property
    def rank_confidence(self) -> int: ...
    @property
    def rank_magnitude(self) -> int: ...
    @property
    def criterion(self) -> str: ...
    @property
    def about(self) -> str: ...
    @property
    def finding(self) -> Finding: ...
    @property
    def notion(self) -> Notion: ...


@dataclass(frozen=True, kw_only=True)
class Alone:
    """A group by itself."""

    criterion: str
    about: str
    finding: Finding
    notion: Notion
    rank: int = 0
    rank_confidence: int = 1
    rank_magnitude: int = 1


def plot_groups(cards: Sequence[Drawn]) -> Picture:
    """The groups as a picture of its own."""
    return Picture(standalone(draw_groups(cards, _WIDTH)))


def draw_groups(cards: Sequence[Drawn], width: float) -> Markup:
    """One row per group, in the order given."""
    split = width * (0.58 if width > 500 else 0.55)
    psi, rate = _psi_axis(cards, 14.0, split - 14.0), _rate_axis(cards, split + 20.0, width - 18.0)
    heights = [_LABEL + _lanes(card) + _GAP for card in cards]
    bottom = _HEAD + sum(heights)
    largest = max((card.finding.size for card in cards), default=1)
    rows: list[Content] = []
    y = _HEAD
    for card, height in zip(cards, heights, strict=True):
        row = _row(card, psi, rate, width, largest)
        rows.append(
            element("g", row, class_="row", transform=f"translate(0 {number(y)})", data_height=height,
                    data_c=card.rank_confidence, data_m=card.rank_magnitude)
        )  # fmt: skip
        y += height
    frame = _frame(cards, psi, rate, bottom, width)
    title = "Listed groups: disparity, people, and rates inside and outside"
    return picture(width, bottom + _FOOT, title, _description(cards), frame, rows)


def _lanes(card: Drawn) -> float:
    rates = len(card.notion.rates)
    return _LANE if rates == 1 else _NAMED_LANE * rates


def _psi_axis(cards: Sequence[Drawn], start: float, end: float) -> Axis:
    bounds = [bound for card in cards for bound in (*card.finding.interval, card.finding.psi) if bound is not None]
    low, high = min([0.0, *bounds]), max([0.0, *bounds])
    room = 0.06 * (high - low)
    return Axis(low=low - room, high=high + room, start=start, end=end)


def _rate_axis(cards: Sequence[Drawn], start: float, end: float) -> Axis:
    ends = [rate for card in cards for side in (card.finding.rates_inside, card.finding.rates_outside)
            for rate in side.values() if rate is not None]  # fmt: skip
    limit = max((rate.limit for card in cards for rate in card.notion.rates), default=1.0)
    ticks = round_ticks(min([0.0, *ends]), max(ends, default=1.0), 4)
    return Axis(low=ticks[0], high=min(ticks[-1], limit), start=start, end=end)


def _frame(cards: Sequence[Drawn], psi: Axis, rate: Axis, bottom: float, width: float) -> list[Content]:
    """Headings and the numbers of the axes."""
    level = cards[0].finding.interval_level
    wide, units = width > 500, common_units(card.notion for card in cards)
    parts: list[Content] = [
        text(0, 14, units.gaps_head, class_="strong"),
        text(0, 30, f"with {confidence(level)} interval" + ("; dot area: people" if wide else ""), class_="soft"),
        text(rate.start - 6, 14, units.levels_head, class_="strong"),
        text(rate.start - 6, 30, "● inside  ○ compared with" if wide else "● in  ○ out", class_="soft"),
    ]
    means = all(len(card.notion.rates) > 1 for card in cards)
    for axis, written in ((psi, units.gap_tick), (rate, units.tick)):
        for tick in _ticks(axis, width):
            label = written(tick).removeprefix("+") if means else written(tick)
            parts.append(text(axis(tick), bottom + 16, label, class_="soft", text_anchor="middle"))
    return parts


def _ticks(axis: Axis, width: float) -> list[float]:
    return axis.ticks(8 if width > 500 else 3)


def _row(card: Drawn, psi: Axis, rate: Axis, width: float, largest: int) -> list[Content]:
    finding = card.finding
    name = f"{card.criterion} ({card.about})" if card.about else card.criterion
    label = [f"{card.rank}. " if card.rank else "", fit_text(name, width - 24, 13)]
    parts: list[Content] = [text(0, 15, label, class_="strong")]
    lanes = len(card.notion.rates)
    for axis in (psi, rate):
        for tick in _ticks(axis, width):
            kind = "zero" if axis is psi and tick == 0 else "grid"
            parts.append(line(axis(tick), _LABEL, axis(tick), _LABEL + _lanes(card) + 6, class_=kind))
    middle = _LABEL + _lanes(card) / 2
    if finding.psi is not None:
        way = "above" if finding.psi >= 0 else "below"
        low, high = finding.interval
        if low is not None and high is not None:
            parts.append(line(psi(low), middle, psi(high), middle, class_=f"{way} bar"))
        radius = max(_LARGEST_DOT * sqrt(finding.size / largest), 2.5)
        parts.append(circle(psi(finding.psi), middle, radius, class_=f"{way} halo"))
        parts.append(circle(psi(finding.psi), middle, 2.5, class_=way))
    for i, each in enumerate(card.notion.rates):
        inside, outside = finding.rates_inside[each.key], finding.rates_outside[each.key]
        if inside is None or outside is None:
            continue
        way = "above" if inside >= outside else "below"
        y = _LABEL + _lanes(card) / lanes * (i + 0.5) + (6 if lanes > 1 else 0)
        parts.append(line(rate(outside), y, rate(inside), y, class_=f"{way} bar"))
        parts.append(circle(rate(outside), y, 5, class_=f"{way} hollow"))
        parts.append(circle(rate(inside), y, 5, class_=way))
        if lanes > 1:
            name = fit_text(each.name if width > 500 else each.key, rate.end - rate.start, 11)
            parts.append(text(rate.start - 6, y - 9, name, class_="soft"))
    return parts


def _gap(card: Drawn) -> str:
    """psi in points, or as an amount; the mean of several rates has no sign."""
    units, psi = units_of_notion(card.notion), card.finding.psi
    text = units.signed(psi) if len(card.notion.rates) == 1 else units.unsigned(psi)
    return f"{text} points" if isinstance(units, Points) else text


def _description(cards: Sequence[Drawn]) -> str:
    return " ".join(
        (f"{card.rank}: " if card.rank else "")
        + f"{card.criterion}: gap {_gap(card)}, {card.finding.size:,} people, "
        + ", ".join(
            f"{rate.name} {units_of(rate).level(card.finding.rates_inside[rate.key])} against "
            f"{units_of(rate).level(card.finding.rates_outside[rate.key])}"
            for rate in card.notion.rates
        )
        + "."
        for card in cards
    )
