"""Pseudonyms that a remedy drew anew: whether a release also keeps its policy for the units behind them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil

import numpy as np
import pyarrow as pa

from tcdp_audit.core.base.outcome import Outcome
from tcdp_audit.core.base.words import count, listing
from tcdp_audit.core.encoding.counted import CountedCodes
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.keys import fold, numbered
from tcdp_audit.core.engines.arrow_types import array_of_numbers
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit.core.remedy.remedy import RemedyError
from tcdp_audit.core.remedy.treatment import differing
from tcdp_audit.core.repair.candidate import Candidate, OpenTable
from tcdp_audit.core.results.change_log import failing_demands
from tcdp_audit.core.session.inputs import AuditInputs
from tcdp_audit.core.units.behind import units_behind
from tcdp_audit.core.units.histories import root_of

UNSEEN = "which no one who has the release alone could see; redraw pseudonyms last, or say `unit_released: false`"


def require_units_behind(inputs: AuditInputs, before: OpenTable, after: Candidate) -> None:
    """Insist that a release with new pseudonyms keeps the demands on classes for the units behind them.

    The audit of a release knows its pseudonyms only: five of them may be one person's, which is no class of five.
    Two conditions are necessary. A class of new histories with at least k pseudonyms has at least k units. A demand on
    classes that holds for pseudonyms holds for single rows, too, where a unit counts once in a class, as without
    pseudonyms.

    Args:
        inputs: the policy, the options and the companion tables.
        before: the release before the repair.
        after: a candidate after some remedies, with its outcomes.

    Raises:
        RemedyError: a condition fails; the message has the number of classes, or the names of the checks.

    Cost: O(records) where the pseudonyms are those of the input; otherwise a sort of the records, and an audit of the
    demands on classes.
    """
    root = root_of(before.release)
    if root is None or not root.repeats:
        return
    units = before.table[root.attribute].take(array_of_numbers(after.retained))
    if not differing(units, after.table[root.attribute]):
        return
    _require_units_in_classes(before, after, root)
    failing = sorted({one.check for one in _failing_for_units(inputs, after, root.attribute, units)})
    if failing:
        raise RemedyError(
            f"{listing(failing)} would hold for new pseudonyms, and not for the units behind them, {UNSEEN}"
        )


def _require_units_in_classes(before: OpenTable, after: Candidate, root: Domain) -> None:
    k = _demanded_units(before.release.policy)
    if k is None:
        return
    release = after.opened.settled.release
    known = [*release.quasi_identifiers, release.domains[root.attribute]]
    codes = CountedCodes.joined([CountedCodes(one) for one in release.engine.batches(known)])
    labels = fold([codes[one.attribute] for one in known[:-1]], [one.size + 1 for one in known[:-1]])
    units = np.concatenate([one[root.attribute] for one in before.engine.batches([root])])[after.retained]
    label = numbered(labels.values, labels.span)[1].astype(np.int64)
    behind = units_behind(codes[root.attribute], units.astype(np.int64), label, ceil(k))
    if behind.hollow:
        raise RemedyError(
            f"{count(behind.hollow, 'class')} would have {ceil(k)} or more new pseudonyms of fewer units, {UNSEEN}"
        )


def _demanded_units(policy: Policy) -> Fraction | None:
    """The largest k that a demand asks for, of equivalence classes or of units with the same known rows."""
    limits = ((one.parameters, limit) for one in policy.expectations for limit in one.check.limits)
    numbers = (limit.demanded(parameters) for parameters, limit in limits if limit.parameter == "k")
    return max((k for k in numbers if k is not None), default=None)


def _failing_for_units(inputs: AuditInputs, after: Candidate, column: str, units: pa.ChunkedArray) -> list[Outcome]:
    """The demands on classes that fail for the units behind the pseudonyms, and not for the pseudonyms.

    Args:
        inputs: the policy, the options and the companion tables.
        after: the candidate, with its outcomes.
        column: the name of the column of pseudonyms.
        units: the unit of each of its records, as before the repair.
    """
    policy = inputs.policy
    checks = frozenset(one.check.name for one in policy.expectations if one.check.on_classes)
    document = policy.document.model_copy(update={"unit": column, "household": None, "unit_released": False})
    table = after.opened.settled.table
    table = table.set_column(table.column_names.index(column), column, units)
    with OpenTable(table, replace(inputs, policy=replace(policy, document=document))) as opened:
        failing = [one for one in failing_demands(opened.outcomes(checks)) if not one.is_structural]
    known = {(one.check, one.attribute) for one in after.failing_demands}
    return [one for one in failing if (one.check, one.attribute) not in known]
