"""Release, original and hold-out as points of one space, in which an intruder looks for the nearest records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from tcdp_audit.plugin.check import TableView
from tcdp_audit.plugin.detector import Scale
from tcdp_audit.plugin.engine import CheckError, CodedTable
from tcdp_audit_plugins.checks._shared.beside_control import CONTROL
from tcdp_audit_plugins.checks.control.gower import Gower, Points
from tcdp_audit_plugins.checks.control.risk import companions_of, require_comparable


@dataclass(frozen=True)
class Tables:
    """The tables of an attack, coded together.

    Args:
        released: the release.
        targets: the original, and the hold-out if there is one.
    """

    released: CodedTable
    targets: Sequence[CodedTable]

    @classmethod
    def of(cls, view: TableView, names: Sequence[str], *companions: str) -> Tables:
        """Some columns of the release and of some companions; by default the original, and the hold-out if it is there.

        Raises:
            CheckError: there is no such table, it lacks a column or has no record, or the memory is too small.
        """
        chosen = companions or companions_of(view)
        released, *targets = view.coded(sorted(set(names)), *chosen)
        require_comparable(view)
        return cls(released, targets)


@dataclass(frozen=True)
class Places:
    """The records of all tables as points.

    Args:
        gower: the distance between them.
        released: points of the release.
        targets: points of the original, and of the hold-out if there is one.
    """

    gower: Gower
    released: Points
    targets: Sequence[Points]

    @classmethod
    def of(cls, view: TableView, tables: Tables, names: Sequence[str]) -> Places:
        """Points by some attributes.

        Raises:
            CheckError: none of them varies, or one has no value in a table.
        """
        for table, name in product(tables.targets, names):
            if (table.codes[name] == table.domains[name].size).all():
                raise CheckError(
                    f"column {name!r} has no value in {table.name}, so nobody there can be near to anybody by it; "
                    "leave it out, or check that this is the right table"
                )
        gower = Gower.of(tables.targets, {name: scale_of(view, name) for name in names})
        return cls(gower, gower.points(tables.released), [gower.points(one) for one in tables.targets])

    @classmethod
    def of_both(cls, view: TableView, attributes: Sequence[str] | None) -> Places:
        """Points of release, original and hold-out by the attributes that are named, else by all quasi-identifiers.

        Raises:
            CheckError: there is no hold-out, or none of the attributes varies.
        """
        names = known_attributes(attributes, view.quasi_identifiers)
        return cls.of(view, Tables.of(view, names, "original", CONTROL), names)


def scale_of(view: TableView, name: str) -> Scale:
    """The declared scale of an attribute; without one its values are equal or not."""
    return view.policy.attributes[name].scale or Scale.NOMINAL


def known_attributes(attributes: Sequence[str] | None, quasi_identifiers: Sequence[str], *others: str) -> list[str]:
    """What the intruder knows, sorted: the attributes that are named, else all quasi-identifiers but for others."""
    chosen = attributes or [name for name in quasi_identifiers if name not in others]
    return sorted(set(chosen))
