"""Dropped records: policies that forbid them, and how many may be dropped."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil

from tcdp_audit.plugin.detector import PolicyDocument
from tcdp_audit.plugin.remedy import RemedyError, RemedyParameters

ALIGNED = "dropping records would break `rows_aligned: true`; declare a `key:` that aligns release and original"


def faults_of_dropping(parameters: RemedyParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:  # noqa: ARG001
    """Yield the faults of a remedy that drops records, whatever its parameters: (parameter, sentence)."""
    if document.rows_aligned:
        yield "", ALIGNED


def require_few(suppressed: int, total: int, at_most: Fraction, noun: str, instead: str) -> None:
    """Insist that no larger share is suppressed than a policy allows.

    Args:
        suppressed: how many are suppressed.
        total: of how many.
        at_most: the largest share of them.
        noun: what they are called, in the plural.
        instead: what may help in place of a larger share.

    Raises:
        RemedyError: more are suppressed; the message has the numbers, and the share that would do.
    """
    if suppressed <= at_most * total:
        return
    enough = ceil(Fraction(suppressed * 10_000, total)) / 10_000
    raise RemedyError(
        f"{suppressed:,} of {total:,} {noun} would have to be suppressed, and `at_most` allows "
        f"{int(at_most * total):,}; `at_most: {enough:g}` would do, and so may {instead}"
    )
