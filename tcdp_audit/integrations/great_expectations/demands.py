"""Demands of expectations, from their parameters: valid, without a secret, and with one outcome."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from operator import itemgetter
from typing import Any

from tcdp_audit.api import PolicyError, has_secret
from tcdp_audit.integrations.great_expectations.parameters import check_fields, setup_of
from tcdp_audit.integrations.host import Demand, policy_of
from tcdp_audit.plugin.engine import redact_errors

MEASURED_ONLY = "info"  # the severity of an expectation that demands nothing
PLACE = re.compile(r"^policy: (?:expect\[0\](?:\.\w+)?[.:] ?)?", re.MULTILINE)


def demand_of(check: Any, values: Mapping[str, Any]) -> Demand:
    """Make the demand of an expectation with these values.

    Raises:
        PolicyError: it is not valid.
    """
    setup = setup_of(values)
    _require_no_secret(setup)
    if check is None:
        return sound_demand(setup)
    own = {one.parameter: values[one.name] for one in check_fields(check) if values.get(one.name) is not None}
    if values.get("column") is not None:
        own["attribute"] = values["column"]
    if severity_of(values) != "critical" and demanded(check, values):
        own["severity"] = "warning"
    return sound_demand(setup, {check.name: own})


def _require_no_secret(setup: Mapping[str, Any]) -> None:
    """Require addresses without a password: suites and their results are stored as text."""
    for name in ("original", "population", "holdout", "registry", "previous"):
        given = setup.get(name) or ()
        tables = given if isinstance(given, list | tuple) else [given]
        places = [one.get("file") if isinstance(one, Mapping) else one for one in tables]
        if any(has_secret(one) for one in places if isinstance(one, str)):
            raise PolicyError(
                f"{name}: its address holds a password or a token, and Great Expectations stores suites as text; give "
                "it as the driver takes it, for example in PGPASSWORD or a password file"
            )


def severity_of(values: Mapping[str, Any]) -> str:
    """The severity of an expectation, in the words of Great Expectations."""
    given = values.get("severity", "critical")
    return str(getattr(given, "value", given))


def demanded(check: Any, values: Mapping[str, Any]) -> list[str]:
    """The parameters with a threshold that are given."""
    thresholds = {limit.parameter for limit in check.limits}
    return [one.name for one in check_fields(check) if one.parameter in thresholds and values.get(one.name) is not None]


def sound_demand(setup: Mapping[str, Any], entry: Mapping[str, Any] | None = None) -> Demand:
    """The demand of an expectation on a table; without an entry that on the columns.

    Args:
        setup: a policy without `expect`.
        entry: the check's name with its parameters.

    Raises:
        PolicyError: they are no valid policy, or would give more than one outcome.
    """
    demand = Demand.of(_plain({"version": 1, **setup}), None if entry is None else _plain(entry))
    _require_soundness(demand)
    return demand


@lru_cache(maxsize=4096)  # Great Expectations makes each expectation several times
@redact_errors()
def _require_soundness(demand: Demand) -> None:
    """Require that a policy of one demand alone is valid and gives one outcome."""
    try:
        policy = policy_of([demand])
    except PolicyError as error:
        raise PolicyError(PLACE.sub("", str(error))) from None
    for expectation in policy.expectations:
        targets = len(expectation.check.targets(expectation.parameters, policy.document))
        if targets != 1:
            raise PolicyError(f"it would give {targets} outcomes, one for each sensitive column; name one `column`")


def _plain(value: Any) -> Any:
    """Mappings and sequences as JSON has them, keys in order, so that equal parameters make equal demands."""
    if isinstance(value, Mapping):
        return {
            name: _plain(one)
            for name, one in sorted(((str(key), one) for key, one in value.items()), key=itemgetter(0))
        }
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return getattr(value, "value", value)  # an enumeration by its value
