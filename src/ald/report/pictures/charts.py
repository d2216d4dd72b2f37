"""Small charts side by side, all of one scale: the gap of one group each, along time or from one model to another."""

from __future__ import annotations

from ald.report.markup import Content, Markup, element, number
from ald.report.model import Chart, Charts, Spot
from ald.report.svg import Axis, circle, fit_text, horizontal, line, path, picture, round_ticks, text, vertical
from ald.report.units import Points, Units

# A chart is at least as wide as this, and more charts than that stand in one row.
_NARROWEST, _MOST = 260.0, 3
_HEIGHT, _TOP, _BOTTOM, _LEFT, _RIGHT, _SPACE = 196.0, 48.0, 22.0, 34.0, 12.0, 18.0
_TICKS = 5


def draw_charts(charts: Charts, width: float) -> Markup:
    """The charts in as many columns as there is room for."""
    columns = max(min(int(width // _NARROWEST), _MOST, len(charts.charts)), 1)
    wide = (width - _SPACE * (columns - 1)) / columns
    scale, units = _scale(charts), charts.units
    left = max([_LEFT, *(12 + 6.2 * len(_tick(tick, units)) for tick in scale.ticks(_TICKS))])
    drawn = [
        element(
            "g",
            _chart(chart, scale, wide, left, units, is_joined=charts.is_joined),
            class_="chart",
            transform=f"translate({number(k % columns * (wide + _SPACE))} {number(k // columns * _HEIGHT)})",
        )
        for k, chart in enumerate(charts.charts)
    ]
    height = _HEIGHT * -(-len(charts.charts) // columns)
    return picture(width, height, charts.title, " ".join(_describe(chart, units) for chart in charts.charts), drawn)


def _tick(value: float, units: Units) -> str:
    return f"{units.scale * value:+,.10g}" if value else "0"


def _scale(charts: Charts) -> Axis:
    """The gaps of all charts, with 0; intervals that say next to nothing may end outside."""
    spots = [spot for chart in charts.charts for spot in chart.spots if spot.value is not None]
    values = [spot.value or 0.0 for spot in spots]
    reach = 2.5 * max([abs(value) for value in values], default=0.0)
    ends = [min(max(end, -reach), reach) for spot in spots for end in (spot.low, spot.high) if end is not None]
    low, high = min([0.0, *values, *ends]), max([0.0, *values, *ends])
    # Above dots stand their numbers.
    ticks = round_ticks(low, high + (0.15 * (high - low) if charts.is_joined else 0.0), _TICKS)
    return Axis(low=ticks[0], high=ticks[-1], start=_HEIGHT - _BOTTOM, end=_TOP)


def _chart(chart: Chart, y: Axis, width: float, left: float, units: Units, *, is_joined: bool) -> list[Content]:
    slot = (width - left - _RIGHT) / max(len(chart.spots), 1)
    parts: list[Content] = [
        text(0, 13, fit_text(chart.title, width, 13), class_="strong"),
        text(0, 29, fit_text(chart.note, width, 11), class_="soft"),
    ]
    for tick in y.ticks(_TICKS):
        parts.append(line(left, y(tick), width - _RIGHT, y(tick), class_="zero" if tick == 0 else "grid"))
        parts.append(text(left - 6, y(tick) + 4, _tick(tick, units), class_="soft", text_anchor="end"))
    for stretch in chart.stretches:
        start, end = left + stretch.first * slot, left + (stretch.last + 1) * slot
        parts.append(line(start, y(stretch.value), end, y(stretch.value), class_="mean"))
    if chart.cut is not None:
        x = left + chart.cut * slot
        parts.append(line(x, _TOP - 4, x, _HEIGHT - _BOTTOM, class_="cut"))
    return [*parts, *_gaps(chart, y, slot, left, units, is_joined=is_joined), *_labels(chart, slot, left, width)]


def _gaps(chart: Chart, y: Axis, slot: float, left: float, units: Units, *, is_joined: bool) -> list[Content]:
    """Gaps as short strokes, intervals as thin lines; where a line joins them, gaps as dots with their numbers."""
    known = [(i, spot, left + (i + 0.5) * slot) for i, spot in enumerate(chart.spots) if spot.value is not None]
    intervals = [
        vertical(x, y(max(spot.low, y.low)), y(min(spot.high, y.high)))
        for _, spot, x in known
        if spot.low is not None and spot.high is not None and spot.low <= y.high and spot.high >= y.low
    ]
    parts: list[Content] = [path(intervals, class_="all")]
    if is_joined:
        joined = [
            f"{'L' if k else 'M'}{number(x)} {number(y(spot.value or 0.0))}" for k, (_, spot, x) in enumerate(known)
        ]
        parts.append(path(joined, class_="those"))
        for _, spot, x in known:
            way = "above" if (spot.value or 0.0) >= 0 else "below"
            parts.append(circle(x, y(spot.value or 0.0), 4.5, class_=way))
            parts.append(text(x, y(spot.value or 0.0) - 9, units.signed(spot.value), class_="strong",
                              text_anchor="middle"))  # fmt: skip
        return parts
    reach = min(slot * 0.36, 9.0)
    strokes = [horizontal(x - reach, x + reach, y(spot.value or 0.0)) for _, spot, x in known]
    parts.append(path(strokes, class_="those-mark"))
    parts += [circle(x, y(spot.value or 0.0), 7.0, class_="edge on") for i, spot, x in known if i == chart.marked]
    return parts


def _labels(chart: Chart, slot: float, left: float, width: float) -> list[Content]:
    """Names of spots below them, as many as there is room for: the first one, and then every so many."""
    longest = max((len(spot.label) for spot in chart.spots), default=1)
    every = max(int(-(-(longest * 6.4 + 10) // slot)), 1)
    parts: list[Content] = []
    for i in range(0, len(chart.spots), every):
        x = min(max(left + (i + 0.5) * slot, 4.0), width - 4.0)
        shown = fit_text(chart.spots[i].label, slot * every, 11)
        half = len(shown) * 3.1
        anchor = "middle" if x + half <= width else "end"
        parts.append(text(x if anchor == "middle" else width, _HEIGHT - 7, shown, class_="soft", text_anchor=anchor))
    return parts


def _describe(chart: Chart, units: Units) -> str:
    """What a chart shows, for who does not see it; the numbers are in the table beside it."""
    known = [spot for spot in chart.spots if spot.value is not None]
    if not known:
        return f"{chart.title}: no gap is known."
    suffix = " points" if isinstance(units, Points) else ""
    ends = ", ".join(f"{units.signed(spot.value)}{suffix} at {spot.label}" for spot in _ends(known))
    return f"{chart.title}: gap {ends}. {chart.note}."


def _ends(spots: list[Spot]) -> list[Spot]:
    return spots if len(spots) < 2 else [spots[0], spots[-1]]
