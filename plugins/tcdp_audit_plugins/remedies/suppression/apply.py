"""The remedy itself: records or cells are suppressed, if few enough."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import partial
from typing import Any

from tcdp_audit.plugin.remedy import RemedyError, RemedyView, Treatment
from tcdp_audit.plugin.sentences import Outcome
from tcdp_audit_plugins.remedies._shared.class_size import sufficient_size
from tcdp_audit_plugins.remedies.suppression.cells import suppress_cells
from tcdp_audit_plugins.remedies.suppression.parameters import Of, SuppressionParameters
from tcdp_audit_plugins.remedies.suppression.quasi_identifier_cells import QuasiIdentifierCells
from tcdp_audit_plugins.remedies.suppression.records import drop_records


def suppress(view: RemedyView, parameters: SuppressionParameters) -> Treatment:
    """Suppress records or cells until every class keeps the policy.

    Raises:
        RemedyError: nothing is demanded of classes, the search finds no way, or more would go than `at_most` allows.

    Cost: that of `drop_records` or of `suppress_cells`.
    """
    demands = view.demands.of_classes(parameters.k)
    if not demands:
        raise RemedyError("the policy demands nothing of equivalence classes, so no suppression would help")
    if parameters.of is Of.RECORDS:
        treatment = drop_records(view, demands)
        suppressed, total = int(treatment.notes["records"]), view.records
    else:
        treatment = suppress_cells(view, demands, parameters.importance or {})
        suppressed = sum(treatment.notes["cells"].values())
        total = view.records * len(view.quasi_identifiers)
    _require_few(suppressed, total, parameters)
    return treatment


def plans(view: RemedyView, outcomes: tuple[Outcome, ...]) -> Iterator[Mapping[str, Any]]:
    """Parameters to try, where a class fails, or is too small for a demand that larger ones keep.

    Few records, or any cells.

    Args:
        view: the release.
        outcomes: what stands against it.
    """
    if not view.quasi_identifiers:
        return
    cells = QuasiIdentifierCells.of(view)
    if view.demands and not view.demands.kept_by(*cells.classes()).all():
        yield {"of": "records", "at_most": "0.05"}
        yield {"of": "cells"}
    for given in ({"of": "records", "at_most": "0.05"}, {"of": "cells"}) if view.class_sizes(outcomes) else ():
        size = sufficient_size(view, outcomes, partial(_of_size, view, given))
        if size is not None:
            yield {**given, "k": size}


def _of_size(view: RemedyView, given: Mapping[str, Any], k: int) -> Treatment:
    return suppress(view, SuppressionParameters.model_validate({**given, "k": k}))


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
