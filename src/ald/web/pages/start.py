"""The first page: a file, data that comes with ALD, or what was opened before."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ald.report.markup import Content, Markup, element
from ald.report.words import count
from ald.web.pages.frame import button, form, head, page, problem, section
from ald.web.state import EMBEDDED, DataSet
from ald.web.uploads import in_words

ENDINGS = ".csv, .tsv, .txt, .parquet, .json, .jsonl (each also .gz or .zst), .xlsx, .sqlite"


def start_page(opened: Sequence[DataSet], most: int, ticket: Callable[[], str], wrong: str = "") -> str:
    """The page; wrong: what was wrong with the file that was sent."""
    return page(
        "Audit for disparities",
        head(
            "Which groups of people get different outcomes?",
            "Open logged decisions: a row per person, what is known of them, and what came out. You see the data "
            "first, say what to ask, and get a report.",
            "Nothing leaves this machine: the page is served by it, and loads nothing from anywhere else.",
        ),
        element(
            "main",
            _opened(opened, ticket) if opened else None,
            section("Your file", _upload(most, ticket(), wrong), name="file"),
            section(
                "Data to try",
                element("ul", [_example(key, ticket()) for key in EMBEDDED], class_="choices"),
                name="try",
            ),
            id="content",
        ),
    )


def _upload(most: int, ticket: str, wrong: str) -> Markup:
    return element(
        "form",
        element("input", type="hidden", name="ticket", value=ticket),
        element(
            "label",
            element("strong", "Drop a file here, or choose one"),
            element("span", f"{ENDINGS}; up to {in_words(most)}", class_="note"),
            element("input", type="file", name="file", required=True),
            class_="drop",
        ),
        problem(wrong, "file"),
        element("p", button("Open it", main=True)),
        element("div", class_="sending", role="status"),
        method="post",
        action="/data",
        enctype="multipart/form-data",
        id="upload",
    )


def _example(key: str, ticket: str) -> Markup:
    entry = EMBEDDED[key]
    return element(
        "li",
        form(
            ticket, f"/embedded/{key}", button(entry.title), element("span", entry.about, class_="note"), class_="line"
        ),
    )


def _opened(opened: Sequence[DataSet], ticket: Callable[[], str]) -> Content:
    lines = [
        element(
            "li",
            element("a", data.name, href=f"/data/{data.id}"),
            element("span", count(len(data.questions), "question") + " asked", class_="note"),
            form(ticket(), f"/data/{data.id}/forget", button("Close it"), class_="line"),
            class_="line",
        )
        for data in opened
    ]
    return section("Open", element("ul", lines, class_="choices"), name="open")
