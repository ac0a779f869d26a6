"""Rank swapping: values of an attribute change places with values of nearby ranks.

- `parameters`: what a policy may say, and when the remedy is proposed;
- `apply`: the remedy from a view to columns in which values have changed places;
- `pairing`: who changes places with whom.
"""

from __future__ import annotations

from tcdp_audit.plugin.remedy import Remedy, RemedyGuide
from tcdp_audit_plugins.remedies.rank_swapping.apply import swap_ranks
from tcdp_audit_plugins.remedies.rank_swapping.parameters import (
    RankSwappingParameters,
    faults,
    plans,
    why_not_applicable,
)

__all__ = ["RANK_SWAPPING", "RankSwappingParameters", "swap_ranks"]
GUIDE = RemedyGuide(
    method=(
        "Each attribute is sorted by itself, and its values change places in pairs. `plain` pairs ranks at random that "
        "are at most p percent of the n values apart: in rounds, every value without a partner proposes to one of "
        "those within reach, each equally likely, and of competing proposals one at random is taken, until nobody is "
        "left who has somebody within reach. `p_distribution` draws how far apart partners are from a normal "
        "distribution with mean and standard deviation p/2 percent of the ranks, in either direction, and takes the "
        "nearest value without a partner there: most pairs are as near as under `plain`, but no distance is the "
        "largest possible one. Ties stand in an order at random. Missing and suppressed cells stay where they are. "
        "Without `percent` the release is audited at percentages from 1 to 100, and the least is taken after which "
        "every demand that compares the release with its original holds."
    ),
    choosing=(
        "For numbers and ranks, where a demand on linkage or on intervals around values fails "
        "(`distance_record_linkage`, `rank_interval_disclosure`, `sd_interval_disclosure`) and every single column "
        "must stay as it is: means, variances and quantiles of a column do not change at all, while correlations "
        "shrink with p. Whoever knows that ranks were swapped within p percent need only look among the records "
        "within that reach in every attribute, and what is within reach of all attributes at once is often one "
        "record: the more attributes are swapped, the weaker is `plain`. Prefer `p_distribution` where the method is "
        "made public. Classes are not enlarged: a demand such as k-anonymity needs another remedy, before this one. An "
        "attribute with few values hardly changes, because neighbours have the same value."
    ),
    guarantees=(
        "Every column has exactly the values that it had, each as often. Under `plain` no value's rank is displaced by "
        "more than p percent of the ranks, ties by less. No record is dropped; only named attributes, or the ordered "
        "quasi-identifiers, change. The same records in any order give the same release, where records that agree in "
        "quasi-identifiers and sensitive attributes are the same. It runs once, whatever the other remedies need. The "
        "draws follow from the policy's `seed`: keep that to yourselves, and set one. Whether any demand holds is "
        "known only by the re-audit."
    ),
    attack=(
        "Somebody who knows true values of a person, and p, looks among the records whose ranks are within p percent "
        "of the ranks that these values would have, in every attribute at once: `rank_swap_attack`. `p_distribution` "
        "leaves no such bound; who knows its p and all true values links by the ranks, from which values are moved by "
        "p / sqrt(2) percent of the records in the root mean square: `noise_attack` with `scores: ranks`."
    ),
    source=(
        "Moore, Controlled data-swapping techniques for masking public use microdata sets, U.S. Bureau of the Census, "
        "1996; Nin, Herranz, Torra, Data & Knowledge Engineering 64(1), 2008, doi:10.1016/j.datak.2007.07.006 "
        "(p-distribution, and the linkage that plain swapping does not resist)"
    ),
    example="- rank_swapping: {percent: 10}",
    notes={
        "percent": "How far apart partners were, in percent of the ranks; see the parameter.",
        "variant": "How partners were drawn.",
        "swapped": "Cells that changed places; some of them with an equal value.",
        "alone": "Cells with a value that found no partner and stayed.",
        "without_value": "Missing and suppressed cells of the swapped attributes, which stayed.",
        "displacement": "The largest number of ranks between two values that changed places.",
    },
)
RANK_SWAPPING = Remedy(
    name="rank_swapping",
    title="Rank swapping",
    summary="Lets values of an attribute change places with values of nearby ranks, so that columns stay as they are.",
    guide=GUIDE,
    parameters=RankSwappingParameters,
    apply=swap_ranks,
    validate=faults,
    plan=plans,
    why_not_applicable=why_not_applicable,
    once=True,
)
