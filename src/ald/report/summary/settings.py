"""The settings of an audit, and what its report was made with, as tables."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy

from ald._core.version import __version__
from ald.options import AuditConfig
from ald.options.table import AUDIT_OPTIONS
from ald.report.identity import Identity
from ald.report.model import Grid, Heading
from ald.report.summary.table import word

# Settings of halves and trees, which mean nothing where there are none.
_OF_HALVES = frozenset({"fraction", "repeats", "trees", "alpha", "ranking", "adjust"})


def tabulate_settings(config: AuditConfig, *, is_everyone: bool = False) -> Grid:
    """What was asked, by the keys of the table of options; without what has no meaning where everyone is searched."""
    keys = [
        key
        for key, option in AUDIT_OPTIONS.items()
        if option.in_document and (config.searches or option.part != "search")
        if not (is_everyone and key in _OF_HALVES)
    ]
    return tabulate_some(config, keys)


def tabulate_some(config: AuditConfig, keys: Iterable[str], *beside: tuple[str, str], subject: str = "audit") -> Grid:
    """Some of the settings, and what else was asked, as pairs of a name and a value."""
    values = [(key, text) for key in keys for text in _describe_setting(key, config)]
    return _tabulate_pairs(f"Settings of this {subject}", "setting", [*beside, *values])


def _describe_setting(key: str, config: AuditConfig) -> list[str]:
    """A setting in words: nothing where it was not given, a text for each named group."""
    value = getattr(config, key)
    if key == "notion":
        value = tuple(f"{notion.name}: {notion.description or 'no description'}" for notion in config.notions)
    if key == "favourable" and isinstance(value, tuple):
        said = zip(config.outcomes, value, strict=True)
        value = tuple(f"{outcome}: {word}" for outcome, word in said if word is not None)
    if key == "named_groups":
        return list(value)
    if isinstance(value, tuple):
        return [", ".join(value)] if value else []
    return [] if value is None else [str(value).lower() if isinstance(value, bool) else str(value)]


def tabulate_versions() -> Grid:
    """What this report was made with. The audit itself does not depend on them."""
    return _tabulate_pairs("What this report was made with", "software", list(_versions().items()))


def _versions() -> dict[str, str]:
    return {
        "ALD": __version__,
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "SciPy": scipy.__version__,
    }


def trace(identity: Identity, file: str | None, sha256: str | None) -> dict[str, Any]:
    """Where a report is from, for machines: what it was made from, with which software, and how it was named."""
    return {
        "title": identity.title,
        "notes": list(identity.notes),
        "date": identity.day.isoformat(),
        "file": file,
        "sha256": sha256,
        "versions": _versions(),
    }


def _tabulate_pairs(caption: str, head: str, values: list[tuple[str, str]]) -> Grid:
    heads = (Heading(key=head, header=head, is_number=False), Heading(key="value", header="value", is_number=False))
    rows = tuple((word(name), word(value)) for name, value in values)
    return Grid(caption=caption, columns=heads, rows=rows)
