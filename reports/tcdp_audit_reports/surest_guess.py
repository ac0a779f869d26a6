"""The guess at one person's value that a demand's worst group makes surest."""

from __future__ import annotations

from dataclasses import dataclass

from tcdp_audit.plugin.sentences import Outcome


@dataclass(frozen=True)
class SurestGuess:
    """The guess at a person's value that a demand's worst group makes: right for so many of its members."""

    outcome: Outcome
    have: int
    of: int

    @property
    def chance(self) -> float:
        """The chance that it is right."""
        return self.have / self.of

    @classmethod
    def of_demand(cls, outcome: Outcome) -> SurestGuess | None:
        """That of a demand; None where the demand does not say."""
        shared = outcome.details.get("shared_value") or {}
        have, of = shared.get("have"), shared.get("of")
        return cls(outcome, have, of) if have and of and outcome.attribute is not None else None
