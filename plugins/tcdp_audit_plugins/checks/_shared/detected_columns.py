"""Checks that look for identifiers in columns: which columns, what is open, what is reported."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Any

from pydantic import Field

from tcdp_audit.plugin.check import Parameters, TableFigure, TableView
from tcdp_audit.plugin.detector import Detection, Detections, Detector, Exact, PolicyDocument, Role, Text, detect
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Outcome, agree, column_of, count, say

NO_DETECTOR = "no plugin that takes part has a detector of identifiers, so nothing can be looked for"
SHOWN = 3  # columns of which a sentence says what they hold


class DetectionParameters(Parameters):
    """The parameters of such a check."""

    at_most: Annotated[int | None, Field(ge=0, description="The most such columns: 0.")] = None
    allowed: Annotated[
        list[Text] | None, Field(description="Columns that may stay whatever they look like, such as a pseudonym.")
    ] = None
    share: Annotated[
        Exact, Field(gt=0, le=1, description="The least share of a column's distinct values, where these are digits.")
    ] = Fraction(9, 10)
    hint_share: Annotated[
        Exact, Field(gt=0, le=1, description="The least share where the column's name says the same.")
    ] = Fraction(1, 2)


def figure_of_columns(
    view: TableView,
    parameters: DetectionParameters,
    detectors: Sequence[Detector],
    counted: Callable[[Detections], Mapping[str, Detection]],
) -> TableFigure:
    """The number of columns whose detections count; declared identifiers, allowed columns and the key are left out.

    Raises:
        CheckError: a demand would be kept, and a detector lacks its library, or a column cannot be read.

    Cost: that of `detect`.
    """
    left_out = {*view.policy.with_role(Role.IDENTIFIER), view.policy.document.key, *(parameters.allowed or ())}
    columns = [one.name for one in view.engine.columns if one.name not in left_out]
    conventions = view.policy.conventions
    detections = detect(
        view.engine,
        detectors,
        columns,
        missing=(*conventions.missing_tokens, *conventions.suppressed_tokens),
        share=parameters.share,
        named_share=parameters.hint_share,
        seed=view.policy.document.seed,
    )
    known = counted(detections)
    if parameters.at_most is not None and len(known) <= parameters.at_most:
        _require_decided(detections, known)
    return TableFigure(Fraction(len(known)), view.records, details=_details(detections, known, columns, detectors))


def _require_decided(detections: Detections, known: Mapping[str, Detection]) -> None:
    """Insist that nothing is open that could turn the verdict."""
    for one in detections.undecided:
        if one.column not in known:
            raise CheckError(
                f"column {one.column!r}: {one.reason}; or name the column among `allowed`, or the `detectors` to use"
            )
    for column, why in detections.unreadable.items():
        raise CheckError(f"column {column!r} cannot be looked at: {why}; drop it, or name it among `allowed`")


def _details(
    detections: Detections, known: Mapping[str, Detection], columns: Sequence[str], detectors: Sequence[Detector]
) -> dict[str, Any]:
    """Details of an outcome about the columns that are known, and about what is open."""
    return {
        "columns": [*known],
        "detectors": {name: one.detector.name for name, one in known.items()},
        "kinds": {name: one.detector.plural for name, one in known.items()},
        "shares": {name: one.evidence.share for name, one in known.items()},
        "base_rates": {name: one.evidence.base_rate for name, one in known.items()},
        "p_values": {name: one.evidence.p_value for name, one in known.items()},
        "named": [name for name, one in known.items() if one.is_named],
        "looked_at": len(columns),
        "looked_for": len(detectors),
        "undecided": sorted({one.column for one in detections.undecided} - known.keys()),
        "unreadable": [*detections.unreadable],
        "not_run": sorted(one.name for one in detectors if one.missing_library),
    }


def faults(parameters: DetectionParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Parameters that do not fit each other or the policy."""
    if parameters.hint_share > parameters.share:
        yield "hint_share", "it must not be larger than `share`: a name that agrees asks for less"
    for name in parameters.allowed or ():
        if name not in document.attributes and name not in (document.unit, document.key):
            yield "allowed", f"the policy declares no attribute {name!r}"


STILL_OPEN = "[; not decided of {undecided_columns}]"


def columns_in(outcome: Outcome, does: str, do: str) -> dict[str, Any]:
    """The values of sentences about columns; `does` and `do` are the verb for one more column and for several."""
    columns, details = outcome.details["columns"], outcome.details
    said = [
        say("{column} holds {kind:text}", column=column_of(outcome, one), kind=details["kinds"][one])
        for one in columns[:SHOWN]
    ]
    more = len(columns) - SHOWN
    rest = f"; and {count(more, 'more column')} {agree(more, does, do)}" if more > 0 else ""
    return {
        "held": "; ".join(said) + rest,
        "number": len(columns),
        "first": columns[0] if columns else "",
        "undecided_columns": [*details["undecided"], *details["unreadable"]],
    }
