"""Columns that identify people rather than describe them, and what is said about them."""

from __future__ import annotations

# Unordered columns with more distinct values per row than this, and whole numbers that never repeat, identify
# people rather than describe them. Small tables are not judged.
IDENTIFIER_SHARE = 0.9
IDENTIFIER_ROWS = 50


def words_reason(distinct: int, observed: int, *, about: bool = False) -> str:
    """Why a column of words is left out; `about`: their number was estimated."""
    n = f"about {min(distinct, observed):,}" if about else f"{distinct:,}"
    return f"identifier-like ({n} different values in {observed:,} rows)"


def numbers_reason(observed: int) -> str:
    """Why a column of whole numbers is left out."""
    return f"identifier-like (a different whole number in each of {observed:,} rows)"
