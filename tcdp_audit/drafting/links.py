"""Links between tables, by their values and their names; and the column of one table that joins the rows of a person.

The rows of a table can belong to those of another by a column that both have, if each of its values occurs in one row
of the other table. All values are compared, as an audit compares them. Where names and values leave several links open,
or none, a person decides, and sees what speaks for each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tcdp_audit.drafting.column import ColumnFacts
from tcdp_audit.drafting.common_columns import (
    NUMBERS,
    DraftLink,
    ReadTable,
    doubt_about,
    is_complete,
    is_included,
    notes_of_link,
    notes_of_open_link,
    places_in,
)
from tcdp_audit.drafting.vocabulary import words_of
from tcdp_audit.plugin.engine import RawDomain
from tcdp_audit.plugin.sentences import agree, count, listing

PEOPLE = frozenset(  # words of the names of columns that identify a person, next to those of numbers
    (
        *("person", "patient", "customer", "user", "employee", "student", "client", "member", "subject", "case"),
        *("participant", "respondent", "individual", "pupil", "citizen", "pseudonym", "pid", "uid", "identifier"),
        *("kundennummer", "personalnummer", "patientennummer", "fallnummer", "matrikelnummer", "personen", "patienten"),
        *("identifiant", "identificador", "identificativo", "membership"),
    )
)
HOUSEHOLDS = frozenset(
    {"household", "hhid", "hh", "hid", "haushalt", "haushalts", "family", "menage", "hogar", "dwelling"}
)
MEMBERS = 30  # of a household on average, at most


@dataclass(frozen=True)
class ProposedLinks:
    """The links of some tables, as far as they are found.

    Args:
        top: the table that belongs to no other; None where this is for a person to decide.
        unit: its column that the others belong to; None likewise.
        links: the link of each table that has one, by its name.
        implied: columns of a table that say what its link says already, by the name of the table.
        undecided: columns that may link a table or its children where several links are open, by the name of the table.
        notes: sentences on the link of each table, or on what was found in its place.
    """

    top: str | None = None
    unit: str | None = None
    links: Mapping[str, DraftLink] = field(default_factory=dict)
    implied: Mapping[str, Sequence[str]] = field(default_factory=dict)
    undecided: Mapping[str, Collection[str]] = field(default_factory=dict)
    notes: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def columns_of(self, table: str) -> set[str]:
        """The columns of a table that link it: to its parent, to its children, and as the unit."""
        own = {self.links[table].column} if table in self.links else set()
        children = {one.column for one in self.links.values() if one.parent == table}
        return own | children | ({self.unit} if self.unit is not None and table == self.top else set())


def propose_links(tables: Sequence[ReadTable]) -> ProposedLinks:
    """Propose the link of each table, the table of units, and the unit.

    A link that another one implies is no second one: prescriptions that name their visit and their patient belong to
    the visit, if that is one of the same patient in every row.

    Cost: O(distinct values) for each column that two tables have, and a pass over two columns for each implied link.
    """
    by_name = {one.name: one for one in tables}
    possible = {one.name: _possible(one, tables) for one in tables}
    chosen = {name: _without_implied(by_name[name], links, possible, by_name) for name, links in possible.items()}
    links = {name: links[0] for name, (links, _) in chosen.items() if len(links) == 1}
    links = {name: one for name, one in links.items() if not _is_circular(name, links)}
    top = _top(possible)
    implied = {name: _settled(name, {one: columns for one, (_, columns) in chosen.items()}, links) for name in links}
    notes: dict[str, Sequence[str]] = {}
    for name, table in by_name.items():
        if name in links:
            notes[name] = notes_of_link(table, by_name, links[name], implied[name])
        elif name != top:
            notes[name] = notes_of_open_link(table, tables, chosen[name][0])
    unit = None if top is None else _unit(by_name[top], links, possible)
    undecided: dict[str, set[str]] = {one.name: set() for one in tables}
    for name, (open_links, _) in chosen.items():
        for one in open_links if name not in links else ():
            undecided[name].add(one.column)
            undecided[one.parent].add(one.column)
    return ProposedLinks(top, unit, links, implied, undecided, notes)


def unit_of(columns: Mapping[str, ColumnFacts], pseudonyms: Sequence[str]) -> tuple[str | None, str]:
    """The column that joins the rows of a person in one table, and a sentence on what was found.

    Args:
        columns: the facts of all columns.
        pseudonyms: those whose names or values are of numbers of records or persons, and name no one directly.

    Returns:
        The column, if the pseudonym of one kind of people repeats; None with a sentence where those of several do, or
        others, such as one of hospitals.
    """
    repeating = [name for name in pseudonyms if columns[name].distinct < columns[name].filled]
    repeating = [name for name in repeating if name != household_of(columns)]
    if not repeating or len(columns) == 1:  # then there is nothing to judge
        return None, ""
    people = [name for name in repeating if {*words_of(name)} <= PEOPLE | NUMBERS]
    if len(people) != 1:
        named = [repr(one) for one in people or repeating]
        names, are = listing(named), agree(len(named), "repeats", "repeat")
        is_household = any(HOUSEHOLDS.intersection(words_of(name)) for name in repeating)
        other = ", or `household:` where it is that of people who live together," if is_household else ""
        return None, (
            f"{names} {are}: what joins the rows of a person is the `unit:`{other} in the place of its role, and whole "
            "histories are judged."
        )
    (name,) = people
    facts = columns[name]
    joined = count(int((facts.counts > 1).sum()), "value")
    return name, (
        f"{name!r} joins rows: {joined} of {facts.distinct:,} {agree(facts.distinct, 'has', 'have')} several. It is a "
        "link and has no role: draw it at random for this release, as a number that people know names them. Is it that "
        "of the person to protect?"
    )


def household_of(columns: Mapping[str, ColumnFacts]) -> str | None:
    """The column that the members of a household share: called its number, in each record, and repeated.

    A household with more than thirty members on average is none. None where no column is one, or where several are.
    """
    matches = [
        name
        for name, one in columns.items()
        if HOUSEHOLDS.intersection(words_of(name))
        and {*words_of(name)} <= HOUSEHOLDS | NUMBERS
        and (NUMBERS | {"hhid"}).intersection(words_of(name))
        and is_complete(one)
        and one.filled / MEMBERS < one.distinct < one.filled
    ]
    return matches[0] if len(matches) == 1 and len(columns) > 1 else None


def _possible(child: ReadTable, tables: Sequence[ReadTable]) -> list[DraftLink]:
    """The links of a table that its values and names allow. Of two tables with the same values, the first is parent."""
    links, is_later = [], False
    for parent in tables:
        if parent is child:
            is_later = True
            continue
        for column in parent.keys:
            if column not in child.columns or doubt_about(column, child, parent):
                continue
            if is_included(child.columns[column], parent.columns[column]):
                is_mutual = column in child.keys and child.columns[column].distinct == parent.columns[column].distinct
                links += [] if is_mutual and is_later else [DraftLink(parent.name, column)]
    return links


def _without_implied(
    child: ReadTable,
    links: Sequence[DraftLink],
    possible: Mapping[str, list[DraftLink]],
    tables: Mapping[str, ReadTable],
) -> tuple[list[DraftLink], list[str]]:
    """The links that no other one implies, and the columns of those that one does.

    By one column, the table that the other parent belongs to is the parent. By two columns, the parent is the one whose
    rows say to which row of the other parent they belong.
    """
    left = [one for one in links if not any(_is_above(other, one, possible) for other in links)]
    columns = []
    for one in reversed(left.copy()):
        for other in left:
            reached = other.parent == one.parent or one in possible[other.parent]
            if other.column != one.column and reached and _implies(tables[other.parent], child, other, one):
                left.remove(one)
                columns.append(one.column)
                break
    return left, columns


def _is_above(link: DraftLink, other: DraftLink, possible: Mapping[str, list[DraftLink]]) -> bool:
    return link.column == other.column and link != other and link in possible[other.parent]


def _implies(parent: ReadTable, child: ReadTable, link: DraftLink, implied: DraftLink) -> bool:
    """Whether each row has the same value of another column as the row of the parent that it belongs to.

    Cost: a pass over two columns of both tables.
    """
    by, column = link.column, implied.column
    if column not in parent.columns or not is_complete(parent.columns[column]):
        return False
    key, values = parent.domains(by, column)
    value_of = np.full(key.size, -1, np.int64)
    for rows in parent.engine.counted([key, values]):
        value_of[rows[by]] = rows[column]
    own_key, own_values = child.domains(by, column)
    place, value = (
        places_in(RawDomain(own.values, own.counts, own.missing), RawDomain(of.values, of.counts, of.missing))
        for own, of in ((own_key, key), (own_values, values))
    )
    rows_of_child = child.engine.counted([own_key, own_values])
    return all(np.array_equal(value_of[place[rows[by]]], value[rows[column]]) for rows in rows_of_child)


def _is_circular(name: str, links: Mapping[str, DraftLink]) -> bool:
    """Whether a table belongs to itself, by way of others."""
    above = name
    for _ in links:
        above = links[above].parent if above in links else ""
        if above == name:
            return True
    return False


def _top(possible: Mapping[str, list[DraftLink]]) -> str | None:
    """The only table that may belong to no other, and others to it."""
    parents = {one.parent for links in possible.values() for one in links}
    tops = [name for name, links in possible.items() if not links and name in parents]
    return tops[0] if len(tops) == 1 else None


def _unit(top: ReadTable, links: Mapping[str, DraftLink], possible: Mapping[str, list[DraftLink]]) -> str:
    """The column of the table of units that most others belong to it by; of several the first in its order."""
    used = Counter(one.column for one in links.values() if one.parent == top.name)
    used = used or Counter(one.column for each in possible.values() for one in each if one.parent == top.name)
    return max(top.keys, key=lambda name: used[name])


def _settled(table: str, implied: Mapping[str, Sequence[str]], links: Mapping[str, DraftLink]) -> list[str]:
    """The columns of a table that the links above it say already."""
    parent = links[table].parent
    if parent not in links:
        return []
    above = {links[parent].column, *_settled(parent, implied, links)}
    return [one for one in implied[table] if one in above]
