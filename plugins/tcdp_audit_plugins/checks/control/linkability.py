"""Linkability: two lists about a person, joined by the released records that are nearest to both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin._internal import Check, Floats
from tcdp_audit.plugin.check import Comparison, DisclosureType, Guide, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Text
from tcdp_audit.plugin.sentences import Outcome, an_intruder, columns_of
from tcdp_audit_plugins.checks._shared.control_comparison import CONTROL, Attack
from tcdp_audit_plugins.checks._shared.known_attributes import known_attributes, quasi_identifiers_of
from tcdp_audit_plugins.checks.control.risk import (
    ControlParameters,
    compare_with_control,
    judged_beside_control,
    mean_credit,
    measurable,
)
from tcdp_audit_plugins.checks.control.sentences import (
    ABOUT_CONTROL,
    CHOOSING,
    CUT,
    GIOMI,
    OPINION,
    READING,
    added,
    chances,
    on_both,
)
from tcdp_audit_plugins.checks.control.tables import Places, Tables, each_block
from tcdp_audit_plugins.formulas import formula

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


class LinkabilityParameters(ControlParameters):
    """Parameters of `linkability`."""

    second: Annotated[
        list[Text],
        Field(min_length=1, description="The attributes of the other list; those of the first are `attributes`."),
    ]
    at_most: Annotated[Exact | None, Field(ge=0, le=1, description="The largest risk that the release may add.")] = None


@dataclass(frozen=True)
class Released:
    """The release as both lists see it.

    Args:
        places: all tables by the attributes of each list.
        both: how many released records are on each point of the first list and of the second at once.
    """

    places: tuple[Places, Places]
    both: csr_matrix

    @classmethod
    def of(cls, places: tuple[Places, Places], tables: Tables) -> Released:
        """Released records by their points."""
        from scipy.sparse import csr_matrix  # noqa: PLC0415 - takes a tenth of a second to import

        first, second = (one.released for one in places)
        each = tables.released.rows.each.astype(np.float64)
        return cls(places, csr_matrix((each, (first.point, second.point)), shape=(len(first), len(second))))

    def credits(self, target: int, points: tuple[NDArray[np.intp], NDArray[np.intp]]) -> Floats:
        """Of people on points of both lists the probability that one nearest record of each is the same."""
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
    second = sorted(set(parameters.second))
    names = known_attributes(parameters.attributes, view.quasi_identifiers, *second)
    tables = Tables.of(view, [*names, *second])
    released = Released.of((Places.of(view, tables, names), Places.of(view, tables, second)), tables)
    attacks = [_attack(released, target, table.rows.each) for target, table in enumerate(tables.targets)]
    return compare_with_control(view, parameters, attacks, {"first": names, "second": second})


def _attack(released: Released, target: int, each: NDArray[np.int64]) -> Attack:
    """All records of a table; those that are equal in both lists are tried once."""
    first, second = (one.targets[target] for one in released.places)
    keys = first.point.astype(np.int64) * len(second) + second.point
    distinct, which = np.unique(keys, return_inverse=True)
    times = np.bincount(which, each, len(distinct))
    earned = released.credits(target, (distinct // len(second), distinct % len(second)))
    return mean_credit(earned, times)


def _faults(parameters: LinkabilityParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    yield from judged_beside_control(parameters, document)
    own = quasi_identifiers_of(document)
    names = known_attributes(parameters.attributes, own, *parameters.second)
    for name in sorted(set(names) & set(parameters.second)):
        yield (
            "second",
            f"{name!r} is in both lists, which would be joined by it without the release; leave it out of one",
        )
    yield from measurable(sorted({*names, *parameters.second}) if names else [], document)


def _sentence(outcome: Outcome) -> str:
    first, second = (columns_of(outcome, outcome.details[name]) for name in ("first", "second"))
    who = f"An intruder with one list of {first} and another of {second} joins them by the nearest released record"
    return f"{who}, and is right for {on_both(outcome)}: {added(outcome)}."


def _person(outcome: Outcome) -> str:
    first, second = (columns_of(outcome, outcome.details[name]) for name in ("first", "second"))
    lists = f"Whoever has {an_intruder(outcome)}'s {first} on one list and {second} on another"
    return f"{lists}, and joins both by the nearest released record, {chances(outcome)}."


CHECKS: list[Check] = [
    TableCheck(
        name="linkability",
        title="Linkability beside a control",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=LinkabilityParameters,
        measure=linkability,
        comparison=Comparison.AT_MOST,
        label="upper end of the risk of linking that the release adds",
        requires=frozenset({CONTROL}),
        validate=_faults,
        sentence=_sentence,
        person=_person,
        guide=Guide(
            question="Does the release join what two lists have about a person, more often than by chance?",
            risk="Somebody with two lists about the same people may join them by the release.",
            definition=(
                "The intruder has two lists without a column in common, say of addresses and of purchases. For each "
                "entry the nearest released records are looked for, by Gower's distance with all ties; entries whose "
                "nearest record is the same are joined. One record is taken at random among those that tie for nearest "
                "to the entry in the first list, and one likewise for the second: the credit of a person is the "
                "probability that both are the same one. The risk is what the people of the original earn beyond those "
                "of a hold-out."
            ),
            **formula(
                r"\frac{a_T - a_H}{1 - a_H} \text{ (upper end) } \le \text{at\_most}",
                r"a = \frac{1}{n} \sum_i \frac{|A_i \cap B_i|}{|A_i| |B_i|}",
                r"A_i, B_i \text{ released records nearest to } i",
                r"\text{by the first and the second list}",
            ),
            reading=f"{READING} `first` and `second` name the columns of both lists.",
            choosing=CHOOSING,
            limits=(
                f"{ABOUT_CONTROL} Whether the joined record is that of the person is not asked: people of the hold-out "
                "have none. Ties of a coarse list leave little to earn, so a low value says more of the lists than of "
                f"the release. All pairs are compared: tables of 100,000 records each take minutes. {CUT}"
            ),
            source=f"{OPINION}: linkability; {GIOMI}",
            example="- linkability: {attributes: [age, sex], second: [zip, education], at_most: 0.1}",
        ),
    ),
]
