"""Linkability: two lists about a person, joined by the released records that are nearest to both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.check import Check, DisclosureType, Need, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Text
from tcdp_audit.plugin.sentences import Comparison, Sentences
from tcdp_audit_plugins.checks._shared.control_comparison import Attack
from tcdp_audit_plugins.checks._shared.known_attributes import known_attributes, quasi_identifiers_of
from tcdp_audit_plugins.checks.control.risk import ControlParameters, compare_with_control, mean_credit, measurable
from tcdp_audit_plugins.checks.control.tables import CONTROL_PARTS, Places, Tables, each_block
from tcdp_audit_plugins.guides import built_in_guide

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


class LinkabilityParameters(ControlParameters):
    """Parameters of `linkability`."""

    other_attributes: Annotated[
        list[Text],
        Field(min_length=1, description="The attributes of the other list; those of the first are `attributes`."),
    ]
    at_most: Annotated[Exact | None, Field(ge=0, le=1, description="The largest risk that the release may add.")] = None


@dataclass(frozen=True)
class Released:
    """The release as both lists see it."""

    places: tuple[Places, Places]  # all tables by the attributes of each list
    both: csr_matrix  # how many released records are on each point of the first list and of the second at once

    @classmethod
    def of(cls, places: tuple[Places, Places], tables: Tables) -> Released:
        """Released records by their points."""
        from scipy.sparse import csr_matrix  # noqa: PLC0415 - takes a tenth of a second to import

        first, second = (one.released for one in places)
        each = tables.released.rows.each.astype(np.float64)
        return cls(places, csr_matrix((each, (first.point, second.point)), shape=(len(first), len(second))))

    def credits(self, target: int, points: tuple[NDArray[np.intp], NDArray[np.intp]]) -> Floats:
        """The probability that one nearest record of each list is the same, for people on points of both lists."""
        widths = sum(len(one.released) for one in self.places)
        blocks = each_block(len(points[0]), widths, lambda some: self._block(target, [one[some] for one in points]))
        return np.concatenate(blocks)

    def _block(self, target: int, points: list[NDArray[np.intp]]) -> Floats:
        from scipy.sparse import csr_matrix  # noqa: PLC0415 - loaded already

        near = [
            csr_matrix(
                one.gower.nearest(one.gower.distances(one.targets[target], some, one.released)), dtype=np.float64
            )
            for one, some in zip(self.places, points, strict=True)
        ]
        sizes = [one @ place.released.records for one, place in zip(near, self.places, strict=True)]
        common = (near[0] @ self.both).multiply(near[1]) @ np.ones(self.both.shape[1])
        return np.asarray(common / (sizes[0] * sizes[1]), np.float64)


def linkability(view: TableView, parameters: LinkabilityParameters) -> TableFigure:
    """The risk that the release joins two lists of attributes of one person.

    Of a person whose nearest released records are N_A by the first list and N_B by the second, all ties included, the
    credit is |N_A and N_B| / (|N_A| |N_B|).

    Returns:
        The upper end of the interval of (a_T - a_H) / (1 - a_H), a the mean credit; without a hold-out a_T.

    Raises:
        CheckError: nothing can be compared.

    Cost: O(records x released points x attributes) in blocks, for original and hold-out.

    Source: Giomi et al. (2023), with all ties and without a number of neighbours.
    """
    second = sorted(set(parameters.other_attributes))
    names = known_attributes(parameters.attributes, view.quasi_identifiers, *second)
    tables = Tables.of(view, [*names, *second])
    released = Released.of((Places.of(view, tables, names), Places.of(view, tables, second)), tables)
    attacks = [_attack(released, target, table.rows.each) for target, table in enumerate(tables.targets)]
    return compare_with_control(view, parameters, attacks, {"attributes": names, "other_attributes": second})


def _attack(released: Released, target: int, each: NDArray[np.int64]) -> Attack:
    """All records of a table; those that are equal in both lists are tried once."""
    first, second = (one.targets[target] for one in released.places)
    keys = first.point.astype(np.int64) * len(second) + second.point
    distinct, which = np.unique(keys, return_inverse=True)
    times = np.bincount(which, each, len(distinct))
    earned = released.credits(target, (distinct // len(second), distinct % len(second)))
    return mean_credit(earned, times)


def _faults(parameters: LinkabilityParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    own = quasi_identifiers_of(document)
    names = known_attributes(parameters.attributes, own, *parameters.other_attributes)
    for name in sorted(set(names) & set(parameters.other_attributes)):
        yield (
            "other_attributes",
            f"{name!r} is in both lists, which would be joined by it without the release; leave it out of one",
        )
    yield from measurable(sorted({*names, *parameters.other_attributes}) if names else [], document)


CHECKS: list[Check] = [
    TableCheck(
        name="linkability",
        title="Linkability compared with a control",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=LinkabilityParameters,
        measure=linkability,
        comparison=Comparison.AT_MOST,
        label="upper end of the risk of linking that the release adds",
        validate=_faults,
        needs={Need.HOLDOUT_FOR_DEMANDS},
        sentences=Sentences(
            passed=(
                "An intruder with one list of {details.attributes} and another of {details.other_attributes} joins "
                "them by the nearest released record, and is right for {on_both}: {added}."
            ),
            impact=(
                "An intruder who has {person}'s {details.attributes} on one list and {details.other_attributes} on "
                "another, and joins both by the nearest released record, {chances}."
            ),
            parts=CONTROL_PARTS,
        ),
        guide=built_in_guide(__file__, "linkability.md"),
    )
]
