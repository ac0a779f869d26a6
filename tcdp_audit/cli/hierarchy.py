"""`tcdp-audit hierarchy`: write a hierarchy of a column's values, and say how coarse each of its levels is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tcdp_audit.cli.options import load_plugins, output_option, plugin_options, quiet_option
from tcdp_audit.cli.printing import write
from tcdp_audit.plugin.engine import DataError, UsageError
from tcdp_audit.plugin.sentences import count, visible

if TYPE_CHECKING:
    from tcdp_audit.api import Plugins
    from tcdp_audit.drafting.column import ColumnFacts
    from tcdp_audit.drafting.hierarchy_builder import BuiltHierarchy

ENDING = ".hierarchy.csv"
LONGEST = 24  # characters of a label in the preview


@click.command(context_settings={"help_option_names": ["--help", "-h"]})
@click.argument("table", metavar="TABLE")
@click.argument("column", metavar="COLUMN")
@click.option("--bands", metavar="WIDTHS", help="Bands of numbers, such as 5,10,20.")
@click.option("--prefix", metavar="LENGTHS", help="The first characters of codes, such as 3,2.")
@click.option("--dates", metavar="PERIODS", help="Some of month,quarter,year,decade.")
@click.option("--from", "codes", type=click.Choice(["icd", "isco", "nuts"]), help="Groups of known codes.")
@output_option(f"the column's name and {ENDING}", written="the hierarchy")
@click.option("--force", is_flag=True, help="Replace an existing file.")
@click.option("--memory", metavar="SIZE", help="Memory budget such as 1GiB. Default: 3/4 of free memory.")
@quiet_option
@plugin_options
def command(
    table: str,
    column: str,
    bands: str | None,
    prefix: str | None,
    dates: str | None,
    codes: str | None,
    output: str | None,
    memory: str | None,
    blocked: tuple[str, ...],
    *,
    force: bool,
    quiet: bool,
    no_external_plugins: bool,
) -> int:
    """Write a generalisation hierarchy of COLUMN in TABLE: which values generalise to which.

    Choose one form. --bands and --dates are of numbers and of calendar days. --prefix is of codes such as postcodes.
    --from icd, isco or nuts groups codes by the published structure of ICD-10, ISCO-08 and NUTS.

    A value that has not the form goes under `other`; where more than half have not, nothing is written. The preview
    has a line for each level: how many groups are left, and how many records are in the smallest. It shows the most
    frequent values with their labels, and the file holds all values, so keep both as you keep the table.

    Exit code: 0 the hierarchy is written, 2 the call is wrong or a file is there already, 3 the table cannot be read.
    """
    from tcdp_audit.api import parse_memory, write_atomically  # noqa: PLC0415 - imports the engine
    from tcdp_audit.core.results.protected_files import require_own_files  # noqa: PLC0415 - likewise
    from tcdp_audit.drafting.draft import require_free  # noqa: PLC0415 - likewise

    asked = {"bands": bands, "prefix": prefix, "dates": dates, "codes": codes}
    given = {name: one for name, one in asked.items() if one is not None}
    if len(given) != 1:
        raise UsageError("choose one of --bands, --prefix, --dates and --from")
    path = Path(output or f"{_stem(column)}{ENDING}")
    require_free([path], force=force)
    if "://" not in table:
        require_own_files([("the hierarchy", path)], {"the table": Path(table)})
    plugins = load_plugins(blocked, no_external_plugins=no_external_plugins)
    facts, without = _facts(table, column, plugins, None if memory is None else parse_memory(memory))
    built = _built(facts, *next(iter(given.items())))
    write_atomically(path, built.hierarchy.csv)
    if not quiet:
        write("".join(f"{visible(line)}\n" for line in _preview(column, built, facts, without, path)))
    return 0


def _stem(column: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "_", column)[:60].strip("_") or "column"


def _facts(table: str, column: str, plugins: Plugins, memory: int | None) -> tuple[ColumnFacts, int]:
    """The values of a column without its missing ones, and how many records have none."""
    from tcdp_audit.api import OpenTables, Options, nearest  # noqa: PLC0415 - imports the engine
    from tcdp_audit.drafting.column import ColumnFacts, tokens_of  # noqa: PLC0415 - likewise

    with OpenTables(table, None, None, plugins, Options(memory), keep=False) as opened:
        _, engine = opened.release(None)
        names = [one.name for one in engine.columns]
        if column not in names:
            raise UsageError(f"{table}: has no column {column!r}{nearest(column, names)}")
        read = ColumnFacts(column, engine.domain(column), engine.records)
        facts = ColumnFacts(column, read.raw, read.records, frozenset({"", *tokens_of(read)}))
        engine.sha256()  # raises where the table changed meanwhile
    if not facts.distinct:
        raise DataError(f"{table}: column {column!r} has no value in any record")
    return facts, facts.records - facts.filled


def _built(facts: ColumnFacts, form: str, asked: str) -> BuiltHierarchy:
    from tcdp_audit.drafting.hierarchy_builder import (  # noqa: PLC0415 - imports the engine
        build_bands,
        build_code_groups,
        build_periods,
        build_prefixes,
    )

    if form == "codes":
        return build_code_groups(facts, asked)
    build = {"bands": build_bands, "prefix": build_prefixes, "dates": build_periods}[form]
    return build(facts, asked.split(","))


def _preview(column: str, built: BuiltHierarchy, facts: ColumnFacts, without: int, path: Path) -> Iterator[str]:
    """The levels with their groups, a few values with their labels, and the line for the policy."""
    from tcdp_audit.drafting.draft import entry, flow, scalar  # noqa: PLC0415 - imports the engine

    missing = f", {count(without, 'record')} without a value" if without else ""
    yield f"{column}: {count(built.values, 'value')} in {count(facts.filled, 'record')}{missing}"
    width = max(len(one.name) for one in built.levels)
    yield f"level  {'labels':<{width}}  {'groups':>9}  {'records in the smallest':>23}"
    for number, one in enumerate(built.levels):
        yield f"{number:>5}  {one.name:<{width}}  {one.groups:>9,}  {one.smallest:>23,}"
    yield from (" → ".join(map(_short, example)) for example in built.examples)
    if built.others:
        records = count(built.others_records, "record")
        yield f"{count(built.others, 'value')} in {records} of another form, under `other`. Check them in the file."
    yield f"written: {path}"
    scale = "numeric" if built.is_numeric else "nominal"
    declared = [("role", "quasi_identifier"), ("scale", scale), ("hierarchy", scalar(path.as_posix()))]
    yield "In the policy, below `attributes`:"
    yield from entry(column, flow(declared), "  ")


def _short(label: str) -> str:
    return label if len(label) <= LONGEST else f"{label[: LONGEST - 1]}…"
