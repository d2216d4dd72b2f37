"""What several random halvings say together: how stable the listed groups are, and whether there is any disparity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ald.data.coded import AuditData
from ald.data.strata import in_classes
from ald.groups.derived import extend_data
from ald.groups.membership import correlation, member_mask
from ald.results.halving import Halving
from ald.statistics.basics import adjust, round_reported

# Groups whose memberships correlate at least this much are equivalent: the same finding in another halving.
EQUIVALENT = 0.8


def stability(splits: Sequence[Halving], data: AuditData) -> dict[int, float]:
    """Per listed group of the first halving: the share of all halvings that list an equivalent group."""
    lists = []
    for split in splits:
        criteria = split.criteria
        derived = [new for answer in split.answers for new in answer.proposed.derived]
        everyone = extend_data(in_classes(data, split.strata), derived)
        lists.append([(split.place(i)[0], member_mask(criteria[i], everyone)) for i in split.chosen.tolist()])
    out = {}
    for i, (question, mask) in zip(splits[0].chosen.tolist(), lists[0], strict=True):
        found = [
            any(question == other and abs(correlation(mask, members, data)) >= EQUIVALENT for other, members in entries)
            for entries in lists
        ]
        out[i] = sum(found) / len(found)
    return out


def p_any(splits: Sequence[Halving]) -> float:
    """One p-value for "is there any disparity at all": twice the median over halvings of the Bonferroni minimum."""
    minima = [0.0]
    for split in splits:
        adjusted = adjust(split.log_p, "bonferroni")
        minima.append(float(np.nanmin(adjusted)) if not np.isnan(adjusted).all() else 0.0)
    return (
        float(round_reported(min(1.0, 2.0 * np.exp(np.median(minima[1:])))) or 0.0)
        if len(minima) > 2
        else float(round_reported(np.exp(minima[1])) or 0.0)
    )
