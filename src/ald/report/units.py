"""How numbers of a notion are written: rates in percent and their gaps in points, amounts in their own unit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from ald.notions import Mean, Notion, Rate
from ald.report.words import (
    Bounds,
    format_signed,
    gap_points,
    interval,
    percent,
    points,
    share_interval,
    unsigned,
)


class Units(Protocol):
    """Numbers of a rate or a mean as words. scale: what a gap is multiplied by where only its number is shown."""

    @property
    def scale(self) -> float: ...

    @property
    def noun(self) -> str:
        """What is inside and outside: a rate, or a mean."""

    @property
    def per_one(self) -> float:
        """How many of what colours are rounded to are 1."""

    @property
    def gaps_in(self) -> str:
        """What gaps are in, in a sentence: in points, or in a unit."""

    @property
    def gaps_head(self) -> str:
        """The same as a heading of a picture."""

    @property
    def levels_head(self) -> str:
        """What is inside and outside, as a heading of a picture."""

    def level(self, value: float | None) -> str:
        """A rate or a mean in a table."""

    def level_words(self, value: float | None) -> str:
        """The same in a sentence, with its unit."""

    def tick(self, value: float) -> str:
        """The same at an axis."""

    def level_interval(self, bounds: Bounds) -> str:
        """An interval of a rate or a mean."""

    def signed(self, value: float | None) -> str:
        """A gap with its sign."""

    def unsigned(self, value: float | None) -> str:
        """A mean of absolute gaps: it has no direction, and so no sign."""

    def short(self, value: float) -> str:
        """The size of a gap, as short as it is exact."""

    def gap_tick(self, value: float) -> str:
        """A gap at an axis."""

    def gap_words(self, value: float, *, several: bool = False) -> str:
        """A gap with its unit; the mean of several has no direction."""

    def size(self, value: float) -> str:
        """The size of a gap in a sentence."""

    def interval(self, bounds: Bounds) -> str:
        """An interval of a gap."""


@dataclass(frozen=True)
class Points:
    """Rates, and differences of rates in percentage points."""

    scale: float = 100.0
    per_one: float = 100.0
    noun: str = "rate"

    @property
    def gaps_in(self) -> str:
        return "in points"

    @property
    def gaps_head(self) -> str:
        return "Gap in points"

    @property
    def levels_head(self) -> str:
        return f"{self.noun.capitalize()}s"

    def level(self, value: float | None) -> str:
        return percent(value)

    def level_words(self, value: float | None) -> str:
        return percent(value)

    def tick(self, value: float) -> str:
        return f"{value:.0%}"

    def level_interval(self, bounds: Bounds) -> str:
        return share_interval(bounds)

    def signed(self, value: float | None) -> str:
        return format_signed(value)

    def unsigned(self, value: float | None) -> str:
        return unsigned(value)

    def short(self, value: float) -> str:
        return gap_points(value)

    def gap_tick(self, value: float) -> str:
        return "0" if value == 0 else f"{100 * value:+.1f}".removesuffix(".0")

    def gap_words(self, value: float, *, several: bool = False) -> str:
        text = unsigned(value) if several else format_signed(value)
        return f"{text} {'point' if gap_points(value) == '1' else 'points'}"

    def size(self, value: float) -> str:
        return points(value)

    def interval(self, bounds: Bounds) -> str:
        return interval(bounds)


@dataclass(frozen=True)
class Amounts:
    """Means of an amount with as many decimals as say something, in a unit if it has one.

    >>> wage = Amounts(unit="EUR")
    >>> wage.level_words(2909.66), wage.gap_words(-411.8), wage.size(-411.8), wage.interval((-474.2, -350.1))
    ('2,910 EUR', '-412 EUR', '412 EUR', '-474 to -350')
    """

    unit: str = ""
    decimals: int = 0
    scale: float = 1.0
    noun: str = "mean"

    @property
    def per_one(self) -> float:
        return 10.0**self.decimals

    @property
    def gaps_in(self) -> str:
        return f"in {self.unit}" if self.unit else "in the outcome's own unit"

    @property
    def gaps_head(self) -> str:
        return f"Gap in {self.unit}" if self.unit else "Gap"

    @property
    def levels_head(self) -> str:
        return "Means"

    def _number(self, value: float, sign: str = "-") -> str:
        text = f"{value:{sign},.{self.decimals}f}"
        return text[1:] if text[0] in "+-" and not text.strip("+-0.,") else text

    def _with_unit(self, text: str) -> str:
        return f"{text} {self.unit}" if self.unit else text

    def level(self, value: float | None) -> str:
        return "undefined" if value is None else self._number(value)

    def level_words(self, value: float | None) -> str:
        return "undefined" if value is None else self._with_unit(self._number(value))

    def tick(self, value: float) -> str:
        return f"{value:,.12g}"

    def level_interval(self, bounds: Bounds) -> str:
        return f"{self.level(bounds[0])} to {self.level(bounds[1])}" if None not in bounds else "undefined"

    def signed(self, value: float | None) -> str:
        return "undefined" if value is None else self._number(value, "+")

    def unsigned(self, value: float | None) -> str:
        return self.level(value)

    def short(self, value: float) -> str:
        return self._number(abs(value))

    def gap_tick(self, value: float) -> str:
        return "0" if value == 0 else f"{value:+,.12g}"

    def gap_words(self, value: float, *, several: bool = False) -> str:
        return self._with_unit(self._number(value, "-" if several else "+"))

    def size(self, value: float) -> str:
        return self._with_unit(self.short(value))

    def interval(self, bounds: Bounds) -> str:
        return self.level_interval(bounds)

    def difference(self, value: float, bounds: Bounds, confidence: str) -> str:
        """A difference of means as people say it, with its interval.

        >>> wage = Amounts(unit="EUR")
        >>> wage.difference(-411.8, (-474.2, -350.1), "95%")
        'on average 412 EUR less, 95% interval 350 to 474'
        >>> wage.difference(120.0, (-20.0, 260.0), "95%")
        'on average 120 EUR more, 95% interval 20 less to 260 more'
        """
        way = "more" if value > 0 else "less"
        text = f"on average {self.size(value)} {way}" if self.short(value).strip("0.,") else "on average as much"
        low, high = bounds
        if low is None or high is None:
            return text
        if low < 0 < high:
            return f"{text}, {confidence} interval {self.short(low)} less to {self.short(high)} more"
        first, last = sorted((abs(low), abs(high)))
        turned = f" {'more' if high > 0 else 'less'}" if text.endswith("much") else ""
        return f"{text}, {confidence} interval {self.short(first)} to {self.short(last)}{turned}"


POINTS = Points()


def units_of(rate: Rate) -> Units:
    """How the numbers of a rate or a mean are written."""
    if not isinstance(rate, Mean):
        return POINTS
    return Points(noun="mean") if rate.is_share else Amounts(unit=rate.unit, decimals=rate.decimals)


def units_of_notion(notion: Notion) -> Units:
    """How psi of a notion is written: all its rates are of one kind."""
    return units_of(notion.rates[0])


def common_units(notions: Iterable[Notion]) -> Units:
    """How gaps of all these notions are written in one table: points, if not all are amounts of one unit."""
    found = list(dict.fromkeys(units_of_notion(notion) for notion in notions))
    return found[0] if len(found) == 1 else POINTS
