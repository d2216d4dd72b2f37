"""The addresses of the pages, and what each of them does."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from importlib import resources
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from ald.data.inputs.files import readable_ending
from ald.errors import AldError, InputError, SettingError
from ald.groups.criterion import visible
from ald.options.recipes import command_line, python_code
from ald.report.html import script_of_reports, style_of_reports
from ald.web.fields import field_of, group_of, options_of_group
from ald.web.guard import Tickets
from ald.web.jobs import Job
from ald.web.pages.answer import FORMATS, answer_page, failed_page, node_page, progress_page, told_of
from ald.web.pages.asking import asking_page, unreadable_page
from ald.web.pages.frame import message
from ald.web.pages.start import ENDINGS, start_page
from ald.web.state import EMBEDDED, DataSet, Question, State
from ald.web.uploads import TooLargeError, in_words, receive_form
from ald.web.worker import NODE, PARTS, REPORT, data_of

# Seconds within which most looks are done: then their page comes at once.
_SOON = 5.0
# Bytes of a form without a file; and of all files together, in uploads of the largest size.
_FORM, _ALL = 4_000_000, 4
_BEAT = 10.0
_NAME = 200

_TYPES = {
    "html": "text/html; charset=utf-8",
    "pdf": "application/pdf",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "svg": "image/svg+xml",
}
_STATIC = {"page.css": "text/css; charset=utf-8", "page.js": "text/javascript; charset=utf-8"}


class Pages:
    """What every address answers."""

    def __init__(self, state: State) -> None:
        self.state, self.tickets = state, Tickets()
        self.closing = asyncio.Event()

    def routes(self) -> list[Route]:
        """All addresses there are."""
        return [
            Route("/", self.start),
            Route("/data", self.upload, methods=["POST"]),
            Route("/embedded/{key}", self.open_embedded, methods=["POST"]),
            Route("/data/{id}", self.show_data),
            Route("/data/{id}", self.ask, methods=["POST"]),
            Route("/data/{id}/forget", self.forget, methods=["POST"]),
            Route("/data/{id}/file", self.embedded_file),
            Route("/questions/{id}", self.show_answer),
            Route("/questions/{id}/report.{format}", self.report),
            Route("/questions/{id}/figures/{name}", self.figure),
            Route("/questions/{id}/group", self.ask_group, methods=["POST"]),
            Route("/questions/{id}/trees/{tree:int}/{node:int}", self.node),
            Route("/jobs/{id}/events", self.events),
            Route("/jobs/{id}/cancel", self.cancel, methods=["POST"]),
            Route("/static/{name}", self.static),
        ]

    async def start(self, request: Request) -> Response:
        """The first page."""
        return self._start()

    def _start(self, wrong: str = "", status: int = 200) -> Response:
        opened = list(self.state.data.values())
        return HTMLResponse(start_page(opened, self.state.most, self.tickets.issue, wrong), status)

    async def upload(self, request: Request) -> Response:
        """Takes a file in, and goes on to its page."""
        state, announced = self.state, int(request.headers.get("content-length") or 0)
        if announced > state.most + _FORM:
            return self._refuse_file(request, f"the file has more than {in_words(state.most)}", 413)
        free = shutil.disk_usage(state.folder).free
        if state.incoming + announced > min(state.most * _ALL, free * 0.9):
            return self._refuse_file(request, "there is no room for more files now: close data that is open", 507)
        state.incoming += announced
        folder = state.new_folder()
        try:
            data = await self._receive(request, folder)
        except BaseException as error:
            shutil.rmtree(folder, ignore_errors=True)
            if isinstance(error, ClientDisconnect):
                return Response(status_code=400)
            if isinstance(error, InputError):
                return self._refuse_file(request, str(error), 413 if isinstance(error, TooLargeError) else 400)
            raise
        finally:
            state.incoming -= announced
        return await self._go_on(request, data)

    async def _receive(self, request: Request, folder: str) -> DataSet:
        path = os.path.join(folder, "incoming")

        def check(fields: dict[str, str]) -> None:
            if not self.tickets.use(fields.get("ticket", "")):
                raise InputError("this form was sent before, or is too old: choose the file again")

        kind = request.headers.get("content-type", "")
        received = await receive_form(request.stream(), kind, path, self.state.most, check)
        name = visible(os.path.basename((received.name or "").replace("\\", "/")))[-_NAME:]
        ending = readable_ending(name)
        if received.name is None or not received.name:
            raise InputError("choose a file")
        if not ending:
            raise InputError(f"the format of {name!r} cannot be told by its ending. Known are {ENDINGS}")
        if received.size == 0:
            raise InputError(f"the file {name!r} is empty")
        kept = os.path.join(folder, f"data.{ending}")
        os.rename(path, kept)
        return self.state.add_file(folder, kept, name)

    def _refuse_file(self, request: Request, words: str, status: int) -> Response:
        words = words[:1].upper() + words[1:] + "."
        if request.headers.get("accept") == "application/json":
            return Response(json.dumps({"wrong": words}), status, media_type="application/json")
        return self._start(words, status)

    async def _go_on(self, request: Request, data: DataSet) -> Response:
        address = f"/data/{data.id}"
        if request.headers.get("accept") == "application/json":
            return Response(json.dumps({"location": address}), media_type="application/json")
        await self._wait(data.job)
        return RedirectResponse(address, 303)

    async def open_embedded(self, request: Request) -> Response:
        """Opens data that comes with ALD."""
        await self._form(request)
        key = request.path_params["key"]
        if key not in EMBEDDED:
            raise HTTPException(404)
        data = self.state.add_embedded(key)
        await self._wait(data.job)
        return RedirectResponse(f"/data/{data.id}", 303)

    async def show_data(self, request: Request) -> Response:
        """The data before an audit, or how far the look at it is."""
        data = self._data(request)
        job = data.job or self.state.look(data)
        data.see()
        if not job.is_over:
            await self._wait(job, 1.0)
            data.see()
        if not job.is_over:
            return HTMLResponse(progress_page("Looking at the data", job, data, self.tickets.issue()))
        if job.state != "done" and data.looked is None:
            return self._unreadable(data, job)
        if job.state != "done":
            data.problems = {field_of(job.message, {}, data.columns): self._words(data, job)}
        answers = self.state.read(data)
        recipes = self._recipes(data, answers.options)
        return HTMLResponse(asking_page(data, answers, self.state.book_of(data), recipes, self.tickets.issue))

    def _unreadable(self, data: DataSet, job: Job) -> Response:
        """The page of a file that cannot be looked at: it may be asked otherwise."""
        return HTMLResponse(unreadable_page(data, self._words(data, job), self.tickets.issue()), 422)

    async def ask(self, request: Request) -> Response:
        """Looks at the data again as the form says, or asks the question."""
        data = self._data(request)
        sent = await self._form(request)
        pairs = [pair for pair in sent if pair[0] not in ("ticket", "do")]
        do = dict(sent).get("do", "look")
        data.fill_in(pairs)
        data.problems = {}
        job = self.state.look(data)
        if do == "ask" and data.looked is not None:
            await self._wait(job, 600.0)
            data.see()
            if job.state == "done":
                answers = self.state.read(data)
                if not answers.problems:
                    question = self.state.ask(data, answers.options, pairs)
                    return RedirectResponse(f"/questions/{question.id}", 303)
        else:
            await self._wait(job)
        return RedirectResponse(f"/data/{data.id}", 303)

    async def forget(self, request: Request) -> Response:
        """Removes data and everything that was asked of it."""
        data = self._data(request)
        await self._form(request)
        self.state.forget(data)
        return RedirectResponse("/", 303)

    async def embedded_file(self, request: Request) -> Response:
        """Data that comes with ALD, as the file that commands name."""
        data = self._data(request)
        if data.embedded is None:
            raise HTTPException(404)
        columns = data_of(data.source)
        out = io.StringIO(newline="")
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
        return _attachment(out.getvalue().encode(), data.command, "csv")

    async def show_answer(self, request: Request) -> Response:
        """The report of an audit, how far it is, or why there is none."""
        question = self._question(request)
        job = question.job
        if not job.is_over:
            await self._wait(job, 0.5)
        if not job.is_over:
            return HTMLResponse(progress_page("Auditing", job, question.data, self.tickets.issue()))
        if job.state != "done":
            words = self._words(question.data, job)
            if job.state == "failed":
                question.data.draft = question.pairs
                place = field_of(job.message, question.options, question.data.columns)
                question.data.problems = {place: words}
            return HTMLResponse(failed_page(question, words), 200)
        question.sha256 = job.read(PARTS)["sha256"]
        shown = self.state.render(question, "parts")
        await shown.ended.wait()
        question.book.seen = True
        parts = (shown if shown.state == "done" else job).read(PARTS)
        recipes = self._recipes(question.data, question.options)
        return HTMLResponse(answer_page(question, parts, recipes, self.tickets.issue))

    async def ask_group(self, request: Request) -> Response:
        """Asks the same question about one group, which menus compose."""
        question = self._finished(request)
        pairs = await self._form(request)
        try:
            group = group_of(pairs, question.data.columns)
        except SettingError as error:
            words = str(error)[:1].upper() + str(error)[1:] + "."
            back = ("Back to the report", f"/questions/{question.id}#own")
            return HTMLResponse(message("This is no group yet", words, back=back), 422)
        options = options_of_group(question.options, group)
        asked = self.state.ask(question.data, options, question.pairs)
        return RedirectResponse(f"/questions/{asked.id}", 303)

    async def node(self, request: Request) -> Response:
        """Who the people of a tree's node are."""
        question, place = self._finished(request), request.path_params
        job = self.state.describe(question, place["tree"], place["node"])
        await job.ended.wait()
        if job.state != "done":
            return HTMLResponse(message("This node cannot be described", self._words(question.data, job)), 422)
        return HTMLResponse(node_page(question, job.read(NODE)))

    async def report(self, request: Request) -> Response:
        """The report in another format, as a file."""
        question, format_ = self._finished(request), request.path_params["format"]
        if format_ not in FORMATS:
            raise HTTPException(404)
        if question.sha256 is None:
            question.sha256 = question.job.read(PARTS)["sha256"]
        question.book.seen = True
        job = self.state.render(question, format_)
        await job.ended.wait()
        if job.state != "done":
            return HTMLResponse(message("This report could not be written", job.message,
                                        back=("Back to the report", f"/questions/{question.id}")), 500)  # fmt: skip
        headers = {"content-disposition": f'attachment; filename="audit.{format_}"'}
        return FileResponse(job.file(REPORT), media_type=_TYPES[format_], headers=headers)

    async def figure(self, request: Request) -> Response:
        """A picture as a file."""
        question, name = self._finished(request), request.path_params["name"]
        if name not in question.job.read(PARTS)["figures"]:
            raise HTTPException(404)
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        return FileResponse(question.job.file(name), media_type=_TYPES["svg"], headers=headers)

    async def events(self, request: Request) -> Response:
        """News of work, as it comes, until it is over."""
        job = self._job(request)

        async def news() -> AsyncIterator[str]:
            while not self.closing.is_set():
                changed = job.changed
                yield f"data: {json.dumps(told_of(job))}\n\n"
                if job.is_over:
                    return
                await _first_of(changed.wait(), self.closing.wait(), asyncio.sleep(_BEAT))

        return StreamingResponse(news(), media_type="text/event-stream")

    async def cancel(self, request: Request) -> Response:
        """Stops work, and goes to where it was asked for."""
        job = self._job(request)
        await self._form(request)
        self.state.jobs.cancel(job)
        question = next((one for one in self.state.questions.values() if one.job is job), None)
        data = next((one for one in self.state.data.values() if one.job is job), None)
        address = f"/questions/{question.id}" if question else f"/data/{data.id}" if data else "/"
        return RedirectResponse(address, 303)

    async def static(self, request: Request) -> Response:
        """Styles and scripts."""
        name = request.path_params["name"]
        if name == "report.css":
            return Response(style_of_reports(), media_type="text/css; charset=utf-8")
        if name == "report.js":
            return Response(script_of_reports(), media_type="text/javascript; charset=utf-8")
        if name not in _STATIC:
            raise HTTPException(404)
        text = resources.files("ald.web").joinpath(f"static/{name}").read_text("utf-8")
        return Response(text, media_type=_STATIC[name])

    async def _form(self, request: Request) -> list[tuple[str, str]]:
        """What a form sent; one that was not ours, or was sent before, is refused."""
        body = b""
        async for piece in request.stream():
            body += piece
            if len(body) > _FORM:
                raise HTTPException(413, "This form is too long.")
        try:
            sent = parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=100_000)
        except ValueError:
            raise HTTPException(400, "This form cannot be read.") from None
        if not self.tickets.use(dict(sent).get("ticket", "")):
            raise HTTPException(403, "This form was sent before, or is too old: load the page again.")
        return sent

    def _recipes(self, data: DataSet, options: dict[str, Any]) -> list[tuple[str, str]]:
        return [
            ("Command line", command_line(data.command, options)),
            ("Python", python_code(data.code, options)),
        ]

    def _words(self, data: DataSet, job: Job) -> str:
        """What went wrong, with the name that people know the data by."""
        words, path = job.message, str(data.source.get("path", ""))
        if data.folder is not None:
            for stored in (path, os.path.basename(path)):
                words = words.replace(stored, visible(data.name))
        return words[:1].upper() + words[1:]

    async def _wait(self, job: Job | None, seconds: float = _SOON) -> None:
        if job is not None and not job.is_over:
            await _first_of(job.ended.wait(), self.closing.wait(), asyncio.sleep(seconds))

    def _data(self, request: Request) -> DataSet:
        return _found(self.state.data, request)

    def _question(self, request: Request) -> Question:
        return _found(self.state.questions, request)

    def _finished(self, request: Request) -> Question:
        question = self._question(request)
        if question.job.state != "done":
            raise HTTPException(404)
        return question

    def _job(self, request: Request) -> Job:
        return _found(self.state.jobs.by_id, request)


Known = TypeVar("Known")


def _found(known: Mapping[str, Known], request: Request) -> Known:
    if request.path_params["id"] not in known:
        raise HTTPException(404, "This is not open any more, or never was.")
    return known[str(request.path_params["id"])]


async def _first_of(*awaitables: Awaitable[Any]) -> None:
    """Waits until one of them is over."""
    tasks = [asyncio.ensure_future(each) for each in awaitables]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


def _attachment(content: bytes, name: str, ending: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=_TYPES[ending], headers=headers)


_TITLES = {
    400: "This cannot be read",
    403: "This is not allowed",
    404: "There is no such page",
    405: "There is no such page",
    413: "This is too large",
    421: "This is another address",
}


def refusal(status: int, words: str) -> str:
    """The page of a request that is not answered."""
    return message(_TITLES.get(status, "Something went wrong"), words)


def make_app(state: State, opened: Callable[[Pages], Awaitable[None]] | None = None) -> tuple[Starlette, Pages]:
    """The application, without its guard. opened: what to do once it runs."""
    pages = Pages(state)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        if opened is not None:
            await opened(pages)
        try:
            yield
        finally:
            pages.closing.set()
            await state.jobs.close()

    async def refuse(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        default = "It may have been closed, or was never there." if error.status_code in (404, 405) else ""
        words = error.detail if error.detail and error.detail not in ("Not Found", "Method Not Allowed") else default
        return HTMLResponse(refusal(error.status_code, words), error.status_code)

    async def fail(_: Request, error: Exception) -> Response:
        words = visible(str(error)) if isinstance(error, AldError) else "The server goes on; this page did not work."
        return HTMLResponse(refusal(500, words), 500)

    app = Starlette(
        routes=pages.routes(), lifespan=lifespan, exception_handlers={HTTPException: refuse, AldError: fail, 500: fail}
    )
    return app, pages
