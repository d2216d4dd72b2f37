"""All listed groups in one picture: psi with its interval, the number of people, and the rates inside and outside."""

from __future__ import annotations

from math import sqrt

from ald.report.markup import Content, Markup, element, number
from ald.report.summary import Card, Report
from ald.report.svg import Axis, circle, fitted, line, picture, rect, round_ticks, text
from ald.report.words import confidence, percent, signed

_LABEL, _LANE, _GAP, _HEAD, _FOOT = 22.0, 26.0, 16.0, 40.0, 26.0
_LARGEST_DOT = 11.0


def draw_groups(report: Report, width: float) -> Markup:
    """One row per listed group, in the order of the list."""
    cards = report.cards
    split = width * (0.58 if width > 500 else 0.55)
    psi, rate = _psi_axis(cards, 14.0, split - 14.0), _rate_axis(cards, split + 20.0, width - 14.0)
    heights = [_LABEL + _LANE * len(card.notion.rates) + _GAP for card in cards]
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
    frame = _frame(report, psi, rate, bottom, width)
    title = "Listed groups: disparity, people, and rates inside and outside"
    return picture(width, bottom + _FOOT, title, _description(cards), frame, rows)


def _psi_axis(cards: tuple[Card, ...], start: float, end: float) -> Axis:
    ends = [0.0] + [
        bound for card in cards for bound in (*card.finding.interval, card.finding.psi) if bound is not None
    ]
    ticks = round_ticks(min(ends), max(ends), 5)
    return Axis(low=ticks[0], high=ticks[-1], start=start, end=end)


def _rate_axis(cards: tuple[Card, ...], start: float, end: float) -> Axis:
    ends = [rate for card in cards for side in (card.finding.rates_inside, card.finding.rates_outside)
            for rate in side.values() if rate is not None]  # fmt: skip
    ticks = round_ticks(0.0, max(ends, default=1.0), 4)
    return Axis(low=0.0, high=min(ticks[-1], 1.0), start=start, end=end)


def _frame(report: Report, psi: Axis, rate: Axis, bottom: float, width: float) -> list[Content]:
    """Headings, grid lines, ticks."""
    level = report.cards[0].finding.interval_level
    wide = width > 500
    parts: list[Content] = [
        text(0, 14, "Disparity psi", class_="strong"),
        text(0, 30, f"with {confidence(level)} interval" + ("; dot area: people" if wide else ""), class_="soft"),
        text(rate.start - 6, 14, "Rates", class_="strong"),
        text(rate.start - 6, 30, "● inside  ○ everyone else" if wide else "● in  ○ out", class_="soft"),
    ]
    for axis, written in ((psi, _psi_tick), (rate, lambda value: f"{value:.0%}")):
        for tick in axis.ticks(5 if wide else 3):
            x = axis(tick)
            parts.append(line(x, _HEAD, x, bottom, class_="zero" if axis is psi and tick == 0 else "grid"))
            parts.append(text(x, bottom + 16, written(tick), class_="soft", text_anchor="middle"))
    return parts


def _psi_tick(value: float) -> str:
    return "0" if value == 0 else f"{value:+.2f}".rstrip("0")


def _row(card: Card, psi: Axis, rate: Axis, width: float, largest: int) -> list[Content]:
    finding = card.finding
    parts: list[Content] = [
        rect(0, 1, width, _LABEL, class_="hollow"),
        text(0, 15, [f"{card.rank}. ", fitted(card.criterion, width - 24)], class_="strong"),
    ]
    lanes = len(card.notion.rates)
    middle = _LABEL + _LANE * lanes / 2
    if finding.psi is not None:
        way = "above" if finding.psi >= 0 else "below"
        if lanes > 1:
            way = "above"
        low, high = finding.interval
        if low is not None and high is not None:
            parts.append(line(psi(low), middle, psi(high), middle, class_=f"{way} bar"))
            parts += [line(psi(end), middle - 5, psi(end), middle + 5, class_=f"{way} bar") for end in (low, high)]
        radius = max(_LARGEST_DOT * sqrt(finding.size / largest), 2.5)
        parts.append(circle(psi(finding.psi), middle, radius, class_=f"{way} halo"))
        parts.append(circle(psi(finding.psi), middle, 2.5, class_=way))
    for i, each in enumerate(card.notion.rates):
        inside, outside = finding.rates_inside[each.key], finding.rates_outside[each.key]
        if inside is None or outside is None:
            continue
        way = "above" if inside >= outside else "below"
        y = _LABEL + _LANE * (i + 0.5) + (3 if lanes > 1 else 0)
        parts.append(line(rate(outside), y, rate(inside), y, class_=f"{way} bar"))
        parts.append(circle(rate(outside), y, 5, class_=f"{way} hollow"))
        parts.append(circle(rate(inside), y, 5, class_=way))
        if lanes > 1:
            parts.append(text(rate.start - 6, y - 8, fitted(each.name, rate.end - rate.start, 11), class_="soft"))
    return parts


def _description(cards: tuple[Card, ...]) -> str:
    return " ".join(
        f"{card.rank}: {card.criterion}: psi {signed(card.finding.psi)}, {card.finding.size:,} people, "
        + ", ".join(
            f"{rate.name} {percent(card.finding.rates_inside[rate.key])} against "
            f"{percent(card.finding.rates_outside[rate.key])}"
            for rate in card.notion.rates
        )
        + "."
        for card in cards
    )
