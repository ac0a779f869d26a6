"""Telephone numbers that are assigned to somebody, as the library phonenumbers knows the plans of all countries."""

from __future__ import annotations

import numpy as np

from tcdp_audit.plugin.detector import Detector, ValueDetector
from tcdp_audit_plugins.detectors._shared.random_texts import DIGITS, characters
from tcdp_audit_plugins.detectors.contact import TELEPHONE

LIBRARY = ("phonenumbers", 'pip install "tcdp-audit[identifiers]"')
FIRST, NINE = characters("23456789", 1), characters(DIGITS, 9)


def is_assigned_in_north_america(text: str) -> bool:
    """Whether ten digits are in a range that the North American numbering plan has assigned."""
    from phonenumbers import is_valid_number, parse  # noqa: PLC0415 - of the extra

    return bool(is_valid_number(parse(text, "US")))


def random_digits(generator: np.random.Generator) -> str:
    """Ten digits that begin as an area of the plan does."""
    return FIRST(generator) + NINE(generator)


DETECTORS: tuple[Detector, ...] = (
    ValueDetector(
        name="north_american_telephone_number",
        noun="North American telephone number",
        words=TELEPHONE,
        layout=r"[2-9][0-9]{9}",
        accepts=is_assigned_in_north_america,
        base_rate=0.47,
        random_value=random_digits,
        safe_harbor="D",
        library=LIBRARY,
        source="North American Numbering Plan, by the library phonenumbers",
        examples=("2025550123",),
        counterexamples=("1025550123", "202555012"),
    ),
)
