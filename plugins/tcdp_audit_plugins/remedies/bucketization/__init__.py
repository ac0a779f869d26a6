"""Bucketization: a confidential attribute in buckets, in classes that are close to the table by design.

- `parameters`: what a policy may say, and what is proposed where it says nothing;
- `apply`: the remedy from beginning to end, and the proof that t is kept;
- `goal`: the buckets and class sizes that t and k ask for, and whether they can be attained;
- `refusal`: which inequality fails where they cannot, and what is nearest;
- `composition`: how many records of each bucket a class has;
- `choice`: the records of each class: `halving` assigns them, then neighbouring classes exchange some.
"""

from __future__ import annotations

from tcdp_audit.plugin.remedy import Remedy, RemedyGuide
from tcdp_audit_plugins.remedies.bucketization.apply import apply
from tcdp_audit_plugins.remedies.bucketization.parameters import (
    BucketizationParameters,
    faults,
    plans,
    why_not_applicable,
)

GUIDE = RemedyGuide(
    method=(
        "The confidential attribute is cut into b buckets of near-equal mass: consecutive values of a numeric or "
        "ordinal attribute, neighbours in the hierarchy of a nominal one, any values where it has none. Then every "
        "record is put into a class. In each class one bucket is emphasised: the others have as few records as t "
        "allows, and it takes what they leave. Within these numbers each class takes records that are near each "
        "other in the quasi-identifiers, which get one common label for each class. What is released of the "
        "confidential attribute is the bucket."
    ),
    choosing=(
        "For one confidential attribute and closeness in the multiplicative distance, or an implied epsilon: where "
        "values are many, every class lacks some of them and is infinitely far from the table, which no grouping of "
        "records can mend. t is the factor by which anybody's belief about a bucket may change; t = 1.5 gives "
        "epsilon 0.81, t = 2 gives 1.39. By default there are floor(t) + 1 buckets; more of them tell more about a "
        "value and need larger classes. Choose k at least as large as the number of buckets."
    ),
    guarantees=(
        "In the release every class has at least k records, and every bucket's share of it lies between 1/t and t "
        "times its share of the table: counted with whole numbers for every class before anything is released. "
        "Where that is impossible nothing is changed, and the reason is given. Records without a confidential value "
        "are spread over the classes and do not count, unless the policy has them count. All other expectations are "
        "left to the audit of the release."
    ),
    source=(
        "Domingo-Ferrer, Soria-Comas, Knowledge-Based Systems 74 (2015), doi:10.1016/j.knosys.2014.11.011, section 6"
    ),
    example="- bucketization: {attribute: salary, t: 2, k: 10}",
    notes={
        "buckets": "buckets of values",
        "smallest_bucket": "records in the smallest bucket",
        "largest_bucket": "records in the largest bucket",
        "classes": "classes that were made",
        "emphasised": "classes that emphasise each bucket",
        "smallest_class": "records in the smallest class",
        "largest_class": "records in the largest class",
        "distance": "largest ratio of a bucket's share in a class and in the table, or the other way round",
    },
)


BUCKETIZATION = Remedy(
    name="bucketization",
    title="Bucketization",
    summary="Releases a confidential attribute in buckets, in classes with nearly the table's share of each.",
    guide=GUIDE,
    parameters=BucketizationParameters,
    apply=apply,
    validate=faults,
    plan=plans,
    why_not_applicable=why_not_applicable,
)
