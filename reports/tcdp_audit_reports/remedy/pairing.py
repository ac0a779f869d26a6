"""Outcomes of two audits under one policy, put side by side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from tcdp_audit.plugin._internal import number
from tcdp_audit.plugin.sentences import Outcome


def key_of(outcome: Outcome) -> tuple[str, str | None, str]:
    """What tells an expectation from another: its check, its attribute and what it demands."""
    return outcome.check, outcome.attribute, repr(sorted(number(outcome.parameters).items()))


def side_by_side(before: Sequence[Outcome], after: Sequence[Outcome]) -> Iterator[tuple[Outcome | None, Outcome]]:
    """Each later outcome with the earlier one of the same expectation, or None where there was none."""
    earlier = defaultdict(list)
    for one in reversed(before):
        earlier[key_of(one)].append(one)
    for one in after:
        same = earlier[key_of(one)]
        yield (same.pop() if same else None), one
