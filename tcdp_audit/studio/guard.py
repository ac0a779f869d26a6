"""The conditions that a request must meet before anything is done for it, and the headers of every answer.

The address is `RANDOM.localhost:PORT`: a browser sends the cookie of an address in numbers to every port of the
machine, and so to servers of other people, but the cookie of this name to no one else. A token in the address opens the
workbench once and becomes the cookie; every change needs a second token, which only the pages hold.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic

from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE, FIELD = "studio", "token"
BITS = 256
LARGEST = 64 * 1024  # bytes of a request
METHODS = ("GET", "HEAD", "POST")
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": CSP,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
ENTRY = "/enter"
ELSEWHERE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>tcdp-audit studio</title>
<h1>Open the address that the terminal shows</h1>
<p>The workbench answers at one address only: the one that <code>tcdp-audit studio</code> has printed. It ends in
<code>.localhost</code>, and browsers look for such a name on this machine.</p>
<p>Where yours does not find it, add a line to the file of hosts (<code>/etc/hosts</code>) with <code>127.0.0.1</code>
and the name, without its port.</p>
<p>Where the workbench runs on another machine, forward the same port over SSH,
<code>ssh -L PORT:127.0.0.1:PORT MACHINE</code>, with the port of the address in both places, and open the address here.
</p></html>"""
NOT_ENTERED = (
    "This browser has not entered the workbench. Open the address that the terminal shows; it works once. If it was "
    "used already, end the workbench with Ctrl-C and start it again: every decision is kept."
)


def new_secret() -> str:
    """A random text that cannot be guessed."""
    return secrets.token_urlsafe(BITS // 8)


@dataclass
class Keys:
    """The secrets of one run, none of which is saved anywhere.

    Args:
        entry: opens the workbench once; empty after that.
        cookie: what the browser shows from then on.
        page: what each change must bring; only the pages hold it.
    """

    entry: str = field(default_factory=new_secret, repr=False)
    cookie: str = field(default_factory=new_secret, repr=False)
    page: str = field(default_factory=new_secret, repr=False)

    def enter(self, given: str) -> bool:
        """Whether the entry token is right; it is used up then."""
        if not (self.entry and is_same(given, self.entry)):
            return False
        self.entry = ""
        return True


def is_same(one: str, other: str) -> bool:
    """Whether two secrets are the same, in a time that does not depend on where they differ."""
    return hmac.compare_digest(one.encode(), other.encode())


class Guard:
    """Host, method, origin, size and cookie of every request, before any page is looked at.

    Args:
        app: the pages.
        host: the one name and port that are served.
        keys: the secrets of this run.
        clock: the time in seconds.
    """

    def __init__(self, app: ASGIApp, host: str, keys: Keys, clock: Callable[[], float] = monotonic) -> None:
        self.app, self.host, self.keys, self.clock = app, host, keys, clock
        self.last = clock()  # when the last request of the one who entered came

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        head = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self.refusal(scope["method"], scope["path"], head)
        if refusal is None:
            self.last = self.clock()

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name.lower() for name, _ in message["headers"]}
                more = [(n.encode(), v.encode()) for n, v in HEADERS.items() if n.encode() not in own]
                message["headers"] = [*message["headers"], *more]
            await send(message)

        await (self.app if refusal is None else refusal)(scope, receive, send_with_headers)

    def refusal(self, method: str, path: str, head: Mapping[str, str]) -> Response | None:
        """The answer to a request that is not served; None where it is."""
        if head.get("host") != self.host:
            return HTMLResponse(ELSEWHERE, 421)
        if method not in METHODS:
            return PlainTextResponse("this method is not served", 405)
        if path == ENTRY:  # its token decides, wherever the link was
            return None
        if head.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return PlainTextResponse("another site asked for this", 403)
        if method == "POST" and head.get("origin") != f"http://{self.host}":
            return PlainTextResponse("another site asked for this", 403)
        if not _is_small(head):
            return PlainTextResponse("the request is too large", 413)
        if not is_same(_cookie(head.get("cookie", "")), self.keys.cookie):
            return PlainTextResponse(NOT_ENTERED, 403)
        return None


def _is_small(head: Mapping[str, str]) -> bool:
    """Whether a request says that it is no larger than it may be."""
    length = head.get("content-length", "0")
    return "transfer-encoding" not in head and length.isascii() and length.isdigit() and int(length) <= LARGEST


def _cookie(header: str) -> str:
    cookies = dict(one.strip().partition("=")[::2] for one in header.split(";"))
    return cookies.get(COOKIE, "")
