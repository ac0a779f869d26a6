"""One run of `tcdp-audit check`: audit under every policy, print and report each result, give one exit code."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import TypeVar

from tcdp_audit.api import Plugins, audit
from tcdp_audit.cli.options import on_engine, prepare, with_query
from tcdp_audit.cli.printing import complain_of, progress_of_work, write
from tcdp_audit.cli.reports import Reports, Written
from tcdp_audit.cli.request import Call, Request
from tcdp_audit.core.results.audit import Audit, render_several
from tcdp_audit.core.results.protected_files import files_of, require_own_files
from tcdp_audit.core.results.reporter import Unaudited, reporter_of
from tcdp_audit.plugin.engine import TcdpAuditError
from tcdp_audit.plugin.sentences import visible

Result = Audit | Unaudited
JSON = ".json"
CODE_QUALITY = "gl.codequality.json"  # any name that selects the format


@dataclass(frozen=True)
class Settings:
    """The settings of a run: how it audits and judges."""

    fail_on_warning: bool  # whether demands of severity warning count
    allow_vacuous: bool  # whether a policy whose demands cannot fail is accepted
    engine: str | None  # the engine that reads the releases; None for the one that accepts each
    query: str | None  # the file of a query, if any
    show_values: bool  # whether the worst classes are named by their cells
    all_conventions: bool  # whether every combination of conventions is tried
    try_remedies: bool  # whether remedies are tried on a release that does not pass
    digest: bool = False  # whether databases compute the content hashes of their tables


def run(request: Request, settings: Settings, form: Form) -> int:
    """Audit under every policy of a request; the worst exit code of them is the run's.

    A policy that is wrong, or whose release cannot be read, stops no other. It is reported on standard error, and in
    every report that holds a whole run.

    Raises:
        UsageError: a report cannot be written, or the query has no database.
    """
    if settings.try_remedies:
        gc.enable()  # this is longer work than a check
    request = replace(request, release=with_query(request.release, settings.query))
    read = [_read(request, path) for path in request.policies]
    plugins = _plugins_of_all(read, request.plugins)
    reports = Reports.chosen(request.reports, request.policies, plugins, request.language)
    _require_own_outputs(reports, request, read)
    preparing = run_in_background(lambda: prepare(reports.reporters))
    form.begin(request.policies)
    results, codes, faults = [], [], Written()
    for one in read:
        form.start(one.path)
        result = one if isinstance(one, Unaudited) else _audited(one, settings)
        preparing.result()
        if isinstance(result, Unaudited):
            written = reports.write_fault(result)
            _complain(result, len(read))
        else:
            written = reports.write_own(result, one.path)
        code = _exit_code(result, settings, written)
        form.print_result(result, written.paths)
        results.append(result)
        codes.append(code)
        faults = faults.and_also(written)
    common = reports.write_common(results)
    code = max([*codes, *(fault.exit_code for fault in common.faults)])
    form.end(results, code, common.paths)
    for fault in (*faults.faults, *common.faults):
        complain_of(fault)
    return code


def _read(request: Request, path: Path) -> Call | Unaudited:
    try:
        return request.call(path)
    except TcdpAuditError as error:
        return Unaudited(path, error)


def _plugins_of_all(read: Iterable[Call | Unaudited], plugins: Plugins) -> Plugins:
    """The plugins that every policy of a run allows; a policy that cannot be read allows none."""
    for one in read:
        if isinstance(one, Unaudited):
            plugins = plugins.only(())
        elif one.policy.document.plugins is not None:
            plugins = plugins.only(one.policy.document.plugins)
    return plugins


def _require_own_outputs(reports: Reports, request: Request, read: Iterable[Call | Unaudited]) -> None:
    """Require that no report replaces another, a policy, or a file that a policy reads."""
    files = [("--report", path) for path in reports.files(request.policies)]
    require_own_files(files, {})
    for one in read:
        protected = (
            {"the policy": one.path} if isinstance(one, Unaudited) else files_of(one.policy, **one.request.tables)
        )
        for file in files:
            require_own_files([file], protected)


def _audited(call: Call, settings: Settings) -> Audit | Unaudited:
    try:
        release = on_engine(call.request.release, settings.engine, call.policy, call.plugins)
        given = {**call.arguments, "release": release}
        with progress_of_work(quiet=call.request.quiet) as progress:
            made = audit(
                **given,
                show_values=settings.show_values,
                all_conventions=settings.all_conventions,
                try_remedies=settings.try_remedies,
                digest=settings.digest,
                column_risks=bool(call.request.reports),
                progress=progress,
            )
            return replace(made, run=call.request.run)
    except TcdpAuditError as error:
        return Unaudited(call.path, error)


def _exit_code(result: Audit | Unaudited, settings: Settings, written: Written) -> int:
    if isinstance(result, Unaudited):
        return result.exit_code
    code = result.exit_code(fail_on_warning=settings.fail_on_warning, allow_vacuous=settings.allow_vacuous)
    return max([code, *(fault.exit_code for fault in written.faults)])


def _complain(result: Unaudited, policies: int) -> None:
    """Print why there is no audit; among several policies also its policy."""
    name = visible(str(result.path))
    complain_of(result.error, f"{name}: " if policies > 1 and not str(result.error).startswith(name) else "")


T = TypeVar("T")


def run_in_background(work: Callable[[], T]) -> Future[T]:
    """Begin work in a daemon thread, which no executor waits for when the command is interrupted."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised again where the result is asked for
            future.set_exception(error)

    Thread(target=run, daemon=True).start()
    return future


class Form:
    """A form of the results of a run; this one prints nothing."""

    def begin(self, policies: Sequence[Path]) -> None:
        """Called before the first audit."""

    def start(self, policy: Path) -> None:
        """Called before each audit."""

    def print_result(self, result: Result, written: Sequence[str]) -> None:
        """Called after each audit, and after its own reports."""

    def end(self, results: Sequence[Result], code: int, written: Sequence[str]) -> None:
        """Called after the last audit, and after the common reports."""


class AsJson(Form):
    """The JSON result of the only audit."""

    def print_result(self, result: Result, written: Sequence[str]) -> None:  # noqa: ARG002 - nothing but JSON is printed
        """Print it."""
        if isinstance(result, Audit):
            write(result.render(JSON))


@dataclass
class ForGitLab(Form):
    """GitLab's code quality report and nothing else, so that it can be redirected to a file.

    Raises:
        UsageError: no plugin has this format.
    """

    plugins: Plugins

    def __post_init__(self) -> None:
        """Find the format before the work begins."""
        self.reporter = reporter_of(Path(CODE_QUALITY), self.plugins.reporters.values())

    def end(self, results: Sequence[Result], code: int, written: Sequence[str]) -> None:  # noqa: ARG002 - likewise
        """Print it."""
        write(render_several(self.reporter, results, self.plugins))


@dataclass
class ForPeople(Form):
    """Lines and sentences as each audit ends, and a table of them all after several."""

    brief: bool = False  # whether only what needs action is printed
    verbose: bool = False  # whether every demand is printed however many there are
    several: bool = False  # whether there are several audits
    listed: list[str] = field(default_factory=list)  # the reports that were written
    started: float = field(default_factory=monotonic)  # the start of the audit that is printed next

    def begin(self, policies: Sequence[Path]) -> None:
        """Remember whether there are several audits."""
        self.several = len(policies) > 1

    def start(self, policy: Path) -> None:
        """Name the policy before its audit, if there are several."""
        self.started = monotonic()
        if self.several:
            from tcdp_audit.cli.terminal import announce  # noqa: PLC0415 - imports rich

            announce(policy)

    def print_result(self, result: Result, written: Sequence[str]) -> None:
        """Print one audit; the only one is printed by `end`, with all of its reports."""
        if not self.several:
            self.listed += written
        elif isinstance(result, Audit):
            self._show(result, written)

    def end(self, results: Sequence[Result], code: int, written: Sequence[str]) -> None:
        """Print the only audit, or a table of all."""
        if self.several:
            from tcdp_audit.cli.terminal import summarise  # noqa: PLC0415 - imports rich

            summarise(results, written, code)
        elif isinstance(results[0], Audit):
            self._show(results[0], [*self.listed, *written])

    def _show(self, audit: Audit, written: Sequence[str]) -> None:
        from tcdp_audit.cli.document import console  # noqa: PLC0415 - imports rich
        from tcdp_audit.cli.terminal import print_audit  # noqa: PLC0415 - likewise

        seconds = monotonic() - self.started
        print_audit(console(), audit, written, brief=self.brief, verbose=self.verbose, seconds=seconds)
        if audit.variants:
            from tcdp_audit.cli.terminal import show_conventions  # noqa: PLC0415 - only where it is asked for

            show_conventions(audit.policy, audit.variants)
