"""Numbers in words: signs, percentages, points, intervals and p-values as every report writes them."""

from __future__ import annotations

from ald.results.finding import p_text

Bounds = tuple[float | None, float | None]


def signed(value: float | None) -> str:
    return "undefined" if value is None else f"{value:+.3f}"


def percent(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.1%}"


def plain(value: float | None, digits: int = 3) -> str:
    return "undefined" if value is None else f"{value:.{digits}f}"


def interval(bounds: Bounds) -> str:
    return f"{signed(bounds[0])} to {signed(bounds[1])}" if None not in bounds else "undefined"


def p_value(log10_p: float | None) -> str:
    """A p-value at any size, without the letter.

    >>> p_value(-1234.5)
    '3.2e-1235'
    """
    return p_text(log10_p).removeprefix("p = ").removeprefix("p ")


def p_words(log10_p: float | None) -> str:
    """A p-value for running text: how small it is does not matter once it is very small.

    >>> p_words(-66.0), p_words(-1.5)
    ('below 0.001', '0.032')
    """
    return "below 0.001" if log10_p is not None and log10_p < -3 else p_value(log10_p)


def confidence(level: float) -> str:
    """A confidence as people write it.

    >>> confidence(0.95), confidence(0.9875)
    ('95%', '98.8%')
    """
    return f"{100 * level:.3g}%"


def points(difference: float) -> str:
    """The size of a difference of two rates in percentage points.

    >>> points(-0.3671), points(0.01)
    ('36.7 percentage points', '1 percentage point')
    """
    size = _number(difference)
    return f"{size} percentage point{'' if size == '1' else 's'}"


def _number(difference: float) -> str:
    return f"{abs(100 * difference):.1f}".removesuffix(".0")


def points_interval(bounds: tuple[float, float], upward: bool) -> str:
    """The ends of an interval of a difference, read in the direction of the difference.

    >>> points_interval((0.321, 0.41), True), points_interval((-0.41, -0.32), False)
    ('32.1 to 41 points', '32 to 41 points')
    >>> points_interval((-0.02, 0.31), True)
    '2 points less to 31 points more'
    """
    low, high = bounds
    if low < 0 < high:
        return f"{_number(low)} points less to {_number(high)} points more"
    first, last = (low, high) if upward else (high, low)
    return f"{_number(first)} to {_number(last)} points"


def times(ratio: float | None) -> str:
    """A ratio of rates in words, to be followed by whose rate it is; empty where it says nothing.

    >>> times(2.31), times(0.459), times(None)
    ('2.3 times', '46% of', '')
    """
    if ratio is None or ratio <= 0 or abs(ratio - 1) < 0.005:
        return ""
    return f"{ratio:.1f} times" if ratio >= 1.05 else f"{ratio:.0%} of"


# How strong the evidence of a corrected p-value is, in words; the first that is reached counts.
_EVIDENCE = ((-6.0, "very strong"), (-3.0, "strong"), (-2.0, "clear"), (-1.3, "moderate"))


def evidence(log10_p: float | None) -> str:
    """The strength of evidence in a word.

    >>> evidence(-60.0), evidence(-1.5), evidence(-0.5)
    ('very strong', 'moderate', 'weak')
    """
    if log10_p is None:
        return "undefined"
    return next((word for bound, word in _EVIDENCE if log10_p <= bound), "weak")


def joined(words: list[str]) -> str:
    """A list in words.

    >>> joined(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def shortened(text: str, length: int) -> str:
    """The text, with dots in its middle if it is longer than this.

    >>> shortened("abcdefghij", 7)
    'abc…hij'
    """
    if len(text) <= length:
        return text
    half = (length - 1) // 2
    return f"{text[: length - 1 - half]}…{text[-half:]}"


def count(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun.

    >>> count(1, "group"), count(2000, "group"), count(2, "stratum", "strata")
    ('1 group', '2,000 groups', '2 strata')
    """
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"
