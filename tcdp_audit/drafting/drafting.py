"""`draft_policy`: read a table, propose a role for each column, and leave undecided columns to a person."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tcdp_audit.api import OpenTables, Options, Plugins, Profile, nearest, profiles
from tcdp_audit.drafting.column import ColumnFacts, missing_tokens, order_of, scale_of
from tcdp_audit.drafting.declarations import Declaration, Declarations
from tcdp_audit.drafting.declared import declarations_in
from tcdp_audit.drafting.draft import DraftColumn, PolicyDraft, file_name_of
from tcdp_audit.drafting.hierarchies import hierarchy_of
from tcdp_audit.drafting.roles import (
    Evidence,
    figures,
    identified,
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


@redact_errors()
def draft_policy(
    table: Any,
    declared: str | Path | None = None,
    *,
    profile: str | None = None,
    plugins: Plugins | None = None,
    memory: int | None = None,
    progress: Progress | None = None,
) -> PolicyDraft:
    """Draft a policy for a table: the role of each column with its reason; undecided roles are left open.

    Args:
        table: a path, an address, or a table in memory, as for `audit`.
        declared: a file that declares roles: a pandera schema, a Great Expectations suite, dbt's manifest, a data
            contract. What it says comes before what names and values say.
        profile: a profile whose demands the policy makes, with or without its version; by default it demands nothing.
        plugins: the plugins to use; by default all that are installed.
        memory: budget in bytes; by default three quarters of what is free.
        progress: called with (step, columns done, in all).

    Returns:
        The draft. It holds no cell; `.undecided` lists what a person must decide, `.write(path)` writes it.

    Raises:
        UsageError: a file does not exist, `declared` declares nothing that can be read, or no profile is called so.
        DataError: the table is empty or cannot be read.

    Cost: one scan of each column, then linear in distinct values; what makes records unique on a sample.
    """
    plugins = plugins or Plugins.load()
    chosen = None if profile is None else profile_called(profile)
    said = None if declared is None else declarations_in(str(declared), file_name_of(table))
    with OpenTables(table, None, None, plugins, Options(memory), keep=False) as tables:
        _, engine = tables.release(None)
        if not engine.records:
            raise DataError(f"{engine.name}: the table has no record, so that nothing can be said of its columns")
        drafting = _Drafting(engine, plugins, said, progress or silent)
        columns = drafting.columns()
        engine.sha256()  # raises where the table changed meanwhile
        return PolicyDraft(
            engine.name,
            _location(table, engine),
            engine.records,
            columns,
            drafting.tokens,
            drafting.notes,
            version("tcdp-audit"),
            expectations(columns, plugins.checks, chosen),
            chosen,
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
    columns: Sequence[DraftColumn], checks: Collection[str], profile: Profile | None = None
) -> Sequence[str]:
    """The checks whose figures a draft asks for: one on classes only where there is something to group by.

    What a profile demands is not measured separately.
    """
    known = any(one.role is Role.QUASI_IDENTIFIER for one in columns)
    of_columns = [one for one in ("direct_identifiers",) if one in checks]
    measured = [*of_columns, "k_anonymity"] if known or not of_columns else of_columns
    demanded = set() if profile is None else {one.check for one in profile.demands}
    return [one for one in measured if one not in demanded] or of_columns


class _Drafting:
    """One table and the proposals for its columns."""

    def __init__(self, engine: Engine, plugins: Plugins, declared: Declarations | None, progress: Progress) -> None:
        self.engine, self.plugins, self.progress = engine, plugins, progress
        self.declared = declared
        self.facts = self._read()
        self.evidence = self._evidence()

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
        """Every column with its proposal."""
        return [self._column(one) for one in self.facts.values()]

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

    def _evidence(self) -> Mapping[str, Evidence]:
        """Evidence other than facts: declarations, results of detectors, and how well columns distinguish records."""
        said = {} if self.declared is None else self.declared.columns
        detected = identified(self.engine, self.plugins, self.tokens, self._readable, self.progress)
        known = {name: _with_declaration(detected.get(name, Evidence()), said.get(name)) for name in self.facts}
        candidates = [name for name in self._readable if self._may_count(name, known[name])]
        self.strengths = strengths_among(self.engine, candidates, self.tokens, self.progress)
        return {name: with_strength(name, one, self.strengths) for name, one in known.items()}

    def _may_count(self, name: str, evidence: Evidence) -> bool:
        """Whether an intruder may know a column: a quasi-identifier, or an undecided one that is no measurement."""
        facts = self.facts[name]
        role = proposed(facts, topic_of(name), evidence).role
        is_open = role is None and not facts.is_measurement and not evidence.detected
        return facts.distinct > 1 and (role is Role.QUASI_IDENTIFIER or is_open)

    @property
    def _readable(self) -> list[str]:
        return [name for name, one in self.facts.items() if one.raw is not None]

    def _column(self, facts: ColumnFacts) -> DraftColumn:
        topic, evidence = topic_of(facts.name), self.evidence[facts.name]
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
        return DraftColumn(facts.name, proposal.role, scale, note, order, hierarchy)


def _with_declaration(evidence: Evidence, declaration: Declaration | None) -> Evidence:
    if declaration is None:
        return evidence
    return replace(evidence, declared=declaration.role, declaration=declaration.said)


def _note(*parts: str) -> str:
    return " ".join(f"{sentence_case(part)}{'' if part.endswith('?') else '.'}" for part in parts if part)
