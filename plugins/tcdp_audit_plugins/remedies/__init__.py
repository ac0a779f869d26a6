"""The built-in remedies, one file a family."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tcdp_audit import hookimpl
from tcdp_audit.remedy import Remedy
from tcdp_audit_plugins.remedies.bucketization import BUCKETIZATION
from tcdp_audit_plugins.remedies.generalization import GENERALIZATION
from tcdp_audit_plugins.remedies.microaggregation import MICROAGGREGATION
from tcdp_audit_plugins.remedies.mondrian import MONDRIAN
from tcdp_audit_plugins.remedies.noise import NOISE
from tcdp_audit_plugins.remedies.rebucketize import REBUCKETIZE
from tcdp_audit_plugins.remedies.suppression import SUPPRESSION

REMEDIES: list[Remedy[Any]] = [
    BUCKETIZATION,
    GENERALIZATION,
    MICROAGGREGATION,
    MONDRIAN,
    NOISE,
    REBUCKETIZE,
    SUPPRESSION,
]


@hookimpl
def tcdp_audit_remedies() -> Iterator[Remedy[Any]]:
    """Every built-in remedy."""
    yield from REMEDIES
