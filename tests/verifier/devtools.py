"""A page in headless Chromium that is given files, through the pipe of the browser's own protocol."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PATIENCE = 300  # seconds without a word of the browser
UNREADABLE = "NotReadableError"  # also where a busy browser has not yet allowed a page to read a file
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--remote-debugging-pipe"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
START = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(one), fcntl.F_DUPFD, 10) for one in sys.argv[1:3]]
for place, one in enumerate(ends, 3):  # where the browser reads its commands and writes its answers
    os.dup2(one, place)
os.execv(sys.argv[3], sys.argv[3:])
"""
ANSWER = """new Promise(done => {
  const verdict = document.getElementById('verdict'), lines = document.getElementById('lines');
  const given = document.getElementById('given');
  const seen = {longest: 0, shown_first: null, progress: 0};
  let last = performance.now(), from = last;
  const timer = setInterval(() => {
    const now = performance.now();
    seen.longest = Math.max(seen.longest, now - last);
    last = now;
    if (given.textContent && seen.shown_first === null) seen.shown_first = lines.textContent === '';
    if (document.getElementById('progress').value > 0) seen.progress++;
    if (!verdict.dataset.verdict) return;
    clearInterval(timer);
    done(JSON.stringify({verdict: verdict.dataset.verdict, sentence: verdict.textContent, given: given.textContent,
      lines: lines.textContent, milliseconds: now - from, ...seen}));
  }, 10);
  document.getElementById('start').click();
})"""


class Page:
    """One page of a browser, which answers commands in order."""

    def __init__(self, sent: int, received: int) -> None:
        self._sent, self._received, self._number, self._rest = sent, received, 0, b""
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []

    def command(self, method: str, **parameters: Any) -> Any:
        """The result of a command; events that come first are kept."""
        self._number += 1
        session = {} if self._session is None else {"sessionId": self._session}
        message = {"id": self._number, "method": method, "params": parameters, **session}
        os.write(self._sent, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            assert select.select([self._received], [], [], PATIENCE)[0], "the browser does not answer"
            more = os.read(self._received, 1 << 16)
            assert more, "the browser has ended"
            self._rest += more
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def open(self, address: str) -> None:
        """Open a page, and wait until it is loaded."""
        target = self.command("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.command("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "DOM", "Network"):
            self.command(f"{domain}.enable")
        self.events.clear()
        self.command("Page.navigate", url=address)
        while not any(one.get("method") == "Page.loadEventFired" for one in self.events):
            self.events.append(self._next())

    def evaluate(self, expression: str) -> Any:
        """The value that a promise or an expression of the page has."""
        answer = self.command("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def give(self, name: str, paths: Sequence[Path]) -> None:
        """Choose files in an input, in the place of those that it has."""
        self.evaluate(f"document.getElementById('{name}').value = ''")
        if not paths:
            return
        element = self.command("Runtime.evaluate", expression=f"document.getElementById('{name}')")["result"]
        self.command("DOM.setFileInputFiles", objectId=element["objectId"], files=[str(one.resolve()) for one in paths])

    def answer(self, **files: Path | Sequence[Path]) -> dict[str, Any]:
        """What the verifier's page says of files, with how long it took and whether it ever stood still."""
        for _ in range(3):
            for name in ("release", "report", "policy", "hierarchies"):
                given = files.get(name, [])
                self.give(name, [given] if isinstance(given, Path) else given)
            answer = json.loads(self.evaluate(ANSWER))
            if UNREADABLE not in answer["lines"]:
                break
        return answer

    def complaints(self) -> list[str]:
        """Messages in the console, exceptions, and requests for anything but the page and its own blob."""
        kinds = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        requests = [
            one["params"]["request"]["url"] for one in self.events if one.get("method") == "Network.requestWillBeSent"
        ]
        spoken = [json.dumps(one["params"]) for one in self.events if one.get("method") in kinds]
        return spoken + [url for url in requests if not url.startswith(("file:", "blob:"))]


@contextmanager
def browser(chromium: str, folder: Path, *flags: str) -> Iterator[Page]:
    """Start a browser with a profile in a folder; end it afterwards."""
    to_browser, sent = os.pipe()
    received, from_browser = os.pipe()
    command = [sys.executable, "-c", START, str(to_browser), str(from_browser), chromium, *FLAGS]
    command += [f"--user-data-dir={folder / 'profile'}", *flags]
    process = subprocess.Popen(command, pass_fds=(to_browser, from_browser), stderr=subprocess.DEVNULL)
    os.close(to_browser)
    os.close(from_browser)
    try:
        yield Page(sent, received)
    finally:
        process.terminate()
        process.wait(30)
        os.close(sent)
        os.close(received)
