"""Pseudonyms that a remedy drew anew: whether a release keeps its policy for the units behind them, too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import ceil

import numpy as np
import pyarrow as pa

from tcdp_audit.core.auditor.views import known_rows_of
from tcdp_audit.core.base.frozen import FrozenDict, dataclass
from tcdp_audit.core.base.outcome import Outcome
from tcdp_audit.core.base.words import count, listing
from tcdp_audit.core.encoding.counted import CountedCodes
from tcdp_audit.core.encoding.keys import Codes, fold, numbered
from tcdp_audit.core.engines.arrow_types import array_of_numbers
from tcdp_audit.core.policy.model import AttributeDeclaration, Role
from tcdp_audit.core.policy.policy import Expectation, Policy
from tcdp_audit.core.remedy.remedy import RemedyError
from tcdp_audit.core.remedy.treatment import differing
from tcdp_audit.core.repair.candidate import Candidate, OpenTable
from tcdp_audit.core.results.change_log import failing_demands
from tcdp_audit.core.session.inputs import AuditInputs
from tcdp_audit.core.units.coding import code_histories, units_behind
from tcdp_audit.core.units.histories import HISTORY
from tcdp_audit.core.units.reading import root_of

UNSEEN = "which no one who has the release alone could see; redraw pseudonyms last, or say `unit_released: false`"


@dataclass(frozen=True)
class _Redrawn:
    """The rows of a release with new pseudonyms.

    Args:
        column: the name of the column of pseudonyms.
        units: the unit of each row, as its cell before the repair.
        unit: the same as a number. Shape (rows,).
        pseudonym: the new pseudonym of each row as a number. Shape (rows,).
        label: the combination of quasi-identifiers of each row as a number. Shape (rows,).
    """

    column: str
    units: pa.ChunkedArray
    unit: Codes
    pseudonym: Codes
    label: Codes

    @classmethod
    def of(cls, before: OpenTable, after: Candidate) -> _Redrawn | None:
        """The rows of a candidate; None if its pseudonyms are those of the input."""
        root = root_of(before.release)
        if root is None or not root.repeats:
            return None
        name, release = root.attribute, after.opened.settled.release
        units = before.table[name].take(array_of_numbers(after.retained))
        if not differing(units, after.table[name]):
            return None
        known = [*release.quasi_identifiers, release.domains[name]]
        codes = CountedCodes.joined([CountedCodes(one) for one in release.engine.batches(known)])
        labels = fold([codes[one.attribute] for one in known[:-1]], [one.size + 1 for one in known[:-1]])
        unit = np.concatenate([one[name] for one in before.engine.batches([root])])[after.retained].astype(np.int64)
        pseudonym = numbered(codes[name].astype(np.int64), known[-1].size + 1)[1].astype(np.int64)
        return cls(name, units, unit, pseudonym, numbered(labels.values, labels.span)[1].astype(np.int64))

    @property
    def histories(self) -> Codes:
        """The new history that each row is in, as a number. Shape (rows,)."""
        coded = code_histories(self.pseudonym, self.label, int(self.pseudonym.max()) + 1, int(self.label.max()) + 1)
        return coded.codes[self.pseudonym]


def require_units_behind(inputs: AuditInputs, before: OpenTable, after: Candidate) -> None:
    """Insist that a release with new pseudonyms keeps the demands on classes for the units behind them.

    The audit of a release knows its pseudonyms only: five of them may be one person's, which is no class of five.
    Two conditions are necessary. A class of new histories with at least k pseudonyms has at least k units. A demand on
    classes that holds for pseudonyms holds in classes of rows, too, where a unit counts once: rows that agree in their
    quasi-identifiers and, unless a single row is known, in the history of their pseudonym.

    Args:
        inputs: the policy, the options and the companion tables.
        before: the release before the repair.
        after: a candidate after some remedies, with its outcomes.

    Raises:
        RemedyError: a condition fails; the message has the number of classes, or the names of the checks.

    Cost: O(records) where the pseudonyms are those of the input; otherwise a sort of the records, and an audit of the
    demands on classes.
    """
    rows = _Redrawn.of(before, after)
    if rows is None:
        return
    k = _demanded_units(inputs.policy)
    hollow = 0 if k is None else units_behind(rows.pseudonym, rows.unit, rows.label, ceil(k)).hollow
    if k is not None and hollow:
        raise RemedyError(
            f"{count(hollow, 'class')} would have {ceil(k)} or more new pseudonyms of fewer units, {UNSEEN}"
        )
    failing = sorted({one.check for one in _failing_for_units(inputs, after, rows)})
    if failing:
        raise RemedyError(
            f"{listing(failing)} would hold for new pseudonyms, and not for the units behind them, {UNSEEN}"
        )


def require_units_behind_parts(policy: Policy, classes: Codes, units: Codes) -> None:
    """Insist that several linked tables keep their policy where units are divided by new pseudonyms.

    A class of whole histories with at least k pseudonyms must have at least k units. Where no class has two pseudonyms
    of one unit, demands on attributes hold for units as well, since each counts once. Every other demand counts
    pseudonyms, and is refused.

    Args:
        policy: the policy.
        classes: the class of each pseudonym, as a number. Shape (pseudonyms,).
        units: the unit behind each. Shape (pseudonyms,).

    Raises:
        RemedyError: a condition fails; the message has the number of classes, or the names of the checks.
    """
    pseudonyms = np.bincount(classes)
    keys = fold([classes, units], [len(pseudonyms), int(units.max(initial=0)) + 1])
    behind = np.bincount(keys.decode(numbered(keys.values, keys.span)[0])[0], minlength=len(pseudonyms))
    k = ceil(_demanded_units(policy) or 1)
    hollow = int(((pseudonyms >= k) & (behind < k)).sum())
    if hollow:
        raise RemedyError(
            f"{count(hollow, 'class')} would have {k} or more new pseudonyms of fewer units, which no one who has the "
            "release alone could see; make rows coarser or histories shorter first"
        )
    are_apart = bool((pseudonyms == behind).all())
    counted = sorted({one.check.name for one in policy.expectations if not _holds_for_units(one, are_apart=are_apart)})
    if counted:
        raise RemedyError(f"{listing(counted)} would count new pseudonyms, and not the units behind them")


def _holds_for_units(demand: Expectation, *, are_apart: bool) -> bool:
    """Whether a demand that holds for pseudonyms holds for units; see `require_units_behind_parts`."""
    check, demanded = demand.check, demand.check.demands(demand.parameters)
    if not demanded or not check.on_classes:
        return not demanded
    if not check.on_attribute:
        return check.judges_each_class and demanded.keys() == {"k"}
    return are_apart and (check.judges_each_class or not any(demanded.values()))  # a share is one of pseudonyms


def _demanded_units(policy: Policy) -> Fraction | None:
    """The largest k that a demand asks for, of equivalence classes or of units with the same known rows."""
    limits = ((one.parameters, limit) for one in policy.expectations for limit in one.check.limits)
    numbers = (limit.demanded(parameters) for parameters, limit in limits if limit.parameter == "k")
    return max((k for k in numbers if k is not None), default=None)


def _failing_for_units(inputs: AuditInputs, after: Candidate, rows: _Redrawn) -> Iterator[Outcome]:
    """The demands on classes that fail for the units behind the pseudonyms, and not for the pseudonyms."""
    policy, table = inputs.policy, after.opened.settled.table
    attributes = {**policy.attributes, HISTORY: AttributeDeclaration(role=Role.QUASI_IDENTIFIER)}
    document = policy.document.model_copy(update={"unit": rows.column, "household": None, "unit_released": False})
    whole = document.model_copy(update={"attributes": FrozenDict(attributes)})
    table = table.set_column(table.column_names.index(rows.column), rows.column, rows.units)
    known = {one.name for one in after.failing_demands}
    on_classes = [one for one in policy.expectations if one.check.on_classes]
    for number, judged in (("one", document), ("all", whole)):
        asked = tuple(one for one in on_classes if known_rows_of(one, policy) == number)
        if not asked:
            continue
        if judged is whole:
            table = table.append_column(HISTORY, array_of_numbers(rows.histories))
        of_units = replace(inputs, policy=replace(policy, document=judged, expectations=asked))
        with OpenTable(table, of_units) as opened:
            failing = failing_demands(opened.outcomes(frozenset(one.check.name for one in asked)))
        yield from (one for one in failing if not one.is_structural and one.name not in known)
