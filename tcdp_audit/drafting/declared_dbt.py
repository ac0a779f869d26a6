"""dbt's manifest.json: `meta`, `config.meta` and `tags` of the columns of a model, a source, a seed or a snapshot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tcdp_audit.drafting.declarations import Declaration, declaration_of
from tcdp_audit.drafting.tables_in_file import chosen_table

KINDS = ("model", "source", "seed", "snapshot")


def is_manifest(content: Any) -> bool:
    """Whether JSON is a manifest of dbt."""
    return isinstance(content, Mapping) and isinstance(content.get("nodes"), Mapping) and "metadata" in content


def manifest_of(content: Any, name: str, table: str) -> Mapping[str, Declaration]:
    """What a manifest declares of a table's columns.

    Raises:
        UsageError: it has no such table, or several.
    """
    columns = chosen_table(list(_tables(content)), name, table)
    declared = ((str(one.get("name", key)), _declared(one)) for key, one in columns.items())
    return {column: one for column, one in declared if one is not None}


def _tables(content: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every table's names and columns."""
    sources = content.get("sources")
    for node in (*content["nodes"].values(), *(sources.values() if isinstance(sources, Mapping) else ())):
        if isinstance(node, Mapping) and node.get("resource_type") in KINDS:
            names = (node.get("name"), node.get("alias"), node.get("identifier"), node.get("unique_id"))
            yield (
                tuple(str(one) for one in names if one),
                {key: one for key, one in (node.get("columns") or {}).items() if isinstance(one, Mapping)},
            )


def _declared(column: Mapping[str, Any]) -> Declaration | None:
    """What a column declares; since dbt 1.10 below `config`."""
    config = column.get("config") if isinstance(column.get("config"), Mapping) else {}
    metas = [{} if meta is None else meta for meta in (column.get("meta"), config.get("meta"))]  # type: ignore[union-attr]
    tags = [*(column.get("tags") or ()), *(config.get("tags") or ())]  # type: ignore[union-attr]
    return declaration_of({**metas[0], **metas[1]} if all(isinstance(one, Mapping) for one in metas) else {}, tags)
