"""The audit that a JSON result holds, or an HTML report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from tcdp_audit.core.base.embedded_result import embedded, unpacked
from tcdp_audit.core.base.errors import ResultError
from tcdp_audit.core.base.outcome import SCHEMA, STRUCTURE, SUITE
from tcdp_audit.core.base.provenance import NamedFile, Table
from tcdp_audit.core.base.visible import visible
from tcdp_audit.core.results.strict_json import faults, parsed, text_of

SCHEMA_VERSION = 1
FAULTS = 3  # that one message names
NAMED = "name a JSON result, or an HTML report of one audit"

Entry = Mapping[str, Any]  # an outcome, as JSON has it


@dataclass(frozen=True, repr=False)
class WrittenAudit:
    """An audit as it was written. What it says is a claim: nothing has been recomputed.

    Args:
        path: the file.
        result: the result in the published JSON contract, with whatever a later version has added to it.
        page: the HTML report that holds it, to the letter; None for a JSON result.
    """

    path: Path
    result: Mapping[str, Any]
    page: str | None = None

    def __repr__(self) -> str:
        """The file and the status."""
        return f"<WrittenAudit {visible(self.path.name)}: {self.status}>"

    @property
    def status(self) -> str:
        """What came of it: passed, failed, error or measured."""
        return str(self.result["status"])

    @property
    def verdict(self) -> str:
        """What it concludes: see `verdict_in`."""
        return verdict_in(self.result)

    @property
    def constant_columns(self) -> Sequence[str]:
        """The columns that remedies emptied, as it says; none in older results."""
        return useless_in(self.result)

    @property
    def release(self) -> Table:
        """What was audited."""
        return table_of(self.result["release"])

    @property
    def companions(self) -> dict[str, Table]:
        """What it was compared with."""
        return {name: table_of(entry) for name, entry in self.result["companions"].items()}

    @property
    def files(self) -> Sequence[NamedFile]:
        """The files in addition to the tables that its policy named; older results name none."""
        return files_in(self.result)

    @property
    def policy_path(self) -> Path | None:
        """The policy's file; None for one that a program gave."""
        uri = self.result["policy"]["uri"]
        return None if uri is None else Path(uri)

    @property
    def policy_name(self) -> str:
        """The policy's file name."""
        return "policy" if self.policy_path is None else self.policy_path.name

    @property
    def version(self) -> str:
        """The version of tcdp-audit that wrote it."""
        return str(self.result["tool"]["version"])

    @cached_property
    def audited_at(self) -> datetime:
        """When it was made."""
        return datetime.fromisoformat(self.result["audited_at"])

    @property
    def outcomes(self) -> Sequence[Entry]:
        """Every outcome."""
        return list(self.result["outcomes"])

    @property
    def names_cells(self) -> bool:
        """Whether it names classes by their cells, as `--show-values` has it."""
        return any("cells" in one for entry in self.outcomes for one in entry["worst"])


def verdict_in(result: Mapping[str, Any]) -> str:
    """The verdict of a result: its status, but failed where it is incomplete and says that a demand fails as well.

    No other word of a result about its verdict is believed, so none makes it better than its status.
    """
    verdict = result.get("verdict")
    state = verdict.get("state") if isinstance(verdict, Mapping) else None
    return "failed" if result["status"] == "error" and state == "failed" else str(result["status"])


def useless_in(result: Mapping[str, Any]) -> list[str]:
    """The columns that remedies emptied, as a result says; none in older ones."""
    log = result.get("change_log")
    names = log.get("constant_columns") if isinstance(log, Mapping) else None
    return [one for one in names if isinstance(one, str)] if isinstance(names, list) else []


def files_in(result: Mapping[str, Any]) -> list[NamedFile]:
    """The files in addition to the tables that a result names; none in older ones."""
    names = ("kind", "attribute", "uri", "sha256")
    return [NamedFile(*(one[name] for name in names)) for one in result.get("files", [])]


def table_of(entry: Entry) -> Table:
    """A table of a result."""
    return Table(entry["uri"], entry["sha256"], entry["records"], entry["columns"])


def is_structural(entry: Entry) -> bool:
    """Whether an outcome is the core's own, on the columns."""
    return bool(entry["source"] == STRUCTURE)


def is_quality(entry: Entry) -> bool:
    """Whether an outcome is that of a schema or a suite."""
    return entry["source"] in (SCHEMA, SUITE)


def read_audit(path: Path) -> WrittenAudit:
    """The audit that a file holds: a JSON result, or an HTML report with the result in it.

    Raises:
        UsageError: the file does not exist or cannot be read.
        ResultError: it holds no result.
    """
    return audit_in(text_of(path), path)


def audit_in(text: str, path: Path) -> WrittenAudit:
    """The same, of the text of a file.

    Raises:
        ResultError: it holds no result.
    """
    start = text.lstrip()[:1]
    if start not in ("{", "<"):
        raise ResultError(f"{path}: holds no result of tcdp-audit; {NAMED}")
    if start == "{":
        return WrittenAudit(path, sound(parsed(text, str(path)), str(path)))
    places = embedded(text)
    if len(places) != 1:
        what = "several results" if places else "no result of tcdp-audit"
        raise ResultError(f"{path}: holds {what}; {NAMED}")
    name, [(begin, end)] = f"{path}, its result", places
    return WrittenAudit(path, sound(parsed(unpacked(text[begin:end], name), name), name), text)


def sound(value: Any, name: str) -> Mapping[str, Any]:
    """A value that has the form of a result.

    Args:
        value: what JSON gave.
        name: what messages call it.

    Raises:
        ResultError: it has not, or it is of another version of the contract.
    """
    version = value.get("schema_version") if isinstance(value, dict) else None
    if isinstance(version, int) and version != SCHEMA_VERSION:
        raise ResultError(f"{name}: its schema_version is {version}; this tcdp-audit reads {SCHEMA_VERSION}")
    messages = list(islice(faults(value), FAULTS))
    if messages:
        raise ResultError(f"{name}: no result of tcdp-audit: {'; '.join(messages)}")
    try:
        whole = datetime.fromisoformat(value["audited_at"]).tzinfo is not None
    except ValueError:
        whole = False
    if not whole:
        raise ResultError(f"{name}: no result of tcdp-audit: audited_at: must be a time with its zone")
    return dict(value)
