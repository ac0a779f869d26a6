"""What two audits have besides their expectations: release, policy, columns, people, versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tcdp_audit.core.base.visible import visible
from tcdp_audit.core.base.words import count
from tcdp_audit.core.results.written.audit import WrittenAudit, is_structural

DIGITS = 12  # of a digest
DESCRIBED = ("role", "scale", "label", "present", "values", "missing", "hierarchy", "key", "unit")  # of a column


@dataclass(frozen=True)
class Fact:
    """Something that both audits say, or one of them.

    Args:
        name: what it is.
        old: what the first says.
        new: what the second says.
    """

    name: str
    old: str
    new: str

    @property
    def is_same(self) -> bool:
        """Whether both say the same."""
        return self.old == self.new

    def as_json(self) -> dict[str, str]:
        """The entry in the JSON of a comparison."""
        return {"name": self.name, "old": self.old, "new": self.new}


def facts(old: WrittenAudit, new: WrittenAudit) -> Iterator[Fact]:
    """What was audited, by what, and how many people are at risk."""
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
    """How many people failing demands expose; a lower bound where a result does not say it of all together."""
    if "exposed" in audit.result:
        return _exposed(audit.result["exposed"], _noun(audit))
    demands = [one for one in audit.outcomes if one["severity"] == "error" and one["status"] == "failed"]
    failing = [one["records"]["failing"] or 0 for one in demands if one["records"] is not None]
    return f"at least {count(max(failing), 'record')}" if failing else "none"


def _noun(audit: WrittenAudit) -> str:
    """What a record, or the unit of privacy, is called."""
    named = audit.result.get("unit_name")
    return visible(named) if isinstance(named, str) and named else ""


def _exposed(exposed: Any, noun: str) -> str:
    """The number that a result agreed on; that of units where there are some."""
    if exposed is None:
        return "none"
    numbers = exposed if isinstance(exposed, Mapping) else {}
    for key, called in (("units", noun or "unit"), ("records", noun or "record")):
        number = numbers.get(key)
        if isinstance(number, int):
            return count(number, called)
    return "unknown"


def columns(old: WrittenAudit, new: WrittenAudit) -> Iterator[Fact]:
    """What is different about columns: which there are, what the policy says of them, what is wrong with them."""
    was, now = _described(old), _described(new)
    if was is not None and now is not None:
        for name in {**was, **now}:
            yield Fact(visible(name), *_sides(was.get(name), now.get(name)))
    faults = {**_faults(old), **_faults(new)}
    for check in faults:
        yield Fact(check, *(_faults(one).get(check, "not asked") for one in (old, new)))


def _described(audit: WrittenAudit) -> dict[str, Mapping[str, Any]] | None:
    """Each column by its name; None for a result that does not say."""
    listed = audit.result.get("columns")
    if not isinstance(listed, list):
        return None
    return {one["name"]: one for one in listed if isinstance(one, Mapping) and isinstance(one.get("name"), str)}


def _sides(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> tuple[str, str]:
    """What is different about one column; the same words where nothing is."""
    if old is None or new is None:
        return "not there" if old is None else "there", "not there" if new is None else "there"
    keys = [key for key in DESCRIBED if old.get(key) != new.get(key)]
    return _words(old, keys), _words(new, keys)


def _words(column: Mapping[str, Any], keys: list[str]) -> str:
    return ", ".join(f"{key} {_word(column.get(key))}" for key in keys)


def _word(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    return count(value) if isinstance(value, int) else visible(str(value)).replace("_", "-") or "none"


def _faults(audit: WrittenAudit) -> dict[str, str]:
    """What the auditor itself asks of columns, with the columns that do not keep it."""
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
