"""Answers of an audit for items to look at: its result in JSON, which workers of pytest-xdist can hand each other."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from tcdp_audit.api import Policy, Scratch, sentence_about
from tcdp_audit.integrations.host import plugins
from tcdp_audit.integrations.pytest_plugin.auditor import Settings
from tcdp_audit.integrations.pytest_plugin.planned import Key, by_key
from tcdp_audit.plugin.engine import TcdpAuditError, UsageError

OUTCOMES = (pytest.skip.Exception, pytest.fail.Exception)  # a plugin may call `pytest.importorskip`


@dataclass(frozen=True)
class Answer:
    """Result of an audit, or why there is none.

    Args:
        fault: why nothing was audited, or nothing.
        result: the audit's result in JSON.
        verdict: the audit as a whole, in sentences.
    """

    fault: str = ""
    result: Mapping[str, Any] | None = None
    verdict: str = ""

    @property
    def status(self) -> str:
        """The status of the audit as a whole."""
        return str(self._result["status"])

    @property
    def properties(self) -> dict[str, Any]:
        """Properties of the audit as a whole for reports: digests of tables and policy, and the counts."""
        result = self._result
        tables = {"release": result["release"], **result["companions"], "policy": result["policy"]}
        digests = {f"{name.replace(' ', '_')}_sha256": table["sha256"] for name, table in tables.items()}
        return {"status": result["status"], **result["summary"], "records": result["release"]["records"], **digests}

    @property
    def keys(self) -> frozenset[Key]:
        """Keys of all outcomes."""
        return frozenset(self._outcomes)

    def outcomes(self, key: Key) -> Sequence[Mapping[str, Any]]:
        """The outcomes of an item.

        Raises:
            TcdpAuditError: nothing was audited, or nothing that this item is about.
        """
        outcomes = self._outcomes.get(key)
        if not outcomes:
            raise TcdpAuditError("the audit has no outcome for this item, so nothing is known about it")
        return outcomes

    @cached_property
    def _outcomes(self) -> Mapping[Key, list[Mapping[str, Any]]]:
        return by_key(self._result["outcomes"])

    @property
    def _result(self) -> Mapping[str, Any]:
        if self.result is None:
            raise TcdpAuditError(self.fault or "nothing was audited")
        return self.result


def answered(policy: Policy, settings: Settings) -> Answer:
    """Audit a release; what goes wrong is an answer as well. Cost: that of `tcdp_audit.audit`."""
    try:
        return _audited(policy, settings)
    except (Exception, *OUTCOMES) as error:  # noqa: BLE001 - a traceback of pytest shows arguments, which may be cells
        return Answer(fault=sentence_about(error, "the audit"))


def _audited(policy: Policy, settings: Settings) -> Answer:
    from tcdp_audit.api import audit  # noqa: PLC0415 - imports the engine, which collecting does not need
    from tcdp_audit.core.results.verdict import verdict_sentence, verdict_title  # noqa: PLC0415

    if settings.release is None and policy.document.release is None:
        raise UsageError("no release: name one with --tcdp-release, or as `release:` in the policy")
    with warnings.catch_warnings(action="ignore"):  # a library's warning may quote a cell, and pytest prints warnings
        result = audit(
            settings.release,
            policy,
            settings.original,
            settings.population,
            plugins=plugins(),
            memory=settings.memory,
        )
    return Answer(result=result.as_json(), verdict=f"{verdict_title(result)}. {verdict_sentence(result)}")


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
