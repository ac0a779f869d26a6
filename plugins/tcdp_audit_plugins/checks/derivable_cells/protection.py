"""The true value of hidden figures, and how far from it a reader's interval must reach."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin.aggregate import CellsView, Derivation
from tcdp_audit.plugin.detector import PolicyDocument
from tcdp_audit.plugin.engine import CheckError

PERCENT = 100
NO_RULE = (
    "the protection that each hidden figure needs is taken from the demand `{}`, and the policy has none with its "
    "parameters; add it under `expect:`"
)


@dataclass(frozen=True)
class Rule:
    """A rule of concentration, by which a cell needs protection of U.

    U is factor (x_1 + … + x_n) - X of the n largest contributions and their sum X, or share x_1 less what remains after
    the n largest.

    Args:
        largest: how many of the largest contributions it adds.
        of_sum: the factor of their sum; None for the other kind.
        of_first: the share of the largest contribution.
    """

    largest: int
    of_sum: Fraction | None = None
    of_first: Fraction = Fraction(0)

    def level(self, top: Sequence[int], size: int) -> Fraction:
        """The protection that a cell needs, in the steps of its contributions; 0 where the rule holds."""
        if self.of_sum is not None:
            return max(self.of_sum * sum(top) - size, Fraction(0))
        return max(self.of_first * (top[0] if len(top) else 0) - (size - sum(top)), Fraction(0))


def rule_of(view: CellsView, name: str) -> list[Rule]:
    """The rules of a name that the policy demands.

    Raises:
        CheckError: it demands none.
    """
    demanded = [one.parameters for one in view.policy.expectations if one.check.name == name]
    rules = [rule for parameters in demanded if (rule := _rule(name, parameters)) is not None]
    if not rules:
        raise CheckError(NO_RULE.format(name))
    return rules


def demand_of_limits(parameters: Any, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Yield a fault where `limits_from` names a rule that the policy does not demand."""
    name = parameters.limits_from
    if name is not None and not any((one.get(name) or {}).keys() & {"k", "p"} for one in document.expect):
        yield "limits_from", NO_RULE.format(name)


def _rule(name: str, parameters: Any) -> Rule | None:
    if name == "dominance":
        return None if parameters.k is None else Rule(parameters.n, PERCENT / Fraction(parameters.k))
    if parameters.p is None:
        return None
    if name == "p_percent":
        return Rule(parameters.coalition + 1, of_first=Fraction(parameters.p) / PERCENT)
    return Rule(2, of_first=Fraction(parameters.p) / Fraction(parameters.q))


@dataclass(frozen=True)
class Truth:
    """True values and protection levels of some variables of a system, in steps.

    Args:
        value: the true value by variable.
        protection: the protection that a rule asks for, likewise; 0 where none is.
    """

    value: dict[int, Fraction]
    protection: dict[int, Fraction]

    @classmethod
    def of(cls, view: CellsView, derivation: Derivation, judged: NDArray[np.bool_], rules: Sequence[Rule]) -> Truth:
        """The truth of judged variables.

        Raises:
            CheckError: there are no records, or the figures of a table are not theirs; or contributions are negative,
                of which no rule says anything.
        """
        if view.records is None:
            raise CheckError("it needs the records behind the tables; name them under `microdata:`")
        truth, steps = cls({}, {}), derivation.joint.scale
        for (name, measure), variables in derivation.joint.variables.items():
            cells = np.flatnonzero((variables >= 0) & judged[variables])
            declared = view.tables[name].figures[measure].measure
            if declared.counts is not None:
                rows = declared.counts == "rows"
                counts = view.records.rows(view.tables[name]) if rows else view.records.people(view.tables[name])
                truth.value.update(
                    (int(variables[cell]), Fraction(int(counts[cell]) * steps)) for cell in cells.tolist()
                )
                continue
            negative = view.policy.document.conventions.negative if rules else "absolute"
            most = max((one.largest for one in rules), default=1)
            own = view.records.contributions(view.tables[name], str(declared.column), most, negative)
            for cell in cells.tolist():
                variable, top = int(variables[cell]), own.largest[cell].tolist()
                truth.value[variable] = Fraction(int(own.total[cell]) * steps, own.scale)
                levels = [rule.level(top[: rule.largest], int(own.size[cell])) for rule in rules]
                level = max(levels, default=Fraction(0)) * steps / own.scale
                truth.protection[variable] = max(level, truth.protection.get(variable, Fraction(0)))
        return truth
