"""What an interrupted run has finished, in a file, so that the next one goes on from there. It holds no cell."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcdp_audit.api import write_atomically
from tcdp_audit.core.results.setting_trial import SettingTrial
from tcdp_audit.frontiers.trial import Task
from tcdp_audit.plugin.engine import UsageError

FORM = 1
NO_FILE = "this is no file of an interrupted frontier"


@dataclass(frozen=True)
class Saved:
    """The file of one run.

    Args:
        path: where it is; None where nothing is saved.
        key: digest of everything that decides what a run finds.
    """

    path: Path | None
    key: str

    def trials(self, tasks: Iterable[Task]) -> dict[Task, SettingTrial]:
        """What an earlier run has finished of these; nothing where there is no file.

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
        if digest != _digest(entries):
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
            content = {"frontier": FORM, "key": self.key, "sha256": _digest(entries), "trials": entries}
            write_atomically(self.path, json.dumps(content) + "\n")


def _name(task: Task) -> str:
    setting, planned = task
    return " ".join([*map(str, setting), "planned" if planned else "named"])


def _digest(entries: Any) -> str:
    return hashlib.sha256(json.dumps(entries, sort_keys=True).encode()).hexdigest()
