"""The settings of an audit, and what its report was made with, as tables."""

from __future__ import annotations

import platform

import numpy as np
import scipy

from ald._core.version import __version__
from ald.options import AuditConfig
from ald.report.model import Column, Table
from ald.report.summary.table import word


def tabulate_settings(config: AuditConfig) -> Table:
    """What was asked for, option by option."""
    asked = [f"{notion.name}: {notion.description or 'no description'}" for notion in config.notions]
    values = [("notion", ", ".join(asked))]
    values += [("outcome", ", ".join(config.outcomes))] if config.outcomes else []
    said = {outcome: config.favourable_of(outcome) for outcome in config.outcomes or (None,)}
    words = [value if len(said) == 1 else f"{name}: {value}" for name, value in said.items() if value is not None]
    values += [("favourable", ", ".join(words))] if words else []
    named = ("prediction", "truth", "cluster", "survey_weights", "given_bins")
    values += [(name, str(getattr(config, name))) for name in named if getattr(config, name) is not None]
    values += [("given", ", ".join(config.given))] if config.given else []
    values += [("group of interest", group) for group in config.groups_of_interest]
    others: tuple[str, ...] = ("direction", "reference", "level", "adjust", "threshold")
    if config.search:
        others += ("split", "fraction", "given_in_criteria", "ranking", "groups", "trees", "alpha", "preset", "method",
                   "explore", "repeats", "seed")  # fmt: skip
    for name in others:
        value = getattr(config, name)
        values.append(
            (name, "none" if value is None else str(value).lower() if isinstance(value, bool) else f"{value}")
        )
    return _tabulate_pairs("Settings of this audit", "setting", values)


def tabulate_versions() -> Table:
    """What this report was made with. The audit itself does not depend on them."""
    made_with = [
        ("ALD", __version__),
        ("Python", platform.python_version()),
        ("NumPy", np.__version__),
        ("SciPy", scipy.__version__),
    ]
    return _tabulate_pairs("What this report was made with", "software", made_with)


def _tabulate_pairs(caption: str, head: str, values: list[tuple[str, str]]) -> Table:
    heads = (Column(key=head, header=head, is_number=False), Column(key="value", header="value", is_number=False))
    rows = tuple((word(name), word(value)) for name, value in values)
    return Table(caption=caption, columns=heads, rows=rows)
