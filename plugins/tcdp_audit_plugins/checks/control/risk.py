"""What comes of an attack with a control set, and what the tables must have for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.check import CheckError, Parameters, TableFigure, TableView
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Role, Text
from tcdp_audit.plugin.sentences import count
from tcdp_audit_plugins.checks._shared.beside_control import (
    CONTROL,
    NO_CONTROL,
    Attack,
    interval_of_risk,
    require_strangers,
)
from tcdp_audit_plugins.checks.record_linkage.comparison import ComparisonParameters, comparable


class ControlParameters(Parameters):
    """Parameters of an attack whose success on the original is compared with that on the hold-out."""

    attributes: Annotated[
        list[Text] | None,
        Field(min_length=1, description="The attributes that the intruder knows; without it, all quasi-identifiers."),
    ] = None
    confidence: Annotated[
        Exact, Field(gt=0, lt=1, description="How sure the interval is whose upper end is compared with the demand.")
    ] = Fraction(95, 100)

    @property
    def demands(self) -> bool:
        """Whether anything is demanded."""
        return any(getattr(self, name, None) is not None for name in ("at_most", "true_positive_rate"))


def quasi_identifiers_of(document: PolicyDocument) -> list[str]:
    """What an intruder knows by default."""
    return [name for name, one in document.attributes.items() if one.role is Role.QUASI_IDENTIFIER]


def judged_beside_control(parameters: ControlParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Why a demand cannot be judged under a policy: there is no hold-out."""
    if parameters.demands and document.holdout is None:
        yield "at_most", NO_CONTROL


def measurable(names: Sequence[str], document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Why records cannot be compared by some attributes."""
    if names:
        yield from comparable(ComparisonParameters(attributes=list(names)), document)
    else:
        yield "attributes", "no attribute is left that the intruder knows; name some"


def needs_control(parameters: ControlParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Why a demand on a comparison of two tables cannot be judged: there is only one."""
    if parameters.demands and document.holdout is None:
        yield (
            "at_most",
            "it compares the original with records that had no part in the release; name some as `holdout:`",
        )


def risk_figure(
    attack: Attack, control: Attack | None, parameters: ControlParameters, records: int, details: dict[str, Any]
) -> TableFigure:
    """The upper end of the risk's interval; without a control the share of successes, which nothing is demanded of.

    Raises:
        CheckError: something is demanded, and there is no control.
    """
    figures = {"success": attack.share, "successes": attack.successes, "attempts": attack.attempts}
    if control is None:
        if parameters.demands:
            raise CheckError(NO_CONTROL)
        return TableFigure(attack.share, records, details={**figures, **details})
    low, high, excess = interval_of_risk(attack, control, parameters.confidence)
    figures |= {"control_success": control.share, "control_successes": control.successes}
    figures |= {"control_attempts": control.attempts, "excess": excess, "low": low, "high": high}
    return TableFigure(high, records, details={**figures, "confidence": parameters.confidence, **details})


def companions_of(view: TableView) -> list[str]:
    """The original, and the hold-out if there is one."""
    return ["original", CONTROL] if CONTROL in view.companions else ["original"]


def require_comparable(view: TableView) -> None:
    """Insist that no table is empty, and that nobody of the original is in the hold-out.

    Raises:
        CheckError: a table is empty, or somebody is in both.
    """
    tables = {"release": view.engine, **{name: view.companions[name] for name in companions_of(view)}}
    for name, engine in tables.items():
        if not engine.records:
            raise CheckError(f"the {name} has no record, so there is nothing to attack")
    require_strangers(view)


def require_as_many(view: TableView) -> None:
    """Insist that the hold-out has at least as many records as the original.

    A part of the original would tell of chance, but the release was made of all of it: whoever attacks a part sees a
    part of what leaks, and a copy would pass.

    Raises:
        CheckError: it has fewer.
    """
    original, holdout = (view.companions[name].records for name in ("original", CONTROL))
    if holdout < original:
        raise CheckError(
            f"the hold-out has {count(holdout, 'record')} and the original has {original:,}; among fewer records "
            "chance does something else. Hold back as many as the release is made from: half of the data"
        )


def none_drawn(records: int, drawn: int) -> Floats:
    """The probability that a draw without replacement has none of a given records, for a from 0 to all.

    Shape (records + 1,). Where all are drawn it is 1 for a = 0, and 0 beyond.

    Example:
        >>> none_drawn(4, 2).round(3).tolist()
        [1.0, 0.5, 0.167, 0.0, 0.0]
        >>> none_drawn(2, 2).tolist()
        [1.0, 0.0, 0.0]
    """
    each = np.arange(records)
    return np.append(1.0, np.cumprod(np.maximum(records - drawn - each, 0) / (records - each)))


def one_drawn(groups: NDArray[np.int64], records: int, drawn: int) -> Floats:
    """The probability that a draw has exactly one of a group, for groups of so many records.

    Example:
        >>> one_drawn(np.array([0, 1, 2]), 2, 2).tolist()
        [0.0, 1.0, 0.0]
        >>> one_drawn(np.array([0, 1, 2]), 4, 2).round(3).tolist()
        [0.0, 0.5, 0.667]
    """
    others = none_drawn(records - 1, drawn - 1)[np.maximum(groups - 1, 0)]
    return np.asarray(groups * (drawn / records) * others)
