"""The strictest demand that a release keeps, as policy lines; only where it can be said for certain."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from enum import Enum
from fractions import Fraction
from math import isfinite
from typing import Any

from pydantic import ValidationError

from tcdp_audit.plugin import Check, Outcome, Status, count, demanded, failing, visible

DIGITS = 3
PLAIN = re.compile(r"[A-Za-z_][\w-]*")
YAML_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})


@dataclass(frozen=True)
class Kept:
    """What this release does keep: a sentence, and the line of a policy that says so."""

    sentence: str
    policy: str


def kept_demand(outcome: Outcome, check: Check | None) -> Kept | None:
    """The strictest demand of the failed one's kind that the release keeps.

    None where the outcome did not fail by its headline figure alone, or where the check does not accept the
    figure as a threshold.
    """
    if outcome.status is not Status.FAILED or check is None:
        return None
    name, value = _headline(outcome, check), _kept_value(outcome)
    if name is None or value is None:
        return None
    parameters = {**outcome.parameters, name: value}
    if not _accepted(check, parameters):
        return None
    if outcome.attribute is not None:
        parameters["attribute"] = outcome.attribute
    listed = ", ".join(f"{name}: {_scalar(one)}" for name, one in parameters.items())
    return Kept(_sentence(outcome), f"expect:\n  - {outcome.check}: {{{listed}}}")


def _headline(outcome: Outcome, check: Check) -> str | None:
    """The parameter with the headline threshold, if it is the only one that was demanded."""
    given = [one.parameter for one in check.limits if one.parameter in outcome.parameters]
    return given[0] if given == [check.headline.parameter] else None


def _kept_value(outcome: Outcome) -> int | float | None:
    """The observed figure, rounded to the side that the release keeps."""
    if outcome.observed is None or outcome.comparison is None or not isfinite(outcome.observed):
        return None
    if not _fails_by_figure(outcome):
        return None
    strict = outcome.comparison.value in ("<", ">")
    if float(outcome.observed).is_integer() and not strict:
        return int(outcome.observed)
    rounding = ROUND_FLOOR if outcome.comparison.higher_is_safer else ROUND_CEILING
    exact = Decimal(outcome.observed)
    unit = Decimal(1).scaleb(exact.adjusted() - DIGITS + 1)
    rounded = exact.quantize(unit, rounding=rounding)
    if rounded == exact:  # never on the edge: the true figure may lie a hair beyond the float
        rounded += -unit if rounding == ROUND_FLOOR else unit
    return float(rounded)


def _fails_by_figure(outcome: Outcome) -> bool:
    if outcome.threshold is None or outcome.observed is None or outcome.comparison is None:
        return False
    difference = Fraction(outcome.observed) - outcome.threshold
    return not outcome.comparison.holds((difference > 0) - (difference < 0))


def _accepted(check: Check, parameters: dict[str, Any]) -> bool:
    """Whether the check takes these parameters; a plugin's own validators may raise anything."""
    try:
        check.parameters.model_validate(parameters)
    except (ValidationError, ValueError, TypeError):
        return False
    return True


def _sentence(outcome: Outcome) -> str:
    fails = failing(outcome)
    which = "the failing records" if fails is None else f"{count(fails[1], 'record')} in {count(fails[0], 'group')}"
    return (
        f"To meet {demanded(outcome)}, {which} must be generalised further or withheld; `tcdp-audit fix` looks for "
        "the least lossy way and proves it. The lines below are the strictest demand of this kind, to three digits, "
        "that the release keeps as it is: they change the policy and protect nobody."
    )


def _scalar(value: Any) -> str:
    """A parameter as YAML in flow style."""
    if isinstance(value, Fraction):
        value = float(value)
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, str) and PLAIN.fullmatch(value) and value.lower() not in YAML_WORDS:
        return value
    return visible(json.dumps(value, ensure_ascii=False, default=str))
