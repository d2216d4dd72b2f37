"""The language of criteria, as in `sex == 'F' and age > 60`: tokens, syntax, meaning. Nothing is evaluated."""

from ald.groups.language.meaning import find_mentioned, parse

__all__ = ["find_mentioned", "parse"]
