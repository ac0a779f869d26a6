"""The draft of a policy: its text, the hierarchies next to it, and how both are written."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from textwrap import wrap
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tcdp_audit.api import (
    CAVEAT,
    SUFFIXES,
    UNDECIDED,
    Profile,
    os_error_reason,
    require_writable,
    scheme_of,
    write_atomically,
)
from tcdp_audit.core.results.protected_files import is_same_file, require_own_files
from tcdp_audit.drafting.hierarchies import DraftHierarchy
from tcdp_audit.drafting.relations import families
from tcdp_audit.drafting.scenarios import DraftScenario, propose_scenarios
from tcdp_audit.plugin.detector import Role, Scale
from tcdp_audit.plugin.engine import UsageError, redact_errors
from tcdp_audit.plugin.sentences import count, listing, visible

ROLES = (
    "  identifier        names a person directly: it must not be in the release",
    "  quasi_identifier  an intruder may know it about a person, as neighbours know an age",
    "  sensitive         no one must learn it about a person",
    "  insensitive       neither; that claim is yours",
)
LINKS = (
    "Columns that link the tables have no role: they are never compared as values. Draw them at random for this "
    "release, as a number that people know names them."
)
OPEN_LINKS = (
    f"Where it says `belongs_to: {UNDECIDED}`, write the table that the rows belong to, and the column of both as "
    "`by`; remove it from the table with one row for each unit; or take the table out, and audit it under a separate "
    "policy."
)
OF_FIGURES = (
    "`about` says whom a table is about: tables with the same `who` describe the same people. For a subgroup of them, "
    "add its category, such as `sex: male`. `suppressed` says what each text hides: `unknown`, or the least and the "
    "largest value, such as [1, 9]."
)
INTRUDERS = (
    "Intruders, as proposals: accept, change or delete each. Every demand is judged against each. Where none is left, "
    "remove `scenarios:`: the only intruder then knows every quasi-identifier. What no scenario knows is "
    "known to no one, so keep one that knows every quasi-identifier unless you can say why."
)
OPEN_COLUMNS = f"Columns whose role is {UNDECIDED} are in none: add those that an intruder may know."
NOT_TAKEN_OVER = "Not taken over: {}"
SEPARATOR = "."  # between the names of a table and a column


@dataclass(frozen=True)
class DraftColumn:
    """A column of a draft.

    Args:
        name: of the column.
        role: the proposal; None for what a person must decide, which the file says as TODO.
        scale: how its values relate; None where nothing says it.
        note: why, in a line without cells.
        order: the known order of an ordinal column.
        hierarchy: its hierarchy.
        kind: what its name or its values speak of, such as `age`; empty where nothing says it.
    """

    name: str
    role: Role | None
    scale: Scale | None
    note: str
    order: Sequence[str] = ()
    hierarchy: DraftHierarchy | None = field(default=None, repr=False)
    kind: str = ""


@dataclass(frozen=True)
class DraftTable:
    """One of several linked tables of a draft.

    Args:
        name: what the policy calls it.
        location: where it is, as of a draft.
        records: how many it has.
        width: how many columns it has, those that link it included.
        belongs_to: the table to whose rows its rows belong; None for the one that belongs to no other; TODO for what a
            person must decide.
        by: the column of both that links them; None where there is none yet.
        notes: what there is to say of it and of its link, in sentences.
    """

    name: str
    location: str | None
    records: int
    width: int
    belongs_to: str | None
    by: str | None
    notes: Sequence[str]

    @property
    def size(self) -> str:
        """Its records and columns, in words."""
        return f"{count(self.records, 'record')}, {count(self.width, 'column')}"


@dataclass(frozen=True)
class DraftFigures:
    """A table of figures of a draft.

    Args:
        name: what the policy calls it.
        location: where it is, as of a draft.
        rows: how many its file has.
        lines: what the policy says of it below its file, with TODO where a person must decide.
        labels: the labels of each dimension without its total; of one that has no name in the file under TODO.
    """

    name: str
    location: str | None
    rows: int
    lines: Sequence[str]
    labels: Mapping[str, frozenset[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class DraftSource:
    """The part of a draft that is from a project of another program, each as lines of the policy.

    Args:
        says: what the draft was made from, in a sentence.
        keys: further keys of the policy, such as `population`.
        expectations: its demands, in place of the measurements of a draft.
        remedies: how it repairs.
        undecided: sentences on the demands that are TODO in `expectations`.
        omitted: sentences on what the policy leaves out.
    """

    says: str
    keys: Sequence[str] = ()
    expectations: Sequence[str] = ()
    remedies: Sequence[str] = ()
    undecided: Sequence[str] = ()
    omitted: Sequence[str] = ()


@dataclass(frozen=True)
class PolicyDraft:
    """A policy that measures and passes nothing, for a person to complete.

    Args:
        table: what the table is called; of several all their names.
        location: where it is, as a policy may name it: a path or an address; None in memory, and for several.
        records: how many it has; of several, those of the table of units.
        columns: in the table's order, without the columns that join rows; of several tables called `table.column`.
        missing_tokens: texts that mean a missing value.
        notes: what else there is to say, in sentences.
        version: of the program that made it.
        expectations: checks without a threshold, each with its other parameters in YAML.
        profile: whose demands it makes; None where it demands nothing.
        unit: the column that joins the rows of a person; None where none was found, TODO where a person must decide.
        tables: the linked tables, where there are several.
        scenarios: proposals of intruders, where they were asked for.
        unproposed: sentences on intruders that the columns do not suffice for.
        figures: the tables of figures.
        household: the column that the members of a household share; None where none was found.
        weight: the column of sampling weights, which is one of `columns` as well; None where none was found.
        read_as: by table, the entries of `read_as` in YAML where its text is not UTF-8 with decimal points.
        source: what it has from a project of another program; None where it has nothing of one.
    """

    table: str
    location: str | None
    records: int
    columns: Sequence[DraftColumn]
    missing_tokens: Sequence[str]
    notes: Sequence[str]
    version: str
    expectations: Sequence[tuple[str, str]]
    profile: Profile | None = None
    unit: str | None = None
    tables: Sequence[DraftTable] = ()
    scenarios: Sequence[DraftScenario] = ()
    unproposed: Sequence[str] = ()
    figures: Sequence[DraftFigures] = ()
    household: str | None = None
    weight: str | None = None
    read_as: Mapping[str, str] = field(default_factory=dict)
    source: DraftSource | None = None

    def with_scenarios(self) -> PolicyDraft:
        """The same with proposals of intruders, by the roles of its columns and what their names speak of."""
        known, secret = (
            [(one.name, one.kind) for one in self.columns if one.role is role]
            for role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
        )
        scenarios, unproposed = propose_scenarios(known, secret)
        return replace(self, scenarios=scenarios, unproposed=unproposed)

    @property
    def undecided(self) -> list[str]:
        """The columns whose role is TODO."""
        return [one.name for one in self.columns if one.role is None]

    @property
    def questions(self) -> list[Sequence[str]]:
        """The columns whose role is TODO by questions: those whose names differ in numbers only are one."""
        together = families(self.undecided)
        return [*dict.fromkeys(tuple(together.get(name, (name,))) for name in self.undecided)]

    def as_json(self, files: Sequence[Path] = ()) -> dict[str, Any]:
        """The draft as data: what is proposed for each column, and why. It holds no cell.

        Args:
            files: that were written.
        """
        return {
            "table": self.table,
            "records": self.records,
            "unit": self.unit,
            "household": self.household,
            "weight": self.weight,
            "columns": [
                {
                    "name": one.name,
                    "role": UNDECIDED if one.role is None else one.role.value,
                    "scale": None if one.scale is None else one.scale.value,
                    "hierarchy": None if one.hierarchy is None else one.hierarchy.kind,
                    "reason": one.note,
                }
                for one in self.columns
            ],
            "undecided": self.undecided,
            "questions": [[*one] for one in self.questions],
            "missing_tokens": [*self.missing_tokens],
            "tables": [
                {"name": one.name, "records": one.records, "belongs_to": one.belongs_to, "by": one.by}
                for one in self.tables
            ],
            "tables_of_figures": [{"name": one.name, "rows": one.rows} for one in self.figures],
            "scenarios": [{"name": one.name, "knows": [*one.knows]} for one in self.scenarios],
            "notes": [*self.notes],
            "files": [str(one) for one in files],
        }

    @property
    def unlinked(self) -> list[str]:
        """The tables whose `belongs_to` is TODO."""
        return [one.name for one in self.tables if one.belongs_to == UNDECIDED]

    @property
    def size(self) -> str:
        """Records and columns in words, or the tables with their records, or with the rows of figures."""
        if self.figures:
            of_figures = [f"{one.name} {count(one.rows, 'row')}" for one in self.figures]
            of_records = [f"{one.name} {count(one.records, 'record')}" for one in self.tables]
            more = f"; {count(len(self.tables), 'table')} of records: {listing(of_records)}" if of_records else ""
            return f"{count(len(self.figures), 'table')} of figures: {listing(of_figures)}{more}"
        if self.tables:
            each = listing([f"{one.name} {count(one.records, 'record')}" for one in self.tables])
            return f"{count(len(self.tables), 'table')}: {each}"
        width = len(self.columns) + (self.unit is not None) + (self.household is not None)
        return f"{count(self.records, 'record')}, {count(width, 'column')}"

    @cached_property
    def hierarchies(self) -> Mapping[str, str]:
        """The file names of hierarchies by column: one of its own for each, also where capitals do not count."""
        names: dict[str, str] = {}
        taken: set[str] = set()
        for one in self.columns:
            if one.hierarchy is not None:
                stem = re.sub(r"[^A-Za-z0-9_-]+", "_", one.name)[:60].strip("_") or "column"
                free = next(name for name in _numbered(stem) if name.lower() not in taken)
                taken.add(free.lower())
                names[one.name] = f"{free}.csv"
        return names

    def text(self, path: Path) -> str:
        """The policy as YAML with comments. Paths in it are relative to the folder of its file."""
        return "".join(f"{line}\n" for line in self._lines(path))

    @redact_errors()
    def write(self, path: str | Path, *, force: bool = False) -> list[Path]:
        """Write the policy and its hierarchies; each file appears whole, the policy last.

        Args:
            path: the policy's file. Hierarchies go into a folder next to it.
            force: whether to replace files that are there.

        Returns:
            The files, the policy first.

        Raises:
            UsageError: a file is there already, is the table itself, or cannot be written.
        """
        files = self.write_hierarchies(Path(path), force=force)
        write_atomically(files[0], self.text(files[0]))
        return files

    def write_hierarchies(self, path: Path, *, force: bool) -> list[Path]:
        """Write the hierarchies next to the policy, after checking that the policy can be written.

        Args:
            path: the policy's file.
            force: whether to replace files that are there.

        Returns:
            The files, the policy, which is not written, first.

        Raises:
            UsageError: a file is there already, is the table itself, or cannot be written.
        """
        hierarchies = self._hierarchy_files(path)
        files = [path, *hierarchies]
        require_free(files, force=force)
        tables: list[DraftTable | DraftFigures] = [*self.tables, *self.figures]
        locations = {
            "the table": self.location,
            **{f"the table {one.name!r}": one.location for one in tables},
        }
        read = {name: Path(one) for name, one in locations.items() if one is not None and "://" not in one}
        require_own_files([("the draft", one) for one in files], read)
        folder = hierarchy_folder(path)
        was_there = folder.exists()
        try:
            folder.mkdir(exist_ok=True) if hierarchies else None
        except OSError as error:
            raise UsageError(f"{folder}: the folder cannot be made: {os_error_reason(error)}") from None
        try:
            for one in reversed(files[1:]):
                write_atomically(one, hierarchies[one])
        except BaseException:  # an interruption as well
            if not was_there:
                with suppress(OSError):  # it is not empty, or was not made
                    folder.rmdir()
            raise
        return files

    def _hierarchy_files(self, path: Path) -> dict[Path, str]:
        hierarchies = {one.name: one.hierarchy for one in self.columns if one.hierarchy is not None}
        return {hierarchy_folder(path) / name: hierarchies[column].csv for column, name in self.hierarchies.items()}

    def _lines(self, path: Path) -> Iterator[str]:
        yield from self._head()
        yield "version: 1"
        if self.location is not None:
            yield f"release: {scalar(located_from(self.location, path))}"
            if not self.tables:
                yield from (f"read_as: {{{lines}}}" for lines in self.read_as.values())
        yield from () if self.source is None else self.source.keys
        yield from STATED
        yield from self._columns_of_the_table()
        if self.tables or self.figures:
            yield "tables:"
            for table in self.figures:
                yield from _figures(table, path)
            for one in self.tables:
                yield from self._table(one, path)
        else:
            yield "attributes:"
            yield from self._declarations(self.columns, "", path)
        if self.columns:
            yield from self._conventions()
        yield from self._intruders()
        yield from self._expected()
        if self.source is not None and self.source.remedies:
            yield "remedy:"
            yield from self.source.remedies

    def _columns_of_the_table(self) -> Iterator[str]:
        """The columns that the policy names for the table as a whole."""
        if self.unit is not None:
            yield f"unit: {UNDECIDED if self.unit == UNDECIDED else scalar(self.unit)}"
        if self.household is not None:
            yield f"household: {scalar(self.household)}"
        if self.weight is not None:
            yield f"weight: {scalar(self.weight)}"

    def _conventions(self) -> Iterator[str]:
        yield "conventions:"
        if self.unit is not None:
            yield "  known_rows: all  # the unit joins the rows of a person, so whole histories are judged"
        yield f"  missing_tokens: {listed(self.missing_tokens)}"

    def _table(self, table: DraftTable, path: Path) -> Iterator[str]:
        """One of several tables: its file, its link, its columns."""
        yield from (line.rstrip() for line in entry(table.name, "", "  "))
        for note in (f"{table.size}.", *table.notes):
            yield from comment(note, "    ")
        if table.location is not None:
            yield f"    file: {scalar(located_from(table.location, path))}"
        if table.name in self.read_as:
            yield f"    read_as: {{{self.read_as[table.name]}}}"
        if table.belongs_to is not None:
            yield f"    belongs_to: {UNDECIDED if table.belongs_to == UNDECIDED else scalar(table.belongs_to)}"
        if table.by is not None:
            yield f"    by: {scalar(table.by)}"
        start = f"{table.name}{SEPARATOR}"
        columns = [one for one in self.columns if one.name.startswith(start)]
        yield f"    attributes:{'' if columns else ' {}'}"
        yield from self._declarations(columns, start, path)

    def _declarations(self, columns: Sequence[DraftColumn], start: str, path: Path) -> Iterator[str]:
        """Columns with their reasons; `start` is left out of their names."""
        indent = "      " if start else "  "
        for one in columns:
            yield from comment(one.note, indent)
            yield from entry(one.name.removeprefix(start), flow(self._declaration(one, path)), indent)

    def _intruders(self) -> Iterator[str]:
        """The scenarios, each with its reasons."""
        if self.scenarios:
            yield from comment(INTRUDERS)
            if self.undecided:
                yield from comment(OPEN_COLUMNS)
        for note in self.unproposed:
            yield from comment(note)
        if self.scenarios:
            yield "scenarios:"
        for one in self.scenarios:
            for reason in one.reasons:
                yield from comment(reason, "  ")
            yield f"  {one.name}:"
            yield f"    says: {scalar(one.says)}"
            yield f"    knows: {listed(one.knows)}"
            yield from (f"    # {name}: {value}" for name, value in one.needs)

    def _expected(self) -> Iterator[str]:
        """What the policy asks for: the demands of a profile, and figures without a threshold."""
        if self.profile is not None:
            yield from comment(f"{self.profile.title}. {CAVEAT}")
            yield f"profile: {scalar(self.profile.key)}"
            yield from _questions(self.profile)
        if self.source is not None and self.source.expectations:
            yield "expect:"
            yield from self.source.expectations
            return
        if not self.expectations:
            return
        yield "expect:"
        yield from comment(
            "Measurements, as they have no threshold: they pass nothing. A threshold makes a demand.", "  "
        )
        for name, parameters in self.expectations:
            yield f"  - {name}:{parameters and f' {parameters}'}  # tcdp-audit explain {name}"

    def _head(self) -> Iterator[str]:
        what = "Roles and links" if len(self.tables) > 1 else "Roles" if self.columns else "Totals and measures"
        inside = "no cell of a record and no figure" if self.figures else "no cell"
        proposals = (
            f"{what} are proposals with their reasons; {inside} is in this file. Check each, and decide where it says "
            "TODO: no audit accepts that."
        )
        says = proposals if self.source is None else self.source.says
        yield from comment(f"Drafted by tcdp-audit {self.version} from {self.table}: {self.size}. {says}")
        if self.figures:
            yield from comment(OF_FIGURES)
        if self.columns:
            yield from (f"# {line}" for line in ROLES)
        if len(self.tables) > 1:
            yield from comment(LINKS)
        if self.unlinked:
            yield from comment(OPEN_LINKS)
        for note in (*self.notes, *(() if self.source is None else map(NOT_TAKEN_OVER.format, self.source.omitted))):
            yield from comment(note)

    def _declaration(self, column: DraftColumn, path: Path) -> Iterator[tuple[str, str | Sequence[str]]]:
        yield "role", UNDECIDED if column.role is None else column.role.value
        if column.scale is not None:
            yield "scale", column.scale.value
        if column.scale is Scale.ORDINAL:
            yield "order", column.order
        if column.name in self.hierarchies:
            yield "hierarchy", scalar(f"{hierarchy_folder(path).name}/{self.hierarchies[column.name]}")


STATED = (
    "# purpose: TODO       # what the release is for; reports quote this and the next two",
    "# recipients: TODO    # who receives it, and under which terms",
    "# approved_by: {by: TODO, date: TODO}",
)


def _figures(table: DraftFigures, path: Path) -> Iterator[str]:
    """A table of figures: its file, and what the policy says of it."""
    yield from (line.rstrip() for line in entry(table.name, "", "  "))
    if table.location is not None:
        yield f"    file: {scalar(located_from(table.location, path))}"
    yield from table.lines


def _questions(profile: Profile) -> Iterator[str]:
    """The questions of a profile as comments, each above the line that would answer it."""
    yield from comment(
        "No figure answers these questions; until a person does, the verdict says that they wait. Where one has, "
        "remove `# ` before `answers:` and before the line below the question."
    )
    yield "# answers:"
    for one in profile.questions:
        yield from comment(f"{one.question} Fit for release: {one.fit}.")
        yield f"#   {one.key}: {{answer: TODO, by: TODO, date: TODO}}"


def require_free(files: Sequence[Path], *, force: bool) -> None:
    """Require files that can be written; existing ones only with `force`.

    Raises:
        UsageError: they cannot be written.
    """
    require_writable(files[0])
    there = [one for one in files if os.path.lexists(one)]
    if there and not force:
        others = f", and {count(len(there) - 1, 'more file')} of the draft" if len(there) > 1 else ""
        raise UsageError(f"{there[0]}: is there already{others}; name another with -o, or replace it with --force")


def tables_of_files(paths: Sequence[str]) -> dict[str, str]:
    """Files by the names of their tables, which are those of the files without folder and endings.

    Raises:
        UsageError: a file is named twice, or two files give their tables one name.
    """
    tables: dict[str, str] = {}
    for path in paths:
        if any(path == one or is_same_file(Path(path), Path(one)) for one in tables.values()):
            raise UsageError(f"{path}: the file is named twice; name each table once")
        name = file_name_of(path)
        if name in tables:
            raise UsageError(
                f"{path}: the table would be called {name!r}, as that of {tables[name]}; give one of the files another "
                "name, or name the tables yourself, in a mapping for `draft_policy` in Python"
            )
        tables[name] = path
    return tables


def require_names(tables: Mapping[Any, Any]) -> Mapping[str, Any]:
    """Require tables with names that a policy can have.

    Raises:
        UsageError: there is no table, or one has another name.
    """
    if not tables:
        raise UsageError("no table: give at least one, by its name")
    for name in tables:
        if not isinstance(name, str) or not name.strip() or SEPARATOR in name or name == UNDECIDED:
            raise UsageError(
                f"{visible(repr(name))}: a table's name is a text without {SEPARATOR!r}, which separates it from a "
                f"column, and not {UNDECIDED}; give it another"
            )
    return tables


def file_name_of(table: Any) -> str:
    """What a table is called, without folder and endings: its file or folder, or the table of a database."""
    if not isinstance(table, str | Path):
        return "table"
    if "://" in str(table):
        address = urlsplit(str(table))
        named = parse_qs(address.query).get("table", [Path(address.path).name.partition(".")[0]])[0]
        return re.sub(r"[^\w-]+", "", named.rpartition(".")[2]) or "table"
    return re.sub(r"[*?\[\]]+", "", Path(table).name).partition(".")[0] or "table"


def hierarchy_folder(path: Path) -> Path:
    """The folder of a policy's hierarchies, next to it."""
    return path.with_name(f"{stem_of(path.name)}.hierarchies")


def stem_of(name: str) -> str:
    """A policy's file name without the ending that marks a policy."""
    ending = next((one for one in (*SUFFIXES, ".yaml", ".yml") if name.endswith(one)), "")
    return name[: len(name) - len(ending)] or name


def located_from(location: str, path: Path) -> str:
    """A table's path as a policy names it: relative to the policy's folder, where the drive is the same.

    An address, such as `delta:people@3`, is named as it is.
    """
    is_address = "://" in location or (scheme_of(location) and not Path(location).exists())
    if is_address or Path(location).is_absolute():
        return location
    whole = Path(os.path.realpath(Path(location).parent)) / Path(location).name
    try:
        return Path(os.path.relpath(whole, os.path.realpath(path.parent))).as_posix()
    except ValueError:  # on another drive
        return str(whole)


def _numbered(stem: str) -> Iterator[str]:
    yield stem
    yield from (f"{stem}_{number}" for number in itertools.count(2))


PLAIN = re.compile(r"(?:\.\.?/)*[A-Za-z_/][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./][A-Za-z0-9_./-]*)*")
READ_AS_ANOTHER = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"})
LONGEST_KEY = 1000  # YAML marks longer keys
WIDTH = 112
ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def scalar(text: str) -> str:
    r"""A text as YAML reads it back.

    Example:
        >>> scalar("age"), scalar("no"), scalar("02139"), scalar('a "b": c'), scalar("\x1b")
        ('age', '"no"', '"02139"', '"a \\"b\\": c"', '"\\x1b"')
    """
    if PLAIN.fullmatch(text) and text.lower() not in READ_AS_ANOTHER:
        return text
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(character: str) -> str:
    if character in ESCAPES:
        return ESCAPES[character]
    if character.isprintable() and visible(character) == character:
        return character
    number = ord(character)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def flow(entries: Iterable[tuple[str, str | Sequence[str]]]) -> str:
    """A mapping on one line; its values are texts or lists of texts."""
    return f"{{{', '.join(f'{name}: {one if isinstance(one, str) else listed(one)}' for name, one in entries)}}}"


def listed(texts: Iterable[str]) -> str:
    """A list of texts on one line."""
    return f"[{', '.join(map(scalar, texts))}]"


def entry(name: str, value: str, indent: str) -> list[str]:
    """A name with its value, in the form that its length asks for."""
    key = scalar(name)
    if len(key) <= LONGEST_KEY:
        return [f"{indent}{key}: {value}"]
    return [f"{indent}? {key}", f"{indent}: {value}"]


def comment(text: str, indent: str = "") -> list[str]:
    """A text as lines that YAML leaves alone."""
    shown = " ".join(visible(text).split())
    return wrap(shown, WIDTH, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}# ", break_on_hyphens=False)
