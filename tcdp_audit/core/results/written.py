"""The audit in a JSON result or an HTML report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from tcdp_audit.core.base.errors import ResultError
from tcdp_audit.core.base.frozen import FrozenDict, dataclass
from tcdp_audit.core.base.outcome import SCHEMA, STRUCTURE, SUITE
from tcdp_audit.core.base.provenance import NamedFile, Table, TableState, TableVersion
from tcdp_audit.core.base.words import visible
from tcdp_audit.core.results.linked_tables import size_of_figures
from tcdp_audit.core.results.strict_json import embedded, faults, parsed, text_of, unpacked

SCHEMA_VERSION = 1
FAULTS = 3  # faults that a message names
NAMED = "name a JSON result, or an HTML report of one audit"

Entry = Mapping[str, Any]  # an outcome in JSON


@dataclass(frozen=True, repr=False)
class WrittenAudit:
    """A written audit. Its content is a claim and is not recomputed.

    Args:
        path: the file.
        result: the result in the published JSON contract; it may have keys of later versions.
        page: the text of the HTML report that holds it; None for a JSON result.
    """

    path: Path
    result: Mapping[str, Any]
    page: str | None = None

    def __repr__(self) -> str:
        """The file and the status."""
        return f"<WrittenAudit {visible(self.path.name)}: {self.status}>"

    @property
    def status(self) -> str:
        """The status: passed, failed, error or measured."""
        return str(self.result["status"])

    @property
    def verdict(self) -> str:
        """The verdict; see `verdict_in`."""
        return verdict_in(self.result)

    @property
    def constant_columns(self) -> Sequence[str]:
        """The columns that remedies made constant; none in older results."""
        return useless_in(self.result)

    @property
    def release(self) -> Table:
        """The audited table."""
        return table_of(self.result["release"])

    @property
    def companions(self) -> dict[str, Table]:
        """The tables that it was compared with."""
        return {name: table_of(entry) for name, entry in self.result["companions"].items()}

    @property
    def files(self) -> Sequence[NamedFile]:
        """The files in addition to the tables that its policy named; older results name none."""
        return files_in(self.result)

    @property
    def figures(self) -> dict[str, Table]:
        """The tables of figures that are released next to records; none where the release consists of such tables."""
        companions = self.companions
        return {name: companions[name] for name in self.result.get("tables_of_figures", {}) if name in companions}

    @property
    def policy_path(self) -> Path | None:
        """The policy's file; None for one that a program passed."""
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
        """The time of the audit."""
        return datetime.fromisoformat(self.result["audited_at"])

    @property
    def outcomes(self) -> Sequence[Entry]:
        """Every outcome."""
        return list(self.result["outcomes"])

    @property
    def names_cells(self) -> bool:
        """Whether it names classes by their cells, or figures of failing cells, as with `--show-values`."""
        of_classes = any("cells" in one for entry in self.outcomes for one in entry["worst"])
        return of_classes or any("figures" in one for entry in self.outcomes for one in failing_cells_of(entry))

    @property
    def has_records(self) -> bool:
        """Whether its release has records; otherwise it consists of tables of figures, or of fitted models."""
        return has_records(self.result)

    @property
    def size(self) -> str:
        """The size of its release in words."""
        of_figures = size_of_figures(self.result.get("tables_of_figures", {}), self.result.get("models", ()))
        return "; ".join(filter(None, (self.release.size if self.has_records else "", of_figures)))


def has_records(result: Mapping[str, Any]) -> bool:
    """Whether the release of a result has records, and not only tables of figures or fitted models."""
    return bool(result["release"]["columns"]) or not ("tables_of_figures" in result or "models" in result)


def failing_cells_of(entry: Entry) -> Sequence[Entry]:
    """The failing cells that an outcome of tables of figures names; none of an outcome of records."""
    named = entry.get("failing_cells")
    return named if isinstance(named, list) else []


def verdict_in(result: Mapping[str, Any]) -> str:
    """The verdict of a result: its status, but failed if it is incomplete and a demand fails as well.

    Other statements of a result on its verdict are ignored, so none makes it better than its status.
    """
    verdict = result.get("verdict")
    state = verdict.get("state") if isinstance(verdict, Mapping) else None
    return "failed" if result["status"] == "error" and state == "failed" else str(result["status"])


def useless_in(result: Mapping[str, Any]) -> list[str]:
    """The columns that remedies made constant; none in older results."""
    log = result.get("change_log")
    names = log.get("constant_columns") if isinstance(log, Mapping) else None
    return [one for one in names if isinstance(one, str)] if isinstance(names, list) else []


def files_in(result: Mapping[str, Any]) -> list[NamedFile]:
    """The files, other than tables, that a result names; none in older results."""
    names = ("kind", "attribute", "uri", "sha256")
    return [NamedFile(*(one[name] for name in names)) for one in result.get("files", [])]


def table_of(entry: Entry) -> Table:
    """The table of an entry, with the linked tables that it consists of."""
    tables = FrozenDict({name: table_of(one) for name, one in entry.get("tables", {}).items()})
    shared = tuple(entry["shared"]) if "shared" in entry else None
    own = (entry["uri"], entry["sha256"], entry["records"], entry["columns"])
    version = TableVersion.of_json(entry["version"]) if "version" in entry else None
    state = TableState.of_json(entry["state"]) if "state" in entry else None
    named = {"encoding": entry.get("encoding", ""), "version": version, "state": state}
    return Table(*own, tables, shared, tuple(entry.get("lacking", ())), **named)


def is_structural(entry: Entry) -> bool:
    """Whether an outcome is of a check of columns."""
    return bool(entry["source"] == STRUCTURE)


def is_quality(entry: Entry) -> bool:
    """Whether an outcome is of a schema or a suite."""
    return entry["source"] in (SCHEMA, SUITE)


def read_audit(path: Path) -> WrittenAudit:
    """Read the audit of a JSON result, or of an HTML report that contains the result.

    Raises:
        UsageError: the file does not exist or cannot be read.
        ResultError: it holds no result.
    """
    return audit_in(text_of(path), path)


def audit_in(text: str, path: Path) -> WrittenAudit:
    """Read the audit from the text of a file; `ResultError` if it holds no result."""
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
    """Validate the form of a result.

    Args:
        value: the parsed JSON.
        name: its name in messages.

    Raises:
        ResultError: it has another form, or another version of the contract.
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
