"""Faults of tables of figures, of models and of the records behind them, each with its location in the document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tcdp_audit.core.base.words import count, listing
from tcdp_audit.core.policy.aggregates import (
    AggregateDeclaration,
    Bands,
    Dimension,
    ExceptCategory,
    Measure,
    Microdata,
    Noise,
    Rounding,
    TokenMeaning,
)
from tcdp_audit.core.policy.faults import UNDECIDED, nearest
from tcdp_audit.core.policy.model import AGGREGATES, PolicyDocument
from tcdp_audit.core.policy.scalars import NUMBER

Place = tuple[str | int, ...]
Located = tuple[Place, str]
MOST_DIMENSIONS = 8
WHO = "who"
TO_DECIDE = "is still to be decided: write {what} in place of " + UNDECIDED
OF_RECORDS = {  # keys of records alone, and what to do where none are released
    "release": "name each table's file under `tables:`",
    "time": "leave it out",
    "unit": "say whose a record is as `microdata: {unit: …}`",
    "unit_released": "leave it out",
    "household": "leave it out",
    "household_weight": "leave it out",
    "weight": "leave it out",
    "sampling_fraction": "leave it out",
    "original": "name the records behind the tables as `microdata: {file: …}`",
    "population": "leave it out",
    "holdout": "leave it out",
    "registry": "leave it out",
    "previous": "name policies of earlier releases under `previous_policies:`",
    "key": "leave it out",
    "rows_aligned": "leave it out",
    "schema_": "leave it out",
    "suite": "leave it out",
    "scenarios": "leave it out",
    "remedy": "choose which figures to hide with a tool such as tau-Argus or sdcTable, and audit its output",
    "max_loss": "leave it out",
    "min_utility": "leave it out",
    "utility": "leave it out",
    "keep_key": "leave it out",
    "keep_links": "leave it out",
    "internal_only": "leave it out",
}


def faults_of_figures(document: PolicyDocument) -> Iterator[Located]:
    """The faults of all that a document says of figures."""
    for name, table in (document.aggregates or {}).items():
        place = (AGGREGATES, name)
        yield from _faults_of_dimensions(place, table)
        yield from _faults_of_measures(place, table)
        yield from _faults_of_changes(place, table)
        yield from _faults_of_layout(place, table)
        yield from _faults_of_tokens(place, table)
        yield from _faults_of_subgroups(place, table)
    yield from _faults_of_models(document)
    yield from _faults_of_microdata(document)
    if document.previous_policies and not document.has_figures:
        sentence = (
            "compares tables of figures, and the policy has none; name earlier releases of records as `previous:`"
        )
        yield ("previous_policies",), sentence
    if not document.has_records:
        yield from _faults_without_records(document)


def _faults_without_records(document: PolicyDocument) -> Iterator[Located]:
    """Keys that are of records, in a policy that releases none."""
    for key, advice in OF_RECORDS.items():
        field = PolicyDocument.model_fields[key]
        if getattr(document, key) != field.default:
            yield (field.alias or key,), f"is of records, and the policy releases none; {advice}"


# Dimensions


def _faults_of_dimensions(place: Place, table: AggregateDeclaration) -> Iterator[Located]:
    names = [*table.dimensions]
    if len(names) > MOST_DIMENSIONS:
        yield (*place, "dimensions"), f"has {len(names)} dimensions, and at most {MOST_DIMENSIONS} are read"
    for name, one in table.dimensions.items():
        own = (*place, "dimensions", name)
        if name in table.measures:
            yield own, f"{name!r} is a measure as well; a column has labels or figures"
        if name == UNDECIDED:
            yield own, TO_DECIDE.format(what="the name of the dimension")
        if one.total == UNDECIDED:
            yield (
                (*own, "total"),
                f"{TO_DECIDE.format(what='the label of the total')}, or leave it out if there is none",
            )
        if not isinstance(one.order, str | None):
            yield from _faults_of_order((*own, "order"), one, one.order)
        if isinstance(one.hierarchy, Mapping):
            yield from _faults_of_hierarchy((*own, "hierarchy"), one, one.hierarchy)
        elif one.hierarchy is None and not one.complete:
            yield (
                (*own, "complete"),
                "says how the nodes of a hierarchy add up, and the dimension has none; leave it out",
            )


def _faults_of_order(place: Place, dimension: Dimension, order: Sequence[str]) -> Iterator[Located]:
    if not order:
        yield place, "must not be empty"
    if len(set(order)) < len(order):
        yield place, "names a category twice"
    if dimension.total in order:
        yield place, f"{dimension.total!r} is the total, which has no place in the order"


def _faults_of_hierarchy(place: Place, dimension: Dimension, hierarchy: Mapping[str, Any]) -> Iterator[Located]:
    """The faults of a mapping of nodes to their children; see `_splits` for its forms."""
    if not hierarchy:
        yield place, "must not be empty"
    below = dict[str, set[str]]()
    for node, children in hierarchy.items():
        splits = list(_splits(node, children))
        for parent, labels in splits:
            below.setdefault(parent, set()).update(labels)
            if not labels:
                yield (*place, node), "must be a list of the node's children, such as [north, south]"
            if len(set(labels)) < len(labels):
                yield (*place, node), "names a child twice"
        if any(dimension.total is not None and dimension.total in labels for _, labels in splits):
            yield (*place, node), f"{dimension.total!r} is the total of the dimension; leave it out of the children"
    for node in hierarchy:
        if _is_circular(node, below):
            yield (*place, node), "is a child of itself, by way of others"


def _splits(node: str, children: Any) -> Iterator[tuple[str, list[str]]]:
    """Each node with its children: as a list, a list of lists for several ways to split it, or nested mappings."""
    if children is None:
        return
    if isinstance(children, Mapping):
        children = [{label: inner} for label, inner in children.items()]
    if not isinstance(children, list | tuple):
        yield node, []
        return
    several = bool(children) and all(isinstance(one, list | tuple) for one in children)
    for split in children if several else [children]:
        labels = list[str]()
        if any(isinstance(one, list | tuple | bool) or one is None for one in split):
            yield node, []
            continue
        for one in split:
            inner = one if isinstance(one, Mapping) else {one: None}
            for label, grandchildren in inner.items():
                labels.append(str(getattr(label, "text", label)))
                yield from _splits(labels[-1], grandchildren)
        yield node, labels


def _is_circular(node: str, below: Mapping[str, set[str]]) -> bool:
    seen, waiting = set[str](), [node]
    while waiting:
        for one in below.get(waiting.pop(), ()):
            if one == node:
                return True
            if one not in seen:
                seen.add(one)
                waiting.append(one)
    return False


# Measures


def _faults_of_measures(place: Place, table: AggregateDeclaration) -> Iterator[Located]:
    for name, one in table.measures.items():
        own = (*place, "measures", name)
        if one.over is not None:
            yield from _faults_of_base((*own, "over"), name, one, table.measures)
        if "as_" in one.model_fields_set and one.share is None:
            yield (*own, "as"), "says how a share is written, and it is none; leave it out"
        if one.at_least is not None and one.at_most is not None and one.at_least > one.at_most:
            yield (*own, "at_least"), "the least value is above the largest, `at_most`"
        if one.counts is not None:
            for key in ("at_least", "at_most", "integers", "decimals"):
                if key in one.model_fields_set:
                    yield (*own, key), "is of values that people have, and a count has none; leave it out"
        open_ones = {"counts": "`people` or `rows`", "of": "what it counts, in the singular,"}
        open_ones |= {} if one.counts is not None else {one.kind: "the column"}
        for key, what in open_ones.items():
            if getattr(one, key) == UNDECIDED:
                yield (*own, key), TO_DECIDE.format(what=what)


def _faults_of_base(place: Place, name: str, measure: Measure, measures: Mapping[str, Measure]) -> Iterator[Located]:
    """The faults of the measure that counts the people of another one."""
    base = measures.get(measure.over or "")
    people = [other for other, one in measures.items() if one.counts == "people"]
    if measure.counts is not None:
        yield place, "a count is over itself; leave it out"
    elif measure.over == UNDECIDED:
        yield place, f"{TO_DECIDE.format(what='the measure that counts its people')}, or leave it out if there is none"
    elif base is None:
        advice = nearest(str(measure.over), people) or (f"; people are counted by {listing(people)}" if people else "")
        yield place, f"the table has no measure {measure.over!r}{advice}"
    elif base.counts not in ("people", UNDECIDED):
        known = f"; people are counted by {listing(people)}" if people else ""
        yield place, f"{measure.over!r} counts no people, and {name!r} is over people{known}"


# What was done to the figures


def _faults_of_changes(place: Place, table: AggregateDeclaration) -> Iterator[Located]:
    """The faults of rounding and noise, of the table and of its measures."""
    yield from _faults_of_change(place, table.rounding, table.noise)
    counted = any(one.counts is not None for one in table.measures.values())
    for key, declared in (("rounding", table.rounding), ("noise", table.noise)):
        if declared is not None and not counted:
            yield (*place, key), "is of the counts of the table, which has none; say it in the measure that it is of"
    for name, one in table.measures.items():
        own = (*place, "measures", name)
        yield from _faults_of_change(own, one.rounding, one.noise)
        for key, declared in (("rounding", one.rounding), ("noise", one.noise)):
            if declared is not None and not one.is_additive:
                yield (*own, key), f"is of counts and sums, and {name!r} is neither; say its `decimals:`"
        if one.counts is not None and ((one.rounding and table.noise) or (one.noise and table.rounding)):
            yield own, "its counts are rounded and have noise; say the one that was done last"


def _faults_of_change(place: Place, rounding: Rounding | None, noise: Noise | None) -> Iterator[Located]:
    if rounding is not None and noise is not None:
        yield (*place, "noise"), "figures are rounded or have noise; say the one that was done last"
    if rounding is None:
        return
    if rounding.steps and rounding.kind != "controlled":
        yield (*place, "rounding", "steps"), f"is of controlled rounding, and this is {rounding.kind}; leave it out"
    if rounding.half is not None and rounding.kind != "conventional":
        yield (*place, "rounding", "half"), f"is of conventional rounding, and this is {rounding.kind}; leave it out"


# The file


def _faults_of_layout(place: Place, table: AggregateDeclaration) -> Iterator[Located]:
    """The faults of a wide table: its rows and columns are all dimensions, and it has one measure."""
    layout = table.layout
    if layout is None:
        return
    named = [("rows", index, one) for index, one in enumerate(layout.rows)]
    named += [("columns", index, one) for index, one in enumerate(layout.columns)]
    seen = set[str]()
    for key, index, name in named:
        if name == UNDECIDED:
            yield (*place, "layout", key, index), TO_DECIDE.format(what="the name of the dimension")
        elif name not in table.dimensions:
            yield (
                (*place, "layout", key, index),
                f"the table has no dimension {name!r}{nearest(name, table.dimensions)}",
            )
        elif name in seen:
            yield (*place, "layout", key, index), f"{name!r} is named twice"
        seen.add(name)
    if len(layout.columns) > 1:
        yield (*place, "layout", "columns"), "must be one dimension; a table has one line of labels above its figures"
    left = [name for name in table.dimensions if name not in seen]
    if left and seen <= table.dimensions.keys():
        yield (
            (*place, "layout"),
            f"leaves out {listing([repr(one) for one in left])}; each dimension is in rows or in columns",
        )
    if len(table.measures) > 1:
        sentence = (
            f"a wide table has one measure, and this one has {len(table.measures)}; give it one row for each cell"
        )
        yield (*place, "layout"), sentence


def _faults_of_tokens(place: Place, table: AggregateDeclaration) -> Iterator[Located]:
    """The faults of the texts that hide figures. A token is metadata of the table, and may be quoted."""
    counts_only = all(one.counts is not None for one in table.measures.values())
    for token, meaning in table.suppressed.items():
        own = (*place, "suppressed", token)
        if NUMBER.fullmatch(token.strip()) and "/" not in token:
            yield own, "is a number, which would hide a figure that is shown; a token is another text"
        if meaning == UNDECIDED:
            what = "`unknown`, or the least and the largest value that it hides, such as [1, 9],"
            yield own, TO_DECIDE.format(what=what)
        for where, ends in _intervals(own, meaning):
            if counts_only and ends[0] < 0:
                yield where, "counts are at least 0"
            elif counts_only and any(end is not None and end.denominator != 1 for end in ends):
                yield where, "counts are whole numbers"


def _intervals(place: Place, meaning: Any) -> Iterator[tuple[Place, Sequence[Any]]]:
    if isinstance(meaning, TokenMeaning):
        for key in ("primary", "secondary"):
            ends = getattr(meaning, key)
            if ends is not None and not isinstance(ends, str):
                yield (*place, key), ends
    elif not isinstance(meaning, str):
        yield place, meaning


def _faults_of_subgroups(place: Place, table: AggregateDeclaration) -> Iterator[Located]:
    yield from _faults_of_about((*place, "about"), table.about)
    for name in table.subgroup:
        if name in table.dimensions:
            sentence = f"{name!r} is a dimension of the table; a subgroup has one category of what is no dimension"
            yield (*place, "about", name), sentence


def _faults_of_about(place: Place, about: Mapping[str, str | ExceptCategory]) -> Iterator[Located]:
    if isinstance(about.get(WHO), ExceptCategory):
        yield (*place, WHO), "must be text, such as `admitted 2025`; `not` is of the category of a subgroup"
    for name, category in about.items():
        if category == UNDECIDED:
            what = "whom the table is about, such as `admitted 2025`," if name == WHO else "the category"
            yield (*place, name), TO_DECIDE.format(what=what)


# Models and records


def _faults_of_models(document: PolicyDocument) -> Iterator[Located]:
    for name, one in (document.models or {}).items():
        place = ("models", name)
        if name in (document.aggregates or ()):
            yield place, f"{name!r} is a table as well; give the model a different name"
        yield from _faults_of_about((*place, "about"), one.about)
        if one.outcome is not None and one.design is None:
            yield (*place, "outcome"), "is a column of the design's file; add `design:`"
        for dummy, people in (one.dummies or {}).items():
            if one.n is not None and people > one.n:
                yield (
                    (*place, "dummies", dummy),
                    f"is of more people than the {count(one.n, 'observation')} of the model",
                )


def _faults_of_microdata(document: PolicyDocument) -> Iterator[Located]:
    """The faults of the records that figures were made from."""
    microdata = document.microdata
    if microdata is None:
        return
    place: Place = ("microdata",)
    if not document.has_figures:
        yield place, "are the records behind tables of figures, and the policy has none; leave it out"
        return
    if (microdata.file is None) == (microdata.table is None):
        yield place, "must be either `file:`, for records that are not released, or `table:`, for a table of the policy"
    elif microdata.table is not None and document.tables is None and not document.aggregates:
        yield (*place, "table"), "the policy has no `tables:`; write `microdata: {file: …}`"
    known = dict.fromkeys(_described(document))
    for name, one in microdata.of.items():
        if name not in known and document.aggregates:
            yield (*place, "of", name), f"no table has a dimension {name!r}{nearest(name, known)}"
        if isinstance(one, Bands) and one.bands is not None and not one.bands:
            yield (*place, "of", name, "bands"), "must not be empty"
    if microdata.table is not None:
        yield from _faults_of_released_records(place, microdata, document)


def _described(document: PolicyDocument) -> Iterator[str]:
    """The names of all dimensions, and of what subgroups have a category of."""
    for table in (document.aggregates or {}).values():
        yield from (*table.dimensions, *table.subgroup)


def _faults_of_released_records(place: Place, microdata: Microdata, document: PolicyDocument) -> Iterator[Located]:
    """The columns of a released table that its declaration lacks."""
    declared = document.tables or {}
    if microdata.table in declared:
        columns: Iterable[str] = declared[microdata.table].attributes
    elif document.tables is None and document.has_records:
        columns = document.attributes
    else:
        return  # the name of the table is a fault
    names = [*columns]
    for name, one in microdata.of.items():
        column = one.column if isinstance(one, Bands) else one
        if column not in names:
            at = (*place, "of", name, "column") if isinstance(one, Bands) else (*place, "of", name)
            yield at, f"{column!r} is not declared under `attributes` of the table{nearest(column, names)}"
