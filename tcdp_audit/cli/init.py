"""`tcdp-audit init`: draft a policy for a table or for linked ones, and say what a person must decide."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from shutil import get_terminal_size
from textwrap import wrap
from typing import TYPE_CHECKING

import click

from tcdp_audit.cli.options import (
    complete_profile,
    json_option,
    load_plugins,
    output_option,
    plugin_options,
    quiet_option,
)
from tcdp_audit.cli.printing import progress_of_work, write
from tcdp_audit.plugin.engine import UsageError
from tcdp_audit.plugin.sentences import agree, count, listing, visible

if TYPE_CHECKING:
    from tcdp_audit.drafting import PolicyDraft

FEW = 8  # columns of a role that are named
MANY = 3  # open columns from which questions in a terminal are worth a line
INDENT, NARROWEST = 18, 40
TABULAR = (".csv", ".parquet")  # files of a folder that are tables of figures
HIERARCHIES = ".hierarchies"  # the end of a folder's name
ENDING, SEVERAL = ".tcdp.yaml", "tables"


@click.command(context_settings={"help_option_names": ["--help", "-h"]})
@click.argument("tables", nargs=-1, metavar="[TABLE...]")
@output_option(f"the table's name and {ENDING}; of several {SEVERAL}{ENDING}", written="the draft")
@click.option("--roles-from", "declared", metavar="FILE", help="Take roles from a schema, a suite, dbt or a contract.")
@click.option("--from", "project", metavar="PROJECT", help="Translate a project of ARX, such as study.deid.")
@click.option(
    "--profile",
    metavar="NAME",
    shell_complete=complete_profile,
    help="Add the demands of this profile, such as ema_policy_0070; `tcdp-audit profiles` lists them.",
)
@click.option("--scenarios", is_flag=True, help="Propose intruders: a neighbour, a journalist, a colleague.")
@click.option("--unit", metavar="COLUMN", help="The column that joins the rows of a person. Default: proposed.")
@click.option("--weight", metavar="COLUMN", help="The column of sampling weights. Default: proposed.")
@click.option("--ask", is_flag=True, help="Ask for the role of each column that is open, in a terminal.")
@click.option("--kind", type=click.Choice(["records", "figures"]), help="What every TABLE holds. Default: recognised.")
@click.option("--force", is_flag=True, help="Replace an existing draft.")
@click.option("--memory", metavar="SIZE", help="Memory budget such as 1GiB. Default: 3/4 of free memory.")
@json_option("draft")
@quiet_option
@plugin_options
def command(
    tables: tuple[str, ...],
    output: str | None,
    declared: str | None,
    project: str | None,
    profile: str | None,
    unit: str | None,
    weight: str | None,
    kind: str | None,
    memory: str | None,
    blocked: tuple[str, ...],
    *,
    scenarios: bool,
    ask: bool,
    as_json: bool,
    force: bool,
    quiet: bool,
    no_external_plugins: bool,
) -> int:
    """Draft a policy for TABLE: the role of each column with its reason, scales, missing tokens, hierarchies.

    TABLE is whatever `tcdp-audit check` reads. Name several to draft a policy of linked tables: which rows belong to
    which is proposed where all values of a column occur in the other table's column of the same name. Tables of
    figures, such as counts by ward and age, are recognised by totals that add up; --kind figures says that every TABLE,
    or every CSV and Parquet file of a folder, is one. What cannot be decided is TODO, which no audit accepts. Without
    --profile the draft has no threshold: its audit measures, and never passes. It holds no cell of a record, and no
    figure. --ask shows one question a screen: columns whose names differ in numbers only are one question.

    --from PROJECT translates a project of ARX: roles, hierarchies, privacy models and the suppression limit. Its table,
    or the sample that ARX releases of it, is written next to the policy; a TABLE, such as what ARX exported, takes its
    place. What a policy cannot say is listed, and a privacy model that it cannot say is TODO.

    Exit code: 0 the draft is written, 2 the call is wrong or a file is there already, 3 a table cannot be read.
    """
    from tcdp_audit.api import parse_memory, visible_json  # noqa: PLC0415 - likewise
    from tcdp_audit.drafting import draft_policy  # noqa: PLC0415 - imports the engine
    from tcdp_audit.drafting.draft import file_name_of, require_free, tables_of_files  # noqa: PLC0415 - likewise
    from tcdp_audit.drafting.drafting import with_roles  # noqa: PLC0415 - likewise

    if not tables and project is None:
        raise UsageError("Missing argument 'TABLE...'.")
    if project is not None and (len(tables) > 1 or declared is not None or kind is not None):
        raise UsageError(
            "--from: a project is about one table, and says its roles; leave out more than one TABLE, "
            "--roles-from and --kind"
        )
    if project is not None and (ask or unit is not None or weight is not None):
        raise UsageError("--from: a project says its roles; leave out --ask, --unit and --weight")
    if ask:
        from tcdp_audit.cli.asking import require_terminal  # noqa: PLC0415 - imports pydantic

        require_terminal()
    tables = files_of_figures(tables) if kind == "figures" else tables
    named, (first, *others) = tables_of_files(tables), tables or (project,)
    path = Path(output or f"{SEVERAL if others else file_name_of(first)}{ENDING}")
    require_free([path], force=force)
    plugins = load_plugins(blocked, no_external_plugins=no_external_plugins)
    budget = None if memory is None else parse_memory(memory)
    given = named if others else first
    if project is not None:
        from tcdp_audit.arx import draft_of_project, read_project  # noqa: PLC0415 - likewise

        translated = draft_of_project(
            read_project(project), path, *tables, profile=profile, scenarios=scenarios, plugins=plugins, memory=budget
        )
        draft, files = translated.draft, translated.write(force=force)
        tables = tables or (str(draft.location),)
    else:
        with progress_of_work(quiet=quiet) as progress:
            draft = draft_policy(
                given,
                declared,
                profile=profile,
                scenarios=scenarios,
                plugins=plugins,
                memory=budget,
                progress=progress,
                kind=kind,
                unit=unit,
                weight=weight,
            )
        if ask:
            from tcdp_audit.cli.asking import ask_roles  # noqa: PLC0415 - likewise

            draft = with_roles(draft, ask_roles(draft), plugins)
        files = draft.write(path, force=force)
    if as_json:
        write(visible_json(json.dumps(draft.as_json(files), ensure_ascii=False, indent=2)) + "\n")
    elif not quiet:
        write("".join(f"{visible(line)}\n" for line in _summary(draft, files, tables)))
    return 0


def files_of_figures(paths: Sequence[str]) -> tuple[str, ...]:
    """The files, and those of folders that hold tables.

    Raises:
        UsageError: a folder holds none.
    """
    files = list[str]()
    for path in paths:
        folder = Path(path)
        if not folder.is_dir():
            files.append(path)
            continue
        inside = [str(one) for one in sorted(folder.iterdir()) if one.suffix.lower() in TABULAR]
        if not inside:
            raise UsageError(f"{path}: the folder holds no {' or '.join(TABULAR)} file")
        files += inside
    return tuple(files)


def _summary(draft: PolicyDraft, files: list[Path], tables: Sequence[str]) -> Iterator[str]:
    """A summary of the draft, the files, the decisions to make, and the next command."""
    from tcdp_audit.api import UNDECIDED  # noqa: PLC0415 - likewise
    from tcdp_audit.plugin.detector import Role  # noqa: PLC0415 - imports pydantic

    yield f"{draft.table}: {draft.size}"
    yield from _links(draft)
    if draft.figures:
        yield from _counted("figures", [one.name for one in draft.figures])
    for role in Role:
        names = [one.name for one in draft.columns if one.role is role]
        if names:
            yield from _counted(role.value, names)
    if draft.undecided:
        yield from _counted(UNDECIDED, draft.undecided)
    for one in draft.scenarios:
        yield from _wrapped(f"{'scenario':<{INDENT}}{one.name}: {one.says} knows {listing([*one.knows])}")
    for note in draft.unproposed:
        yield from _wrapped(f"{'scenario':<{INDENT}}{note}")
    if draft.source is not None:
        for sentence in draft.source.undecided:
            yield from _wrapped(f"{UNDECIDED:<{INDENT}}{sentence}")
        for sentence in draft.source.omitted:
            yield from _wrapped(f"{'not taken over':<{INDENT}}{sentence}")
    yield from _written(files)
    yield ""
    yield from _decisions(draft, files[0])
    named = "" if len(tables) > 1 or draft.figures else f" {shlex.quote(tables[0])}"
    yield f"Then: {next_command(named, files[0])}"


def _written(files: Sequence[Path]) -> Iterator[str]:
    """The files; many hierarchies by their folder."""
    hierarchies = [one for one in files if one.parent.name.endswith(HIERARCHIES)]
    yield from (f"written: {one}" for one in files if len(hierarchies) <= FEW or one not in hierarchies)
    if len(hierarchies) > FEW:
        yield f"written: {len(hierarchies):,} hierarchies in {hierarchies[0].parent}"


def _links(draft: PolicyDraft) -> Iterator[str]:
    """The unit and the links, and what was found where a person must decide."""
    from tcdp_audit.api import UNDECIDED  # noqa: PLC0415 - likewise

    if draft.unit is not None:
        top = next((f"{one.name}." for one in draft.tables if one.belongs_to is None), "")
        yield f"{'unit':<{INDENT}}{top}{draft.unit}"
    for key, name in (("household", draft.household), ("weight", draft.weight)):
        if name is not None:
            yield f"{key:<{INDENT}}{name}"
    for one in draft.tables:
        if one.belongs_to == UNDECIDED:
            yield from _wrapped(f"{'link':<{INDENT}}{one.name}: {UNDECIDED}. {' '.join(one.notes)}")
        elif one.belongs_to is not None:
            yield f"{'link':<{INDENT}}{one.name} to {one.belongs_to}, by {one.by}"


def _decisions(draft: PolicyDraft, path: Path) -> Iterator[str]:
    """The steps that are left to a person."""
    from tcdp_audit.api import UNDECIDED  # noqa: PLC0415 - likewise
    from tcdp_audit.plugin.detector import Role  # noqa: PLC0415 - imports pydantic

    identifiers = sum(one.role is Role.IDENTIFIER for one in draft.columns)
    if identifiers:
        one, they = agree(identifiers, "identifier", "identifiers"), agree(identifiers, "it is", "they are")
        yield f"Drop the {one} before release: no audit passes while {they} there."
    if draft.unlinked:
        of = "the unit and " if draft.unit == UNDECIDED else ""
        yield f"Decide in {path} {of}the links of {listing(draft.unlinked)}: the file says how."
    if draft.figures:
        open_ones = "whom each is about, what its counts are of, what its texts hide"
        yield f"Decide in {path} where a table of figures says {UNDECIDED}: {open_ones}."
        yield "If one of them holds records after all, draft it again with --kind records."
    if draft.undecided:
        columns = count(len(draft.undecided), "column")
        yield f"Decide in {path} the role of {columns} with `role: {UNDECIDED}`; check the rest."
        if len(draft.undecided) >= MANY:
            yield "`tcdp-audit init --ask` asks for them one by one."
    elif draft.columns:
        yield f"Check the roles in {path}: each has its reason next to it."
    if draft.source is not None and draft.source.undecided:
        models = count(len(draft.source.undecided), "privacy model")
        yield f"Decide in {path} about {models} with `{UNDECIDED}`: the file says why."
    if draft.scenarios:
        yield f"Accept, change or delete the {agree(len(draft.scenarios), 'scenario', 'scenarios')} in {path}."
    if draft.unit is not None and not draft.unlinked:
        yield f"Check that {draft.unit!r} is the person to protect, and a pseudonym drawn for this release."


def _counted(role: str, names: list[str]) -> list[str]:
    """The columns of a role, on as many lines as the terminal asks for."""
    more = f", and {len(names) - FEW:,} more" if len(names) > FEW else ""
    return _wrapped(f"{role:<{INDENT}}{len(names):,}: {', '.join(names[:FEW])}{more}")


def _wrapped(text: str) -> list[str]:
    width = max(get_terminal_size().columns, NARROWEST)
    return wrap(visible(text), width, subsequent_indent=" " * INDENT, break_on_hyphens=False)


def next_command(table: str, policy: Path) -> str:
    """The audit of a table, with a blank before it, under a draft; it names the policy unless that is the only one."""
    from tcdp_audit.api import policies_in  # noqa: PLC0415 - a few lines of our own

    is_discovered = [one.name for one in policies_in(Path())] == [policy.name] and policy.parent == Path()
    named = "" if is_discovered else f" --policy {shlex.quote(str(policy))}"
    return f"tcdp-audit check{table}{named}"
