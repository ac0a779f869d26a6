"""Noise: mask the values of one attribute with a mechanism of differential privacy, and declare it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.keys import Codes
from tcdp_audit.policy import Role, Scale
from tcdp_audit.policy.model import PolicyDocument
from tcdp_audit.remedy import NewColumn, Remedy, Treatment
from tcdp_audit.remedy_view import Attribute, RemedyView
from tcdp_audit_plugins.checks.differential_privacy.stochastic_t_closeness import Mechanism
from tcdp_audit_plugins.remedies.noise.additive import added_noise
from tcdp_audit_plugins.remedies.noise.drawing import close_draw
from tcdp_audit_plugins.remedies.noise.guide import GUIDE
from tcdp_audit_plugins.remedies.noise.masking import Masking
from tcdp_audit_plugins.remedies.noise.parameters import NoiseParameters
from tcdp_audit_plugins.remedies.noise.response import randomised_response

WARNING = (
    "The noise was drawn again until it was close, so that a draw was accepted says something about the table itself: "
    "no epsilon holds for this release."
)


def _apply(view: RemedyView, parameters: NoiseParameters) -> Treatment:
    attribute = view.attribute(parameters.attribute)
    answers = parameters.mechanism is Mechanism.RANDOMISED_RESPONSE
    masking = (randomised_response if answers else added_noise)(attribute, parameters)
    if parameters.until_close is not None:
        column, draws = close_draw(view, masking.draw, parameters.until_close, parameters.draws)
        told = {"epsilon": None, "conditioned": True, "draws": draws, "warning": WARNING}
        return Treatment({attribute.name: column}, notes={**told, **_notes(attribute, masking, column)})
    column = masking.draw()
    notes = {"epsilon": float(parameters.epsilon), "conditioned": False, **_notes(attribute, masking, column)}
    return Treatment({attribute.name: column}, notes=notes, lines=masking.lines(attribute.name))


def _notes(attribute: Attribute, masking: Masking, column: NewColumn) -> dict[str, object]:
    before, after = _cells(attribute.domain.values, attribute.codes), _cells(column.cells, column.codes)
    return {
        "mechanism": masking.audited_as["mechanism"],
        **masking.notes,
        "records": int((before != after).sum()),
        "missing": attribute.domain.missing,
    }


def _cells(values: NDArray[Any], codes: Codes) -> NDArray[Any]:
    return np.array([*values.tolist(), None], dtype=object)[codes]


def _faults(parameters: NoiseParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    declared = document.attributes.get(parameters.attribute)
    if declared is None or declared.role is Role.IDENTIFIER:
        yield "attribute", f"{parameters.attribute!r} is no attribute of this policy that is released"
        return
    if parameters.mechanism is not Mechanism.RANDOMISED_RESPONSE and declared.scale is not Scale.NUMERIC:
        yield (
            "mechanism",
            f"{parameters.mechanism.value} adds to numbers; declare `scale: numeric`, or use randomised_response",
        )
    if parameters.until_close is not None and declared.role is not Role.SENSITIVE:
        yield (
            "until_close",
            f"closeness is that of a sensitive attribute in its classes, and {parameters.attribute!r} is none",
        )


NOISE = Remedy(
    name="noise",
    title="Noise",
    summary="Masks an attribute with Laplace or geometric noise or randomised response, at a declared epsilon.",
    guide=GUIDE,
    parameters=NoiseParameters,
    apply=_apply,
    validate=_faults,
    random=True,
)
