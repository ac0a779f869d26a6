"""The guide to probabilistic record linkage."""

from __future__ import annotations

from tcdp_audit.plugin.check import Guide
from tcdp_audit_plugins.formulas import formula

GUIDE = Guide(
    question="How many people are recognised by somebody who weighs where records agree?",
    risk="Somebody with another list of the same people may find them even where some facts differ.",
    definition=(
        "An intruder who holds the original's attributes compares every released record with every original "
        "one. Agreement on an attribute has the probability m among true matches and u among other pairs. "
        "Each released record is linked to the original whose agreements weigh most; t originals of equal "
        "weight count 1/t each. The figure is the expected share of released records linked to their own "
        "original."
    ),
    **formula(
        r"\frac{1}{n} \sum_i \frac{[\text{true original among the best}]}{t_i} \le \text{at\_most}",
        r"w = \sum_{j \text{ agrees}} \ln \frac{m_j}{u_j} + \sum_{j \text{ differs}} \ln \frac{1 - m_j}{1 - u_j}",
    ),
    reading=(
        "0 is no correct link, 1 is every record; compare it with `random_baseline`, what guessing finds. "
        "Details: `matched`, `released_without_original` (they count as not linked) and `originals_not_released` "
        "say what was paired; `expected_correct` is the numerator, `correct_unique` the records whose true "
        "original has no rival, `correct_including_ties` those whose true original is among the best; `pairs` "
        "is all pairs; `prior` the probability that a pair matches; `estimates` has m, u and the `gain` in "
        "weight of each attribute's agreement over disagreement; `iterations_taken`, `last_change` and "
        "`converged` tell how the estimation ended. `linked_pairs`, `clerical_pairs` and `non_linked_pairs` "
        "follow from the two tolerated error rates; `by_error_rates` has the links, the correct ones, their "
        "precision and recall, and the matches among clerical pairs and non-links; `by_posterior` has the "
        "same for every posterior in `posteriors`. A precision without a link is null."
    ),
    choosing=(
        "0.05 lets an intruder be right for one record in twenty, and not know for which. A release that is "
        "to be anonymous should come near the random baseline. Name in `attributes` what an intruder can "
        "know; give a `tolerance` to numbers that were perturbed and a `similarity` to texts that were "
        "respelt."
    ),
    limits=(
        "The attributes are taken to agree independently among matches and among other pairs. By default u "
        "is the agreement rate of random pairs, the prior is the share of true pairs, and only m > u is "
        "estimated; `unconstrained` estimates all three, and on a few attributes of few values it finds the "
        "dependence between attributes instead of the matches and understates the risk. A missing value "
        "agrees with nothing, not even a missing one. With a tolerance or a similarity every pair is "
        "compared, which takes minutes beyond 50,000 records."
    ),
    source=(
        "Fellegi, Sunter, A theory for record linkage, JASA 64 (1969), "
        "doi:10.1080/01621459.1969.10501049; Winkler, Using the EM algorithm for weight computation in "
        "the Fellegi-Sunter model, 1988; Torra, Privacy models and disclosure risk, 2020"
    ),
    example="- probabilistic_record_linkage: {at_most: 0.05, attributes: [age, sex, zip], tolerance: {age: 2}}",
)
