"""Who may ask what: every request is checked before a page sees it, and every answer tells browsers what is allowed."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

# Nothing but what this server sends may be loaded, run, framed or posted to.
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Not "no-referrer": browsers then send forms without their origin.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_SAFE = ("GET", "HEAD")
# Forms that may be open at once.
_TICKETS = 2000

LOOPBACK = ("localhost", "127.0.0.1", "::1")


def is_loopback(host: str) -> bool:
    """Whether an address is one that only this machine reaches."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Tickets:
    """A token per form, good for one use: what is sent twice, or from elsewhere, has none."""

    def __init__(self) -> None:
        self._open: OrderedDict[str, None] = OrderedDict()

    def issue(self) -> str:
        """A new token; the oldest of very many are forgotten."""
        ticket = secrets.token_urlsafe(24)
        self._open[ticket] = None
        while len(self._open) > _TICKETS:
            self._open.popitem(last=False)
        return ticket

    def use(self, ticket: str) -> bool:
        """Whether this token was open; it is not any more."""
        return self._open.pop(ticket, "") is None


class Guard:
    """Checks the host and the origin of requests, and the token of the server if there is one."""

    def __init__(self, app: App, *, host: str, port: int, token: str | None, refuse: Callable[[int, str], bytes]):
        self.app, self.host, self.port, self.token, self.refuse = app, host, port, token, refuse
        self.cookie = f"ald-{port}"

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # nothing else is spoken here, and the server refuses it

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name.lower() for name, _ in message.get("headers", ())}
                added = [(k.encode(), v.encode()) for k, v in _HEADERS.items() if k.encode() not in own]
                message["headers"] = [*message.get("headers", ()), *added]
            await send(message)

        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        wrong = self.why_refused(scope["method"], scope["path"], headers)
        if wrong is not None:
            await self._answer(send_with_headers, *wrong)
            return
        if self.token is not None:
            asked = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
            given = [value for name, value in asked if name == "token"]
            if scope["method"] in _SAFE and given and hmac.compare_digest(given[-1].encode(), self.token.encode()):
                rest = urlencode([(name, value) for name, value in asked if name != "token"])
                await self._let_in(send_with_headers, scope["path"] + (f"?{rest}" if rest else ""))
                return
            if not self._carries_token(headers):
                words = "This page needs the token in its address, which the terminal shows where ald serve runs."
                await self._answer(send_with_headers, 403, words)
                return
        await self.app(scope, receive, send_with_headers)

    def why_refused(self, method: str, path: str, headers: MutableMapping[str, str]) -> tuple[int, str] | None:
        """The status and the words of a refusal; None for a request from one of our own pages, or typed in."""
        host = headers.get("host", "")
        if not self._is_ours(host):
            return 421, "This is not the address of this page. Open the one that the terminal shows."
        origin = headers.get("origin")
        if origin is not None and origin.casefold() not in (f"http://{host}".casefold(), f"https://{host}".casefold()):
            return 403, "This request came from another site."
        if headers.get("sec-fetch-site") in ("cross-site", "same-site"):
            typed = headers.get("sec-fetch-mode") == "navigate" and method in _SAFE and path == "/"
            if not typed:
                return 403, "This request came from another site."
        return None

    def _is_ours(self, host: str) -> bool:
        try:
            parts = urlsplit(f"//{host}")
            name, port = (parts.hostname or "").casefold(), parts.port or 80
        except ValueError:
            return False
        if not host or parts.path or parts.query or parts.username is not None or port != self.port:
            return False
        if is_loopback(self.host):
            return name in (*LOOPBACK, self.host.casefold())
        if self.host in ("0.0.0.0", "::", ""):  # noqa: S104 - asked for by the user; a token is then needed
            return name in (*LOOPBACK, socket.gethostname().casefold()) or _is_address(name)
        return name == self.host.casefold()

    def _carries_token(self, headers: MutableMapping[str, str]) -> bool:
        assert self.token is not None
        given = headers.get("authorization", "").removeprefix("Bearer ")
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            cookie = None
        return any(
            hmac.compare_digest(each.encode(), self.token.encode())
            for each in (given, "" if cookie is None else cookie.value)
        )

    async def _let_in(self, send: Send, address: str) -> None:
        """The same page without the token in its address; the browser carries it from now on."""
        cookie = f"{self.cookie}={self.token}; HttpOnly; SameSite=Strict; Path=/"
        # No address of another site: a path with two slashes would be one.
        headers = [
            (b"location", ("/" + address.lstrip("/")).encode("latin-1", "ignore")),
            (b"set-cookie", cookie.encode()),
        ]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    async def _answer(self, send: Send, status: int, words: str) -> None:
        body = self.refuse(status, words)
        headers = [
            (b"content-type", b"text/html; charset=utf-8"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        ]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
