"""The sensitive values that an intruder could infer of units, as a check is asked for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tcdp_audit.plugin.check import TableView
from tcdp_audit.plugin.detector import Role
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import agree, count
from tcdp_audit_plugins.checks.histories.events import Flags, Secrets, UnitRows, secrets_of


def attribute_of(view: TableView, given: str | None, *, needed: bool) -> str | None:
    """The sensitive attribute that is named, or the only one; None where nothing is asked about any.

    Raises:
        CheckError: one is needed, and it is open which.
    """
    declared = view.policy.with_role(Role.SENSITIVE)
    name = given or (declared[0] if len(declared) == 1 else None)
    if name is None and needed:
        raise CheckError("`C` and `values` are of one sensitive attribute; say which in `attribute`")
    return name


@dataclass(frozen=True)
class SensitiveValues:
    """The values of a sensitive attribute that must not be inferred.

    Args:
        name: of the attribute; None without one.
        secrets: which of them each unit has; None without an attribute.
        violation: why a check fails under the policy, where a missing value is a failure.
    """

    name: str | None
    secrets: Secrets | None
    violation: str

    @classmethod
    def of(
        cls, view: TableView, rows: UnitRows, name: str | None, values: Sequence[str] | None, *, needed: bool
    ) -> SensitiveValues:
        """The sensitive values of some rows.

        Raises:
            CheckError: no event has one of the values that are named, or none has any and some are needed.
        """
        if name is None:
            return cls(None, None, "")
        secret = rows.secret
        assert secret is not None  # noqa: S101 - the attribute was asked for
        missing = int((secret < 0).sum())
        if missing == len(secret):
            if needed:
                raise CheckError(f"column {name!r} has no value in any event")
            return cls(None, None, "")
        are_missing = f"{count(missing, 'event')} {agree(missing, 'has', 'have')} no value"
        violation = f"{are_missing} in the sensitive attribute {name!r}"
        fails = missing > 0 and view.policy.conventions.missing_sensitive == "fail"
        counted = _counted(rows, name, values)
        return cls(name, secrets_of(rows.unit, rows.units, secret, counted), violation if fails else "")

    def details(self, confidence: Fraction | None) -> dict[str, Any]:
        """The attribute and the largest share of a value of it; nothing without one."""
        return {} if confidence is None else {"sensitive": self.name, "confidence": confidence}


def _counted(rows: UnitRows, name: str, values: Sequence[str] | None) -> Flags | None:
    """Which values must not be inferred, a missing one never being named. Shape (values,)."""
    if values is None:
        return None
    wanted = {*values}
    lacking = len(wanted - {*rows.secret_labels})
    if lacking:
        raise CheckError(
            f"no event has {count(lacking, 'value')} of the {len(wanted):,} that `values` names in column {name!r}, so "
            "no one could infer them; correct `values`"
        )
    return np.array([*(label in wanted for label in rows.secret_labels), False])
