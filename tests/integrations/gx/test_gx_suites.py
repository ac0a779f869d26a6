"""Policies as suites and back; classes in other processes; what an editor knows of them."""

from __future__ import annotations

import copy
import inspect
import json
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import gx_hosts
import pandas as pd
import pytest
from gx_hosts import from_native, gx, judged, ours, pandas_batches, run
from same_everywhere import ATTRIBUTES, KNOWN, frame, native, policy

import tcdp_audit
from tcdp_audit import PolicyError
from tcdp_audit.core.policy.model import PolicyDocument
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.integrations.great_expectations.expectation import CLASSES, fields_of
from tcdp_audit.integrations.great_expectations.guarded import load_suite
from tcdp_audit.integrations.great_expectations.parameters import HEAD
from tcdp_audit.integrations.great_expectations.stub import stub_of
from tcdp_audit.integrations.great_expectations.suites import policy_of, suite_of

ANONYMOUS = ours.ExpectTableToBeKAnonymous
EXAMPLE = Path(__file__).parents[2] / "plugins" / "tcdp_audit_example" / "src"
HERE = Path(gx_hosts.__file__).parent


def test_a_policy_comes_back_from_its_suite():
    again = policy_of(suite_of(policy()))

    outcomes = tcdp_audit.audit(frame(), again)
    assert sorted(map(from_native, outcomes.expectations), key=repr) == sorted(map(from_native, native()), key=repr)
    assert again["attributes"] == ATTRIBUTES
    assert [one.severity for one in outcomes.expectations].count("warning") == 1


CONVENTIONS: list[dict[str, Any]] = [
    {"multiple_sensitive": "others_as_quasi_identifiers"},
    {"suppressed": "exempt"},
    {"missing_sensitive": "own_category", "missing_quasi_identifier": "wildcard"},
]


@pytest.mark.parametrize("conventions", CONVENTIONS)
def test_conventions_go_along(conventions: dict[str, Any]):
    expect = [{"k_anonymity": {"k": 4}}, {"distinct_l_diversity": {"l": 2}}]
    whole = {**policy(expect), "conventions": conventions}

    result = run(pandas_batches(frame()), suite_of(whole))

    ours_ = [judged(one) for one in result.results if one.expectation_config.type != gx_hosts.COLUMNS]
    said = tcdp_audit.audit(frame(), whole).expectations
    assert sorted(ours_, key=repr) == sorted(map(from_native, said), key=repr)
    assert tcdp_audit.load_policy(policy_of(suite_of(whole))).conventions == tcdp_audit.load_policy(whole).conventions


def _verdict(whole: dict[str, Any], release: Any) -> bool:
    return bool(run(pandas_batches(release), suite_of(whole)).success)


def test_a_suite_does_not_pass_what_its_policy_fails():
    whole = policy([{"k_anonymity": {"k": 2}}])
    identified = {**whole, "attributes": {**ATTRIBUTES, "cost": {"role": "identifier"}}}
    undeclared = {**whole, "attributes": {name: one for name, one in ATTRIBUTES.items() if name != "cost"}}
    missing = frame().drop(columns="cost")

    assert tcdp_audit.audit(frame(), whole).passed
    assert _verdict(whole, frame())
    for policy_, release in ((identified, frame()), (undeclared, frame()), (whole, missing)):
        assert not tcdp_audit.audit(release, policy_).passed
        assert not _verdict(policy_, release)


def test_households_and_times_go_along():
    """Each person is like two others, and no household is like another."""
    people = pd.DataFrame({"person": range(6), "home": [1, 1, 2, 2, 3, 3], "sex": list("fmffmm"), "day": [1] * 6})
    attributes = {name: {"role": "insensitive"} for name in ("person", "home", "day")}
    attributes |= {"sex": {"role": "quasi_identifier"}}
    whole = {"version": 1, "unit": "person", "attributes": attributes, "expect": [{"k_anonymity": {"k": 2}}]}
    for head, passes in (({}, True), ({"time": "day"}, True), ({"household": "home"}, False)):
        assert tcdp_audit.audit(people, {**whole, **head}).passed == passes
        assert _verdict({**whole, **head}, people) == passes
        assert head.items() <= policy_of(suite_of({**whole, **head})).items()


def test_a_key_that_stays_goes_along():
    people = pd.DataFrame({"person": range(4), "sex": list("ffmm")})
    attributes = {"person": {"role": "insensitive"}, "sex": {"role": "quasi_identifier"}}
    whole = {"version": 1, "original": "a.csv", "key": "person", "attributes": attributes}
    whole |= {"expect": [{"k_anonymity": {"k": 2}}]}
    for head, passes in (({}, True), ({"keep_key": True}, False), ({"keep_key": True, "internal_only": True}, True)):
        assert tcdp_audit.audit(people, {**whole, **head}, original=people).passed == passes
        suite = suite_of({**whole, **head})
        assert head.items() <= policy_of(suite).items()


def test_every_key_of_a_policy_is_in_its_suite_or_is_for_something_else():
    """What a suite leaves out could let it pass what its policy fails."""
    judged_otherwise = {
        "version",
        "attributes",
        "expect",
        "profile",
        "answers",
        "tables",
        "schema_",
        "suite",
        "scenarios",
    }
    refused = {"aggregates", "models", "microdata", "previous_policies"}  # of tables of figures
    of_a_file = {"release", "read_as"}  # which the host has read
    of_a_repair = {"remedy", "seed", "utility", "max_loss", "min_utility", "plugins", "keep_links"}
    stated = {"purpose", "recipients", "approved_by"}  # by people about the release; nothing is judged by them
    assert PolicyDocument.model_fields.keys() == {*HEAD, *judged_otherwise, *of_a_file, *of_a_repair, *refused, *stated}


def test_earlier_releases_go_along():
    for previous in ("a.csv", ["a.csv", "b.csv"]):
        whole = {**policy([{"release_differencing": {"k": 2}}]), "previous": previous}
        again = policy_of(suite_of(whole))["previous"]
        paths = [str(Path(one).absolute()) for one in ([previous] if isinstance(previous, str) else previous)]
        assert again == (paths[0] if len(paths) == 1 else paths)


def test_files_of_a_policy_are_named_by_their_whole_paths(tmp_path: Path):
    (tmp_path / "months.csv").write_text("".join(f"{m},*\n" for m in sorted(frame()["admission_month"].unique())))
    whole = policy([{"k_anonymity": {"k": 2}}])
    whole["attributes"] = {**ATTRIBUTES, "admission_month": {"role": "quasi_identifier", "hierarchy": "months.csv"}}
    (tmp_path / "p.tcdp.yaml").write_text(json.dumps(whole))

    suite = suite_of(tmp_path / "p.tcdp.yaml")

    assert suite.name == "p.tcdp.yaml"
    assert str(tmp_path / "months.csv") in json.dumps(suite.to_json_dict())
    assert run(pandas_batches(frame()), suite).success


@pytest.mark.parametrize(
    ("change", "sentence"),
    [({"schema": "s.yaml"}, "schema: a suite cannot hold it"), ({"suite": "s.json"}, "suite: a suite cannot hold it")],
)
def test_what_a_suite_cannot_hold_is_refused(change: dict[str, Any], sentence: str):
    with pytest.raises(PolicyError, match=sentence):
        suite_of({**policy(), **change})


@pytest.mark.parametrize(
    ("expectations", "sentence"),
    [
        ([], "no expectation of a check"),
        ([gx.expectations.ExpectTableRowCountToEqual(value=3)], "is no expectation of tcdp-audit"),
        ([ANONYMOUS(quasi_identifiers="age", k=2, row_condition=gx_hosts.column("age") == 3)], "has a row condition"),
        ([ANONYMOUS(quasi_identifiers="age", k={"$PARAMETER": "k"})], "has parameters of the suite"),
        ([ANONYMOUS(quasi_identifiers=one, k=2) for one in ("age", "sex")], "in 2 ways"),
    ],
)
def test_what_a_policy_cannot_hold_is_refused(expectations: list[Any], sentence: str):
    with pytest.raises(PolicyError, match=sentence):
        policy_of(gx.ExpectationSuite(name="s", expectations=[copy.copy(one) for one in expectations]))


def test_parameters_of_a_suite_are_filled_in():
    asked = [ANONYMOUS(quasi_identifiers=KNOWN, k={"$PARAMETER": "k"})]

    for k, success in ((4, True), (5, False)):
        (one,) = run(pandas_batches(frame()), asked, expectation_parameters={"k": k}).results
        assert (one.success, one.result["details"]["threshold"]) == (success, k)
    with pytest.raises(ValueError, match="must be at least 1"):
        run(pandas_batches(frame()), asked, expectation_parameters={"k": 0})


@pytest.mark.parametrize(("severity", "ours_"), [("critical", "error"), ("warning", "warning"), ("info", "warning")])
def test_severities(severity: str, ours_: str):
    suite = gx.ExpectationSuite(name="s", expectations=[ANONYMOUS(quasi_identifiers="age", k=2, severity=severity)])

    (entry,) = policy_of(suite)["expect"]
    assert entry["k_anonymity"].get("severity", "error") == ours_


def test_expectations_survive_pickling_in_another_process(tmp_path: Path):
    made = [*suite_of(policy()).expectations]
    (tmp_path / "made").write_bytes(pickle.dumps([one.copy() for one in made]))
    script = "import pickle, sys; print([type(one).__name__ for one in pickle.load(open(sys.argv[1], 'rb'))])"

    ran = _python(script, str(tmp_path / "made"))

    assert ran.stdout.strip() == str([type(one).__name__ for one in made]), ran.stderr
    assert pickle.loads(pickle.dumps(made[1])) == made[1]  # noqa: S301 - our own


def test_a_saved_suite_evaluates_in_another_process(tmp_path: Path):
    (tmp_path / "suite.json").write_text(json.dumps(suite_of(policy()).to_json_dict()))
    script = (
        "import sys; import gx_hosts; from same_everywhere import frame\n"
        "result = gx_hosts.run(gx_hosts.pandas_batches(frame()), gx_hosts.ours.load_suite(sys.argv[1]))\n"
        "print(sorted(map(repr, map(gx_hosts.judged, result.results[1:]))))"
    )

    ran = _python(script, str(tmp_path / "suite.json"))

    assert ran.stdout.strip() == str(sorted(map(repr, map(from_native, native())))), ran.stderr


def _python(script: str, *arguments: str, site: str = "") -> subprocess.CompletedProcess[str]:
    places = os.pathsep.join([site, str(HERE), str(HERE.parent)])
    command = [sys.executable, "-W", "ignore", "-c", script, *arguments]
    environment = {**os.environ, "PYTHONPATH": places}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def site(tmp_path: Path) -> str:
    """A folder in which a plugin of somebody else is installed."""
    shutil.copytree(EXAMPLE, tmp_path / "site")
    metadata = tmp_path / "site" / "tcdp_audit_example-1.2.3.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: tcdp-audit-example\nVersion: 1.2.3\n")
    (metadata / "entry_points.txt").write_text("[tcdp_audit]\nexample = tcdp_audit_example.plugin\n")
    return str(tmp_path / "site")


THIRD_PARTY = """
import json, sys, gx_hosts
from same_everywhere import frame
made = gx_hosts.ours.ExpectColumnExampleDominanceToBeLimited(
    quasi_identifiers=["age", "sex"], column="diagnosis", at_most=0.9)
suite = gx_hosts.gx.ExpectationSuite(name="s", expectations=[made])
json.dump(suite.to_json_dict(), open(sys.argv[1], "w"))
(one,) = gx_hosts.run(gx_hosts.pandas_batches(frame()), suite).results
print(one.success, one.result["observed_value"] < 0.9, one.result["details"]["check"])
"""


def test_a_check_of_another_plugin_has_its_class_and_is_missed_without_its_plugin(tmp_path: Path, site: str):
    path = str(tmp_path / "suite.json")

    with_plugin = _python(THIRD_PARTY, path, site=site)

    assert with_plugin.stdout.splitlines()[-1:] == ["True True example_dominance"], with_plugin.stderr
    with pytest.raises(ours.IncompleteRunError, match="expect_column_example_dominance_to_be_limited"):
        load_suite(path)
    with pytest.raises(AttributeError, match="is the plugin of its check installed"):
        ours.ExpectColumnExampleDominanceToBeLimited  # noqa: B018 - using it is the point


def test_classes_are_attributes_of_the_module_and_registered():
    from great_expectations.expectations.registry import get_expectation_impl

    assert set(CLASSES) < set(ours.__all__) <= set(dir(ours))
    for name, made in CLASSES.items():
        assert getattr(ours, name) is made
        assert (made.__module__, made.__qualname__) == (ours.__name__, name)
        assert get_expectation_impl(made.expectation_type) is made
        assert made.__doc__


def test_the_stub_is_true():
    built_in = Plugins.load(external=False)
    path = Path(inspect.getfile(ours)).with_suffix(".pyi")
    text = path.read_text()

    assert text == stub_of(built_in.checks)
    for name, made in CLASSES.items():
        block = text.split(f"class {name}(_Made):")[1].split("-> None")[0]
        shared = "".join(text.split(f"class {one}(")[1].split("\nclass ")[0] for one in ("_Host", "_Table", "_Column"))
        documented = {line.split(":")[0].strip() for line in (block + shared).splitlines() if ": " in line}
        assert {one.name for one in fields_of(made.checked)} <= documented
        assert set(made.__fields__) - {"windows", "rendered_content"} <= documented
    for name in ours.FUNCTIONS:
        assert f" {name}(" in text


def test_scenarios_become_expectations_that_know_their_columns():
    known = {"near": {"knows": KNOWN[:1]}, "nearer": {"knows": KNOWN[:2]}}
    asked = {**policy([{"k_anonymity": {"k": 2}}]), "scenarios": known}

    sizes = [one for one in suite_of(asked).expectations if isinstance(one, ANONYMOUS)]

    assert [sorted(one.quasi_identifiers) for one in sizes] == [sorted(one["knows"]) for one in known.values()]
    with pytest.raises(PolicyError, match="how likely an attack is"):
        suite_of({**asked, "scenarios": {"near": {**known["near"], "attempt": 0.5}}})


def test_a_demand_that_names_a_unit_becomes_an_expectation_of_that_unit():
    attributes = {**ATTRIBUTES, "home": {"role": "insensitive"}, "person": {"role": "insensitive"}}
    expect = [{"k_anonymity": {"k": 2}}, {"k_anonymity": {"k": 3, "unit": "home"}}]
    asked = {**policy(expect), "attributes": attributes, "unit": "person"}

    sizes = [one for one in suite_of(asked).expectations if isinstance(one, ANONYMOUS)]

    assert [(one.k, one.unit) for one in sizes] == [(2, "person"), (3, "home")]
