"""The ledger of questions on the page: numbered, exploratory after an answer, printed everywhere."""

from __future__ import annotations

import re

import pytest

from ald.web.ledgers import Book, in_words
from tests.tables import people
from tests.web.client import Client, csv_of


def page_of(client: Client, seed: int) -> str:
    """Data that no other test asks about."""
    return client.open_file("asked.csv", csv_of(people(700, seed)))


def ledger(client: Client, question: str) -> tuple[int, list[bool]]:
    """Which question an answer is, and whether each so far is exploratory."""
    told = client.document(question)["ledger"]
    return told["number"], [one["exploratory"] for one in told["asked"]]


def test_questions_are_numbered(client: Client) -> None:
    """Each question has its number; those asked after an answer was seen are exploratory; old answers know new ones."""
    page = page_of(client, 31)
    first = client.run(page)
    assert ledger(client, first) == (1, [False])
    second = client.run(page, set__seed="1")
    third = client.run(page, set__level="0.1")
    assert ledger(client, second) == (2, [False, True, True])
    assert ledger(client, third) == (3, [False, True, True])
    assert ledger(client, first) == (1, [False, True, True])
    for number, question in ((1, first), (3, third)):
        text = client.get(question).text
        assert f"question {number} of 3 asked of this data" in text
        assert ("it is exploratory" in text) == (number > 1)
        assert f"question {number} of 3 asked" in client.get(f"{question}/report.html").text
        assert "p, 3 questions" in text
    assert "An answer has been seen" in client.get(page).text


def test_before_any_answer(client: Client) -> None:
    """Questions asked one after another before any answer is seen are not exploratory."""
    page = page_of(client, 32)
    fields = client.fields(page)
    asked = [client.send(page, page, [*fields, ("set-seed", str(seed)), ("do", "ask")]).location for seed in (3, 4)]
    events = [re.search(r'data-events="([^"]+)"', client.get(each).text) for each in asked[1:]]
    assert len(events) == 1
    for question in asked:
        client.settle(question)
    assert ledger(client, asked[1]) == (2, [False, events[0] is None])


def test_the_same_file_again(client: Client) -> None:
    """The same file under another name, also after it was closed, has the questions that were asked of it."""
    page = page_of(client, 33)
    client.get(client.run(page))
    client.send("/", f"{page}/forget")
    again = client.open_file("other name.csv", csv_of(people(700, 33)))
    assert "1 question has been asked of this data" in client.get(again).text
    assert ledger(client, client.run(again)) == (1, [False])
    assert ledger(client, client.run(again, set__seed="9")) == (2, [False, True])


def test_what_is_not_answered_does_not_count(client: Client) -> None:
    """An audit that failed is no look at the people."""
    page = page_of(client, 34)
    client.run(page, set__named_groups="nobody = x")
    assert ledger(client, client.run(page, set__named_groups="")) == (1, [False])


def test_a_group_of_ones_own(client: Client) -> None:
    """A group composed by menus is tested alone, on all data, as one more question."""
    page = page_of(client, 35)
    first = client.run(page)
    columns = list(people(2))
    menus = [
        ("column-0", str(columns.index("sex"))),
        ("relation-0", "="),
        ("value-0", "F"),
        ("column-1", str(columns.index("age"))),
        ("relation-1", ">="),
        ("value-1", "50"),
    ]
    answer = client.send(first, f"{first}/group", menus)
    own = client.settle(answer.location)
    document = client.document(own)
    assert [group["criterion"] for group in document["named_groups"]] == ["age >= 50 and sex = F"]
    assert document["config"]["search"] == "none"
    assert ledger(client, own) == (2, [False, True])
    refused = client.send(first, f"{first}/group", [("column-0", "")])
    assert (refused.status, "Choose an attribute" in refused.text) == (422, True)


def test_the_people_of_a_node(client: Client) -> None:
    """A node of a tree says who its people are, without a p-value and without a further question."""
    page = page_of(client, 36)
    question = client.run(page, set__split="random")
    text = client.get(question).text
    trees = re.search(r'data-trees="(\d+)', text)
    assert trees is not None
    root = client.get(f"{question}/trees/{trees[1]}/0").text
    assert "700 of 700 people" in root
    first = client.get(f"{question}/trees/{trees[1]}/1").text
    assert "There is no p-value here" in first
    people_in = re.search(r"([\d,]+) of 700 people", first)
    assert people_in is not None
    assert 0 < int(people_in[1]) < 700
    assert client.get(f"{question}/trees/{trees[1]}/9999").status == 422
    assert ledger(client, question) == (1, [False])


def test_a_book() -> None:
    """What has no answer has no number; the next to be answered is told as the next."""
    book = Book()
    first, second = book.ask({"outcome": "y"}), book.ask({"outcome": "y", "seed": 2})
    assert book.ledger(second).number == 1
    book.answer(second)
    book.answer(second)
    assert (book.ledger(first).number, book.ledger(second).total) == (2, 1)
    book.seen = True
    assert book.ask({}).exploratory
    assert not first.exploratory


def test_the_same_question_is_one() -> None:
    """Asked again, also before it was answered, a question is the one that was asked: no further look."""
    book = Book()
    one, same, other = (book.ask({"outcome": name}) for name in ("y", "y", "z"))
    for entry in (one, same, other):
        book.answer(entry)
    assert [one.number, same.number, other.number] == [1, 1, 2]
    book.seen = True
    again = book.ask({"outcome": "y"})
    assert (again.number, again.exploratory, book.ledger(again).total) == (1, False, 2)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"given_in_criteria": True, "outcome": ["a", "b"]}, "outcome: a, b; given in criteria: true"),
        ({"favourable": {"a": "x"}, "kinds": {"a": ["S", "M"]}}, "kinds: a S, M; favourable: a x"),
    ],
)
def test_questions_in_words(options: dict[str, object], words: str) -> None:
    """A question is told by its options, in the order of the table."""
    assert in_words(options) == words
