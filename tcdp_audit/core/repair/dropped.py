"""The columns that are not written: identifiers, the key that links a release to its original, an entity column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tcdp_audit.core.base.errors import DataError, PolicyError
from tcdp_audit.core.policy import Policy, Role
from tcdp_audit.core.results.change_log import DroppedColumn

_RELEASED = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)


def dropped_columns(policy: Policy, names: Sequence[str]) -> tuple[DroppedColumn, ...]:
    """The columns of a release that `fix` does not write, in their order.

    Args:
        policy: what declares them.
        names: of the release's columns.

    Raises:
        PolicyError: the key is an attribute that people are to have, so that it can neither be dropped nor be kept.
        DataError: nothing would be left.
    """
    document = policy.document
    key = None if document.keep_key else document.key
    declared = None if key is None else document.attributes.get(key)
    if declared is not None and declared.role in _RELEASED and key in names:
        raise PolicyError(
            f"{policy.name}: key: {key!r} is declared as {declared.role.value.replace('_', '-')} as well, and no key "
            "is written: declare it as an identifier, or say `keep_key: true` and `internal_only: true`"
        )
    identifiers = {*document.with_role(Role.IDENTIFIER)} - ({document.key} if document.keep_key else set())
    unit = None if document.unit_released else document.unit
    reasons: dict[str | None, str] = {unit: "unit", **dict.fromkeys(identifiers, "identifier"), key: "key"}
    dropped = [DroppedColumn(name=name, why=reasons[name]) for name in names if name in reasons]
    if names and len(dropped) == len(names):
        raise DataError(
            "nothing would be left: every column of the release is an identifier, the key or the unit; declare what is "
            "released"
        )
    return tuple(dropped)


def columns_to_put_back(policy: Policy, dropped: Sequence[DroppedColumn]) -> tuple[str, ...]:
    """Those dropped columns that some demand reads: the key, the unit, and what an expectation names."""
    document = policy.document
    read = {document.key, document.unit}
    for expectation in policy.expectations:
        read |= _texts(expectation.parameters.model_dump())
    return tuple(one.name for one in dropped if one.name in read)


def _texts(value: Any) -> set[str]:
    """Every text in some parameters, names of columns among them."""
    if isinstance(value, str):
        return {value}
    if isinstance(value, Mapping):
        return {text for pair in value.items() for one in pair for text in _texts(one)}
    several = isinstance(value, list | tuple | set | frozenset)
    return {text for one in value for text in _texts(one)} if several else set()
