"""`tcdp-audit init`: draft a policy for a table or for linked ones, and say what a person must decide."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from shutil import get_terminal_size
from textwrap import wrap
from typing import TYPE_CHECKING

import click

from tcdp_audit.cli.options import load_plugins, output_option, plugin_options, quiet_option
from tcdp_audit.cli.printing import progress_of_work, write
from tcdp_audit.plugin.sentences import agree, count, listing, visible

if TYPE_CHECKING:
    from tcdp_audit.drafting import PolicyDraft

FEW = 8  # columns of a role that are named
INDENT, NARROWEST = 18, 40
ENDING, SEVERAL = ".tcdp.yaml", "tables"


@click.command(context_settings={"help_option_names": ["--help", "-h"]})
@click.argument("tables", nargs=-1, required=True, metavar="TABLE...")
@output_option(f"the table's name and {ENDING}; of several {SEVERAL}{ENDING}", written="the draft")
@click.option("--roles-from", "declared", metavar="FILE", help="Take roles from a schema, a suite, dbt or a contract.")
@click.option("--profile", metavar="NAME", help="Add the demands of this profile, such as ema_policy_0070.")
@click.option("--scenarios", is_flag=True, help="Propose intruders: a neighbour, a journalist, a colleague.")
@click.option("--force", is_flag=True, help="Replace an existing draft.")
@click.option("--memory", metavar="SIZE", help="Memory budget such as 1GiB. Default: 3/4 of free memory.")
@quiet_option
@plugin_options
def command(
    tables: tuple[str, ...],
    output: str | None,
    declared: str | None,
    profile: str | None,
    memory: str | None,
    blocked: tuple[str, ...],
    *,
    scenarios: bool,
    force: bool,
    quiet: bool,
    no_external_plugins: bool,
) -> int:
    """Draft a policy for TABLE: the role of each column with its reason, scales, missing tokens, hierarchies.

    TABLE is whatever `tcdp-audit check` reads. Name several to draft a policy of linked tables: which rows belong to
    which is proposed where all values of a column occur in the other table's column of the same name. What cannot be
    decided is TODO, which no audit accepts. Without --profile the draft has no threshold: its audit measures, and never
    passes. It holds no cell.

    Exit code: 0 the draft is written, 2 the call is wrong or a file is there already, 3 a table cannot be read.
    """
    from tcdp_audit.api import parse_memory  # noqa: PLC0415 - likewise
    from tcdp_audit.drafting import draft_policy  # noqa: PLC0415 - imports the engine
    from tcdp_audit.drafting.draft import file_name_of, require_free, tables_of_files  # noqa: PLC0415 - likewise

    named, (first, *others) = tables_of_files(tables), tables
    path = Path(output or f"{SEVERAL if others else file_name_of(first)}{ENDING}")
    require_free([path], force=force)
    plugins = load_plugins(blocked, no_external_plugins=no_external_plugins)
    budget = None if memory is None else parse_memory(memory)
    given = named if others else first
    with progress_of_work(quiet=quiet) as progress:
        draft = draft_policy(
            given,
            declared,
            profile=profile,
            scenarios=scenarios,
            plugins=plugins,
            memory=budget,
            progress=progress,
        )
    files = draft.write(path, force=force)
    if not quiet:
        write("".join(f"{visible(line)}\n" for line in _summary(draft, files, tables)))
    return 0


def _summary(draft: PolicyDraft, files: list[Path], tables: Sequence[str]) -> Iterator[str]:
    """A summary of the draft, the files, the decisions to make, and the next command."""
    from tcdp_audit.api import UNDECIDED  # noqa: PLC0415 - likewise
    from tcdp_audit.plugin.detector import Role  # noqa: PLC0415 - imports pydantic

    yield f"{draft.table}: {draft.size}"
    yield from _links(draft)
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
    yield from (f"written: {file}" for file in files)
    yield ""
    yield from _decisions(draft, files[0])
    named = "" if len(tables) > 1 else f" {shlex.quote(tables[0])}"
    yield f"Then: {next_command(named, files[0])}"


def _links(draft: PolicyDraft) -> Iterator[str]:
    """The unit and the links, and what was found where a person must decide."""
    from tcdp_audit.api import UNDECIDED  # noqa: PLC0415 - likewise

    if draft.unit is not None:
        top = next((f"{one.name}." for one in draft.tables if one.belongs_to is None), "")
        yield f"{'unit':<{INDENT}}{top}{draft.unit}"
    for one in draft.tables:
        if one.belongs_to == UNDECIDED:
            yield from _wrapped(f"{'link':<{INDENT}}{one.name}: {UNDECIDED}. {' '.join(one.notes)}")
        elif one.belongs_to is not None:
            yield f"{'link':<{INDENT}}{one.name} to {one.belongs_to}, by {one.by}"


def _decisions(draft: PolicyDraft, path: Path) -> Iterator[str]:
    """What a person must do, and what to check."""
    from tcdp_audit.api import UNDECIDED  # noqa: PLC0415 - likewise
    from tcdp_audit.plugin.detector import Role  # noqa: PLC0415 - imports pydantic

    identifiers = sum(one.role is Role.IDENTIFIER for one in draft.columns)
    if identifiers:
        one, they = agree(identifiers, "identifier", "identifiers"), agree(identifiers, "it is", "they are")
        yield f"Drop the {one} before release: no audit passes while {they} there."
    if draft.unlinked:
        of = "the unit and " if draft.unit == UNDECIDED else ""
        yield f"Decide in {path} {of}the links of {listing(draft.unlinked)}: the file says how."
    if draft.undecided:
        columns = count(len(draft.undecided), "column")
        yield f"Decide in {path} the role of {columns} with `role: {UNDECIDED}`; check the rest."
    else:
        yield f"Check the roles in {path}: each has its reason next to it."
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
