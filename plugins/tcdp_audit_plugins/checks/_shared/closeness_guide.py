"""The guide to t-closeness and its distances."""

from __future__ import annotations

from tcdp_audit.plugin import Guide

GUIDE = Guide(
    asks="Does finding somebody's group tell more about their secret than the whole table does?",
    risk="Whoever finds somebody's group may learn much about them, although nobody is singled out.",
    definition=(
        "The distribution p of the sensitive attribute in every equivalence class is within distance t of its "
        "distribution q in the table. `equal`, `ordered`, `numeric` and `hierarchical` are earth mover's "
        "distances: the least work that turns p into q, where moving between two values costs 1, their "
        "difference in rank, their difference, or the height of their lowest common ancestor, each over the "
        "largest there is. `multiplicative` is the largest ratio of p and q, either way round. The two "
        "divergences are measured for information."
    ),
    formula=(
        "max_E D(p, q) ≤ t;  equal: ½ Σ_i |p_i - q_i|;  ordered: 1/(m-1) Σ_i |Σ_{j≤i} (p_j - q_j)|;  "
        "numeric: 1/(v_m - v_1) Σ_i (v_{i+1} - v_i) |Σ_{j≤i} (p_j - q_j)|;  "
        "hierarchical: Σ_N height(N)/H · min(pos_extra(N), neg_extra(N));  "
        "multiplicative: max_i max(p_i/q_i, q_i/p_i);  kullback_leibler: Σ_i p_i ln(p_i/q_i);  "
        "jensen_shannon: ½ KL(p ‖ (p+q)/2) + ½ KL(q ‖ (p+q)/2)"
    ),
    mathml=(
        "<math display='block'><munder><mo movablelimits='false'>max</mo><mi>E</mi></munder><mi>D</mi>"
        "<mo>(</mo><mi>p</mi><mo>,</mo><mi>q</mi><mo>)</mo><mo>≤</mo><mi>t</mi></math>"
        "<math display='block'><msub><mi>D</mi><mtext>equal</mtext></msub><mo>=</mo><mfrac><mn>1</mn><mn>2</mn>"
        "</mfrac><munder><mo>∑</mo><mi>i</mi></munder><mo>|</mo><msub><mi>p</mi><mi>i</mi></msub><mo>−</mo>"
        "<msub><mi>q</mi><mi>i</mi></msub><mo>|</mo></math>"
        "<math display='block'><msub><mi>D</mi><mtext>ordered</mtext></msub><mo>=</mo><mfrac><mn>1</mn><mrow>"
        "<mi>m</mi><mo>−</mo><mn>1</mn></mrow></mfrac><munder><mo>∑</mo><mi>i</mi></munder><mo>|</mo><munder>"
        "<mo>∑</mo><mrow><mi>j</mi><mo>≤</mo><mi>i</mi></mrow></munder><mo>(</mo><msub><mi>p</mi><mi>j</mi>"
        "</msub><mo>−</mo><msub><mi>q</mi><mi>j</mi></msub><mo>)</mo><mo>|</mo></math>"
        "<math display='block'><msub><mi>D</mi><mtext>numeric</mtext></msub><mo>=</mo><munder><mo>∑</mo><mi>i</mi>"
        "</munder><mfrac><mrow><msub><mi>v</mi><mrow><mi>i</mi><mo>+</mo><mn>1</mn></mrow></msub><mo>−</mo><msub>"
        "<mi>v</mi><mi>i</mi></msub></mrow><mrow><msub><mi>v</mi><mi>m</mi></msub><mo>−</mo><msub><mi>v</mi>"
        "<mn>1</mn></msub></mrow></mfrac><mo>|</mo><munder><mo>∑</mo><mrow><mi>j</mi><mo>≤</mo><mi>i</mi></mrow>"
        "</munder><mo>(</mo><msub><mi>p</mi><mi>j</mi></msub><mo>−</mo><msub><mi>q</mi><mi>j</mi></msub>"
        "<mo>)</mo><mo>|</mo></math>"
        "<math display='block'><msub><mi>D</mi><mtext>hierarchical</mtext></msub><mo>=</mo><munder><mo>∑</mo>"
        "<mi>N</mi></munder><mfrac><mrow><mi>height</mi><mo>(</mo><mi>N</mi><mo>)</mo></mrow><mi>H</mi></mfrac>"
        "<mi>min</mi><mo>(</mo><msub><mi>pos</mi><mi>N</mi></msub><mo>,</mo><msub><mi>neg</mi><mi>N</mi></msub>"
        "<mo>)</mo></math>"
        "<math display='block'><msub><mi>D</mi><mtext>multiplicative</mtext></msub><mo>=</mo><munder>"
        "<mo movablelimits='false'>max</mo><mi>i</mi></munder><mi>max</mi><mo>(</mo><mfrac><msub><mi>p</mi>"
        "<mi>i</mi></msub><msub><mi>q</mi><mi>i</mi></msub></mfrac><mo>,</mo><mfrac><msub><mi>q</mi><mi>i</mi>"
        "</msub><msub><mi>p</mi><mi>i</mi></msub></mfrac><mo>)</mo></math>"
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
        "node. The scale must be declared; it is never guessed from the type."
    ),
    source=(
        "Li, Li, Venkatasubramanian, t-Closeness, ICDE 2007, definition 1, sections 4.1 and 4.2; multiplicative: "
        "Domingo-Ferrer, Soria-Comas, Knowledge-Based Systems 74, 2015, definition 4; divergences: Kullback, "
        "Leibler, 1951; Lin, 1991"
    ),
    example="- t_closeness: {t: 0.2, attribute: salary, distance: ordered}",
)
