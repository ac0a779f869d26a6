"""Base classes of the parameters of checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import Field

from tcdp_audit.core.base.outcome import Severity
from tcdp_audit.core.base.words import count
from tcdp_audit.core.policy.model import Model, Text
from tcdp_audit.core.policy.scalars import Exact


class Parameters(Model):
    """Base of every check's parameters. A field named as a `Threshold` says must have None as its default."""

    severity: Annotated[
        Severity, Field(strict=False, description="Whether a failure fails the audit or only warns.")
    ] = Severity.ERROR

    def figures(self) -> dict[str, Any]:
        """The parameters that were given or default, without what every check has and without None.

        Texts in a list are values of an attribute, unless they are `attributes` themselves: those are counted here and
        not named, because an outcome holds no cell.
        """
        own = ((name, getattr(self, name)) for name in type(self).model_fields)
        given = {name: value for name, value in own if name not in ("severity", "attribute") and value is not None}
        return {name: value if name == "attributes" else _without_cells(value) for name, value in given.items()}

    def files(self) -> Iterator[tuple[str, str | None, str]]:
        """The files that they name, relative to the policy: what each is, whose attribute's, and where it lies."""
        yield from ()


def _without_cells(value: Any) -> Any:
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        return count(len(value), "value")
    return value


class AttributeParameters(Parameters):
    """Base of the parameters of a check on a sensitive attribute."""

    attribute: Annotated[
        Text | None, Field(description="The sensitive attribute; without it, each of them in turn.")
    ] = None


class ShareParameters(AttributeParameters):
    """Base of the parameters of an `AttackCheck` on a sensitive attribute."""

    at_most: Annotated[Exact | None, Field(ge=0, le=1, description="The largest share of records exposed.")] = None
