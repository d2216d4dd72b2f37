"""What a group's gap is among people who are alike otherwise, in a sentence and as a table."""

from __future__ import annotations

from collections.abc import Sequence

from ald.groups.criterion import quote
from ald.notions import Mean, Notion
from ald.report.model import Entry, Grid, Heading
from ald.report.summary.table import gap, number, text_and_numbers, word
from ald.report.units import Points, units_of_notion
from ald.report.words import confidence, list_words, p_value, percent
from ald.results.beside import Alike, AlikeGap, Beside

# Attributes in the table; the document has all.
MOST = 20
# From this share of the group on without anybody to compare with, the table says so.
_ALONE = 0.01
# A smaller change of the gap is not worth a sentence; of means a smaller part of it.
_LEAST, _LEAST_PART = 0.01, 0.1


def tell_beside(beside: Beside, notion: Notion) -> tuple[str, ...]:
    """The crude gap, that given all legitimate factors, and that given the attribute which changes it most."""
    crude = _psi(beside.crude, notion)
    if crude is None:
        return ()
    told = []
    if beside.together is not None:
        names = list_words([quote(factor.attribute) for factor in beside.factors])
        told.append(f"among people with the same {names} {_said(beside.together.gaps, notion)}")
    if beside.attributes:
        most, is_mean = _by_change(beside, notion)[0], isinstance(notion.rates[0], Mean)
        if abs((_psi(most.gaps, notion) or crude) - crude) >= (_LEAST_PART * abs(crude) if is_mean else _LEAST):
            told.append(f"among people with the same {quote(most.attribute)} {_said(most.gaps, notion)}")
        else:
            told.append(f"no other attribute by itself changes it by a {'tenth' if is_mean else 'point'}")
    units = units_of_notion(notion)
    first = f"{_said(beside.crude, notion)} points" if isinstance(units, Points) else units.gap_words(crude)
    return (f"Crude gap {'; '.join([first, *told])}.",) if told else ()


def tabulate_beside(beside: Beside, notion: Notion, level: float) -> Grid | None:
    """The crude gap, and that given legitimate factors and each other attribute, with how people differ in it."""
    held = [*beside.factors, *_by_change(beside, notion)[:MOST]]
    if not held:
        return None
    several = len(notion.rates) > 1
    shown = f"{confidence(1 - level)} interval"
    heads = [*text_and_numbers("alike in", "gap", shown, "p", "p of agreement")]
    if several:
        heads.insert(1, Heading(key="rate", header="rate", is_number=False))
    heads.append(Heading(key="most", header="differs most", is_number=False))
    heads += text_and_numbers("", "in the group", "elsewhere")[1:]
    rows = _rows("nothing (crude)", beside.crude, ("", "", ""), notion)
    for one in beside.factors:
        rows += _rows(_name(one), one.gaps, _differs(one), notion)
    if beside.together is not None and len(beside.factors) > 1:
        rows += _rows("all legitimate factors", beside.together.gaps, ("", "", ""), notion)
    for one in held[len(beside.factors) :]:
        rows += _rows(_name(one), one.gaps, _differs(one), notion)
    left = len(beside.attributes) - MOST
    more = f"; {left:,} more attributes are in the JSON document" if left > 0 else ""
    caption = f"The gap among people alike in one thing at a time; intervals are for one at a time{more}"
    return Grid(caption=caption, columns=tuple(heads), rows=tuple(rows))


def _psi(gaps: Sequence[AlikeGap], notion: Notion) -> float | None:
    """The gap; of several rates the mean of the absolute ones."""
    values = [gap.gap for gap in gaps if gap.gap is not None]
    if len(values) < len(gaps):
        return None
    return values[0] if len(notion.rates) == 1 else sum(map(abs, values)) / len(values)


def _said(gaps: Sequence[AlikeGap], notion: Notion) -> str:
    psi = _psi(gaps, notion)
    if psi is None:
        return "it is undefined"
    units = units_of_notion(notion)
    return units.unsigned(psi) if len(notion.rates) > 1 else units.signed(psi)


def _by_change(beside: Beside, notion: Notion) -> list[Alike]:
    """The attributes, those first that change the gap most."""
    crude = _psi(beside.crude, notion) or 0.0
    changes = {one.attribute: abs((_psi(one.gaps, notion) or crude) - crude) for one in beside.attributes}
    return sorted(beside.attributes, key=lambda one: -changes[one.attribute])


def _name(one: Alike) -> str:
    alone = 1 - one.compared
    return one.attribute if alone < _ALONE else f"{one.attribute} ({percent(one.compared)} comparable)"


def _differs(one: Alike) -> tuple[str, str, str]:
    return one.level, percent(one.inside), percent(one.outside)


def _rows(
    name: str, gaps: Sequence[AlikeGap], differs: tuple[str, str, str], notion: Notion
) -> list[tuple[Entry, ...]]:
    """One row per rate; how people differ stands in the first."""
    out, units = [], units_of_notion(notion)
    for r, one in enumerate(gaps):
        level, inside, outside = differs if r == 0 else ("", "", "")
        out.append(
            (
                word(name),
                *([word(notion.rates[r].name)] if len(notion.rates) > 1 else []),
                gap(one.gap, units),
                word("–" if None in one.interval else units.interval(one.interval)),
                number(one.log10_p, "–" if one.log10_p is None else p_value(one.log10_p)),
                number(one.log10_p_same, "–" if one.log10_p_same is None else p_value(one.log10_p_same)),
                word(level),
                word(inside),
                word(outside),
            )
        )
    return out
