"""A rate along an attribute with the cut of a group: numbers from left to right, levels from top to bottom."""

from __future__ import annotations

from ald.notions import Mean
from ald.report.curves import CurveView, Point, Series, axis_label
from ald.report.markup import Content, Markup
from ald.report.svg import (
    Axis,
    Picture,
    fit_text,
    horizontal,
    line,
    path,
    picture,
    rect,
    round_ticks,
    standalone,
    text,
    vertical,
)
from ald.report.units import units_of

_HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 170.0, 44.0, 10.0, 24.0, 24.0
_ROW = 22.0
# Rates with wider intervals say next to nothing.
_SURE = 0.35
# The width of a picture by itself, in pixels.
_WIDTH = 620.0
# The marks of the two series: everyone, and those who satisfy the group's other conditions.
_STYLES = ("all", "those")


def plot_curve(view: CurveView) -> Picture:
    """The curve as a picture of its own."""
    return Picture(standalone(draw_curve(view, _WIDTH)))


def draw_curve(view: CurveView, width: float) -> Markup:
    """The picture of one curve."""
    title = f"{view.rate.name} along {view.attribute}"
    content, height = _along(view, width) if view.is_ordered else _levels(view, width)
    return picture(width, height, title, _description(view), content)


def _style(view: CurveView) -> list[tuple[Series, str]]:
    """The series with their marks; a single one stands out by itself."""
    styles = _STYLES if len(view.series) > 1 else _STYLES[1:]
    return list(zip(view.series, styles, strict=True))


def _values(view: CurveView) -> tuple[float, float]:
    """The least and largest value to show: rates with their intervals, but for those that say next to nothing."""
    points = [point for series in view.series for point in series.points if point.rate is not None]
    wide = _SURE if not isinstance(view.rate, Mean) else _wide(points)
    sure = [p for p in points if p.high is not None and p.low is not None and p.high - p.low < wide] or points
    ends = [end for p in sure for end in (p.low, p.high) if end is not None] + [p.rate or 0.0 for p in points]
    return (min(ends, default=0.0), max(ends, default=1.0))


def _wide(points: list[Point]) -> float:
    """From where on intervals of means say next to nothing: four times as wide as the middle one."""
    widths = sorted(p.high - p.low for p in points if p.high is not None and p.low is not None)
    return 4.0 * widths[len(widths) // 2] if widths else 0.0


def _rate_axis(view: CurveView, start: float, end: float, most: int) -> Axis:
    ticks = round_ticks(*_values(view), most)
    least = 0.0 if not isinstance(view.rate, Mean) else ticks[0]
    return Axis(low=max(ticks[0], least), high=min(ticks[-1], view.rate.limit), start=start, end=end)


def _along(view: CurveView, width: float) -> tuple[list[Content], float]:
    points = [point for point in view.series[0].points if point.first is not None]
    slot = (width - _LEFT - _RIGHT) / max(len(view.series[0].points), 1)
    y = _rate_axis(view, _HEIGHT - _BOTTOM, _TOP, 5)
    places = [_place(cut, points, slot) for cut in view.cuts]
    parts: list[Content] = [_band(view, places, len(points) * slot)]
    for tick in y.ticks(5):
        parts.append(line(_LEFT, y(tick), width - _RIGHT, y(tick), class_="grid"))
        parts.append(text(_LEFT - 6, y(tick) + 4, units_of(view.rate).tick(tick), class_="soft", text_anchor="end"))
    average = view.series[0].average
    if average is not None:
        parts.append(line(_LEFT, y(average), width - _RIGHT, y(average), class_="mean"))
    for k, (series, style) in enumerate(_style(view)):
        parts += _marks(series.points, style, y, slot, k - (len(view.series) - 1) / 2)
    for cut, x in zip(view.cuts, places, strict=True):
        parts.append(line(x, _TOP - 6, x, _HEIGHT - _BOTTOM, class_="cut"))
        anchor = "middle" if _LEFT + 30 < x < width - 40 else "start" if x < width / 2 else "end"
        parts.append(text(x, _TOP - 10, axis_label(cut, view.kind), class_="strong", text_anchor=anchor))
    return [*parts, *_value_labels(view, slot, width)], _HEIGHT


def _band(view: CurveView, places: list[float], width: float) -> Markup:
    """The values that satisfy the group's condition."""
    lower = getattr(view.condition, "lower", None)
    start = places[0] if lower is not None else _LEFT
    end = places[-1] if len(places) > (lower is not None) else _LEFT + width
    return rect(start, _TOP, max(end - start, 0.0), _HEIGHT - _BOTTOM - _TOP, class_="band")


def _place(cut: float, points: list[Point], slot: float) -> float:
    """Where a bound lies: every bin has the same width, and within a bin values are evenly spread."""
    x = _LEFT
    for i, point in enumerate(points):
        if point.first is None or point.last is None or cut < point.first:
            break
        if cut >= point.last:
            x = _LEFT + (i + 1) * slot
        else:
            x = _LEFT + (i + (cut - point.first) / (point.last - point.first)) * slot
    return x


def _marks(points: tuple[Point, ...], style: str, y: Axis, slot: float, side: float) -> list[Content]:
    """The rates as short strokes, their intervals as thin lines; beside each other if there are two series."""
    reach = slot * (0.36 if side == 0 else 0.2)
    rates, intervals = [], []
    for i, point in enumerate(points):
        if point.rate is None or point.low is None or point.high is None:
            continue
        x = _LEFT + (i + 0.5) * slot + side * slot * 0.44
        rates.append(horizontal(x - reach, x + reach, y(point.rate)))
        intervals.append(vertical(x, y(max(point.low, y.low)), y(min(point.high, y.high))))
    return [path(intervals, class_=style), path(rates, class_=f"{style}-mark")]


def _value_labels(view: CurveView, slot: float, width: float) -> list[Content]:
    """Values under some of the bins, as many as there is room for."""
    points = view.series[0].points
    room = max(int((90 if view.kind != "numeric" else 62) / slot) + 1, 1)
    parts: list[Content] = []
    for i, point in enumerate(points):
        x = _LEFT + (i + 0.5) * slot
        if point.first is None:
            parts.append(text(width - _RIGHT, _HEIGHT - 8, "none", class_="soft", text_anchor="end"))
        elif i % room == 0 and x < width - _RIGHT - (46 if points[-1].first is None else 20):
            label = axis_label(point.first, view.kind)
            parts.append(text(x, _HEIGHT - 8, fit_text(label, slot * room, 11), class_="soft", text_anchor="middle"))
    return parts


def _levels(view: CurveView, width: float) -> tuple[list[Content], float]:
    points = view.series[0].points
    names = min(max(len(point.label) for point in points) * 7.6 + 18, width * 0.42)
    bottom = 8 + _ROW * len(points)
    x = _rate_axis(view, names, width - _RIGHT - 6, 5 if width > 500 else 3)
    parts: list[Content] = [
        rect(0, 8 + i * _ROW, width, _ROW, class_="band") for i, point in enumerate(points) if point.inside
    ]
    for tick in x.ticks(5 if width > 500 else 3):
        parts.append(line(x(tick), 8, x(tick), bottom, class_="grid"))
        parts.append(text(x(tick), bottom + 16, units_of(view.rate).tick(tick), class_="soft", text_anchor="middle"))
    average = view.series[0].average
    if average is not None:
        parts.append(line(x(average), 8, x(average), bottom, class_="mean"))
    for i, point in enumerate(points):
        shown = fit_text(point.label, names - 12, 13.5 if point.inside else 12.0)
        weight = "strong" if point.inside else None
        parts.append(text(names - 10, 8 + (i + 0.5) * _ROW + 4, shown, class_=weight, text_anchor="end"))
    for k, (series, style) in enumerate(_style(view)):
        rates, intervals = [], []
        side = (k - (len(view.series) - 1) / 2) * _ROW * 0.4
        for i, point in enumerate(series.points):
            if point.rate is None or point.low is None or point.high is None:
                continue
            y = 8 + (i + 0.5) * _ROW + side
            rates.append(vertical(x(point.rate), y - 5 + abs(side) / 3, y + 5 - abs(side) / 3))
            intervals.append(horizontal(x(max(point.low, x.low)), x(min(point.high, x.high)), y))
        parts += [path(intervals, class_=style), path(rates, class_=f"{style}-mark")]
    return parts, bottom + 24


def _description(view: CurveView) -> str:
    """What the picture shows, for who does not see it; the numbers are in the table beside it."""
    points = [point for point in view.series[0].points if point.rate is not None]
    if not points:
        return "No one counts for this rate."
    least = min(points, key=lambda point: point.rate or 0.0)
    most = max(points, key=lambda point: point.rate or 0.0)
    units = units_of(view.rate)
    return (
        f"From {units.level_words(least.rate)} at {least.label} to {units.level_words(most.rate)} at {most.label}; "
        f"everyone together {units.level_words(view.series[0].average)}. The group has {view.condition}."
    )
