"""Markup that escapes by default: HTML and SVG are built from elements, and every text in them is inert.

>>> print(element("p", "a < b & c", class_="x"))
<p class="x">a &lt; b &amp; c</p>
>>> print(element("p", element("b", "bold"), " and not"))
<p><b>bold</b> and not</p>
"""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import TypeAlias

from ald.groups.criterion import visible

Content: TypeAlias = "str | int | Iterable[Content] | None"
Attribute = str | int | float | bool | None

_VOID = frozenset({"br", "hr", "input", "link", "meta", "col"})


class Markup(str):
    """Text that is markup already and is not escaped again."""

    __slots__ = ()


def drop_unseen(text: str) -> str:
    """The text without unseen characters, and without the two that XML does not know."""
    return visible(text).replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff")


def escape(text: str) -> Markup:
    """The text as markup that shows it: no element, no attribute's end, no unseen character."""
    return Markup(html.escape(drop_unseen(text)))


def markup(*content: Content) -> Markup:
    """The contents one after another; what is not markup is escaped, None is nothing."""
    parts: list[str] = []
    _collect(content, parts)
    return Markup("".join(parts))


def _collect(content: Content, parts: list[str]) -> None:
    if content is None:
        return
    if isinstance(content, Markup):
        parts.append(content)
    elif isinstance(content, str):
        parts.append(escape(content))
    elif isinstance(content, int):
        parts.append(str(content))
    else:
        for part in content:
            _collect(part, parts)


def element(tag: str, /, *content: Content, **attributes: Attribute) -> Markup:
    """An element. A trailing underscore of an attribute's name is dropped, others become hyphens.

    An attribute that is None or False is left out, and one that is True stands by its name alone.
    """
    parts = [f"<{tag}"]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        key = key.removesuffix("_").replace("_", "-")
        parts.append(f" {key}" if value is True else f' {key}="{_value(value)}"')
    parts.append(">")
    if tag not in _VOID:
        _collect(content, parts)
        parts.append(f"</{tag}>")
    return Markup("".join(parts))


def _value(value: Attribute) -> str:
    if isinstance(value, float):
        return number(value)
    return escape(str(value))


def number(value: float) -> str:
    """A coordinate: one decimal at most.

    >>> number(12.0), number(-0.04), number(3.25)
    ('12', '0', '3.2')
    """
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text
