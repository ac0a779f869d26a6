"""A session: a table read once, and many policies asked of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Condition, get_ident
from typing import TYPE_CHECKING, Any, Self

from tcdp_audit.core.auditor.view_evaluation import Options
from tcdp_audit.core.base.cancellation import Cancellation, cancellable, checkpoint
from tcdp_audit.core.base.errors import UsageError, redact_errors
from tcdp_audit.core.base.frozen import FrozenDict
from tcdp_audit.core.base.lazy import public
from tcdp_audit.core.base.provenance import Run
from tcdp_audit.core.classes.shards import Progress, silent
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.session.inputs import AuditInputs
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.core.session.tables import OpenTables

if TYPE_CHECKING:
    from tcdp_audit.core.base.audit_figures import ConventionVariant
    from tcdp_audit.core.base.outcome import Outcome
    from tcdp_audit.core.encoding.hierarchy import Hierarchy
    from tcdp_audit.core.repair.fixing import Remediation
    from tcdp_audit.core.results.frontier import Frontier
    from tcdp_audit.core.results.setting_trial import SettingTrial
    from tcdp_audit.core.session.people import Asking, ColumnProfile, WhatIf
    from tcdp_audit.core.session.thresholds import StricterDemand, Thresholds

PolicyLike = str | Path | Mapping[str, Any] | Policy


class _Turns:
    """One computation of a session at a time; the others wait, or end the one that runs."""

    def __init__(self) -> None:
        self._free = Condition()
        self._running: Cancellation | None = None
        self._thread: int | None = None

    @contextmanager
    def turn(self, *, replace_running: bool) -> Iterator[None]:
        """Wait for a turn, and take it. A computation that asks a further question of its own session has its turn."""
        if self._thread == get_ident():
            yield
            return
        cancellation = Cancellation()
        with self._free:
            if replace_running:
                self.cancel()
            self._free.wait_for(lambda: self._running is None)
            self._running, self._thread = cancellation, get_ident()
        try:
            with cancellable(cancellation):
                yield
        finally:
            with self._free:
                self._running = self._thread = None
                self._free.notify_all()

    def cancel(self) -> None:
        """End the computation that runs, if one does."""
        running = self._running
        if running is not None:
            running.request()


class Session:
    """A release that stays open while policies are asked of it; made by `open_session`. Use it as a context manager.

    Every answer is the one that `audit` or `fix` gives for the same table and policy; what was read and counted for
    one is kept for the next, within the memory, and what was used longest ago is forgotten first. A file is read as it
    was when it was opened; see `require_unchanged`. Any thread may ask. One computation runs at a time: a second one
    waits, or ends the first if it says `replace_running`.

    Example:
        >>> import pyarrow
        >>> from tcdp_audit import open_session
        >>> table = pyarrow.table({"zip": ["a", "a"], "disease": ["x", "y"]})
        >>> attributes = {"zip": {"role": "quasi_identifier"}, "disease": {"role": "sensitive"}}
        >>> policy = {"version": 1, "attributes": attributes, "expect": [{"k_anonymity": {"k": 3}}]}
        >>> with open_session(table, policy) as session:
        ...     strict = session.audit()
        ...     lax = session.audit({**policy, "expect": [{"k_anonymity": {"k": 2}}]})
        >>> strict.passed, lax.passed
        (False, True)
    """

    def __init__(self, tables: OpenTables, policy: PolicyLike | None, levels: Mapping[str, int] | None = None) -> None:
        self._tables, self._turns = tables, _Turns()
        self.given_policy = policy  # as the caller gave it
        self._policy = None if policy is None else tables.read(policy)
        self._levels: Mapping[str, int] = FrozenDict(levels or {})

    @property
    def policy(self) -> Policy:
        """The policy that questions are asked under where they name none.

        Raises:
            UsageError: the session has none.
        """
        if self._policy is None:
            raise UsageError("no policy: give one to the call, or to `open_session`")
        return self._policy

    @redact_errors()
    def audit(
        self,
        policy: PolicyLike | None = None,
        *,
        all_conventions: bool = False,
        column_risks: bool = False,
        try_remedies: bool = False,
        run_by: str | None = None,
        progress: Progress | None = None,
        replace_running: bool = False,
    ) -> Audit:
        """Audit the release, as `tcdp_audit.audit` does; what did not change is not computed again.

        Args:
            policy: what the release must satisfy; None for the session's policy.
            all_conventions: audit under every combination of conventions that applies, too.
            column_risks: measure what each quasi-identifier adds to the risk, too.
            try_remedies: try in memory what `fix` would do to a release that does not pass, or which changes would help
                tables of figures, too.
            run_by: who runs the audit, as the result shall say.
            progress: called with (step, records or shards done, in all).
            replace_running: end the computation that runs, in place of waiting for it.

        Raises:
            UsageError: there is no policy, or a file does not exist.
            PolicyError: the policy is wrong.
            DataError: the release is empty or cannot be read.
            PluginError: a plugin that the policy needs does not work.
            Cancelled: `cancel` was called meanwhile.

        Cost: that of `tcdp_audit.audit` for a first question; for a changed threshold that of the checks, for a changed
        role a count of the records, for a changed level one of the distinct values and one of the records.
        """
        with self.turn(progress, replace_running=replace_running) as reporting:
            inputs = self.inputs(policy, progress=reporting, column_risks=column_risks)
            result = inputs.audited(run=Run(by=run_by))
            if all_conventions:
                result = replace(result, variants=_variants(inputs, result.outcomes))
            return _with_trials(inputs, result) if try_remedies else result

    def levels(self, levels: Mapping[str, int]) -> Session:
        """The same session with columns seen at levels of their hierarchies: no record is read again.

        It shares tables and turns with this session, and ends with it. An audit gives the outcomes of one of the file
        whose cells are replaced by the labels above them.

        Args:
            levels: for each column a level of the hierarchy that the policy declares: 0 for the cells themselves, its
                height for the root. Columns that are not named keep the level that they have.
        """
        view = Session(self._tables, self._policy, {k: v for k, v in {**self._levels, **levels}.items() if v != 0})
        view._turns = self._turns
        return view

    @redact_errors()
    def column_names(self, *, policy: PolicyLike | None = None) -> tuple[str, ...]:
        """The names of the release's columns in the table's order; of several tables each as `table.column`.

        Args:
            policy: the one that names the tables; None for the session's, or for none where it has none.
        """
        with self._question(policy) as (read, ask):
            return tuple(one.name for one in ask(read).engine.columns)

    @redact_errors()
    def hierarchies(self, policy: PolicyLike | None = None) -> Mapping[str, Hierarchy]:
        """The hierarchies that a policy declares, by column: the levels that `levels` may name. No table is read.

        Args:
            policy: that declares them; None for the session's policy.

        Raises:
            UsageError: there is no policy.
            PolicyError: a hierarchy cannot be read, or is not one tree of one depth.
        """
        from tcdp_audit.core.release.release import declared_hierarchies  # noqa: PLC0415 - only where asked for

        return declared_hierarchies(self.read(policy), self._tables.cache)

    @redact_errors()
    def profiles(
        self, columns: Sequence[str] | None = None, *, policy: PolicyLike | None = None, replace_running: bool = False
    ) -> tuple[ColumnProfile, ...]:
        """Say of each column what it holds, and how many people are alone by it. No policy is needed.

        Args:
            columns: names of columns; None for all, in the table's order.
            policy: whose declarations and conventions count; None for the session's, or for none where it has none.
            replace_running: end the computation that runs, in place of waiting for it.

        Raises:
            UsageError: the release has no such column.
        """
        from tcdp_audit.core.session import people  # noqa: PLC0415 - an audit asks none of its questions

        with self._question(policy, replace_running) as (read, ask):
            return people.profiles(ask, read, columns)

    @redact_errors()
    def people_alone(
        self, columns: Sequence[str], *, policy: PolicyLike | None = None, replace_running: bool = False
    ) -> int:
        """Count the people whom an intruder finds alone who knows some columns, and no other. No policy is needed.

        See `profiles` for the arguments.

        Raises:
            UsageError: no column is named, or the release has no such column.
            CheckError: a column cannot be used, or every record is suppressed in all of them.
        """
        from tcdp_audit.core.session import people  # noqa: PLC0415 - likewise

        with self._question(policy, replace_running) as (read, ask):
            return people.people_alone(ask, read, columns)

    @redact_errors()
    def what_if(
        self,
        add: Sequence[str] = (),
        drop: Sequence[str] = (),
        *,
        k: int | None = None,
        policy: PolicyLike | None = None,
        replace_running: bool = False,
    ) -> WhatIf:
        """Count the people alone, below k and exposed if an intruder knew some columns more, or some less.

        Args:
            add: columns that the intruder knows, too.
            drop: quasi-identifiers that the intruder does not know.
            k: the size of a group; None for the largest k that the policy demands.
            policy: what the release must satisfy; None for the session's policy.
            replace_running: end the computation that runs, in place of waiting for it.

        Raises:
            UsageError: there is no policy, a column is not there, or no column is left.
            CheckError: a column cannot be used, or every record is suppressed in all of them.

        Cost: that of four audits in which roles have changed; no file is opened again.
        """
        from tcdp_audit.core.session import people  # noqa: PLC0415 - likewise

        with self._question(self.policy if policy is None else policy, replace_running) as (read, ask):
            return people.what_if(ask, read, add, drop, k)

    @redact_errors()
    def thresholds(self, check: str, *, policy: PolicyLike | None = None, replace_running: bool = False) -> Thresholds:
        """Give the range of a demand's figure, and count the people who fail at round thresholds in it.

        Args:
            check: a check that the policy asks for; or a check and its attribute, such as `t_closeness:diagnosis`.
            policy: what the release must satisfy; None for the session's policy.
            replace_running: end the computation that runs, in place of waiting for it.

        Raises:
            UsageError: there is no policy, or it does not ask for the check, or asks more than once.
            CheckError: the check cannot be evaluated.

        Cost: that of an audit with one demand for each threshold.
        """
        from tcdp_audit.core.session.thresholds import thresholds  # noqa: PLC0415 - likewise

        with self._question(self.policy if policy is None else policy, replace_running) as (read, ask):
            return thresholds(ask, read, check)

    @redact_errors()
    def stricter_profiles(self, policy: PolicyLike | None = None) -> tuple[StricterDemand, ...]:
        """List the demands of published profiles that ask for more than a policy does. No table is read.

        Args:
            policy: what the release must satisfy; None for the session's policy.

        Raises:
            UsageError: there is no policy.
        """
        from tcdp_audit.core.session.thresholds import stricter_profiles  # noqa: PLC0415 - likewise

        read = self.policy if policy is None else self._tables.read(policy)
        return stricter_profiles(read, self._tables.plugins)

    @redact_errors()
    def fix(
        self,
        policy: PolicyLike | None = None,
        *,
        output: str | Path | None = None,
        keep_failing: bool = False,
        keep_order: bool = False,
        lost: Mapping[str, float] | None = None,
        progress: Progress | None = None,
        replace_running: bool = False,
    ) -> Remediation:
        """Repair the release, as `tcdp_audit.fix` does; see there for arguments and errors.

        Args:
            policy: what the release must satisfy; None for the session's policy.
            output: the file to write the release to.
            keep_failing: write the best release that was found even if it does not pass.
            keep_order: leave the records in their order.
            lost: the least information loss of remedies, by their entries in a policy, where it is known from a repair
                under weaker demands. A remedy that loses more than another one which suffices is not tried.
            progress: called with (step, done, in all).
            replace_running: end the computation that runs, in place of waiting for it.

        Raises:
            DataError: a file that was opened has changed; nothing is written.
            Cancelled: `cancel` was called meanwhile; nothing is written.
        """
        from tcdp_audit.core.repair.fixing import fix_tables  # noqa: PLC0415 - only where a release is repaired

        with self.turn(progress, replace_running=replace_running) as reporting:
            return fix_tables(
                self._tables,
                self.policy if policy is None else policy,
                None if output is None else Path(output),
                levels=self._levels,
                keep_failing=keep_failing,
                keep_order=keep_order,
                lost=lost,
                progress=reporting,
            )

    def frontier(
        self,
        policy: PolicyLike | None = None,
        *,
        vary: Mapping[str, str | Sequence[Any]] | None = None,
        budget: float | None = None,
        resume: str | Path | None = None,
        workers: int = 1,
        run_by: str | None = None,
        progress: Progress | None = None,
        on_trial: Callable[[SettingTrial, Sequence[SettingTrial]], None] | None = None,
        examples: Sequence[int] = (),
        replace_running: bool = False,
    ) -> Frontier:
        """Find what other thresholds would cost, as `tcdp_audit.frontier` does; see there for errors and the cost.

        Args:
            policy: whose thresholds are varied; None for the session's policy.
            vary: the demands to vary, each with its thresholds; None for two round ones on either side of each.
            budget: seconds. A setting that would not end in time is not begun.
            resume: a file for what is finished. Where it is there, the run goes on from it.
            workers: how many processes; several need a release and a policy in files.
            run_by: who runs this, as the result shall say.
            progress: called with (step, done, in all).
            on_trial: called with each finished trial and the front of all trials so far, as soon as there is one.
            examples: places of records, from 0, that `SettingTrial.example` shows before and after; only where the
                session shows values.
            replace_running: end the computation that runs, in place of waiting for it.

        Raises:
            Cancelled: `cancel` was called meanwhile.
        """
        explore: Callable[..., Frontier] = public("frontier")
        return explore(
            self,
            policy,
            vary=vary,
            budget=budget,
            resume=resume,
            workers=workers,
            run_by=run_by,
            progress=progress,
            on_trial=on_trial,
            examples=examples,
            replace_running=replace_running,
        )

    def require_unchanged(self) -> None:
        """Insist that every file is what it was when it was opened. A CSV file is read once, and not looked at again.

        Raises:
            DataError: one is another, or gone.

        Cost: a pass over the bytes of each file.
        """
        with self._turns.turn(replace_running=False):
            self._tables.require_unchanged()

    def cancel(self) -> None:
        """End the computation that runs, from another thread; its caller gets `Cancelled`, and the session goes on.

        Nothing happens where none runs. It ends within a second, and leaves nothing on disk.
        """
        self._turns.cancel()

    def close(self) -> None:
        """End the computation that runs, close the tables, and forget what was read."""
        with self._turns.turn(replace_running=True):
            self._tables.close()

    def __enter__(self) -> Self:
        """Use as a context manager."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    @contextmanager
    def _question(
        self,
        policy: PolicyLike | None,
        replace_running: bool = False,  # noqa: FBT001, FBT002 - of this class alone
    ) -> Iterator[tuple[Policy, Asking]]:
        """A policy, or one without columns where there is none, and what opens the tables under another."""
        from tcdp_audit.core.session.people import undeclared  # noqa: PLC0415 - likewise

        given = self._policy if policy is None else policy
        with self.turn(replace_running=replace_running) as progress:
            read = undeclared() if given is None else self._tables.read(given)
            if read.document.has_figures:
                from tcdp_audit.core.policy.tables import require_records  # noqa: PLC0415 - only for figures

                require_records(read, "people are counted in records")
            yield read, partial(self._tables.inputs, levels=self._levels, progress=progress)

    @contextmanager
    def turn(self, progress: Progress | None = None, *, replace_running: bool = False) -> Iterator[Progress]:
        """Wait for a turn to compute, and take it: all questions of this thread inside are one computation.

        Args:
            progress: called with (step, records or shards done, in all); None for that of the session.
            replace_running: end the computation that runs, in place of waiting for it.

        Returns:
            The function that reports progress; it ends the computation where `cancel` was called.
        """
        report = progress or self._tables.options.progress

        def reporting(step: str, done: int, total: int) -> None:
            checkpoint()
            report(step, done, total)

        with self._turns.turn(replace_running=replace_running):
            checkpoint()
            yield reporting

    def read(self, policy: PolicyLike | None = None) -> Policy:
        """A policy under the plugins of the session; None for the session's own."""
        return self.policy if policy is None else self._tables.read(policy)

    def inputs(self, policy: PolicyLike | None = None, **options: Any) -> AuditInputs:
        """What a question reads; ask for it within a turn."""
        return self._tables.inputs(self.read(policy), self._levels, **options)

    @property
    def tables(self) -> OpenTables:
        """The open tables; use them within a turn."""
        return self._tables

    @property
    def plugins(self) -> Plugins:
        """The plugins that are used."""
        return self._tables.plugins

    @property
    def given(self) -> Mapping[str, Any]:
        """The tables that were given in place of those that policies name, by their names: the release and others."""
        return self._tables.given

    @property
    def is_as_read(self) -> bool:
        """Whether every column is seen as its cells are, and none at a level of a hierarchy."""
        return not self._levels


@redact_errors()
def open_session(
    release: Any,
    policy: PolicyLike | None = None,
    original: Any = None,
    population: Any = None,
    *,
    plugins: Plugins | None = None,
    memory: int | None = None,
    show_values: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> Session:
    """Open a release to ask many policies of it.

    Args:
        release: the table, as for `audit`; None for the one that a policy names.
        policy: the policy of questions that name none: a policy, the path of a policy file, or its content.
        original: the table that the release was made from, as for `audit`.
        population: the population that the release was drawn from, as for `audit`.
        plugins: the plugins to use; by default all that are installed.
        memory: budget in bytes; by default three quarters of what is free. What is kept takes a quarter of it at most.
        show_values: let evidence and profiles name values of cells.
        progress: called with (step, records or shards done, in all).

    Returns:
        The session. Use it as a context manager, or call `.close()`.

    Raises:
        UsageError: a file does not exist.
        PolicyError: the policy is wrong.
        DataError: the release cannot be read.
    """
    options = Options(memory, show_values=show_values, progress=progress or silent)
    tables = OpenTables(release, original, population, plugins, options, keep=True)
    try:
        session = Session(tables, policy)
        if release is not None or policy is not None:
            tables.release(None if policy is None else session.policy)
    except BaseException:
        tables.close()
        raise
    return session


def _variants(inputs: AuditInputs, outcomes: Sequence[Outcome]) -> tuple[ConventionVariant, ...]:
    from tcdp_audit.core.auditor.conventions import convention_matrix  # noqa: PLC0415 - only where it is asked for

    if inputs.figures is not None:
        raise UsageError(
            "all conventions: those that are tried are of records, and the policy has tables of figures; leave this "
            "out, or give the records a separate policy"
        )
    return convention_matrix(inputs.policy, inputs.engine, inputs.options, inputs.companions, own=outcomes)


def _with_trials(inputs: AuditInputs, result: Audit) -> Audit:
    """An audit with trials of remedies on its records, and of changes on its tables of figures."""
    from tcdp_audit.core.repair.fixing import remedy_trial  # noqa: PLC0415 - only where it is asked for

    if inputs.figures is None:
        return replace(result, remedy_trial=remedy_trial(inputs, result.outcomes))
    from tcdp_audit.core.auditor.figures import MICRODATA  # noqa: PLC0415 - only for tables of figures
    from tcdp_audit.core.repair.figure_trial import figure_trial  # noqa: PLC0415 - likewise

    of_records = tuple(one for one in result.outcomes if one.cells is None and not one.details.get(MICRODATA))
    trial = remedy_trial(inputs, of_records) if inputs.policy.attributes else None
    return replace(result, remedy_trial=trial, figure_trial=figure_trial(inputs.figures.view, result.outcomes))
