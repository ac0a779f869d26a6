"""The guide to t-closeness and its distances."""

from __future__ import annotations

from tcdp_audit.plugin.check import Guide
from tcdp_audit_plugins.checks._shared.certain_values import SHARES_OF_PAIRS
from tcdp_audit_plugins.formulas import formula

GUIDE = Guide(
    question="Does finding somebody's group tell more about their secret than the whole table does?",
    risk="Whoever finds somebody's group may learn much about them, although nobody is singled out.",
    definition=(
        "The distribution p of the sensitive attribute in every equivalence class is within distance t of its "
        "distribution q in the table. `equal`, `ordered`, `numeric` and `hierarchical` are earth mover's "
        "distances: the least work that turns p into q, where moving between two values costs 1, their "
        "difference in rank, their difference, or the height of their lowest common ancestor, each over the "
        "largest there is. `multiplicative` is the largest ratio of p and q, either way round. The two "
        "divergences are measured for information."
    ),
    **formula(
        r"\max_E D(p, q) \le t",
        r"\text{equal: } \frac{1}{2} \sum_i \left|p_i - q_i\right|",
        r"\text{ordered: } \frac{1}{m - 1} \sum_i \left|\sum_{j \le i} (p_j - q_j)\right|",
        r"\text{numeric: } \sum_i \frac{v_{i+1} - v_i}{v_m - v_1} \left|\sum_{j \le i} (p_j - q_j)\right|",
        r"\text{hierarchical: } \sum_N \frac{\operatorname{height}(N)}{H} \min(\text{pos}_N, \text{neg}_N)",
        r"\text{multiplicative: } \max_i \max\left(\frac{p_i}{q_i}, \frac{q_i}{p_i}\right)",
        r"\text{kullback\_leibler: } \operatorname{KL}(p, q) = \sum_i p_i \ln \frac{p_i}{q_i}",
        r"\text{jensen\_shannon: } \frac{1}{2} \operatorname{KL}(p, M) + \frac{1}{2} \operatorname{KL}(q, M)",
        r"M = \frac{1}{2}\, (p + q)",
    ),
    reading=(
        "The observed value is the distance of the class that differs most from the table. The earth mover's "
        "distances are 0 where a class says no more than the table does, and 1 where it could not say more. "
        "`multiplicative` starts at 1; it is infinite where a class lacks a value that the table has, because "
        "that rules the value out for everybody in the class. `kullback_leibler` is infinite where a class has a "
        "value that the reference lacks; `jensen_shannon` is at most ln 2."
    ),
    choosing=(
        "0.15 to 0.3 is usual. Small classes cannot come close to a distribution with many values: a class of "
        "n records is at least 1 - n/m from m equally frequent values under `equal`. For `multiplicative`, t "
        "allows every value to become t times more or less frequent; 2 is usual after bucketisation, and a "
        "class needs at least as many records as the attribute has values. The divergences take no threshold."
    ),
    limits=(
        "`ordered` goes by rank, as published: the gap between neighbouring values does not matter; under "
        "`numeric`, which is not in the paper, a single far value shrinks all distances. `hierarchical` needs a "
        "hierarchy with all leaves at one depth; a released inner label counts as a value of its own below its "
        "node. The scale must be declared; it is never guessed from the type. "
        f"{SHARES_OF_PAIRS}"
    ),
    source=(
        "Li, Li, Venkatasubramanian, t-Closeness, ICDE 2007, doi:10.1109/ICDE.2007.367856, definition 1, "
        "sections 4.1 and 4.2; multiplicative: Domingo-Ferrer, Soria-Comas, Knowledge-Based Systems 74, "
        "2015, doi:10.1016/j.knosys.2014.11.011, definition 4; divergences: Kullback, Leibler, 1951, "
        "doi:10.1214/aoms/1177729694; Lin, 1991, doi:10.1109/18.61115"
    ),
    example="- t_closeness: {t: 0.2, attribute: salary, distance: ordered}",
)
