"""Data shuffling: values move to other records so that distributions and correlations stay.

- `parameters`: what a policy may say, and when the remedy is proposed;
- `apply`: the remedy from a view to columns in another order;
- `copula`: normal scores that are drawn anew.
"""

from __future__ import annotations

from tcdp_audit.plugin.remedy import Remedy, RemedyGuide
from tcdp_audit_plugins.remedies.data_shuffling.apply import shuffle_data
from tcdp_audit_plugins.remedies.data_shuffling.parameters import (
    DataShufflingParameters,
    faults,
    plans,
    why_not_applicable,
)

__all__ = ["DATA_SHUFFLING", "DataShufflingParameters", "shuffle_data"]
GUIDE = RemedyGuide(
    method=(
        "Every value becomes the normal score x of its rank. What the attributes that stay (s) tell of it, m = B s, is "
        "kept, and the rest is drawn anew: y = m + a (x - m) + sqrt(1 - a^2) e, where e is normal with the covariance "
        "that is left of x given s, and a is the proximity. Then the values of each attribute are put in the order of "
        "its y: they are shuffled. y has the correlations of x with itself and with s whatever a is. With `proximity: "
        "0` this is the data shuffling of Muralidhar and Sarathy, under which the shuffled values tell no more of a "
        "record's own than the attributes that stay do; nearness to the record's own values is our addition. Scores "
        "are correlated as they are. A missing value counts as the middle and stays missing. Without a proximity the "
        "release is audited at proximities from 0.99 downwards, and the largest is taken after which every demand that "
        "compares the release with its original holds."
    ),
    choosing=(
        "For numbers and ranks whose relations matter more than any record's own values: unlike after swapping, "
        "correlations stay, and so do regressions that follow ranks. Use `proximity: 0` to publish confidential "
        "attributes beside ones that anybody may know (`given`). Relations that no correlation of ranks describes (a "
        "parabola, an interaction, sums that have to add up such as tax + net = gross) are lost; nominal attributes "
        "are no part of it."
    ),
    guarantees=(
        "Every column has exactly the values that it had, each as often. No record is dropped; only named attributes, "
        "or the ordered quasi-identifiers, change. The note `correlation_change` says how far a correlation of scores "
        "moved. The same records in any order give the same release, where records that agree in quasi-identifiers "
        "and sensitive attributes are the same. It runs once, whatever the other remedies need. The draws follow from "
        "the policy's `seed`: keep that to yourselves, and set one. Whether any demand holds is known only by the "
        "re-audit."
    ),
    attack=(
        "To normal scores the proximity adds noise with their own correlations and draws them back. So somebody who "
        "knows it, and all true values, links by ranks: `noise_attack` with `scores: normal`, `shape: correlated` and "
        "the `sd` that follows from a. Where other attributes stay, beside missing cells, and under `proximity: 0` the "
        "noise is estimated from the true pairs; under 0 there is nothing to find but what the attributes that stay "
        "predict."
    ),
    source=(
        "Muralidhar, Sarathy, Data shuffling: a new masking approach for numerical data, Management Science 52(5), "
        "2006, 658-670, doi:10.1287/mnsc.1050.0503; linkage by ranks: Muralidhar, Domingo-Ferrer, Rank-based record "
        "linkage for re-identification risk assessment, Privacy in Statistical Databases, 2016, 225-236"
    ),
    example="- data_shuffling: {proximity: 0}",
    notes={
        "proximity": "See the parameter.",
        "changed": "Cells that have another value.",
        "given": "Attributes that stayed and with which relations were kept.",
        "correlation_change": "The largest change of a correlation of normal scores.",
    },
)
DATA_SHUFFLING = Remedy(
    name="data_shuffling",
    title="Data shuffling",
    summary="Puts the values of attributes in another order, so that their distributions and rank correlations stay.",
    guide=GUIDE,
    parameters=DataShufflingParameters,
    apply=shuffle_data,
    validate=faults,
    plan=plans,
    why_not_applicable=why_not_applicable,
    once=True,
)
