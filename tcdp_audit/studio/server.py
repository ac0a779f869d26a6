"""The address of a workbench, its server, and its end: a signal, the button, or half an hour without a request."""

from __future__ import annotations

import logging
import secrets
import socket
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from html import escape
from threading import Event, Thread
from time import monotonic

import uvicorn

from tcdp_audit.api import Scratch, os_error_reason, write_atomically
from tcdp_audit.plugin.engine import UsageError
from tcdp_audit.studio.guard import ENTRY, FIELD, Guard, Keys
from tcdp_audit.studio.pages import Pages
from tcdp_audit.studio.workbench import Workbench

LOOPBACK = "127.0.0.1"
IDLE = 30 * 60  # seconds without a request after which the workbench ends
PAUSE = 0.2  # seconds between two looks at the clock
PATIENCE = 5  # seconds that requests have to end
OPENER = """<!doctype html><meta charset="utf-8"><title>tcdp-audit studio</title>
<meta http-equiv="refresh" content="0;url={url}"><a href="{url}">Open the workbench</a>
"""


class Studio:
    """A running workbench. Use `serving` as a context manager, and `wait` inside it.

    Args:
        bench: the workbench.
        port: the port; 0 for a free one.
        idle: seconds without a request after which it ends.
        clock: the time in seconds.
    """

    def __init__(
        self, bench: Workbench, port: int = 0, idle: float = IDLE, clock: Callable[[], float] = monotonic
    ) -> None:
        self.bench, self.idle, self.clock = bench, idle, clock
        self.keys = Keys()
        self.closed = Event()
        self._socket = _listening(port)
        self.port: int = self._socket.getsockname()[1]
        self.host = f"{secrets.token_hex(8)}.localhost:{self.port}"
        pages = Pages(bench, self.keys, self.closed.set)
        self.guard = Guard(pages.app(), self.host, self.keys, clock)

    @property
    def address(self) -> str:
        """The address that opens the workbench, once."""
        return f"http://{self.host}{ENTRY}?{FIELD}={self.keys.entry}"

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Serve pages in a thread; at the end let requests end, save the decisions and close the table."""
        config = uvicorn.Config(
            self.guard,
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=PATIENCE,
        )
        server = uvicorn.Server(config)
        with closing(self._socket), _silent("uvicorn.error"), _silent("uvicorn.asgi"):
            thread = Thread(target=server.run, kwargs={"sockets": [self._socket]}, daemon=True)
            thread.start()
            self.bench.open()
            try:
                yield
            finally:
                self.bench.close()
                server.should_exit = True
                thread.join(2 * PATIENCE)

    def wait(self) -> str:
        """Wait for the end; the reason in words."""
        while not self.closed.wait(PAUSE):
            if self.bench.opening.is_running or self.bench.work.is_running:
                self.guard.last = self.clock()
            if self.clock() - self.guard.last > self.idle:
                return f"closed after {self.idle / 60:g} minutes without a request"
        return "closed"


@contextmanager
def showing(studio: Studio) -> Iterator[None]:
    """Show a browser the address. A file of this user alone holds it: others can read the arguments of programs."""
    with Scratch() as folder:
        page = folder / "open.html"
        write_atomically(page, OPENER.format(url=escape(studio.address)))
        webbrowser.open(page.as_uri())
        yield


@contextmanager
def _silent(name: str) -> Iterator[None]:
    """Let a logger write nothing: what a library logs of a defect may hold a cell."""
    logger = logging.getLogger(name)
    before = logger.disabled
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = before


def _listening(port: int) -> socket.socket:
    """A socket that only this machine reaches.

    Raises:
        UsageError: the port cannot be had.
    """
    one = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        one.bind((LOOPBACK, port))
        one.listen()  # a request may come before the server runs
    except OSError as error:
        one.close()
        raise UsageError(f"--port {port}: {os_error_reason(error)}; leave it out for a free one") from None
    return one
