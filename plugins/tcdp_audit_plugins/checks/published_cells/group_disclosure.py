"""Groups of people that a table shows to be alike: a full category, or no one in one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from tcdp_audit.plugin.aggregate import (
    UNBOUNDED,
    AggregateCheck,
    CellFigure,
    CellState,
    CellsView,
    Nodes,
    PublishedTable,
)
from tcdp_audit.plugin.check import DisclosureType, Parameters
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Text
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Comparison, Sentences
from tcdp_audit_plugins.checks.published_cells.cell_frequency import counts_of
from tcdp_audit_plugins.guides import built_in_guide

Integers = NDArray[Any]
Flags = NDArray[np.bool_]
_Cell = tuple[str, str, int]  # a table, a measure and the number of a cell


class GroupDisclosureParameters(Parameters):
    """Parameters of `group_disclosure`."""

    at_most: Annotated[
        int | None,
        Field(
            ge=0,
            description="The most categories that may have all members of a group; 0 where another parameter is given.",
        ),
    ] = None
    share: Annotated[Exact, Field(gt=0, le=1, description="The share of a group that counts as all of it.")] = Fraction(
        1
    )
    coalition: Annotated[
        int, Field(ge=0, description="How many members of a group know one another and look for the others.")
    ] = 0
    sensitive: Annotated[
        list[Text] | None,
        Field(min_length=1, description="The dimensions whose categories harm; by default each that adds up."),
    ] = None
    zeros: Annotated[
        Literal["allowed", "counted"],
        Field(
            description="Whether a category that no one of a group has is allowed, or counts like one that all have."
        ),
    ] = "allowed"

    @model_validator(mode="after")
    def _allows_none(self) -> Self:
        if (
            self.model_fields_set & {"share", "coalition", "sensitive", "zeros"}
            and "at_most" not in self.model_fields_set
        ):
            object.__setattr__(self, "at_most", 0)  # the model is frozen already
        return self


def group_disclosure(view: CellsView, parameters: GroupDisclosureParameters) -> CellFigure:
    """The number of categories that all members of a group certainly have, apart from a coalition of k of them.

    A group is a node of a sensitive dimension with children, within a category of each other dimension. A child with c
    of its p members is full if c >= share (p - k) and p > k. A hidden figure is taken for its least favourable value
    that fits, so that a full category is certain; the others that may be full are counted apart.

    Returns:
        A number of cells, each once.

    Raises:
        CheckError: no table has counts that add up over a sensitive dimension.

    Cost: O(cells x dimensions).
    """
    lines = list(_lines(view, parameters))
    if not lines:
        raise CheckError(
            "no count adds up over a sensitive dimension; give the dimension a `total:` or a `hierarchy:`, or leave "
            "`sensitive` out"
        )
    full, empty = dict[_Cell, _Line](), dict[_Cell, _Line]()
    judged = defaultdict[tuple[str, str], list[Integers]](list)
    possible, people = set[_Cell](), 0
    for line in lines:
        certain, doubtful = line.is_full(parameters.share)
        none = line.is_empty
        judged[line.table, line.measure].append(line.cells[line.possible])
        possible |= line.named(doubtful)
        people += int(line.group_low[(certain | (none & (parameters.zeros == "counted"))).any(axis=0)].sum())
        full |= dict.fromkeys(line.named(certain), line)
        empty |= dict.fromkeys(line.named(none), line)
    alike = parameters.share == 1 and not parameters.coalition
    nearly = "everyone" if alike else "everyone, or nearly everyone,"
    says = [(cell, line.says(nearly)) for cell, line in full.items()]
    if parameters.zeros == "counted":
        says += [(cell, line.says("no one")) for cell, line in empty.items() if cell not in full]
    failing = tuple(view.failing_cell(*cell, says=sentence) for cell, sentence in sorted(says))
    details = {"full": len(full), "ruled_out": len(empty), "possible": len(possible - full.keys()), "people": people}
    cells = sum(len(np.unique(np.concatenate(parts))) for parts in judged.values())
    return CellFigure(Fraction(len(failing)), cells, failing, details)


@dataclass(frozen=True, repr=False)
class _Line:
    """A node of a dimension with its children, within every combination of the other dimensions' categories.

    Args:
        table: the table.
        measure: the count.
        dimension: the dimension.
        node: the label of the node.
        cells: the numbers of the children's cells. Shape (children, combinations).
        low: the fewest that each can be; `high` the most.
        group_low: the fewest that the node can be; `group_high` the most. Shape (combinations,).
        possible: whether there can be such people.
        known: how many of a group a coalition can be.
    """

    table: str
    measure: str
    dimension: str
    node: str
    cells: Integers
    low: Integers
    high: Integers
    group_low: Integers
    group_high: Integers
    possible: Flags
    known: int

    def is_full(self, share: Fraction) -> tuple[Flags, Flags]:
        """Whether each child certainly has all of its group, and whether it may have."""
        choice = self.possible.sum(axis=0) > 1
        choice |= self.possible.all(axis=0)  # one category alone says something if others could have been there
        bounded = self.group_high < UNBOUNDED
        certain = self._is_share(self.low, np.where(bounded, self.group_high, 0), share) & bounded
        certain &= (self.group_low > self.known) & self.possible & choice
        # the smallest group that a coalition leaves a member of, and that has room for this child
        least = np.maximum(np.maximum(self.group_low, self.known + 1), self.low)
        may = (self.group_high >= least) & (
            (self.high >= least) | self._is_share(np.minimum(self.high, least), least, share)
        )
        return certain, may & (self.high > 0) & ~certain & self.possible & choice

    def _is_share(self, part: Integers, whole: Integers, share: Fraction) -> Flags:
        """Whether part >= share (whole - known), in whole numbers: Python's own where 62 bits are too few."""
        largest = max(int(part.max(initial=0)), int(whole.max(initial=0)), self.known)
        if largest * max(share.numerator, share.denominator) >= UNBOUNDED:
            part, whole = part.astype(object), whole.astype(object)
        return np.asarray(part * share.denominator >= share.numerator * (whole - self.known), dtype=np.bool_)

    @property
    def is_empty(self) -> Flags:
        """Whether each child is known to have no one of a group that a coalition leaves a member of."""
        return (self.high == 0) & (self.group_low > self.known) & self.possible

    def named(self, chosen: Flags) -> set[_Cell]:
        """Cells as results name them."""
        return {(self.table, self.measure, int(cell)) for cell in self.cells[chosen]}

    def says(self, who: str) -> str:
        """The reason why a cell fails."""
        return f"{who} of {self.dimension} {self.node!r} is in it"


def _lines(view: CellsView, parameters: GroupDisclosureParameters) -> Iterator[_Line]:
    """Every line of every count over a sensitive dimension."""
    for table in view.tables.values():
        for name, figures in counts_of(table):
            known = parameters.coalition
            if known and figures.measure.counts == "rows":
                if figures.measure.per_person is None:
                    raise CheckError(
                        f"{name!r} of table {table.name!r} counts rows; say how many one person can have, as "
                        "`per_person:`, so that those of a coalition are known"
                    )
                known *= figures.measure.per_person
            for axis, nodes in enumerate(table.dimensions):
                if nodes.sums and (parameters.sensitive is None or nodes.name in parameters.sensitive):
                    arrays = figures.low, figures.high, figures.state, np.arange(table.cells)
                    along = [
                        np.moveaxis(one.reshape(table.shape), axis, 0).reshape(table.shape[axis], -1) for one in arrays
                    ]
                    for summed in nodes.sums:
                        yield _line(table, name, nodes, summed, along, known)


def _line(
    table: PublishedTable,
    name: str,
    nodes: Nodes,
    summed: tuple[int, Sequence[int], bool],
    along: Sequence[Integers],
    known: int,
) -> _Line:
    """A node with its children; `along` has the ends, the states and the numbers of cells by node."""
    (node, children, complete), (low, high, state, cells) = summed, along
    part = list(children)
    parts = _Parts.of(low[part], high[part], complete=complete)
    # a total of what is shown is not that of the group where a part is hidden
    whole = (table.declaration.totals == "all") | (state[part] != CellState.HIDDEN).all(axis=0)
    least = np.where(whole, np.maximum(parts.least, low[node]), parts.least)
    most = np.where(whole, np.minimum(parts.most, high[node]), parts.most)
    others = parts.others
    rest = np.where(others < UNBOUNDED, least - np.minimum(others, least), 0)
    return _Line(
        table.name,
        name,
        nodes.name,
        nodes.labels[node],
        cells[part],
        np.maximum(low[part], rest),
        np.minimum(high[part], most),
        least,
        most,
        state[part] != CellState.IMPOSSIBLE,
        known,
    )


@dataclass(frozen=True, repr=False)
class _Parts:
    """The sums of the parts of a group, as far as their ends say.

    Args:
        least: the fewest people of all parts together. Shape (combinations,).
        most: the most; `UNBOUNDED` where a part has no bound, or the parts are not all of the group.
        others: the most people of all parts but one. Shape (parts, combinations).
    """

    least: Integers
    most: Integers
    others: Integers

    @classmethod
    def of(cls, low: Integers, high: Integers, *, complete: bool) -> _Parts:
        """Add the ends of the parts up, in Python's own integers where 62 bits are too few."""
        open_ended = high >= UNBOUNDED
        finite = np.where(open_ended, 0, high)
        if int(max(finite.max(initial=0), low.max(initial=0))) * len(low) >= UNBOUNDED:
            low, finite = low.astype(object), finite.astype(object)
        others = finite.sum(axis=0) - finite
        alone = (open_ended.sum(axis=0) - open_ended == 0) & complete
        most = np.where(~open_ended.any(axis=0) & complete, finite.sum(axis=0), UNBOUNDED)
        return cls(low.sum(axis=0), most, np.where(alone, others, UNBOUNDED))


def _misnamed(parameters: GroupDisclosureParameters, document: PolicyDocument) -> Iterable[tuple[str, str]]:
    """The dimensions that no table has, or that nothing is summed over."""
    tables = (document.aggregates or {}).values()
    for name in parameters.sensitive or ():
        declared = [one.dimensions[name] for one in tables if name in one.dimensions]
        if not declared:
            yield "sensitive", f"no table has a dimension {name!r}"
        elif all(one.total is None and one.hierarchy is None for one in declared):
            yield "sensitive", f"nothing is summed over {name!r}; give it a `total:` or a `hierarchy:`"


GROUP_DISCLOSURE = AggregateCheck(
    name="group_disclosure",
    title="Group disclosure",
    disclosure_type=DisclosureType.ATTRIBUTE_MODEL,
    parameters=GroupDisclosureParameters,
    measure=group_disclosure,
    threshold="at_most",
    comparison=Comparison.AT_MOST,
    label="number of categories that have all members of a group",
    worst=lambda figure, _: figure.cells,
    validate=_misnamed,
    sentences=Sentences(
        passed=(
            "[{observed=0?}In none of {cells:category} is everyone of a group[{nearly?}, or nearly everyone]|"
            "{observed/cells:category} {observed/cells:has|have} everyone of a group[{nearly?}, or nearly everyone]"
            "[{zeros=counted?}, or no one]: anyone who is known to be in the group is known to be there]."
            "[{ruled_out>0?} {ruled_out:category} {ruled_out:is|are} of no one, so that the category is ruled out.]"
            "[{possible>0?} {possible:category} may have everyone of a group; a reader cannot be sure.]"
        ),
        values=lambda outcome: {
            "nearly": outcome.parameters.get("share") != 1 or bool(outcome.parameters.get("coalition"))
        },
    ),
    guide=built_in_guide(__file__, "group_disclosure.md"),
)
