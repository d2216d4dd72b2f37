"""Who may ask what, at the server's door: foreign hosts and origins, tokens, and what every answer carries."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from ald.web.guard import POLICY, Guard, Tickets, is_loopback
from tests.web.client import Client, berkeley


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:{port}", "",
     "x@127.0.0.1:{port}"],
)  # fmt: skip
def test_another_host_is_refused(host: str, client: Client) -> None:
    """A name that leads here by somebody else's DNS is not ours: DNS rebinding sees nothing."""
    answer = client.get("/", Host=host.format(port=client.port))
    assert answer.status == 421
    assert "Your file" not in answer.text


def test_names_of_this_machine(client: Client) -> None:
    """The loopback addresses are ours, by every name."""
    for name in ("localhost", "127.0.0.1", "[::1]", "LOCALHOST"):
        assert client.get("/", Host=f"{name}:{client.port}").status == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:1", "http://localhost"])
def test_a_foreign_origin_is_refused(origin: str, client: Client) -> None:
    """A form or script of another site reaches nothing, even with a token that is open."""
    ticket = client.ticket("/", "/embedded/berkeley")
    answer = client.post("/embedded/berkeley", [("ticket", ticket)], Origin=origin)
    assert answer.status == 403
    assert client.upload("a.csv", berkeley(), ticket=ticket, Origin=origin).status == 403
    # The token was not used up.
    assert client.post("/embedded/berkeley", [("ticket", ticket)]).status == 303


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_pages_of_other_sites_embed_nothing(site: str, client: Client) -> None:
    """What a browser marks as asked for by another site is refused, but for a link to the first page."""
    marks = {"Sec_Fetch_Site": site, "Sec_Fetch_Mode": "no-cors"}
    assert client.get("/static/page.js", **marks).status == 403
    assert client.get("/", **marks).status == 403
    assert client.get("/", Sec_Fetch_Site=site, Sec_Fetch_Mode="navigate").status == 200


def test_a_form_without_its_token(client: Client) -> None:
    """Without a token, with a made-up one, or with one that was used, nothing happens."""
    for fields in ([], [("ticket", "")], [("ticket", "made-up")]):
        assert client.post("/embedded/berkeley", fields).status == 403
    ticket = client.ticket("/", "/embedded/berkeley")
    assert client.post("/embedded/berkeley", [("ticket", ticket)]).status == 303
    replayed = client.post("/embedded/berkeley", [("ticket", ticket)])
    assert replayed.status == 403
    assert "sent before" in replayed.text
    assert client.upload("a.csv", berkeley(), ticket=ticket).status == 400


def test_every_answer_is_guarded(client: Client) -> None:
    """Pages, styles, refusals and files to keep carry the policy: no inline script, no other host, no frame."""
    question = client.run(client.open_embedded())
    for path in ("/", question, "/static/page.js", "/nothing", f"{question}/report.json"):
        answer = client.get(path)
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
    assert "unsafe" not in POLICY
    assert client.get("/", Host="evil.example").headers["content-security-policy"] == POLICY


def test_pages_have_nothing_inline(client: Client) -> None:
    """No page has a script, a style or an address of another host of its own."""
    page = client.open_embedded()
    for path in ("/", page, client.run(page)):
        text = client.get(path).text
        assert not re.search(r"<script(?![^>]*\bsrc=)[^>]*>", text)
        assert not re.search(r"<style|<[^>]*\s(style|on\w+)=", text)
        assert not re.search(r'(src|href|action)="(?!/|#|data:,)', text)


def test_a_token_where_it_is_demanded(start: Callable[..., Any]) -> None:
    """With a token nothing is answered without it; the address that is shown has it, and a cookie carries it on."""
    server = start("--token")
    client = server.client
    for path in ("/", "/static/page.css", "/?token=", "/?token=wrong"):
        answer = client.get(path)
        assert answer.status == 403
        assert "token" in answer.text
    entered = client.get(server.way)
    assert (entered.status, entered.location) == (303, "/")
    cookie = entered.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    client.cookie = cookie.partition(";")[0]
    assert client.get("/").status == 200
    page = client.open_embedded()
    client.cookie = ""
    assert client.get(page).status == 403
    token = server.way.partition("token=")[2]
    assert client.get(page, Authorization=f"Bearer {token}").status == 200


def test_other_hosts_demand_a_token(start: Callable[..., Any]) -> None:
    """Served to other machines, the page demands the token without being told to."""
    server = start("--host", "0.0.0.0")
    client = Client(server.address.replace("0.0.0.0", "127.0.0.1"))
    assert client.get("/").status == 403
    assert client.get(server.way).status == 303
    assert client.get(server.way, Host=f"evil.example:{client.port}").status == 421


def test_the_way_in_leads_nowhere_else() -> None:
    """A path that would be another host's address is one of ours."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    guard = Guard(lambda *_: None, host="127.0.0.1", port=1, token="t", refuse=lambda *_: b"")  # type: ignore[arg-type, return-value]
    scope = {"type": "http", "method": "GET", "path": "//evil.example/", "query_string": b"token=t",
             "headers": [(b"host", b"127.0.0.1:1")]}  # fmt: skip
    import asyncio

    asyncio.run(guard(scope, None, send))  # type: ignore[arg-type]
    assert dict(sent[0]["headers"])[b"location"] == b"/evil.example/"


def test_tickets() -> None:
    """A ticket is good once; of very many the oldest are forgotten."""
    tickets = Tickets()
    first = tickets.issue()
    assert tickets.use(first)
    assert not tickets.use(first)
    old = tickets.issue()
    for _ in range(2000):
        tickets.issue()
    assert not tickets.use(old)


def test_loopback() -> None:
    """Addresses that only this machine reaches, and those that others reach."""
    assert all(is_loopback(host) for host in ("localhost", "127.0.0.1", "127.3.2.1", "::1"))
    assert not any(is_loopback(host) for host in ("0.0.0.0", "::", "192.168.0.2", "example.org", ""))
