"""Search and test on the same people: SEARCH and LIST where nobody is kept apart for the tests.

What is found is held against what the same search finds in shuffled outcomes (`ald.search.everyone`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import exp, log

import numpy as np

from ald._core.arrays import IntArray
from ald.assess.assessment import assess_in_order, assessment_terms
from ald.assess.power import Detectable, detectable, known
from ald.data.coded import AuditData
from ald.groups.rules import named_in
from ald.groups.tree import CodedCriterion
from ald.notions import RateCounter
from ald.options import AuditConfig
from ald.questions import Question
from ald.results import finer
from ald.results.details import Details
from ald.results.everyone import (
    Chances,
    Claim,
    Seen,
    details_of_everyone,
    giveaways_of_everyone,
    in_order,
    is_small,
    write,
)
from ald.results.finding import Finding, Finer
from ald.results.mode import Mode
from ald.results.privacy import Hidden
from ald.rows.protocols import Whole
from ald.search.everyone.again import Again, found_again
from ald.search.everyone.beyond import Together
from ald.search.everyone.rounds import Taken
from ald.search.everyone.searching import Searched, search_everyone
from ald.search.everyone.sizes import expected_size, power, size
from ald.search.giveaways import kept_beside
from ald.statistics.basics import round_reported

Progress = Callable[[str, float], None]


@dataclass(frozen=True, kw_only=True, eq=False)
class Listed:
    """What an audit of everyone says."""

    mode: Mode
    giveaways: tuple[Finding, ...]
    groups: tuple[Finding, ...]
    candidates: tuple[Finding, ...]
    significant: tuple[int, ...]
    hidden: Hidden
    details: Callable[[], Details]
    detectable: Callable[[], tuple[Detectable, ...]]
    p_any: float


Answered = tuple[Question, AuditData, Searched]


def search_all(people: Whole, asked: Sequence[Question], config: AuditConfig, tell: Progress) -> list[Answered]:
    """SEARCH: for every question groups, and combinations that matter together, as long as chance seldom has such."""
    out = []
    for number, question in enumerate(asked):

        def progress(share: float, number: int = number) -> None:
            # The rest of the time goes to random halves.
            tell("search", 0.5 * (number + share) / len(asked))

        progress(0.0)
        data = question.view(people.data)
        searched = search_everyone(
            data,
            RateCounter(question.notion.rates, data.n_cells),
            given=frozenset(config.given),
            direction=config.sign,
            level=config.level,
            questions=len(asked),
            groups=config.groups,
            seed=config.seed,
            threads=people.threads,
            tell=progress,
        )
        out.append((question, data, searched))
    return out


def list_all(people: Whole, answered: Sequence[Answered], config: AuditConfig, tell: Progress) -> Listed:
    """LIST: all claims in one order, and what is to be said of the groups that are listed."""
    found = {id(one.claim): one for each in answered for one in _found(*each)}
    rounds: dict[tuple[int, bool], list[Claim]] = {}
    for one in found.values():
        rounds.setdefault((id(one.searched), one.taken is None), []).append(one.claim)
    everything = [found[id(claim)] for claim in in_order(list(rounds.values()))]
    ordered = [one for one in everything if not is_small(one.claim.criterion, one.claim.data, config)]
    listed = [one for one in ordered if one.claim.listed]
    chosen = listed[: config.groups]
    told = dict(zip(map(id, chosen), _tell(chosen, people, config, tell), strict=True))
    claims = [told.get(id(one), one.claim) for one in ordered]
    findings = tuple(write(claim, config, people.strata) for claim in claims)
    places = tuple(i for i, one in enumerate(ordered) if one.claim.listed)
    away, log_p_away, away_hidden = giveaways_of_everyone(
        [(question, data, searched.giveaways) for question, data, searched in answered], config, people.strata
    )
    first = [min(one.claim.key[0] for one in everything)] if everything else [0.0]
    n_hidden = len(everything) - len(ordered)
    complete = all(searched.complete for *_, searched in answered)
    return Listed(
        mode=Mode(
            name="everyone",
            shuffles=max(searched.shuffles for *_, searched in answered),
            parts=max(searched.parts for *_, searched in answered),
            complete=complete,
        ),
        giveaways=away,
        groups=tuple(findings[i] for i in places[: config.groups]),
        candidates=findings,
        significant=places,
        hidden=Hidden(
            groups=n_hidden,
            tested=n_hidden,
            significant=sum(one.claim.listed for one in everything) - len(places),
            giveaways=away_hidden,
        ),
        details=partial(details_of_everyone, [told[id(one)] for one in chosen], config, people.strata),
        detectable=partial(_detectable, answered, config),
        p_any=float(round_reported(exp(min(*first, log_p_away))) or 0.0),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Found:
    """A claim, and where it is from. criterion, before: by the numbers of the attributes that were searched.

    taken: the group's round, if it is one. least: log p that the group must have, of all rates together or of each by
    itself; empty where that is not known.
    """

    claim: Claim
    searched: Searched
    criterion: CodedCriterion
    before: tuple[CodedCriterion, ...]
    strata: IntArray
    taken: Taken | None
    least: tuple[float, ...]


def _found(question: Question, data: AuditData, searched: Searched) -> list[_Found]:
    """The claims of one question: its groups, then the combinations that are listed for no group of theirs."""
    groups, together = searched.groups, searched.together
    of_groups, of_together = (_chances(searched, rounds) for rounds in (groups, together))
    matched: dict[int, int] = {}
    for i, taken in enumerate(groups):
        named = tuple(sorted(c.attribute for c in taken.criterion))
        same = [j for j, one in enumerate(together) if one.attributes == named and j not in matched.values()]
        if taken.listed and same:
            matched[i] = same[0]
    numbers = kept_beside(data, searched.giveaways)

    def found(
        criterion: CodedCriterion, before: tuple[CodedCriterion, ...], strata: IntArray, taken: Taken | None,
        critical: tuple[float, ...], group: Chances | None, both: Chances | None,
    ) -> _Found:  # fmt: skip
        price = searched.search.described[0].prices.criterion(criterion)
        claim = Claim(
            question=question,
            data=data,
            criterion=_renumbered(named_in(criterion, searched.data), numbers),
            before=tuple(_renumbered(named_in(other, searched.data), numbers) for other in before),
            group=group,
            together=both,
        )
        least = tuple(value - price for value in critical if np.isfinite(value))
        return _Found(
            claim=claim, searched=searched, criterion=criterion, before=before, strata=strata, taken=taken, least=least
        )

    out = []
    for i, taken in enumerate(groups):
        before = tuple(earlier.criterion for earlier in groups[:i])
        both = of_together[matched[i]] if i in matched else None
        out.append(found(taken.criterion, before, taken.strata, taken, taken.critical, of_groups[i], both))
    first = groups[0].critical if groups else ()
    for j, one in enumerate(together):
        if j not in matched.values():
            out.append(found(one.criterion, (), searched.search.given, None, first, None, of_together[j]))
    return out


def _renumbered(criterion: CodedCriterion, numbers: Sequence[int]) -> CodedCriterion:
    return tuple(condition._replace(attribute=numbers[condition.attribute]) for condition in criterion)


def _chances(searched: Searched, rounds: Sequence[Taken] | Sequence[Together]) -> list[Chances]:
    """The p-values of a sequence of rounds: on the list the largest one so far counts, shared out among all claims."""
    out: list[Chances] = []
    largest, bound = -np.inf, True
    for one in rounds:
        largest, bound = max(largest, one.log_p), bound and one.chance.bound
        out.append(
            Chances(
                log_p=one.log_p,
                log_p_adjusted=min(largest + log(searched.parts), 0.0),
                as_strong=one.chance.as_strong,
                of=one.chance.shuffles,
                bound=bound,
                value=one.value,
                statistic=one.statistic,
                df=len(one.rates),
                listed=one.listed,
            )
        )
    return out


def _tell(chosen: Sequence[_Found], people: Whole, config: AuditConfig, tell: Progress) -> list[Claim]:
    """The listed claims with what is said of their sizes, and of halves of the people."""
    again: dict[int, Again] = {}
    each = list(dict.fromkeys(one.searched for one in chosen))
    for number, searched in enumerate(each):

        def tell_again(share: float, number: int = number) -> None:
            tell("again", (number + share) / len(each))

        own = [one for one in chosen if one.searched is searched]
        search = searched.search
        told = found_again(
            [(one.criterion, one.strata) for one in own], searched.data, search.rates, search.aim,
            seed=config.seed, threads=people.threads, tell=tell_again,
        )  # fmt: skip
        again |= {id(one): seen for one, seen in zip(own, told, strict=True)}
    out = []
    for number, one in enumerate(chosen):
        tell("assess", number / len(chosen))
        data, rates = one.searched.data, one.searched.search.rates
        claim = replace(one.claim, finer=_finer(one, people, config))
        if not one.least:
            out.append(claim)
            continue
        measured = size(one.criterion, one.strata, data, rates, one.least)
        new = expected_size(
            one.criterion, one.strata, data, rates,
            direction=config.sign, seed=config.seed, threads=people.threads,
        )  # fmt: skip
        numbers = kept_beside(one.claim.data, one.searched.giveaways)
        seen = again[id(one)]
        descriptions = [(_renumbered(named_in(c, data), numbers), n) for c, n in seen.descriptions]
        out.append(
            replace(
                claim,
                seen=Seen(
                    interval=measured.interval,
                    part_intervals=measured.intervals,
                    psi_new=new,
                    power=power(one.criterion, one.strata, data, rates, one.least, new) if np.isfinite(new) else 0.0,
                    halves=seen.halves,
                    found=seen.found,
                    descriptions=tuple(descriptions),
                ),
            )
        )
    return out


def _finer(one: _Found, people: Whole, config: AuditConfig) -> tuple[Finer, ...]:
    """What is left of a group where a legitimate factor is cut twice as fine, everything shuffled within that."""
    if one.taken is None or people.strata is None:
        return ()
    out = []
    claim, terms = one.claim, assessment_terms(config)
    criteria = [*claim.before, claim.criterion]
    usual = assess_in_order(criteria, claim.data, claim.question.notion, terms)
    for number, factor in enumerate(people.strata.finer):
        strata = claim.data.design.finer[number]
        again = assess_in_order(criteria, finer.within(claim.data, number), claim.question.notion, terms)
        log_p = one.searched.search.within(strata).chance_of(one.taken, one.before) + log(one.searched.parts)
        own, n_strata = len(criteria) - 1, int(strata.max()) + 1
        out.append(finer.compared(factor, n_strata, usual, own, again, own, min(log_p, 0.0), config.level))
    return tuple(out)


def _detectable(answered: Sequence[Answered], config: AuditConfig) -> tuple[Detectable, ...]:
    """What the first round could have seen, of a group that one condition of a usual price describes."""
    out: list[Detectable] = []
    for question, data, searched in answered:
        prices = [single.prices for single in searched.search.described[0].singles]
        if not searched.groups or not prices:
            continue
        critical = max(searched.groups[0].critical)
        rates = RateCounter(question.notion.rates, data.n_cells)
        level = exp(min(critical - float(np.median(np.concatenate(prices))), 0.0))
        terms = replace(assessment_terms(config), adjustment="none", exact=False)
        out += detectable(
            data.cell_counts(),
            question.notion,
            replace(terms, level=level if rates.disjoint else min(level * len(rates.rates), 1.0)),
            1,
            known=known(data, rates),
            outcome=question.outcome if len(config.asked_outcomes) > 1 else None,
        )
    return tuple(out)
