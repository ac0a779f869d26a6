"""The tables of one policy: those of figures apart, and those of records with their columns in one list of attributes.

`tables:` replaces `release:` and `attributes:`. One table of records next to tables of figures is read as a policy of
that table. Of several, the columns become attributes named `table.column`. A table without `belongs_to` has one row for
each unit; the rows of every other one belong to rows of another table. So whatever reads a policy, checks included,
reads one list of attributes. Without `unit:` nothing links the tables, and only checks that compare two of them judge
any.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tcdp_audit.core.base.errors import UsageError
from tcdp_audit.core.base.words import listing
from tcdp_audit.core.policy.aggregates import AggregateDeclaration, is_aggregate
from tcdp_audit.core.policy.faults import UNDECIDED, nearest
from tcdp_audit.core.policy.model import (
    AGGREGATES,
    SEPARATOR,
    TABLES,
    CompanionEntry,
    CompanionTable,
    PolicyDocument,
    Role,
    TableDeclaration,
    TableFiles,
)
from tcdp_audit.core.policy.source import Location, PolicySource

if TYPE_CHECKING:
    from tcdp_audit.core.policy.policy import Policy

UNITS = "units"  # what a table of rows belongs to where no table has one row for each unit
LINKS = ("unit", "household")  # keys that name a column of the table of units
SEPARATELY = "give the records a separate policy"
SUPPRESSED = "choose which figures to hide with a tool such as tau-Argus or sdcTable, and audit its output"
UNPAIRED = "rows of several tables are paired by nothing but the unit; leave it out"
NOT_COMPARED = {  # tables that several linked ones are not compared with, and the reason
    "holdout": "what a release adds to chance is measured on single rows; give that table a separate policy",
    "registry": "a registry is joined with single rows; give that table a separate policy",
}
INSTEAD = {  # keys of a policy of one table, and what to do where there are several
    "release": "name each table's file there, as `file:`",
    "time": "say `time:` in the table whose rows have one",
    "key": UNPAIRED,
    "rows_aligned": UNPAIRED,
    "schema_": "a schema validates one table, so validate each by itself",
    "suite": "a suite judges one table, so validate each by itself",
}
Located = tuple[tuple[str | int, ...], str]
COLUMNS = (  # parameters that name columns
    *("attribute", "attributes", "other_attributes", "column", "sensitive", "target", "knows", "at_stake"),
)
USED = ("of", "by")  # keys of `utility` that name columns
ALIKE = ("breaks", "levels", "bins")  # parameters that change a column alike in every table that has it
BY_COLUMN = ("tolerance", *ALIKE)  # parameters with a value for each of some columns


RECORDS = frozenset(TableDeclaration.model_fields) - {"file", "read_as"}  # keys of a table of records alone
CELLS = frozenset(AggregateDeclaration.model_fields) - {"file", "read_as"}  # keys of a table of figures alone
OF_ONE = ("release", "time")  # keys that a policy of `tables:` has in its table


def separated(source: PolicySource) -> PolicySource:
    """The text of a policy with its tables of figures under `aggregates`, and those of records as a policy has them.

    One table of records is the release; without any, there is no attribute. A table that is neither is left out: see
    `misplaced`.
    """
    data = source.data
    tables = data.get(TABLES)
    figures = _figures(tables)
    if not figures:
        release: dict[str, Any] = {} if TABLES in data or "attributes" in data else {"attributes": {}}
        return replace(source, data={**_without(data, AGGREGATES), **release})
    cells = {name: _without(one, *RECORDS) if _is_both(one) else one for name, one in figures.items()}
    changed = {**_without(data, TABLES, "attributes"), AGGREGATES: cells}
    moved: dict[tuple[str | int, ...], Location] = {(AGGREGATES,): (TABLES,)}
    records = {name: one for name, one in tables.items() if name not in figures and not _is_neither(one, tables)}
    name = _only_table(records)
    if name is not None:
        changed = _without(changed, *OF_ONE)
        for key, written in (("release", "file"), ("attributes", "attributes"), ("time", "time")):
            moved[(key,)] = (TABLES, name, written)
            if written in records[name]:
                changed[key] = records[name][written]
    elif records:
        changed[TABLES] = records
    else:
        changed["attributes"] = {}
    return replace(source, data=changed, moved=moved)


def _without(data: Any, *keys: str) -> Any:
    return {key: value for key, value in data.items() if key not in keys}


def _figures(tables: Any) -> dict[str, Any]:
    """The tables of figures of a policy as they are written, by name."""
    return {name: one for name, one in tables.items() if is_aggregate(one)} if isinstance(tables, Mapping) else {}


def _only_table(records: Mapping[str, Any]) -> str | None:
    """The one table of records that belongs to no other, if there is no second one."""
    name, declared = next(iter(records.items()), ("", None))
    is_alone = len(records) == 1 and isinstance(declared, Mapping) and "belongs_to" not in declared
    return name if is_alone else None


def _is_both(declared: Any) -> bool:
    return is_aggregate(declared) and bool(RECORDS & declared.keys())


def _is_neither(declared: Any, tables: Mapping[str, Any]) -> bool:
    """Whether a table is neither one of figures nor of records. Of linked tables one may have its link alone."""
    if not isinstance(declared, Mapping) or is_aggregate(declared) or "attributes" in declared:
        return False
    return bool(CELLS & declared.keys()) or (bool(_figures(tables)) and not RECORDS & declared.keys())


def misplaced(source: PolicySource) -> Iterator[Located]:
    """The faults of keys that tables of figures and of records have, each with its location in the text."""
    data = source.data
    tables = data.get(TABLES)
    if AGGREGATES in data:
        yield (AGGREGATES,), "tables of figures stand under `tables:`, each with its `dimensions:` and `measures:`"
    if not isinstance(tables, Mapping):
        return
    yield from second_list(source)
    for name, one in tables.items():
        if _is_both(one):
            keys = [f"`{key}`" for key in one if key in RECORDS]
            sentence = f"has `dimensions` or `measures`, and {listing(keys)} of a table of records; declare two tables"
            yield (TABLES, name), sentence
        elif _is_neither(one, tables):
            sentence = "needs `attributes` if it has records, or `dimensions` and `measures` if it has figures"
            yield (TABLES, name), sentence
    if figures := _figures(tables):
        yield from _faults_of_records(source, figures)
    yield from _faults_of_source(data.get("microdata"), tables, figures)


def _faults_of_records(source: PolicySource, figures: Mapping[str, Any]) -> Iterator[Located]:
    """The faults of the only table of records next to tables of figures, which is read as the release."""
    data = source.data
    tables = data[TABLES]
    name = _only_table({n: one for n, one in tables.items() if n not in figures and not _is_neither(one, tables)})
    if name is None:
        return
    yield from (((key,), f"the policy has `tables:`; {INSTEAD[key]}") for key in OF_ONE if key in data)
    declared = tables[name]
    if "by" in declared:
        yield (TABLES, name, "by"), "the table belongs to no other one that it could link; leave it out"
    known = sorted(TableDeclaration.model_fields)
    for key in declared:
        if key not in known:
            yield (TABLES, name, key), f"unknown name{nearest(str(key), known) or f'; known here: {listing(known)}'}"


def _faults_of_source(microdata: Any, tables: Mapping[str, Any], figures: Mapping[str, Any]) -> Iterator[Located]:
    """The faults of the name of the table that tables of figures were made from."""
    place: tuple[str, ...] = ("microdata",) if isinstance(microdata, str) else ("microdata", "table")
    name = microdata.get("table") if isinstance(microdata, Mapping) else microdata
    if not isinstance(name, str):
        return
    records = [one for one in tables if one not in figures]
    if name in figures:
        yield place, f"{name!r} is a table of figures; name the table of records that such tables were made from"
    elif name not in tables:
        file = nearest(name, records) or "; write `microdata: {file: …}` for records that are not released"
        yield place, f"the policy has no table {name!r}{file}"


COMPANIONS = ("original", "population", "holdout", "registry", "previous")  # keys that name other tables


def joined(source: PolicySource) -> PolicySource:
    """The text of a policy of tables with those of figures apart, and the attributes of several tables in one list.

    A column that one table has may be named without its table in `expect`, `remedy`, `utility`, `min_utility`, `weight`
    and `time`. Breaks of a column that several tables have are those of it in each.
    """
    source = separated(source)
    tables = source.data.get(TABLES)
    if not isinstance(tables, Mapping):
        return source
    data = _with_files(source.data)
    if "attributes" in data:
        return replace(source, data=data)
    attributes: dict[str, Any] = {}
    places: dict[tuple[str | int, ...], Location] = dict(source.stand_ins)
    for table, column, one in _declared(tables):
        name = f"{table}{SEPARATOR}{column}"
        attributes[name] = one
        places["attributes", name] = (TABLES, table, "attributes", column)
    top = top_of(tables)
    qualified = {key: f"{top}{SEPARATOR}{data[key]}" for key in LINKS if top and isinstance(data.get(key), str)}
    changed = {**data, "attributes": attributes, **qualified, **_sections(data, attributes, top)}
    return replace(source, data=changed, stand_ins=places)


def _sections(data: Mapping[Any, Any], attributes: Mapping[str, Any], top: str) -> dict[str, Any]:
    """The sections that name columns, each column with its table."""
    changed: dict[str, Any] = {}
    for section in ("expect", "remedy"):
        if isinstance(data.get(section), list):
            changed[section] = [_with_tables(one, attributes, top) for one in data[section]]
    for key in ("weight", "household_weight"):
        if key in data:
            changed[key] = _named(data[key], attributes)
    if "scenarios" in data:
        changed["scenarios"] = _with_tables(data["scenarios"], attributes)
    if isinstance(least := data.get("min_utility"), Mapping):
        changed["min_utility"] = {_named(name, attributes): value for name, value in least.items()}
    if isinstance(uses := data.get("utility"), Mapping):
        changed["utility"] = {kind: _uses(entries, attributes) for kind, entries in uses.items()}
    return changed


def _with_files(data: Mapping[Any, Any]) -> dict[Any, Any]:
    """A document in which mappings of tables to files are distinguished from the schema of a single table."""
    changed = {**data, **{key: _files(data[key]) for key in COMPANIONS if key in data}}
    if isinstance(scenarios := data.get("scenarios"), Mapping):
        changed["scenarios"] = {
            name: {**one, **{key: _files(one[key]) for key in COMPANIONS if key in one}}
            if isinstance(one, Mapping)
            else one
            for name, one in scenarios.items()
        }
    return changed


def _files(companion: Any) -> Any:
    if isinstance(companion, list):
        return [_files(one) for one in companion]
    if not isinstance(companion, Mapping) or CompanionTable.model_fields.keys() & {*map(str, companion)}:
        return companion
    return TableFiles(companion)


def _uses(entries: Any, attributes: Mapping[str, Any]) -> Any:
    """Counts, regressions or models whose columns are named with their tables."""
    if not isinstance(entries, list):
        return entries
    return [
        {**one, **{key: _named(one[key], attributes) for key in USED if key in one}}
        if isinstance(one, Mapping)
        else one
        for one in entries
    ]


def _declared(tables: Mapping[Any, Any]) -> Iterator[tuple[str, str, Any]]:
    """Each column as it is written: its table, its name there, and its declaration."""
    for table, declared in tables.items():
        columns = declared.get("attributes") if isinstance(declared, Mapping) else None
        for column, one in columns.items() if isinstance(columns, Mapping) else ():
            yield str(table), str(column), one


def second_list(source: PolicySource) -> Iterator[Located]:
    """The fault of a policy of tables that declares other columns, or the same ones otherwise, next to them."""
    data = source.data
    if "attributes" not in data:
        return
    declared = {f"{table}{SEPARATOR}{column}": one for table, column, one in _declared(data[TABLES])}
    if _figures(data[TABLES]):
        yield ("attributes",), "the policy has `tables:`; declare the records there, as a table with `attributes:`"
    elif data["attributes"] != declared:
        yield ("attributes",), "the policy has `tables:`, each with its `attributes:`; leave these out"


def require_one_table(policy: Policy, what: str, advice: str) -> None:
    """Insist that a policy has one table.

    Args:
        policy: the policy.
        what: what needs one, with its verb: `a suite judges`.
        advice: what to do where there are several, as an imperative clause.

    Raises:
        UsageError: it has several, or tables of figures.
    """
    require_records(policy, what)
    tables = policy.document.tables
    if tables is not None:
        raise UsageError(f"{policy.name}: {what}, and the policy has `tables` ({listing([*tables])}); {advice}")


def require_records(policy: Policy, what: str) -> None:
    """Insist that a policy releases records alone, neither tables of figures nor output of models.

    Args:
        policy: the policy.
        what: what needs them, as a clause: `a suite judges one table`.

    Raises:
        UsageError: it releases something else.
    """
    document = policy.document
    if document.has_figures:
        released = [*(document.aggregates or ()), *(document.models or ())]
        kind = "tables of figures" if document.aggregates else "output of models"
        advice = [SEPARATELY] * document.has_records + [SUPPRESSED] * bool(document.aggregates)
        instead = f"; {', and '.join(advice)}" if advice else ""
        raise UsageError(f"{policy.name}: {what}, and the policy has {kind} ({listing(released)}){instead}")


def top_of(tables: Mapping[Any, Any]) -> str:
    """The table with one row for each unit, or the only one of rows; empty where there is no such table."""
    mappings = {str(name): one for name, one in tables.items() if isinstance(one, Mapping | TableDeclaration)}
    parents = {name: _parent(one) for name, one in mappings.items()}
    tops = [name for name, parent in parents.items() if parent is None]
    return tops[0] if len(tops) == 1 else next(iter(parents)) if len(parents) == 1 else ""


def _parent(declared: Mapping[Any, Any] | TableDeclaration) -> Any:
    return declared.belongs_to if isinstance(declared, TableDeclaration) else declared.get("belongs_to")


def _with_tables(entry: Any, attributes: Mapping[str, Any], top: str = "") -> Any:
    """An expectation, or scenarios, whose columns are named with their tables; its unit is in the top one."""
    if not isinstance(entry, Mapping):
        return entry
    named = {check: _parameters(given, attributes) for check, given in entry.items()}
    of_units = {
        check: given
        for check, given in named.items()
        if isinstance(given, Mapping) and isinstance(unit := given.get("unit"), str) and unit not in attributes
    }
    return named | {check: {**one, "unit": f"{top}{SEPARATOR}{one['unit']}"} for check, one in of_units.items() if top}


def _parameters(given: Any, attributes: Mapping[str, Any]) -> Any:
    if not isinstance(given, Mapping):
        return given
    table = given.get("table")
    named = {key: _named(given[key], attributes, table) for key in COLUMNS if key in given}
    for parameter in BY_COLUMN:
        by_column = given.get(parameter)
        if isinstance(by_column, Mapping):
            named[parameter] = {_named(key, attributes, table): value for key, value in by_column.items()}
    for parameter in ALIKE:
        if isinstance(given_alike := named.get(parameter), Mapping):
            everywhere = {one: value for name, value in given_alike.items() for one in _everywhere(name, attributes)}
            own = {name: value for name, value in given_alike.items() if name in attributes}
            named[parameter] = {**everywhere, **own}
    return {**given, **named}


def _everywhere(name: Any, attributes: Mapping[str, Any]) -> list[Any]:
    """A column of several tables in each of them; a name of one column, or of none, as it is."""
    having = [one for one in attributes if one.partition(SEPARATOR)[2] == name]
    return having if name not in attributes and having else [name]


def _named(name: Any, attributes: Mapping[str, Any], table: Any = None) -> Any:
    """A column with its table, where only one table has it; otherwise as it is written."""
    if isinstance(name, list):
        return [_named(one, attributes, table) for one in name]
    if not isinstance(name, str) or name in attributes:
        return name
    if table is not None and f"{table}{SEPARATOR}{name}" in attributes:
        return f"{table}{SEPARATOR}{name}"
    having = [one for one in attributes if one.partition(SEPARATOR)[2] == name]
    return having[0] if len(having) == 1 else name


def faults_of_tables(document: PolicyDocument, tables: Mapping[str, TableDeclaration]) -> Iterator[Located]:
    """The faults of a document's tables and their links, each with its location."""
    yield from _faults_of_places(document)
    if document.unit is None and not (document.is_unlinked and len(tables) > 1):
        yield (TABLES,), "the policy names no `unit:`, the column that joins the rows of its tables"
    elif document.unit_column == UNDECIDED:
        sentence = f"is still to be decided: write the column of the table of units in place of {UNDECIDED}"
        yield ("unit",), sentence
    if document.conventions.known_rows == "one":
        yield (
            ("conventions", "known_rows"),
            "several tables are judged as whole histories; to judge the rows of one, give it a separate policy",
        )
    if not document.is_unlinked:
        yield from _faults_of_parents(tables)
    yield from _faults_of_columns(document, tables)
    yield from _faults_of_uses(document, tables)
    yield from _faults_of_links(document, tables)


def _faults_of_places(document: PolicyDocument) -> Iterator[Located]:
    """Keys that a policy of one table has, and one of several does not."""
    for name, place, one in document.companion_entries():
        yield from _faults_of_companion(document, name, place, one)
    for key, advice in INSTEAD.items():
        if getattr(document, key) not in (None, False):
            yield (key.rstrip("_"),), f"the policy has `tables:`; {advice}"
    if not document.unit_released:
        sentence = "the unit links the tables, which are apart without it; audit each under a separate policy"
        yield ("unit_released",), sentence


def _faults_of_companion(
    document: PolicyDocument, name: str, place: tuple[str | int, ...], one: CompanionEntry
) -> Iterator[Located]:
    """The faults of a companion that cannot be compared with several tables, or does not name all of them."""
    tables = document.tables or {}
    kind = name.partition(" ")[0]
    if kind in NOT_COMPARED:
        yield place, f"the policy has `tables:`; {NOT_COMPARED[kind]}"
    elif document.is_unlinked:
        yield place, "tables that nothing links are compared with each other alone; leave it out"
    elif isinstance(one, CompanionTable):
        yield place, "the policy has `tables:`; name a file of each of them, or the folder that holds their files"
    elif not isinstance(one, str):
        for table in one:
            if table not in tables:
                yield (*place, table), f"the policy has no table {table!r}{nearest(table, tables)}"
        lacking = [repr(table) for table in tables if table not in one]
        if lacking:
            yield place, f"names no file of {listing(lacking)}; the same tables are compared, so name one of each"


def _faults_of_columns(document: PolicyDocument, tables: Mapping[str, TableDeclaration]) -> Iterator[Located]:
    """Names that no table can have, and columns that are named where they are not."""
    top = top_of(tables)
    for name, one in tables.items():
        if SEPARATOR in name:
            yield (TABLES, name), f"a table's name has no {SEPARATOR!r}, which separates it from a column"
        if one.time is not None and one.time not in one.attributes:
            sentence = (
                f"{one.time!r} is not declared under `attributes` of the table{nearest(one.time, one.attributes)}"
            )
            yield (TABLES, name, "time"), sentence
        for column, declared in one.attributes.items():
            if declared.of is not None and one.belongs_to is not None and len(tables) > 1:
                sentence = "all rows of a table that belongs to another are known together; leave `of` out"
                yield (TABLES, name, "attributes", column, "of"), sentence
    for key in ("weight", "household_weight"):
        named = getattr(document, key)
        if named in document.attributes and not named.startswith(f"{top}{SEPARATOR}") and top:
            yield (key,), f"a weight is that of a unit, so it is a column of the table {top!r}"
        elif named is not None and document.is_unlinked:
            yield (key,), "tables that nothing links have no weight in common; leave it out"


def _faults_of_uses(document: PolicyDocument, tables: Mapping[str, TableDeclaration]) -> Iterator[Located]:
    """Counts, regressions and models of columns of several tables, which no user has side by side."""
    for kind, entries in document.utility.uses.items():
        for index, one in enumerate(entries):
            named = {name.partition(SEPARATOR)[0] for name in one.columns}
            used = [name for name in tables if name in named]
            if len(used) > 1:
                yield ("utility", kind, index), f"has columns of {listing(used)}, and is of the rows of one table"


def _faults_of_parents(tables: Mapping[str, TableDeclaration]) -> Iterator[Located]:
    tops = [name for name, one in tables.items() if one.belongs_to is None]
    for name in tops[1:]:
        yield (TABLES, name), f"say which table it belongs to: {tops[0]!r} has one row for each unit already"
    for name, one in tables.items():
        if one.belongs_to == UNDECIDED and UNDECIDED not in tables:
            sentence = (
                f"is still to be decided: write the table that the rows of {name!r} belong to in place of {UNDECIDED}, "
                "and the column of both as `by`; leave it out where this is the table of units"
            )
            yield (TABLES, name, "belongs_to"), sentence
        elif one.belongs_to == UNITS and UNITS not in tables:
            if len(tables) > 1:
                yield (TABLES, name, "belongs_to"), "several tables of rows need a table with one row for each unit"
        elif one.belongs_to is not None and one.belongs_to not in tables:
            known = ", ".join(tables)
            yield (TABLES, name, "belongs_to"), f"the policy has no table {one.belongs_to!r}; it has {known}"
        elif one.belongs_to is not None and _is_circular(name, tables):
            yield (TABLES, name, "belongs_to"), "the table belongs to itself, by way of others"


def _is_circular(name: str, tables: Mapping[str, TableDeclaration]) -> bool:
    seen, at = set(), tables[name].belongs_to
    while at is not None and at in tables and at not in seen:
        if at == name:
            return True
        seen.add(at)
        at = tables[at].belongs_to
    return False


def _faults_of_links(document: PolicyDocument, tables: Mapping[str, TableDeclaration]) -> Iterator[Located]:
    """A column that links tables is no value that could be known or kept secret."""
    for name, column in links_of(document):
        declared = tables[name].attributes.get(column) if name in tables else None
        if declared is not None and declared.role is Role.IDENTIFIER:
            sentence = (
                "the column links the tables, which are apart without it; leave its role out, it counts as declared"
            )
            yield (TABLES, name, "attributes", column), sentence
        if declared is not None and declared.role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
            yield (
                (TABLES, name, "attributes", column),
                "the column links rows, and is no value; give the column that is known a different name",
            )


def links_of(document: PolicyDocument) -> Sequence[tuple[str, str]]:
    """Each column that links tables: its table, and its name there."""
    if document.tables is None:
        return ()
    linking: dict[tuple[str, str], None] = {}
    for key in LINKS:
        table, _, column = (getattr(document, key) or "").partition(SEPARATOR)
        if column:
            linking[table, column] = None
    for name, one in document.tables.items():
        column = one.by or document.unit_column
        if one.belongs_to in document.tables and column is not None:
            linking[name, column] = None
            linking[str(one.belongs_to), column] = None
    return tuple(linking)


def linking_columns(document: PolicyDocument) -> Sequence[str]:
    """The columns that link tables, each with its table; none for a policy of one table."""
    return [f"{table}{SEPARATOR}{column}" for table, column in links_of(document)]
