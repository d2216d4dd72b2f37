"""ALD: Automatic Location of Disparities.

The steps, in order, and where they live: load and split (`ald.data`), grow (`ald.search`), assess
(`ald.assess.assessment`), rank (`ald.ranking`), report (`ald.report`). `ald.audit()` runs them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from ald._core.version import __version__

if TYPE_CHECKING:
    from ald import datasets
    from ald.auditing import audit, profile
    from ald.comparison.comparing import compare
    from ald.errors import AldError, ColumnError, CriterionError, InputError, SettingError
    from ald.groups.criterion import Criterion, Interval, Levels
    from ald.integrations.mlflow import log_audit
    from ald.looking import look
    from ald.models import audit_model
    from ald.notions import NOTIONS, Notion, Rate
    from ald.options import AuditConfig
    from ald.options.objects import Given, Search, Source, Split, SurveyWeights, source
    from ald.results.audit import Audit
    from ald.results.comparison import Comparison
    from ald.results.finding import Finding
    from ald.results.look import Look
    from ald.results.watch import Watch
    from ald.verifying import verify
    from ald.watching.watching import watch

# Where each public name lives. They are imported on first use: NumPy and SciPy take longer than `ald --help` may.
_HOMES = {
    "NOTIONS": "ald.notions",
    "AldError": "ald.errors",
    "Audit": "ald.results.audit",
    "AuditConfig": "ald.options",
    "ColumnError": "ald.errors",
    "Comparison": "ald.results.comparison",
    "Criterion": "ald.groups.criterion",
    "CriterionError": "ald.errors",
    "Finding": "ald.results.finding",
    "Given": "ald.options.objects",
    "InputError": "ald.errors",
    "Interval": "ald.groups.criterion",
    "Levels": "ald.groups.criterion",
    "Look": "ald.results.look",
    "Notion": "ald.notions",
    "Rate": "ald.notions",
    "Search": "ald.options.objects",
    "SettingError": "ald.errors",
    "Source": "ald.options.objects",
    "Split": "ald.options.objects",
    "SurveyWeights": "ald.options.objects",
    "Watch": "ald.results.watch",
    "audit": "ald.auditing",
    "audit_model": "ald.models",
    "compare": "ald.comparison.comparing",
    "datasets": "ald.datasets",
    "log_audit": "ald.integrations.mlflow",
    "look": "ald.looking",
    "profile": "ald.auditing",
    "source": "ald.options.objects",
    "verify": "ald.verifying",
    "watch": "ald.watching.watching",
}

__all__ = [
    "NOTIONS",
    "AldError",
    "Audit",
    "AuditConfig",
    "ColumnError",
    "Comparison",
    "Criterion",
    "CriterionError",
    "Finding",
    "Given",
    "InputError",
    "Interval",
    "Levels",
    "Look",
    "Notion",
    "Rate",
    "Search",
    "SettingError",
    "Source",
    "Split",
    "SurveyWeights",
    "Watch",
    "__version__",
    "audit",
    "audit_model",
    "compare",
    "datasets",
    "log_audit",
    "look",
    "profile",
    "source",
    "verify",
    "watch",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'ald' has no attribute {name!r}")
    home = importlib.import_module(_HOMES[name])
    value = home if _HOMES[name] == f"ald.{name}" else getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
