"""Microaggregation: clusters of at least k records near each other, all of which get their cluster's centroid.

- `parameters`: what a policy may say, and when the remedy is proposed;
- `apply`: the remedy from a view to columns in which all records of a cluster agree, or why there are none;
- `points`: the records of a release as points, and how far they are apart;
- `centroids`: the cell that is released for a cluster;
- `mdav`: clusters of k around extreme records;
- `refined`: an optimal cut of a good path through the records, and local search, in turn;
- `exchange` and `moves`: the local search: neighbouring clusters swap records, or give one away;
- `cluster_demands`: the policy's demands, asked about clusters;
- `merging`: clusters that fail are merged, and halved again where both halves keep the demands;
- `quantiles`: clusters of one record of every quantile of a confidential attribute.
"""

from __future__ import annotations

from tcdp_audit.plugin.remedy import Remedy, RemedyGuide
from tcdp_audit_plugins.remedies.microaggregation.apply import microaggregate
from tcdp_audit_plugins.remedies.microaggregation.parameters import (
    MicroaggregationParameters,
    faults,
    plans,
    why_not_applicable,
)

__all__ = ["MICROAGGREGATION", "MicroaggregationParameters", "microaggregate"]
GUIDE = RemedyGuide(
    method=(
        "Records are clustered by all quasi-identifiers together, at least k in a cluster, and every record gets its "
        "cluster's centroid: means of numbers, (lower) medians of ordinal values, the commonest of nominal ones. Then "
        "all records of a cluster agree in every quasi-identifier, and the release is k-anonymous; attributes "
        "aggregated one at a time would not make it so. Numbers and ranks are standardised; nominal values are 0 or 1 "
        "apart, or under a hierarchy the level of their lowest common ancestor over its height; a missing number "
        "counts as the mean. `mdav` builds clusters of k around the records that are farthest from the middle and from "
        "each other. `refined` cuts the leaves of Ward's hierarchy into runs of k to 2k - 1 records by Hansen and "
        "Mukherjee's shortest path, lets neighbouring clusters exchange records while that pays, cuts a tour through "
        "the clusters, and starts over; for a single numeric or ordinal attribute it is the optimum. `closeness: "
        "merge` then merges each cluster that fails a demand on classes with one near it, preferring one with which "
        "it keeps them. `closeness: first` sorts the records by a confidential attribute and cuts them into quantiles, "
        "as few (at least k) as let clusters drawn at random keep the demands; each cluster takes one record of every "
        "quantile, near each other; what still fails is merged. Either way clusters are then halved as long as both "
        "halves keep the demands: their records are paired in the order of the confidential values, and of each pair "
        "one goes to either half."
    ),
    choosing=(
        "For numeric quasi-identifiers whose means matter: sums stay as they were, but for rounding, while variances "
        "shrink by the information loss. `refined` loses less than `mdav` at some more time: at k = 3, 5 and 10 on the "
        "Census file of 1,080 records and 13 attributes 4.93, 7.69 and 12.14 % of the variance instead of 5.69, 9.09 "
        "and 14.16 %. Where a demand on linkage beside the original fails and no k is given, clusters grow until it "
        "holds. `blocks` lose less and protect less: whoever knows several blocks meets few records that are together "
        "in all of them. "
        "Where the policy demands closeness, try both `merge` and `first`: the first loses less where few "
        "clusters fail, the second where t is small. Nominal attributes with many values are better generalised. "
        "Where whole numbers may become fractions, `rounded: false` keeps sums exactly."
    ),
    guarantees=(
        "Every class has at least k records, but for `blocks`: there a record shares its cells of each block with at "
        "least k - 1 others, not the same ones. "
        "With `merge` or `first` every cluster keeps every demand on classes, "
        "decided as the audit decides it; clusters whose rounded centroids agree become one class, which only the "
        "re-audit judges. The same records in any order give the same release. No record is dropped and no sensitive "
        "cell is changed. A centroid is no generalisation: a cell may hold a value that no record had. Where no record "
        "of a cluster has a value, there still is none."
    ),
    attack=(
        "Somebody who holds all true values, and knows the method and k, forms the clusters again and looks among the "
        "records of a person's own: `microaggregation_attack` with `method: known_groups` and the `blocks`, whose "
        "clusters meet in few records. Without blocks 1 in k of these guesses is right at the most."
    ),
    source=(
        "Domingo-Ferrer, Torra, Data Mining and Knowledge Discovery 11(2), 2005, "
        "doi:10.1007/s10618-005-0007-5, MDAV-generic; Hansen, Mukherjee, IEEE TKDE 15(4), 2003, "
        "doi:10.1109/TKDE.2003.1208020; Domingo-Ferrer, Martínez-Ballesté, Mateo-Sanz, Sebé, VLDB Journal"
        " 15, 2006, doi:10.1007/s00778-006-0007-0; Soria-Comas, Domingo-Ferrer, Sánchez, Martínez, IEEE "
        "TKDE 27(11), 2015, doi:10.1109/TKDE.2015.2435777, algorithms 1 and 3"
    ),
    example="- microaggregation: {k: 5, closeness: merge}",
    notes={
        "k": "The least number of records that a cluster was to have.",
        "clusters": "Clusters in the end.",
        "smallest": "Records of the smallest cluster.",
        "largest": "Records of the largest cluster.",
        "blocks": "Blocks of attributes that were clustered by themselves; clusters are those of all blocks.",
        "information_loss": (
            "100 SSE/SST: squared distances of the records to their cluster's centroid, in percent of those to the "
            "table's; means are not rounded here."
        ),
        "quantiles": "Quantiles of the confidential attribute that each cluster has a record of.",
        "merged": "Clusters that disappeared in mergers, so that the demands on classes hold.",
        "halved": "Clusters that came from halving merged ones (or any others that were larger than they had to be).",
    },
)
MICROAGGREGATION = Remedy(
    name="microaggregation",
    title="Microaggregation",
    summary=(
        "Clusters at least k records that are near each other and gives all of them their cluster's means, medians and "
        "modes as quasi-identifiers."
    ),
    guide=GUIDE,
    parameters=MicroaggregationParameters,
    apply=microaggregate,
    validate=faults,
    plan=plans,
    why_not_applicable=why_not_applicable,
)
