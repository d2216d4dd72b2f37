"""How amounts are spread inside and outside a group: the middle half of the people as a bar, nearly all as a line."""

from __future__ import annotations

from ald.notions import Rate
from ald.report.markup import Content, Markup
from ald.report.svg import Axis, horizontal, line, path, picture, round_ticks, text, vertical
from ald.report.units import units_of
from ald.results.spreads import Spread

_LEFT, _RIGHT, _TOP, _ROW, _FOOT = 86.0, 14.0, 6.0, 26.0, 24.0
# What the picture does not say.
SPREAD_KEY = "The line holds nine of ten people, the bar the middle half of them, and the stroke is the median."


def draw_spread(spread: Spread, rate: Rate, width: float) -> Markup:
    """Two rows: the group, and those it is compared with."""
    rows = [("inside", "those", spread.inside), ("outside", "all", spread.outside)]
    ends = [value for *_, values in rows for value in values]
    ticks = round_ticks(min(ends, default=0.0), max(ends, default=1.0), 6 if width > 500 else 3)
    x = Axis(low=ticks[0], high=ticks[-1], start=_LEFT, end=width - _RIGHT)
    bottom = _TOP + _ROW * len(rows)
    units = units_of(rate)
    parts: list[Content] = []
    for tick in ticks:
        parts.append(line(x(tick), _TOP, x(tick), bottom, class_="grid"))
        parts.append(text(x(tick), bottom + 16, units.tick(tick), class_="soft", text_anchor="middle"))
    for i, (name, style, values) in enumerate(rows):
        y = _TOP + (i + 0.5) * _ROW
        parts.append(text(_LEFT - 12, y + 4, name, class_=None if i else "strong", text_anchor="end"))
        if values:
            low, first, middle, third, high = (x(value) for value in values)
            parts.append(path([horizontal(low, high, y)], class_=style))
            parts.append(path([horizontal(first, third, y)], class_=f"{style}-mark"))
            parts.append(path([vertical(middle, y - 9, y + 9)], class_=f"{style}-mark"))
    return picture(width, bottom + _FOOT, f"{rate.name}: how amounts are spread", _description(spread, rate), *parts)


def _description(spread: Spread, rate: Rate) -> str:
    units = units_of(rate)
    return " ".join(
        f"{name.capitalize()}: half of the people have between {units.level_words(values[1])} and "
        f"{units.level_words(values[3])}, the middle one has {units.level_words(values[2])}."
        for name, values in (("inside", spread.inside), ("outside", spread.outside))
        if values
    )
