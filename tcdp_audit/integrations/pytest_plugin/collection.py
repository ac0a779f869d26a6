"""A policy file as a node of pytest, with its items. It is read when it is collected; nothing is audited then."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import pytest

from tcdp_audit.api import Plugins, read_policy, sentence_about, visible_lines
from tcdp_audit.integrations.pytest_plugin import items
from tcdp_audit.integrations.pytest_plugin.answer import Answer, answered
from tcdp_audit.integrations.pytest_plugin.items import OutcomeItem, PolicyItem, VerdictItem
from tcdp_audit.integrations.pytest_plugin.once import once
from tcdp_audit.integrations.pytest_plugin.planned import COLUMNS, VERDICT, Planned, plan
from tcdp_audit.integrations.pytest_plugin.settings import Settings
from tcdp_audit.plugin.engine import TcdpAuditError


def policy_file(path: Path, parent: pytest.Collector) -> PolicyFile:
    """A policy file as a node of pytest."""
    manager = parent.config.pluginmanager
    if not manager.is_registered(items):
        manager.register(items, "tcdp_audit_items")
    file: PolicyFile = PolicyFile.from_parent(parent, path=path)
    return file


class PolicyFile(pytest.File):
    """A policy: an item for each demand on columns, each expectation and attribute, schema, suite and verdict."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """The items.

        Raises:
            CollectError: the policy is wrong, with a line for each fault; or an option of the command line is.
        """
        try:
            return list(self._collected())
        except TcdpAuditError as error:
            sentence = str(error)
        raise self.CollectError(visible_lines(sentence))

    def _collected(self) -> Iterator[pytest.Item | pytest.Collector]:
        settings, plugins = Settings.of(self.config), Plugins.load()
        read = read_policy(self.shown, plugins)  # tests may change the folder later
        policy = replace(read, path=self.path, trusts_code=settings.trust_policy_code)
        self.planned = tuple(plan(policy))
        self._ask = partial(once, self.config, policy, partial(answered, policy, plugins, settings))
        yield Columns.from_parent(self, name=COLUMNS, planned=[one for one in self.planned if one.key.part == COLUMNS])
        yield from (_item(self, self, one) for one in self.planned if one.key.part != COLUMNS)

    def answer(self) -> Answer:
        """What the audit says; the release is audited when it is first asked for."""
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
