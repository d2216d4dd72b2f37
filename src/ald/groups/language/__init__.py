"""The language of criteria, as in `sex == 'F' and age > 60`: tokens, syntax, meaning. Nothing is evaluated."""

from ald.groups.language.meaning import mentioned, parse

__all__ = ["mentioned", "parse"]
