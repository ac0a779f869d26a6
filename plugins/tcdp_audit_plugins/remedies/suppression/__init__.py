"""Suppression: leave out the records of failing classes, or as few of their quasi-identifier cells as will do.

- `parameters`: what a policy may say, and when the remedy is proposed;
- `apply`: the remedy, and the limit of what may be suppressed;
- `records`: classes that fail are dropped until those that are left keep the policy;
- `quasi_identifier_cells`: the cells that may be suppressed, and the classes that result;
- `cells`: the search for cells, and the patterns of attributes that it tries;
- `local_suppression`: records of failing classes are grouped with each other;
- `enlargement`: passing classes help what is left over; then cells are shown again.
"""

from __future__ import annotations

from tcdp_audit.plugin.remedy import Remedy, RemedyGuide
from tcdp_audit_plugins.remedies.suppression.apply import plans, suppress
from tcdp_audit_plugins.remedies.suppression.parameters import SuppressionParameters, faults, why_not_applicable

GUIDE = RemedyGuide(
    method=(
        "`of: records` drops the records of failing classes. Each drop changes the distributions that other classes "
        "are held against, so the rest is judged again until no class fails. Two orders are followed and the one that "
        "drops fewer is taken: the smallest failing classes first, an eighth of the failing records at a time; and, "
        "once at most 16 classes fail, always the class without which the fewest records fail. "
        "`of: cells` replaces quasi-identifier cells by `*`, which is a value like any other to every check. The "
        "records of failing classes are grouped with each other: subsets of attributes are tried in the order of their "
        "total importance, a group that keeps the policy is kept, and the search goes on with what is left. Of more "
        "than 12 attributes the small subsets are tried, then a chain up to all of them. Records that are left over "
        "join a class that agrees with them elsewhere, or as few classes as will do with all cells suppressed. At last "
        "cells are shown again, the most important attributes first, wherever every class still keeps the policy. Up "
        "to four ways through this are followed (of equal subsets that which serves the most or the fewest first; the "
        "largest or the smallest class to join first), and the cheapest is taken."
    ),
    choosing=(
        "Suppression suits the rare combinations that remain after generalising; on fine values it takes much. "
        "`at_most` limits the share and refuses beyond it, naming the share that would do. `of: cells` keeps every "
        "record, and so the distribution of the sensitive attributes; `of: records` keeps the remaining records whole. "
        "Give attributes that the analysis needs a higher `importance`; at 0 an attribute's cells cost nothing."
    ),
    guarantees=(
        "Every class keeps every expectation on classes, judged exactly, with missing cells read as suppressed ones. "
        "`of: cells` drops no record and changes no sensitive cell. Records of passing classes are left alone unless "
        "others cannot be grouped without them; which ones join is drawn with the policy's seed. The same records in "
        "any order give the same release. Both are heuristics, compared with the optimum on small random tables: on "
        "300 of four to eight records the suppressed cells exceed the least possible number by 5 % in all for k = 2, "
        "by 1 % for k = 3 and by 4 % for k = 2 with t-closeness, where 3 tables were refused that could be helped; on "
        "224 of up to 25 records the dropped records exceed it by 3 % for t-closeness (4 were refused), and without a "
        "demand on distributions they never do. Expectations on the table as a whole are left to the re-audit."
    ),
    source=(
        "Samarati, IEEE TKDE 13(6), 2001, doi:10.1109/69.971193 (suppression of outlying records); "
        "Hundepool and others, Statistical Disclosure Control, Wiley 2012, doi:10.1002/9781118348239 "
        "(local suppression); Meyerson, Williams, PODS 2004, doi:10.1145/1055558.1055591 (the least "
        "number of cells is NP-hard to find)"
    ),
    example="- suppression: {of: cells, importance: {age: 2}}",
    notes={
        "records": "Records that were dropped, or of which a cell was suppressed.",
        "share": "Their share of all records; the suppressed share of all quasi-identifier cells with `of: cells`.",
        "classes": "Classes that were dropped.",
        "rounds": "How often the remaining classes were judged anew.",
        "cells": "Suppressed cells of each attribute.",
        "enlarged": "Records of passing classes that were suppressed so that others could join them.",
        "patterns": "Different sets of attributes that were suppressed together.",
    },
)
SUPPRESSION = Remedy(
    name="suppression",
    title="Suppression",
    summary="Drops the records of failing classes, or suppresses as few of their quasi-identifier cells as will do.",
    guide=GUIDE,
    parameters=SuppressionParameters,
    apply=suppress,
    validate=faults,
    plan=plans,
    why_not_applicable=why_not_applicable,
)
