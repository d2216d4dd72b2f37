"""The options of an audit: the table that declares them, the objects that hold several, and checked settings."""

from ald.options.config import AuditConfig

__all__ = ["AuditConfig"]
