"""t-closeness: how far the sensitive attribute in a class is from what is known about everybody."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from tcdp_audit import AttributeParameters, ClassCheck, ClassEvidence, Comparison, Quarter, Ratios, Threshold
from tcdp_audit.check import Guide
from tcdp_audit.policy import Scale
from tcdp_audit.policy.scalars import Exact
from tcdp_audit_plugins.checks.distances import equal_distance, ordered_distance


class Distance(StrEnum):
    """The ground distance between values."""

    EQUAL = "equal"
    ORDERED = "ordered"


class ClosenessParameters(AttributeParameters):
    """Parameters of `t_closeness`."""

    t: Annotated[Exact | None, Field(ge=0, le=1, description="The largest distance from the table's distribution.")] = None
    distance: Annotated[
        Distance, Field(strict=False, description="equal: all values are equally far apart; ordered: by rank.")
    ] = Distance.EQUAL


_DISTANCES = {Distance.EQUAL: equal_distance, Distance.ORDERED: ordered_distance}
_SCALES = {Distance.EQUAL: None, Distance.ORDERED: frozenset({Scale.ORDINAL, Scale.NUMERIC})}


def closeness(evidence: ClassEvidence, parameters: ClosenessParameters) -> Ratios:
    """Earth mover's distance between the class's and the table's distribution, for every class.

    Returns:
        Exact fractions from 0 to 1, shape (classes,).

    Cost: that of the distance: linear in the pairs of class and value, times a logarithm for `ordered`.

    Source: Li, Li, Venkatasubramanian (2007), definition 1 and sections 4.1-4.2.
    """
    return _DISTANCES[parameters.distance](*evidence.sensitive)


CHECKS = [
    ClassCheck(
        name="t_closeness",
        title="t-closeness",
        quarter=Quarter.ATTRIBUTE_MODEL,
        parameters=ClosenessParameters,
        thresholds=(Threshold("t", Comparison.AT_MOST, closeness, "distance from the table"),),
        on_attribute=True,
        scales=lambda parameters: _SCALES[parameters.distance],
        variant=lambda parameters: f"{parameters.distance.value} distance",
        guide=Guide(
            definition=(
                "The distribution p of the sensitive attribute in every equivalence class is within distance t of its "
                "distribution q in the table, by the earth mover's distance under the declared ground distance."
            ),
            formula="max_E D(p, q) ≤ t;  equal: ½ Σ_i |p_i - q_i|;  ordered: 1/(m-1) Σ_i |Σ_{j≤i} (p_j - q_j)|",
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
            ),
            reading=(
                "The observed value is the distance of the class that differs most from the table: 0 where a class "
                "says no more than the table does, 1 where they have nothing in common."
            ),
            choosing=(
                "0.15 to 0.3 is usual. Small classes cannot come close to a distribution with many values: a class of "
                "n records is at least 1 - n/m from m equally frequent values under `equal`."
            ),
            limits=(
                "`ordered` goes by rank, as published: the gap between neighbouring values does not matter. The scale "
                "must be declared; it is never guessed from the type."
            ),
            source="Li, Li, Venkatasubramanian, t-Closeness, ICDE 2007, definition 1, sections 4.1 and 4.2",
            example="- t_closeness: {t: 0.2, attribute: salary, distance: ordered}",
        ),
    ),
]
