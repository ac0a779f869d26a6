"""Whether two tables write a column alike: cells that say the same in other words are never joined, and seem safe."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin.check import TableView
from tcdp_audit.plugin.engine import CheckError, Domain, Hierarchy, StreamedTable
from tcdp_audit.plugin.sentences import count
from tcdp_audit_plugins.checks.releases.overlap import Overlap, overlap_of

SET = "{"  # how a set of values begins


def require_written_alike(view: TableView, release: StreamedTable, registry: StreamedTable) -> None:
    """Insist that every column has values in both tables, some of them the same, and none that one only generalises.

    Raises:
        CheckError: a column has no value in a table; or no value in common; or one table has a range, a set or a node
            of the hierarchy for what the other writes in another way.

    Cost: O(values); where cells may be generalised, that of comparing the values that they cover.
    """
    for own, theirs in zip(release.columns, registry.columns, strict=True):
        name = own.attribute
        for table, domain in ((release, own), (registry, theirs)):
            if not _occurring(domain).any():
                raise CheckError(
                    f"column {name!r} has no value in {table.name}, so nothing can be joined by it; leave it out of "
                    "`attributes`, or check that this is the right table"
                )
        declared = view.policy.attributes.get(name)
        hierarchy = view.hierarchies.get(name)
        ordered = declared is not None and declared.is_ordered
        common = _also_in(theirs, own)
        if any(_may_be_generalised(one, hierarchy, ordered=ordered) for one in (own, theirs)):
            pairs = overlap_of(own, theirs, hierarchy, ordered=ordered, suppressed_is_anything=False)
            _require_no_other_words(own, pairs, ~common & _occurring(own), registry.name)
        if not common.any():
            raise CheckError(
                f"column {name!r} has no value that {registry.name} has, too, so nothing can be joined by it; write it "
                "alike in both, or leave it out of `attributes`"
            )


def _occurring(domain: Domain) -> NDArray[np.bool_]:
    """The values that a table has, without those that say nothing. Shape (values,)."""
    return np.asarray((domain.counts > 0) & ~domain.is_uninformative[:-1], dtype=np.bool_)


def _also_in(theirs: Domain, own: Domain) -> NDArray[np.bool_]:
    """The values of a table that occur in another one as well. Shape (values of the first,)."""
    there = {theirs.labels[code] for code in np.flatnonzero(_occurring(theirs)).tolist()}
    return _occurring(own) & np.fromiter((label in there for label in own.labels), np.bool_, own.size)


def _may_be_generalised(domain: Domain, hierarchy: Hierarchy | None, *, ordered: bool) -> bool:
    """Whether values of a column may cover others."""
    if ordered:
        return domain.covers is not None
    return hierarchy is not None or any(label.startswith(SET) for label in domain.labels)


def _require_no_other_words(own: Domain, pairs: Overlap, lacking: NDArray[np.bool_], registry: str) -> None:
    """Insist that no value that the registry lacks is written there in another way."""
    values = pairs.one[(pairs.one < own.size) & (pairs.other < pairs.sizes[1] - 1)]
    otherwise = np.unique(values[lacking[values]])
    if len(otherwise):
        records = count(int(own.counts[otherwise].sum()), "record")
        raise CheckError(
            f"column {own.attribute!r} holds {count(len(otherwise), 'value')}, of {records}, for what {registry} "
            "writes in another way: a range, a set or a node of the hierarchy that overlaps with its values; such "
            "records would never be joined; generalise both tables alike"
        )
