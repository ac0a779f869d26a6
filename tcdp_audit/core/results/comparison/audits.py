"""Two audits beside each other."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tcdp_audit.core.base.visible import visible_json
from tcdp_audit.core.base.words import agree, count, listing, sentence_case
from tcdp_audit.core.results.comparison.change import Change
from tcdp_audit.core.results.comparison.demand import Direction, status_moved
from tcdp_audit.core.results.comparison.facts import Fact, columns, facts
from tcdp_audit.core.results.comparison.matching import matched
from tcdp_audit.core.results.written.audit import Entry, WrittenAudit, is_structural

SCHEMA_VERSION = 1
KINDS = ("worse", "better", "different", "demand", "new", "gone", "same")  # in the order of what matters
CIRCUMSTANCES = ("audited", "tcdp-audit", "release", "policy")  # facts that may differ between equal audits


@dataclass(frozen=True)
class AuditComparison:
    """Two audits, as they were written, beside each other.

    Args:
        old: the first.
        new: the second.
        expectations: each expectation that one of them has.
        facts: what was audited, by what, and how many people are at risk.
        columns: what is different about columns.
    """

    old: WrittenAudit
    new: WrittenAudit
    expectations: tuple[Change, ...]
    facts: tuple[Fact, ...]
    columns: tuple[Fact, ...]

    @property
    def verdict(self) -> Direction:
        """Where the verdict moved."""
        if self.old.status == self.new.status:
            return Direction.SAME
        moved = status_moved(self.old.status, self.new.status)
        return Direction.DIFFERENT if moved is Direction.SAME else moved

    @cached_property
    def is_worse(self) -> bool:
        """Whether the verdict, a figure or a status is worse, or a demand looser or gone."""
        return self.verdict is Direction.WORSE or any(one.is_worse for one in self.expectations)

    @cached_property
    def is_same(self) -> bool:
        """Whether nothing is different but when, with which version and under which names the audits were made."""
        told = [
            *self.columns,
            *(one for one in self.facts if one.name not in ("audited", "tcdp-audit", "release", "policy")),
        ]
        expectations = all(one.is_same for one in self.expectations)
        return self.verdict is Direction.SAME and expectations and all(one.is_same for one in told)

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
        """How many expectations became what, and whether the same release and policy were audited."""
        tally = Counter(one.kind for one in self.expectations)
        parts = [f"{count(tally[kind])} {_phrase(kind, tally[kind])}" for kind in KINDS if tally[kind]]
        said = f"Of {count(len(self.expectations), 'expectation')}, {listing(parts)}." if parts else "No expectations."
        looser = sum(one.demand == "looser" for one in self.expectations)
        weaker = f" {sentence_case(count(looser, 'demand'))} {agree(looser, 'is', 'are')} looser." if looser else ""
        return f"{said}{weaker} {self._subject}"

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
    """Two audits beside each other, as they were written: what they say is compared, and not computed again.

    Args:
        old: the first.
        new: the second.
        titles: what people call the checks, by name; the name itself for one that is not among them.
    """
    pairs = matched(_asked(old.outcomes), _asked(new.outcomes))
    changes = [Change(was, now, titles) for was, now in pairs]
    return AuditComparison(old, new, tuple(changes), tuple(facts(old, new)), tuple(columns(old, new)))


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
