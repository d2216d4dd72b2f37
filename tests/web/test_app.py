"""The pages by their addresses: from a file to the answer, whose numbers are those of the command that it shows."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import ald
from ald.cli.main import cli
from ald.web.pages.answer import FORMATS
from ald.web.state import EMBEDDED
from tests.tables import decisions, hostile, people
from tests.web.client import Client, berkeley, csv_of, files_below, heading, recipe

# An audit of minutes.
SLOW = [("set-split", "random"), ("set-repeats", "5000")]


def place(page: str, column: str) -> str:
    """The place of a column in the lists of a page."""
    found = re.search(rf'<option value="(\d+)"[^>]*>{re.escape(column)}</option>', page)
    assert found is not None
    return found[1]


# Per case a file, and what is changed in its form: fields by name, parts of columns by "part of" the column.
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "as it comes": (people(900), {}),
    "settings": (people(900), {"set__level": "0.2", "set__groups": "5", "set__seed": "7", "set__split": "random"}),
    "an attribute turned off": (people(900), {"part of age": "exclude"}),
    "a factor": (people(900), {"part of age": "given", "set__given_bins": "3", "set__given_in_criteria": "yes"}),
    "a group in words": (people(900), {"set__named_groups": "sex = F and age > 60\nsex = M", "set__search": "none"}),
    "a kind": (people(900), {"kind of age": "nominal", "part of score": "exclude"}),
    "predictions": (decisions(), {"notion": ["equalized odds", "predictive parity"]}),
    "scores": (decisions() | {"chance": [round(0.2 + 0.6 * (i % 7) / 7, 3) for i in range(800)]},
               {"about": "score", "score": "4", "truth": "3", "score-notion": "Brier score"}),
    "two outcomes": (people(900) | {"z": people(900, 5)["y"]}, {"part of z": "further", "set__split": "random"}),
}  # fmt: skip


def without_ledger(client: Client, question: str) -> Any:
    """The document of an answer but for the questions that were asked on the page, which no command knows."""
    document = client.document(question)
    assert document.pop("ledger")["number"] >= 1
    return document


@pytest.mark.parametrize("case", CASES)
def test_numbers_are_those_of_the_command(case: str, client: Client, tmp_path: Path, monkeypatch: Any) -> None:
    """The document of an answer is what the command that its page shows prints with --format json."""
    columns, changes = CASES[case]
    page = client.open_file("people.csv", csv_of(columns))
    text = client.get(page).text
    named = {
        f"{key.split(' of ')[0]}__{place(text, key.split(' of ')[1])}": value
        for key, value in changes.items()
        if " of " in key
    }
    question = client.run(page, **{key: value for key, value in changes.items() if " of " not in key} | named)
    shown = client.get(question).text
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_bytes(csv_of(columns))
    words = shlex.split(recipe(shown, "Command line"))
    assert words[:3] == ["ald", "audit", "people.csv"]
    printed = CliRunner().invoke(cli, [*words[1:], "--format", "json"]).output
    assert without_ledger(client, question) == json.loads(printed)
    assert len(words) > 3 + len(changes)


def test_python_code_gives_the_same(client: Client, tmp_path: Path, monkeypatch: Any) -> None:
    """The Python code that a page shows gives the same audit."""
    page = client.open_file("people.csv", csv_of(people(900)))
    age = place(client.get(page).text, "age")
    question = client.run(page, **{f"part__{age}": "given", "set__given_bins": "3", "set__trees": "6"})
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_bytes(csv_of(people(900)))
    found = eval(recipe(client.get(question).text, "Python"), {"ald": ald})
    assert found.to_dict() == without_ledger(client, question)
    assert found.config.given_bins == 3


@pytest.mark.parametrize("key", EMBEDDED)
def test_embedded_data(key: str, client: Client, tmp_path: Path, monkeypatch: Any) -> None:
    """Data that comes with ALD is opened and audited by two clicks; its file and its Python code give the same."""
    page = client.open_embedded(key)
    question = client.run(page)
    shown = client.get(question).text
    words = shlex.split(recipe(shown, "Command line"))
    (tmp_path / words[2]).write_bytes(client.get(f"{page}/file").body)
    monkeypatch.chdir(tmp_path)
    printed = CliRunner().invoke(cli, [*words[1:], "--format", "json"]).output
    document = without_ledger(client, question)
    assert document == json.loads(printed)
    assert eval(recipe(shown, "Python"), {"ald": ald}).to_dict() == document


def test_the_page_of_data(client: Client) -> None:
    """Before the audit one sees rows, columns with kind and values, what was guessed, and what the audit could see."""
    text = client.get(client.open_embedded()).text
    seen = ald.look(ald.datasets.load_berkeley())
    assert "4,526 rows, 3 columns" in text
    assert all(f'aria-label="Kind of {column.name}"' in text for column in seen.columns)
    assert "an attribute that laws protect" in text
    assert re.search(r"10% of the people</th><td>11.5 percentage points or more", text)
    assert '<option value="yes" selected>yes</option>' in text


def test_changed_roles(client: Client) -> None:
    """Another outcome has its own values to choose from, and its own sight; predictions have other notions."""
    page = client.open_file("d.csv", csv_of(decisions(seed=77)))
    before = client.get(page).text
    assert "equalized odds" in before
    client.look(page, about="outcome", outcome=place(before, "group"))
    text = client.get(page).text
    assert "equalized odds" not in text
    assert [name for name in ("a", "b", "c") if f'<option value="{name}">{name}</option>' in text] == ["a", "b", "c"]
    assert "choose" in text


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("set__level", "2", "Must be above 0 and at most 1, not 2.0"),
        ("set__trees", "many", "Must be a number, not &#x27;many&#x27;"),
        ("set__adjust", "all", "Unknown adjust"),
        ("outcome", "", "Choose a column."),
        ("set__named_groups", "seks = F", "no column"),
        ("set__threshold", "-1", "Must be from 0 on"),
    ],
)
def test_problems_stand_at_their_field(field: str, value: str, words: str, client: Client) -> None:
    """What is wrong is said beside the field that it concerns, which stays as it was filled in."""
    page = client.open_file("people.csv", csv_of(people(600)))
    client.run(page, **{field: value})
    text = client.get(page).text
    name = field.replace("__", "-")
    at = re.search(rf'<p class="problem" id="problem-{name}">([^<]*)</p>', text)
    assert at is not None
    assert words in at[1]
    assert f'aria-describedby="problem-{name}"' in text
    if value:
        assert value in text


def test_the_favourable_value_is_asked_for(client: Client) -> None:
    """Where nobody can tell which of two words is good, the page asks before it runs; chosen, it runs."""
    columns = people(700, 51)
    columns["band"] = ["high" if y else "low" for y in columns.pop("y")]
    page = client.open_file("band.csv", csv_of(columns))
    client.look(page, about="outcome", outcome=place(client.get(page).text, "band"))
    assert client.run(page) == page
    assert "nobody can tell which" in client.get(page).text
    client.look(page, favourable="high")
    assert client.document(client.run(page))["config"]["favourable"] == "high"


def test_the_same_question_is_asked_once(client: Client) -> None:
    """The same form sent twice leads to one audit."""
    page = client.open_file("people.csv", csv_of(people(500)))
    assert client.run(page) == client.run(page)
    assert client.run(page) != client.run(page, set__seed="5")


@pytest.mark.parametrize("format_", FORMATS)
def test_reports(format_: str, client: Client) -> None:
    """Every format is a file to keep, that of the same audit."""
    question = client.run(client.open_embedded())
    answer = client.get(f"{question}/report.{format_}")
    assert answer.status == 200
    assert answer.headers["content-disposition"] == f'attachment; filename="audit.{format_}"'
    starts = {"html": b"<!DOCTYPE html>", "pdf": b"%PDF", "xlsx": b"PK", "json": b"{", "csv": b"rank", "md": b"# "}
    assert answer.body.startswith(starts[format_])


def test_figures(client: Client) -> None:
    """Pictures are SVG files; only those of the audit are there."""
    question = client.run(client.open_embedded())
    names = re.findall(rf'href="{question}/figures/([^"]+)"', client.get(question).text)
    assert "groups.svg" in names
    for name in names:
        answer = client.get(f"{question}/figures/{name}")
        assert answer.body.startswith(b"<svg")
        assert "attachment" in answer.headers["content-disposition"]
    for name in ("audit.json", "..%2Faudit.json", "nothing.svg"):
        assert client.get(f"{question}/figures/{name}").status == 404


def test_nothing_found(client: Client) -> None:
    """An audit that lists nothing says so, and what it could have seen."""
    data = {"x": [i % 5 for i in range(1000)], "y": [(i // 5) % 2 for i in range(1000)]}
    shown = client.get(client.run(client.open_file("n.csv", csv_of(data)))).text
    assert heading(shown).startswith("No significant disparity found.")
    assert "What the audit could have seen" in shown


def test_a_number_as_outcome(client: Client) -> None:
    """An outcome that is a number is audited by its mean, or as yes and no where the page is told where it is good."""
    columns = people(1500)
    columns["pay"] = [20 + a / 10 + (5 if s == "F" else 0) for a, s in zip(columns["age"], columns["sex"], strict=True)]
    page = client.open_file("pay.csv", csv_of({name: columns[name] for name in ("age", "sex", "pay")}))
    pay = place(client.get(page).text, "pay")
    client.look(page, about="outcome", outcome=pay)
    assert "its mean is compared" in client.get(page).text
    client.look(page, favourable="higher")
    means = client.document(client.run(page))
    assert means["notions"][0]["rates"][0]["name"] == "mean pay"
    assert means["groups"]
    client.look(page, favourable=">= 26")
    question = client.run(page)
    assert client.document(question)["config"]["favourable"] == ">= 26"
    assert client.document(question)["groups"]


def test_hostile_names(client: Client) -> None:
    """Names and values are text on every page: no element of theirs, no field of theirs."""
    bad = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "part-1", "\u202eright"]
    page = client.open_file('x"><script>.csv', csv_of(hostile(bad, bad)))
    question = client.run(page)
    for text in (client.get(page).text, client.get(question).text, client.get("/").text):
        assert "<script>alert" not in text
        assert "<img" not in text
        assert "\u202e" not in text


def test_a_file_that_cannot_be_read(client: Client) -> None:
    """Garbage costs a page that says what is wrong, by the name that the file has."""
    page = client.open_file("holiday.parquet", b"PAR1 this is none PAR1")
    answer = client.get(page)
    assert answer.status == 422
    assert "holiday.parquet" in answer.text
    assert "data.parquet" not in answer.text


def test_a_sheet_that_must_be_named(client: Client, tmp_path: Path) -> None:
    """Of a workbook with several sheets one is named on the page, and the file is looked at again."""
    import openpyxl

    book = openpyxl.Workbook()
    for title in ("one", "two"):
        sheet = book.create_sheet(title)
        for row in [("sex", "y"), *zip(["F", "M"] * 60, [0, 1, 1] * 40, strict=True)]:
            sheet.append(row)
    book.save(tmp_path / "b.xlsx")
    page = client.open_file("b.xlsx", (tmp_path / "b.xlsx").read_bytes())
    assert "sheet" in client.get(page).text
    client.send(page, page, [("query", "two")])
    assert "120 rows, 2 columns" in client.get(client.settle(page)).text


def test_progress_survives_a_reload(client: Client) -> None:
    """While it runs the page of an audit shows how far it is, however often it is loaded; news come as events."""
    page = client.open_file("people.csv", csv_of(people(4000, 9)))
    answer = client.send(page, page, [*client.fields(page), *SLOW, ("do", "ask")])
    question = answer.location
    for _ in range(2):
        text = client.get(question).text
        assert "<progress" in text
    events = re.search(r'data-events="([^"]+)"', text)
    assert events is not None
    job = events[1].removesuffix("/events")
    cancelled = client.send(question, f"{job}/cancel")
    assert cancelled.location == question
    assert heading(client.get(question).text) == "The audit was cancelled"
    news = client.get(events[1]).text
    assert json.loads(news.removeprefix("data: "))["state"] == "cancelled"
    # What was filled in is there again.
    assert SLOW[-1] in client.fields(page)


def test_closing_data_removes_its_files(client: Client, server: Any) -> None:
    """Data that is closed is gone, with its files and answers; other data stays."""
    page = client.open_file("mine.csv", berkeley())
    question = client.run(page)
    kept = [path for path in files_below(server.folder) if path.read_bytes() == berkeley()]
    assert len(kept) == 1
    assert client.send("/", f"{page}/forget").status == 303
    assert client.get(page).status == 404
    assert client.get(question).status == 404
    assert not kept[0].exists()


def test_unknown_addresses(client: Client) -> None:
    """Whatever is not there is a page that says so."""
    for path in (
        "/nothing",
        "/data/none",
        "/questions/none",
        "/jobs/none/events",
        "/static/none.js",
        "/static/..%2fapp.py",
    ):
        assert client.get(path).status == 404
    assert client.ask("PUT", "/").status == 405
