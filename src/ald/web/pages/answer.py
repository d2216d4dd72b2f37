"""The pages of work on data: how far it is, why it could not be done, and what was found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ald.options.table import several
from ald.report.markup import Content, Markup, element
from ald.report.words import shorten
from ald.web.fields import AUDITED, CONDITIONS, RELATIONS
from ald.web.jobs import Job
from ald.web.pages.frame import button, code, form, head, page, section
from ald.web.state import DataSet, Question

# Attributes that menus offer.
SHOWN = 500

_STEPS = {
    "": "Starting",
    "load": "Reading the data",
    "look": "Looking at the columns",
    "search": "Searching for groups",
    "repeat": "Searching one random half after another",
    "again": "Searching random halves again",
    "assess": "Testing the groups",
    "rank": "Putting the groups in order",
    "power": "Counting what could have been seen",
    "report": "Writing the report",
}
# Reports to take along: their endings, and what they are.
FORMATS = {
    "html": "HTML, one file for any browser",
    "pdf": "PDF",
    "xlsx": "Excel",
    "json": "JSON, the whole audit",
    "csv": "CSV, the listed groups",
    "md": "Markdown",
}


def told_of(job: Job) -> dict[str, Any]:
    """How far work is, as its page says it."""
    left = job.seconds_left()
    return {
        "state": job.state,
        "words": "Waiting for other work to end" if job.state == "waiting" else _STEPS.get(job.step, job.step),
        "done": job.done,
        "left": "" if left is None else f"about {_time(left)} left",
    }


def _time(seconds: float) -> str:
    """A time as people say it.

    >>> _time(0.2), _time(59), _time(170)
    ('1 second', '59 seconds', '3 minutes')
    """
    n, unit = (max(round(seconds), 1), "second") if seconds < 90 else (round(seconds / 60), "minute")
    return f"{n} {unit}{'' if n == 1 else 's'}"


def progress_page(title: str, job: Job, data: DataSet, ticket: str) -> str:
    """The page while work is done: it follows by itself, and stays true when it is loaded again."""
    told = told_of(job)
    bar = element(
        "progress", max=1, value=None if told["done"] is None else f"{told['done']:.3f}", aria_label="How much is done"
    )
    return page(
        title,
        head(title, "You may leave this page, or load it again: the work goes on."),
        element(
            "main",
            element(
                "section",
                element("p", told["words"], id="step"),
                bar,
                element("p", told["left"], id="left", class_="note"),
                form(ticket, f"/jobs/{job.id}/cancel", button("Cancel")),
                id="progress",
                data_events=f"/jobs/{job.id}/events",
                aria_live="polite",
            ),
            id="content",
        ),
        trail=[(data.name, f"/data/{data.id}"), (title, None)],
        refresh=True,
    )


def failed_page(question: Question, words: str) -> str:
    """The page of an audit that could not be made, or was cancelled."""
    data, cancelled = question.data, question.job.state == "cancelled"
    title = "The audit was cancelled" if cancelled else "The audit could not be made"
    return page(
        title,
        head(title),
        element(
            "main",
            element(
                "section",
                element("p", shorten(words, 3000), class_="problem", role="alert") if words else None,
                element("p", element("a", "Back to the data, as it was filled in", href=f"/data/{data.id}")),
            ),
            id="content",
        ),
        trail=[(data.name, f"/data/{data.id}"), (title, None)],
    )


def answer_page(
    question: Question, parts: Mapping[str, Any], recipes: Sequence[tuple[str, str]], ticket: Callable[[], str]
) -> str:
    """The report of an audit, live, and what one can do with it."""
    data = question.data
    ways = [
        ("#own", "Ask about a group of your own"),
        (f"/data/{data.id}", "Ask something else"),
        ("#take", "Take it along"),
    ]
    links = element("nav", [element("a", words, href=way) for way, words in ways], class_="ways", aria_label="Ways on")
    return page(
        parts["title"],
        Markup(parts["header"]),
        element(
            "main",
            links,
            Markup(parts["content"]),
            _own_group(question, ticket()),
            _take_along(question, parts, recipes),
            id="content",
            data_question=f"/questions/{question.id}",
            data_trees=" ".join("" if tree is None else str(tree) for tree in dict.fromkeys(parts["trees"])),
        ),
        trail=[(data.name, f"/data/{data.id}"), (f"Question {question.entry.number}", None)],
        report=True,
    )


def _own_group(question: Question, ticket: str) -> Markup:
    """A group of one's own, composed by menus."""
    data = question.data
    values: Mapping[str, list[str]] = {} if data.looked is None else data.looked["values"]
    asked = {str(name) for key in AUDITED for name in several(question.options.get(key))}
    attributes = [(str(i), shorten(name, 60)) for i, name in enumerate(data.columns) if name not in asked][:SHOWN]
    rows = [
        element(
            "div",
            _choices(
                f"column-{i}", [("", "no condition" if i else "choose an attribute"), *attributes], f"Attribute {i + 1}"
            ),
            _choices(f"relation-{i}", [*RELATIONS.items()], f"Relation {i + 1}"),
            element("input", type="text", name=f"value-{i}", aria_label=f"Value {i + 1}", autocomplete="off"),
            class_="condition",
        )
        for i in range(CONDITIONS)
    ]
    lists = [
        element("datalist", [element("option", value=value) for value in values[name]], id=f"values-{place}")
        for place, _ in attributes
        if (name := data.columns[int(place)]) in values
    ]
    more = (
        "It is tested by itself, on all data, with the settings of this question. This is one more question about the "
        "same people, and exploratory: you have seen an answer."
    )
    return section(
        "Ask about a group of your own",
        element("p", more),
        form(
            ticket,
            f"/questions/{question.id}/group",
            rows,
            lists,
            element("p", button("Ask about this group", main=True)),
            id_="compose",
        ),
        name="own",
    )


def _choices(name: str, options: Sequence[tuple[str, str]], label: str) -> Markup:
    return element(
        "select", [element("option", words, value=value) for value, words in options], name=name, aria_label=label
    )


def node_page(question: Question, told: Mapping[str, Any]) -> str:
    """Who the people of a tree's node are."""
    title = f"People with {told['criterion']}" if told["criterion"] != "everyone" else "Everyone"
    rows = []
    last = ""
    for attribute, value, inside, everyone in told["rows"]:
        name = shorten(attribute, 80) if attribute != last else ""
        last = attribute
        counts = [element("td", n, class_="number") for n in (inside, everyone)]
        rows.append(element("tr", element("th", name, scope="row"), element("td", shorten(value, 80)), counts))
    heads = ("attribute", "value", "in this node", "everyone")
    table = element(
        "table",
        element(
            "thead",
            element(
                "tr",
                [
                    element("th", words, scope="col", class_="number" if i > 1 else None)
                    for i, words in enumerate(heads)
                ],
            ),
        ),
        element("tbody", rows),
        class_="slim",
    )
    people = f"{told['people']:,} of {told['of']:,} people in all data."
    why = "There is no p-value here: the tree was drawn from the data, and looks at people whom it chose itself."
    return page(
        title,
        head(shorten(title, 300), people, why, eyebrow="A node of a search tree"),
        element(
            "main",
            element(
                "section",
                element("div", table, class_="scroll", tabindex=0, role="group", aria_label="Who they are"),
                id="node",
            ),
            id="content",
        ),
        trail=[
            (question.data.name, f"/data/{question.data.id}"),
            (f"Question {question.entry.number}", f"/questions/{question.id}"),
            ("Node", None),
        ],
    )


def _take_along(question: Question, parts: Mapping[str, Any], recipes: Sequence[tuple[str, str]]) -> Content:
    files = [
        element("li", element("a", words, href=f"/questions/{question.id}/report.{ending}", download=True))
        for ending, words in FORMATS.items()
    ]
    figures = [
        element("li", element("a", shorten(title, 120), href=f"/questions/{question.id}/figures/{name}", download=True))
        for name, title in parts["figures"].items()
    ]
    drawn = element("details", element("summary", "Pictures as SVG"), element("ul", figures)) if figures else None
    data = question.data
    file = (
        element("p", "The file of this command: ", element("a", data.command, href=f"/data/{data.id}/file"), ".")
        if data.embedded is not None
        else None
    )
    return section(
        "Take it along",
        element("ul", files, class_="files"),
        drawn,
        element("h3", "The same without this page"),
        [code(*each) for each in recipes],
        file,
        name="take",
    )
