"""The built-in remedies, one folder a family."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tcdp_audit.plugin.check import hookimpl

if TYPE_CHECKING:
    from tcdp_audit.plugin.remedy import Remedy


@hookimpl
def tcdp_audit_remedies() -> Iterator[Remedy[Any]]:
    """Yield every built-in remedy. They are imported when they are asked for: an audit needs none."""
    from tcdp_audit_plugins.remedies.bucketization import BUCKETIZATION  # noqa: PLC0415
    from tcdp_audit_plugins.remedies.coarsen_time import COARSEN_TIME  # noqa: PLC0415
    from tcdp_audit_plugins.remedies.correlated_noise import CORRELATED_NOISE  # noqa: PLC0415
    from tcdp_audit_plugins.remedies.data_shuffling import DATA_SHUFFLING  # noqa: PLC0415
    from tcdp_audit_plugins.remedies.generalization import GENERALIZATION  # noqa: PLC0415
    from tcdp_audit_plugins.remedies.global_recoding import GLOBAL_RECODING  # noqa: PLC0415
    from tcdp_audit_plugins.remedies.microaggregation import MICROAGGREGATION  # noqa: PLC0415
    from tcdp_audit_plugins.remedies.mondrian import MONDRIAN  # noqa: PLC0415
    from tcdp_audit_plugins.remedies.noise import NOISE, T_BY_NOISE  # noqa: PLC0415
    from tcdp_audit_plugins.remedies.pram import PRAM  # noqa: PLC0415
    from tcdp_audit_plugins.remedies.rank_swapping import RANK_SWAPPING  # noqa: PLC0415
    from tcdp_audit_plugins.remedies.rebucketize import REBUCKETIZE  # noqa: PLC0415
    from tcdp_audit_plugins.remedies.redistribution import REDISTRIBUTION  # noqa: PLC0415
    from tcdp_audit_plugins.remedies.redraw_pseudonym import REDRAW_PSEUDONYM  # noqa: PLC0415
    from tcdp_audit_plugins.remedies.rounding import ROUNDING  # noqa: PLC0415
    from tcdp_audit_plugins.remedies.suppress_events import SUPPRESS_EVENTS  # noqa: PLC0415
    from tcdp_audit_plugins.remedies.suppress_units import SUPPRESS_UNITS  # noqa: PLC0415
    from tcdp_audit_plugins.remedies.suppression import SUPPRESSION  # noqa: PLC0415
    from tcdp_audit_plugins.remedies.top_bottom_coding import TOP_BOTTOM_CODING  # noqa: PLC0415
    from tcdp_audit_plugins.remedies.truncate_histories import TRUNCATE_HISTORIES  # noqa: PLC0415

    yield from (BUCKETIZATION, REBUCKETIZE, MONDRIAN, REDISTRIBUTION, GENERALIZATION, MICROAGGREGATION, SUPPRESSION)
    yield from (GLOBAL_RECODING, TOP_BOTTOM_CODING, ROUNDING, RANK_SWAPPING, DATA_SHUFFLING, PRAM)
    yield from (CORRELATED_NOISE, NOISE, T_BY_NOISE)
    yield from (REDRAW_PSEUDONYM, TRUNCATE_HISTORIES, COARSEN_TIME, SUPPRESS_EVENTS, SUPPRESS_UNITS)
