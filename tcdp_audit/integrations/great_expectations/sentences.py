"""What an expectation demands, in one sentence of a check's own words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tcdp_audit.integrations.great_expectations.parameters import check_fields
from tcdp_audit.plugin.sentences import listing

COLUMNS = "The table has the declared columns and no other, no identifier, and values of the declared scales."


def demand_sentence(check: Any, kwargs: Mapping[str, Any], *, with_column: bool = True) -> str:
    """The demand of an expectation, such as `k-anonymity, records grouped by age and zip: …`.

    Args:
        check: the registered check; None for the demands on the columns.
        kwargs: the expectation's parameters as they are stored.
        with_column: whether the sentence names the column; under a heading of it, it does not.
    """
    if check is None:
        return COLUMNS
    column = kwargs.get("column")
    of = f" of {_shown(column)}" if column is not None and with_column else ""
    by = listing([_shown(one) for one in _names(kwargs.get("quasi_identifiers"))])
    return f"{_title(check, kwargs)}{of}, records grouped by {by}: {_bounds(check, kwargs)}."


def _names(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _title(check: Any, kwargs: Mapping[str, Any]) -> str:
    """The check's title, with what its parameters add where they are known already."""
    try:
        own = {one.parameter: kwargs[one.name] for one in check_fields(check) if one.name in kwargs}
        return str(check.titled(check.parameters.model_validate(own)))
    except Exception:  # noqa: BLE001 - a parameter of the suite stands in its place, and has no value yet
        return str(check.title)


def _bounds(check: Any, kwargs: Mapping[str, Any]) -> str:
    shown = {one.parameter: one.name for one in check_fields(check)}
    demanded = [one for one in check.limits if kwargs.get(shown[one.parameter]) is not None]
    if not demanded:
        return "measured, nothing is demanded"
    clauses = [one.demand.replace(f"`{one.parameter}`", _shown(kwargs[shown[one.parameter]])) for one in demanded]
    whom = "in every group, " if check.judges_each_class else ""
    return whom + listing(clauses)


def _shown(value: Any) -> str:
    """A name or a number; a parameter of the suite by its own name."""
    if isinstance(value, Mapping):
        return str(value.get("$PARAMETER", "…"))
    return value if isinstance(value, str) else json.dumps(value)
