"""One audit for each policy of a run, however many items ask, in however many processes.

Under pytest-xdist the controller makes a private folder and removes it when the run ends. The worker that first asks
audits, and leaves its answer there; others wait for its lock, which goes with its process, however that ends.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from tcdp_audit.api import Policy, Scratch
from tcdp_audit.integrations.pytest_plugin.answer import Answer
from tcdp_audit.plugin.engine import TcdpAuditError

FOLDER = "tcdp_audit_folder"
OFFERED = pytest.StashKey[Scratch]()
ANSWERS = pytest.StashKey[dict[str, Answer]]()


def offer_folder(node: Any) -> None:
    """Name the run's folder to a worker; where none can be made, each worker audits for itself."""
    config: pytest.Config = node.config
    if OFFERED not in config.stash:
        try:
            config.stash[OFFERED] = Scratch()
        except TcdpAuditError:
            return
        config.add_cleanup(config.stash[OFFERED].cleanup)
    node.workerinput[FOLDER] = config.stash[OFFERED].name


def once(config: pytest.Config, policy: Policy, ask: Callable[[], Answer]) -> Answer:
    """The answer of a policy: what `ask` gives, asked once in a run.

    Args:
        config: that of the run, which forgets the answer with everything else.
        policy: what is asked about.
        ask: audits.
    """
    answers = config.stash.setdefault(ANSWERS, {})
    name = hashlib.sha256(f"{policy.path}\0{policy.sha256}".encode(errors="surrogateescape")).hexdigest()
    if name not in answers:
        answers[name] = _once_in_all_processes(getattr(config, "workerinput", {}).get(FOLDER, ""), name, ask)
    return answers[name]


def _once_in_all_processes(folder: str, name: str, ask: Callable[[], Answer]) -> Answer:
    if not folder or not Path(folder).is_dir():  # a worker on another machine has no such folder
        return ask()
    from filelock import lock_descriptor  # noqa: PLC0415 - only workers wait for each other

    answer = Path(folder, f"{name}.json")
    with answer.with_suffix(".lock").open("w", encoding="ascii") as lock:
        with suppress(OSError):  # a file system without locks: then more than one of them audits
            lock_descriptor(lock.fileno())
        if not answer.exists():
            _write(answer, json.dumps(asdict(ask())))
        return Answer(**json.loads(answer.read_text(encoding="ascii")))


def _write(path: Path, text: str) -> None:
    """Whole or not at all: a worker may be killed meanwhile."""
    draft = path.with_suffix(".part")
    draft.write_text(text, encoding="ascii")
    draft.replace(path)
