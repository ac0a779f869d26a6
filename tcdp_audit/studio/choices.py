"""The files and the choices of a workbench, and the words for its decisions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tcdp_audit.api import Plugins, Specification
from tcdp_audit.drafting import Decision
from tcdp_audit.drafting.draft import file_name_of
from tcdp_audit.plugin.engine import UsageError
from tcdp_audit.plugin.sentences import Comparison
from tcdp_audit.studio.decisions import ENDING

LIMITS = {
    Comparison.AT_LEAST: "at least",
    Comparison.AT_MOST: "at most",
    Comparison.BELOW: "less than",
    Comparison.ABOVE: "more than",
}
WORDS = {"approved_by": "approved by"}
POLICY_ENDING = ".tcdp.yaml"


@dataclass(frozen=True)
class Place:
    """The files that a workbench is about.

    Args:
        release: the table as the call names it; None for the one that the policy names.
        policy: the policy's file, which need not be there.
        is_given: whether the call names the policy.
    """

    release: str | None
    policy: Path
    is_given: bool

    @classmethod
    def of(cls, release: str | None, policy: str | None) -> Place:
        """The files of a call.

        Raises:
            UsageError: it names neither a table nor a policy.
        """
        if policy is not None:
            return cls(release, Path(policy), is_given=True)
        if release is None:
            raise UsageError("name a table, or a policy that names its tables, with --policy")
        folder = Path() if "://" in release else Path(release).parent
        return cls(release, folder / f"{file_name_of(release)}{POLICY_ENDING}", is_given=False)

    @property
    def stem(self) -> Path:
        """The beginning of the names of all files that are written."""
        name = self.policy.name.removesuffix(POLICY_ENDING).removesuffix(".yaml")
        if self.release is not None and "://" not in self.release:
            return Path(self.release).parent / file_name_of(self.release)
        return self.policy.parent / name

    @property
    def title(self) -> str:
        """The table as a person calls it."""
        return self.policy.name if self.release is None else Path(self.release).name

    @property
    def decisions(self) -> Path:
        """The file of the decisions."""
        return self.stem.with_name(self.stem.name + ENDING)


@dataclass
class Choices:
    """The choices of a person that are no part of the policy.

    Args:
        accepted: the columns whose role was looked at, each with the time.
        levels: the levels of hierarchies that are tried out, by column.
        unknown: the quasi-identifiers that the intruder is taken not to know, for a trial.
        point: the point of the frontier that was taken, in words; empty where none was.
        values_shown: the time at which a person asked to see cells; empty where no one did.
        confirmed: the questions that a person has answered with yes, by their places.
        signer: who answers them and signs, by name and office; empty where no one has said so.
        signed_at: the time of the signature; empty where there is none.
        written: the files of the last release, by what they are.
    """

    accepted: dict[str, str] = field(default_factory=dict)
    levels: dict[str, int] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    point: str = ""
    values_shown: str = ""
    confirmed: list[str] = field(default_factory=list)
    signer: str = ""
    signed_at: str = ""
    written: dict[str, str] = field(default_factory=dict)


def declaration(data: Mapping[str, Any], column: str) -> tuple[tuple[str, ...], Mapping[str, Any]]:
    """The place of a column's declaration in a policy, and what it says; nothing where there is none yet."""
    table, _, name = column.partition(".")
    tables = data.get("tables") or {}
    path = ("tables", table, "attributes", name) if table in tables else ("attributes", column)
    for key in path:
        data = data.get(key) or {}
    return path, data


def roles_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """The roles of a policy that may be unsound, by column; of several tables as `table.column`."""
    roles = {name: (one or {}).get("role") for name, one in (data.get("attributes") or {}).items()}
    for table, declared in (data.get("tables") or {}).items():
        own = (declared or {}).get("attributes") or {}
        roles |= {f"{table}.{name}": (one or {}).get("role") for name, one in own.items()}
    return roles


def words_of(decision: Decision, plugins: Plugins) -> str:
    """A decision in a few words: `age: sensitive`, `k-anonymity: at least 10`, `seed: 3`."""
    path, entry = decision.path, decision.old if decision.new is None else decision.new
    removed = "removed" if decision.new is None else ""
    if "attributes" in path:
        column = str(path[-1]) if path[0] == "attributes" else f"{path[1]}.{path[-1]}"
        role = entry.get("role", "") if isinstance(entry, Mapping) else ""
        return f"{column}: {removed or str(role).replace('_', ' ')}"
    if path[0] == "expect" and len(path) > 1:
        if len(path) == 2 and isinstance(entry, Mapping):
            ((name, entry),) = entry.items()
        else:
            name = str(path[-1])
        check = plugins.checks.get(str(name))
        words = _figures(entry) if check is None else _demand(check, entry)
        return f"{name if check is None else check.title}: {removed or words or 'only measured'}"
    if path == ("remedy",) and isinstance(entry, list | tuple):
        return f"remedies: {removed or ', '.join(_remedy(one, plugins) for one in entry)}"
    return f"{WORDS.get(str(path[0]), path[0]) if path else ''}: {removed or _figures(entry)}"


def _demand(check: Specification[Any], entry: Any) -> str:
    """The parameters of a demand in a few words, its threshold as people say it."""
    if not isinstance(entry, Mapping):
        return _figures(entry)
    name, comparison = check.headline.parameter, check.headline.comparison
    own = "" if entry.get(name) is None else f"{LIMITS[comparison]} {entry[name]}"
    return ", ".join(filter(None, (own, _figures({key: one for key, one in entry.items() if key != name}))))


def _remedy(entry: Any, plugins: Plugins) -> str:
    """An entry of `remedy` in a few words."""
    if not isinstance(entry, Mapping):
        return plugins.remedies[entry].title if entry in plugins.remedies else str(entry)
    ((name, given),) = entry.items()
    title, words = plugins.remedies[name].title if name in plugins.remedies else name, _figures(given)
    return f"{title} ({words})" if words else str(title)


def _figures(entry: Any) -> str:
    """The parameters of an entry of a policy in a few words, without the reason."""
    if isinstance(entry, Mapping):
        inner = (f"{name} {_figures(one)}" for name, one in entry.items() if name != "reason")
        return ", ".join(inner).replace("_", " ").strip()
    if isinstance(entry, list | tuple):
        return ", ".join(map(_figures, entry))
    return "" if entry is None else str(entry)


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
