"""The audit: every outcome, with what was audited, by which policy and which code."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict, overload

from tcdp_audit.core.base.audit_figures import ExposureCount, ScenarioResult, flips
from tcdp_audit.core.base.errors import UsageError, blaming
from tcdp_audit.core.base.files import write_atomically
from tcdp_audit.core.base.frozen import dataclass, freeze
from tcdp_audit.core.base.language import ENGLISH, active_translations, translating
from tcdp_audit.core.base.notebook import as_html, as_text
from tcdp_audit.core.base.outcome import Outcome, Severity, Status
from tcdp_audit.core.base.provenance import NamedFile, PluginInfo, Run, Table, now, tool
from tcdp_audit.core.base.words import visible, visible_json
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit.core.release.release import AuditedColumn
from tcdp_audit.core.results.conditions import Condition, JudgedOutcome, conditions_of
from tcdp_audit.core.results.protected_files import files_of, require_own_files
from tcdp_audit.core.results.tally import DemandTally, is_any_judged, require_passed, status_of, tally_of
from tcdp_audit.core.results.verdict import known_facts, verdict_of, verdict_sentence, verdict_title, with_known_facts
from tcdp_audit.core.results.verifier import PROOF, digest_of_result

if TYPE_CHECKING:
    import pandas as pd

    from tcdp_audit.core.base.audit_figures import ColumnRisk, ConventionVariant
    from tcdp_audit.core.cells.table import PublishedTable
    from tcdp_audit.core.check.kinds import Announced, Check
    from tcdp_audit.core.remedy.remedy import Remedy
    from tcdp_audit.core.results.change_log import ChangeLog
    from tcdp_audit.core.results.demand_groups import DemandGroup
    from tcdp_audit.core.results.linked_tables import TablesOverview
    from tcdp_audit.core.results.reporter import FilledSection, Reporter, ReportSection, Unaudited
    from tcdp_audit.core.results.setting_trial import FigureTrial, RemedyTrial

SCHEMA_VERSION = 1


class Participants(Protocol):
    """The plugins of an audit, as far as its result needs them."""

    @property
    def infos(self) -> Sequence[PluginInfo]:
        """The plugins in use and those that do not work."""
        ...

    @property
    def checks(self) -> Mapping[str, Check]:
        """Every registered check by name."""
        ...

    @property
    def remedies(self) -> Mapping[str, Remedy[Any]]:
        """Every registered remedy by name."""
        ...

    @property
    def announced_checks(self) -> Mapping[str, Announced]:
        """Every registered check by name, with name, title and quarter; it may not be loaded."""
        ...

    @property
    def reporters(self) -> Mapping[str, Any]:
        """Every registered report format by name."""
        ...

    @property
    def report_sections(self) -> Mapping[str, ReportSection]:
        """Every registered section of reports by name."""
        ...

    def provider_of(self, hook: str, name: str) -> str:
        """The external plugin that yields a name for a hook; empty for a built-in one."""
        ...


class AuditMetadata(TypedDict):
    """The metadata of an audit: texts, integers and None, without a cell."""

    status: str  # as `Audit.status`: error, failed, measured or passed
    verdict: str  # as `Audit.verdict`: a failed demand precedes an error
    sentence: str  # the verdict as a sentence
    exit_code: int  # that of `tcdp-audit check`: 0, 1 or 3
    exposed: int | None  # the people whom failing demands expose, each once; None if nothing fails or if not counted
    release: str  # the name of the audited table
    release_sha256: str | None  # its digest; None for a table that has none, such as one in a database
    records: int | None  # how many it has; None for tables of figures
    policy: str  # the policy's file as it was given, otherwise its name
    policy_sha256: str
    result_sha256: str  # the digest of the JSON result, the `proof.sha256` in it
    audited_at: str  # the time in UTC, as ISO 8601
    version: str  # of tcdp-audit


@dataclass(frozen=True, kw_only=True, repr=False)
class Audit:
    """All outcomes of a release under a policy.

    Args:
        outcomes: structure first, then the policy's expectations in its order.
        release: the audited table.
        policy: its policy.
        plugins: the plugins in use.
        companions: the tables that the release was compared with, by their name in the policy.
        files: the files in addition to the tables that the policy names: hierarchies, a schema, a suite.
        variants: the verdicts under every combination of conventions, if requested.
        change_log: the log of the remedies that made the release, if any did.
        remedy_trial: a trial of remedies, if requested and a demand fails.
        figure_trial: a trial of changes of tables of figures, if requested and a demand on their cells fails.
        exposed: the number of people whom failing demands expose, each counted once; None if nothing fails, or if they
            were not counted.
        columns: the declaration and figures of each column.
        column_risks: what each quasi-identifier adds to the risk, the most first; empty if not measured.
        scenarios: the scenarios of the policy, each with the people exposed to it; empty without any.
        figures: the released tables of figures by name, as they were read; empty without any.
        run: who ran the audit, and with which command.
        unused_companions: the tables that the policy names, or that were given, and that no demand asked for, by name.
        audited_at: the time in UTC; SOURCE_DATE_EPOCH if that is set.
    """

    outcomes: tuple[Outcome, ...]
    release: Table
    policy: Policy
    plugins: Participants
    companions: Mapping[str, Table] = field(default_factory=dict)
    files: tuple[NamedFile, ...] = ()
    variants: tuple[ConventionVariant, ...] = ()
    change_log: ChangeLog | None = None
    remedy_trial: RemedyTrial | None = None
    figure_trial: FigureTrial | None = None
    exposed: ExposureCount | None = None
    columns: tuple[AuditedColumn, ...] = ()
    column_risks: tuple[ColumnRisk, ...] = ()
    scenarios: tuple[ScenarioResult, ...] = ()
    figures: Mapping[str, PublishedTable] = field(default_factory=dict)
    run: Run = field(default_factory=Run)
    unused_companions: tuple[str, ...] = ()
    audited_at: datetime = field(default_factory=now)

    def __post_init__(self) -> None:
        """Make the mapping read-only."""
        freeze(self, "companions", "figures")

    def __repr__(self) -> str:
        """The status, and a line for each outcome that matters, without cells."""
        return as_text(f"<Audit of {self._about}: {self.status}>", [one.as_row() for one in self._displayed])

    def _repr_html_(self) -> str:
        """The verdict and a table of the outcomes, for notebooks."""
        rows = [one.as_row() for one in self._displayed]
        verdict, sentence = verdict_title(self), verdict_sentence(self)
        return as_html(rows, state=self.verdict, verdict=verdict, sentence=sentence, about=self._about)

    def to_frame(self) -> pd.DataFrame:
        """The outcomes as a pandas frame, a row each, without cells.

        Returns:
            Columns `kind` ("columns", "expectation" or "schema"), `check`, `attribute`, `status`, `severity`,
            `observed`, `comparison`, `threshold`, `groups_failing`, `groups`, `records_failing`, `records`, `message`;
            with tables of figures also `cells_failing` and `cells`. Figures are floats, counts are `Int64`; absent
            figures are missing.

        Raises:
            UsageError: pandas is not installed.
        """
        from tcdp_audit.core.results.frame import frame_of  # noqa: PLC0415 - only where a frame is asked for

        return frame_of(self.outcomes)

    @property
    def _about(self) -> str:
        return f"{visible(self.release.name)} ({self.size})"

    @property
    def _displayed(self) -> Sequence[Outcome]:
        """The expectations, and the findings on columns that are not passed."""
        return [*self.expectations, *(one for one in self.structure if one.as_row().matters)]

    @property
    def status(self) -> str:
        """Error (incomplete), failed, measured (no demand that counts can fail) or passed; error precedes failed.

        A demand that only warns does not count here; it can in `exit_code`.
        """
        return status_of(self.outcomes)

    @property
    def verdict(self) -> str:
        """The conclusion for readers: as `status`, but failed if a demand fails.

        A release that fails a demand is not fit for release, even if other demands could not be checked. Programs use
        `status` and `exit_code`, where an error precedes a failure.
        """
        return verdict_of(self)

    @property
    def known_facts(self) -> str:
        """The sentence that names the known facts: `The four known facts are age band, sex, 'zip' and month`.

        Empty where no sentence of `with_known_facts` needs it.
        """
        return known_facts(self)

    def with_known_facts(self) -> Audit:
        """The audit with sentences that say `the four known facts` where they list all quasi-identifiers as known."""
        return with_known_facts(self)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions under which a release that passes is fit; with any, it is not simply fit for release."""
        return conditions_of(JudgedOutcome(one.check, one.source, one.status, one.details) for one in self.outcomes)

    @property
    def tally(self) -> DemandTally:
        """The numbers of demands by their results."""
        return tally_of(self.outcomes)

    @property
    def linked_tables(self) -> TablesOverview | None:
        """The tables of a release of several with their links, and who is alone with them; None for one table."""
        from tcdp_audit.core.results.linked_tables import tables_overview  # noqa: PLC0415 - only for several tables

        return None if self.policy.document.tables is None else tables_overview(self)

    @cached_property
    def demand_groups(self) -> tuple[DemandGroup, ...]:
        """The demands of one check that differ in their columns, scenarios or tables only, five of a group or more."""
        from tcdp_audit.core.results.demand_groups import groups_of  # noqa: PLC0415 - only where results are shown

        return groups_of(self)

    @property
    def has_records(self) -> bool:
        """Whether the release has records; otherwise it consists of tables of figures, or of fitted models."""
        return self.policy.document.has_records

    @property
    def sizes_of_figures(self) -> dict[str, dict[str, int]]:
        """The size of each table of figures, see `linked_tables.sizes_of_figures`; empty without any."""
        from tcdp_audit.core.results.linked_tables import sizes_of_figures  # noqa: PLC0415 - only for such tables

        return sizes_of_figures(self.figures) if self.figures else {}

    @property
    def conventions(self) -> Mapping[str, Any]:
        """The conventions that apply, by name: of records, of figures, or of both."""
        return _applied(self.policy)

    @property
    def models(self) -> Sequence[str]:
        """The fitted models whose output is released, by name."""
        return list(self.policy.document.models or {})

    @property
    def size(self) -> str:
        """The size of the release in words: its records and columns, or its tables of figures and models."""
        from tcdp_audit.core.results.linked_tables import size_of_figures  # noqa: PLC0415 - likewise

        of_figures = size_of_figures(self.sizes_of_figures, self.models)
        return "; ".join(filter(None, (self.release.size if self.has_records else "", of_figures)))

    @property
    def flips(self) -> tuple[int, ...] | None:
        """The positions, in the policy's `expect`, of demands that another convention would decide differently.

        None if no other convention was tried; see `variants`.
        """
        return tuple(flips(self.variants)) if self.variants else None

    @property
    def passed(self) -> bool:
        """True only if every expectation was evaluated, a demand that counts could fail, and all that count hold."""
        return self.status == "passed"

    @property
    def expectations(self) -> Sequence[Outcome]:
        """The outcomes of the policy's expectations."""
        return [one for one in self.outcomes if not one.is_structural]

    @property
    def structure(self) -> Sequence[Outcome]:
        """The outcomes of the core's checks of the columns."""
        return [one for one in self.outcomes if one.is_structural]

    @property
    def warnings(self) -> Sequence[Outcome]:
        """Failures that only warn."""
        return [one for one in self.outcomes if one.is_warning]

    @property
    def _tables(self) -> dict[str, Path]:
        """The files of the tables that were read, by their names in messages."""
        parts = {f"the table {name!r}": table for name, table in self.release.tables.items()}
        tables = {**(parts or {"the release": self.release})}
        tables |= {f"the {name}": table for name, table in self.companions.items()}
        if self.change_log is not None:
            tables["the release before it was repaired"] = self.change_log.input
        return {name: Path(table.uri) for name, table in tables.items() if table.sha256 is not None}

    @property
    def summary(self) -> dict[str, int]:
        """The number of outcomes of each status."""
        tally = Counter(one.status for one in self.outcomes)
        keys = {"passed": Status.PASSED, "failed": Status.FAILED, "errors": Status.ERROR}
        rest = {"skipped": Status.SKIPPED, "measured": Status.MEASURED}
        return {name: tally[status] for name, status in {**keys, **rest}.items()}

    def exit_code(self, *, fail_on_warning: bool = False, allow_vacuous: bool = False) -> int:
        """0 passed, 1 an expectation failed, 3 the audit is incomplete or no demand that counts can fail.

        Args:
            fail_on_warning: demands of severity warning count as well.
            allow_vacuous: accept an audit without a demand that can fail.
        """
        judges = is_any_judged(self.outcomes, Severity.ERROR, *([Severity.WARNING] if fail_on_warning else []))
        if self.status == "error" or not (judges or allow_vacuous or self.status == "failed"):
            return 3
        return 1 if self.status == "failed" or (fail_on_warning and self.warnings) else 0

    def raise_for_failures(self) -> None:
        """Raise an error unless the audit passed.

        Raises:
            ExpectationsFailedError: it did not pass; the message has a line for each failure, each error, and each
                demand that nothing can fail.
        """
        require_passed("the audit", self.outcomes)

    def metadata(self) -> AuditMetadata:
        """The entries that a pipeline or a catalogue keeps about an audit, as JSON has them.

        Three of them are enough in most places: `verdict`, `sentence` and `exposed`. The digests of release, policy and
        result tie the entries to what was audited.

        Returns:
            A flat dictionary of texts, integers and None, without a cell; see `AuditMetadata`.

        Cost: that of `as_json`, whose digest is `result_sha256`.
        """
        result = self.as_json()
        return {
            "status": self.status,
            "verdict": self.verdict,
            "sentence": verdict_sentence(self),
            "exit_code": self.exit_code(),
            "exposed": None if self.exposed is None else self.exposed.people,
            "release": visible(self.release.name),
            "release_sha256": self.release.sha256,
            "records": self.release.records if self.has_records else None,
            "policy": visible(self.policy.name if self.policy.path is None else str(self.policy.path)),
            "policy_sha256": self.policy.sha256,
            "result_sha256": result[PROOF]["sha256"],
            "audited_at": result["audited_at"],
            "version": result["tool"]["version"],
        }

    def as_json(self) -> dict[str, Any]:
        """The result in the published JSON contract."""
        result = self._content()
        return {**result, PROOF: {"sha256": digest_of_result(result), "needs_policy": self._is_read_as_declared}}

    @property
    def _is_read_as_declared(self) -> bool:
        """Whether the policy says how cells are read: which are missing or suppressed, or how a file is written."""
        conventions = self.policy.document.conventions
        declared = conventions.model_dump(include={"missing_tokens", "suppressed_tokens"}, exclude_defaults=True)
        return bool(declared) or self.policy.document.read_as is not None

    def _content(self) -> dict[str, Any]:
        return {
            "schema_version": SCHEMA_VERSION,
            "status": self.status,
            "verdict": {
                "state": self.verdict,
                "title": verdict_title(self),
                "sentence": verdict_sentence(self),
            },
            "exposed": None if self.exposed is None else self.exposed.as_json(self.outcomes),
            "audited_at": self.audited_at.isoformat().replace("+00:00", "Z"),
            "run": self.run.as_json(),
            "tool": tool(),
            "plugins": [info.as_json() for info in self.plugins.infos],
            "release": self.release.as_json(),
            "companions": {name: table.as_json() for name, table in self.companions.items()},
            "policy": {
                "uri": None if self.policy.path is None else str(self.policy.path),
                "sha256": self.policy.sha256,
                **_stated(self.policy),
            },
            **({"files": [one.as_json() for one in self.files]} if self.files else {}),
            "columns": [one.as_json() for one in sorted(self.columns, key=lambda one: one.name)],
            **({"column_risks": [one.as_json() for one in self.column_risks]} if self.column_risks else {}),
            **({"scenarios": [one.as_json() for one in self.scenarios]} if self.scenarios else {}),
            **({"tables_of_figures": self.sizes_of_figures} if self.figures else {}),
            **({"models": list(self.models)} if self.models else {}),
            "conventions": _conventions(self.policy),
            "unit_name": self.policy.document.unit_name,
            "flips": None if self.flips is None else list(self.flips),
            "summary": self.summary,
            "outcomes": [one.as_json() for one in self.outcomes],
            **({"variants": [one.as_json() for one in self.variants]} if self.variants else {}),
            **({} if self.change_log is None else {"change_log": self.change_log.as_json()}),
            **({} if self.remedy_trial is None else {"remedy_trial": self.remedy_trial.as_json()}),
            **({} if self.figure_trial is None else {"figure_trial": self.figure_trial.as_json()}),
        }

    def to_json(self) -> str:
        """The result as JSON text, with a line for each key and each outcome."""
        result = self.as_json()
        outcomes = ",\n  ".join(_compact(one) for one in result.pop("outcomes"))
        lines = [f' "{key}": {_compact(value)}' for key, value in result.items()]
        return "{\n" + ",\n".join([*lines, f' "outcomes": [\n  {outcomes}\n ]']) + "\n}\n"

    @overload
    def render(self, suffix: Literal[".docx", ".pdf"], language: str = ENGLISH) -> bytes: ...

    @overload
    def render(
        self,
        suffix: Literal[
            ".html", ".md", ".json", ".junit.xml", ".sarif", ".codequality.json", ".openlineage.jsonl", ".odcs.yaml"
        ],
        language: str = ENGLISH,
    ) -> str: ...

    @overload
    def render(self, suffix: str, language: str = ENGLISH) -> Any: ...

    def render(self, suffix: str, language: str = ENGLISH) -> str | bytes:
        """The audit in the format of a file extension: text, or bytes for a format that is no text.

        Args:
            suffix: the extension, such as `.html`.
            language: the language of reports for people, such as `de`; formats for programs are always English.

        Raises:
            UsageError: no reporter has it, or there are no reports in this language.
            PluginError: the reporter fails.
        """
        reporters = self.plugins.reporters.values()
        chosen = next((one for one in reporters if one.suffix == suffix.lower()), None)
        if chosen is None:
            known = ", ".join(sorted(one.suffix for one in reporters))
            raise UsageError(f"no report format for {suffix!r}; known are {known}")
        with translating(language), blaming_reporter(chosen.name, self.plugins):
            self._offer_translations()
            return _content(chosen.render(self))

    def _offer_translations(self) -> None:
        """Offer the translations of what checks say to the report that is being written, if it is not in English."""
        if active_translations() is None:
            return
        from tcdp_audit.core.check.translation import offer_outcome  # noqa: PLC0415 - only for other languages
        from tcdp_audit.core.check.vacuous import undemanded, undemanded_sentence  # noqa: PLC0415 - likewise

        if columns := [name for name in undemanded(self.policy) if name in {one.name for one in self.columns}]:
            undemanded_sentence(self.policy, columns)
        checks = self.plugins.checks
        for one in self.outcomes:
            if one.check in checks:
                offer_outcome(checks[one.check].title, checks[one.check].sentences, one)

    @property
    def shows_values(self) -> bool:
        """Whether it holds cells of the release, which it does only if requested."""
        of_classes = any(one.cells is not None for outcome in self.outcomes for one in outcome.worst)
        return of_classes or any(one.figures is not None for outcome in self.outcomes for one in outcome.failing_cells)

    def sections(self, *, as_html: bool = False) -> Sequence[FilledSection]:
        """The sections of a report for people, in order, without empty ones.

        Args:
            as_html: whether sections with HTML give that; otherwise all give blocks.

        Raises:
            PluginError: a section fails.
        """
        from tcdp_audit.core.results.reporter import fill_section  # noqa: PLC0415 - only for reports

        sections = []
        for name, section in sorted(self.plugins.report_sections.items(), key=lambda one: one[1].order):
            provider = self.plugins.provider_of("tcdp_audit_report_sections", name)
            with blaming(f"the report section {name!r}", provider):
                sections.append(fill_section(section, self, as_html=as_html))
        return [one for one in sections if one.html or one.blocks]

    def write(self, path: str | Path, language: str = ENGLISH) -> None:
        """Write a report atomically, in the format of the name's suffix.

        Args:
            path: its file.
            language: the language of reports for people, such as `de`.

        Raises:
            UsageError: it cannot be written, no reporter has the extension, there are no reports in this language, or
                it is a file that was audited or read.
        """
        from tcdp_audit.core.results.reporter import reporter_of  # noqa: PLC0415 - only for reports

        require_own_files([("the report", Path(path))], {**files_of(self.policy), **self._tables})
        chosen = reporter_of(Path(path), self.plugins.reporters.values())
        write_atomically(Path(path), self.render(chosen.suffix, language))


def render_several(reporter: Reporter, results: Sequence[Audit | Unaudited], plugins: Participants) -> str:
    """All audits of a run as one text.

    Args:
        reporter: a reporter with `render_several`.
        results: the audits, and the policies that could not be audited.
        plugins: the plugins that provide the reporter.

    Raises:
        UsageError: the format holds one audit.
        PluginError: the reporter fails.
    """
    if reporter.render_several is None:
        raise UsageError(f"a report in {reporter.suffix} holds one audit")
    with blaming_reporter(reporter.name, plugins):
        return _text(reporter.render_several(results))


def blaming_reporter(name: str, plugins: Participants) -> AbstractContextManager[None]:
    """Convert the errors of a reporter's code to a `PluginError` that names it."""
    return blaming(f"the report format {name!r}", plugins.provider_of("tcdp_audit_reporters", name))


def _conventions(policy: Policy) -> dict[str, str]:
    """The conventions that apply, by name, without the tokens of missing and suppressed cells."""
    return {name: value for name, value in _applied(policy).items() if isinstance(value, str)}


def _stated(policy: Policy) -> dict[str, Any]:
    """The policy's own statements on its release: purpose, recipients, and who approved it; only those that it has."""
    document, approval = policy.document, policy.document.approval
    stated: dict[str, Any] = {"purpose": document.purpose, "recipients": document.recipients}
    if approval is not None:
        stated["approved_by"] = {"by": approval.by, **({"date": approval.date.isoformat()} if approval.date else {})}
    return {name: one for name, one in stated.items() if one is not None}


OF_FIGURES = frozenset({"negative", "boundary", "integers"})  # the conventions of checks on figures


def _applied(policy: Policy) -> dict[str, Any]:
    """The conventions that apply, by name: without records only those of figures."""
    applied = policy.document.applied_conventions
    return {name: one for name, one in applied.items() if policy.document.has_records or name in OF_FIGURES}


def _text(rendered: object) -> str:
    if not isinstance(rendered, str):
        raise TypeError(type(rendered).__name__)
    return rendered


def _content(rendered: object) -> str | bytes:
    return rendered if isinstance(rendered, bytes) else _text(rendered)


def _compact(value: Any) -> str:
    return visible_json(json.dumps(value, ensure_ascii=False))
