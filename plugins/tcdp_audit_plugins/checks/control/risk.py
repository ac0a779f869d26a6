"""What comes of an attack with a control set, and what the tables must have for it."""

from __future__ import annotations

from typing import Any

from tcdp_audit.plugin.check import CheckError, TableFigure, TableView
from tcdp_audit.plugin.sentences import count
from tcdp_audit_plugins.checks._shared.beside_control import (
    CONTROL,
    NO_CONTROL,
    Attack,
    interval_of_risk,
    require_strangers,
)
from tcdp_audit_plugins.checks.control.parameters import ControlParameters


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
    """Insist that no table is empty, and that no one of the original is in the hold-out.

    Raises:
        CheckError: a table is empty, or a person is in both.
    """
    tables = {"release": view.engine, **{name: view.companions[name] for name in companions_of(view)}}
    for name, engine in tables.items():
        if not engine.records:
            raise CheckError(f"the {name} has no record, so there is nothing to attack")
    require_strangers(view)


def require_as_many(view: TableView) -> None:
    """Insist that the hold-out has at least as many records as the original.

    A part of the original would say of chance, but the release was made of all of it: anyone who attacks a part sees a
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
