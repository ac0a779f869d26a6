"""A policy as a pandera schema."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from tcdp_audit.api import Expectation, Policy, PolicyError, read_policy
from tcdp_audit.integrations.host import Demand, plugins
from tcdp_audit.integrations.pandera.check import ExpectationCheck, structure_check
from tcdp_audit.integrations.pandera.shared import POLICY, Demanded, batch_of, document_of, judges, warns
from tcdp_audit.plugin.detector import Role
from tcdp_audit.plugin.engine import redact_errors

Source = str | Path | Mapping[str, Any] | Policy


@redact_errors()
def checks_of(policy: Source) -> list[ExpectationCheck]:
    """The checks of a policy: one on its columns, and one for each expectation that has a threshold.

    Args:
        policy: a policy, the path of its file, or its content as a mapping.

    Raises:
        PolicyError: the policy is wrong, or none of its expectations has a threshold.
        UsageError: its file cannot be read.
    """
    read = read_policy(policy, plugins())
    document = document_of(read)
    pairs = zip(read.expectations, document["expect"], strict=True)
    checks = [_check(document, one, entry) for one, entry in pairs if judges(one)]
    if not checks:
        raise PolicyError(
            "no expectation of the policy has a threshold, and a schema only judges; give one of them one"
        )
    return [structure_check(document), *checks]


def _check(document: dict[str, Any], expectation: Expectation, entry: dict[str, Any]) -> ExpectationCheck:
    """One expectation; all share the mapping of the policy, so that YAML has it once."""
    ((name, parameters),) = entry.items()
    demanded = Demanded(Demand.of(document, entry), batch_of(document), warns(expectation))
    return ExpectationCheck(name, {POLICY: document, **(parameters or {})}, demanded)


@redact_errors()
def schema_of(policy: Source, library: Literal["pandas", "polars"] = "pandas") -> Any:
    """A policy as a schema of `pandera.pandas` or `pandera.polars`.

    Its columns are the declared ones without the identifiers; another is refused. Their types are left open: the check
    on columns judges the demands of a scale, such as a range of numbers. Expectations without a threshold judge nothing
    and are left out, and so is a schema or a suite that the policy names; the schema's description reports it.

    Args:
        policy: a policy, the path of its file, or its content as a mapping.
        library: the library of the frames.

    Raises:
        PolicyError: the policy is wrong, or none of its expectations has a threshold.
        UsageError: its file cannot be read.
    """
    read = read_policy(policy, plugins())
    pandera = _pandera(library)
    columns = {name: pandera.Column(nullable=True, **given) for name, given in _columns(read).items()}
    return pandera.DataFrameSchema(columns, checks=checks_of(read), strict=True, description=_description(read))


def _pandera(library: str) -> Any:
    if library == "polars":
        import pandera.polars  # noqa: PLC0415 - needs polars, which is an extra

        return pandera.polars
    import pandera.pandas  # noqa: PLC0415 - as the other

    return pandera.pandas


def _columns(policy: Policy) -> dict[str, dict[str, Any]]:
    """Arguments of the schema's columns, by name."""
    columns: dict[str, dict[str, Any]] = {}
    for name, one in policy.attributes.items():
        if one.role is not Role.IDENTIFIER:
            words = [one.role.value.replace("_", "-"), *([] if one.scale is None else [one.scale.value])]
            columns[name] = {"description": ", ".join(words)}
    unit, key = policy.document.unit, policy.document.key
    if unit is not None:
        columns.setdefault(unit, {"description": "unit of privacy"})
    if key is not None:
        columns.setdefault(key, {"description": "key", "required": False})
    return columns


def _description(policy: Policy) -> str:
    document = policy.document
    measured = [one.check.name for one in policy.expectations if not judges(one)]
    quality = [f"`{name}`" for name in ("schema", "suite") if document.model_dump(by_alias=True).get(name) is not None]
    left_out = [
        *([f"without threshold, {', '.join(measured)}"] if measured else []),
        *([f"what its {' and '.join(quality)} says of quality"] if quality else []),
    ]
    return f"{policy.name}, exported by tcdp-audit{'; left out: ' if left_out else ''}{'; '.join(left_out)}"
