"""The comparison of two written audits."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.outcome import sentence_on_cell
from tcdp_audit.core.base.provenance import TableVersion
from tcdp_audit.core.base.words import (
    agree,
    count,
    date_and_time,
    listing,
    one_line,
    sentence_case,
    visible,
    visible_json,
)
from tcdp_audit.core.check.translation import say
from tcdp_audit.core.results.change import Change, Direction, matched, status_moved
from tcdp_audit.core.results.document import Block, Definitions, Group, Heading, Rows
from tcdp_audit.core.results.written import Entry, WrittenAudit, is_structural
from tcdp_audit.core.results.written_verdict import title_in

SCHEMA_VERSION = 1
MARKS = {"better": "▲", "worse": "▼", "same": "=", "different": "~", "demand": "~", "new": "+", "gone": "−"}
KINDS = ("worse", "better", "different", "demand", "new", "gone", "same")  # most important first
MOST_CELLS = 60  # that a table names
CHANGES = "texts changes"  # the style of tables whose first column is a change
CIRCUMSTANCES = ("audited", "tcdp-audit", "release", "policy")  # facts that may differ between equal audits


@dataclass(frozen=True)
class AuditComparison:
    """The comparison of two written audits.

    Args:
        old: the first.
        new: the second.
        expectations: each expectation that one of them has.
        facts: what was audited, by which version, and the number of people at risk.
        columns: the differences of columns.
    """

    old: WrittenAudit
    new: WrittenAudit
    expectations: tuple[Change, ...]
    facts: tuple[Fact, ...]
    columns: tuple[Fact, ...]

    @property
    def verdict(self) -> Direction:
        """The direction of the verdict."""
        if self.old.status == self.new.status:
            return Direction.SAME
        moved = status_moved(self.old.status, self.new.status)
        return Direction.DIFFERENT if moved is Direction.SAME else moved

    @cached_property
    def is_worse(self) -> bool:
        """Whether the verdict, a figure or a status is worse, or a demand is looser or gone."""
        return self.verdict is Direction.WORSE or any(one.is_worse for one in self.expectations)

    @cached_property
    def is_same(self) -> bool:
        """Whether the audits differ at most in time, version and file names."""
        compared = [
            *self.columns,
            *(one for one in self.facts if one.name not in ("audited", "tcdp-audit", "release", "policy")),
        ]
        expectations = all(one.is_same for one in self.expectations)
        return self.verdict is Direction.SAME and expectations and all(one.is_same for one in compared)

    @property
    def changed_facts(self) -> Sequence[Fact]:
        """The facts in which they differ."""
        return [one for one in self.facts if not one.is_same]

    @property
    def changed_columns(self) -> Sequence[Fact]:
        """The columns in which they differ."""
        return [one for one in self.columns if not one.is_same]

    @property
    def sentence(self) -> str:
        """The number of expectations by change, and whether the same release and policy were audited."""
        tally = Counter(one.kind for one in self.expectations)
        parts = [f"{count(tally[kind])} {_phrase(kind, tally[kind])}" for kind in KINDS if tally[kind]]
        counts = (
            f"Of {count(len(self.expectations), 'expectation')}, {listing(parts)}." if parts else "No expectations."
        )
        looser = sum(one.demand == "looser" for one in self.expectations)
        weaker = f" {sentence_case(count(looser, 'demand'))} {agree(looser, 'is', 'are')} looser." if looser else ""
        return f"{counts}{weaker}{self._failing_now} {self._subject}"

    @property
    def _failing_now(self) -> str:
        """The number of cells that fail in the second audit only, each counted once; empty without any."""
        cells = {(one["table"], one["measure"], one["name"]) for change in self.expectations for one in change.cells[0]}
        return (
            f" {sentence_case(count(len(cells), 'cell'))} {agree(len(cells), 'fails', 'fail')} that did not."
            if cells
            else ""
        )

    @property
    def title(self) -> str:
        """The verdict of both audits in a few words."""
        was, now = (title_in(one.result) for one in (self.old, self.new))
        return say("Still: {now:text}", now=now) if was == now else f"Was: {was}. Is: {now}"

    def blocks(self) -> Iterator[Block]:
        """The report's blocks below title and sentence: the audits, each expectation, and other differences."""
        sides = (("Old", self.old), ("New", self.new))
        files = [(name, f"{one.path.name}: {one.release.name}, {title_in(one.result)}") for name, one in sides]
        yield Definitions(files, style="particulars")
        if self.expectations:
            yield Heading("Expectations")
            yield Rows(
                ("Change", "Expectation", "Was", "Is"),
                [_row(one) for one in self.expectations],
                states=[one.kind for one in self.expectations],
                style=CHANGES,
            )
        else:
            yield "Neither audit has an expectation."
        yield from _changed_cells(self.expectations)
        same = [one for one in self.facts if one.is_same]
        columns = "Columns" if self.old.has_records and self.new.has_records else "Columns and tables"
        tables = ((columns, self.changed_columns), ("What else differs", self.changed_facts))
        yield from (block for title, facts in tables for block in _table(title, facts))
        yield Group([*_table("What is the same", same)], page_only=True)

    @property
    def _subject(self) -> str:
        release, policy = self._same("release"), self._same("policy")
        if release and policy:
            return "The same release under the same policy."
        if release or policy:
            return "The same release under another policy." if release else "Another release under the same policy."
        return "Another release under another policy."

    def _same(self, name: str) -> bool:
        was, now = (one.result[name]["sha256"] for one in (self.old, self.new))
        versions = [one.release.version for one in (self.old, self.new)] if name == "release" else [None]
        if None not in versions:
            return len({one.identity for one in versions if one is not None}) == 1
        return bool(was is not None and was == now)

    def as_json(self) -> dict[str, Any]:
        """The comparison for programs."""
        return {
            "schema_version": SCHEMA_VERSION,
            "old": _side(self.old),
            "new": _side(self.new),
            "verdict": self.verdict.value,
            "worse": self.is_worse,
            "same": self.is_same,
            "sentence": self.sentence,
            "expectations": [one.as_json() for one in self.expectations],
            "facts": [one.as_json() for one in self.facts],
            "columns": [one.as_json() for one in self.columns],
        }

    def to_json(self) -> str:
        """The comparison as JSON text."""
        return visible_json(json.dumps(self.as_json(), ensure_ascii=False, indent=1)) + "\n"


def compare(old: WrittenAudit, new: WrittenAudit, titles: Mapping[str, str]) -> AuditComparison:
    """Compare two audits as they were written, without computing anything again.

    Args:
        old: the first.
        new: the second.
        titles: the titles of the checks, by name; a check without one is shown by its name.
    """
    pairs = matched(_asked(old.outcomes), _asked(new.outcomes))
    nouns = _noun(old), _noun(new)
    changes = [Change(was, now, titles, nouns) for was, now in pairs]
    return AuditComparison(old, new, tuple(changes), tuple(facts(old, new)), tuple(columns(old, new)))


def _row(change: Change) -> tuple[str, ...]:
    """A table row: the change, the expectation, and its figure and state in both audits."""
    about = [change.title, change.attribute, change.parameters, change.demands, change.reasons]
    sides = (f"{change.observed(one)}\n{change.state(one)}" if one else "–" for one in (change.old, change.new))
    kind = say("{mark} {word:text}", mark=MARKS[change.kind], word=change.kind)
    return kind, "\n".join(filter(None, about)), *sides


def _changed_cells(changes: Sequence[Change]) -> Iterator[Block]:
    """The cells of tables of figures that fail in one of the audits only; no block without any."""
    rows, states = [], []
    for change in changes:
        for kind, word, cells in zip(("worse", "better"), ("fails now", "fails no more"), change.cells, strict=True):
            rows += [
                (say("{mark} {word:text}", mark=MARKS[kind], word=word), sentence_on_cell(one), change.title)
                for one in cells
            ]
            states += [kind] * len(cells)
    if rows:
        rest = len(rows) - MOST_CELLS
        note = (
            f"{count(rest)} more {agree(rest, 'cell is', 'cells are')} in the comparison as JSON." if rest > 0 else ""
        )
        yield Heading("Cells")
        head = ("Change", "Cell", "Expectation")
        yield Rows(head, rows[:MOST_CELLS], note=note, states=states[:MOST_CELLS], style=CHANGES)


def _table(title: str, facts: Sequence[Fact]) -> Iterator[Block]:
    """Facts of both audits below a heading; no block without facts."""
    if facts:
        yield Heading(title)
        yield Rows(("What", "Was", "Is"), [(one.name, one.old, one.new) for one in facts])


def _asked(outcomes: Iterable[Entry]) -> list[Entry]:
    return [one for one in outcomes if not is_structural(one)]


def _side(audit: WrittenAudit) -> dict[str, Any]:
    return {
        "file": str(audit.path),
        "status": audit.status,
        "audited_at": audit.result["audited_at"],
        "tool": {"name": audit.result["tool"]["name"], "version": audit.version},
        "release": audit.result["release"],
        "policy": audit.result["policy"],
    }


def _phrase(kind: str, number: int) -> str:
    phrases = {
        "same": agree(number, "is as it was", "are as they were"),
        "demand": agree(number, "has another demand", "have another demand"),
    }
    return phrases.get(kind, f"{agree(number, 'is', 'are')} {kind}")


DIGITS = 12  # shown digits of a digest
COUNTED = {"values": "value", "missing": "missing cell"}  # properties of a column that are numbers
# What is compared of a column
DECLARED = ("role", "scale", "label", "measured_in", "reason", "acknowledged")
DESCRIBED = (*DECLARED, "present", "values", "missing", "hierarchy", "key", "unit")


@dataclass(frozen=True)
class Fact:
    """A statement `name` of two audits, with the text of the first (`old`) and of the second (`new`)."""

    name: str
    old: str
    new: str

    @property
    def is_same(self) -> bool:
        """Whether both texts are equal."""
        return self.old == self.new

    def as_json(self) -> dict[str, str]:
        """The entry in the JSON of a comparison."""
        return {"name": self.name, "old": self.old, "new": self.new}


def facts(old: WrittenAudit, new: WrittenAudit) -> Iterator[Fact]:
    """Facts of both audits: the tables, the version, and the number of people at risk."""
    records = old.has_records or new.has_records
    if records:
        yield Fact("people at risk", people(old), people(new))
    yield Fact("release", old.release.name, new.release.name)
    yield Fact("SHA-256 of the release", *(_digest(one.release.sha256) for one in (old, new)))
    if old.release.content or new.release.content:
        yield Fact("content hash of the release", *(_digest(one.release.content or None) for one in (old, new)))
    if old.release.version is not None or new.release.version is not None:
        yield Fact("version of the release", *(_version(one.release.version) for one in (old, new)))
    if records:
        yield Fact("records", *(count(one.release.records) for one in (old, new)))
        yield Fact("columns", *(count(one.release.columns) for one in (old, new)))
    yield from _tables_of_figures(old, new)
    for name in {**old.companions, **new.companions}:
        yield Fact(f"SHA-256 of the {visible(name)}", *(_companion(one, name) for one in (old, new)))
    yield Fact("policy", old.policy_name, new.policy_name)
    yield Fact("SHA-256 of the policy", *(_digest(one.result["policy"]["sha256"]) for one in (old, new)))
    was, now = ({one.title: one.sha256 for one in audit.files} for audit in (old, new))
    for title in {**was, **now}:
        yield Fact(f"SHA-256 of the {visible(title)}", *(_digest(one.get(title)) for one in (was, now)))
    yield from _conventions(old, new)
    yield Fact("audited", *(date_and_time(one.audited_at) for one in (old, new)))
    yield Fact("tcdp-audit", old.version, new.version)


def _tables_of_figures(old: WrittenAudit, new: WrittenAudit) -> Iterator[Fact]:
    """The size and the digest of each table of figures; the digest of one next to records is a companion's."""
    was, now = (one.result.get("tables_of_figures", {}) for one in (old, new))
    for name in {**was, **now}:
        yield Fact(f"table {visible(name)}", *(_size(one.get(name)) for one in (was, now)))
        if not (old.has_records or new.has_records):
            tables = (one.release.tables.get(name) for one in (old, new))
            digests = ("not there" if one is None else _digest(one.sha256) for one in tables)
            yield Fact(f"SHA-256 of the table {visible(name)}", *digests)


def _size(entry: Mapping[str, int] | None) -> str:
    """The size of a table of figures, as a result has it."""
    return "not there" if entry is None else ", ".join(f"{entry[name]:,} {name}" for name in SIZES if name in entry)


SIZES = ("cells", "hidden", "absent")


def people(audit: WrittenAudit) -> str:
    """The number of people whom failing demands expose; a lower bound if a result has no total."""
    if "exposed" in audit.result:
        return _exposed(audit.result["exposed"], _noun(audit))
    demands = [one for one in audit.outcomes if one["severity"] == "error" and one["status"] == "failed"]
    failing = [one["records"]["failing"] or 0 for one in demands if one["records"] is not None]
    return f"at least {count(max(failing), 'record')}" if failing else "none"


def _noun(audit: WrittenAudit) -> str:
    """The noun for a record, or for the unit of privacy."""
    named = audit.result.get("unit_name")
    return visible(named) if isinstance(named, str) and named else ""


def _exposed(exposed: Any, noun: str) -> str:
    """The total number in a result; that of units if there are any."""
    if exposed is None:
        return "none"
    numbers = exposed if isinstance(exposed, Mapping) else {}
    for key, called in (("units", noun or "unit"), ("records", noun or "record")):
        number = numbers.get(key)
        if isinstance(number, int):
            return count(number, called)
    return "unknown"


def columns(old: WrittenAudit, new: WrittenAudit) -> Iterator[Fact]:
    """The differences of columns: presence, declaration, and faults."""
    was, now = _described(old), _described(new)
    if was is not None and now is not None:
        for name in {**was, **now}:
            yield Fact(visible(name), *_sides(was.get(name), now.get(name)))
    faults = {**_faults(old), **_faults(new)}
    for check in faults:
        yield Fact(check, *(_faults(one).get(check, "not asked") for one in (old, new)))


def _described(audit: WrittenAudit) -> dict[str, Mapping[str, Any]] | None:
    """Each column by name; None for a result without columns."""
    listed = audit.result.get("columns")
    if not isinstance(listed, list):
        return None
    return {one["name"]: one for one in listed if isinstance(one, Mapping) and isinstance(one.get("name"), str)}


def _sides(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> tuple[str, str]:
    """The differing descriptions of one column; equal texts if there is no difference."""
    if old is None or new is None:
        return "not there" if old is None else "there", "not there" if new is None else "there"
    keys = [key for key in DESCRIBED if old.get(key) != new.get(key)]
    return _words(old, keys), _words(new, keys)


def _words(column: Mapping[str, Any], keys: list[str]) -> str:
    return ", ".join(_phrase_of(key, column.get(key)) for key in keys)


def _phrase_of(key: str, value: Any) -> str:
    """A property of a column in a few words."""
    if key == "present":
        return "in the file" if value else "not in the file"
    if key in COUNTED and isinstance(value, int) and not isinstance(value, bool):
        return count(value, COUNTED[key])
    return f"{visible(key)}: {_word(value)}"


def _word(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    return count(value) if isinstance(value, int) else one_line(str(value)).replace("_", "-") or "none"


def _faults(audit: WrittenAudit) -> dict[str, str]:
    """The checks of columns that fail, with the columns."""
    named = ((visible(str(one["check"])), one) for one in audit.outcomes if is_structural(one))
    return {
        name.replace("_", " "): ", ".join(_names(one["details"].get("columns"))) or str(one["status"])
        for name, one in named
    }


def _names(listed: Any) -> list[str]:
    return [visible(str(one)) for one in listed] if isinstance(listed, list) else []


CONVENTIONS = {  # what each decides
    "missing_quasi_identifier": "a missing quasi-identifier",
    "missing_sensitive": "a missing sensitive value",
    "suppressed": "suppressed records",
    "suppressed_tokens": "texts that mark a suppressed value",
    "missing_tokens": "texts that mark a missing value",
    "multiple_sensitive": "several sensitive columns",
    "reference": "what closeness is measured against",
    "known_rows": "the rows of a person that an intruder knows",
    "negative": "negative contributions",
    "boundary": "figures at a threshold of concentration",
    "integers": "hidden counts",
    "unit": "what is counted",
}


def _conventions(old: WrittenAudit, new: WrittenAudit) -> Iterator[Fact]:
    was, now = (one.result.get("conventions") for one in (old, new))
    if isinstance(was, Mapping) and isinstance(now, Mapping):
        for name in {**was, **now}:
            sides = (_word(one.get(name)).replace("-", " ") for one in (was, now))
            yield Fact(f"convention: {CONVENTIONS.get(name) or visible(name).replace('_', ' ')}", *sides)


def _companion(audit: WrittenAudit, name: str) -> str:
    table = audit.companions.get(name)
    return "not compared" if table is None else _digest(table.sha256)


def _version(version: TableVersion | None) -> str:
    return "none" if version is None else visible(version.sentence)


def _digest(digest: str | None) -> str:
    return "unknown" if digest is None else f"{digest[:DIGITS]}…"
