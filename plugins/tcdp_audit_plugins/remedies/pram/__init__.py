"""PRAM, the post-randomisation method: categories are released as others, with known probabilities.

- `parameters`: what a policy may say, and when the remedy is proposed;
- `apply`: the remedy from a view to columns of drawn values;
- `matrices`: the probabilities, declared or invariant.
"""

from __future__ import annotations

from tcdp_audit.plugin.remedy import Remedy, RemedyGuide
from tcdp_audit_plugins.remedies.pram.apply import post_randomise
from tcdp_audit_plugins.remedies.pram.parameters import PramParameters, faults, plans, why_not_applicable

__all__ = ["PRAM", "PramParameters", "post_randomise"]
GUIDE = RemedyGuide(
    method=(
        "Every value of a categorical attribute is released as itself or as another one, drawn record by record with "
        "the probabilities of a matrix: one that is declared, or a retention for the true value while all others that "
        "occur in the column are equally likely. With `invariant: true` the matrix P becomes R = P Q, where Q leads "
        "back from what was drawn to what it may have been: Q_kl = P_lk t_l / sum_j P_jk t_j, t being the records with "
        "each value. Then t R = t, so that no margin is expected to change. Without matrix and retention the release "
        "is audited at retentions from 0.99 downwards (never so low that another value would be likelier than the true "
        "one), and the largest is taken after which every demand that compares the release with its original holds. "
        "Missing and suppressed cells stay."
    ),
    choosing=(
        "For categories, where a demand on linkage beside the original fails, and where users can work with, or need "
        "not know of, misclassified records. `invariant: true` suits tables of single attributes as they are; "
        "relations between attributes are still weakened. Declare a matrix to rule changes out (a probability of 0 "
        "from `child` to `widowed`) or to keep an ordinal value near. Whoever analyses the release can correct for a "
        "published matrix, and whoever attacks it can use it too: published or not, count on its being known. Classes "
        "are not enlarged: new combinations appear, so that small classes may become more. An attribute with more than "
        "2,000 values is refused: generalise it first."
    ),
    guarantees=(
        "Each value is released with the probabilities of the matrix, independently of every other cell; with "
        "`invariant: true` the expected number of records with each value is what it was, up to rounding, and the note "
        "`margin_shift` says how far it is expected to move otherwise. No record is dropped, no other column changes, "
        "and no value appears that neither the column nor the matrix had. The same records in any order give the same "
        "release, where records that agree in quasi-identifiers and sensitive attributes are the same. It runs once, "
        "whatever the other remedies need. The draws follow from the policy's `seed`: keep that to yourselves, and set "
        "one. Whether any demand holds is known only by the re-audit."
    ),
    attack=(
        "Somebody who knows the matrix links each record to the person whose values were most probably released so: "
        "`pram_attack` with the `retention`, the `matrix` and `invariant` that were used."
    ),
    source=(
        "Gouweleeuw, Kooiman, Willenborg, de Wolf, Post randomisation for statistical disclosure control: theory and "
        "implementation, Journal of Official Statistics 14(4), 1998, 463-478"
    ),
    example="- pram: {retention: 0.8, invariant: true}",
    notes={
        "retention": "The least probability with which a value that occurs is kept, of all attributes.",
        "changed": "Cells that were released as another value.",
        "without_value": "Missing and suppressed cells of the attributes, which stayed.",
        "margin_shift": "The largest expected change of a value's share of the records; 0 where it is invariant.",
    },
)
PRAM = Remedy(
    name="pram",
    title="PRAM",
    summary="Releases categories as others with declared probabilities, or so that no margin is expected to change.",
    guide=GUIDE,
    parameters=PramParameters,
    apply=post_randomise,
    validate=faults,
    plan=plans,
    why_not_applicable=why_not_applicable,
    once=True,
)
