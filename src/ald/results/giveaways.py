"""Columns that give the outcome away, as findings: what D2 says of the conditions that D1 showed."""

from __future__ import annotations

from dataclasses import replace

from ald.groups.membership import member_mask
from ald.groups.rules import decode
from ald.options import AuditConfig
from ald.ranking import join_assessments
from ald.results.candidates import design_details
from ald.results.finding import Finding, finding
from ald.results.halving import Halving
from ald.results.listed import MembersOfD1
from ald.results.privacy import small_groups


def list_giveaways(split: Halving, config: AuditConfig, searched: MembersOfD1) -> tuple[tuple[Finding, ...], int]:
    """The columns that give the outcome away, question by question, corrected for their own number; and how many more
    conditions on such columns have too few people to be shown.

    They are no candidates of the search: their tiny p-values would make its corrected ones smaller. searched: counts
    the members of groups in D1.
    """
    answers = [(answer, answer.giveaways) for answer in split.answers if answer.giveaways is not None]
    if not answers:
        return (), 0
    adjusted = join_assessments([found for _, found in answers], config.adjust).log_p_adjusted
    out: list[Finding] = []
    n = hidden = 0
    for answer, found in answers:
        elsewhere = searched(answer.proposed.giveaways)
        assessment = replace(found, log_p_adjusted=adjusted[n : n + len(found)])
        intervals = assessment.intervals(config.level)
        small = small_groups(found, answer.proposed.giveaways, answer.d2, config)
        n, hidden = n + len(found), hidden + int(small.sum())
        out += [
            finding(
                decode(criterion, split.d1.attributes),
                assessment,
                i,
                answer.question.cell_names,
                level=config.level,
                intervals=intervals,
                unadjusted=intervals,
                place=i,
                size_elsewhere=elsewhere[i],
                outcome=answer.question.outcome if len(config.asked_outcomes) > 1 else None,
                **design_details(
                    member_mask(criterion, answer.d2), answer.d2, answer.question.notion, config, split.strata
                ),
            )
            for i, criterion in enumerate(answer.proposed.giveaways)
            if not small[i]
        ]
    return tuple(out), hidden
