"""People of households: the composition of each household as a code, and how far people are alike by it.

The composition of a household is the multiset of its people, and a person with several rows is the multiset of these.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.encoding.counted import CountedCodes
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.keys import fold, numbered
from tcdp_audit.core.units.coding import CodedHistories, OwnedRows, code_histories

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class People:
    """The people of a table.

    Args:
        home: the household of each, shape (people,).
        label: the code of what is known of each: of the row, or of all rows. Shape (people,).
        times: how many people each of these is, shape (people,).
    """

    home: Numbers
    label: Numbers
    times: Numbers


@dataclass(frozen=True)
class Members:
    """The likeness of the people of households.

    Args:
        people: the number of people.
        in_households_alone: how many are in a household whose composition no other one has.
        least_alike: the least number of people who fit, over people: the households of the composition,
            times the members of the own household with the same values.
        without_their_like: how many people could be no one else: that number is 1.
        with_one_alone: how many are in a household with a person whom no one in the release is like.
    """

    people: int
    in_households_alone: int
    least_alike: int
    without_their_like: int
    with_one_alone: int

    def as_details(self) -> dict[str, int]:
        """The details of an outcome."""
        return {
            "people": self.people,
            "people_in_households_alone": self.in_households_alone,
            "people_alike": self.least_alike,
            "people_without_their_like": self.without_their_like,
            "people_in_a_household_with_one_alone": self.with_one_alone,
        }


def nested_histories(rows: CountedCodes, person: Domain | None, known: OwnedRows) -> CodedHistories:
    """The histories of units, or the compositions of households.

    Args:
        rows: with the column of `person`.
        person: the people of households, where some have several rows; None otherwise.
        known: what is known of each row, with the unit or household.

    Cost: that of `code_histories`, twice for people with several rows.
    """
    if person is None:
        return known.histories(rows.times)
    one = people_of(rows, person, known)
    return code_histories(one.home, one.label, known.owners, int(one.label.max(initial=-1)) + 1)


def people_of(rows: CountedCodes, person: Domain | None, known: OwnedRows) -> People:
    """The people of households, each with what is known: the label of a row, or the code of all rows of a person."""
    if person is None:
        return People(known.owner.astype(np.int64), known.label.astype(np.int64), rows.each)
    of_row = rows[person.attribute]
    home = np.full(person.size + 1, -1, dtype=np.int64)
    home[of_row] = known.owner
    own = code_histories(of_row, known.label, person.size + 1, known.labels, rows.times)
    there = np.flatnonzero(home >= 0)
    return People(home[there], own.codes[there], np.ones(len(there), dtype=np.int64))


def members_of(people: People, compositions: CodedHistories, present: NDArray[np.bool_]) -> Members:
    """The likeness of people by their households' compositions.

    Args:
        people: of all households.
        compositions: of the households, by their codes.
        present: which households count. Shape (households,).

    Cost: that of `numbered`, for the people.
    """
    counts = present[people.home]
    home, times = people.home[counts], people.times[counts]
    if not len(home):
        return Members(0, 0, 0, 0, 0)
    label = numbered(people.label[counts], int(people.label.max()) + 1)[1]
    households = np.bincount(compositions.codes[present], minlength=compositions.distinct)[compositions.codes[home]]
    keys = fold([home, label], [len(present), int(label.max()) + 1])
    place = numbered(keys.values, keys.span)[1]
    like_them = np.bincount(place, times).astype(np.int64)[place]  # members of the household with the same values
    alike = households * like_them
    is_alone = np.bincount(label, times)[label] == 1
    with_one_alone = np.bincount(home[is_alone], minlength=len(present))[home] > 0
    return Members(
        people=int(times.sum()),
        in_households_alone=int(times[households == 1].sum()),
        least_alike=int(alike.min()),
        without_their_like=int(times[alike == 1].sum()),
        with_one_alone=int(times[with_one_alone].sum()),
    )
