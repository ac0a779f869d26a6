"""The auditor: policy and release in, outcomes out.

The demands of a policy are judged scenario by scenario, and in each scenario view by view; see `views`. A policy
without scenarios is one of a single intruder, who knows every quasi-identifier. Demands that name a unit are judged as
those of a policy with that unit.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, NoReturn

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.auditor.column_warnings import column_warnings, further_content
from tcdp_audit.core.auditor.exposure import (
    ExposedView,
    FailingRecordMasks,
    FailingUnits,
    exposed_by,
    failing_units,
)
from tcdp_audit.core.auditor.identifying_columns import identifying_columns
from tcdp_audit.core.auditor.linked_rows import judges_histories, link_outcomes, with_histories
from tcdp_audit.core.auditor.tasks import CountedRecords
from tcdp_audit.core.auditor.unit_columns import unit_columns
from tcdp_audit.core.auditor.view_evaluation import (
    Options,
    ViewEvaluation,
    exposed_by_units,
    exposed_together,
)
from tcdp_audit.core.auditor.views import (
    ROWS,
    Views,
    columns_of_demand,
    noun_of_root,
    of_table,
    targets_of,
    views_of,
)
from tcdp_audit.core.auditor.worst_values import number_values
from tcdp_audit.core.base.audit_figures import ColumnRisk, ExposureCount, ScenarioResult, demand_groups, failures
from tcdp_audit.core.base.cache import Cache, Identity
from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.outcome import LINKED_ROWS, Outcome
from tcdp_audit.core.base.resources import budget
from tcdp_audit.core.classes.rolled_up import RolledUpEngine
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.policy.model import OF_SCENARIO, Role
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit.core.release.release import AuditedColumn, Release, audited_columns
from tcdp_audit.core.release.structure import examine

if TYPE_CHECKING:
    from tcdp_audit.core.units.histories import Histories

SHARE_OF_MEMORY = 4  # the share of the memory for what several scenarios have in common


@dataclass(frozen=True)
class Evaluation:
    """The result of a release under a policy.

    Args:
        outcomes: structure first, then the expectations in the policy's order, each scenario by scenario.
        exposed: the records or entities that failing demands expose, each counted once.
        columns: the declaration and the figures of each column.
        column_risks: what each quasi-identifier adds to the risk; empty if not requested, or if there are too many.
        failing_units: the units or households with a row that fails a demand on classes; None where single rows count.
        scenarios: the scenarios of the policy, each with the people exposed to it; empty without any.
    """

    outcomes: tuple[Outcome, ...]
    exposed: ExposureCount
    columns: tuple[AuditedColumn, ...]
    column_risks: tuple[ColumnRisk, ...] = ()
    failing_units: FailingUnits | None = None
    scenarios: tuple[ScenarioResult, ...] = ()


def evaluate(
    policy: Policy,
    engine: Engine,
    options: Options,
    companions: Mapping[str, Engine] = MappingProxyType({}),
    failing_records: FailingRecordMasks | None = None,
) -> tuple[Outcome, ...]:
    """The outcomes of a release under a policy; see `evaluation`."""
    return evaluation(policy, engine, options, companions, failing_records).outcomes


def evaluation(
    policy: Policy,
    engine: Engine,
    options: Options,
    companions: Mapping[str, Engine] = MappingProxyType({}),
    failing_records: FailingRecordMasks | None = None,
) -> Evaluation:
    """Evaluate a release under a policy.

    Args:
        policy: what the release must satisfy.
        engine: the release.
        options: how to run.
        companions: the further tables by their name in the policy: original, population, holdout, registry, previous;
            those of a scenario as `population of insurer`.
        failing_records: receives the records that fail each expectation; None if they are not requested.

    Raises:
        DataError: the release is empty or cannot be read; or failing records are requested, and records have no order.
        PolicyError: a hierarchy that the policy names is not one.
    """
    if failing_records is not None:  # the numbers of records are those of one audit
        options = replace(options, cache=Cache())
    policies = policy.parts
    if len(policies) == 1 or options.cache.room or failing_records is not None:
        return _evaluated(policy, policies, engine, options, companions, failing_records)
    shared = Cache(budget(options.memory) // SHARE_OF_MEMORY)  # so that no column is read once for each scenario
    try:
        return _evaluated(policy, policies, engine, replace(options, cache=shared), companions, failing_records)
    finally:
        shared.clear()


def _evaluated(
    policy: Policy,
    policies: Mapping[str, Policy],
    engine: Engine,
    options: Options,
    companions: Mapping[str, Engine],
    failing_records: FailingRecordMasks | None,
) -> Evaluation:
    given, engine.progress = engine, options.progress
    several = len(policies) > 1
    if policy.document.unit is not None and failing_records is None and not (several or options.show_values):
        from tcdp_audit.core.auditor.summed_units import with_summed_units  # noqa: PLC0415 - only where units join rows

        engine = with_summed_units(policy, engine, options.cache)
    if engine is given:
        _announce(policies.values(), engine, companions)
    if not engine.records:
        raise DataError(f"{engine.name}: the table has no records; an empty release cannot be audited")
    judging = sum(bool(one.expectations) for one in policies.values())
    one_row_each = all(one.document.root is None for one in policies.values()) and policy.document.tables is None
    if judging > 1 and one_row_each and failing_records is None:
        engine = _rolled_up(policies, engine, options, companions)
    release = Release(engine, policy, companions.get("original"), options.cache)
    examined = tuple(examine(release, show_values=options.show_values))
    identity = identifying_columns(release, options.detectors())  # once: both kinds of warnings need it
    judged = _Judged.of(policies, release, options, companions, failing_records)
    structural = (
        *examined,
        *column_warnings(release, judged.counted, identity),
        *unit_columns(release, identity),
        *link_outcomes(release),
        *further_content(given),
    )
    structural = tuple(judged.with_histories(one) if one.check == LINKED_ROWS else one for one in structural)
    outcomes = (*(of_table(one, release, _columns_at_fault(one)) for one in structural), *judged.outcomes)
    return Evaluation(
        outcomes,
        replace(judged.exposed(outcomes, len(structural)), by_group=judged.exposed_by_group(len(structural))),
        tuple(audited_columns(release)),
        judged.column_risks,
        judged.failing_units,
        tuple(judged.by_scenario()),
    )


def _columns_at_fault(outcome: Outcome) -> Sequence[str]:
    """The columns of a finding; none of the one on the unit, which is about what it joins in all tables."""
    return () if outcome.check == LINKED_ROWS else outcome.details.get("columns", ())


def records_failing_on_classes(
    policy: Policy, engine: Engine, options: Options, companions: Mapping[str, Engine] = MappingProxyType({})
) -> NDArray[np.bool_]:
    """Whether each record fails a demand on classes that keeps the release from passing; see `evaluation`.

    Where whole histories are judged, all rows of a unit fail together.

    Returns:
        bool, shape (records,), in the table's order.
    """
    masks = FailingRecordMasks(engine.records)
    outcomes = evaluation(policy, engine, options, companions, masks).outcomes
    judged = [one for one in outcomes if not one.is_structural]
    failing = np.zeros(engine.records, dtype=bool)
    for outcome, mask in zip(judged, masks.masks, strict=True):
        if mask is not None and outcome.blocks:
            failing |= mask
    return failing


@dataclass
class _JudgedPart:
    """The demands of one part of a policy, judged: those of a scenario, or those that name a unit.

    Args:
        name: that of the part, which of a scenario is the scenario's; empty of what is judged in none.
        views: the tables in which they are judged.
        places: the position of each outcome among those of all scenarios.
        running: the demands of each view, by its key.
        outcomes: the outcome of each expectation and target.
    """

    name: str
    views: Views
    places: Sequence[int]
    running: Mapping[str, ViewEvaluation]
    outcomes: Sequence[Outcome] = ()

    @property
    def root(self) -> str | None:
        """The column that joins the rows of what it judges as a whole."""
        return self.views.policy.document.root

    @property
    def failing(self) -> list[ViewEvaluation]:
        """The views in which demands on classes fail."""
        return [one for one in self.running.values() if one.failed]

    @property
    def counted(self) -> CountedRecords:
        """The records and units that no convention exempts; the fewest, where single rows are exempt as well."""
        histories, of_rows = self.views.histories, [one.counted for kind, one in self.running.items() if kind == ROWS]
        whole = [] if histories is None else [CountedRecords(histories.records, histories.units)]
        return min((*whole, *of_rows), key=lambda one: one.records)

    def judge(self) -> None:
        """Judge every demand, in the policy's order over all views."""
        judged = []
        with ExitStack() as stack:
            following = {key: stack.enter_context(closing(one.outcomes())) for key, one in self.running.items()}
            for place, (expectation, target) in zip(self.places, targets_of(self.views.policy), strict=True):
                key = self.views.of(expectation, target).key
                self.running[key].position = place
                outcome = next(following[key])
                judged.append(of_table(outcome, self.views.rows.release, columns_of_demand(expectation, target)))
        self.outcomes = judged


@dataclass
class _Judged:
    """The demands of a policy, judged in every scenario and for every unit, one after another."""

    parts: Sequence[_JudgedPart]
    options: Options
    root: str | None  # the column that joins the rows of what the policy judges where a demand names no unit

    @classmethod
    def of(
        cls,
        policies: Mapping[str, Policy],
        release: Release,
        options: Options,
        companions: Mapping[str, Engine],
        failing_records: FailingRecordMasks | None,
    ) -> _Judged:
        """Judge the demands of the policy of each scenario on a release."""
        places: dict[str, list[int]] = {name: [] for name in policies}
        for number, (_, target) in enumerate(targets_of(release.policy)):
            places[target.part].append(number)
        root, several, parts = release.policy.document.root, len(policies) > 1, list[_JudgedPart]()
        of_policy = [name for name, one in policies.items() if one.document.root == root]
        masks: dict[int, NDArray[np.bool_] | None] = {}
        most = _riskiest(policies)
        for name, policy in policies.items():
            if several and not policy.expectations and not options.column_risks and of_policy != [name]:
                continue
            own = companions_of(name, companions)
            judged_release = replace(release, policy=policy, original=own.get("original")) if several else release
            views = views_of(_as_read(judged_release), budget(options.memory))
            marked = None if failing_records is None else FailingRecordMasks(failing_records.records)
            running = {view.key: ViewEvaluation(view, views, options, own, marked) for view in views}
            for one in running.values():
                one.is_riskiest = name == most
            parts.append(_JudgedPart(name, views, places[name], running))
            parts[-1].judge()
            if marked is not None:
                masks |= dict(zip(places[name], marked.masks, strict=True))
        if failing_records is not None:
            failing_records.masks.extend(masks[place] for place in sorted(masks))
        return cls(parts, options, root)

    @property
    def _own(self) -> Sequence[_JudgedPart]:
        """The parts that judge what the policy judges where a demand names no unit, by different intruders."""
        return [one for one in self.parts if one.root == self.root]

    @cached_property
    def outcomes(self) -> Sequence[Outcome]:
        """The outcome of each expectation and target, in the policy's order."""
        by_place = {place: one for each in self.parts for place, one in zip(each.places, each.outcomes, strict=True)}
        return number_values(by_place[place] for place in sorted(by_place))

    @property
    def counted(self) -> CountedRecords:
        """The records and units of the policy that count in every scenario."""
        return min((one.counted for one in self._own), key=lambda one: one.records)

    @property
    def column_risks(self) -> tuple[ColumnRisk, ...]:
        """What each quasi-identifier adds to the risk, where this was requested: of rows, else of whole histories."""
        risks = next((one.risks for one in self._running if one.risks and one.is_riskiest), ())
        if risks or not self.options.column_risks:
            return risks
        name = _riskiest({one.name: one.views.policy for one in self.parts})
        views = next(one.views for one in self.parts if one.name == name)
        if views.histories is None or not any(view.is_whole for view in views):
            return ()
        from tcdp_audit.core.auditor.history_figures import history_risks  # noqa: PLC0415 - only on request

        return tuple(history_risks(views.histories, noun_of_root(views.histories)))

    def with_histories(self, outcome: Outcome) -> Outcome:
        """The finding on a unit that joins rows, with whole histories as seen by the intruder who knows most."""
        judging = [one for one in self._own if one.name] or self._own
        most = max(judging, key=lambda one: len(one.views.policy.with_role(Role.QUASI_IDENTIFIER)))
        judges = all(judges_histories(one.views, one.outcomes) for one in judging)
        return with_histories(outcome, most.views, judges=judges, exposed=self.failing_units)

    @cached_property
    def _histories(self) -> Histories | None:
        """The whole histories, which are of the same units in every scenario; None where no unit joins rows."""
        return next((one.views.histories for one in self._own if one.views.histories is not None), None)

    def _views(self, before: int) -> list[ExposedView]:
        """What is exposed in each view, with the positions of the failing outcomes."""
        return [
            ExposedView(
                one.view_of_release.kind,
                one.exposure,
                {place: before + number for place, number in one.failed.items()},
            )
            for each in self._own
            for one in each.running.values()
        ]

    @property
    def _running(self) -> Iterator[ViewEvaluation]:
        return (one for each in self.parts for one in each.running.values())

    def exposed(self, outcomes: Sequence[Outcome], before: int) -> ExposureCount:
        """The records and units that failing demands expose, each counted once; `before` outcomes are of no demand."""
        own = [one for each in self._own for one in each.running.values()]
        if others := [one.failing for one in self.parts if one.root != self.root and one.failing]:
            failing, rows = [one for one in own if one.failed], self._own[0].views.rows.release
            return exposed_by_units(failing, others, before, self.counted, self.options, rows)
        together = partial(exposed_together, own, before, self.counted, self.options)
        return exposed_by(self._views(before), outcomes, self.counted, self._histories, together)

    def exposed_by_group(self, before: int) -> tuple[ExposureCount, ...]:
        """The records and units that each group of demands exposes of which several fail; see `demand_groups`.

        No record is read again. So demands in several scenarios, or of rows with other known columns, are not joined:
        of these the count has those that expose most, and leaves out the others. Cost: that of `Exposure.of` a group.
        """
        counts, failing = [], {*failures(self.outcomes)}
        for numbers in demand_groups(self.outcomes):
            failed = {before + number for number in numbers if number in failing}
            if len(failed) > 1 and (joined := list(self._joined(failed, before))):
                most = max(joined, key=lambda one: (one.people or 0, len(one.counted)))
                counts.append(replace(most, left_out=tuple(sorted(failed - {*most.counted}))))
        return tuple(counts)

    def _joined(self, failed: Collection[int], before: int) -> Iterator[ExposureCount]:
        """The counts of some failing demands that can be joined by what was measured."""
        for each in self.parts:
            own = _Judged([each], self.options, each.root)
            views = [
                replace(one, failed={place: number for place, number in one.failed.items() if number in failed})
                for one in own._views(before)
            ]
            failing, histories = [one for one in views if one.failed], own._histories
            if histories is not None and any(one.kind != ROWS for one in failing):
                yield exposed_by(failing, (), each.counted, histories, _not_joined)
            else:
                yield from (exposed_by([one], (), each.counted, None, _not_joined) for one in failing)

    def by_scenario(self) -> Iterator[ScenarioResult]:
        """Each scenario with the people exposed to it: those that are counted together, where some are."""
        on_classes = any(one.failed for one in self._running)
        for each in self.parts:
            document = each.views.policy.document
            if (one := document.scenario) is not None:
                own = _Judged([each], self.options, each.root)
                exposed = own.exposed(each.outcomes, 0).among(each.outcomes)
                if exposed is not None and on_classes and not any(one.failed for one in each.running.values()):
                    exposed = replace(exposed, records=None)
                yield ScenarioResult(
                    name=each.name,
                    intruder=each.views.policy.naming.intruder_name,
                    knows=tuple(document.with_role(Role.QUASI_IDENTIFIER)),
                    at_stake=tuple(document.with_role(Role.SENSITIVE)),
                    attempt=document.attempt,
                    known_fraction=document.known_fraction,
                    in_release=one.in_release,
                    tables=tuple(one.tables),
                    exposed=None if exposed is None else replace(exposed, counted=(), left_out=()),
                    column_risks=() if exposed is None else next((one.risks for one in own._running if one.risks), ()),
                )

    @property
    def failing_units(self) -> FailingUnits | None:
        """The units that fail a demand on classes of whole histories."""
        return failing_units(self._views(0), self._histories)


def _not_joined() -> NoReturn:
    raise AssertionError("views of rows are counted one by one")


def _rolled_up(
    policies: Mapping[str, Policy], engine: Engine, options: Options, companions: Mapping[str, Engine]
) -> Engine:
    """The table with the distinct rows of all columns that some scenario knows or has at stake, read once."""
    columns: dict[str, Domain] = {}
    for name, policy in policies.items():
        release = Release(engine, policy, companions_of(name, companions).get("original"), options.cache)
        for one in (*release.quasi_identifiers, *release.sensitive):
            columns.setdefault(one.attribute, one)
    ordered = tuple(columns[name] for name in sorted(columns))
    if not ordered:
        return engine
    memory = budget(options.memory)
    key = ("rolled up", Identity(engine, *ordered))
    return options.cache.get(key, lambda: RolledUpEngine(engine, ordered, memory, options.progress))


def companions_of(scenario: str, companions: Mapping[str, Engine]) -> Mapping[str, Engine]:
    """The further tables of a scenario by what they are: its own, and otherwise those of the policy."""
    common = {name: one for name, one in companions.items() if OF_SCENARIO not in name}
    own = {name.partition(OF_SCENARIO): one for name, one in companions.items() if OF_SCENARIO in name}
    return common | {table: one for (table, _, of), one in own.items() if of == scenario}


def _riskiest(policies: Mapping[str, Policy]) -> str:
    """The part whose columns are measured for what they add to the risk: the policy itself, or who knows most.

    Of the parts those count that demand something, since classes are made for demands.
    """
    judging = {name: one for name, one in policies.items() if one.expectations} or policies
    return max(judging, key=lambda name: (not name, len(judging[name].with_role(Role.QUASI_IDENTIFIER))))


def _announce(policies: Iterable[Policy], engine: Engine, companions: Mapping[str, Engine]) -> None:
    """Announce to the engines the columns that will be counted together, so that a database is queried once."""
    grouped: dict[int, tuple[Engine, dict[str, None]]] = {}

    def count_together(table: Engine | None, names: Iterable[str]) -> None:
        if table is not None:
            grouped.setdefault(id(table), (table, {}))[1].update(dict.fromkeys(names))

    for policy in policies:
        document = policy.document
        known, sensitive = policy.with_role(Role.QUASI_IDENTIFIER), policy.with_role(Role.SENSITIVE)
        own = companions_of(document.scenario_name, companions)
        unit = [] if document.unit is None else [document.unit]
        count_together(engine, [*unit, *known, *sensitive])  # the unit has most values, and takes longest to read
        count_together(own.get("population"), known)
        if policy.conventions.reference == "original":
            count_together(own.get("original"), sensitive)
    for table, names in grouped.values():
        columns = {column.name for column in table.columns}
        table.group_by([name for name in names if name in columns])


def _as_read(release: Release) -> Release:
    """The release with the cells of each unit as an intruder reads them; without a unit it is as written."""
    if release.unit is None:
        return release
    from tcdp_audit.core.release.unit_readings import as_read  # noqa: PLC0415 - only where a policy names a unit

    return as_read(release)
