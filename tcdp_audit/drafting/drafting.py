"""`draft_policy`: read tables, propose roles of columns and links, and leave what is undecided to a person."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tcdp_audit.api import UNDECIDED, OpenTables, Options, Plugins, Profile, Strengths, nearest, profiles
from tcdp_audit.drafting.column import ColumnFacts, missing_tokens, order_of, scale_of
from tcdp_audit.drafting.common_columns import ReadTable
from tcdp_audit.drafting.declarations import Declaration, Declarations
from tcdp_audit.drafting.declared import declarations_in, require_tables_of_file
from tcdp_audit.drafting.draft import (
    SEPARATOR,
    DraftColumn,
    DraftTable,
    PolicyDraft,
    file_name_of,
    require_names,
    scalar,
)
from tcdp_audit.drafting.hierarchies import hierarchy_of
from tcdp_audit.drafting.links import propose_links, unit_of
from tcdp_audit.drafting.roles import (
    Evidence,
    figures,
    identified,
    is_pseudonym,
    kind_of,
    names_people,
    proposed,
    strength_note,
    strengths_among,
    with_strength,
)
from tcdp_audit.drafting.vocabulary import topic_of
from tcdp_audit.plugin.detector import Role, Scale
from tcdp_audit.plugin.engine import DataError, Engine, RawDomain, UsageError, redact_errors
from tcdp_audit.plugin.remedy import silent
from tcdp_audit.plugin.sentences import agree, count, listing, sentence_case

Progress = Callable[[str, int, int], None]
FEW = 5  # columns that a note names
IMPLIED = "In each row it is that of the row that this one belongs to, so the link says it already; it can be left out."
OPEN_LINK = "Does it link the tables? Then remove this line, as a link has no role. Otherwise decide its role."
OF_COLUMNS, OF_CLASSES = {"direct_identifiers": ""}, {"k_anonymity": ""}
OF_EVENTS = {"known_events": "m: 3", "unicity": "points: 4"}  # of a person who has several rows


@redact_errors()
def draft_policy(
    table: Any,
    declared: str | Path | None = None,
    *,
    profile: str | None = None,
    scenarios: bool = False,
    plugins: Plugins | None = None,
    memory: int | None = None,
    progress: Progress | None = None,
) -> PolicyDraft:
    """Draft a policy for a table, or for linked ones: the role of each column with its reason, and the links.

    What names and values do not decide is left open for a person.

    Args:
        table: a path, an address, or a table in memory, as for `audit`; several as a mapping from names to these. A
            mapping of one is that table.
        declared: a file that declares roles: a pandera schema, a Great Expectations suite, dbt's manifest, a data
            contract. What it says comes before what names and values say. Of several tables, each takes that of its
            name.
        profile: a profile whose demands the policy makes, with or without its version; by default it demands nothing.
        scenarios: whether it proposes intruders, each with what they may know, for a person to accept or to delete.
        plugins: the plugins to use; by default all that are installed.
        memory: budget in bytes; by default three quarters of what is free.
        progress: called with (step, columns done, in all).

    Returns:
        The draft. It holds no cell; `.undecided` lists what a person must decide, `.write(path)` writes it.

    Raises:
        UsageError: a file does not exist, `declared` declares nothing that can be read, no profile is called so, or
            the name of a table cannot be one.
        DataError: a table is empty or cannot be read.

    Cost: one scan of each column, then linear in distinct values; what makes records unique on a sample. Of several
    tables, two columns are read once more for each link that another one implies.
    """
    plugins = plugins or Plugins.load()
    chosen = None if profile is None else profile_called(profile)
    tables = require_names(table) if isinstance(table, Mapping) else {file_name_of(table): table}
    if declared is not None and len(tables) > 1:
        require_tables_of_file(str(declared))
    with ExitStack() as stack:
        draftings = {}
        for name, one in tables.items():
            said = None if declared is None else declarations_in(str(declared), name)
            opened = stack.enter_context(OpenTables(one, None, None, plugins, Options(memory), keep=False))
            _, engine = opened.release(None)
            if not engine.records:
                raise DataError(f"{engine.name}: the table has no record, so that nothing can be said of its columns")
            draftings[name] = _Drafting(name, engine, plugins, said, progress or silent)
        if len(tables) > 1:
            draft = _of_tables(tables, draftings, plugins, chosen)
        else:
            ((name, drafting),) = draftings.items()
            draft = _of_one(tables[name], drafting, plugins, chosen)
        for one in draftings.values():
            one.engine.sha256()  # raises where the table changed meanwhile
        return draft.with_scenarios() if scenarios else draft


def _of_one(table: Any, drafting: _Drafting, plugins: Plugins, profile: Profile | None) -> PolicyDraft:
    """The draft of a policy of one table."""
    unit, sentence = unit_of(drafting.facts, drafting.pseudonyms)
    drafting.links = frozenset() if unit is None else frozenset({unit})
    columns, engine = drafting.columns(), drafting.engine
    return PolicyDraft(
        engine.name,
        _location(table, engine),
        engine.records,
        columns,
        drafting.tokens,
        (*drafting.notes, *([sentence] if sentence else [])),
        version("tcdp-audit"),
        expectations(columns, plugins.checks, profile, [] if unit is None else [None]),
        profile,
        unit,
    )


def _of_tables(
    tables: Mapping[str, Any], draftings: Mapping[str, _Drafting], plugins: Plugins, profile: Profile | None
) -> PolicyDraft:
    """The draft of a policy of several tables, whose columns are called `table.column`."""
    proposed_links = propose_links([one.as_read() for one in draftings.values()])
    columns, drafted = [], []
    for name, drafting in draftings.items():
        drafting.links, drafting.implied = (
            frozenset(proposed_links.columns_of(name)),
            proposed_links.implied.get(name, ()),
        )
        drafting.undecided = proposed_links.undecided[name]
        columns += [replace(one, name=f"{name}{SEPARATOR}{one.name}") for one in drafting.columns()]
        link, engine = proposed_links.links.get(name), drafting.engine
        drafted.append(
            DraftTable(
                name,
                _location(tables[name], engine),
                engine.records,
                len(engine.columns),
                UNDECIDED if link is None and name != proposed_links.top else None if link is None else link.parent,
                None if link is None else link.column,
                (*proposed_links.notes.get(name, ()), *drafting.notes),
            )
        )
    if not columns:
        raise DataError(
            f"{listing([*draftings])}: all columns link the tables, so that nothing is known or secret; draft each "
            "table by itself"
        )
    return PolicyDraft(
        listing([one.name if one.location is None else draftings[one.name].engine.name for one in drafted]),
        None,
        draftings[proposed_links.top or next(iter(draftings))].engine.records,
        columns,
        sorted({token for one in draftings.values() for token in one.tokens}),
        (),
        version("tcdp-audit"),
        expectations(columns, plugins.checks, profile, _tables_of_events(columns, proposed_links.links)),
        profile,
        proposed_links.unit or UNDECIDED,
        tuple(drafted),
    )


def _location(table: Any, engine: Engine) -> str | None:
    """The location of a table, without user and password of an address; None for one in memory."""
    if not isinstance(table, str | Path):
        return None
    return engine.uri if "://" in str(table) else str(table)


def profile_called(name: str) -> Profile:
    """The profile of a name, which may leave the version out where there is one only.

    Raises:
        UsageError: there is none, or there are several.
    """
    profiles_of_name = [one for key, one in profiles().items() if name in (key, one.name)]
    if len(profiles_of_name) == 1:
        return profiles_of_name[0]
    if profiles_of_name:
        raise UsageError(f"profile {name!r}: choose a version: {listing([one.key for one in profiles_of_name])}")
    known = [one.name for one in profiles().values()]
    raise UsageError(f"no profile is called {name!r}{nearest(name, known)}; known are {listing(known)}")


def expectations(
    columns: Sequence[DraftColumn],
    checks: Collection[str],
    profile: Profile | None = None,
    joined: Sequence[str | None] = (),
) -> Sequence[tuple[str, str]]:
    """The checks whose figures a draft asks for, each with its parameters in YAML.

    One on classes is asked for only where there is something to group by, and those on events only of the tables whose
    rows a unit joins. What a profile demands is not measured separately.

    Args:
        columns: of all tables.
        checks: the names of the checks that are installed.
        profile: whose demands the policy makes.
        joined: the tables in which a unit has several rows; None is the only table.
    """
    known = any(one.role is Role.QUASI_IDENTIFIER for one in columns)
    of_columns = [(one, parameters) for one, parameters in OF_COLUMNS.items() if one in checks]
    measured = [*of_columns, *OF_CLASSES.items()] if known or not of_columns else of_columns
    for table in joined if known else ():
        of_table = "" if table is None else f"table: {scalar(table)}, "
        measured += [(one, f"{{{of_table}{parameters}}}") for one, parameters in OF_EVENTS.items() if one in checks]
    demanded = set() if profile is None else {one.check for one in profile.demands}
    return [one for one in measured if one[0] not in demanded] or of_columns


def _tables_of_events(columns: Sequence[DraftColumn], linked: Collection[str]) -> Sequence[str]:
    """The tables that belong to another one and of whose rows something may be known."""
    known = {one.name.partition(SEPARATOR)[0] for one in columns if one.role is Role.QUASI_IDENTIFIER}
    return [one for one in linked if one in known]


class _Drafting:
    """One table and the proposals for its columns, once it is known which ones join rows."""

    links: frozenset[str] = frozenset()  # columns without a role, as they join rows
    implied: Collection[str] = ()  # columns that say what a link says already
    undecided: Collection[str] = ()  # columns that may be links

    def __init__(
        self, name: str, engine: Engine, plugins: Plugins, declared: Declarations | None, progress: Progress
    ) -> None:
        self.name, self.engine, self.plugins, self.progress = name, engine, plugins, progress
        self.declared = declared
        self.facts = self._read()
        self.detected = self._detected()

    def as_read(self) -> ReadTable:
        """The table for those who look for links."""
        naming = [name for name, one in self.detected.items() if names_people(name, one)]
        return ReadTable(self.name, self.engine, self.facts, naming)

    @property
    def pseudonyms(self) -> list[str]:
        """The columns that are numbers of records or persons."""
        return [name for name in self._readable if is_pseudonym(self.facts[name], self.detected[name])]

    @cached_property
    def tokens(self) -> Sequence[str]:
        """Texts that mean a missing value."""
        return missing_tokens(self.facts.values())

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on the whole table."""
        notes = () if self.strengths is None else (strength_note(self.strengths),)
        return (*notes, *self._of_declarations())

    def _of_declarations(self) -> Sequence[str]:
        if self.declared is None:
            return ()
        used = sum(name in self.facts for name in self.declared.columns)
        absent = [repr(one) for one in self.declared.columns if one not in self.facts]
        source = f"Roles of {count(used, 'column')} were looked up in {self.declared.location}."
        if not absent:
            return (source,)
        more = f" and {len(absent) - FEW:,} more" if len(absent) > FEW else ""
        what = agree(len(absent), "a column", "columns")
        return (f"{source} It names {what} that the table lacks: {listing(absent[:FEW])}{more}.",)

    def columns(self) -> list[DraftColumn]:
        """Every column with its proposal, without those that join rows."""
        return [self._column(one) for name, one in self.facts.items() if name not in self.links]

    def _read(self) -> dict[str, ColumnFacts]:
        """The facts of every column, each read once; the next one is read meanwhile."""
        names = [one.name for one in self.engine.columns]
        facts = {}
        for number, name in enumerate(names):
            self.progress("columns read", number, len(names))
            if self.engine.ordered:  # a database would group by both
                self.engine.group_by(names[number : number + 2])
            facts[name] = ColumnFacts(name, self._raw(name), self.engine.records)
        self.progress("columns read", len(names), len(names))
        self.facts = facts
        return {name: replace(one, tokens=frozenset(self.tokens)) for name, one in facts.items()}

    def _raw(self, name: str) -> RawDomain | None:
        """The distinct values of a column; None for nested data."""
        try:
            return self.engine.domain(name)
        except DataError:
            return None

    def _detected(self) -> Mapping[str, Evidence]:
        """Evidence of declarations and of detectors."""
        said = {} if self.declared is None else self.declared.columns
        detected = identified(self.engine, self.plugins, self.tokens, self._readable, self.progress)
        return {name: _with_declaration(detected.get(name, Evidence()), said.get(name)) for name in self.facts}

    @cached_property
    def strengths(self) -> Strengths | None:
        """How well the columns that an intruder may know distinguish records; None where there is none."""
        candidates = [name for name in self._readable if self._may_count(name, self.detected[name])]
        return strengths_among(self.engine, candidates, self.tokens, self.progress)

    def _may_count(self, name: str, evidence: Evidence) -> bool:
        """Whether an intruder may know a column: a quasi-identifier, or an undecided one that is no measurement."""
        if name in self.links or name in self.implied or name in self.undecided:
            return False
        facts = self.facts[name]
        role = proposed(facts, topic_of(name), evidence).role
        is_open = role is None and not facts.is_measurement and not evidence.detected
        return facts.distinct > 1 and (role is Role.QUASI_IDENTIFIER or is_open)

    @property
    def _readable(self) -> list[str]:
        return [name for name, one in self.facts.items() if one.raw is not None]

    def _column(self, facts: ColumnFacts) -> DraftColumn:
        if facts.name in self.implied:
            return DraftColumn(facts.name, Role.INSENSITIVE, None, IMPLIED)
        if facts.name in self.undecided:
            return DraftColumn(facts.name, None, None, OPEN_LINK)
        evidence = with_strength(facts.name, self.detected[facts.name], self.strengths)
        topic = topic_of(facts.name)
        proposal = proposed(facts, topic, evidence)
        if proposal.role is Role.IDENTIFIER:
            return DraftColumn(facts.name, proposal.role, None, _note(proposal.reason, figures(facts, evidence)))
        scale, why = scale_of(facts, topic)
        hierarchy = hierarchy_of(facts, topic)
        scale = Scale.NOMINAL if scale is None and proposal.role is not None else scale
        scaled = f"{scale.value}: {why}" if scale and why else ""
        shape = "" if hierarchy is None else f"hierarchy: {hierarchy.kind}"
        note = _note(proposal.reason, figures(facts, evidence), scaled, shape)
        order = order_of(facts) if scale is Scale.ORDINAL else ()
        kind = kind_of(facts.name, proposal.role, evidence)
        return DraftColumn(facts.name, proposal.role, scale, note, order, hierarchy, kind)


def _with_declaration(evidence: Evidence, declaration: Declaration | None) -> Evidence:
    if declaration is None:
        return evidence
    return replace(evidence, declared=declaration.role, declaration=declaration.said)


def _note(*parts: str) -> str:
    return " ".join(f"{sentence_case(part)}{'' if part.endswith('?') else '.'}" for part in parts if part)
