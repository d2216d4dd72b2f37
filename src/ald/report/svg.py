"""Parts of pictures: text that fits, axes with round ticks, and pictures as files of their own."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from math import ceil, floor, log10

from ald.errors import SettingError
from ald.report.markup import Attribute, Content, Markup, element, number
from ald.report.palette import LIGHT, resolve_colours
from ald.report.whole import write_whole
from ald.report.words import shorten

# The mean width of a character in ems, a little on the wide side: there are no fonts to ask.
_CHARACTER = 0.56


def fit_text(text: str, width: float, size: float = 12.0) -> str:
    """The text, shortened to about this many pixels."""
    return shorten(text, max(int(width / (size * _CHARACTER)), 3))


def text(x: float, y: float, content: Content, **attributes: Attribute) -> Markup:
    return element("text", content, x=float(x), y=float(y), **attributes)


def line(x1: float, y1: float, x2: float, y2: float, **attributes: Attribute) -> Markup:
    return element("line", x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), **attributes)


def rect(x: float, y: float, width: float, height: float, **attributes: Attribute) -> Markup:
    return element("rect", x=float(x), y=float(y), width=float(width), height=float(height), **attributes)


def circle(x: float, y: float, r: float, **attributes: Attribute) -> Markup:
    return element("circle", cx=float(x), cy=float(y), r=float(r), **attributes)


def path(strokes: list[str], **attributes: Attribute) -> Markup | None:
    """Many strokes as one element; nothing if there are none."""
    return element("path", d="".join(strokes), **attributes) if strokes else None


def horizontal(x1: float, x2: float, y: float) -> str:
    return f"M{number(x1)} {number(y)}H{number(x2)}"


def vertical(x: float, y1: float, y2: float) -> str:
    return f"M{number(x)} {number(y1)}V{number(y2)}"


@dataclass(frozen=True, kw_only=True)
class Axis:
    """A straight axis from `low` to `high` on the pixels from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        span = self.high - self.low or 1.0
        return self.start + (value - self.low) / span * (self.end - self.start)

    def ticks(self, most: int = 6) -> list[float]:
        """Round numbers on the axis, at most about this many."""
        return [
            tick for tick in round_ticks(self.low, self.high, most) if self.low - 1e-12 <= tick <= self.high + 1e-12
        ]


def round_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten that cover the range.

    >>> round_ticks(-0.12, 0.43, 6)
    [-0.2, -0.1, 0.0, 0.1, 0.2, 0.3, 0.4, 0.5]
    """
    span = max(high - low, 1e-9)
    power = 10.0 ** floor(log10(span / most))
    step = next((m * power for m in (1, 2, 5, 10) if span / (m * power) <= most), 10 * power)
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    return [round(i * step, 12) + 0.0 for i in range(first, last + 1)]


def picture(width: float, height: float, title: str, description: str, *content: Content, role: str = "img") -> Markup:
    """A picture with its name and description, which screen readers read out.

    It scales with the room it has and needs no ids, so that many fit on one page.
    """
    return element(
        "svg",
        element("title", title),
        element("desc", description),
        *content,
        xmlns="http://www.w3.org/2000/svg",
        class_="ald-picture",
        viewBox=f"0 0 {number(width)} {number(height)}",
        width=float(width),
        height=float(height),
        role=role,
        aria_label=f"{title}. {description}",
    )


def style_sheet() -> str:
    """The rules of all pictures, with colours by name."""
    return resources.files("ald.report").joinpath("static/picture.css").read_text("utf-8")


def standalone(svg: Markup) -> str:
    """The picture as a file of its own: with its rules, light colours and a ground inside."""
    rules = f"<style>{resolve_colours(style_sheet(), LIGHT)}</style>"
    ground = element("rect", width="100%", height="100%", class_="cover")
    head, end, rest = svg.partition(">")
    return f"{head}{end}{rules}{ground}{rest}\n"


@dataclass(frozen=True)
class Picture:
    """A picture as SVG text: notebooks show it, `save` writes it to a file."""

    svg: str

    def __str__(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Picture of {len(self.svg):,} characters: a notebook shows it; .save('x.svg') or 'x.png' writes it>"

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the picture as a file, .svg or .png; the latter needs the extra `pdf`."""
        file = os.fspath(path)
        ending = os.path.splitext(file)[1].casefold()
        if ending not in (".svg", ".png"):
            raise SettingError(f"cannot tell the format of the picture {file!r} by its ending. Known: .svg, .png")
        write_whole(file, self.to_png() if ending == ".png" else self.svg.encode("utf-8"))

    def to_png(self) -> bytes:
        """The picture as PNG, two pixels for each of its own; needs the extra `pdf`."""
        from ald.report.pdf import to_png

        return to_png(self.svg)


Draw = Callable[[float], Markup]


def at_two_widths(draw: Draw, wide: float, narrow: float) -> Markup:
    """A picture for wide and one for narrow windows; the style sheet of the page shows one of them."""
    return Markup(element("div", draw(wide), class_="for-wide") + element("div", draw(narrow), class_="for-narrow"))
