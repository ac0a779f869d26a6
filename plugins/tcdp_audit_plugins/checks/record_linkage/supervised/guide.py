"""The guide to supervised record linkage."""

from __future__ import annotations

from tcdp_audit.plugin.check import Guide
from tcdp_audit_plugins.formulas import formula

GUIDE = Guide(
    question="How many people are recognised by somebody who knows which facts tell most?",
    risk="Somebody who has seen which facts were changed least can look at these, and find far more people.",
    definition=(
        "An intruder links every released record to the nearest known one, by the distance of a family that is right "
        "most often: it is learned from the true pairs. The figure is the expected share of correct links by the best "
        "distance that was found, a true match among t tied ones counting 1/t. It is the worst case among all "
        "intruders with a distance of that family, and never below what equal weights find."
    ),
    **formula(
        r"\max_w \frac{1}{n} \sum_i \frac{[\text{true match nearest by } d_w]}{t_i} \le \text{at\_most}",
        r"\text{weighted mean } d_w = \sum_k w_k d_k",
        r"\text{OWA } d_w = \sum_k w_k d_{(k)}",
        r"\text{bilinear } d_w = \sum_{kl} w_{kl} \delta_k \delta_l",
        r"\text{Choquet } d_w = \sum_A w_A \min_{k \in A} d_k",
        r"d_k = \delta_k^2, \; \delta_k = z(a_k) - z(b_k), \; d_{(1)} \ge d_{(2)} \ge \ldots",
    ),
    reading=(
        "Of 1,080 records, equal weights link 580 where two attributes have a little noise and eleven have swapped "
        "ranks; learned weights link 938, since they look at the two. Details: `worst_case`, `equal_weights` (the "
        "same by distance-based linkage) and `random_baseline`; `held_out_learned` and `held_out_equal`, of the "
        "`held_out_records`, linked among themselves and those not released, by what was learned from the others, "
        "`trained_on`; beside `held_out_baseline`. What is found in the worst case but not there is chance, what is "
        "found in both is the masking. `weights` has the distance, in six digits: of attributes and sets of them, "
        "adding up to 1 but for rounding (for a Choquet integral the Möbius transform of its capacity; for OWA a list, "
        "the largest difference first); a bilinear form has trace 1, and `positive_semidefinite` says whether it is a "
        "metric. `heuristic` says that a better distance was not ruled out; `certified_bound`, by `milp`, is the most "
        "records that any distance of the family links strictly, that is without a tie, of the `learned_from`, where a "
        "bilinear form is one that keeps the bounds below; `strict_links` is what the best one does of these. "
        "`time_ended` and `held_out_time_ended` say that a search ended before it was done, so that its distance is "
        "the best so far. `most_possible` is how many links the release allows at all, by whatever distance: k "
        "identical records have one nearest record, so groups of k never give more than n/k; `held_out_most_possible` "
        "is that share of those held out. `expected_correct` is the numerator; the rest is as in distance-based "
        "linkage."
    ),
    choosing=(
        "Demand `judged: held_out` where the intruder has true pairs of some people only; 0.1 is our proposal, not a "
        "published norm. The worst case shows what publishing the masking, attribute by attribute, would cost. "
        "`weighted_mean` answers most questions; `bilinear` and `choquet` learn more and overfit more."
    ),
    limits=(
        "`surrogate` maximises the expected number of links of a soft linkage (from four scales of weights, without "
        "a seed), then searches the true number along one direction at a time: what it finds is possible, but not "
        "proven to be the most. `milp` proves it for some hundred records and few attributes. Where `time_limit` ends "
        "the search, figures are the best so far and may differ on another machine: a demand that they break fails, "
        "one that `most_possible` keeps passes, any other is an error. The bound of `milp` holds for matches that are "
        "nearer than others by three millionths of what their difference can be at most, and for bilinear forms with "
        "2 |w_kl| at most w_kk + w_ll, which are all metrics and some others; a form beyond may link more records. "
        "Where there are more than 1,500 x 1,500 pairs, 1,500 records drawn by the seed are learned from, among "
        "themselves; all are linked by what was learned, and the worst case is then a lower bound. No more are "
        "trained on where others are held out. Families other than the weighted mean take up to some thousand "
        "records. A Choquet integral weighs all sets of up to six attributes, of more attributes single ones and "
        "pairs (2-additive). In a bilinear form, nominal values differ by 0 or 1. Standardisation, missing cells and "
        "ties are those of distance-based linkage, and pairs that outgrow the memory are refused."
    ),
    source=(
        "Abril, Navarro-Arribas, Torra, Improving record linkage with supervised learning for disclosure risk "
        "assessment, Information Fusion 13 (2012); Goldberger et al., Neighbourhood components analysis, NIPS 2004"
    ),
    example="- supervised_record_linkage: {at_most: 0.1, attributes: [age, salary]}",
)
