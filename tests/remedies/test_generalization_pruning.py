"""What the search rules out without looking: bounds and hopeless nodes hold, and are not claimed where they do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from itertools import product
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given, settings, strategies as st

from tcdp_audit import load_policy
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.remedy.merged import MergedDemands
from tcdp_audit.core.remedy.remedy import RemedyError, Treatment
from tcdp_audit.core.remedy.view import RemedyView
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit_plugins.remedies.generalization import GENERALIZATION
from tcdp_audit_plugins.remedies.generalization.lattice import Lattice, NodeJudge
from tcdp_audit_plugins.remedies.generalization.levels import generalization_levels
from tcdp_audit_plugins.remedies.generalization.losses import Base, Measure

PLUGINS = Plugins.load(external=False)
TOWNS = {"*": {"N": {"NE": ["a", "b"], "NW": ["c", "d"]}, "S": {"SE": ["e", "f"], "SW": ["g", "h"]}}}
EXPECT: list[Mapping[str, Any]] = [
    {"k_anonymity": {"k": 2}},
    {"k_anonymity": {"k": 3}},
    {"distinct_l_diversity": {"l": 2}},
    {"alpha_k_anonymity": {"alpha": 0.75}},
    {"t_closeness": {"t": 0.4}},
    {"delta_disclosure": {"delta": 0.7, "absent_values": "ignored"}},
]
Row = tuple[str, str, str]  # town, sex, answer


class Opened(ExitStack):
    """A view of a table of towns, sexes and answers, closed with the stack."""

    def view(self, drawn: Sequence[Row], *expect: Mapping[str, Any], **more: Any) -> RemedyView:
        town, sex, answer = zip(*drawn, strict=True)
        attributes = {
            "town": {"role": "quasi_identifier", "scale": "nominal", "hierarchy": TOWNS},
            "sex": {"role": "quasi_identifier", "scale": "nominal"},
            "answer": {"role": "sensitive", "scale": "nominal"},
        }
        policy = load_policy({"version": 1, "attributes": attributes, "expect": list(expect), **more}, PLUGINS)
        engine = self.enter_context(
            open_engine(pa.table({"town": list(town), "sex": list(sex), "answer": list(answer)}), 2**28)
        )
        return RemedyView(Release(engine, policy), (), 0, lambda _: ())


def treated(drawn: Sequence[Row], *expect: Mapping[str, Any], **parameters: Any) -> Treatment:
    with Opened() as opened:
        view = opened.view(drawn, *expect)
        return GENERALIZATION.apply(view, GENERALIZATION.parameters.model_validate(parameters))


def levels(treatment: Treatment) -> dict[str, int]:
    return {name: level for name, (level, _) in treatment.notes["levels"].items()}


@pytest.mark.long
@settings(max_examples=40)
@given(
    drawn=st.lists(
        st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("fm"), st.sampled_from("xyz")), min_size=2, max_size=24
    ),
    expect=st.lists(st.sampled_from(EXPECT), min_size=1, max_size=2, unique_by=str),
    measure=st.sampled_from(Measure),
    share=st.sampled_from([0.0, 0.1, 0.3, 0.6]),
)
@example(  # the average class is smaller without the largest one
    drawn=[("a", "f", "x")] * 10 + [(town, "m", answer) for town in "bcdef" for answer in "xy"],
    expect=[{"distinct_l_diversity": {"l": 2}}],
    measure=Measure.AVERAGE_CLASS_SIZE,
    share=0.6,
)
def test_no_coarser_node_costs_less_than_a_bound_and_no_finer_one_than_a_hopeless_node_is_retained(
    drawn: list[Row], expect: list[Mapping[str, Any]], measure: Measure, share: float
) -> None:
    with Opened() as opened:
        view = opened.view(drawn, *expect)
        levels_of_all = [generalization_levels(view, one, None) for one in view.quasi_identifiers]
        base = Base(levels_of_all, [0, 0])
        demands = MergedDemands(view.demands, base.classes, len(base.sizes))
        judge = NodeJudge(base, demands, measure, int(share * len(drawn)))
        nodes = list(product(*(one.distinct for one in levels_of_all)))
        top = nodes[-1]
        actual = {node: judge.judge_node(node) for node in nodes if not (node == top and base.hidden(top).all())}
    pairs = [
        (lower, upper)
        for (fine, lower), (coarse, upper) in product(actual.items(), repeat=2)
        if all(a <= b for a, b in zip(fine, coarse, strict=True))
    ]
    assert pairs
    for lower, upper in pairs:
        assert not upper.passes or upper.loss >= lower.bound - 1e-12
        assert not (upper.hopeless and lower.passes)


def _rows(counts: Mapping[str, tuple[int, int]]) -> list[Row]:
    """Records of one sex: how many of each town answer x, and how many y."""
    return [(town, "f", answer) for town, (x, y) in counts.items() for answer in "x" * x + "y" * y]


def test_where_a_demand_is_not_monotone_a_failing_node_rules_out_no_finer_one() -> None:
    """NE (20, 0) and NW (9, 1) keep delta 1 if absent values are ignored, N (29, 1) does not."""
    drawn = _rows({"a": (19, 0), "b": (1, 0), "c": (5, 0), "d": (4, 1), "e": (30, 5), "f": (1, 0), "g": (30, 4)})
    delta = {"delta_disclosure": {"delta": 1, "absent_values": "ignored"}}
    treatment = treated(drawn, {"k_anonymity": {"k": 2}}, delta)
    assert (levels(treatment)["town"], treatment.notes["pruning"]) == (1, "bounds")
    published = treated(drawn, {"k_anonymity": {"k": 2}}, {"delta_disclosure": {"delta": 1}})
    assert (levels(published)["town"], published.notes["pruning"]) == (3, "monotonicity")


def test_with_suppression_a_coarser_node_may_cost_more_records() -> None:
    """NE (3, 0) alone exceeds a share of 3/4; with NW (7, 3) it takes ten good records with it."""
    drawn = _rows(
        {"a": (1, 0), "b": (2, 0), "c": (4, 0), "d": (3, 3), "e": (3, 0), "f": (2, 5), "g": (5, 0), "h": (0, 5)}
    )
    alpha = {"alpha_k_anonymity": {"alpha": 0.75}}
    treatment = treated(drawn, alpha, suppression=0.1)
    assert (levels(treatment)["town"], treatment.notes["suppressed"]) == (1, 3)
    assert treatment.retained is not None
    assert treatment.retained.tolist() == [row[0] not in "ab" for row in drawn]
    shares = {tuple(dot[3]): (dot[1], dot[2]) for dot in treatment.notes["lattice"]}
    assert shares[0, 2] == (13 / 33, False)  # sex, town
    assert levels(treated(drawn, alpha))["town"] == 3


def test_the_node_where_nothing_is_left_rules_out_no_finer_one() -> None:
    drawn = [("a", "f", "x"), *(("abbhh"[number], "m", "x") for number in range(5))]
    assert levels(treated(drawn, {"k_anonymity": {"k": 2}})) == {"sex": 1, "town": 0}


def test_a_release_of_suppressed_records_only_is_no_answer() -> None:
    drawn = [("*", "*", "x")] * 5 + [("a", "f", "y")]
    with pytest.raises(RemedyError, match="none of the"):
        treated(drawn, {"k_anonymity": {"k": 2}}, suppression=0.2)
    with pytest.raises(RemedyError, match="none of the"):
        treated([("a", "f", "x"), ("h", "m", "y")], {"k_anonymity": {"k": 2}})


def test_too_many_combinations_are_refused_with_what_to_do() -> None:
    with pytest.raises(RemedyError, match=r"4,194,304 combinations of levels.*`levels`"):
        Lattice.of([range(4)] * 11, None)


def test_a_way_up_goes_by_the_least_bound_and_ends_where_bounds_reach_the_loss() -> None:
    lattice = Lattice.of([[0, 1], [0, 2, 3]], [[0.0, 0.4], [0.0, 0.0, 0.1, 0.3]])
    assert lattice.bounds.tolist() == [[0.0, 0.1, 0.3], [0.4, 0.5, 0.7]]
    assert lattice.path((0, 0), 0.6) == [(0, 0), (0, 1), (0, 2)]
    assert lattice.path((0, 0), 1.0) == [(0, 0), (0, 1), (0, 2), (1, 2)]
    lattice.close_finer((0, 1))
    assert lattice.next(1.0) == (0, 2)
    lattice.raise_coarser((0, 2), 0.45)
    assert lattice.next(1.0) == (1, 0)
    assert lattice.next(0.4) is None
    assert lattice.at((1, 2)) == [1, 3]
