"""What all pages share: the frame around them, and the parts that they are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ald.report.markup import Content, Markup, element, markup
from ald.report.words import shorten


def page(
    title: str,
    *content: Content,
    trail: Iterable[tuple[str, str | None]] = (),
    report: bool = False,
    refresh: bool = False,
) -> str:
    """A whole page. trail: the way back, from the start on. refresh: whether it changes by itself."""
    way: list[Content] = [element("a", element("span", "ALD", class_="mark"), "Start", href="/")]
    for words, address in trail:
        words = shorten(words, 60)
        way += [" › ", element("a", words, href=address) if address else element("span", words, aria_current="page")]
    again = element("noscript", element("meta", http_equiv="refresh", content="3"))
    whole = element(
        "html",
        element(
            "head",
            element("meta", charset="utf-8"),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            element("meta", name="color-scheme", content="light dark"),
            element("title", f"{shorten(title, 120)} · ALD"),
            element("link", rel="icon", href="data:,"),
            element("link", rel="stylesheet", href="/static/report.css"),
            element("link", rel="stylesheet", href="/static/page.css"),
            element("script", type="module", src="/static/page.js"),
            element("script", src="/static/report.js", defer=True) if report else None,
            again if refresh else None,
        ),
        element(
            "body",
            element("a", "Skip to the content", href="#content", class_="skip"),
            element("nav", element("p", way), class_="trail", aria_label="The way back"),
            *content,
            class_="page",
        ),
        lang="en",
    )
    return f"<!DOCTYPE html>\n{whole}\n"


def head(title: str, *lead: Content, eyebrow: str = "") -> Markup:
    """The head of a page: what it is about, in a heading and sentences."""
    return element(
        "header",
        element("p", eyebrow, class_="eyebrow") if eyebrow else None,
        element("h1", title),
        element("div", [element("p", text) for text in lead], class_="lead") if lead else None,
    )


def section(title: str, *content: Content, name: str, class_: str | None = None) -> Markup:
    """A part of a page with a heading."""
    return element("section", element("h2", title, id=name), *content, class_=class_, aria_labelledby=name)


def form(ticket: str, action: str, *content: Content, class_: str | None = None, id_: str | None = None) -> Markup:
    """A form that can be sent once."""
    return element(
        "form",
        element("input", type="hidden", name="ticket", value=ticket),
        *content,
        method="post",
        action=action,
        class_=class_,
        id=id_,
    )


def button(text: str, *, main: bool = False, name: str | None = None, value: str | None = None) -> Markup:
    """A button that sends its form."""
    return element("button", text, type="submit", name=name, value=value, class_="main" if main else None)


def problem(words: str | None, of: str) -> Markup | None:
    """What is wrong with a field, beside it."""
    return element("p", words, class_="problem", id=f"problem-{of}") if words else None


def described(words: str | None, of: str) -> Mapping[str, str | None]:
    """The attributes of a field with a problem."""
    return {"aria_describedby": f"problem-{of}", "aria_invalid": "true"} if words else {}


def code(language: str, text: str) -> Markup:
    """A line of code, to be copied."""
    block = element("pre", element("code", text), tabindex=0, role="group", aria_label=language)
    copy = element("button", "Copy", type="button", class_="copy", hidden=True)
    return element("figure", element("figcaption", language, " ", copy), block, class_="code")


def message(title: str, *sentences: str, back: tuple[str, str] = ("Back to the start", "/")) -> str:
    """A page that says that something did not work, and where to go on."""
    words, address = back
    return page(
        title,
        head(title),
        element(
            "main",
            element(
                "section", [element("p", text) for text in sentences], element("p", element("a", words, href=address))
            ),
            id="content",
        ),
    )


def notes(title: str, lines: Iterable[str]) -> Markup | None:
    """What to beware of."""
    told = [element("li", shorten(line, 900)) for line in lines]
    if not told:
        return None
    return element("div", element("p", element("strong", title)), element("ul", told), class_="warnings", role="note")


def several(*content: Content) -> Markup:
    """Contents one after another."""
    return markup(*content)
