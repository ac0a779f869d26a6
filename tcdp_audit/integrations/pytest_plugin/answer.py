"""What an audit says, for items to look at: its result in JSON, which workers of pytest-xdist can hand each other."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pytest

from tcdp_audit.api import Plugins, Policy, sentence_about
from tcdp_audit.integrations.pytest_plugin.planned import Key, by_key
from tcdp_audit.integrations.pytest_plugin.settings import Settings
from tcdp_audit.plugin.engine import TcdpAuditError, UsageError

OUTCOMES = (pytest.skip.Exception, pytest.fail.Exception)  # a plugin may call `pytest.importorskip`


@dataclass(frozen=True)
class Answer:
    """What came of an audit.

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
        """What a report says of the audit as a whole: the tables and the policy by their digests, and the counts."""
        result = self._result
        tables = {"release": result["release"], **result["companions"], "policy": result["policy"]}
        digests = {f"{name.replace(' ', '_')}_sha256": table["sha256"] for name, table in tables.items()}
        return {"status": result["status"], **result["summary"], "records": result["release"]["records"], **digests}

    @property
    def keys(self) -> frozenset[Key]:
        """What the outcomes are about."""
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


def answered(policy: Policy, plugins: Plugins, settings: Settings) -> Answer:
    """Audit a release; what goes wrong is an answer as well. Cost: that of `tcdp_audit.audit`."""
    try:
        return _audited(policy, plugins, settings)
    except (Exception, *OUTCOMES) as error:  # noqa: BLE001 - a traceback of pytest shows arguments, which may be cells
        return Answer(fault=sentence_about(error, "the audit"))


def _audited(policy: Policy, plugins: Plugins, settings: Settings) -> Answer:
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
            plugins=plugins,
            memory=settings.memory,
        )
    return Answer(result=result.as_json(), verdict=f"{verdict_title(result)}. {verdict_sentence(result)}")
