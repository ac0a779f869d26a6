"""What checks that look for identifiers in columns have in common: which columns, what is open, what is reported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Any, Protocol

from pydantic import Field

from tcdp_audit.plugin.check import TableView
from tcdp_audit.plugin.detector import Detection, Detections, Detector, Exact, PolicyDocument, Role, Text, detect
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Outcome, agree, column_of, count

NO_DETECTOR = "no plugin that takes part has a detector of identifiers, so nothing can be looked for"
SHOWN = 3  # columns of which a sentence says what they hold
SHARE, HINT_SHARE = Fraction(9, 10), Fraction(1, 2)


Allowed = Annotated[
    list[Text] | None,
    Field(description="Columns that may stay whatever they look like, such as a pseudonym."),
]
Share = Annotated[
    Exact, Field(gt=0, le=1, description="The least share of a column's distinct values, where these are digits.")
]
HintShare = Annotated[Exact, Field(gt=0, le=1, description="The least share where the column's name says the same.")]


class Looking(Protocol):
    """The parameters of such a check."""

    @property
    def allowed(self) -> list[Text] | None: ...
    @property
    def share(self) -> Fraction: ...
    @property
    def hint_share(self) -> Fraction: ...


def looked_at(view: TableView, parameters: Looking) -> list[str]:
    """The columns that a check looks at: not those that the policy declares as identifiers, allows, or joins by."""
    left_out = {*view.policy.with_role(Role.IDENTIFIER), view.policy.document.key, *(parameters.allowed or ())}
    return [one.name for one in view.engine.columns if one.name not in left_out]


def looked_for(
    view: TableView, parameters: Looking, columns: Sequence[str], detectors: Sequence[Detector]
) -> Detections:
    """What detectors say of columns. Cost: that of `detect`."""
    conventions = view.policy.conventions
    return detect(
        view.engine,
        detectors,
        columns,
        missing=(*conventions.missing_tokens, *conventions.suppressed_tokens),
        share=parameters.share,
        named_share=parameters.hint_share,
        seed=view.policy.document.seed,
    )


def require_decided(detections: Detections, known: Mapping[str, Detection]) -> None:
    """Insist that nothing is open that could turn the verdict.

    Raises:
        CheckError: a detector lacks its library, or a column cannot be read.
    """
    for one in detections.undecided:
        if one.column not in known:
            raise CheckError(
                f"column {one.column!r}: {one.reason}; or name the column among `allowed`, or the `detectors` to use"
            )
    for column, why in detections.unreadable.items():
        raise CheckError(f"column {column!r} cannot be looked at: {why}; drop it, or name it among `allowed`")


def details(
    detections: Detections, known: Mapping[str, Detection], columns: Sequence[str], detectors: Sequence[Detector]
) -> dict[str, Any]:
    """What an outcome says of the columns that are known, and of what is open."""
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


def faults(parameters: Looking, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Parameters that do not fit each other or the policy."""
    if parameters.hint_share > parameters.share:
        yield "hint_share", "it must not be larger than `share`: a name that agrees asks for less"
    for name in parameters.allowed or ():
        if name not in document.attributes and name not in (document.unit, document.key):
            yield "allowed", f"the policy declares no attribute {name!r}"


STILL_OPEN = "[; not decided of {undecided_columns}]"


def columns_in(outcome: Outcome, does: str, do: str) -> dict[str, Any]:
    """The values of sentences about columns that hold something.

    Args:
        outcome: of the check.
        does: what one more column does, in the singular.
        do: the same of several.
    """
    columns, details = outcome.details["columns"], outcome.details
    said = [f"{column_of(outcome, one)} holds {details['kinds'][one]}" for one in columns[:SHOWN]]
    more = len(columns) - SHOWN
    rest = f"; and {count(more, 'more column')} {agree(more, does, do)}" if more > 0 else ""
    return {
        "held": "; ".join(said) + rest,
        "number": len(columns),
        "first": columns[0] if columns else "",
        "undecided_columns": [*details["undecided"], *details["unreadable"]],
    }
