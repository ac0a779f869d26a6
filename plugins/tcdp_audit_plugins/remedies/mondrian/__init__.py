"""Mondrian: the table is cut in two, again and again, as long as every part keeps the policy.

- `parameters`: what a policy may say, and when the remedy is proposed;
- `apply`: the remedy from a view to one label for each class;
- `distinct_rows`: records that no cut can part, as one row;
- `axes`: a quasi-identifier as a dimension: numbers, ranks and plain values, or the nodes of a hierarchy;
- `place_runs`: the rows of many partitions by their place on an axis, in compressed form;
- `cuts`: how each partition would be cut on each axis, and which axis is tried first;
- `parts`: which parts of a cut are allowed, and the rest that has to stay together;
- `partition`: all partitions of a level are cut at once, until none can be;
- `tally`: progress of the strategies that run side by side.
"""

from __future__ import annotations

from tcdp_audit.plugin.remedy import Remedy, RemedyGuide
from tcdp_audit_plugins.remedies.mondrian.apply import cut, plans
from tcdp_audit_plugins.remedies.mondrian.parameters import MondrianParameters, faults, why_not_applicable

__all__ = ["MONDRIAN", "MondrianParameters", "cut"]
GUIDE = RemedyGuide(
    method=(
        "The table is cut in parts, and the parts again, as long as every part keeps all demands of the policy on "
        "classes: not k alone, but diversity and closeness too. A numeric or ordinal attribute is cut at the median "
        "between two values, a nominal one with a hierarchy into the children of the lowest node that covers the part, "
        "one without in the order of its values. A child that does not keep the demands is replaced by its own "
        "children where those do; what is left stays together under the node's label, and takes in the smallest "
        "children until it keeps the demands. If the attribute whose turn it is cannot be cut, the next one is tried. "
        "The whole is done four times, and the result with the least certainty penalty is kept: with the widest "
        "attribute first, and with the one first whose cut saves most penalty for each bit of it, or for the root of a "
        "bit; cuts below the children of a node are tried after all attributes, or before the next one. Each final "
        "part is a class, and gets the narrowest label that covers it: an interval, a node of the hierarchy, or a set. "
        "Records that agree in all quasi-identifiers are worked on as one, so that the time grows with different rows."
    ),
    choosing=(
        "The first choice where classes are too small or too alike: it keeps all records, and loses less than one "
        "granularity for the whole table as `generalization` has it. Labels differ from class to class ([20, 35] here, "
        "[28, 31] there), which not every use can take. Give `weights` to attributes whose detail matters more. Where "
        "the policy demands nothing of classes, but counts unique records or measures a risk, give `k`."
    ),
    guarantees=(
        "Every class keeps every demand on classes, decided as the audit decides it; none is smaller than `k`. Records "
        "that agreed in all quasi-identifiers still do. No record is dropped, and only quasi-identifiers change. "
        "A class with a missing or suppressed value gets the suppressed token in that attribute. An attack whose share "
        "of victims the policy limits is allowed no victim. Checks of the table as a whole are left to the audit."
    ),
    source=(
        "LeFevre, DeWitt, Ramakrishnan, Mondrian multidimensional k-anonymity, ICDE 2006, "
        "doi:10.1109/ICDE.2006.101, strict partitioning; the certainty penalty is that of Xu et al., KDD "
        "2006, doi:10.1145/1150402.1150504; saving per bit is the gain ratio of Quinlan, C4.5, 1993"
    ),
    example="- mondrian: {weights: {age: 2}}",
    notes={
        "classes": "Classes after.",
        "levels": "How often the table was gone through, for the strategy that was kept.",
        "strategy": (
            "The one that was kept: `widest`, `saving_per_bit`, `saving_per_bit_deeper` or "
            "`saving_per_root_bit_deeper`; deeper: below the children of a node before the next attribute."
        ),
        "penalties": "The mean certainty penalty of each strategy, weighted where `weights` are given.",
    },
)
MONDRIAN = Remedy(
    name="mondrian",
    title="Mondrian partitioning",
    summary=(
        "Cuts the table into classes that keep the policy, each attribute as finely as its part of the table allows, "
        "and releases intervals, nodes of hierarchies or sets in place of values."
    ),
    guide=GUIDE,
    parameters=MondrianParameters,
    apply=cut,
    validate=faults,
    plan=plans,
    why_not_applicable=why_not_applicable,
)
