"""The comparison of two written audits."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tcdp_audit.core.base.words import agree, count, listing, one_line, sentence_case, visible, visible_json
from tcdp_audit.core.results.change import Change, Direction, matched, status_moved
from tcdp_audit.core.results.document import Block, Group, Heading, Paragraph, Rows
from tcdp_audit.core.results.written import Entry, WrittenAudit, is_structural
from tcdp_audit.core.results.written_verdict import title_in

SCHEMA_VERSION = 1
MARKS = {"better": "▲", "worse": "▼", "same": "=", "different": "~", "demand": "~", "new": "+", "gone": "−"}
KINDS = ("worse", "better", "different", "demand", "new", "gone", "same")  # most important first
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
        return f"{counts}{weaker} {self._subject}"

    @property
    def title(self) -> str:
        """The verdict of both audits in a few words."""
        was, now = (title_in(one.result) for one in (self.old, self.new))
        return f"Still: {now}" if was == now else f"Was: {was}. Is: {now}"

    def blocks(self) -> Iterator[Block]:
        """The report's blocks below title and sentence: the audits, each expectation, and other differences."""
        for name, one in (("Old", self.old), ("New", self.new)):
            yield Paragraph(f"{one.path.name}: {one.release.name}, {title_in(one.result)}", lead=name)
        if self.expectations:
            yield Heading("Expectations")
            yield Rows(
                ("Change", "Expectation", "Was", "Is"),
                [_row(one) for one in self.expectations],
                states=[one.kind for one in self.expectations],
            )
        else:
            yield "Neither audit has an expectation."
        same = [one for one in self.facts if one.is_same]
        tables = (("Columns", self.changed_columns), ("What else differs", self.changed_facts))
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
    changes = [Change(was, now, titles) for was, now in pairs]
    return AuditComparison(old, new, tuple(changes), tuple(facts(old, new)), tuple(columns(old, new)))


def _row(change: Change) -> tuple[str, ...]:
    """A table row: the change, the expectation, and its figure and state in both audits."""
    about = [change.title, change.attribute, change.parameters, change.demands, change.reasons]
    sides = (f"{change.observed(one)}\n{change.state(one)}" if one else "–" for one in (change.old, change.new))
    return f"{MARKS[change.kind]} {change.kind}", "\n".join(filter(None, about)), *sides


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
# What is compared of a column
DESCRIBED = ("role", "scale", "label", "reason", "present", "values", "missing", "hierarchy", "key", "unit")


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
    yield Fact("people at risk", people(old), people(new))
    yield Fact("release", old.release.name, new.release.name)
    yield Fact("SHA-256 of the release", *(_digest(one.release.sha256) for one in (old, new)))
    yield Fact("records", *(count(one.release.records) for one in (old, new)))
    yield Fact("columns", *(count(one.release.columns) for one in (old, new)))
    for name in {**old.companions, **new.companions}:
        yield Fact(f"SHA-256 of the {visible(name)}", *(_companion(one, name) for one in (old, new)))
    yield Fact("policy", old.policy_name, new.policy_name)
    yield Fact("SHA-256 of the policy", *(_digest(one.result["policy"]["sha256"]) for one in (old, new)))
    was, now = ({one.title: one.sha256 for one in audit.files} for audit in (old, new))
    for title in {**was, **now}:
        yield Fact(f"SHA-256 of the {visible(title)}", *(_digest(one.get(title)) for one in (was, now)))
    yield from _conventions(old, new)
    yield Fact("audited", *(f"{one.audited_at:%Y-%m-%d %H:%M} UTC" for one in (old, new)))
    yield Fact("tcdp-audit", old.version, new.version)


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
    return ", ".join(f"{key} {_word(column.get(key))}" for key in keys)


def _word(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    return count(value) if isinstance(value, int) else one_line(str(value)).replace("_", "-") or "none"


def _faults(audit: WrittenAudit) -> dict[str, str]:
    """The checks of columns that fail, with the columns."""
    return {
        str(one["check"]): ", ".join(_names(one["details"].get("columns"))) or str(one["status"])
        for one in audit.outcomes
        if is_structural(one)
    }


def _names(listed: Any) -> list[str]:
    return [visible(str(one)) for one in listed] if isinstance(listed, list) else []


def _conventions(old: WrittenAudit, new: WrittenAudit) -> Iterator[Fact]:
    was, now = (one.result.get("conventions") for one in (old, new))
    if isinstance(was, Mapping) and isinstance(now, Mapping):
        for name in {**was, **now}:
            sides = (_word(one.get(name)) for one in (was, now))
            yield Fact(f"convention {visible(name).replace('_', ' ')}", *sides)


def _companion(audit: WrittenAudit, name: str) -> str:
    table = audit.companions.get(name)
    return "not compared" if table is None else _digest(table.sha256)


def _digest(digest: str | None) -> str:
    return "unknown" if digest is None else f"{digest[:DIGITS]}…"
