"""Roles that are declared elsewhere: in a pandera schema, a Great Expectations suite, dbt's manifest, a contract.

Files are read as data: neither dbt nor Great Expectations is imported. A pandera schema in Python is imported by
pandera, as the policy's `schema` is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import yaml

from tcdp_audit.drafting.declarations import (
    Declaration,
    Declarations,
    declaration_of,
    imported_of,
    is_serialized,
    roles_in,
    serialized_of,
)
from tcdp_audit.plugin.engine import UsageError, redact_errors
from tcdp_audit.plugin.sentences import listing

KNOWN = (
    "known are a pandera schema (YAML, or FILE.py:NAME), a Great Expectations suite (JSON), dbt's manifest.json, "
    "and an Open Data Contract (YAML)"
)
PYTHON = re.compile(
    r"(?P<file>.+\.py)(?::(?P<name>[A-Za-z_]\w*))?|(?P<module>[A-Za-z_][\w.]*):(?P<object>[A-Za-z_]\w*)"
)


@dataclass(frozen=True)
class _Form:
    """A form of file: whether content is one, and its declarations, given content, file name and table name."""

    fits: Callable[[Any], bool]
    read: Callable[[Any, str, str], Mapping[str, Declaration]]


@redact_errors()
def declarations_in(location: str, table: str) -> Declarations:
    """The declarations of a table's columns in a file.

    Args:
        location: a path; of a Python file also `FILE.py:NAME`; of a file with several tables also `FILE#TABLE`.
        table: what the table is called, to find it among several.

    Raises:
        UsageError: it cannot be read, is none of the known forms, or has no such table.
    """
    python = PYTHON.fullmatch(location)
    if python and (python["file"] or not Path(location).exists()):
        return Declarations(location, imported_of(location))
    name, _, chosen = location.partition("#") if not Path(location).exists() else (location, "", "")
    content = _content(Path(name))
    form = next((one for one in FORMS if one.fits(content)), None)
    if form is None:
        raise UsageError(f"--roles-from {name}: the file is none that declares roles; {KNOWN}")
    return Declarations(location, form.read(content, name, chosen or table), named=bool(chosen))


def require_tables_of_file(location: str) -> None:
    """Insist that a file of roles is not said to be about one table, where several are drafted.

    Raises:
        UsageError: it is a pandera schema in Python, or names a table.
    """
    is_python = PYTHON.fullmatch(location) is not None
    if location.endswith(".py") or ((is_python or "#" in location) and not Path(location).exists()):
        raise UsageError(
            f"--roles-from {location}: is about one table, and several are drafted; draft each by itself, or name a "
            "file with all of them"
        )


def _content(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8-sig")
        return json.loads(text) if path.suffix.lower() == ".json" else yaml.load(text, Loader=_Loader)  # noqa: S506 - a safe one
    except FileNotFoundError:
        raise UsageError(f"--roles-from {path}: no such file") from None
    except OSError as error:
        raise UsageError(f"--roles-from {path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"--roles-from {path}: not UTF-8 text; save it as UTF-8") from None
    except (ValueError, yaml.YAMLError, RecursionError):
        kind = "JSON" if path.suffix.lower() == ".json" else "YAML"
        raise UsageError(f"--roles-from {path}: not {kind} that can be read; {KNOWN}") from None


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Reads dates and numbers as the texts that they are: a name may look like one."""

    yaml_implicit_resolvers: ClassVar = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag.endswith((":bool", ":null", ":merge"))]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


NAMES = ("name", "physicalName", "table", "businessName", "column")


def is_contract(content: Any) -> bool:
    """Whether YAML is a data contract."""
    if not isinstance(content, Mapping):
        return False
    is_open = content.get("kind") == "DataContract" and any(key in content for key in ("schema", "dataset"))
    return is_open or "dataContractSpecification" in content


def contract_of(content: Any, name: str, table: str) -> Mapping[str, Declaration]:
    """The declarations of a contract for a table's columns.

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


META = ("roles", "columns", "tcdp_roles")


def is_suite(content: Any) -> bool:
    """Whether JSON is an expectation suite, as any version of the library writes it."""
    return isinstance(content, Mapping) and isinstance(content.get("expectations"), list)


def suite_of(content: Any, _: str, __: str) -> Mapping[str, Declaration]:
    """The declarations of a suite; the one closest to a column counts."""
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
    """The declarations in the `meta` of column expectations; those with a role come last, so that they count."""
    said = [(_kwargs(one).get("column"), _in_meta(one)) for one in expectations]
    known = [(str(column), one) for column, one in said if isinstance(column, str) and one is not None]
    yield from sorted(known, key=lambda pair: pair[1].role is not None)


def _in_meta(expectation: Any) -> Declaration | None:
    meta = expectation.get("meta") if isinstance(expectation, Mapping) else None
    return declaration_of(meta, meta.get("tags") or ()) if isinstance(meta, Mapping) else None


FEW = 6


def chosen_table(tables: Sequence[tuple[Sequence[str], Any]], file: str, wanted: str) -> Any:
    """The one table whose names have the wanted one among them, or the only one.

    Args:
        tables: the names of each, and what is described of it.
        file: the file that they are in.
        wanted: a name; capitals do not count.

    Raises:
        UsageError: there is none, or there are several.
    """
    named = [one for names, one in tables if wanted.lower() in (name.lower() for name in names)]
    if len(named) == 1 or (len(tables) == 1 and not named):
        return named[0] if named else tables[0][1]
    if not tables:
        raise UsageError(f"--roles-from {file}: it describes no table")
    names = sorted({names[0] for names, _ in tables if names})
    listed = listing([repr(one) for one in names[:FEW]]) + (f" and {len(names) - FEW} more" if len(names) > FEW else "")
    problem = f"{len(named)} tables are called {wanted!r}" if named else f"no table is called {wanted!r}"
    raise UsageError(f"--roles-from {file}: {problem}; name one of {listed} as --roles-from '{file}#TABLE'")


KINDS = ("model", "source", "seed", "snapshot")


def is_manifest(content: Any) -> bool:
    """Whether JSON is a manifest of dbt."""
    return isinstance(content, Mapping) and isinstance(content.get("nodes"), Mapping) and "metadata" in content


def manifest_of(content: Any, name: str, table: str) -> Mapping[str, Declaration]:
    """The declarations of a table's columns in a manifest.

    Raises:
        UsageError: it has no such table, or several.
    """
    columns = chosen_table(list(_models(content)), name, table)
    declared = ((str(one.get("name", key)), _declared(one)) for key, one in columns.items())
    return {column: one for column, one in declared if one is not None}


def _models(content: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
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


FORMS = (
    _Form(is_manifest, manifest_of),
    _Form(is_suite, suite_of),
    _Form(is_contract, contract_of),
    _Form(is_serialized, serialized_of),
)
