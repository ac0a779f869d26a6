"""`draft_policy`: read tables, propose roles of columns and links, and leave what is undecided to a person."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tcdp_audit.api import UNDECIDED, OpenTables, Options, Plugins, Profile, Session, Strengths, nearest, profiles
from tcdp_audit.drafting.code_lists import hint_of, list_of
from tcdp_audit.drafting.column import ColumnFacts, missing_tokens, order_of, scale_of
from tcdp_audit.drafting.common_columns import ReadTable
from tcdp_audit.drafting.declarations import Declaration, Declarations
from tcdp_audit.drafting.declared import declarations_in, require_tables_of_file
from tcdp_audit.drafting.draft import (
    SEPARATOR,
    DraftColumn,
    DraftFigures,
    DraftTable,
    PolicyDraft,
    file_name_of,
    require_names,
    scalar,
)
from tcdp_audit.drafting.hierarchies import hierarchy_of
from tcdp_audit.drafting.links import household_of, propose_links, unit_of
from tcdp_audit.drafting.notation import lines_of, notation_of
from tcdp_audit.drafting.relations import (
    Relation,
    batteries,
    families,
    is_among_known,
    relations_of,
    role_of_block,
)
from tcdp_audit.drafting.roles import (
    Evidence,
    Proposal,
    figures,
    identified,
    is_pseudonym,
    is_weight,
    names_people,
    proposed,
    strength_note,
    strengths_among,
    with_strength,
)
from tcdp_audit.drafting.scenarios import kind_of
from tcdp_audit.drafting.vocabulary import is_spelled_out, topic_of, words_of
from tcdp_audit.plugin.detector import Role, Scale
from tcdp_audit.plugin.engine import DataError, Engine, RawDomain, UsageError, redact_errors
from tcdp_audit.plugin.remedy import silent
from tcdp_audit.plugin.sentences import agree, count, listing, sentence_case

Progress = Callable[[str, int, int], None]
FEW = 5  # columns that a note names
IMPLIED = "In each row it is that of the row that this one belongs to, so the link says it already; it can be left out."
OPEN_LINK = "Does it link the tables? Then remove this line, as a link has no role. Otherwise decide its role."
KINDS = ("records", "figures")  # what a table holds
OF_FIGURES = {"cell_frequency": "", "derivable_small_count": "", "table_differencing": ""}
HEIGHTS = frozenset(
    {
        *("height", "bmi", "stature", "ht", "grosse", "taille", "altura"),
        *("gestation", "gestational", "birthweight", "lowbirthweight", "bwt", "premie", "preterm", "premature"),
    }
)  # next to them a weight is of a body
DECISION = "Decided in the terminal."
DECIDED = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
ADJECTIVES = {Role.QUASI_IDENTIFIER: "quasi-identifiers", Role.SENSITIVE: "sensitive"}
SAYS = {
    "same": "each of its values goes with one of {}, and says the same",
    "part": "each value of {} has one of its values, so that it follows from it",
    "category": "exactly one of it and columns such as {} is set in each record: together they are one category",
}
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
    kind: str | None = None,
    unit: str | None = None,
    weight: str | None = None,
) -> PolicyDraft:
    """Draft a policy for a table, or for linked ones: the role of each column with its reason, and the links.

    What names and values do not decide is left open for a person.

    Args:
        table: a path, an address, or a table in memory, as for `audit`; several as a mapping from names to these. A
            mapping of one is that table. A `Session` in its place is asked with the release that it has open, which is
            not opened again; then `plugins` and `memory` are its own.
        declared: a file that declares roles: a pandera schema, a Great Expectations suite, dbt's manifest, a data
            contract. What it says comes before what names and values say. Of several tables, each takes that of its
            name.
        profile: a profile whose demands the policy makes, with or without its version; by default it demands nothing.
        scenarios: whether it proposes intruders, each with what they may know, for a person to accept or to delete.
        plugins: the plugins to use; by default all that are installed.
        memory: budget in bytes; by default three quarters of what is free.
        progress: called with (step, columns done, in all).
        kind: what every table holds, `records` or `figures`; by default each table is recognised by its figures, and
            holds records where they leave a doubt.
        unit: the column that joins the rows of a person, of one table; by default it is proposed.
        weight: the column of sampling weights, of one table; by default it is proposed.

    Returns:
        The draft. It holds no cell; `.undecided` lists what a person must decide, `.write(path)` writes it.

    Raises:
        UsageError: a file does not exist, `declared` declares nothing that can be read, no profile is called so, or
            the name of a table cannot be one; or roles or intruders are asked for, and no table has records; or a
            session was given no table, or several, or next to it plugins or memory.
        Cancelled: `Session.cancel` was called meanwhile.
        DataError: a table is empty or cannot be read.

    Cost: O(cells) of tables of figures. Of others one scan of each column, then linear in distinct values; what makes
    records unique on a sample. Of several, two columns are read once more for each link that another one implies.
    """
    session, table, plugins = _given(table, plugins, memory)
    _require_sound_call(table, kind, unit, weight)
    chosen = None if profile is None else profile_called(profile)
    tables = require_names(table) if isinstance(table, Mapping) else {file_name_of(table): table}
    if declared is not None and len(tables) > 1:
        require_tables_of_file(str(declared))
    with ExitStack() as stack:
        report = progress or silent
        report = report if session is None else stack.enter_context(session.turn(report))
        draftings, figures, engines = {}, list[DraftFigures](), dict[str, Engine]()
        read_as = dict[str, str]()
        for name, one in tables.items():
            said = None if declared is None else declarations_in(str(declared), name)
            opened = stack.enter_context(_open(session, one, plugins, memory))
            engine, read_as[name] = _opened(opened, report)
            drafted = None if kind == KINDS[0] else _figures_of(name, one, engine, asked=kind == KINDS[1])
            if drafted is None:
                draftings[name] = _Drafting(name, engine, plugins, said, report)
            else:
                figures.append(drafted)
                engines[name] = engine
                engine.sha256()  # raises where the table changed meanwhile
        figures = [_named_across(one, figures, tables[one.name], engines[one.name]) for one in figures]
        if not draftings:
            if declared is not None or scenarios:
                raise UsageError("tables of figures have neither roles nor intruders who know columns; leave both out")
            return _of_figures(figures, chosen)
        if len(draftings) > 1:
            draft = _of_tables(tables, draftings, plugins, chosen)
        else:
            ((name, drafting),) = draftings.items()
            _require_columns(drafting, {"unit": unit, "weight": weight})
            draft = _of_one(tables[name], drafting, plugins, chosen, unit, weight)
            draft = _as_table(name, draft) if figures else draft
        for one in draftings.values():
            one.engine.sha256()  # likewise
        draft = _with_figures(draft, figures) if figures else draft
        draft = replace(draft, read_as={name: lines for name, lines in read_as.items() if lines and name in draftings})
        return draft.with_scenarios() if scenarios else draft


def _open(
    session: Session | None, table: Any, plugins: Plugins, memory: int | None
) -> AbstractContextManager[OpenTables]:
    """The tables of a session, which stay open; without one, a table that is opened for the draft alone."""
    if session is not None:
        return nullcontext(session.tables)
    return OpenTables(table, None, None, plugins, Options(memory), keep=False)


def _given(table: Any, plugins: Plugins | None, memory: int | None) -> tuple[Session | None, Any, Plugins]:
    """The session of a call, if it gives one; the table, and the plugins."""
    if not isinstance(table, Session):
        return None, table, plugins or Plugins.load()
    if plugins is not None or memory is not None:
        raise UsageError("plugins and memory are those of the session; give them to `open_session`")
    given = table.given["release"]
    if given is None or isinstance(given, Mapping):
        raise UsageError("a draft from a session needs one that was given one table; otherwise give the tables here")
    return table, given, table.plugins


def _opened(tables: OpenTables, progress: Progress) -> tuple[Engine, str]:
    """A table in the notation of its numbers, and how the policy says that it is read; empty for usual text."""
    progress("table opened", 0, 1)
    _, engine = tables.release(None)
    form = notation_of(engine, progress)
    if form != engine.text_form:
        engine = tables.read_again(form)
    if not engine.records:
        raise DataError(f"{engine.name}: the table has no record, so that nothing can be said of its columns")
    return engine, ", ".join(lines_of(form, engine))


def _figures_of(name: str, table: Any, engine: Engine, *, asked: bool) -> DraftFigures | None:
    """The draft of a table of figures; None for one of records."""
    from tcdp_audit.drafting.figures import figures_of  # noqa: PLC0415 - reads no table of many columns

    return figures_of(name, _location(table, engine), engine, asked=asked)


def _named_across(one: DraftFigures, every: Sequence[DraftFigures], table: Any, engine: Engine) -> DraftFigures:
    """A table whose columns are labels without a name, under that of a dimension of another table with these labels."""
    if UNDECIDED not in one.labels:
        return one
    from tcdp_audit.drafting.figures import figures_of  # noqa: PLC0415 - reads no table of many columns

    named = {(labels, name) for other in every for name, labels in other.labels.items() if name != UNDECIDED}
    labels = [own for own, _ in named]
    names = {own: name for own, name in named if labels.count(own) == 1}  # of two names none is chosen
    drafted = figures_of(one.name, _location(table, engine), engine, asked=True, names=names)
    return one if drafted is None else drafted


def with_roles(draft: PolicyDraft, roles: Mapping[str, Role], plugins: Plugins) -> PolicyDraft:
    """The draft with roles that a person decided, and with the checks that they ask for.

    Args:
        draft: to complete.
        roles: of its columns, by name.
        plugins: whose checks may be asked for.
    """
    columns = [
        replace(
            one, role=roles[one.name], scale=_scale_of_role(one.scale, roles[one.name]), note=f"{DECISION} {one.note}"
        )
        if one.name in roles
        else one
        for one in draft.columns
    ]
    joined: Sequence[str | None] = [] if draft.unit is None else [None]
    if draft.tables:
        joined = _tables_of_events(columns, [one.name for one in draft.tables if one.belongs_to is not None])
    asked = expectations(columns, plugins.checks, draft.profile, joined) if columns else ()
    of_figures = _of_figures(draft.figures, draft.profile).expectations if draft.figures else ()
    completed = replace(draft, columns=columns, expectations=(*of_figures, *asked))
    return completed.with_scenarios() if draft.scenarios or draft.unproposed else completed


def _scale_of_role(scale: Scale | None, role: Role) -> Scale | None:
    return None if role is Role.IDENTIFIER else scale or Scale.NOMINAL


def _of_figures(figures: Sequence[DraftFigures], profile: Profile | None) -> PolicyDraft:
    """The draft of a policy of tables of figures alone."""
    demanded = set() if profile is None else {one.check for one in profile.demands}
    asked = [(one, parameters) for one, parameters in OF_FIGURES.items() if one not in demanded]
    names = listing([one.name for one in figures])
    return PolicyDraft(names, None, 0, (), (), (), version("tcdp-audit"), asked, profile, figures=tuple(figures))


def _as_table(name: str, draft: PolicyDraft) -> PolicyDraft:
    """The draft of a policy of one table, as one of `tables`."""
    width = len(draft.columns) + (draft.unit is not None)
    table = DraftTable(name, draft.location, draft.records, width, None, None, draft.notes)
    columns = [replace(one, name=f"{name}{SEPARATOR}{one.name}") for one in draft.columns]
    return replace(draft, location=None, columns=columns, tables=(table,), notes=())


def _with_figures(draft: PolicyDraft, figures: Sequence[DraftFigures]) -> PolicyDraft:
    """The draft of a policy of records with tables of figures."""
    asked = _of_figures(figures, draft.profile).expectations
    names = listing([*(one.name for one in figures), *(one.name for one in draft.tables)])
    return replace(draft, table=names, figures=tuple(figures), expectations=(*asked, *draft.expectations))


def _of_one(
    table: Any,
    drafting: _Drafting,
    plugins: Plugins,
    profile: Profile | None,
    unit: str | None = None,
    weight: str | None = None,
) -> PolicyDraft:
    """The draft of a policy of one table; `unit` and `weight` are columns that a person named."""
    if unit is None:
        unit, sentence = unit_of(drafting.facts, drafting.pseudonyms)
    else:
        sentence = f"{unit!r} joins the rows of a person, as the call says; it has no role."
    household = household_of(drafting.facts)
    household = None if household == unit else household
    drafting.links = frozenset(one for one in (unit, household) if one is not None)
    drafting.weight = weight
    columns, engine = drafting.columns(), drafting.engine
    of_households = f"{household!r} is what the members of a household share; it has no role." if household else ""
    weight, of_weights = drafting.weight_of(weight)
    return PolicyDraft(
        engine.name,
        _location(table, engine),
        engine.records,
        columns,
        drafting.tokens,
        (*drafting.notes, *filter(None, (sentence, of_households, of_weights))),
        version("tcdp-audit"),
        expectations(columns, plugins.checks, profile, [] if unit is None else [None]),
        profile,
        unit,
        household=household,
        weight=weight,
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


def _require_sound_call(table: Any, kind: str | None, unit: str | None, weight: str | None) -> None:
    if isinstance(table, Mapping) and len(table) > 1 and (unit is not None or weight is not None):
        raise UsageError("unit and weight are columns of one table; of several, their links say what joins rows")
    if kind not in (None, *KINDS):
        raise UsageError(f"kind: must be {' or '.join(map(repr, KINDS))}, or None where each table is recognised")


def _require_columns(drafting: _Drafting, columns: Mapping[str, str | None]) -> None:
    """Require that columns which a person named are there.

    Raises:
        UsageError: one is not, or the weight is no column of numbers above 0.
    """
    for key, name in columns.items():
        if name is not None and name not in drafting.facts:
            raise UsageError(f"{key}: the table has no column {name!r}{nearest(name, [*drafting.facts])}")
    weight = columns["weight"]
    numbers = None if weight is None else drafting.facts[weight].numbers
    if weight is not None and (numbers is None or numbers.min() < 0):
        raise UsageError(f"weight: {weight!r} has other values than numbers from 0; a sampling weight is a number")


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
    weight: str | None = None  # the column that a person named

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

    def weight_of(self, asked: str | None) -> tuple[str | None, str]:
        """The column of sampling weights, and a sentence; None where none or several may be."""
        matches = [name for name, one in self.evidence.items() if is_weight(self.facts[name], one)]
        if asked is not None:
            return asked, f"{asked!r} is the sampling weight, as the call says."
        if len(matches) == 1:
            return matches[
                0
            ], f"{matches[0]!r} is proposed as the sampling weight: figures then count the population too."
        if not matches:
            return None, ""
        return None, f"{listing([repr(one) for one in matches[:FEW]])} may be sampling weights: name one as `weight:`."

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
        listed = {name: _on_a_list(one, self.facts[name]) for name, one in detected.items()}
        return {name: _with_declaration(listed.get(name, Evidence()), said.get(name)) for name in self.facts}

    @cached_property
    def strengths(self) -> Strengths | None:
        """How well the columns that an intruder may know distinguish records; None where there is none."""
        candidates = [name for name in self._readable if self._may_count(name, self.evidence[name])]
        return strengths_among(self.engine, candidates, self.tokens, self.progress)

    def _may_count(self, name: str, evidence: Evidence) -> bool:
        """Whether an intruder may know a column: a quasi-identifier, or an undecided one that is no measurement."""
        if name in self.links or name in self.implied or name in self.undecided:
            return False
        facts = self.facts[name]
        role = proposed(facts, topic_of(name), evidence).role
        is_open = role is None and not facts.is_measurement and not evidence.detected
        return facts.distinct > 1 and (role is Role.QUASI_IDENTIFIER or is_open)

    @cached_property
    def evidence(self) -> Mapping[str, Evidence]:
        """All that is known of each column but how it makes records unique."""
        order = [name for name in self.facts if name not in self.links]
        height = any(HEIGHTS.intersection(words_of(name)) for name in order)
        known = {name: replace(one, has_height=height) for name, one in self.detected.items()}
        for names in batteries({name: self.facts[name] for name in order}, self._unspelled(order)):
            listed = f"{names[0]!r} to {names[-1]!r} begin alike and have the same answers: questions of one list"
            known |= {name: replace(known[name], listed=listed) for name in names}
        first = {name: proposed(self.facts[name], topic_of(name), known[name]) for name in order}
        named = {name: one.role for name, one in first.items() if self._is_named(name, known[name], one)}
        relations = relations_of(self.engine, {name: self.facts[name] for name in order}, named, self.progress)
        for name in order:
            if name not in named:
                known[name] = _with_relations(known[name], relations.get(name, ()), named)
            elif named[name] is Role.SENSITIVE:
                known[name] = _as_figure(known[name], relations.get(name, ()), named)
        for name, family in self.families.items():
            roles = {named.get(one) or _role_of(known[one].related) for one in family} - {None}
            if name not in named and known[name].related is None and len(roles) == 1:
                known[name] = replace(known[name], related=_of_family(roles.pop(), family))
        for name in order:
            if name not in named and known[name].related is None:
                block = role_of_block(name, order, named.get)
                around = None if block is None else Proposal(block[0], _around(block))
                among = is_among_known(name, order, named.get)
                known[name] = replace(known[name], around=around, is_among_known=among)
        return known

    def _unspelled(self, columns: Sequence[str]) -> Collection[str]:
        """The columns that neither words of their names nor their values nor a file say anything of."""
        evidence = self.detected
        return {
            name
            for name in columns
            if not (
                is_spelled_out(name) or evidence[name].detected or evidence[name].known or evidence[name].declaration
            )
        }

    @cached_property
    def families(self) -> Mapping[str, Sequence[str]]:
        """Columns whose names differ in their numbers only, by each of them."""
        return families([name for name in self.facts if name not in self.links])

    def _is_named(self, name: str, evidence: Evidence, proposal: Proposal) -> bool:
        """Whether the name or the values of a column say what it is, and not how its numbers lie."""
        topic = topic_of(name)
        by_word = topic is not None and proposal.role is not None
        return (
            by_word
            or bool(evidence.listed)
            or bool(evidence.detected or evidence.known or evidence.declared)
            or is_weight(self.facts[name], evidence)
        )

    @property
    def _readable(self) -> list[str]:
        return [name for name, one in self.facts.items() if one.raw is not None]

    def _column(self, facts: ColumnFacts) -> DraftColumn:
        if facts.name in self.implied:
            return DraftColumn(facts.name, Role.INSENSITIVE, None, IMPLIED)
        if facts.name in self.undecided:
            return DraftColumn(facts.name, None, None, OPEN_LINK)
        if facts.name == self.weight:
            return DraftColumn(facts.name, Role.INSENSITIVE, Scale.NUMERIC, "The sampling weight, as the call says.")
        evidence = with_strength(facts.name, self.evidence[facts.name], self.strengths)
        topic = topic_of(facts.name)
        proposal = proposed(facts, topic, evidence)
        if proposal.role is Role.IDENTIFIER:
            return DraftColumn(facts.name, proposal.role, None, _note(proposal.reason, figures(facts, evidence)))
        if proposal.role is Role.INSENSITIVE and is_weight(facts, evidence):
            return DraftColumn(
                facts.name, proposal.role, Scale.NUMERIC, _note(proposal.reason, figures(facts, evidence))
            )
        scale, why = scale_of(facts, topic)
        hierarchy = hierarchy_of(facts, topic)
        scale = Scale.NOMINAL if scale is None and proposal.role is not None else scale
        scaled = f"{scale.value}: {why}" if scale and why else ""
        shape = "" if hierarchy is None else f"hierarchy: {hierarchy.kind}"
        family = self.families.get(facts.name, ()) if proposal.role is None else ()
        once = f"{family[0]!r} to {family[-1]!r} differ in their numbers only: decide them together" if family else ""
        note = _note(proposal.reason, figures(facts, evidence), scaled, shape, once)
        order = order_of(facts) if scale is Scale.ORDINAL else ()
        kind = kind_of(facts.name, proposal.role, evidence)
        return DraftColumn(facts.name, proposal.role, scale, note, order, hierarchy, kind)


def _with_relations(evidence: Evidence, relations: Sequence[Relation], roles: Mapping[str, Role | None]) -> Evidence:
    """Evidence with the role of a column that says the same or more, or with a scale of answers."""
    for one in relations:
        if one.kind == "panel":
            of_panel = f"each of its numbers occurs in several periods of {one.columns[0]!r}, and never twice in one"
            return replace(evidence, of_panel=f"{of_panel}: that of a person? Then say so as `unit`")
        if one.kind == "scale":
            others = listing([repr(name) for name in one.columns[:FEW]])
            return replace(evidence, answers=f"its answers are those of {others}: what a person answered")
        other = next((name for name in one.columns if roles.get(name) in DECIDED), None)
        if other is not None:
            return replace(evidence, related=Proposal(roles[other], SAYS[one.kind].format(repr(other))))
    return evidence


def _as_figure(evidence: Evidence, relations: Sequence[Relation], roles: Mapping[str, Role | None]) -> Evidence:
    """Evidence with the place whose figure a column is, if its name alone calls it a person's."""
    places = [one.columns[0] for one in relations]
    if not places or roles.get(places[0]) is not Role.QUASI_IDENTIFIER:
        return evidence
    said = f"each value of {places[0]!r} has one of its values: a figure of the place, or a secret of its people?"
    return replace(evidence, of_place=said)


def _role_of(proposal: Proposal | None) -> Role | None:
    return None if proposal is None else proposal.role


def _of_family(role: Role | None, family: Sequence[str]) -> Proposal | None:
    """The role of all members of a family, if it is one that others may have as well."""
    if role not in DECIDED:
        return None
    return Proposal(role, f"{family[0]!r} to {family[-1]!r} differ in their numbers only, and the named ones are alike")


def _around(block: tuple[Role, str]) -> str:
    role, nearest = block
    return f"its name says nothing, and most columns around it, such as {nearest!r}, are {ADJECTIVES[role]}"


def _on_a_list(evidence: Evidence, facts: ColumnFacts) -> Evidence:
    """Evidence with the known list that a column's values are on, where nothing else says what they are."""
    if evidence.known or evidence.detected or topic_of(facts.name) is not None:
        return evidence
    return replace(evidence, known=list_of(facts), hint=hint_of(facts))


def _with_declaration(evidence: Evidence, declaration: Declaration | None) -> Evidence:
    if declaration is None:
        return evidence
    return replace(evidence, declared=declaration.role, declaration=declaration.said)


def _note(*parts: str) -> str:
    return " ".join(f"{sentence_case(part)}{'' if part.endswith('?') else '.'}" for part in parts if part)
