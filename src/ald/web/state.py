"""What a server knows while it runs: the data that was opened, and what was asked of it. Nothing outlives it."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ald.data.inputs.addresses import is_address, mask_secrets
from ald.errors import InputError
from ald.web.fields import AUDITED, Answers, asked_of_look, first_answers, read, suggested_notion
from ald.web.jobs import Job, Jobs
from ald.web.ledgers import Book, Entry
from ald.web.worker import LOOK

Pairs = list[tuple[str, str]]

# How a look says that an audit would refuse the data.
REFUSED = "an audit would refuse this: "


@dataclass(frozen=True, kw_only=True)
class Embedded:
    """Data that comes with ALD: how it is called in `ald.datasets`, the name of its file, and what it is."""

    function: str
    arguments: tuple[int, ...] = ()
    file: str
    title: str
    about: str

    @property
    def code(self) -> str:
        """It in Python."""
        return f"ald.datasets.{self.function}({', '.join(map(str, self.arguments))})"


EMBEDDED: Mapping[str, Embedded] = {
    "berkeley": Embedded(
        function="load_berkeley",
        file="berkeley.csv",
        title="Admissions at Berkeley, 1973",
        about="4,526 applicants to six departments: were women admitted less often?",
    ),
    "band": Embedded(
        function="make_synthetic",
        arguments=(1,),
        file="synthetic-1.csv",
        title="Made-up data: a band of ages",
        about="10,000 people of known truth: those in the middle of life fare otherwise.",
    ),
    "hidden": Embedded(
        function="make_synthetic",
        arguments=(2,),
        file="synthetic-2.csv",
        title="Made-up data: a hidden combination",
        about="10,000 people of known truth: neither race nor gender alone shows anything.",
    ),
}


@dataclass(eq=False)
class DataSet:
    """Data that was opened: what it is called, where it is, and the form as it was last filled in.

    name: as people see it; never a path of ours. source: as the worker takes it. command, code: as the command line and
    Python name it. draft: None before the first look has said how to fill in the form.
    """

    name: str
    source: Mapping[str, Any]
    command: str
    code: str
    folder: str | None = None
    embedded: str | None = None
    id: str = field(default_factory=lambda: secrets.token_urlsafe(9))
    draft: Pairs | None = None
    problems: dict[str, str] = field(default_factory=dict)
    job: Job | None = None
    looked: Mapping[str, Any] | None = None
    questions: list[Question] = field(default_factory=list)
    asked: Mapping[str, Any] = field(default_factory=dict)
    _of_job: Job | None = None

    @property
    def columns(self) -> list[str]:
        """The names of the columns, as the last look found them."""
        return [] if self.looked is None else [column["name"] for column in self.looked["look"]["columns"]]

    def see(self) -> None:
        """Takes over what a look that is done has found."""
        if self.job is not None and self.job.state == "done" and self._of_job is not self.job:
            self.looked, self._of_job = self.job.read(LOOK), self.job
            look = look_from(self.looked["look"])
            if self.draft is None:
                self.draft = first_answers(look)
            said = {name for name, _ in self.draft}
            if "favourable" not in said and look.favourable is not None and dict(self.draft).get("about") != "score":
                self.draft.append(("favourable", look.favourable))
            if "notion" not in said and look.notions:
                self.draft.append(("notion", suggested_notion(look.notions)))
            self.asked = asked_of_look(self.draft, self.columns)
            self.problems = {}

    def fill_in(self, pairs: Pairs) -> None:
        """Takes the form as it was sent; what belongs to another outcome is asked anew."""
        before, now = dict(self.draft or []), dict(pairs)
        if any(before.get(key, "") != now.get(key, "") for key in ("about", *AUDITED)):
            pairs = [(name, value) for name, value in pairs if name not in ("favourable", "notion")]
        self.draft = pairs


@dataclass(eq=False)
class Question:
    """One audit that was asked of the data."""

    data: DataSet
    options: dict[str, Any]
    pairs: Pairs
    job: Job
    book: Book
    entry: Entry
    sha256: str | None = None
    id: str = field(default_factory=lambda: secrets.token_urlsafe(9))
    files: dict[str, Job] = field(default_factory=dict)

    @property
    def ledger(self) -> dict[str, Any]:
        """All questions asked of the data so far, as plain data."""
        return self.book.ledger(self.entry).to_dict()


class State:
    """All data and questions of a server. folder: where its files lie. most: bytes that a file may have."""

    def __init__(self, folder: str, jobs: Jobs, most: int) -> None:
        self.folder, self.jobs, self.most = folder, jobs, most
        self.data: dict[str, DataSet] = {}
        self.questions: dict[str, Question] = {}
        self.books: dict[str, Book] = {}
        self.incoming = 0

    def check_given(self, path: str) -> None:
        """Raises where there is no data of this name."""
        if not is_address(path) and not os.path.exists(path):
            raise InputError(f"there is no file {path!r}")

    def add_given(self, path: str) -> DataSet:
        """The data that the command line named."""
        if is_address(path):
            source, shown = path, mask_secrets(path)
        else:
            source, shown = os.path.abspath(path), path
        name = shown if is_address(path) else os.path.basename(source.rstrip(os.sep))
        return self._add(DataSet(name=name, source={"path": source}, command=shown, code=repr(shown)))

    def add_embedded(self, key: str) -> DataSet:
        """Data that comes with ALD; the same that was opened before, if it was."""
        known = next((one for one in self.data.values() if one.embedded == key), None)
        if known is not None:
            return known
        entry = EMBEDDED[key]
        source = {"embedded": entry.function, "arguments": list(entry.arguments)}
        return self._add(DataSet(name=entry.title, source=source, command=entry.file, code=entry.code, embedded=key))

    def new_folder(self) -> str:
        """A folder for a file that comes in."""
        folder = os.path.join(self.folder, f"data-{secrets.token_hex(8)}")
        os.mkdir(folder, 0o700)
        return folder

    def add_file(self, folder: str, path: str, name: str) -> DataSet:
        """A file that came in."""
        return self._add(DataSet(name=name, source={"path": path}, command=name, code=repr(name), folder=folder))

    def _add(self, data: DataSet) -> DataSet:
        self.data[data.id] = data
        self.look(data)
        return data

    def look(self, data: DataSet) -> Job:
        """A look at the data with the form as it is; the last one, if that saw the same."""
        data.see()
        asked = {} if data.draft is None else asked_of_look(data.draft, data.columns)
        if data.job is not None and data.asked == asked and data.job.state in ("waiting", "running", "done"):
            return data.job
        if data.job is not None:
            self.jobs.forget(data.job)
        data.asked = asked
        data.job = self.jobs.start("look", source=data.source, asked=asked)
        return data.job

    def read(self, data: DataSet) -> Answers:
        """The form of the data as it was last filled in."""
        assert data.looked is not None
        look = look_from(data.looked["look"])
        notions = () if asks_amount(look) else look.notions
        answers = read(data.draft or [], data.columns, notions, look.columns)
        if data.looked["needs_favourable"] and not {"favourable", "score"} & set(answers.options):
            answers.problems["favourable"] = "Choose one: nobody can tell which of the two is good for people."
        return answers

    def ask(self, data: DataSet, options: dict[str, Any], pairs: Pairs) -> Question:
        """Asks a question of the data; the same one again is the one that was asked."""
        for question in data.questions:
            if question.options == options and question.job.state in ("waiting", "running", "done"):
                return question
        book = self.book_of(data)
        entry = book.ask(options)
        told = {"name": self.file_name(data), "ledger": book.ledger(entry).to_dict()}
        job = self.jobs.start("audit", source=data.source, options=options, **told)
        question = Question(data=data, options=options, pairs=pairs, job=job, book=book, entry=entry)
        data.questions.append(question)
        self.questions[question.id] = question
        return question

    def book_of(self, data: DataSet) -> Book:
        """The ledger of data, also where it was open before under another name."""
        book = self.books.setdefault(fingerprint(data), Book())
        self.count(book)
        return book

    def count(self, book: Book) -> None:
        """Numbers the questions that are answered, in the order in which they were asked."""
        for question in self.questions.values():
            if question.book is book and question.job.state == "done":
                book.answer(question.entry)

    def file_name(self, data: DataSet) -> str:
        """The name of the data in reports."""
        return data.name if data.embedded is None else EMBEDDED[data.embedded].file

    def forget(self, data: DataSet) -> None:
        """Removes data, and everything that was asked of it."""
        for question in data.questions:
            self.count(question.book)
            for job in (question.job, *question.files.values()):
                self.jobs.forget(job)
            self.questions.pop(question.id, None)
        if data.job is not None:
            self.jobs.forget(data.job)
        if data.folder is not None:
            shutil.rmtree(data.folder, ignore_errors=True)
        self.data.pop(data.id, None)

    def render(self, question: Question, format_: str) -> Job:
        """A report of an audit that is done, in a format; made anew where more was asked meanwhile."""
        self.count(question.book)
        ledger = question.ledger
        if format_ == "parts" and question.job.task["ledger"] == ledger:
            return question.job
        job = question.files.get(format_)
        if job is not None and job.task["ledger"] != ledger:
            self.jobs.forget(job)
            job = None
        if job is None or job.state in ("failed", "cancelled"):
            job = self.jobs.start(
                "render",
                document=question.job.file("audit.json"),
                name=self.file_name(question.data),
                sha256=question.sha256,
                format=format_,
                ledger=ledger,
            )
            question.files[format_] = job
        return job

    def describe(self, question: Question, tree: int, node: int) -> Job:
        """Who the people of a tree's node are; looked up once."""
        key = f"node {tree} {node}"
        if key not in question.files:
            question.files[key] = self.jobs.start(
                "node",
                document=question.job.file("audit.json"),
                source=question.data.source,
                query=question.options.get("query"),
                kinds=question.options.get("kinds") or {},
                tree=tree,
                node=node,
            )
        return question.files[key]


def asks_amount(look: Any) -> bool:
    """Whether the question is how much, so that no notion is chosen."""
    return look.mean is not None


def look_from(told: Mapping[str, Any]) -> Any:
    """The look from its plain data."""
    from ald.assess.power import Detectable
    from ald.data.prepare import LeftOut
    from ald.notions import rate_from
    from ald.results.look import ColumnLook, LevelCount, Look, Part

    columns = tuple(
        ColumnLook(
            **column
            | {
                "histogram": tuple(column["histogram"]),
                "levels": tuple(LevelCount(**level) for level in column["levels"]),
            }
        )
        for column in told["columns"]
    )
    return Look(
        **dict(told)
        | {
            "columns": columns,
            "parts": tuple(Part(**part) for part in told["parts"]),
            "left_out": tuple(LeftOut(**one) for one in told["left_out"]),
            "warnings": tuple(told["warnings"]),
            "notions": tuple(told["notions"]),
            "mean": rate_from(told["mean"]) if told.get("mean") else None,
            "detectable": tuple(Detectable(**one) for one in told["detectable"]),
        }
    )


def fingerprint(data: DataSet) -> str:
    """What tells data from other data: the SHA-256 of a file; of anything else where it comes from."""
    known = None if data.looked is None else data.looked["sha256"]
    return known or json.dumps(data.source, sort_keys=True)
