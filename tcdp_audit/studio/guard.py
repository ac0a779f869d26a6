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


@dataclass(frozen=True)
class Asked:
    """A request, as far as rules look at it.

    Args:
        method: its method.
        path: the path of its address.
        head: its headers, by their names in lower case.
        host: the one name and port that are served.
        cookie: the secret that the browser must show.
    """

    method: str
    path: str
    head: Mapping[str, str]
    host: str
    cookie: str = field(repr=False)


def refuse_host(asked: Asked) -> Response | None:
    """Refuse another name than the one that was printed, as a name that leads here since a moment has (rebinding)."""
    return None if asked.head.get("host") == asked.host else HTMLResponse(ELSEWHERE, 421)


def refuse_method(asked: Asked) -> Response | None:
    """Refuse every method that no page uses."""
    return None if asked.method in METHODS else PlainTextResponse("this method is not served", 405)


def refuse_site(asked: Asked) -> Response | None:
    """Refuse what another site asks for; the entry is decided by its token, wherever the link was."""
    is_own = asked.path == ENTRY or asked.head.get("sec-fetch-site", "none") in ("none", "same-origin")
    return None if is_own else PlainTextResponse("another site asked for this", 403)


def refuse_origin(asked: Asked) -> Response | None:
    """Refuse a change that does not come from a page of this address."""
    is_own = asked.method != "POST" or asked.head.get("origin") == f"http://{asked.host}"
    return None if is_own else PlainTextResponse("another site asked for this", 403)


def refuse_size(asked: Asked) -> Response | None:
    """Refuse a request that is larger than any form, or does not say how large it is."""
    length = asked.head.get("content-length", "0")
    is_small = length.isascii() and length.isdigit() and len(length) < 10 and int(length) <= LARGEST
    if is_small and "transfer-encoding" not in asked.head:
        return None
    return PlainTextResponse("the request is too large", 413)


def refuse_stranger(asked: Asked) -> Response | None:
    """Refuse a browser that has not entered: another person of this machine, or another browser."""
    if asked.path == ENTRY or is_same(_cookie(asked.head.get("cookie", "")), asked.cookie):
        return None
    return PlainTextResponse(NOT_ENTERED, 403)


Rule = Callable[[Asked], Response | None]
RULES: tuple[Rule, ...] = (refuse_host, refuse_method, refuse_site, refuse_origin, refuse_size, refuse_stranger)


class Guard:
    """Every request passes the rules before any page is looked at.

    Args:
        app: the pages.
        host: the one name and port that are served.
        keys: the secrets of this run.
        clock: the time in seconds.
        rules: what may refuse a request, in this order.
    """

    def __init__(
        self,
        app: ASGIApp,
        host: str,
        keys: Keys,
        clock: Callable[[], float] = monotonic,
        rules: tuple[Rule, ...] = RULES,
    ) -> None:
        self.app, self.host, self.keys, self.clock, self.rules = app, host, keys, clock, rules
        self.last = clock()  # when the last request of the one who entered came

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        head = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        asked = Asked(scope["method"], scope["path"], head, self.host, self.keys.cookie)
        refusal = next((one for rule in self.rules if (one := rule(asked)) is not None), None)
        if refusal is None and asked.path != ENTRY:
            self.last = self.clock()

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name.lower() for name, _ in message["headers"]}
                more = [(n.encode(), v.encode()) for n, v in HEADERS.items() if n.encode() not in own]
                message["headers"] = [*message["headers"], *more]
            await send(message)

        await (self.app if refusal is None else refusal)(scope, receive, send_with_headers)


def _cookie(header: str) -> str:
    parts = (one.strip().partition("=") for one in header.split(";"))
    return {name: value for name, _, value in parts}.get(COOKIE, "")
