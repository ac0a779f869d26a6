"""One setting of the thresholds: the release is repaired by `fix`, written, read back, audited, and removed again.

Several linked tables are written to a folder, and audited together.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcdp_audit.api import (
    AuditInputs,
    Policy,
    Remediation,
    Scratch,
    Session,
    describe_table,
    file_extension,
    require_table_file,
    write_atomically,
)
from tcdp_audit.core.results.change_log import Step, flow
from tcdp_audit.core.results.linked_tables import average_risk_of_tables
from tcdp_audit.core.results.setting_trial import Attempt, Setting, SettingTrial
from tcdp_audit.frontiers.varied import Variation
from tcdp_audit.plugin.engine import DataError, UsageError

Task = tuple[Setting, bool]  # the thresholds, and whether the remedies are chosen


@dataclass(frozen=True)
class Repairs:
    """The inputs of the repair of every setting."""

    session: Session  # the release and the tables that it is compared with
    variation: Variation  # the policy, and what is varied of it
    sha256: str | None  # digest of the release; None where it has none
    examples: tuple[int, ...] = ()  # the records that are shown before and after

    def tried(
        self, task: Task, lost: Mapping[str, float], progress: Callable[[str, int, int], None] | None = None
    ) -> SettingTrial:
        """Repair, write and audit the release under one setting.

        Args:
            task: the setting.
            lost: the loss of each remedy under laxer settings, by its entry in a policy.
            progress: called with (step, done, in all).

        Raises:
            TcdpAuditError: as `fix`.
            DataError: the release is not the one that the first setting was tried on.
        """
        setting, planned = task
        policy, lines = self.variation.under(setting, planned=planned), "; ".join(self.variation.lines(setting))
        report = progress and (lambda step, done, total: progress(f"{step}, with {lines}", done, total))
        with Scratch() as folder:
            remediation = self.session.fix(policy, output=folder / self._output(policy), lost=lost, progress=report)
            if remediation.log.input.sha256 != self.sha256:
                raise DataError("the release has changed while it was worked on; start again")
            return self._trial(task, remediation)

    def _output(self, policy: Policy) -> str:
        """The name of the file of a repaired release, or of the folder of several tables."""
        if policy.document.tables is not None:
            return "release"
        given = self.session.given["release"]
        return f"release{kind_of(policy.document.release if given is None else given)}"

    def _trial(self, task: Task, remediation: Remediation) -> SettingTrial:
        setting, planned = task
        log = remediation.log
        needed = [line.removeprefix("- ") for step in log.steps for line in step.lines]
        return SettingTrial(
            setting=setting,
            planned=planned,
            status=remediation.after.status,
            reason=log.reason,
            remedies=tuple(_entry(one) for one in log.steps),
            titles=tuple(one.title for one in log.steps),
            expect=(*self.variation.lines(setting), *needed),
            figures=self.variation.figures(remediation.after.expectations),
            loss=log.loss,
            records=log.records,
            suppressed=log.suppressed,
            constant_columns=log.constant_columns,
            sha256="" if remediation.written is None else _digest(remediation),
            average_risk=average_risk_of_tables(remediation.after),
            examples=tuple(map(remediation.example, self.examples)),
            attempts=tuple(_attempt(one) for one in log.tried) if log.planned and len(log.steps) < 2 else (),
        )


def kind_of(release: Any) -> str:
    """The ending of the file that repaired releases are written to: the release's own where that can be written."""
    if not isinstance(release, str | Path) or "://" in str(release):
        return ".parquet"
    suffix = file_extension(Path(release)) + (".gz" if Path(release).suffix.lower() == ".gz" else "")
    try:
        require_table_file(Path(f"release{suffix}"))
    except UsageError:
        return ".parquet"
    return suffix


def kinds_of(inputs: AuditInputs) -> Any:
    """The endings of the files that repaired releases are written to: one, or of several tables one for each by name.

    A table in memory has the kind of the file that the policy names for it.
    """
    document = inputs.policy.document
    if document.tables is None:
        return kind_of(inputs.release)
    opened = describe_table(inputs.engine).tables
    return {
        name: kind_of(one.file if opened[name].in_memory else opened[name].uri) for name, one in document.tables.items()
    }


def _entry(step: Step) -> str:
    return f"{step.remedy}: {flow(step.parameters)}"


def _attempt(step: Step) -> Attempt:
    keeps = not step.error and not step.failing and bool(step.outcomes)
    return Attempt(step.remedy, step.title, flow(step.parameters), step.loss, keeps, step.error, step.at_least)


def _digest(remediation: Remediation) -> str:
    """The digest of the written file; of a folder that over its tables, as an audit of them gives it."""
    path, release = remediation.written, remediation.after.release
    if release.tables:
        return release.sha256 or ""
    assert path is not None  # noqa: S101 - only asked for what was written
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


FORM = 1
NO_FILE = "this is no file of an interrupted frontier"


@dataclass(frozen=True)
class Saved:
    """The file of one run, None where nothing is saved, and the digest of everything that decides its results."""

    path: Path | None
    key: str

    def trials(self, tasks: Iterable[Task]) -> dict[Task, SettingTrial]:
        """The trials that an earlier run has finished; none where there is no file.

        Raises:
            UsageError: it cannot be read, is damaged, or belongs to another release, policy, version or call.
        """
        if self.path is None or not self.path.exists():
            return {}
        other = "name another file, or remove this one"
        try:
            saved = json.loads(self.path.read_text(encoding="utf-8"))
            form, key, entries, digest = (saved[name] for name in ("frontier", "key", "trials", "sha256"))
        except OSError as error:
            raise UsageError(f"{self.path}: cannot be read: {error.strerror}") from None
        except (ValueError, KeyError, TypeError, RecursionError):
            raise UsageError(f"{self.path}: {NO_FILE}; {other}") from None
        if (form, key) != (FORM, self.key):
            said = "it belongs to another release, policy, version or set of thresholds"
            raise UsageError(f"{self.path}: {said}; {other}")
        if digest != _digest_of_entries(entries):
            raise UsageError(f"{self.path}: it was damaged or changed; {other}")
        known = {_name(task): task for task in tasks}
        try:
            return {known[name]: SettingTrial.from_json(known[name][0], entry) for name, entry in entries.items()}
        except (ValueError, KeyError, TypeError, AttributeError):
            raise UsageError(f"{self.path}: {NO_FILE}; {other}") from None

    def keep(self, trials: Mapping[Task, SettingTrial]) -> None:
        """Write what is finished; the file appears whole or stays as it was."""
        if self.path is not None:
            entries = {_name(task): trial.as_json() for task, trial in trials.items()}
            content = {"frontier": FORM, "key": self.key, "sha256": _digest_of_entries(entries), "trials": entries}
            write_atomically(self.path, json.dumps(content) + "\n")


def _name(task: Task) -> str:
    setting, planned = task
    return " ".join([*map(str, setting), "planned" if planned else "named"])


def _digest_of_entries(entries: Any) -> str:
    return hashlib.sha256(json.dumps(entries, sort_keys=True).encode()).hexdigest()
