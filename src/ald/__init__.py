"""ALD: Automatic Location of Disparities.

The steps, in order, and where they live: load and split (`ald.data`), grow (`ald.search`), assess
(`ald.evaluation`), rank (`ald.ranking`), report (`ald.report`). `ald.audit()` runs them.
"""

from ald import datasets
from ald.audit import Audit, audit
from ald.config import AuditConfig
from ald.criterion import Criterion, Interval, Levels
from ald.errors import AldError, ColumnError, InputError, SettingError
from ald.findings import Finding
from ald.notions import NOTIONS, Notion, Rate
from ald.version import __version__

__all__ = [
    "NOTIONS",
    "AldError",
    "Audit",
    "AuditConfig",
    "ColumnError",
    "Criterion",
    "Finding",
    "InputError",
    "Interval",
    "Levels",
    "Notion",
    "Rate",
    "SettingError",
    "__version__",
    "audit",
    "datasets",
]
