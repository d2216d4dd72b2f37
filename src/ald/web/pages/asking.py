"""The page of data before an audit: what is in it, what is asked of it, and what that could see."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ald.notions import NOTIONS, SCORE_NOTIONS
from ald.report.markup import Content, Markup, element
from ald.report.units import POINTS, units_of
from ald.report.words import count, percent, shorten
from ald.results.look import ColumnLook, Look, Part
from ald.web.fields import ABOUT, KINDS, Answers, Setting, column_parts, settings
from ald.web.ledgers import Book
from ald.web.pages.frame import button, code, described, form, head, notes, page, problem, section
from ald.web.state import REFUSED, DataSet, asks_amount, look_from

# Columns that are shown one by one; of more, the first ones.
SHOWN = 200
_SETTING_PARTS = (
    ("question", "Groups of your own"),
    ("design", "Who is compared with whom"),
    ("search", "The search"),
    ("result", "What is listed"),
    ("data", "The data"),
    ("run", "The run"),
)
# What a part of a column is called where it was guessed.
_GUESSES = {
    "outcome": "what is audited",
    "prediction": "a prediction",
    "truth": "what was true",
    "cluster": "whose row it is",
    "weights": "how many people a row is",
    "survey_weights": "a survey weight",
    "split": "which half a row is in",
    "protected": "an attribute that laws protect",
    "gives the outcome away": "gives the outcome away",
}
_ABOUT = (
    ("outcome", "An outcome: what came out for people"),
    ("prediction", "Predictions, beside what was true"),
    ("score", "Scores of a model, such as probabilities"),
)
_AUDITED = {
    "outcome": "is the outcome",
    "prediction": "is the prediction",
    "score": "is the score",
    "truth": "is the truth",
}


class Filled:
    """The form as it was filled in, to be shown again."""

    def __init__(self, data: DataSet, answers: Answers) -> None:
        self.said: dict[str, list[str]] = {}
        for name, value in data.draft or []:
            self.said.setdefault(name, []).append(value)
        self.problems = answers.problems | data.problems

    def __call__(self, name: str, default: str = "") -> str:
        return self.said.get(name, [default])[-1]

    def all(self, name: str) -> list[str]:
        return self.said.get(name, [])


def asking_page(
    data: DataSet, answers: Answers, book: Book, recipes: Sequence[tuple[str, str]], ticket: Callable[[], str]
) -> str:
    """The page. recipes: the command line and the Python code of what is asked. book: what was asked before."""
    assert data.looked is not None
    look, filled = look_from(data.looked["look"]), Filled(data, answers)
    amount = asks_amount(look)
    refused = [text.removeprefix(REFUSED) for text in look.warnings if text.startswith(REFUSED)]
    warnings = [text for text in look.warnings if not text.startswith(REFUSED)]
    columns = f"{count(look.rows, 'row')}, {count(len(look.columns), 'column')}"
    return page(
        data.name,
        head(
            shorten(data.name, 160),
            f"{columns}. Say what to audit, check what each column is, and run it.",
            eyebrow="Before the audit",
        ),
        element(
            "main",
            form(
                ticket(),
                f"/data/{data.id}",
                _summary(filled.problems),
                section(
                    "What is audited?",
                    *_audited(look, filled, data.looked["values"], amount),
                    problem(_first(refused), "audited"),
                    name="audited",
                ),
                _power(look, filled("about") == "score"),
                notes("What to know about this data", warnings),
                _columns(look, filled),
                _settings(filled),
                _reading(filled),
                _asked(data, book),
                element(
                    "div",
                    problem(filled.problems.get(""), "all"),
                    button("Run the audit", main=True, name="do", value="ask"),
                    button("Look again", name="do", value="look"),
                    class_="go",
                ),
                id_="ask",
            ),
            section("The same without this page", *(code(*each) for each in recipes), *_download(data), name="recipe"),
            section("The first rows", _preview(look, data.looked["preview"]), name="preview"),
            id="content",
        ),
        trail=[(data.name, None)],
    )


def _asked(data: DataSet, book: Book) -> Markup | None:
    """The ledger so far, before one more question is asked."""
    if not book.entries:
        return None
    answers = {question.entry.number: question.id for question in data.questions}
    lines = [
        element(
            "li",
            element("a", f"Question {entry.number}", href=f"/questions/{answers[entry.number]}")
            if entry.number in answers
            else f"Question {entry.number}",
            f": {shorten(entry.words, 300)}",
            " (exploratory)" if entry.exploratory else None,
        )
        for entry in book.entries
    ]
    n = len(book.entries)
    text = (
        f"{count(n, 'question')} {'has' if n == 1 else 'have'} been asked of this data. Another one is one more look "
        "at the same people: every p-value is then also corrected for the number of questions, in every report."
    )
    seen = " An answer has been seen, so that the next question is exploratory." if book.seen else ""
    return section("Questions so far", element("p", text + seen), element("ul", lines, class_="choices"), name="asked")


def _first(texts: Sequence[str]) -> str | None:
    """The first of them as a sentence, if there is one."""
    return texts[0][:1].upper() + texts[0][1:] if texts else None


def _summary(problems: Mapping[str, str]) -> Markup | None:
    """That something is wrong, before the fields that it concerns."""
    if not problems:
        return None
    return element(
        "p", f"{count(len(problems), 'thing')} to put right: see the marked place.", class_="problem", role="alert"
    )


def _select(name: str, options: Sequence[tuple[str, str]], chosen: str, label: str, **more: Any) -> Markup:
    """A list to choose from, with a name for who cannot see where it stands."""
    entries = [element("option", words, value=value, selected=value == chosen) for value, words in options]
    return element("select", entries, name=name, aria_label=label, **more)


def _labelled(words: str, control: Markup, filled: Filled, name: str, help_: str = "") -> Markup:
    """A field with its label above it, its help below, and what is wrong with it."""
    return element(
        "div",
        element("label", element("span", words), control),
        element("p", help_, class_="note") if help_ else None,
        problem(filled.problems.get(name), name),
        class_="field",
    )


def _audited(look: Look, filled: Filled, values: Mapping[str, list[str]], amount: bool) -> list[Content]:
    about = filled("about", "outcome")
    places = [(str(i), shorten(column.name, 80)) for i, column in enumerate(look.columns)]
    choices = [("", "choose a column"), *places]

    def column_field(key: str, words: str) -> Markup:
        control = _select(key, choices, filled(key), words, **described(filled.problems.get(key), key))
        return _labelled(words, control, filled, key)

    kinds = [
        element("label", element("input", type="radio", name="about", value=value, checked=about == value), words)
        for value, words in _ABOUT
    ]
    return [
        element("fieldset", element("legend", "Audit", class_="hidden"), kinds, class_="kinds"),
        element(
            "div",
            element("div", column_field("outcome", "Outcome"), class_="of-outcome"),
            element("div", column_field("prediction", "Prediction"), class_="of-prediction"),
            element("div", column_field("score", "Score"), class_="of-score"),
            element("div", column_field("truth", "Truth"), class_="of-truth"),
            class_="row",
        ),
        _favourable(look, filled, values, amount),
        _notions(look, filled, amount),
    ]


def _favourable(look: Look, filled: Filled, values: Mapping[str, list[str]], amount: bool) -> Markup:
    """Which value is good for people: of those that there are."""
    audited = look.outcome or look.prediction
    if filled("about") == "score":
        audited = _name(filled("truth"), look) or audited
    known = values.get(audited or "", [])
    column = look.column(audited) if audited else None
    words = "Good for people"
    chosen = filled("favourable")
    if column is not None and column.kind == "numeric" and column.distinct > 2:
        control = element("input", type="text", name="favourable", value=chosen, list="amounts", autocomplete="off")
        hints = element("datalist", element("option", value="higher"), element("option", value="lower"), id="amounts")
        help_ = "The outcome is a number: say where it is good for people, such as >= 640."
        help_ = help_ if not amount else f"{help_} Or say whether higher or lower is good, to compare means."
        return element("div", _labelled(words, control, filled, "favourable", help_), hints, class_="row")
    options = [("", "not said"), *((value, shorten(value, 60)) for value in known)]
    if chosen and chosen not in known:
        options.append((chosen, shorten(chosen, 60)))
    control = _select(
        "favourable", options, chosen, words, **described(filled.problems.get("favourable"), "favourable")
    )
    return element(
        "div",
        _labelled(words, control, filled, "favourable", "Only what is said to be good is called better or worse."),
        class_="row",
    )


def _name(place: str, look: Look) -> str | None:
    """The column at a place that a form names."""
    return look.columns[int(place)].name if place.isdigit() and int(place) < len(look.columns) else None


def _notions(look: Look, filled: Filled, amount: bool) -> Markup:
    if filled("about") == "score":
        named = [(name, f"{name}: {notion.description}") for name, notion in SCORE_NOTIONS.items()]
        options = [("", "calibration, or without a truth the mean score"), *named]
        control = _select("score-notion", options, filled("score-notion"), "What should be equal?")
        return _labelled("What should be equal?", control, filled, "notion")
    if amount:
        return element("p", "The outcome is a number: its mean is compared.", class_="note")
    chosen = filled.all("notion")
    boxes = [
        element(
            "label",
            element("input", type="checkbox", name="notion", value=name, checked=name in chosen),
            element("span", element("strong", name), ": ", NOTIONS[name].description),
        )
        for name in look.notions
    ]
    return element(
        "fieldset",
        element("legend", "What should be equal?"),
        boxes,
        problem(filled.problems.get("notion"), "notion"),
        class_="notions",
    )


def _power(look: Look, score: bool) -> Markup | None:
    """What the audit could see, before it runs."""
    if not look.detectable or score:
        return None
    units = POINTS if look.mean is None else units_of(look.mean)
    rows = [
        element(
            "tr",
            element("th", f"{entry.share:.0%} of the people", scope="row"),
            element("td", "no gap, however large" if entry.psi is None else f"{units.size(entry.psi)} or more"),
        )
        for entry in look.detectable
    ]
    heads = element("tr", element("th", "a group of", scope="col"), element("th", "shows gaps of", scope="col"))
    table = element("table", element("thead", heads), element("tbody", rows), class_="slim")
    text = (
        "With a chance of 80 % and the default settings. A smaller gap may be there and stay unseen: an empty report "
        "is no proof."
    )
    return section("What this audit could see", table, element("p", text, class_="note"), name="power")


def _columns(look: Look, filled: Filled) -> Markup:
    told: dict[str, list[str]] = {}
    for part in look.parts:
        told.setdefault(part.column, []).append(_guess(part))
    for one in look.left_out:
        told.setdefault(one.name, []).append(f"an audit leaves it out: {one.reason}")
    heads = ("column", "kind", "values", "different", "missing", "in the audit it")
    rows = [
        _column(i, column, told.get(column.name, []), look, filled) for i, column in enumerate(look.columns[:SHOWN])
    ]
    table = element(
        "table",
        element("thead", element("tr", [element("th", words, scope="col") for words in heads])),
        element("tbody", rows),
        class_="columns",
    )
    more = len(look.columns) - SHOWN
    rest = (
        element("p", f"{more:,} more columns are not shown; they describe people.", class_="note") if more > 0 else None
    )
    return section(
        "The columns",
        element("p", "Guessed from names and values: check them, and change what is not so.", class_="note"),
        element("div", table, class_="scroll", tabindex=0, role="group", aria_label="The columns"),
        rest,
        name="columns",
    )


def _guess(part: Part) -> str:
    """What a column may be, and why; those that laws protect say it themselves."""
    words = _GUESSES.get(part.part, part.part)
    return part.reason if words in part.reason else f"{words}: {part.reason}"


def _column(i: int, column: ColumnLook, told: Sequence[str], look: Look, filled: Filled) -> Markup:
    name = shorten(column.name, 120)
    kinds = [
        ("", f"{column.kind}, as read"),
        *((kind, kind) for kind in KINDS if kind != column.kind or filled(f"kind-{i}")),
    ]
    kind = _select(
        f"kind-{i}",
        kinds,
        filled(f"kind-{i}"),
        f"Kind of {name}",
        **described(filled.problems.get(f"kind-{i}"), f"kind-{i}"),
    )
    asks_order = filled(f"kind-{i}") == "ordinal" and column.kind in ("nominal", "boolean", "ordinal")
    now = " < ".join(level.level for level in column.levels)
    order = element("input", type="text", name=f"order-{i}", value=filled(f"order-{i}", now),
                    aria_label=f"Order of {name}, lowest first") if asks_order else None  # fmt: skip
    return element(
        "tr",
        element("th", name, [element("span", shorten(text, 300), class_="note") for text in told], scope="row"),
        element("td", kind, order, problem(filled.problems.get(f"kind-{i}"), f"kind-{i}"), data_label="kind"),
        element("td", _values(column), data_label="values"),
        element("td", f"{column.distinct:,}", class_="number", data_label="different"),
        element(
            "td", percent(column.missing_share) if column.missing else "none", class_="number", data_label="missing"
        ),
        element(
            "td",
            _part(i, column, name, look, filled),
            problem(filled.problems.get(f"part-{i}"), f"part-{i}"),
            data_label="in the audit it",
        ),
    )


def _part(i: int, column: ColumnLook, name: str, look: Look, filled: Filled) -> Content:
    asked = ABOUT.get(filled("about", "outcome"), ())
    audited = {filled(key): words for key, words in _AUDITED.items() if key in asked}
    if str(i) in audited:
        return element("strong", audited[str(i)])
    wrong = described(filled.problems.get(f"part-{i}"), f"part-{i}")
    chosen = filled(f"part-{i}")
    control = _select(f"part-{i}", [*column_parts().items()], chosen, f"What {name} is", **wrong)
    if chosen != "further":
        return control
    good = element(
        "input",
        type="text",
        name=f"favourable-{i}",
        value=filled(f"favourable-{i}"),
        aria_label=f"Good value of {name}",
        placeholder="good value",
    )
    return [control, good]


def _values(column: ColumnLook) -> Content:
    """A histogram with its ends, or the most frequent values with bars."""
    if column.histogram:
        # Pieces of too few people to be shown have no bar.
        known = [n or 0 for n in column.histogram]
        most = max(*known, 1)
        bars = [
            element("rect", x=6 * i, y=24 - h, width=5, height=h)
            for i, n in enumerate(known)
            for h in [0 if n == 0 else max(1, round(24 * n / most))]
        ]
        words = f"Histogram from {column.low} to {column.high}"
        drawn = element(
            "svg",
            element("title", words),
            bars,
            viewBox="0 0 96 24",
            width=96,
            height=24,
            role="img",
            class_="bars",
            aria_label=words,
        )
        return element(
            "div", drawn, element("span", f"{column.low} to {column.high}", class_="note"), class_="histogram"
        )
    most = max([level.rows for level in column.levels], default=1)
    lines = [
        element(
            "li",
            _bar(level.rows / most),
            f"{shorten(level.level, 30)} ",
            element("span", f"{level.rows:,}", class_="note"),
        )
        for level in column.levels
    ]
    more = column.distinct - len(column.levels)
    lines += [element("li", element("span", f"{more:,} more", class_="note"))] if more > 0 else []
    return element("ul", lines, class_="levels")


def _bar(share: float) -> Markup:
    """A bar beside its value, which says the same in words."""
    rect = element("rect", x=0, y=0, width=max(1, round(40 * share)), height=8)
    return element("svg", rect, viewBox="0 0 40 8", width=40, height=8, class_="bars", aria_hidden="true")


def _settings(filled: Filled) -> Markup:
    known = settings()
    parts = []
    for part, title in _SETTING_PARTS:
        own = [_setting(each, filled) for each in known if each.option.part == part]
        if own:
            parts.append(element("fieldset", element("legend", title), own, class_="settings"))
    names = {each.name for each in known}
    changed = sum(filled(each.name, each.default) != each.default for each in known)
    words = f"Settings: {count(changed, 'change')}" if changed else "Settings: the defaults, which suit most audits"
    return element(
        "section",
        element("details", element("summary", words), parts, open=not names.isdisjoint(filled.problems)),
        class_="folded",
    )


def _setting(setting: Setting, filled: Filled) -> Markup:
    name, option = setting.name, setting.option
    value, wrong = filled(name, setting.default), described(filled.problems.get(name), name)
    if option.form == "flag":
        control = element("input", type="checkbox", name=name, value="yes", checked=value == "yes")
        return element(
            "div",
            element("label", control, setting.label),
            element("p", setting.help, class_="note"),
            class_="field check",
        )
    if setting.choices:
        control = _select(name, [(choice, choice) for choice in setting.choices], value, setting.label, **wrong)
    elif option.form == "texts":
        control = element("textarea", value, name=name, rows=2, **wrong)
    elif option.form in ("whole", "number"):
        control = element("input", type="text", inputmode="decimal", name=name, value=value, **wrong)
    else:
        control = element("input", type="text", name=name, value=value, **wrong)
    return _labelled(setting.label, control, filled, name, setting.help)


def _reading(filled: Filled) -> Markup:
    opened = bool(filled("query"))
    folded = element("details", element("summary", "How the file is read"), _query(filled), open=opened)
    return element("section", folded, class_="folded")


def _query(filled: Filled) -> Markup:
    control = element("input", type="text", name="query", value=filled("query"))
    help_ = "The sheet of a workbook, or SQL where the file is a database."
    return _labelled("Sheet or query", control, filled, "query", help_)


def _preview(look: Look, rows: Sequence[Sequence[str]]) -> Markup:
    shown = [column.name for column in look.columns[: len(rows[0]) if rows else 0]]
    table = element(
        "table",
        element("thead", element("tr", [element("th", shorten(name, 40), scope="col") for name in shown])),
        element("tbody", [element("tr", [element("td", shorten(value, 60)) for value in row]) for row in rows]),
        class_="slim",
    )
    return element("div", table, class_="scroll", tabindex=0, role="group", aria_label="The first rows")


def _download(data: DataSet) -> list[Content]:
    """Where the file of the command is, if it is none of the user's."""
    if data.embedded is None:
        return []
    return [element("p", "The file of this command: ", element("a", data.command, href=f"/data/{data.id}/file"), ".")]


def unreadable_page(data: DataSet, words: str, ticket: str) -> str:
    """The page of a file that could not be looked at: how it is read may be said, and it is looked at again."""
    filled = Filled(data, Answers())
    title = "This could not be looked at"
    return page(
        title,
        head(title, eyebrow=shorten(data.name, 160)),
        element(
            "main",
            element("section", element("p", shorten(words, 3000), class_="problem", role="alert")),
            section(
                "How the file is read",
                form(ticket, f"/data/{data.id}", _query(filled), element("p", button("Look again", main=True))),
                name="reading",
            ),
            element("section", element("p", element("a", "Choose another file", href="/"))),
            id="content",
        ),
        trail=[(data.name, None)],
    )
