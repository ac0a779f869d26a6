"""Data contracts in YAML: the Open Data Contract Standard, version 3 and 2, and the Data Contract Specification."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tcdp_audit.drafting.declarations import Declaration, declaration_of
from tcdp_audit.drafting.tables_in_file import chosen_table

NAMES = ("name", "physicalName", "table", "businessName", "column")


def is_contract(content: Any) -> bool:
    """Whether YAML is a data contract."""
    if not isinstance(content, Mapping):
        return False
    is_open = content.get("kind") == "DataContract" and any(key in content for key in ("schema", "dataset"))
    return is_open or "dataContractSpecification" in content


def contract_of(content: Any, name: str, table: str) -> Mapping[str, Declaration]:
    """What a contract declares of a table's columns.

    Raises:
        UsageError: it has no such table, or several.
    """
    columns = chosen_table(list(_tables(content)), name, table)
    declared = ((column, declaration_of(_properties(one), one.get("tags") or ())) for column, one in columns)
    return {column: one for column, one in declared if one is not None}


def _tables(content: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every table's names, and its columns by name: `schema` of version 3, `dataset` of 2, `models` of the other."""
    if "dataContractSpecification" in content:
        models = content.get("models")
        for name, model in models.items() if isinstance(models, Mapping) else ():
            fields = model.get("fields") if isinstance(model, Mapping) else None
            yield (str(name),), list(_columns_by_name(fields))
        return
    for key, columns in (("schema", "properties"), ("dataset", "columns")):
        for one in _mappings(content.get(key)):
            yield _names(one), [(column, inner) for inner in _mappings(one.get(columns)) for column in _names(inner)]


def _columns_by_name(fields: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, one in fields.items() if isinstance(fields, Mapping) else ():
        if isinstance(one, Mapping):
            yield str(name), one


def _mappings(given: Any) -> Iterable[Mapping[str, Any]]:
    return [one for one in given if isinstance(one, Mapping)] if isinstance(given, list) else []


def _names(one: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(one[key]) for key in NAMES if one.get(key)))


def _properties(column: Mapping[str, Any]) -> dict[str, Any]:
    """A column's own keys, and its custom properties, which may be a list of names and values."""
    custom = column.get("customProperties")
    if isinstance(custom, Mapping):
        return {**column, **custom}
    pairs = {str(one.get("property")): one.get("value") for one in _mappings(custom)}
    return {**column, **pairs}
