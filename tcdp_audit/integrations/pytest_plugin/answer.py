"""Answers of an audit for its items: its result in JSON, which workers of pytest-xdist can share."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tcdp_audit.api import (
    CELL_DEMANDS,
    COLUMN_DEMANDS,
    LINK_DEMANDS,
    SCHEMA,
    STRUCTURE,
    SUITE,
    Policy,
    PolicySource,
    Scratch,
    parse_nodes,
    part_name,
    sentence_about,
)
from tcdp_audit.core.results.written import has_records
from tcdp_audit.integrations.host import plugins
from tcdp_audit.integrations.pytest_plugin.auditor import Settings
from tcdp_audit.plugin.engine import TcdpAuditError, UsageError
from tcdp_audit.plugin.sentences import visible

COLUMNS, EXPECT, VERDICT = "columns", "expect", "verdict"
PARTS = {STRUCTURE: COLUMNS, SCHEMA: "schema", SUITE: "suite"}  # by source of an outcome, otherwise EXPECT
WHOLE = frozenset(PARTS.values()) - {COLUMNS}  # parts that are one item, whatever the number of their outcomes


class Key(NamedTuple):
    """Identity of an item."""

    part: str  # the columns, the expectations, a schema, a suite, or the verdict on everything
    check: str = ""  # the check, or the demand on columns
    attribute: str | None = None  # the attribute that it runs on
    judged_in: str = ""  # the scenario in which it is judged, or the unit that it names
    number: int = 1  # its position among the items that agree in all this, from 1


@dataclass(frozen=True)
class Planned:
    """One item."""

    name: str  # its name in pytest; unique in its policy
    key: Key  # its identity
    line: int  # its line in the policy, from 1
    labels: Mapping[str, str | None] = field(default_factory=dict)  # the arguments of its marker


def plan(policy: Policy) -> Iterator[Planned]:
    """Every item of a policy that was read from a file, the verdict last. Cost: that of parsing its text again."""
    places = PolicySource(None, parse_nodes(policy.text))
    document = policy.document
    key = "tables" if document.tables or document.aggregates else "attributes" if document.attributes else "models"
    line = places.position([key])[0]
    linked = document.tables is not None and not document.is_unlinked
    of_records = (*COLUMN_DEMANDS, *(LINK_DEMANDS if linked else ())) if document.attributes else ()
    for name in (*of_records, *(CELL_DEMANDS if document.aggregates else ())):
        yield Planned(name, Key(COLUMNS, name), line, {"check": name})
    yield from _of_expectations(policy)
    for part, named in {"schema": policy.document.schema_, "suite": policy.document.suite}.items():
        if named is not None:
            yield Planned(part, Key(part), places.position([part])[0], {"check": part})
    yield Planned(VERDICT, Key(VERDICT), 1, {"check": VERDICT})


def _of_expectations(policy: Policy) -> Iterator[Planned]:
    """One item for each expectation and each attribute that it runs on."""
    numbers: Counter[tuple[str, str | None, str]] = Counter()
    for expectation in policy.expectations:
        check, parameters = expectation.check, expectation.parameters
        for target in check.targets(parameters, policy.document):
            what = (check.name, target.name, part_name(target.of_part))
            numbers[what] += 1
            key = Key(EXPECT, *what, numbers[what])
            labels = {"check": key.check, "attribute": key.attribute, "severity": parameters.severity.value}
            yield Planned(_name(key), key, expectation.line or 1, labels)


def _name(key: Key) -> str:
    """`k_anonymity`, `t_closeness[cost]`, and for a second one `k_anonymity[#2]`, `t_closeness[cost#2]`."""
    number = "" if key.number == 1 else f"#{key.number}"
    inner = f"{visible(', '.join(filter(None, (key.attribute, key.judged_in))))}{number}"
    return f"{key.check}[{inner}]" if inner else key.check


def by_key(outcomes: Iterable[Mapping[str, Any]]) -> Mapping[Key, list[Mapping[str, Any]]]:
    """The outcomes of an audit in JSON, by the key of their item."""
    numbers: Counter[tuple[str, str, str | None, str]] = Counter()
    keyed: dict[Key, list[Mapping[str, Any]]] = defaultdict(list)
    for outcome in outcomes:
        part = PARTS.get(outcome["source"], EXPECT)
        what = (part, outcome["check"], outcome["attribute"], part_name(outcome))
        numbers[what] += 1
        keyed[Key(part) if part in WHOLE else Key(*what, numbers[what])].append(outcome)
    return dict(keyed)


OUTCOMES = (pytest.skip.Exception, pytest.fail.Exception)  # a plugin may call `pytest.importorskip`


@dataclass(frozen=True)
class Answer:
    """Result of an audit, or why there is none."""

    fault: str = ""  # why nothing was audited; empty for an audit
    result: Mapping[str, Any] | None = None  # the audit's result in JSON
    verdict: str = ""  # the audit as a whole, in sentences

    @property
    def status(self) -> str:
        """The status of the audit."""
        return str(self._result["status"])

    @property
    def properties(self) -> dict[str, Any]:
        """Properties of the audit for reports: digests of tables and policy, and the counts."""
        result = self._result
        parts = {f"table {name}": one for name, one in result["release"].get("tables", {}).items()}
        tables = {"release": result["release"], **parts, **result["companions"], "policy": result["policy"]}
        digests = {f"{name.replace(' ', '_')}_sha256": table["sha256"] for name, table in tables.items()}
        sizes = result.get("tables_of_figures", {})
        cells = {"cells": sum(one["cells"] for one in sizes.values())} if sizes else {}
        records = {"records": result["release"]["records"]} if has_records(result) else {}
        return {"status": result["status"], **result["summary"], **records, **cells, **digests}

    @property
    def keys(self) -> frozenset[Key]:
        """Keys of all outcomes."""
        return frozenset(self._outcomes)

    def outcomes(self, key: Key) -> Sequence[Mapping[str, Any]]:
        """The outcomes of an item; a TcdpAuditError where there are none."""
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
    """Audit a release; a fault is an answer as well. Cost: that of `tcdp_audit.audit`."""
    try:
        return _audited(policy, settings)
    except (Exception, *OUTCOMES) as error:  # noqa: BLE001 - a traceback of pytest shows arguments, which may be cells
        return Answer(fault=sentence_about(error, "the audit"))


def _audited(policy: Policy, settings: Settings) -> Answer:
    from tcdp_audit.api import audit  # noqa: PLC0415 - imports the engine, which collecting does not need
    from tcdp_audit.core.results.verdict import verdict_sentence, verdict_title  # noqa: PLC0415

    document = policy.document
    if settings.release is None and document.release is None and document.tables is None and not document.has_figures:
        raise UsageError("no release: name one with --tcdp-release, or as `release:` in the policy")
    with warnings.catch_warnings(action="ignore"):  # a library's warning may quote a cell, and pytest prints warnings
        result = audit(
            settings.release, policy, settings.original, settings.population, plugins=plugins(), memory=settings.memory
        )
    return Answer(result=result.as_json(), verdict=f"{verdict_title(result)}. {verdict_sentence(result)}")


FOLDER = "tcdp_audit_folder"
OFFERED = pytest.StashKey[Scratch]()
ANSWERS = pytest.StashKey[dict[str, Answer]]()


def offer_folder(node: Any) -> None:
    """Give a worker the run's folder; where none can be made, each worker audits for itself."""
    config: pytest.Config = node.config
    if OFFERED not in config.stash:
        try:
            config.stash[OFFERED] = Scratch()
        except TcdpAuditError:
            return
        config.add_cleanup(config.stash[OFFERED].cleanup)
    node.workerinput[FOLDER] = config.stash[OFFERED].name


def once(config: pytest.Config, policy: Policy, ask: Callable[[], Answer]) -> Answer:
    """The answer of a policy: the result of `ask`, which is called once in a run, and held by its configuration."""
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
    """Write a whole file or none: a worker may be killed meanwhile."""
    draft = path.with_suffix(".part")
    draft.write_text(text, encoding="ascii")
    draft.replace(path)
