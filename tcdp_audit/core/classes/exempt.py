"""Records that are suppressed throughout, which a policy may exempt from its demands."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.encoding.counted import CountedCodes
from tcdp_audit.core.encoding.domain import Domain


def suppressed_in_all(shard: CountedCodes, domains: Sequence[Domain]) -> NDArray[np.bool_]:
    """Which rows have a suppressed cell in every one of some attributes, at least one. Shape (rows,)."""
    return reduce(np.logical_and, (np.isin(shard[one.attribute], list(one.suppressed)) for one in domains))


def without_exempt(shard: CountedCodes, exempt: Sequence[Domain]) -> CountedCodes:
    """A shard without the records that are suppressed in every one of some attributes; the shard itself for none."""
    return shard.take(~suppressed_in_all(shard, exempt)) if exempt else shard
