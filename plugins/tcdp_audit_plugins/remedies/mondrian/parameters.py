"""The parameters of mondrian, and when it is proposed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from tcdp_audit.plugin.detector import Exact, PolicyDocument, Role, Text
from tcdp_audit.plugin.remedy import RemedyParameters, RemedyView
from tcdp_audit.plugin.sentences import Outcome
from tcdp_audit_plugins.remedies._shared.class_size import ClassSize
from tcdp_audit_plugins.remedies._shared.scope import only_by_size


class MondrianParameters(RemedyParameters):
    """Parameters of `mondrian`."""

    attributes: Annotated[
        list[Text] | None,
        Field(
            min_length=1, description="The quasi-identifiers to generalise; without it, all. Others stay as they are."
        ),
    ] = None
    k: ClassSize = None
    weights: Annotated[
        dict[Text, Annotated[Exact, Field(gt=0)]] | None,
        Field(
            min_length=1,
            description="How much the detail of an attribute matters beside others': {age: 2}; 1 where not named.",
        ),
    ] = None


def faults(parameters: MondrianParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Faults that only the policy as a whole shows: (parameter, sentence)."""
    quasi_identifiers = {name for name, one in document.attributes.items() if one.role is Role.QUASI_IDENTIFIER}
    for field in ("attributes", "weights"):
        for name in getattr(parameters, field) or ():
            if name not in quasi_identifiers:
                yield field, f"{name!r} is no quasi-identifier of the policy"
            elif field == "weights" and name not in (parameters.attributes or quasi_identifiers):
                yield field, f"{name!r} is not among `attributes`, so that its weight has no use"


def why_not_applicable(view: RemedyView, parameters: MondrianParameters | None, outcome: Outcome) -> str:
    """Why cutting the records into classes cannot help a failing demand, or nothing."""
    return only_by_size(view, outcome, sized=parameters is None or parameters.k is not None)
