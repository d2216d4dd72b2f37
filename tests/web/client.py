"""A client of the pages that does what a browser does with forms, and whatever else an attack may do."""

from __future__ import annotations

import html
import http.client
import json
import re
import time
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import ald

Fields = list[tuple[str, str]]


class Answer:
    """What came back."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status, self.body = response.status, response.read()
        self.headers = {name.lower(): value for name, value in response.getheaders()}

    @property
    def text(self) -> str:
        return self.body.decode("utf-8")

    @property
    def location(self) -> str:
        return self.headers["location"]


class Client:
    """Talks to one server. Forms are sent with the token that their page has."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        assert parts.hostname is not None
        self.host, self.port = parts.hostname, parts.port
        self.cookie = ""

    def ask(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        """One request; header names with underscores for hyphens."""
        connection = http.client.HTTPConnection(self.host, self.port or 80, timeout=300)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, named | ({"Cookie": self.cookie} if self.cookie else {}))
        answer = Answer(connection.getresponse())
        connection.close()
        return answer

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, **headers)

    def post(self, path: str, fields: Fields, **headers: str) -> Answer:
        kind = {"Content_Type": "application/x-www-form-urlencoded"}
        return self.ask("POST", path, urlencode(fields).encode(), **kind, **headers)

    def ticket(self, page: str, action: str) -> str:
        """The token of a form on a page."""
        text = self.get(page).text
        at = re.search(rf'<form[^>]*action="{re.escape(action)}"[^>]*>', text)
        assert at is not None, f"{page} has no form for {action}"
        token = re.search(r'name="ticket" value="([^"]+)"', text[at.end() :])
        assert token is not None
        return token[1]

    def send(self, page: str, action: str, fields: Fields = [], **headers: str) -> Answer:  # noqa: B006
        """Sends a form of a page."""
        return self.post(action, [("ticket", self.ticket(page, action)), *fields], **headers)

    def open_embedded(self, key: str = "berkeley") -> str:
        """Opens data that comes with ALD; the address of its page."""
        return self.settle(self.send("/", f"/embedded/{key}").location)

    def upload(self, name: str, content: bytes, ticket: str | None = None, **headers: str) -> Answer:
        """Sends a file."""
        boundary = "-----ald-test"
        token = self.ticket("/", "/data") if ticket is None else ticket
        quoted = name.replace('"', "%22")
        head = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="ticket"\r\n\r\n{token}\r\n'
            f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{quoted}"\r\n'
            "Content-Type: application/octet-stream\r\n\r\n"
        )
        body = head.encode("utf-8") + content + f"\r\n--{boundary}--\r\n".encode()
        return self.ask("POST", "/data", body, Content_Type=f"multipart/form-data; boundary={boundary}", **headers)

    def open_file(self, name: str, content: bytes) -> str:
        """Sends a file; the address of its page."""
        answer = self.upload(name, content)
        assert answer.status == 303, answer.text
        return self.settle(answer.location)

    def settle(self, page: str, seconds: float = 300.0) -> str:
        """Waits until the work that a page shows is over."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if "data-events" not in self.get(page).text:
                return page
            time.sleep(0.1)
        raise AssertionError(f"{page} is still at work")

    def fields(self, page: str) -> Fields:
        """What the form of data holds, as a browser would send it."""
        return form_fields(self.get(page).text)

    def run(self, page: str, **changes: str | list[str]) -> str:
        """Asks the question of a page, with some fields changed; the address of the answer."""
        return self.fill_in(page, "ask", changes)

    def look(self, page: str, **changes: str | list[str]) -> str:
        """Changes some fields of a page and looks again; its address."""
        return self.fill_in(page, "look", changes)

    def fill_in(self, page: str, do: str, changes: dict[str, str | list[str]]) -> str:
        """Sends the form of a page with some fields changed; where it leads, once that is done."""
        named = {name.replace("__", "-"): value for name, value in changes.items()}
        fields = [(name, value) for name, value in self.fields(page) if name not in named]
        fields += [
            (name, one) for name, value in named.items() for one in ([value] if isinstance(value, str) else value)
        ]
        answer = self.send(page, page, [*fields, ("do", do)])
        assert answer.status == 303, answer.text
        return self.settle(answer.location)

    def document(self, question: str) -> Any:
        """The document of an answer."""
        return json.loads(self.get(f"{question}/report.json").text)


class _Form(HTMLParser):
    """The fields of the form of data and what they hold, as a browser would send them."""

    def __init__(self) -> None:
        super().__init__()
        self.found: Fields = []
        self.inside, self.select, self.area = False, "", ""
        self.options: Fields = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.inside = given.get("id") == "ask"
        if not self.inside:
            return
        name = given.get("name", "")
        if tag == "select":
            self.select, self.options = name, []
        elif tag == "option" and self.select:
            self.options.append(("selected" if "selected" in given else "", given["value"]))
        elif tag == "textarea":
            self.area = name
            self.found.append((name, ""))
        elif tag == "input" and name != "ticket" and (given["type"] not in ("checkbox", "radio") or "checked" in given):
            self.found.append((name, given.get("value", "")))

    def handle_data(self, data: str) -> None:
        if self.area:
            self.found[-1] = (self.area, self.found[-1][1] + data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "select" and self.select:
            chosen = [value for mark, value in self.options if mark] or [value for _, value in self.options][:1]
            self.found += [(self.select, value) for value in chosen]
            self.select = ""
        elif tag == "textarea":
            self.area = ""
        elif tag == "form":
            self.inside = False


def form_fields(page: str) -> Fields:
    """The fields of the form of data."""
    parser = _Form()
    parser.feed(page)
    return parser.found


def recipe(page: str, language: str) -> str:
    """The command line, or the Python code, that a page shows."""
    found = re.search(rf'aria-label="{language}"><code>(.*?)</code>', page, re.DOTALL)
    assert found is not None
    return html.unescape(found[1])


def files_below(folder: Path) -> list[Path]:
    """All files below a folder."""
    return [path for path in folder.rglob("*") if path.is_file()]


def heading(page: str) -> str:
    """The heading of a page as text."""
    found = re.search(r"<h1[^>]*>(.*?)</h1>", page, re.DOTALL)
    assert found is not None
    return html.unescape(re.sub(r"<[^>]+>", "", found[1]))


def csv_of(columns: dict[str, Any]) -> bytes:
    """Columns as a CSV file."""
    import csv
    import io

    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return out.getvalue().encode()


def berkeley() -> bytes:
    """The embedded data as a CSV file."""
    return csv_of({name: column.tolist() for name, column in ald.datasets.load_berkeley().items()})
