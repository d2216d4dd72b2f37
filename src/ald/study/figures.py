"""Figures as SVG text: lines with error bars, and counts as bars. No library, no pixels; same data, same bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from ald.report.svg import round_ticks

# Distinguishable with colour vision deficiencies (Okabe and Ito), and by dashes and markers without colour.
_COLOURS = ("#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f")
_DASHES = ("", "6 3", "2 3", "8 3 2 3")
# Bars of the favourable and of the unfavourable outcome, and lines over them.
_BARS = ("#9ecae1", "#d9d9d9")
_STEPS = ("#000000", "#d55e00", "#009e73")
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


@dataclass(frozen=True, kw_only=True)
class Counted:
    """How many people have each outcome."""

    favourable: int
    unfavourable: int


def count_chart(
    title: str, x_label: str, bars: Mapping[str, Counted], probabilities: Mapping[str, Sequence[float]]
) -> str:
    """Two bars side by side per place, people of each outcome, and steps of probabilities on an axis to the right."""
    most = max(max(bar.favourable, bar.unfavourable) for bar in bars.values())
    ticks = round_ticks(0, most)
    frame = _Frame(-0.5, len(bars) - 0.5, 0.0, ticks[-1])
    slot, base = frame.x(1) - frame.x(0), frame.y(0.0)
    parts = frame.axes(title, x_label, "people", ticks=ticks)
    for i, (label, bar) in enumerate(bars.items()):
        for side, n in ((-1, bar.favourable), (1, bar.unfavourable)):
            left, top = frame.x(i) + (-0.4 * slot if side < 0 else 0.0), frame.y(n)
            parts.append(f'<rect x="{left:.1f}" y="{top:.1f}" width="{0.4 * slot:.1f}" height="{base - top:.1f}" '
                         f'fill="{_BARS[side > 0]}"><title>{escape(label)}: {n:,}</title></rect>')  # fmt: skip
        parts.append(f'<text x="{frame.x(i):.1f}" y="{base + 16:.1f}" text-anchor="middle" font-size="9.5">'
                     f"{escape(label)}</text>")  # fmt: skip
    share = _Frame(frame.low, frame.high, 0.0, 1.0)
    parts += share.right_axis("probability")
    for i, (label, values) in enumerate(probabilities.items()):
        colour = _STEPS[i % len(_STEPS)]
        for k, value in enumerate(values):
            x, y = share.x(k), share.y(value)
            parts.append(f'<line x1="{x - slot / 2:.1f}" x2="{x + slot / 2:.1f}" y1="{y:.1f}" y2="{y:.1f}" '
                         f'stroke="{colour}" stroke-width="2.4"><title>{escape(label)}: {value:.3f}</title>'
                         "</line>")  # fmt: skip
        parts += _legend(i + 2, label, colour, "", marked=False, gap=60)
    for i, label in enumerate(("favourable outcome", "unfavourable outcome")):
        x, y = _WIDTH - _RIGHT + 60, _TOP + 5 + 20 * i
        parts.append(f'<rect x="{x}" y="{y}" width="24" height="10" fill="{_BARS[i]}"/>')
        parts.append(f'<text x="{x + 30}" y="{y + 9}">{label}</text>')
    return _svg(title, parts)


class _Frame:
    """Where values are on the page."""

    def __init__(self, low: float, high: float, bottom: float, top: float) -> None:
        self.low, self.high, self.bottom, self.top = low, high, bottom, top

    def x(self, value: float) -> float:
        return _LEFT + (value - self.low) / (self.high - self.low) * (_WIDTH - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        return _HEIGHT - _BOTTOM - (value - self.bottom) / (self.top - self.bottom) * (_HEIGHT - _TOP - _BOTTOM)

    def axes(self, title: str, x_label: str, y_label: str, ticks: Sequence[float] = ()) -> list[str]:
        left, right, base, top = _LEFT - 8, _WIDTH - _RIGHT + 8, self.y(self.bottom), self.y(self.top)
        middle = (_LEFT + _WIDTH - _RIGHT) / 2
        parts = [
            f'<text x="{_LEFT}" y="20" font-weight="bold">{escape(title)}</text>',
            f'<text x="{middle:.0f}" y="{_HEIGHT - 8}" text-anchor="middle">{escape(x_label)}</text>',
            f'<text x="16" y="{(base + top) / 2:.0f}" text-anchor="middle" '
            f'transform="rotate(-90 16 {(base + top) / 2:.0f})">{escape(y_label)}</text>',
        ]
        for value in ticks or self._fifths():
            y = self.y(value)
            parts.append(f'<line x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke="#dddddd"/>')
            parts.append(f'<text x="{left - 4}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>')
        return parts

    def right_axis(self, label: str) -> list[str]:
        """Numbers to the right of the picture, where its lines have a scale of their own."""
        x, middle = _WIDTH - _RIGHT + 12, (self.y(self.bottom) + self.y(self.top)) / 2
        turned = f'transform="rotate(90 {x + 32} {middle:.0f})"'
        return [
            *(f'<text x="{x}" y="{self.y(value) + 4:.1f}">{value:g}</text>' for value in self._fifths()),
            f'<text x="{x + 32}" y="{middle:.0f}" text-anchor="middle" {turned}>{escape(label)}</text>',
        ]

    def _fifths(self) -> list[float]:
        return [round(self.bottom + (self.top - self.bottom) * step / 5, 6) for step in range(6)]

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


def _legend(i: int, label: str, colour: str, dash: str, *, marked: bool = True, gap: int = 20) -> list[str]:
    x, y = _WIDTH - _RIGHT + gap, _TOP + 10 + 20 * i
    return [
        f'<line x1="{x}" x2="{x + 24}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="1.8" '
        f'stroke-dasharray="{dash}"/>',
        *([_marker(i, x + 12, y, colour)] if marked else []),
        f'<text x="{x + 30}" y="{y + 4}">{escape(label)}</text>',
    ]


def _svg(title: str, parts: Sequence[str]) -> str:
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" '
        f'role="img" aria-label="{escape(title)}" font-family="sans-serif" font-size="11">\n'
        f'<rect width="100%" height="100%" fill="#ffffff"/>\n{body}\n</svg>\n'
    )
