"""The sensitive values of units, and those that an intruder must not infer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tcdp_audit.plugin.detector import PolicyDocument, Role
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import count
from tcdp_audit_plugins.checks._shared.sensitive_values import violation_of_missing
from tcdp_audit_plugins.checks.histories.events import Flags, Positions

if TYPE_CHECKING:
    from tcdp_audit.plugin._internal import Counts, UnitRows
    from tcdp_audit.plugin.check import TableView


@dataclass(frozen=True)
class Secrets:
    """The different values of a sensitive attribute that each unit has in any of its rows.

    Args:
        offsets: where those of each unit begin in `values`. Shape (units + 1,).
        values: codes from 0, those of a unit ascending. Shape (pairs,).
    """

    offsets: Positions
    values: Positions

    @cached_property
    def lengths(self) -> Counts:
        """The number of values of each unit. Shape (units,)."""
        return np.diff(self.offsets)

    @cached_property
    def different(self) -> int:
        """A number above all codes."""
        return int(self.values.max(initial=-1)) + 1


def secrets_of(unit: Positions, units: int, secret: Positions, counted: Flags | None = None) -> Secrets:
    """The values that units have.

    Args:
        unit: of each row.
        units: how many there are.
        secret: the value of each row, -1 where it is missing. Same shape.
        counted: which values must not be inferred; None for all. Shape (values,).

    Example:
        >>> one = secrets_of(np.array([1, 0, 1, 1]), 2, np.array([0, -1, 2, 0]))
        >>> one.offsets.tolist(), one.values.tolist()
        ([0, 0, 2], [0, 2])
    """
    has = secret >= 0
    if counted is not None and len(counted):
        has &= counted[secret]  # of -1 the last one, which `has` leaves out already
    radix = int(secret.max(initial=0)) + 1
    pairs = np.unique(unit[has] * radix + secret[has])
    offsets = np.concatenate([[0], np.cumsum(np.bincount(pairs // radix, minlength=units))])
    return Secrets(offsets, pairs % radix)


def attribute_of(given: str | None, document: PolicyDocument) -> str | None:
    """The sensitive attribute that is named, or the only one; None where there are several, or none."""
    declared = document.with_role(Role.SENSITIVE)
    return given or (declared[0] if len(declared) == 1 else None)


def secret_faults(given: str | None, document: PolicyDocument, *, is_needed: bool) -> Iterator[tuple[str, str]]:
    """Say why a sensitive attribute cannot be inferred: there is none of the name, or it is open which."""
    if given is not None and given not in document.attributes:
        yield "attribute", f"the policy declares no attribute {given!r}"
    elif is_needed and attribute_of(given, document) is None:
        yield "attribute", "`C` and `values` are of one sensitive attribute; say which in `attribute`"


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
        """Read the values of some rows.

        Raises:
            CheckError: no event has one of the values that are named, or none has any and some are needed.
        """
        if name is None:
            return cls(None, None, "")
        secret, unit = rows.secret, rows.secret_unit
        assert secret is not None and unit is not None  # noqa: S101, PT018 - the attribute was asked for
        missing = int((secret < 0).sum())
        violation = violation_of_missing(view, name, missing, "event")
        if missing < len(secret):
            return cls(name, secrets_of(unit, rows.units, secret, _counted(rows, name, values)), violation)
        if needed:
            raise CheckError(f"column {name!r} has no value in any event")
        return cls(None, None, violation)

    def details(self, confidence: Fraction | None) -> dict[str, Any]:
        """The attribute and the largest share of a value of it; nothing without one."""
        return {} if confidence is None else {"sensitive": self.name, "confidence": confidence}


def _counted(rows: UnitRows, name: str, values: Sequence[str] | None) -> Flags | None:
    """A mark for each value that must not be inferred; a missing one is never named. Shape (values,)."""
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
