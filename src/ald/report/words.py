"""Numbers in words: signs, percentages, points, intervals and p-values as every report writes them."""

from __future__ import annotations

from ald.results.finding import p_text

Bounds = tuple[float | None, float | None]


def what_colours_say(noun: str) -> str:
    """What colours of pictures say of rates, or means, and what they do not.

    >>> what_colours_say("mean")
    'Colours say which mean is higher, not whether that is good.'
    """
    example = ": a higher false negative rate, say, is not" if noun == "rate" else ""
    return f"Colours say which {noun} is higher, not whether that is good{example}."


def format_signed(value: float | None) -> str:
    """A difference of two rates in percentage points, with its sign.

    >>> format_signed(-0.1994), format_signed(0.3781), format_signed(0.0), format_signed(None)
    ('-19.9', '+37.8', '0.0', 'undefined')
    """
    if value is None:
        return "undefined"
    text = f"{100 * value:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text


def unsigned(value: float | None) -> str:
    """A mean of absolute differences in percentage points: it has no direction, and so no sign."""
    return format_signed(value).removeprefix("+")


def gap_points(value: float) -> str:
    """The size of a difference in percentage points, as short as it is exact.

    >>> gap_points(-0.3671), gap_points(0.01)
    ('36.7', '1')
    """
    return f"{abs(100 * value):.1f}".removesuffix(".0")


def percent(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.1%}".replace("-0.0%", "0.0%")


def plain(value: float | None, digits: int = 3) -> str:
    return "undefined" if value is None else f"{value:.{digits}f}"


def interval(bounds: Bounds) -> str:
    """An interval of a difference in percentage points.

    >>> interval((-0.2362, -0.1629)), interval((None, 0.2))
    ('-23.6 to -16.3', 'undefined')
    """
    return f"{unsigned(bounds[0])} to {unsigned(bounds[1])}" if None not in bounds else "undefined"


def share_interval(bounds: Bounds) -> str:
    """An interval of a rate."""
    return f"{percent(bounds[0])} to {percent(bounds[1])}" if None not in bounds else "undefined"


def p_value(log10_p: float | None) -> str:
    """A p-value without the letter: how small it is does not matter once it is very small.

    >>> p_value(-1234.5), p_value(-1.5), p_value(None)
    ('<0.001', '0.032', 'undefined')
    """
    return p_text(log10_p).removeprefix("p = ").removeprefix("p ").replace("< ", "<")


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
    size = gap_points(difference)
    return f"{size} percentage point{'' if size == '1' else 's'}"


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


def list_words(words: list[str]) -> str:
    """A list in words.

    >>> list_words(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def shorten(text: str, length: int) -> str:
    """The text, with dots in its middle if it is longer than this.

    >>> shorten("abcdefghij", 7)
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
