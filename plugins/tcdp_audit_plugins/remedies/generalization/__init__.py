"""Generalization: one level of its hierarchy for each quasi-identifier, all combinations of them searched.

- `parameters`: what a policy may say, and when the remedy is proposed;
- `apply`: the remedy from a view to columns at the best levels, its figures, or why there are none;
- `levels`: the levels of a quasi-identifier, and what their labels cost;
- `base`: the records grouped once, at the lowest levels;
- `losses`: what a combination of levels costs;
- `node_judge`: whether a combination keeps the policy, and what has to be suppressed;
- `lattice`: all combinations, and what is known of them;
- `lattice_search`: the one with the least loss;
- `rungs`: the labels that single base classes can get;
- `local_recoding`: finer labels, class by class;
- `recoded`: from where that begins, and which result is taken.
"""

from __future__ import annotations

from tcdp_audit.plugin.remedy import Remedy, RemedyGuide
from tcdp_audit_plugins.remedies.generalization.apply import generalize, plans
from tcdp_audit_plugins.remedies.generalization.parameters import GeneralizationParameters, faults, why_not_applicable

__all__ = ["GENERALIZATION", "GeneralizationParameters", "generalize"]
GUIDE = RemedyGuide(
    method=(
        "Every quasi-identifier is generalised to one level of its hierarchy throughout the table (full-domain "
        "generalisation): level 0 are its values, the highest a single label. An attribute without a hierarchy has its "
        "values and the suppressed token; a numeric one may have bins of given widths instead. All combinations of "
        "levels form a lattice, which is searched for the one that keeps every demand on classes with the least loss. "
        "Records are grouped once; a combination only merges those groups. Where every demand is monotone (merging "
        "classes that keep it never makes it fail) and nothing may be suppressed, a combination that fails rules out "
        "all finer ones. With suppression it does not: a class that passes may fail together with one that fails, so "
        "that a coarser combination can cost more records. Then a combination rules out finer ones only where classes "
        "too small by their size alone hold more records than may be suppressed. In every case combinations are ruled "
        "out by lower bounds of their loss. Records that fail, if few enough, stay as one group that shows no "
        "quasi-identifier, where that group keeps the policy as well: then nobody is lost, and the distributions that "
        "closeness is measured against stay as they are. Otherwise they are dropped. With `local_recoding` classes "
        "are then divided, that of the suppressed records among them: by one quasi-identifier at a finer level. The "
        "parts that keep every demand get that level's labels; the others keep those of the class, as one class that "
        "must keep every demand too, and takes in the smallest parts until it does. All classes are divided at once, "
        "each in the way that saves most certainty penalty, until none can be. That is done from the best "
        "combination and from all records suppressed, by the next finer level and by any; the result with the least "
        "loss is kept."
    ),
    choosing=(
        "Where all records must stay comparable: each attribute has one granularity in the whole table, and labels are "
        "those of the hierarchy. It loses more than `mondrian`, which cuts each part of the table by itself. A few "
        "outlying records can force whole attributes up: allow `suppression` of 0.01 to 0.05 and compare the losses. "
        "Fix what users need with `levels`. Where one granularity is not needed, but labels must be those of the "
        "hierarchies, take `local_recoding: true`: it loses little more than `mondrian`, and of two records with the "
        "same values one may be released with a finer label than the other."
    ),
    guarantees=(
        "Every class of the release keeps every demand on classes, decided as the audit decides it, and no other "
        "combination of levels has a smaller loss. Where records are dropped, what is left is judged anew, until "
        "nothing fails; another choice of records might do with fewer, so that what is found is then the least loss "
        "that was found and no more. So it is with `local_recoding`, which never costs more than the combination it "
        "begins with, and hides no more records than are allowed. None is dropped under `rows_aligned: true`. An "
        "attack whose share of victims the policy limits is allowed no victim. Checks of the table as a whole are left "
        "to the audit."
    ),
    source=(
        "Samarati, IEEE TKDE 13(6), 2001, doi:10.1109/69.971193, k-minimal generalization; LeFevre, "
        "DeWitt, Ramakrishnan, Incognito, SIGMOD 2005, doi:10.1145/1066157.1066164; Kohlmayer, Prasser, "
        "Eckert, Kemper, Kuhn, Flash, PASSAT 2012, doi:10.1109/SocialCom-PASSAT.2012.52; local recoding after "
        "Fung, Wang, Yu, Top-down specialization, ICDE 2005, doi:10.1109/ICDE.2005.143, and the local transformation "
        "of Prasser, Eicher, Spengler, Bild, Kuhn, ARX, Software: Practice and Experience 50(7), 2020, "
        "doi:10.1002/spe.2812"
    ),
    example="- generalization: {suppression: 0.02}",
    notes={
        "nodes": "Combinations of levels in the lattice; levels that tell the same values apart count once.",
        "evaluated": "Combinations that were looked at.",
        "pruning": "What ruled out others beside bounds of the loss: `monotonicity`; with `bounds` small classes only.",
        "levels": "The level chosen for each quasi-identifier, and its highest: [level, height].",
        "loss": "The loss that was made least, by the measure that `measure` names.",
        "measure": "ncp, discernibility or average_class_size.",
        "suppressed": "Records suppressed.",
        "grouped": "Whether they stay, as one group that shows no quasi-identifier; otherwise they are dropped.",
        "local_recoding": (
            "Empty without; otherwise the `loss` after it, the least that was found; the `classes` then; the records "
            "`suppressed` in the end; whether it had its `start` at the best `levels` or with all records `hidden`; "
            "and whether `steps` went to the `next` finer level only or to `any`. The other notes are those of the "
            "combination of levels before it."
        ),
        "lattice": (
            "At most 200 of the combinations that were looked at, in ascending order of loss: [loss, share of records "
            "that would have to be suppressed, whether the policy is then kept within the limit, levels]. Where it is "
            "not, the share is what was found to fail until the limit was exceeded; the loss is without suppression."
        ),
    },
)
GENERALIZATION = Remedy(
    name="generalization",
    title="Full-domain generalization",
    summary=(
        "Generalises every quasi-identifier to one level of its hierarchy, the combination that loses least among all "
        "that keep the policy, and may suppress a few records."
    ),
    guide=GUIDE,
    parameters=GeneralizationParameters,
    apply=generalize,
    validate=faults,
    plan=plans,
    why_not_applicable=why_not_applicable,
)
