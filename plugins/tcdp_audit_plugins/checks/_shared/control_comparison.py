"""The risk that a release adds: how often an attack succeeds on the original, beyond how often on the hold-out.

Of a success rate a on the records that the release was made from, and c on records that had no part in it, the risk is
(a - c) / (1 - c): what succeeds because of the release, of all that would not have succeeded without it. Both rates
have Wilson's interval, and the risk has that which their errors make of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import hypot, sqrt
from statistics import NormalDist

import numpy as np

from tcdp_audit.plugin.check import TableView
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import agree, count

CONTROL = "holdout"
NO_CONTROL = (
    "how much the release adds cannot be judged without records that had no part in it; name some in the policy as "
    "`holdout:`, or leave the demand out to measure the attack alone"
)
USUAL = Fraction(95, 100)  # the confidence of the intervals by which two rates are far apart, whatever is asked for
FAR = 3  # times their half width: six standard deviations
Number = Fraction | float


@dataclass(frozen=True)
class Attack:
    """The successes of an attack."""

    successes: Number  # how often; an attempt that is right with some probability counts so much
    attempts: int  # of how many, at least 1

    @property
    def share(self) -> Number:
        """Successes of attempts."""
        return self.successes / self.attempts

    def rate(self, confidence: Fraction) -> Rate:
        """Wilson's centre and half width.

        Source: Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927).

        Example:
            >>> one = Attack(120, 1000).rate(Fraction(95, 100))
            >>> round(one.centre, 6), round(one.error, 6)
            (0.121454, 0.020155)
        """
        z = NormalDist().inv_cdf((1 + float(confidence)) / 2)
        s, n = float(self.successes), self.attempts
        centre = (s + z * z / 2) / (n + z * z)
        return Rate(centre, z / (n + z * z) * sqrt(max(s * (n - s), 0) / n + z * z / 4))


@dataclass(frozen=True)
class Rate:
    """The middle of an interval, and how far each end is from it."""

    centre: float
    error: float

    @classmethod
    def even(cls) -> Rate:
        """One half, for certain: what chance gives where two tables are compared."""
        return cls(1 / 2, 0.0)

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends, from 0 to 1."""
        return tuple(min(1.0, max(0.0, self.centre + end)) for end in (-self.error, self.error))  # type: ignore[return-value]

    def beyond(self, control: Rate) -> Rate:
        """(a - c) / (1 - c) with the error that those of a and c propagate to.

        Source: Giomi et al., A unified framework for quantifying privacy risk in synthetic data, PoPETs 2023(2).

        Example:
            >>> sure = Fraction(95, 100)
            >>> one = Attack(120, 1000).rate(sure).beyond(Attack(60, 1000).rate(sure))
            >>> round(one.centre, 6), round(one.error, 6)
            (0.0637, 0.02606)
        """
        rest = 1 - control.centre  # never 0: Wilson's centre is below 1
        by_own, by_control = self.error / rest, (self.centre - 1) * control.error / (rest * rest)
        return Rate((self.centre - control.centre) / rest, sqrt(by_own * by_own + by_control * by_control))


def interval_of_risk(attack: Attack, control: Attack, confidence: Fraction) -> tuple[float, float, float]:
    """Both ends of the risk's interval, and (a - c) / (1 - c) of the shares themselves; below 0 where c is larger.

    Where every attempt on the hold-out succeeds there is nothing that could be added, and the share is 0.

    Raises:
        CheckError: the hold-out does better than chance allows.
    """
    require_no_better(attack, control.rate(USUAL))
    own, chance = attack.rate(confidence), control.rate(confidence)
    low, high = own.beyond(chance).ends
    a, c = attack.share, control.share
    excess = float((a - c) / (1 - c)) if c < 1 else 0.0
    return low, max(high, min(1.0, excess)), excess


def require_no_better(attack: Attack, chance: Rate) -> None:
    """Insist that the hold-out does not do far better than the original: a release of it would pass everything.

    `chance` is the hold-out's rate at the usual confidence, so that the limit does not depend on the demand.

    Raises:
        CheckError: the rate is below that of chance by more than three times their error, which no honest draw brings
            about.
    """
    own = attack.rate(USUAL)
    if own.centre + FAR * hypot(own.error, chance.error) < chance.centre:
        raise CheckError(
            "the attack succeeds far more often on the hold-out than on the original; were the two tables swapped? The "
            "hold-out must have had no part in making the release"
        )


def require_strangers(view: TableView) -> None:
    """Insist that no person of the original is in the hold-out, by the key: such a person would hide leakage.

    Raises:
        CheckError: a key is in both.
    """
    key = view.policy.document.key
    tables = [view.companions[name] for name in ("original", CONTROL) if name in view.companions]
    if key is None or len(tables) < 2 or not all(key in {one.name for one in table.columns} for table in tables):
        return
    original, control = (view.of_companion(name, [key]).domains[key].values for name in ("original", CONTROL))
    both = len(np.intersect1d(original, control))
    if both:
        raise CheckError(
            f"{count(both, 'key')} of the hold-out {agree(both, 'is', 'are')} in the original, too; a hold-out has "
            "no one whom the release was made from"
        )
