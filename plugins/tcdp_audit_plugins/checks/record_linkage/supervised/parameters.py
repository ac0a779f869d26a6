"""Parameters of `supervised_record_linkage`, and why they cannot hold under a policy."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field

from tcdp_audit.plugin.detector import Exact
from tcdp_audit_plugins.checks.record_linkage.comparison import ComparedAttributes
from tcdp_audit_plugins.checks.record_linkage.supervised.families import FamilyName

Judged = Literal["worst_case", "held_out"]


class SupervisedLinkageParameters(ComparedAttributes):
    """Parameters of `supervised_record_linkage`."""

    at_most: Annotated[
        Exact | None,
        Field(ge=0, le=1, description="The largest share of records that may be linked correctly."),
    ] = None
    judged: Annotated[
        Judged,
        Field(
            description="Which share is demanded: of records that were learned from, or of those that were held out."
        ),
    ] = "worst_case"
    family: Annotated[FamilyName, Field(description="Which distances the intruder may learn.")] = "weighted_mean"
    solver: Annotated[
        Literal["surrogate", "milp"],
        Field(description="A search that is fast, or one that proves its result where there are few records."),
    ] = "surrogate"
    time_limit: Annotated[
        int,
        Field(
            ge=1,
            le=10**6,
            description="Seconds after which the search ends, half of them for the distance of all records and half "
            "for that of those who are not held out.",
        ),
    ] = 40
    train_share: Annotated[
        Exact, Field(gt=0, lt=1, description="The share of records that are learned from, the others being held out.")
    ] = Fraction(1, 2)
    seed: Annotated[int, Field(ge=0, description="Draws the records that are learned from.")] = 0
