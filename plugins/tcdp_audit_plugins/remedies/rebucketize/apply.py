"""Rebucketize from beginning to end: how many buckets pass, and the column with them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin.detector import Role
from tcdp_audit.plugin.remedy import Attribute, NewColumn, RemedyError, RemedyView, Treatment
from tcdp_audit_plugins.remedies._shared.buckets import Buckets
from tcdp_audit_plugins.remedies._shared.search import largest
from tcdp_audit_plugins.remedies.rebucketize.coarsening import Coarsening, coarsening
from tcdp_audit_plugins.remedies.rebucketize.parameters import RebucketizeParameters
from tcdp_audit_plugins.remedies.rebucketize.trial import Classes, concerns

Integers = NDArray[np.int64]


def apply(view: RemedyView, parameters: RebucketizeParameters) -> Treatment:
    """Join neighbouring buckets of an attribute, as few of them as the policy demands.

    Raises:
        RemedyError: there is nothing to join, or even the fewest buckets do not pass.

    Cost: O(log v) trials for v buckets: each a sort of the classes for a quasi-identifier, an audit otherwise.
    """
    attribute = view.attribute(parameters.attribute)
    ways = coarsening(attribute)
    if not ways.numbers:
        number_of = "only one" if ways.values else "no"
        raise RemedyError(f"{attribute.name!r} has {number_of} value that could be joined")
    if parameters.buckets is not None:
        number, trials = _within(attribute, ways, parameters.buckets), 0
    else:
        number, trials = _passing(view, attribute, ways)
    notes = {"values": ways.values, "buckets": number, "trials": trials}
    return Treatment(columns={attribute.name: _column(attribute, ways.into(number))}, notes=notes)


def _within(attribute: Attribute, ways: Coarsening, limit: int) -> int:
    """The largest number of buckets up to a limit."""
    within = [number for number in ways.numbers if number <= limit]
    if not within or limit >= ways.values:
        raise RemedyError(
            f"{attribute.name!r} has {ways.values} different values already; joining them leaves fewer, not {limit}"
        )
    return within[-1]


def _passing(view: RemedyView, attribute: Attribute, ways: Coarsening) -> tuple[int, int]:
    """The largest number of buckets that passes, and how many numbers were tried."""
    least = 2 if attribute.declaration.role is Role.SENSITIVE else 1  # one bucket would not tell anything
    numbers = [number for number in ways.numbers if number >= least]
    passes, tried = _judge(view, attribute), list[int]()

    def attained(position: int) -> bool:
        tried.append(position)
        return passes(ways.into(numbers[position]))

    position = largest(attained, 0, len(numbers) - 1)
    if position is None:
        fewest = f"even {numbers[0]} of them do not pass" if numbers else f"{least} is the least there can be"
        raise RemedyError(f"joining the {ways.values} values of {attribute.name!r} does not help: {fewest}")
    return numbers[position], len(tried)


def _judge(view: RemedyView, attribute: Attribute) -> Callable[[Integers], bool]:
    """The rule that says whether buckets suffice.

    The demands on classes, where those of a quasi-identifier fail them; else an audit, because the buckets of a
    sensitive attribute change the distributions that closeness is measured against.
    """
    if attribute.declaration.role is Role.QUASI_IDENTIFIER and view.demands:
        classes = Classes.of(view, attribute)
        if not classes.keep(np.arange(attribute.domain.size)):
            return classes.keep
    if not any(one.blocks and concerns(view, one, attribute) for one in view.outcomes):
        raise RemedyError(f"nothing that fails concerns {attribute.name!r}; name `buckets` to join its values anyway")

    def audited(of_value: Integers) -> bool:
        outcomes = view.audited(Treatment(columns={attribute.name: _column(attribute, of_value)}))
        return not any(one.blocks and concerns(view, one, attribute) for one in outcomes)

    return audited


def _column(attribute: Attribute, of_value: Integers) -> NewColumn:
    """The attribute in buckets; a suppressed cell stays, and so does a missing one."""
    labels = Buckets(attribute, of_value).labels()
    suppressed = sorted(attribute.domain.suppressed)
    cells = [*labels.cells, *(attribute.domain.labels[code] for code in suppressed)]
    position = np.full(attribute.domain.size + 1, -1)
    position[suppressed] = np.arange(len(labels.cells), len(cells))
    position[attribute.domain.size] = len(cells)
    own = position[attribute.codes]
    return NewColumn.of_texts(cells, np.where(own < 0, labels.codes, own))
