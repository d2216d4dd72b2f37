"""Figures as SVG text: lines with error bars, and bars. No library, no pixels; same data, same bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

# Distinguishable with colour vision deficiencies (Okabe and Ito), and by dashes and markers without colour.
_COLOURS = ("#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f")
_DASHES = ("", "6 3", "2 3", "8 3 2 3")
_WIDTH, _HEIGHT = 720, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 250, 40, 50


@dataclass(frozen=True, kw_only=True)
class Point:
    """A value with its standard error."""

    x: float
    y: float
    error: float = 0.0


def line_chart(
    title: str,
    x_label: str,
    y_label: str,
    series: Mapping[str, Sequence[Point]],
    *,
    y_range: tuple[float, float] = (0.0, 1.0),
) -> str:
    """Lines over numbers, one per series, with error bars and a legend."""
    points = [point for line in series.values() for point in line]
    low, high = min(point.x for point in points), max(point.x for point in points)
    frame = _Frame(low, high if high > low else low + 1, *y_range)
    ticks = sorted({point.x for point in points})
    parts = [*frame.axes(title, x_label, y_label), *frame.x_ticks(ticks)]
    for i, (label, line) in enumerate(series.items()):
        colour, dash = _COLOURS[i % len(_COLOURS)], _DASHES[(i // 2) % len(_DASHES)]
        path = " ".join(f"{frame.x(point.x):.1f},{frame.y(point.y):.1f}" for point in line)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.8" '
                     f'stroke-dasharray="{dash}"/>')  # fmt: skip
        for point in line:
            x = frame.x(point.x)
            if point.error > 0:
                top, bottom = (
                    frame.y(min(max(point.y + sign * point.error, y_range[0]), y_range[1])) for sign in (1, -1)
                )
                parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top:.1f}" y2="{bottom:.1f}" stroke="{colour}"/>')
            parts.append(_marker(i, x, frame.y(point.y), colour))
        parts += _legend(i, label, colour, dash)
    return _svg(title, parts)


def bar_chart(title: str, y_label: str, bars: Mapping[str, Point]) -> str:
    """Bars from 0 to 1 with error bars."""
    frame = _Frame(-0.5, len(bars) - 0.5, 0.0, 1.0)
    parts = frame.axes(title, "", y_label)
    for i, (label, point) in enumerate(bars.items()):
        x, y, base = frame.x(i), frame.y(point.y), frame.y(0.0)
        half = 0.35 * (frame.x(1) - frame.x(0))
        parts.append(f'<rect x="{x - half:.1f}" y="{y:.1f}" width="{2 * half:.1f}" height="{base - y:.1f}" '
                     f'fill="{_COLOURS[1]}"/>')  # fmt: skip
        top, bottom = frame.y(min(point.y + point.error, 1.0)), frame.y(max(point.y - point.error, 0.0))
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top:.1f}" y2="{bottom:.1f}" stroke="#000000"/>')
        parts.append(f'<text x="{x:.1f}" y="{base + 18:.1f}" text-anchor="middle">{escape(label)}</text>')
    return _svg(title, parts)


class _Frame:
    """Where values are on the page."""

    def __init__(self, low: float, high: float, bottom: float, top: float) -> None:
        self.low, self.high, self.bottom, self.top = low, high, bottom, top

    def x(self, value: float) -> float:
        return _LEFT + (value - self.low) / (self.high - self.low) * (_WIDTH - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        return _HEIGHT - _BOTTOM - (value - self.bottom) / (self.top - self.bottom) * (_HEIGHT - _TOP - _BOTTOM)

    def axes(self, title: str, x_label: str, y_label: str) -> list[str]:
        left, right, base, top = _LEFT - 8, _WIDTH - _RIGHT + 8, self.y(self.bottom), self.y(self.top)
        middle = (_LEFT + _WIDTH - _RIGHT) / 2
        parts = [
            f'<text x="{_LEFT}" y="20" font-weight="bold">{escape(title)}</text>',
            f'<text x="{middle:.0f}" y="{_HEIGHT - 8}" text-anchor="middle">{escape(x_label)}</text>',
            f'<text x="16" y="{(base + top) / 2:.0f}" text-anchor="middle" '
            f'transform="rotate(-90 16 {(base + top) / 2:.0f})">{escape(y_label)}</text>',
        ]
        for step in range(6):
            value = self.bottom + (self.top - self.bottom) * step / 5
            y = self.y(value)
            parts.append(f'<line x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke="#dddddd"/>')
            parts.append(f'<text x="{left - 4}" y="{y + 4:.1f}" text-anchor="end">{value:.2g}</text>')
        return parts

    def x_ticks(self, values: Sequence[float]) -> list[str]:
        base, step = self.y(self.bottom), -(-len(values) // 12)
        return [f'<text x="{self.x(v):.1f}" y="{base + 18:.1f}" text-anchor="middle">{v:g}</text>'
                for v in values[::step]]  # fmt: skip


def _marker(i: int, x: float, y: float, colour: str) -> str:
    if i % 3 == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" fill="{colour}"/>'
    if i % 3 == 1:
        return f'<rect x="{x - 3:.1f}" y="{y - 3:.1f}" width="6" height="6" fill="{colour}"/>'
    return f'<path d="M{x:.1f} {y - 4:.1f} l4 7 h-8 z" fill="{colour}"/>'


def _legend(i: int, label: str, colour: str, dash: str) -> list[str]:
    x, y = _WIDTH - _RIGHT + 20, _TOP + 10 + 20 * i
    return [
        f'<line x1="{x}" x2="{x + 24}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="1.8" '
        f'stroke-dasharray="{dash}"/>',
        _marker(i, x + 12, y, colour),
        f'<text x="{x + 30}" y="{y + 4}">{escape(label)}</text>',
    ]


def _svg(title: str, parts: Sequence[str]) -> str:
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" '
        f'role="img" aria-label="{escape(title)}" font-family="sans-serif" font-size="11">\n'
        f'<rect width="100%" height="100%" fill="#ffffff"/>\n{body}\n</svg>\n'
    )
