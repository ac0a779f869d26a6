"""Redistribution: parts of purer labels are taken out of the table, with a mix of sensitive values near to its own.

- `parameters`: what a policy may say, and when the remedy is proposed;
- `apply`: the remedy from a view to one label for each class;
- `strata`: records with the same sensitive values, and what the demands say of classes by their counts;
- `nodes`: what can be taken out of a part on one quasi-identifier, and what that saves;
- `division`: one part divided in the allowed way that saves most.
"""

from __future__ import annotations

from tcdp_audit.plugin.remedy import Remedy, RemedyGuide
from tcdp_audit_plugins.remedies.mondrian.parameters import faults
from tcdp_audit_plugins.remedies.redistribution.apply import redistribute
from tcdp_audit_plugins.remedies.redistribution.parameters import RedistributionParameters, plans, why_not_applicable

__all__ = ["REDISTRIBUTION", "RedistributionParameters"]
GUIDE = RemedyGuide(
    method=(
        "The records are put in strata by their sensitive values, at most 64 (quantiles of them where there are "
        "more). A part, the whole table at first, is divided by taking out records under one node of the hierarchy of "
        "a quasi-identifier, or on one side of a cut of an ordered one: of each stratum at most a limit times its "
        "share in the table, so that what is taken has a mix near to the table's; what is left over stays with the "
        "rest. Of all nodes and 40 limits for each, the division is made that saves most certainty penalty and leaves "
        "both sides with all demands of the policy. Records that are far from a cut are taken first, and then those "
        "whose unordered values are common. So on, until no part can be divided. The whole is done four times: with "
        "thresholds as demanded, and with those that a figure may not exceed (t, for one) at 0.6, 0.8 and then 1 of "
        "themselves, at 0.5, 0.6, 0.8 and 1, and at 0.35, 0.6, 0.8 and 1; stricter ones first leave room for later "
        "divisions. The result with the least certainty penalty is kept. Each final part is a class, and gets the "
        "narrowest label that covers it: an interval, a node of the hierarchy, or a set."
    ),
    choosing=(
        "For t-closeness and whatever else bounds how far a class may be from the table, where quasi-identifiers and "
        "sensitive attribute go together: there `mondrian` must keep all records of a place together and loses much "
        "more. It takes several times as long: a plan leaves it out for more than 200,000 records, and where another "
        "remedy after which the release passes loses 5 % or less; it may be asked for. Labels differ from class to "
        "class and overlap: of two records with the same values one may be released as `Bachelors`, the other as "
        "`Higher education`. Where that is not wanted, use `mondrian` or `generalization`. Give `weights` to "
        "attributes whose detail matters more."
    ),
    guarantees=(
        "Every class keeps every demand on classes, decided on its records as the audit decides it; none is smaller "
        "than `k`. No record is dropped, and only quasi-identifiers change. The same records in any order give the "
        "same release, where records that agree in quasi-identifiers and sensitive attributes are the same. A class "
        "with a missing or suppressed value gets the suppressed token in that attribute. An attack whose share of "
        "victims the policy limits is allowed no victim. Checks of the table as a whole are left to the audit."
    ),
    source=(
        "After the redistribution of Cao, Karras, Kalnis, Tan, SABRE: a sensitive attribute bucketization and "
        "redistribution framework for t-closeness, VLDB Journal 20(1), 2011, doi:10.1007/s00778-010-0191-9, and the "
        "top-down partitioning of LeFevre, DeWitt, Ramakrishnan, ICDE 2006, doi:10.1109/ICDE.2006.101; the certainty "
        "penalty is that of Xu et al., KDD 2006, doi:10.1145/1150402.1150504"
    ),
    example="- redistribution: {weights: {age: 2}}",
    notes={
        "classes": "Parts after; those that came to the same labels are one class.",
        "divisions": "How often a part was divided, for the result that was kept.",
        "schedule": (
            "The one that was kept: `at_once`, `in_three`, `in_four` or `early`, by the shares of thresholds that were "
            "kept to one after the other; `undivided` where none led to classes that are allowed."
        ),
        "penalties": "The mean certainty penalty of each schedule, weighted where `weights` are given.",
    },
)
REDISTRIBUTION = Remedy(
    name="redistribution",
    title="Redistribution",
    summary=(
        "Takes parts with finer labels out of the table, of each sensitive value no more than its share, so that "
        "classes stay near the table at a much smaller loss."
    ),
    guide=GUIDE,
    parameters=RedistributionParameters,
    apply=redistribute,
    validate=faults,
    plan=plans,
    why_not_applicable=why_not_applicable,
)
