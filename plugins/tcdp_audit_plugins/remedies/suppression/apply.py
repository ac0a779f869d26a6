"""The remedy itself: records or cells are suppressed, if few enough."""

from __future__ import annotations

from fractions import Fraction

from tcdp_audit.plugin import RemedyError, RemedyView, Treatment
from tcdp_audit_plugins.remedies.suppression.cells import suppress_cells
from tcdp_audit_plugins.remedies.suppression.parameters import Of, SuppressionParameters
from tcdp_audit_plugins.remedies.suppression.records import drop_records


def suppress(view: RemedyView, parameters: SuppressionParameters) -> Treatment:
    """Suppress records or cells until every class keeps the policy.

    Raises:
        RemedyError: nothing is demanded of classes, the search finds no way, or more would go than `at_most` allows.

    Cost: that of `drop_records` or of `suppress_cells`.
    """
    if not view.demands:
        raise RemedyError("the policy demands nothing of equivalence classes, so no suppression would help")
    if parameters.of is Of.RECORDS:
        treatment = drop_records(view)
        suppressed, total = int(treatment.notes["records"]), view.records
    else:
        treatment = suppress_cells(view, parameters.importance or {})
        suppressed = sum(treatment.notes["cells"].values())
        total = view.records * len(view.quasi_identifiers)
    _require_few(suppressed, total, parameters)
    return treatment


def _require_few(suppressed: int, total: int, parameters: SuppressionParameters) -> None:
    share = Fraction(suppressed, total)
    if share <= parameters.at_most:
        return
    enough = -(-suppressed * 10_000 // total) / 10_000  # rounded up
    what = "records" if parameters.of is Of.RECORDS else "quasi-identifier cells"
    raise RemedyError(
        f"{suppressed:,} of {total:,} {what} would have to be suppressed, and `at_most` allows "
        f"{int(parameters.at_most * total):,}; `at_most: {enough}` would do, and so may generalising first"
    )
