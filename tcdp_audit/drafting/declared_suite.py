"""Great Expectations suites in JSON: `meta` of expectations on a column, of the suite, and expectations of ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tcdp_audit.drafting.declarations import Declaration, declaration_of, roles_in

META = ("roles", "columns", "tcdp_roles")


def is_suite(content: Any) -> bool:
    """Whether JSON is an expectation suite, as any version of the library writes it."""
    return isinstance(content, Mapping) and isinstance(content.get("expectations"), list)


def suite_of(content: Any, _: str, __: str) -> Mapping[str, Declaration]:
    """What a suite declares of columns; what stands closest to a column counts."""
    declared: dict[str, Declaration] = {}
    for one in content["expectations"]:
        declared |= roles_in(_kwargs(one), "quasi-identifiers and attributes of an expectation in the suite")
    return {**declared, **dict(_of_suite(content.get("meta"))), **dict(_of_columns(content["expectations"]))}


def _kwargs(expectation: Any) -> Mapping[str, Any]:
    kwargs = expectation.get("kwargs") if isinstance(expectation, Mapping) else None
    return kwargs if isinstance(kwargs, Mapping) else {}


def _of_suite(meta: Any) -> Iterator[tuple[str, Declaration]]:
    """Roles by column in the suite's own `meta`, as words or as mappings."""
    for key in META:
        columns = meta.get(key) if isinstance(meta, Mapping) else None
        for column, one in columns.items() if isinstance(columns, Mapping) else ():
            said = declaration_of(one if isinstance(one, Mapping) else {"role": one})
            if said is not None:
                yield str(column), said


def _of_columns(expectations: list[Any]) -> Iterator[tuple[str, Declaration]]:
    """What expectations on a column say of it in their `meta`; those that say a role come last, so that they count."""
    said = [(_kwargs(one).get("column"), _in_meta(one)) for one in expectations]
    known = [(str(column), one) for column, one in said if isinstance(column, str) and one is not None]
    yield from sorted(known, key=lambda pair: pair[1].role is not None)


def _in_meta(expectation: Any) -> Declaration | None:
    meta = expectation.get("meta") if isinstance(expectation, Mapping) else None
    return declaration_of(meta, meta.get("tags") or ()) if isinstance(meta, Mapping) else None
