"""The conformance suite of remedies catches what it claims to: each broken remedy lacks one property."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
import pytest
from pydantic import BaseModel, Field

from tcdp_audit import RemedyError, audit
from tcdp_audit.plugin.remedy import NewColumn, Remedy, RemedyGuide, RemedyParameters, RemedyView, Treatment
from tcdp_audit.testing import ConformanceError, check_conforms
from tcdp_audit.testing.cases import VALUE_MARKER
from tcdp_audit.testing.releases import AGES, remedy_cases

pytestmark = pytest.mark.long  # each tries whole suites

Apply = Callable[[RemedyView, Any], Any]


class ThinningParameters(RemedyParameters):
    share: Annotated[float, Field(gt=0, le=1, description="Share of the records that stay.")] = 0.5


def thinning(view: RemedyView, parameters: ThinningParameters) -> Treatment:
    """Keep a sample of the records and suppress every zip code."""
    retained = view.generator().random(view.records) < parameters.share
    zips = NewColumn(np.array([view.suppressed_token], dtype=object), np.zeros(view.records, dtype=np.int64))
    return Treatment({"zip": zips}, retained, {"dropped": int((~retained).sum())})


THINNING = Remedy(
    name="thinning",
    title="Thinning",
    summary="Drops records by chance.",
    guide=RemedyGuide(
        method="Draws which records stay.",
        choosing="Never; it is here for tests.",
        guarantees="None.",
        source="tests, 1",
        example="- thinning: {share: 0.5}",
        notes={"dropped": "How many records are gone."},
    ),
    parameters=ThinningParameters,
    apply=thinning,
)


def refused(remedy: Any, parameters: Mapping[str, Any] | None = None) -> str:
    with pytest.raises(ConformanceError) as caught:
        check_conforms(remedy, parameters)
    return str(caught.value)


def applying(apply: Apply, **changes: Any) -> Any:
    return replace(THINNING, apply=apply, **changes)


def guided(**changes: Any) -> Any:
    return replace(THINNING, guide=replace(THINNING.guide, **changes))


def test_a_sound_remedy_conforms():
    check_conforms(THINNING)
    check_conforms(THINNING, {"share": 0.9})


def test_the_suites_releases_fail_their_policies_and_nothing_in_them_is_wrong():
    for case in remedy_cases():
        result = audit(case.table, case.policy)
        warned = {"undemanded_sensitive"}  # some policies demand a size of classes alone
        assert {one.check for one in result.structure if one.status.value != "passed"} <= warned, case.name
        assert result.expectations[0].status.value == "failed", case.name
        assert result.status == "failed", case.name
    assert {one.table.num_rows for one in remedy_cases()} == {12, 240}


# What it says of itself


class Open(RemedyParameters, extra="ignore"):
    share: Annotated[float, Field(description="A share.")] = 0.5


class Changing(RemedyParameters, frozen=False):
    share: Annotated[float, Field(description="A share.")] = 0.5


class Undescribed(RemedyParameters):
    share: float = 0.5


class Foreign(BaseModel):
    share: float = 0.5


@pytest.mark.parametrize(
    ("broken", "property_"),
    [
        (replace(THINNING, name="Thinning!"), "remedy 'Thinning!': name"),
        (replace(THINNING, title=" "), "`title` must be a text"),
        (replace(THINNING, summary="Drops records"), "`summary` must be a sentence"),
        *((guided(**{name: ""}), f"guide: `{name}`") for name in ("method", "choosing", "guarantees", "source")),
        (guided(notes={"dropped": ""}), "guide's notes: `dropped`"),
        (guided(example="- other: {}"), "example: it must be one line"),
        (guided(example="- thinning: {share: 2}"), "example: the remedy's own parameters refuse it: share"),
        (guided(example="- thinning: {"), "example: it is not YAML"),
        (replace(THINNING, apply="soon"), "`apply` must be a function"),
        (replace(THINNING, suggest_parameters=None), "`suggest_parameters` must be a function"),
        (replace(THINNING, parameters=Open), "parameters: unknown names must be refused"),
        (replace(THINNING, parameters=Changing), "parameters: they must not change"),
        (replace(THINNING, parameters=Undescribed), "parameters: 'share' needs a description"),
        (
            replace(THINNING, parameters=Foreign),
            "`parameters` must be a class derived from RemedyParameters, and is the class Foreign",
        ),
        (
            replace(THINNING, validate=lambda _, __: [("share", "no attribute 'income'")]),
            "example: `validate` refuses it: share: no attribute 'income' (the suite's releases have age, zip",
        ),
    ],
)
def test_an_incomplete_specification_is_named(broken: Any, property_: str):
    assert property_ in refused(broken)


# What it does


def raising(*_: Any) -> Any:
    raise ZeroDivisionError("nothing to divide")


def refusing(*_: Any) -> Any:
    raise RemedyError("there are no records to spare")


def refusing_with_a_cell(view: RemedyView, _: Any) -> Any:
    raise RemedyError(f"{view.attribute('disease').domain.labels[0]} is too common")


def column(name: str, cells: Any, codes: Any) -> Apply:
    def apply(view: RemedyView, _: Any) -> Treatment:
        return Treatment({name: NewColumn(np.asarray(cells), codes(view.records))})

    return apply


def keeping(remaining: Callable[[int], Any]) -> Apply:
    return lambda view, _: Treatment(retained=remaining(view.records))


def noting(notes: Mapping[str, Any]) -> Apply:
    return lambda _, __: Treatment(notes=notes)


def attacked(attacks: Any) -> Apply:
    return lambda _, __: Treatment(attacks=attacks)


def greedy(view: RemedyView, _: Any) -> Treatment:
    view.attribute("age").codes[:] = 0
    return Treatment()


class Moody:
    calls = 0

    def __call__(self, _: RemedyView, __: Any) -> Treatment:
        self.calls += 1
        return Treatment(notes={"dropped": self.calls})


NUMBERS = np.array([1.0, 2.0])
TEXT = np.array(["a"], dtype=object)


@pytest.mark.parametrize(
    ("apply", "property_"),
    [
        (raising, "treatment: it raised ZeroDivisionError: nothing to divide"),
        (refusing, "it refused every release of the suite"),
        (refusing_with_a_cell, "no cell in evidence: a RemedyError shows a cell"),
        (lambda _, __: None, "treatment: the remedy gave None and not a Treatment"),
        (
            column("income", NUMBERS, lambda n: np.zeros(n, int)),
            "treatment: the remedy changed a column 'income', which the release does not have",
        ),
        (
            column("age", NUMBERS, np.zeros),
            "the remedy gave codes of type float64 and shape (240,); they must be one row of whole",
        ),
        (column("age", NUMBERS, lambda n: np.zeros(n - 1, int)), "gave 239 codes of column 'age' for 240 records"),
        (column("age", NUMBERS, lambda n: np.full(n, 3)), "gave codes of column 'age' that represent no cell"),
        (column("age", NUMBERS, lambda n: np.full(n, -1)), "gave codes of column 'age' that represent no cell"),
        (column("age", [np.nan], lambda n: np.zeros(n, int)), "gave column 'age' a cell that is no finite number"),
        (
            column("sex", ["a"], lambda n: np.zeros(n, int)),
            "gave cells of type <U1 and shape (1,); they must be one row of int64, float64 or",
        ),
        (column("age", TEXT, lambda n: np.zeros(n, int)), "audit: the treated release cannot be audited"),
        (keeping(np.ones), "by a bool; it gave `retained` of type float64 and shape (240,)"),
        (keeping(lambda n: np.ones(n - 1, bool)), "by a bool; it gave `retained` of type bool and shape (239,)"),
        (keeping(lambda n: np.zeros(n, bool)), "nothing is left: the remedy would suppress every record"),
        (noting({"left": 3}), "notes: ['left'] are not explained"),
        (noting({"dropped": f"{VALUE_MARKER}-zip01"}), "no cell in evidence: its notes or lines show a cell"),
        (noting({"dropped": int(AGES[3])}), "no cell in evidence: its notes or lines show a cell"),
        (
            attacked([{"rank_swap_attack": {}}]),
            "`attacks` must be a tuple of mapping of mapping, and is a list of dict",
        ),
        (
            attacked(({"rank_swap_attack": 3},)),
            "`attacks` must be a tuple of mapping of mapping, and is a tuple of dict",
        ),
        (attacked(({"rank_swap_attack": {"q": 3}},)), "attacks: rank_swap_attack refuses q"),
        (attacked(({"rank_swap_attack": {"at_most": 1}},)), "attacks: rank_swap_attack has a demand"),
        (attacked(({"rank_swap_attack": {"attributes": ["income"]}},)), "the policy declares no attribute 'income'"),
        (greedy, "inputs are left alone"),
        (Moody(), "determinism: the same seed gave another treatment"),
    ],
)
def test_a_faulty_treatment_is_named(apply: Apply, property_: str):
    message = refused(applying(apply))

    assert message.startswith("remedy 'thinning': ")
    assert property_ in message


def test_noise_that_no_seed_repeats_says_so():
    check_conforms(applying(Moody(), random=True))


def test_a_plan_proposes_what_a_policy_could_say():
    proposing = [{"share": 0.5}, {"share": 7}]
    assert "suggest_parameters: the remedy's own parameters refuse it: share" in refused(
        replace(THINNING, suggest_parameters=lambda _, __: proposing)
    )


def test_a_plan_keeps_to_the_policy():
    def validate(parameters: ThinningParameters, _: Any) -> Iterator[tuple[str, str]]:
        if parameters.share < 0.5:
            yield "share", "too few"

    planning = replace(THINNING, validate=validate, suggest_parameters=lambda _, __: [{"share": 0.1}])
    assert "suggest_parameters: `validate` refuses it: share: too few" in refused(planning)


def test_a_suggestion_is_based_on_what_fails():
    seen = []
    check_conforms(
        replace(THINNING, suggest_parameters=lambda _, failing: seen.append([one.check for one in failing]) or ())
    )

    assert seen[0][0] == "k_anonymity"
    assert seen[-1] == ["t_closeness"]
    assert len(seen) == len(list(remedy_cases()))
