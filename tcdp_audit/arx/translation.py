"""A project of ARX as the draft of a policy, with its table next to it.

Whatever decides about disclosure is translated exactly, or is an entry `TODO` of `expect`, which no audit accepts.
Whatever is about utility alone is translated where it can be, and listed where it cannot.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa

from tcdp_audit.api import (
    UNDECIDED,
    OpenTables,
    Options,
    Plugins,
    PolicyError,
    Scratch,
    load_hierarchy,
    write_atomically,
)
from tcdp_audit.arx.models import ModelContext, ModelTranslation, plain, translate
from tcdp_audit.arx.project import ArxAttribute, ArxProject, Rows
from tcdp_audit.core.results.protected_files import require_own_files
from tcdp_audit.drafting.column import ColumnFacts, missing_tokens
from tcdp_audit.drafting.draft import (
    DraftColumn,
    DraftSource,
    PolicyDraft,
    comment,
    hierarchy_folder,
    located_from,
    require_free,
    scalar,
    stem_of,
)
from tcdp_audit.drafting.drafting import expectations, profile_called
from tcdp_audit.drafting.hierarchies import ROOT, DraftHierarchy, csv_text
from tcdp_audit.drafting.roles import Evidence
from tcdp_audit.drafting.scenarios import kind_of
from tcdp_audit.plugin.detector import Role, Scale
from tcdp_audit.plugin.engine import DataError, Engine, UsageError, redact_errors
from tcdp_audit.plugin.sentences import count, listing

NUMERIC = ("Integer", "Decimal")
LOSSES = {"loss": "ncp", "average equivalence class size": "average_class_size", "discernability": "discernibility"}
ROLE_NAMES = {
    Role.IDENTIFIER: "identifying",
    Role.QUASI_IDENTIFIER: "quasi-identifying",
    Role.SENSITIVE: "sensitive",
    Role.INSENSITIVE: "insensitive",
}
SAYS = (
    "Roles, hierarchies, privacy models and the suppression limit are those of the project. Check them, and decide "
    "where it says TODO: no audit accepts that."
)


@dataclass(frozen=True)
class ProjectDraft:
    """The draft of a policy that a project of ARX was translated into.

    Args:
        draft: the policy.
        path: where it is written.
        project: the file of the project, which is never replaced.
        tables: the tables to write next to it, each with its header.
    """

    draft: PolicyDraft
    path: Path
    project: Path
    tables: Mapping[Path, Rows] = field(repr=False)

    @redact_errors()
    def write(self, *, force: bool = False) -> list[Path]:
        """Write the tables, the hierarchies and the policy; each file appears whole, the policy last.

        Args:
            force: whether to replace files that are there.

        Returns:
            The files, the policy first.

        Raises:
            UsageError: a file is there already, is the project itself, or cannot be written.
        """
        folder = hierarchy_folder(self.path)
        hierarchies = [folder / one for one in self.draft.hierarchies.values()]
        files = [self.path, *self.tables, *hierarchies]
        require_free(files, force=force)
        require_own_files([("the draft", one) for one in files], {"the project": self.project})
        for path, rows in self.tables.items():
            write_atomically(path, csv_text(rows))
        policy, *others = self.draft.write(self.path, force=force)
        return [policy, *self.tables, *others]


@redact_errors()
def draft_of_project(
    project: ArxProject,
    path: str | Path,
    table: str | None = None,
    *,
    profile: str | None = None,
    scenarios: bool = False,
    plugins: Plugins | None = None,
    memory: int | None = None,
) -> ProjectDraft:
    """Translate a project of ARX into the draft of a policy.

    Args:
        project: the project.
        path: where the policy will be written; its tables and hierarchies are next to it.
        table: the table under audit, such as what ARX exported; by default the one in the project, or its research
            sample, which is then written next to the policy.
        profile: a profile whose demands the policy makes as well.
        scenarios: whether it proposes intruders.
        plugins: the plugins to use; by default all that are installed.
        memory: budget in bytes; by default three quarters of what is free.

    Raises:
        UsageError: the project holds no table, and none is named; or no profile is called so.
        DataError: the table cannot be read, or has no record.
    """
    path, own = Path(path), project.released
    chosen = None if profile is None else profile_called(profile)
    if table is None and not own:
        raise UsageError(f"{project.name}: holds no table; name one: `tcdp-audit init TABLE --from {project.name}`")
    location = str(_next_to(path)) if table is None else table
    given = table if table is not None else pa.table(_columns(project.header, own))
    with OpenTables(given, None, None, plugins or Plugins.load(), Options(memory), keep=False) as opened:
        _, engine = opened.release(None)
        if not engine.records:
            raise DataError(f"{location}: the table has no record")
        translation = _Translation(project, engine, has_table=table is not None)
        draft = replace(translation.draft(path, location), profile=chosen)
        engine.sha256()  # raises where the table changed meanwhile
    draft = draft.with_scenarios() if scenarios else draft
    return ProjectDraft(draft, path, project.path, translation.tables(path, location))


def _columns(header: Sequence[str], rows: Rows) -> dict[str, pa.Array]:
    if len(set(header)) < len(header):
        raise DataError("the table of the project has two columns of one name")
    return {name: pa.array([row[place] for row in rows], pa.string()) for place, name in enumerate(header)}


class _Translation:
    """One project, with the table that its policy is about."""

    def __init__(self, project: ArxProject, engine: Engine, *, has_table: bool) -> None:
        self.project, self.engine, self.has_table = project, engine, has_table
        facts = {one.name: ColumnFacts(one.name, _domain(engine, one.name), engine.records) for one in engine.columns}
        self.tokens = missing_tokens(facts.values())
        self.facts = {name: replace(one, tokens=frozenset(self.tokens)) for name, one in facts.items()}
        self.omitted = list(project.notes)
        self.columns = list(self._columns())
        self.models = [translate(one, self._context()) for one in project.models]
        self.has_population = any(
            demand.check in ("k_map", "delta_presence") for one in self.models for demand in one.demands
        )

    def draft(self, path: Path, location: str) -> PolicyDraft:
        """The draft, whose table is at a location."""
        project = self.project
        self.omitted += self._settings()
        source = DraftSource(
            f"It was an ARX project{f' of version {self.project.version}' if self.project.version else ''}. {SAYS}",
            list(self._keys(path)),
            list(self._expectations()),
            list(self._remedies()),
            [f"{one.model}. {one.reason}" for one in self.models if one.is_demand and not one.demands],
            self.omitted,
        )
        is_sample = project.has_sample and project.sample is not None and not self.has_table
        measured = () if source.expectations else expectations(self.columns, {"direct_identifiers"})
        return PolicyDraft(
            f"{project.name}, research sample" if is_sample else project.name,
            location,
            self.engine.records,
            self.columns,
            self.tokens,
            (),
            version("tcdp-audit"),
            measured,
            source=source,
        )

    def tables(self, path: Path, location: str) -> dict[Path, Rows]:
        """The tables to write next to the policy."""
        header, tables = self.project.header, dict[Path, Rows]()
        if not self.has_table:
            tables[Path(location)] = [header, *self.project.released]
        if self.has_population:
            tables[_next_to(path, "population")] = [header, *self.project.rows]
        return tables

    def _columns(self) -> Iterator[DraftColumn]:
        attributes = {one.name: one for one in self.project.attributes}
        absent = [one for one in attributes.values() if one.name not in self.facts and one.role is not Role.IDENTIFIER]
        if absent:
            self.omitted.append(f"The table lacks {listing([repr(one.name) for one in absent])}.")
        for name, facts in self.facts.items():
            if name in attributes:
                yield self._column(attributes[name], facts)
            else:
                yield DraftColumn(name, None, None, "The project of ARX has no such attribute.")

    def _column(self, attribute: ArxAttribute, facts: ColumnFacts) -> DraftColumn:
        role = attribute.role
        called = "of unknown type" if role is None else ROLE_NAMES[role]
        note = f"ARX: {called}, {attribute.data_type or 'no data type'}"
        if role in (None, Role.IDENTIFIER):
            return DraftColumn(attribute.name, role, None, f"{note}.")
        hierarchy = self._hierarchy(attribute)
        shape = "" if hierarchy is None else f", {hierarchy.kind}"
        scale, order = (Scale.NOMINAL, []) if hierarchy is not None else self._scale(attribute, facts)
        if hierarchy is not None and role is Role.SENSITIVE:
            scale, order = self._scale(attribute, facts)
        kind = kind_of(attribute.name, role, Evidence())
        return DraftColumn(attribute.name, role, scale, f"{note}{shape}.", order, hierarchy, kind)

    def _scale(self, attribute: ArxAttribute, facts: ColumnFacts) -> tuple[Scale, Sequence[str]]:
        order = attribute.format.splitlines() if attribute.data_type == "Ordinal" else []
        if order and set(facts.texts) <= set(order) == set(order) - {""}:
            return Scale.ORDINAL, order
        if attribute.data_type in NUMERIC and facts.is_numeric:
            return Scale.NUMERIC, []
        if order or attribute.data_type in NUMERIC:
            why = "some values are not in its order" if order else "some values are no plain numbers"
            self.omitted.append(f"The data type {attribute.data_type} of {attribute.name!r}: {why}.")
        return Scale.NOMINAL, []

    def _hierarchy(self, attribute: ArxAttribute) -> DraftHierarchy | None:
        """The hierarchy under one root, where a policy can have it."""
        paths = [tuple(row) for row in attribute.hierarchy if row[0] not in self.tokens]
        if not paths or max(map(len, paths)) < 2:
            return None  # the values alone
        if len({len(one) for one in paths}) == 1 < len({one[-1] for one in paths}):
            paths = [(*one, ROOT) for one in paths]
            self.omitted.append(
                f"The hierarchy of {attribute.name!r} has several roots, and ARX stops there; {ROOT} was added above."
            )
        hierarchy = DraftHierarchy(f"hierarchy of {count(len(paths[0]), 'level')}", paths)
        if fault := _fault(hierarchy):
            self.omitted.append(f"The hierarchy of {attribute.name!r} is none that a policy can have: {fault}.")
            return None
        return hierarchy

    def _context(self) -> ModelContext:
        secret = [one for one in self.columns if one.role is Role.SENSITIVE]
        return ModelContext(
            [one.name for one in secret],
            [one.name for one in secret if one.scale in (Scale.NUMERIC, Scale.ORDINAL)],
            [one.name for one in secret if one.hierarchy is not None],
            bool(self.project.rows) and (self.has_table or self.project.is_sample_readable),
        )

    def _keys(self, path: Path) -> Iterator[str]:
        if self.has_population:
            yield f"population: {scalar(located_from(str(_next_to(path, 'population')), path))}"

    def _expectations(self) -> Iterator[str]:
        for one in self.models:
            if one.is_demand or one.demands:
                yield from _lines_of(one)
            else:
                yield from comment(f"ARX: {one.model}. {one.reason}", "  ")

    def _remedies(self) -> Iterator[str]:
        if not any(one.role is Role.QUASI_IDENTIFIER for one in self.columns):
            return
        limit, records = self.project.suppression, self.engine.records
        percent = plain(str(limit * 100)) if limit else "0"
        yield from comment(
            f"ARX: suppression limit {percent} %, quality model {self.project.quality or 'unknown'}.", "  "
        )
        most = f"{records - 1}/{records}" if limit == 1 else plain(str(limit)) if limit else "0"
        loss = next((ours for theirs, ours in LOSSES.items() if theirs in self.project.quality.lower()), "ncp")
        parameters = [f"suppression: {most}", f"loss: {loss}"]
        if levels := self._levels():
            parameters.append(f"levels: {{{', '.join(f'{scalar(name)}: {level}' for name, level in levels.items())}}}")
        yield f"  - generalization: {{{', '.join(parameters)}}}"

    def _levels(self) -> dict[str, int]:
        """Levels that ARX fixes."""
        quasi_identifiers = {one.name for one in self.columns if one.role is Role.QUASI_IDENTIFIER and one.hierarchy}
        limits = {one.name: one.levels for one in self.project.attributes if one.name in quasi_identifiers}
        return {name: low for name, (low, high) in limits.items() if low is not None and low == high}

    def _settings(self) -> Iterator[str]:
        """Sentences on settings that have no counterpart in the draft."""
        project = self.project
        if any(one.compares for one in self.models):
            yield (
                "ARX compares classes with the distribution of its input, and the draft with that of the release. They "
                "are one unless a repair drops records."
            )
        if project.quality and not any(one in project.quality.lower() for one in LOSSES):
            yield f"The quality model {project.quality}; `generalization` minimises the loss `ncp`."
        weights = {project.weights.get(one.name, 0.5) for one in self.columns if one.role is Role.QUASI_IDENTIFIER}
        if len(weights) > 1:
            yield "The weights of attributes in the quality model; `generalization` weighs all alike."
        if project.suppressed - {Role.QUASI_IDENTIFIER}:
            emptied = listing([ROLE_NAMES[one] for one in ROLE_NAMES if one in project.suppressed])
            yield f"Suppressed records lose their {emptied} cells in ARX; here they lose quasi-identifying ones."
        named = {one.name: one for one in self.columns}
        for one in project.attributes:
            if one.name in named:
                yield from self._settings_of(one, named[one.name])

    def _settings_of(self, attribute: ArxAttribute, column: DraftColumn) -> Iterator[str]:
        low, high = attribute.levels
        top = len(attribute.hierarchy[0]) - 1 if attribute.hierarchy else 0
        is_limited = (low or 0) > 0 or (high is not None and high < top)
        if is_limited and low != high and column.role is Role.QUASI_IDENTIFIER:
            bounds = f"{low or 0} to {top if high is None else high}"
            yield f"The levels {bounds} of {attribute.name!r}; `levels` of `generalization` fixes one."
        if attribute.aggregation:
            yield (
                f"Microaggregation of {attribute.name!r} ({attribute.aggregation}); the draft generalises the column. "
                "The remedy `microaggregation` replaces values by those of groups."
            )
        if attribute.is_response:
            yield f"{attribute.name!r} as a target of classification; state it as a model under `utility`."


def _lines_of(one: ModelTranslation) -> Iterator[str]:
    """A model above the expectations that it became, or above the TODO that it is."""
    said = f"ARX: {one.model}" + (f". {one.reason}" if one.reason else "")
    yield from comment(said, "  ")
    for demand in one.demands:
        yield f"  - {demand.line}"
    if not one.demands:
        yield f"  - {UNDECIDED}: {{}}"


def _next_to(path: Path, what: str = "") -> Path:
    """The place of a table next to the policy, from the current folder, so that the policy names it from its own."""
    file = path.with_name(f"{stem_of(path.name)}{what and f'.{what}'}.csv")
    try:
        return Path(os.path.relpath(file))
    except ValueError:  # on another drive
        return file


def _domain(engine: Engine, name: str) -> Any:
    try:
        return engine.domain(name)
    except DataError:
        return None  # nested data


def _fault(hierarchy: DraftHierarchy) -> str:
    """The reason why a policy cannot have a hierarchy, without its labels; nothing where it can."""
    with Scratch() as folder:
        file = folder / "hierarchy.csv"
        file.write_text(hierarchy.csv, encoding="utf-8", newline="")
        try:
            load_hierarchy("it", file)
        except PolicyError as error:
            return "; ".join(str(error).replace("it: ", "").splitlines())
    return ""
