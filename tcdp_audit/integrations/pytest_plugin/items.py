"""One item of a policy. The audit has decided its outcome; the item reports it in the terms of pytest.

passed   passed
failed   failed; a failure that only warns is an expected failure
measured, skipped   skipped, with the figure as the reason
error, or no outcome   an error of the set-up, so that it is no failure
"""

from __future__ import annotations

import os
import sys
from abc import abstractmethod
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NoReturn

import pytest

from tcdp_audit.api import FILE_DEMANDS, read_policy, sentence_about, sentence_on_cell, visible_lines
from tcdp_audit.integrations.host import plugins
from tcdp_audit.integrations.pytest_plugin.answer import COLUMNS, VERDICT, Answer, Key, Planned, answered, once, plan
from tcdp_audit.integrations.pytest_plugin.auditor import Settings
from tcdp_audit.plugin.engine import TcdpAuditError
from tcdp_audit.plugin.sentences import Severity, Status, count, visible

MOST_CELLS = 10  # failing cells that a message names
HOOKS = "tcdp_audit_items"  # the name by which pytest knows the hook of this module
Outcome = Mapping[str, Any]  # in the JSON contract


def policy_file(path: Path, parent: pytest.Collector) -> PolicyFile:
    """A policy file as a node of pytest."""
    manager = parent.config.pluginmanager
    if not manager.has_plugin(HOOKS):
        manager.register(sys.modules[__name__], HOOKS)
    file: PolicyFile = PolicyFile.from_parent(parent, path=path)
    return file


class PolicyFile(pytest.File):
    """A policy: an item for each demand on columns, each expectation and attribute, schema, suite and verdict."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """The items; a wrong policy or option raises a CollectError, with a line for each fault."""
        try:
            return list(self._collected())
        except TcdpAuditError as error:
            sentence = str(error)
        raise self.CollectError(visible_lines(sentence))

    def _collected(self) -> Iterator[pytest.Item | pytest.Collector]:
        settings = Settings.of(self.config)
        read = read_policy(self.shown, plugins())  # tests may change the folder later
        policy = replace(read, path=self.path, trusts_code=settings.trust_policy_code)
        self.planned = tuple(plan(policy))
        self._ask = partial(once, self.config, policy, partial(answered, policy, settings))
        yield Columns.from_parent(self, name=COLUMNS, planned=[one for one in self.planned if one.key.part == COLUMNS])
        yield from (_item(self, self, one) for one in self.planned if one.key.part != COLUMNS)

    def answer(self) -> Answer:
        """Answer of the audit; the first call audits the release."""
        return self._ask()

    @cached_property
    def shown(self) -> str:
        """Its path as a person would type it, for sentences about it."""
        try:
            return os.path.relpath(self.path)
        except ValueError:  # on another drive
            return str(self.path)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> str:  # noqa: ARG002
        """Sentences on why it cannot be collected; never a traceback."""
        error = excinfo.value
        return str(error) if isinstance(error, self.CollectError) else sentence_about(error, "reading the policy")


class Columns(pytest.Collector):
    """The demands on the columns of every release."""

    def __init__(self, *, planned: Sequence[Planned], **given: Any) -> None:
        super().__init__(**given)
        self.planned = planned

    def collect(self) -> Iterable[pytest.Item]:
        """An item for each of them."""
        file = self.getparent(PolicyFile)
        assert file is not None  # noqa: S101 - only a policy file makes this node
        return [_item(self, file, one) for one in self.planned]


def _item(parent: pytest.Collector, file: PolicyFile, planned: Planned) -> PolicyItem:
    kind = VerdictItem if planned.key.part == VERDICT else OutcomeItem
    item: PolicyItem = kind.from_parent(parent, name=planned.name, file=file, planned=planned)
    item.add_marker(pytest.mark.tcdp_audit(**planned.labels))
    if file.config.pluginmanager.has_plugin("xdist"):
        item.add_marker(pytest.mark.xdist_group(file.nodeid))  # one worker audits, and no other waits for it
    return item


class PolicyItemError(pytest.fail.Exception):  # type: ignore[misc,name-defined] # pytest declares no type of it
    """A place of a policy, and the sentence why its item does not pass. pytest shows it without a traceback."""

    def __init__(self, place: str, sentence: str) -> None:
        self.sentence = visible_lines(sentence)
        super().__init__(f"{place}: {self.sentence}", pytrace=False)


class PolicyItem(pytest.Item):
    """An item of a policy, made by `_item`."""

    def __init__(
        self, *, name: str, parent: pytest.Collector, file: PolicyFile, planned: Planned, **given: Any
    ) -> None:
        given["nodeid"] = f"{parent.nodeid}::{name}"  # as text: `--lf` compares the text in brackets
        super().__init__(name=name, parent=parent, **given)
        self.file, self.planned = file, planned

    def setup(self) -> None:
        """Audit, unless that was done, and find the outcome of this item, or raise a PolicyItemError."""
        try:
            self.look(self.file.answer())
        except TcdpAuditError as error:
            sentence = str(error)
        else:
            return
        self.fail(sentence)

    @abstractmethod
    def look(self, answer: Answer) -> None:
        """Find the result of an audit for this item; a TcdpAuditError where there is none or it is an error."""

    def reportinfo(self) -> tuple[Path, int, str]:
        """The line of the policy, and the name."""
        return self.path, self.planned.line - 1, self.name

    def fail(self, sentence: str) -> NoReturn:
        """Fail with a sentence; in `setup`, be an error."""
        raise PolicyItemError(self._place(), sentence)

    def add_properties(self, figures: Mapping[str, Any]) -> None:
        """Add figures to the report's properties."""
        properties = [(f"tcdp_audit.{name}", one) for name, one in figures.items() if one is not None]
        self.user_properties += [one for one in properties if one not in self.user_properties]

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:  # noqa: ARG002
        """The place in the policy and a sentence; never a traceback, whose arguments may be cells."""
        error = excinfo.value
        if not isinstance(error, PolicyItemError | pytest.xfail.Exception):
            return f"{self._place()}: {sentence_about(error, 'the audit')}"
        shown = excinfo.getrepr(style="value", chain=False)
        if shown.reprcrash is not None:  # what summaries and JUnit show
            shown.reprcrash.path, shown.reprcrash.lineno = str(self.path), self.planned.line
            shown.reprcrash.message = getattr(error, "sentence", str(error))
        return shown

    def _place(self) -> str:
        return f"{visible(self.file.shown)}:{self.planned.line}"


class OutcomeItem(PolicyItem):
    """An expectation, a demand on columns, or a schema or suite, which may have several outcomes."""

    outcomes: tuple[Outcome, ...] = ()

    def look(self, answer: Answer) -> None:
        """Find its outcomes."""
        self.outcomes = tuple(answer.outcomes(self.planned.key))
        self.add_properties(_figures(self.outcomes))
        errors = [one for one in self.outcomes if one["status"] == Status.ERROR]
        if errors:
            raise TcdpAuditError(_sentences(errors))

    def runtest(self) -> None:
        """Report them."""
        failed = [one for one in self.outcomes if one["status"] == Status.FAILED]
        if any(one["severity"] == Severity.ERROR for one in failed):
            self.fail(_sentences(failed))
        if failed:
            pytest.xfail(_sentences(failed))
            self.fail(_sentences(failed))  # under --runxfail
        statuses = {one["status"] for one in self.outcomes}
        if not statuses <= {Status.PASSED, Status.MEASURED, Status.SKIPPED}:
            self.fail(f"the audit gave it the status {', '.join(sorted(statuses))}, which is no pass")
        if statuses != {Status.PASSED}:
            pytest.skip(f"{self.outcomes[0]['status']}: {_sentences(self.outcomes)}")


class VerdictItem(PolicyItem):
    """The audit as a whole: it passes only where the policy demands something that could fail, and nothing does."""

    def look(self, answer: Answer) -> None:
        """Require a complete audit."""
        self.add_properties(answer.properties)
        _require_all({one.key for one in self.file.planned if one.key != self.planned.key}, answer.keys)
        if answer.status not in (Status.PASSED, Status.FAILED):
            raise TcdpAuditError(answer.verdict)

    def runtest(self) -> None:
        """Report the verdict."""
        answer = self.file.answer()
        if answer.status != Status.PASSED:
            self.fail(answer.verdict)


def _require_all(planned: set[Key], answered: frozenset[Key]) -> None:
    """Require that every outcome has its item, and every item its outcome.

    The warning on the kind of file has none: the policy does not say which kind it will be.
    """
    strangers = {one for one in planned ^ answered if one.check not in FILE_DEMANDS}
    if strangers:
        names = ", ".join(sorted({key.check or key.part for key in strangers}))
        raise TcdpAuditError(f"the audit's outcomes and the policy's items differ in {names}; nothing is certain")


def _figures(outcomes: tuple[Outcome, ...]) -> dict[str, Any]:
    """Figures of an outcome; of several outcomes, those of the first that fails."""
    outcome = max(outcomes, key=lambda one: one["status"] in (Status.FAILED, Status.ERROR))
    names = ("check", "attribute", "status", "severity", "observed", "comparison", "threshold")
    tallies = {name: outcome.get(name) or {} for name in ("classes", "records", "cells")}
    return {
        **{name: outcome[name] for name in names},
        **{name: tally.get("total") for name, tally in tallies.items()},
        **{f"{name}_failing": tally.get("failing") for name, tally in tallies.items()},
    }


def _sentences(outcomes: Any) -> str:
    return "\n".join(visible_lines(line) for one in outcomes for line in (one["message"], *_cells(one)))


def _cells(outcome: Mapping[str, Any]) -> Iterator[str]:
    """A line for each of the first failing cells of tables of figures, and one on the others."""
    named = outcome.get("failing_cells", ())[:MOST_CELLS]
    yield from (f"  {sentence_on_cell(one)}" for one in named)
    rest = ((outcome.get("cells") or {}).get("failing") or 0) - len(named)
    if rest > 0:
        yield f"  and {count(rest, 'more cell')}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show an error of the set-up as a failure, and a skipped item at its line of the policy."""
    report = yield
    if isinstance(item, PolicyItem) and call.excinfo is not None:
        if isinstance(report.longrepr, tuple):
            report.longrepr = (str(item.path), item.planned.line, report.longrepr[2])
        elif call.when != "call":
            report.longrepr = item.repr_failure(call.excinfo)
    return report
