"""Runs `fix` again and again, each time in a fork, and ends each at a moment that is told: a program for a test.

Reads lines of JSON (arguments, signal, after how many events, and how many seconds later) and answers each with one:
exit code, events, and the events after which writing began. An event is a call or a return in the main thread, so
that a moment means the same on a busy machine; the seconds let a signal come inside a call of a library, too.
"""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tcdp_audit.cli import displays, run
from tcdp_audit.core.auditor import evaluation
from tcdp_audit.core.base import files
from tcdp_audit.core.classes.shards import Plan
from tcdp_audit.core.repair import fixing

PATIENCE = 300  # seconds
OUTSIDE = 75  # the signal came before the command began, or when it was over
__all__ = ["displays", "fixing"]  # imported before the forks, so that they need not


def counting(ask: dict[str, Any], answer: dict[str, int]) -> Callable[..., None]:
    """A profile function that counts events, and sends the signal when its turn has come."""

    def send() -> None:
        time.sleep(ask["seconds"])
        os.kill(os.getpid(), ask["signal"])

    def count(*_: Any) -> None:
        answer["events"] += 1
        if answer["events"] == ask["events"]:
            if ask["seconds"]:
                threading.Thread(target=send, daemon=True).start()
            else:
                os.kill(os.getpid(), ask["signal"])

    return count


def ran(ask: dict[str, Any], reported: Path) -> int:
    """One run, in this process."""
    os.dup2(os.open(reported.with_name("stderr"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    faulthandler.register(signal.SIGALRM, chain=True)  # says on stderr where each thread waits, and ends the process
    signal.alarm(PATIENCE)  # one that hangs is a failure, and no test that never ends
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # a shell ignores SIGINT for what it runs behind
        signal.signal(number, lambda *_: os._exit(OUTSIDE))
    evaluation.plan = lambda *_: Plan(3, spill=True)  # codes on disk, as those of a large release
    answer, appearing = {"events": 0, "writing": 0}, files.Scratch

    def recorded(*beside: Path) -> Any:
        answer["writing"] = answer["writing"] or (answer["events"] if beside else 0)
        return appearing(*beside)

    files.Scratch = recorded
    sys.setprofile(counting(ask, answer))
    code = run.run("fix", ask["arguments"])
    sys.setprofile(None)
    whole = reported.with_name("answer.part")  # a signal may come while it is written
    whole.write_text(json.dumps(answer), encoding="utf-8")
    whole.rename(reported)
    return code


def main() -> None:
    """Answer every line."""
    reported = Path(sys.argv[1])
    for line in sys.stdin:
        reported.unlink(missing_ok=True)
        process = os.fork()
        if not process:
            code = 70
            try:
                code = ran(json.loads(line), reported)
            finally:
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        answer = json.loads(reported.read_text(encoding="utf-8")) if reported.exists() else {}
        sys.stdout.write(json.dumps({"code": code, **answer}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
