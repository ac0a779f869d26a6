"""Rebucketize: fewer, wider buckets of one attribute, until the policy is kept.

- `parameters`: what a policy may say, and when the remedy is proposed;
- `apply`: the search for a number of buckets, and the column;
- `coarsening`: the values that are joined, for every number of buckets;
- `trial`: whether a number of buckets suffices.
"""

from __future__ import annotations

from tcdp_audit.plugin.remedy import Remedy, RemedyGuide
from tcdp_audit_plugins.remedies.rebucketize.apply import apply
from tcdp_audit_plugins.remedies.rebucketize.parameters import RebucketizeParameters, faults, plans, why_not_applicable

GUIDE = RemedyGuide(
    method=(
        "The values of one attribute are joined with their neighbours into fewer, wider buckets: numbers, ranks and "
        "intervals of them into wider intervals; values with a hierarchy into the nodes of a level; other values "
        "into sets of near-equal mass. Into any number of intervals they are joined at the least loss, which is the "
        "sum over records of the width that they are released with, found by dynamic programming. The largest number "
        "of buckets that passes is searched for by steps that double and then halve."
    ),
    choosing=(
        "For a release that is in buckets already and fails: too many classes are small, or classes lack buckets. "
        "Other attributes stay as they are. Name `buckets` to have a fixed number of them and leave the verdict to "
        "the audit."
    ),
    guarantees=(
        "For a quasi-identifier whose classes fail the policy's demands, all classes keep them afterwards. For a "
        "sensitive attribute, whose distribution in the table changes with its buckets, every expectation on it "
        "passes a complete audit, and two buckets remain at least. The number of buckets is the largest that passes "
        "wherever fewer buckets never do worse. Where no number passes nothing is changed."
    ),
    source=(
        "Domingo-Ferrer, Soria-Comas, Knowledge-Based Systems 74 (2015), "
        "doi:10.1016/j.knosys.2014.11.011, section 6.1 for buckets; Yao, STOC 1980, for the least loss; "
        "Xu et al., KDD 2006, doi:10.1145/1150402.1150504, for loss as width"
    ),
    example="- rebucketize: {attribute: salary, buckets: 3}",
    notes={
        "values": "different values or buckets there were",
        "buckets": "buckets there are now",
        "trials": "numbers of buckets that were tried",
    },
)
REBUCKETIZE = Remedy(
    name="rebucketize",
    title="Rebucketize",
    summary="Joins neighbouring values or buckets of one attribute into fewer, wider ones until the policy is kept.",
    guide=GUIDE,
    parameters=RebucketizeParameters,
    apply=apply,
    validate=faults,
    plan=plans,
    why_not_applicable=why_not_applicable,
)
