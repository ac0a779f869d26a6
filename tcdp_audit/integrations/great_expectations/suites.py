"""A policy as an expectation suite, and a suite as a policy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any

from great_expectations.core.expectation_suite import ExpectationSuite
from pydantic import BaseModel
from pydantic.v1 import ValidationError

from tcdp_audit.api import Expectation, Policy, PolicyError, read_policy, require_one_table, scheme_of
from tcdp_audit.integrations.great_expectations.demands import MEASURED_ONLY, demand_of
from tcdp_audit.integrations.great_expectations.expectation import CLASSES, DisclosureExpectation, expectation_of
from tcdp_audit.integrations.great_expectations.parameters import COLUMN, DECLARED_COLUMNS, HEAD, check_fields
from tcdp_audit.integrations.host import Demand, joined, plugins
from tcdp_audit.plugin.detector import Role
from tcdp_audit.plugin.engine import redact_errors
from tcdp_audit.plugin.sentences import Severity

META = "tcdp_audit"  # the key in a suite's `meta` with the number of expectations that it was made with


@redact_errors()
def suite_of(policy: str | Path | Mapping[str, Any] | Policy, name: str | None = None) -> ExpectationSuite:
    """A policy as a suite: an expectation for each of its outcomes, and one for its demands on the columns.

    Args:
        policy: a policy, the path of a policy file, or its content as a mapping.
        name: the name of the suite; by default that of the policy's file.

    Raises:
        PolicyError: the policy is wrong, names a schema or a suite, which no expectation is made of, or has an address
            with a password, which would be stored.
    """
    read = read_policy(policy, plugins())
    require_one_table(read, "an expectation sees one batch", "audit them with `tcdp-audit check`")
    _require_checks_only(read)
    try:
        expectations = [_of_columns(read), *_of_checks(read)]
    except ValidationError as error:
        sentences = "; ".join(dict.fromkeys(str(one["msg"]) for one in error.errors()))
        raise PolicyError(f"{read.name}: {sentences}") from None
    meta = {META: {"expectations": len(expectations), "policy_sha256": read.sha256}}
    return ExpectationSuite(name=name or read.name, expectations=expectations, meta=meta)


def _require_checks_only(policy: Policy) -> None:
    for key, named in (("schema", policy.document.schema_), ("suite", policy.document.suite)):
        if named is not None:
            raise PolicyError(f"{policy.name}: {key}: a suite cannot hold it; leave it out, or audit under the policy")


def _of_columns(policy: Policy) -> DisclosureExpectation:
    declarations = {column: _declared(policy, column) for column in policy.attributes}
    return CLASSES[DECLARED_COLUMNS](declarations=declarations, **_head(policy))


def _head(policy: Policy) -> dict[str, Any]:
    """Declarations of the policy about the whole table, as far as there are any."""
    said = policy.document.model_dump(include=set(HEAD), exclude_defaults=True)
    head: dict[str, Any] = _plain({name: value for name, value in said.items() if value})
    for name in head.keys() & {"original", "population", "holdout", "registry", "previous"}:
        place = head[name]
        head[name] = [_located(policy, one) for one in place] if isinstance(place, list) else _located(policy, place)
    return head


def _located(policy: Policy, location: Any) -> Any:
    """A file by its whole path, as a suite has no folder; an address unchanged; of a mapping the file that it names."""
    if isinstance(location, dict):
        return {**location, "file": _located(policy, location["file"])} if "file" in location else location
    resolved = policy.resolve(location)
    is_address = scheme_of(resolved) and not Path(resolved).exists()
    return resolved if is_address else str(Path(resolved).absolute())


def _declared(policy: Policy, column: str) -> dict[str, Any]:
    declared: dict[str, Any] = _plain(policy.attributes[column].model_dump(exclude_none=True, exclude={"reason"}))
    if isinstance(declared.get("hierarchy"), str):
        declared["hierarchy"] = _located(policy, declared["hierarchy"])
    return declared


def _of_checks(policy: Policy) -> Iterator[DisclosureExpectation]:
    for own in policy.parts.values():
        _require_no_chances(own)
        for expectation in own.expectations:
            for target in expectation.check.targets(expectation.parameters, own.document):
                yield _of_target(own, expectation, target.attributes)


def _require_no_chances(policy: Policy) -> None:
    """Insist that an expectation, which knows its columns alone, is judged as the scenario of a policy is."""
    one = policy.document.scenario
    if one is not None and (one.attempt or one.known_fraction or one.tables or one.in_release == "unknown"):
        raise PolicyError(
            f"{policy.name}: scenarios.{policy.document.scenario_name}: an expectation says which columns are known, "
            "and not how likely an attack is, nor which tables an intruder has; use `tcdp-audit check` or pytest"
        )


def _of_target(policy: Policy, expectation: Expectation, target: Sequence[str]) -> DisclosureExpectation:
    """The expectation of one outcome, with the declarations of every column that its check reads."""
    single = len(target) == 1
    column = {"column": target[0], **_of_column(policy, target[0])} if single else {}
    known = policy.with_role(Role.QUASI_IDENTIFIER)
    declarations = {name: declared for name in known if len(declared := _declared(policy, name)) > 1}
    others = [name for name in _others(policy, expectation, target) if name not in known]
    declarations |= {name: _declared(policy, name) for name in others}
    if single:
        declarations.pop(target[0], None)
    return expectation_of(expectation.check.name)(
        quasi_identifiers=known,
        **({"declarations": declarations} if declarations else {}),
        **column,
        **_own(expectation),
        **_head(policy),
        severity=_severity(expectation),
        **({"notes": expectation.parameters.reason} if expectation.parameters.reason else {}),
    )


def _of_column(policy: Policy, column: str) -> dict[str, Any]:
    return {key: value for key, value in _declared(policy, column).items() if key in COLUMN}


def _others(policy: Policy, expectation: Expectation, target: Sequence[str]) -> list[str]:
    """The columns that an outcome may depend on, except the quasi-identifiers.

    A figure of equivalence classes depends on its target alone, unless a convention makes it read the others; any other
    check may read every declared column.
    """
    conventions = policy.conventions
    apart = conventions.multiple_sensitive == "per_attribute" and conventions.suppressed == "counted"
    if apart and expectation.check.on_classes and len(target) < 2:
        time = policy.document.time  # which a policy declares
        return [*target, *([time] if time is not None and time not in target else [])]
    return list(policy.attributes)


def _own(expectation: Expectation) -> dict[str, Any]:
    """The check's parameters that were given."""
    given = expectation.parameters.model_fields_set
    own = {one.name: getattr(expectation.parameters, one.parameter) for one in check_fields(expectation.check)
           if one.parameter in given}  # fmt: skip
    return {name: _plain(value) for name, value in own.items() if value is not None}


def _severity(expectation: Expectation) -> str:
    if not expectation.check.demands(expectation.parameters):
        return MEASURED_ONLY
    return "warning" if expectation.parameters.severity is Severity.WARNING else "critical"


def _plain(value: Any) -> Any:
    """A value as JSON has it; a fraction as a decimal number where both are equal, and otherwise as a fraction."""
    if isinstance(value, BaseModel):  # a parameter with parameters of its own
        return _plain(value.model_dump(exclude_unset=True))
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, Fraction):
        return _number(value)
    return value.value if isinstance(value, Enum) else value


def _number(value: Fraction) -> int | float | str:
    if value.denominator == 1:
        return int(value)
    decimal = float(value)
    return decimal if Fraction(repr(decimal)) == value else f"{value.numerator}/{value.denominator}"


@redact_errors()
def policy_of(suite: ExpectationSuite) -> dict[str, Any]:
    """A suite as a policy, as a mapping that `audit` takes.

    Args:
        suite: of expectations of tcdp-audit, on one table that all of them set up alike.

    Raises:
        PolicyError: the suite is empty, has another expectation, a row condition or a parameter of its own, or its
            expectations do not fit into one policy.
    """
    demands = [_demand_in(one) for one in suite.expectations]
    if not any(one.entry for one in demands):
        raise PolicyError(f"{suite.name}: no expectation of a check is in it")
    groups = list(joined(demands))
    if len(groups) > 1:
        raise PolicyError(
            f"{suite.name}: its expectations set up the table in {len(groups)} ways, so that no one policy holds them; "
            "make suites of those that agree"
        )
    (together, attributes), *_ = groups
    expect = [dict(one.expected) for one in together if one.entry]
    return {**together[0].head, "attributes": attributes, "expect": expect}


def _demand_in(expectation: Any) -> Demand:
    if not isinstance(expectation, DisclosureExpectation):
        raise PolicyError(f"{expectation.expectation_type} is no expectation of tcdp-audit; a policy names a suite of "
                          "such as `suite:`")  # fmt: skip
    if expectation.row_condition is not None:
        raise PolicyError(f"{expectation.expectation_type} has a row condition, which a policy cannot have")
    if expectation.suite_parameter_options:
        raise PolicyError(f"{expectation.expectation_type} has parameters of the suite; give them their values first")
    return demand_of(expectation.checked, expectation.__dict__)
