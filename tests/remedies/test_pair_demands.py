"""The weakest strength that does: what is audited, in which order, and when the search stops."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import pyarrow as pa
import pytest
from masked import PLUGINS, paired_policy

from tcdp_audit import RemedyError, load_policy
from tcdp_audit.core.base.outcome import Comparison, Outcome, Status
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.remedy.remedy import DominatedError, require_least
from tcdp_audit.core.remedy.view import RemedyView
from tcdp_audit.plugin.remedy import Treatment
from tcdp_audit_plugins.remedies._shared.scope import weakest

POLICY = load_policy(
    paired_policy(
        {"age": {"role": "quasi_identifier", "scale": "numeric"}},
        {"distance_record_linkage": {"at_most": 0.1}},
        {"k_anonymity": {"k": 2}},
    ),
    PLUGINS,
)


def linkage(observed: float) -> Outcome:
    status = Status.FAILED if observed > 0.1 else Status.PASSED
    threshold, at_most = Fraction(1, 10), Comparison.AT_MOST
    return Outcome(
        check="distance_record_linkage", status=status, observed=observed, threshold=threshold, comparison=at_most
    )


@pytest.fixture(scope="module")
def release() -> Iterator[Release]:
    with open_engine(pa.table({"age": [1, 2]}), 2**28) as engine:
        yield Release(engine, POLICY)


@dataclass
class Trial:
    """A remedy whose linkage and loss are those of its strength, in two ways; it notes what is tried."""

    release: Release
    linked: dict[int, float]
    cheap: dict[int, float] = field(default_factory=dict)
    least: float = 1.0
    tried: list[int] = field(default_factory=list)

    def treat(self, strength: int) -> Treatment:
        self.tried.append(strength)
        return Treatment(notes={"strength": strength, "linked": self.linked[strength]})

    def screen(self, strength: int) -> Treatment:
        return Treatment(notes={"strength": strength, "linked": self.cheap[strength]})

    def part_audited(self, treatment: Treatment, checks: frozenset[str]) -> tuple[Outcome, ...]:
        assert checks == {"distance_record_linkage"}
        require_least(treatment.notes["strength"] / 100, self.least)
        return (linkage(treatment.notes["linked"]),)

    def weakest(self, *, screened: bool = False) -> int:
        view = RemedyView(self.release, (linkage(1.0),), 0, _never, part_audited=self.part_audited)
        return weakest(view, self.treat, range(1, 21), self.screen if screened else None)


def _never(_: Treatment) -> tuple[Outcome, ...]:
    raise AssertionError("a whole audit")


def falling(enough: int) -> dict[int, float]:
    return {strength: 0.05 if strength >= enough else 0.5 for strength in range(1, 21)}


@pytest.mark.parametrize("enough", range(1, 21))
def test_the_weakest_is_detected_by_audits_of_the_failing_demands_alone(release: Release, enough: int) -> None:
    trial = Trial(release, falling(enough))
    assert trial.weakest() == enough
    assert len(trial.tried) == len(set(trial.tried)) <= 9


@pytest.mark.parametrize(("enough", "cheaper"), [(1, 1), (10, 10), (20, 20), (10, 12), (12, 10), (1, 20), (20, 1)])
def test_a_cheaper_way_says_where_to_begin_and_not_what_is_detected(
    release: Release, enough: int, cheaper: int
) -> None:
    trial = Trial(release, falling(enough), falling(cheaper))
    assert trial.weakest(screened=True) == enough
    assert trial.tried[0] == cheaper
    assert enough != cheaper or len(trial.tried) <= 2


def test_what_does_not_suffice_in_the_cheaper_way_is_not_tried_in_the_other(release: Release) -> None:
    trial = Trial(release, falling(10), falling(99))
    with pytest.raises(RemedyError, match="no strength is enough"):
        trial.weakest(screened=True)
    assert trial.tried == []


def test_the_search_stops_where_strengths_lose_more_than_another_remedy(release: Release) -> None:
    dear = Trial(release, falling(16), least=0.05)
    with pytest.raises(DominatedError, match="loses at least 6% of the detail"):
        dear.weakest()
    assert max(dear.tried) <= 9  # nothing far beyond what may be lost
    assert Trial(release, falling(7), least=0.07).weakest() == 7


def test_a_refusal_says_what_comes_nearest(release: Release) -> None:
    trial = Trial(release, dict.fromkeys(range(1, 21), 0.9) | {5: 0.3})
    sentence = "strength 5 of 20, from weak to strong, comes nearest: distance_record_linkage 0.300, where <= 0.100"
    with pytest.raises(RemedyError, match=sentence):
        trial.weakest()
