"""Small remedies whose effect is plain to see, to hold the loop against."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from tcdp_audit.core.remedy.remedy import NewColumn, Remedy, RemedyError, RemedyGuide, RemedyParameters, Treatment
from tcdp_audit.core.remedy.view import RemedyView
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.plugin.check import hookimpl

GUIDE = RemedyGuide("m.", "c.", "g.", "s", "- toy: {}")


class On(RemedyParameters):
    attribute: Annotated[str, Field(description="The column.")] = "age"


def constant(view: RemedyView, parameters: On) -> Treatment:
    """One interval for every record."""
    column = NewColumn(np.array(["[0, 99]"], dtype=object), np.zeros(view.records, dtype=np.int64))
    return Treatment({parameters.attribute: column}, notes={"columns": 1})


def without_unique(view: RemedyView, _: On) -> Treatment:
    """Drop the records that are alone with their value."""
    one = view.attribute("age")
    return Treatment(retained=np.bincount(one.codes, minlength=one.domain.size + 1)[one.codes] > 1)


def untouched(view: RemedyView, _: On) -> Treatment:
    """The column as it is, spelled out."""
    one = view.attribute("age")
    return Treatment({"age": NewColumn(one.domain.values, one.codes.astype(np.int64))})


def halves(view: RemedyView, _: On) -> Treatment:
    """Below and above 40, as intervals."""
    one = view.attribute("age")
    low = np.append(one.numbers < 40, False)[one.codes]
    codes = np.where(one.codes == one.domain.size, 2, np.where(low, 0, 1))
    return Treatment({"age": NewColumn(np.array(["[0, 40)", "[40, 99]"], dtype=object), codes)})


def refusing(_: RemedyView, __: On) -> Treatment:
    raise RemedyError("it cannot be done; ask for less")


def raising(_: RemedyView, __: On) -> Treatment:
    raise KeyError("zqcellzq")


def lying(view: RemedyView, _: On) -> Treatment:
    """Codes that stand for no cell."""
    return Treatment({"age": NewColumn(np.array(["*"], dtype=object), np.full(view.records, 7))})


def inventing(view: RemedyView, _: On) -> Treatment:
    return Treatment({"new": NewColumn(np.array(["*"], dtype=object), np.zeros(view.records, dtype=np.int64))})


@dataclass
class Toys:
    """A plugin of toy remedies.

    Args:
        functions: what each does, by name.
        plans: what each proposes where the policy names no remedy.
    """

    functions: Mapping[str, Callable[[RemedyView, On], Treatment]]
    plans: Mapping[str, list[dict[str, Any]]] = field(default_factory=dict)

    @hookimpl
    def tcdp_audit_remedies(self) -> Iterator[Remedy[On]]:
        for name, function in self.functions.items():
            proposed = self.plans.get(name, [])
            yield Remedy(
                name=name,
                title=name,
                summary="Does little.",
                guide=GUIDE,
                parameters=On,
                apply=function,
                suggest_parameters=lambda _, __, proposed=proposed: proposed,
            )


def plugins(plans: Mapping[str, list[dict[str, Any]]] | None = None, **functions: Any) -> Plugins:
    """The built-in checks and reports, and some toy remedies in place of the built-in ones."""
    loaded = Plugins.load(external=False, blocked=["remedies"])
    loaded.register(Toys(functions, plans or {}), "toys")
    return loaded
