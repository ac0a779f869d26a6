"""What a plugin is given is read-only: whatever it tries, it fails by itself and no other outcome changes."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tcdp_audit import Outcome, PluginError, Status, audit, fix
from tcdp_audit.core.base.frozen import FrozenDict, FrozenList, frozen
from tcdp_audit.core.base.guide_file import DisclosureType, Guide
from tcdp_audit.core.check.table_view import TableView
from tcdp_audit.core.check.threshold import AttributeParameters
from tcdp_audit.core.encoding.keys import frozen_array
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.plugin.check import ClassCheck, ClassEvidence, Parameters, TableCheck, TableFigure, Threshold, hookimpl
from tcdp_audit.plugin.remedy import NewColumn, Remedy, RemedyGuide, RemedyParameters, RemedyView, Treatment
from tcdp_audit.plugin.report import Reporter
from tcdp_audit.plugin.sentences import Comparison

Attempt = Callable[[Any], object]

GUIDE = Guide(
    definition="A test.", formula="n", reading="A test.", choosing="Never.", source="tests, 1", example="- vandal: {}"
)
EXPECTED = [
    {"alpha_k_anonymity": {"alpha": 0.5, "k": 2}},
    {"entropy_l_diversity": {"l": 2}},
    {"t_closeness": {"t": 0.2, "distance": "equal"}},
    {"k_anonymity": {"k": 2}},
]
TABLE = pa.table({"zip": ["a"] * 10 + ["b"] * 10, "s": ["x"] * 9 + ["y"] + ["x"] * 5 + ["y"] * 5})
POLICY: dict[str, Any] = {
    "version": 1,
    "attributes": {
        "zip": {"role": "quasi_identifier"},
        "s": {"role": "sensitive", "hierarchy": {"any": ["x", "y"]}},
    },
}


class Sizes(AttributeParameters):
    at_least: int | None = None


def class_check(measure: Callable[..., Any]) -> Any:
    def given(evidence: ClassEvidence, _: Any) -> Any:
        measure(evidence)
        return evidence.size

    return ClassCheck(
        name="vandal",
        title="Vandal",
        disclosure_type=DisclosureType.ATTRIBUTE_DEGREE,
        parameters=Sizes,
        thresholds=(Threshold("at_least", Comparison.AT_LEAST, given),),
        on_attribute=True,
        guide=GUIDE,
    )


def table_check(attempt: Attempt) -> Any:
    def given(view: TableView, _: Any) -> TableFigure:
        attempt(view)
        return TableFigure(Fraction(0), view.records)

    return TableCheck(
        name="vandal",
        title="Vandal",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=Shares,
        measure=given,
        guide=GUIDE,
    )


class Shares(Parameters):
    at_most: float | None = None


class Provider:
    def __init__(self, *checks: Any, remedies: tuple[Any, ...] = (), reporters: tuple[Any, ...] = ()) -> None:
        self.given = checks, remedies, reporters

    @hookimpl
    def tcdp_audit_checks(self):
        yield from self.given[0]

    @hookimpl
    def tcdp_audit_remedies(self):
        yield from self.given[1]

    @hookimpl
    def tcdp_audit_reporters(self):
        yield from self.given[2]


def plugins_with(*checks: Any, **others: tuple[Any, ...]) -> Plugins:
    plugins = Plugins.load(external=False)
    plugins.register(Provider(*checks, **others), "mine")
    return plugins


def judged(check: Any) -> tuple[Outcome, dict[str, Any]]:
    """The outcome of a check that stands first in the policy, and the JSON of all others."""
    policy = {**POLICY, "expect": [{"vandal": {}}, *EXPECTED]}
    first, *others = audit(TABLE, policy, plugins=plugins_with(check)).expectations
    return first, {"others": [one.as_json() for one in others]}


def untouched() -> dict[str, Any]:
    return {"others": [one.as_json() for one in audit(TABLE, {**POLICY, "expect": EXPECTED}).expectations]}


def unlocked(array: Any) -> None:
    array.setflags(write=True)
    array[:] = 1


def reduced(array: Any) -> None:
    array -= 1


ON_CLASSES: Mapping[str, Attempt] = {
    "counts": lambda evidence: evidence.histogram.counts.__setitem__(slice(None), 1),
    "sorted": lambda evidence: evidence.histogram.counts.sort(),
    "reduced": lambda evidence: reduced(evidence.histogram.counts),
    "unlocked": lambda evidence: unlocked(evidence.histogram.counts),
    "base": lambda evidence: evidence.histogram.counts.base.__setitem__(0, 1),
    "a view unlocked": lambda evidence: unlocked(evidence.histogram.counts[:]),
    "asarray": lambda evidence: np.asarray(evidence.histogram.counts).fill(1),
    "out": lambda evidence: np.minimum(evidence.histogram.counts, 1, out=evidence.histogram.counts),
    "values": lambda evidence: evidence.histogram.values.fill(0),
    "offsets": lambda evidence: evidence.histogram.offsets.fill(0),
    "distinct": lambda evidence: evidence.histogram.distinct.fill(9),
    "total": lambda evidence: evidence.histogram.total.fill(9),
    "rows": lambda evidence: evidence.histogram.rows.fill(0),
    "spread": lambda evidence: evidence.histogram.spread(evidence.histogram.total).fill(9),
    "weights": lambda evidence: evidence.marginal.weights.__setitem__(0, 99),
    "weights beside": lambda evidence: evidence.marginal.weights_of(evidence.histogram).fill(9),
    "size": lambda evidence: evidence.size.fill(99),
    "tree": lambda evidence: evidence.tree.ancestors.fill(0),
    "labels": lambda evidence: evidence.labels.reverse(),
    "a field": lambda evidence: setattr(evidence.histogram, "counts", evidence.histogram.counts * 0 + 1),
}


@pytest.mark.parametrize("attempt", ON_CLASSES.values(), ids=ON_CLASSES)
def test_a_class_check_that_writes_fails_by_itself(attempt: Attempt):
    outcome, others = judged(class_check(attempt))
    assert outcome.status is Status.ERROR
    assert "the check tried to change what it was given, which is read-only" in outcome.message
    assert outcome.message.endswith("(plugin 'mine')")
    assert others == untouched()
    assert [one["status"] for one in others["others"]] == ["failed", "failed", "passed", "passed"]


ON_TABLES: Mapping[str, Attempt] = {
    "class sizes": lambda view: view.classes.size.fill(99),
    "codes": lambda view: view.coded(["zip"])[0].codes["zip"].fill(0),
    "columns of codes": lambda view: view.coded(["zip"])[0].codes.clear(),
    "raw counts": lambda view: view.engine.domain("s").counts.fill(1),
    "raw values": lambda view: view.engine.domain("s").values.fill("x"),
    "roles": lambda view: view.policy.attributes.pop("zip"),
    "expectations": lambda view: view.policy.document.expect.clear(),
    "parameters": lambda view: view.policy.document.expect[1]["alpha_k_anonymity"].update(alpha=1),
    "tokens": lambda view: view.policy.conventions.suppressed_tokens.append("x"),
    "hierarchy": lambda view: view.policy.attributes["s"].hierarchy["any"].clear(),
    "companions": lambda view: view.companions.update(original=None),
}


@pytest.mark.parametrize("attempt", ON_TABLES.values(), ids=ON_TABLES)
def test_a_table_check_that_writes_fails_by_itself(attempt: Attempt):
    outcome, others = judged(table_check(attempt))
    assert outcome.status is Status.ERROR
    assert "the check tried to change what it was given, which is read-only" in outcome.message
    assert others == untouched()


def test_a_table_check_cannot_close_the_table():
    outcome, others = judged(table_check(lambda view: view.engine.close()))
    assert outcome.status is Status.MEASURED
    assert others == untouched()


def test_the_questions_that_a_policy_asks_of_a_check_cannot_change_it():
    def validate(_: Any, document: Any) -> list[tuple[str, str]]:
        document.attributes.clear()
        return []

    check = replace(class_check(lambda _: None), validate=validate)
    with pytest.raises(PluginError, match="'vandal', asked about its parameters, tried to change what it was given"):
        judged(check)


class NoParameters(RemedyParameters):
    pass


def remedy(attempt: Attempt) -> Remedy[Any]:
    def apply(view: RemedyView, _: Any) -> Treatment:
        attempt(view)
        return Treatment({"zip": NewColumn(np.array(["*"], dtype=object), np.zeros(view.records, dtype=np.int64))})

    return Remedy(
        name="vandalism",
        title="Vandalism",
        summary="A test.",
        guide=RemedyGuide(method="", choosing="", guarantees="", source="tests, 1", example=""),
        parameters=NoParameters,
        apply=apply,
    )


ON_REMEDIES: Mapping[str, Attempt] = {
    "codes": lambda view: view.attribute("s").codes.fill(0),
    "domain": lambda view: view.attribute("s").domain.values.fill("x"),
    "bounds": lambda view: view.attribute("s").bounds[0].fill(0),
    "tree": lambda view: view.attribute("s").tree.ancestors.fill(0),
    "lineage": lambda view: view.attribute("s").hierarchy.lineage.clear(),
    "domains": lambda view: view.release.domains.clear(),
    "details": lambda view: view.outcomes[-1].details.clear(),
    "policy": lambda view: view.policy.attributes.clear(),
}


@pytest.mark.parametrize("attempt", ON_REMEDIES.values(), ids=ON_REMEDIES)
def test_a_remedy_that_writes_fails_by_itself(attempt: Attempt):
    policy = {**POLICY, "expect": EXPECTED, "remedy": [{"vandalism": {}}]}
    done = fix(TABLE, policy, plugins=plugins_with(remedies=(remedy(attempt),)))
    log = done.after.change_log
    assert log is not None
    assert [one.error.split(":")[0] for one in log.tried] == [
        "the remedy tried to change what it was given, which is read-only"
    ]
    assert log.tried[0].error.endswith("(plugin 'mine')")
    assert done.after.status == "failed"
    assert done.released.equals(TABLE)


ON_REPORTS: Mapping[str, Attempt] = {
    "details": lambda result: result.outcomes[-1].details.clear(),
    "nested details": lambda result: result.outcomes[-1].details["distribution"].clear(),
    "parameters": lambda result: result.outcomes[-1].parameters.clear(),
    "conventions": lambda result: result.outcomes[-1].conventions.clear(),
    "companions": lambda result: result.companions.update(population=None),
    "checks": lambda result: result.plugins.checks.clear(),
    "provided": lambda result: result.plugins.provided.clear(),
    "status": lambda result: setattr(result.outcomes[-1], "status", Status.PASSED),
    "roles": lambda result: result.policy.attributes.clear(),
}


@pytest.mark.parametrize("attempt", ON_REPORTS.values(), ids=ON_REPORTS)
def test_a_report_that_writes_fails_by_itself(attempt: Attempt):
    def render(result: Any) -> str:
        attempt(result)
        return ""

    vandal = Reporter(name="vandal", title="Vandal", suffix=".vandal", render=render)
    result = audit(TABLE, {**POLICY, "expect": EXPECTED}, plugins=plugins_with(reporters=(vandal,)))
    before = result.as_json()
    with pytest.raises(PluginError, match=r"the report format 'vandal' tried to change .*\(plugin 'mine'\)"):
        result.render(".vandal")
    assert result.as_json() == before


def test_frozen_containers_are_a_dict_and_a_list_that_copies_can_change():
    mapping = frozen({"a": [1, {"b": 2}], "c": ("x", [3])})
    assert mapping == {"a": [1, {"b": 2}], "c": ("x", [3])}
    assert json.loads(json.dumps(mapping)) == {"a": [1, {"b": 2}], "c": ["x", [3]]}
    for twin in (copy.deepcopy(mapping), pickle.loads(pickle.dumps(mapping)), copy.copy(mapping)):  # noqa: S301
        assert isinstance(twin, FrozenDict)
        assert twin == mapping
    assert isinstance(mapping["a"], FrozenList)
    assert {**mapping, "a": 0}["a"] == 0
    assert [*mapping["a"], 9][-1] == 9


@pytest.mark.parametrize("dtype", ["int64", "uint8", "float64", "bool", "object", "datetime64[s]"])
def test_a_frozen_array_is_a_view_of_locked_memory(dtype: str):
    owner = np.zeros(6, dtype=dtype)
    part = owner[1:5]
    view = frozen_array(part)
    assert np.shares_memory(view, owner)
    assert (view.dtype, view.shape) == (owner.dtype, (4,))
    for array in (view, part, owner):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert frozen_array(view).base is view.base or dtype.startswith("datetime")
