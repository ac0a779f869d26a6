"""One setting of the thresholds: the release is repaired by `fix`, written, read back, audited, and removed again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcdp_audit.api import Options, Plugins, Remediation, Scratch, extension, fix_tables, require_table_file
from tcdp_audit.core.results.change_log import Step, flow
from tcdp_audit.core.results.setting_trial import Attempt, Setting, SettingTrial
from tcdp_audit.frontiers.varied import Variation
from tcdp_audit.plugin.engine import DataError, UsageError
from tcdp_audit.plugin.remedy import silent

Task = tuple[Setting, bool]  # the thresholds, and whether the remedies are chosen


@dataclass(frozen=True)
class Repairs:
    """What every setting is repaired from.

    Args:
        tables: release, original and population, as `fix` takes them.
        variation: the policy, and what is varied of it.
        plugins: the code that takes part.
        memory: budget in bytes.
        sha256: digest of the release; None where it has none.
    """

    tables: Mapping[str, Any]
    variation: Variation
    plugins: Plugins
    memory: int
    sha256: str | None

    def tried(
        self, task: Task, lost: Mapping[str, float], progress: Callable[[str, int, int], None] | None = None
    ) -> SettingTrial:
        """What comes of one setting.

        Args:
            task: it.
            lost: what remedies lost under laxer ones, by their entries in a policy.
            progress: called with (step, done, in all).

        Raises:
            TcdpAuditError: as `fix`.
            DataError: the release is not the one that the first setting was tried on.
        """
        setting, planned = task
        policy = self.variation.under(setting, planned=planned)
        release = self.tables["release"]
        with Scratch() as folder:
            file = folder / f"release{kind_of(policy.document.release if release is None else release)}"
            options = Options(self.memory, progress=progress or silent, samples=False)
            remediation = fix_tables(self.tables, policy, file, options, self.plugins, lost=lost)
            if remediation.log.input.sha256 != self.sha256:
                raise DataError("the release has changed while it was worked on; start again")
            return self._trial(task, remediation)

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
            sha256="" if remediation.written is None else _digest(remediation.written),
            attempts=tuple(_attempt(one) for one in log.tried) if log.planned and len(log.steps) < 2 else (),
        )


def kind_of(release: Any) -> str:
    """The end of the name of the file that repaired releases are written to: the release's own where that can be."""
    if isinstance(release, str | Path) and "://" not in str(release):
        suffix = extension(Path(release)) + (".gz" if Path(release).suffix.lower() == ".gz" else "")
        try:
            require_table_file(Path(f"release{suffix}"))
        except UsageError:
            return ".parquet"
        return suffix
    return ".parquet"


def _entry(step: Step) -> str:
    return f"{step.remedy}: {flow(step.parameters)}"


def _attempt(step: Step) -> Attempt:
    keeps = not step.error and not step.failing and bool(step.outcomes)
    return Attempt(step.remedy, step.title, flow(step.parameters), step.loss, keeps, step.error, step.at_least)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
