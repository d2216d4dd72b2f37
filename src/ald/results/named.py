"""Groups that the user names: tested on all data, whatever the search finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ald.assess.assessment import assess_masks, assessment_terms
from ald.data.prepare import Prepared
from ald.options import AuditConfig
from ald.questions import Question
from ald.ranking import join_assessments
from ald.results import finer
from ald.results.candidates import design_details
from ald.results.finding import Finding, finding


def assess_named(prepared: Prepared, asked: Sequence[Question], config: AuditConfig) -> tuple[Finding, ...]:
    """The groups of interest, for every question, tested on all data with a correction of their own."""
    masks = prepared.whole.design.named
    if not masks:
        return ()
    terms = replace(assessment_terms(config), exact=True)
    views = [question.view(prepared.whole) for question in asked]
    found = [assess_masks(masks, view, question.notion, terms) for question, view in zip(asked, views, strict=True)]
    intervals = [one.intervals(config.level) for one in found]
    corrected = join_assessments(found, config.adjust).log_p_adjusted.reshape(len(asked), len(masks))
    found = [replace(one, log_p_adjusted=log_p) for one, log_p in zip(found, corrected, strict=True)]
    again = finer.of_named(masks, views, asked, found, prepared.strata, config)
    return tuple(
        finding(
            prepared.named[i],
            found[q],
            i,
            question.cell_names,
            level=config.level,
            intervals=intervals[q],
            unadjusted=intervals[q],
            place=i,
            outcome=question.outcome if len(config.asked_outcomes) > 1 else None,
            size_elsewhere=0,
            finer=again[q][i],
            **design_details(masks[i], views[q], question.notion, config, prepared.strata),
        )
        for i in range(len(masks))
        for q, question in enumerate(asked)
    )
