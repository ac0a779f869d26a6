"""The parameters of checks on concealment, and what they ask of a policy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from tcdp_audit.plugin.check import Parameters
from tcdp_audit.plugin.detector import Text


class ConcealmentParameters(Parameters):
    """Parameters of `k_concealment`."""

    k: Annotated[
        int | None, Field(ge=1, description="The least number of records that somebody must be hidden among.")
    ] = None
    attributes: Annotated[
        list[Text] | None,
        Field(min_length=1, description="The attributes that an intruder knows; without it, all quasi-identifiers."),
    ] = None


def known(parameters: ConcealmentParameters, quasi_identifiers: Sequence[str]) -> list[str]:
    """The attributes that an intruder knows, sorted."""
    return sorted(set(parameters.attributes or quasi_identifiers))
