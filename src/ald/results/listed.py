"""What a report shows of the listed groups: which groups that are, and whom to ask about each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ald.assess.assessment import assessment_terms
from ald.data.strata import Strata
from ald.groups.tree import CodedCriterion
from ald.notions import Notion, RateCounter
from ald.options import AuditConfig
from ald.results.details import Details, People, Subject, TreePeople, details, held_beside, people_of_trees
from ald.results.halving import Halving
from ald.results.privacy import rows_of_people


def listed_details(split: Halving, config: AuditConfig, people: Sequence[People]) -> Details:
    """What reports show beyond the findings, and the trees of listed groups as D2 sees them. people: D2, per answer."""
    least = rows_of_people(config.min_group_size, split.d2)
    shown = details(listed_subjects(split, config, people), assessment_terms(config), least)
    return replace(shown, trees=listed_trees(split, people, least))


# Significant groups beyond the listed ones whose members in all data are counted, too.
FURTHER = 20

# How many people of D1 satisfy each of some criteria.
MembersOfD1 = Callable[[Sequence[CodedCriterion]], list[int]]


def listed_in_d1(split: Halving, searched: MembersOfD1) -> dict[int, int]:
    """Of the listed groups and the first significant ones beyond, how many members D1 has."""
    shown = split.significant[: len(split.chosen) + FURTHER].tolist()
    criteria = split.criteria
    return dict(zip(shown, searched([criteria[i] for i in shown]), strict=True)) if shown else {}


def listed_subjects(split: Halving, config: AuditConfig, people: Sequence[People]) -> list[Subject]:
    """The listed groups with what a report needs to show them."""
    several, out = len(config.asked_outcomes) > 1, []
    for number, own in map(split.place, split.chosen.tolist()):
        question, criteria = split.answers[number].question, split.answers[number].proposed.criteria
        out.append(
            Subject(
                criterion=criteria[own],
                before=tuple(criteria[:own]) if config.explores else (),
                notion=question.notion,
                outcome=question.outcome if several else None,
                people=people[number],
                strata=split.strata,
                others=others_of(criteria[own], question.notion, people[number], split.strata, config),
            )
        )
    return out


def others_of(
    criterion: CodedCriterion, notion: Notion, people: People, strata: Strata | None, config: AuditConfig
) -> tuple[int, ...] | None:
    """The attributes that a group is held beside; None where it is not compared with the rest."""
    if config.reference != "rest":
        return None
    return held_beside(criterion, people.attributes, strata)


def listed_trees(split: Halving, people: Sequence[People], least: int = 1) -> tuple[TreePeople, ...]:
    """The trees of listed groups as D2 sees them. least: nodes of fewer people are not shown."""
    places, first = [split.place(i) for i in split.chosen.tolist()], 0
    out: list[TreePeople] = []
    for number, (answer, counted) in enumerate(zip(split.answers, people, strict=True)):
        trees = [answer.proposed.tree[own] for question, own in places if question == number]
        rates = RateCounter(answer.question.notion.rates, len(answer.question.cell_names))
        out += people_of_trees(answer.forest, trees, counted, first, rates=rates, least=least)
        first += answer.forest.n_trees
    return tuple(out)
