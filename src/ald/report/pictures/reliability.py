"""How well a score tells the truth: per band of the score the mean score against how often the truth holds."""

from __future__ import annotations

from math import sqrt

from ald.report.markup import Content, Markup
from ald.report.svg import Axis, circle, line, path, picture, text
from ald.results.reliability import Reliability, Side

_LEFT, _RIGHT, _TOP, _FOOT, _HEIGHT = 52.0, 12.0, 10.0, 38.0, 260.0
_LARGEST_DOT, _SMALLEST_DOT = 7.0, 2.0
RELIABILITY_KEY = (
    "Each dot is a band of scores with about a tenth of the people: its mean score against how often the truth holds. "
    "On the dashed line scores are right on average; above it they are too low. Blue: inside the group; grey: outside."
)


def draw_reliability(shown: Reliability, width: float) -> Markup:
    """Two lines of dots, inside over outside."""
    width = min(width, 520.0)
    x = Axis(low=0.0, high=1.0, start=_LEFT, end=width - _RIGHT)
    y = Axis(low=0.0, high=1.0, start=_HEIGHT - _FOOT, end=_TOP)
    parts: list[Content] = []
    for tick in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        parts.append(line(x(tick), y(0.0), x(tick), y(1.0), class_="grid"))
        parts.append(line(x(0.0), y(tick), x(1.0), y(tick), class_="grid"))
        parts.append(text(x(tick), y(0.0) + 16, f"{tick:.0%}", class_="soft", text_anchor="middle"))
        parts.append(text(x(0.0) - 6, y(tick) + 4, f"{tick:.0%}", class_="soft", text_anchor="end"))
    parts.append(text(x(1.0), y(0.0) + 32, "mean score", class_="soft", text_anchor="end"))
    parts.append(text(x(0.0) + 6, y(1.0) + 12, "truth holds", class_="soft"))
    parts.append(line(x(0.0), y(0.0), x(1.0), y(1.0), class_="mean"))
    sides = [("all", [band.outside for band in shown.bands]), ("those", [band.inside for band in shown.bands])]
    for style, points in sides:
        parts += _points(points, style, x, y)
    return picture(width, _HEIGHT, "How well the score tells the truth", _description(shown), *parts)


def _points(points: list[Side], style: str, x: Axis, y: Axis) -> list[Content]:
    there = [
        (x(one.score), y(one.truth), one.people or 0)
        for one in points
        if one.score is not None and one.truth is not None
    ]
    most = max((people for *_, people in there), default=1)
    steps = [f"{'L' if i else 'M'}{px:.1f} {py:.1f}" for i, (px, py, _) in enumerate(there)]
    dots = [
        circle(px, py, max(_LARGEST_DOT * sqrt(people / most), _SMALLEST_DOT), class_=f"{style} dot")
        for px, py, people in there
    ]
    return [path(steps, class_=style), *dots]


def _description(shown: Reliability) -> str:
    told = []
    for name, points in (
        ("Inside", [band.inside for band in shown.bands]),
        ("Outside", [band.outside for band in shown.bands]),
    ):
        there = [one for one in points if one.score is not None and one.truth is not None]
        above = sum((one.truth or 0.0) > (one.score or 0.0) for one in there)
        told.append(f"{name}: the truth holds more often than the score says in {above} of {len(there)} bands.")
    return " ".join(told)
