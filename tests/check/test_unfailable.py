"""Demands that nothing can fail are measured in every check, and no policy of nothing else ever passes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

import tcdp_audit
from tcdp_audit import Audit, Outcome, Status
from tcdp_audit.cli.run import run
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.plugin.check import Need

# Eight people in four pairs. The rarest disease is 1/4 of the table, the commonest 1/2.
RELEASE = pa.table(
    {
        "id": list("abcdefgh"),
        "zip": ["1", "1", "2", "2", "3", "3", "4", "4"],
        "age": [20, 20, 30, 30, 40, 40, 50, 50],
        "disease": ["flu", "gout", "flu", "ulcer", "flu", "gout", "flu", "ulcer"],
        "pay": [1, 3, 1, 2, 1, 3, 1, 2],
    }
)
ORIGINAL = RELEASE.set_column(2, "age", pa.array([21, 22, 31, 32, 41, 42, 51, 52]))
STRANGERS = ORIGINAL.set_column(0, "id", pa.array(list("qrstuvwx")))
POPULATION = pa.concat_tables([RELEASE, RELEASE.set_column(0, "id", pa.array(list("ijklmnop")))])
ATTRIBUTES: Mapping[str, Any] = {
    "id": {"role": "insensitive"},
    "zip": {"role": "quasi_identifier", "scale": "nominal"},
    "age": {"role": "quasi_identifier", "scale": "numeric"},
    "disease": {
        "role": "sensitive",
        "hierarchy": {"*": {"stomach": ["ulcer"], "other": ["flu", "gout"]}},
    },
    "pay": {"role": "insensitive", "scale": "numeric"},
}
PAY = {**ATTRIBUTES, "disease": {"role": "insensitive"}, "pay": {"role": "sensitive", "scale": "numeric"}}
EQUAL = {"attributes": ["zip"]}

# check: parameters, demands that nothing can fail, and demands beside them that something can.
CASES: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    ("k_anonymity", {}, {"k": 1}, {"k": 2}),
    ("distinct_l_diversity", {}, {"l": 1}, {"l": 2}),
    ("entropy_l_diversity", {}, {"l": 1}, {"l": "1.000001"}),
    ("alpha_k_anonymity", {}, {"alpha": 1, "k": 1}, {"alpha": "0.999999"}),
    ("lkc_privacy", {}, {"K": 1, "C": 1}, {"C": "0.999999"}),
    ("lkc_privacy", {}, {}, {"K": 2}),
    ("km_anonymity", {"attributes": ["zip"]}, {"k": 1}, {"k": 2}),
    ("p_sensitive_k_anonymity", {}, {"p": 1, "k": 1}, {"p": 2}),
    ("recursive_cl_diversity", {"l": 2, "variant": "positive_disclosure", "dont_care": ["flu", "gout", "ulcer"]},
     {"c": "0.001"}, {}),
    ("recursive_cl_diversity", {"l": 2}, {}, {"c": 1000}),
    ("t_closeness", {}, {"t": 1}, {"t": "0.74"}),
    ("t_closeness", {}, {"t": "0.75"}, {}),  # from a class of the rarest value
    ("nt_closeness", {"n": 8}, {}, {"t": 1}),  # a class without a value is infinitely far
    ("nt_closeness", {"n": 8, "distance": "multiplicative"}, {}, {"t": 10**9}),
    ("t_closeness", {"distance": "hierarchical"}, {"t": 1}, {"t": "0.7"}),
    ("t_closeness", {"distance": "multiplicative"}, {}, {"t": 10**9}),
    ("basic_beta_likeness", {}, {"beta": 3}, {"beta": "2.99"}),
    ("enhanced_beta_likeness", {}, {}, {"beta": 1000}),
    ("delta_disclosure", {"absent_values": "ignored"}, {"delta": "1.4"}, {"delta": "1.38"}),
    ("delta_disclosure", {}, {}, {"delta": 1000}),
    ("skewness", {}, {"at_most": 1e300}, {"at_most": "3.99"}),
    ("skewness", {"sensitive_values": ["flu"]}, {"at_most": 2}, {"at_most": "1.99"}),
    ("similarity", {"level": 1}, {"at_most": 1}, {"at_most": "0.99"}),
    ("homogeneity", {}, {"at_most": 1}, {"at_most": "0.99"}),
    ("background_knowledge", {}, {}, {"at_least": 1}),
    ("sample_uniqueness", {}, {"at_most": 1}, {"at_most": "0.99"}),
    ("suda", {}, {"at_most": 1}, {"at_most": "0.99"}),
    ("reidentification_risk", {}, {"at_most": 1}, {"at_most": "0.99"}),
    ("reidentification_risk", {"measure": "average"}, {"at_most": 1}, {"at_most": "0.99"}),
    ("reidentification_risk", {"measure": "share_above", "threshold_risk": 1}, {"at_most": 0}, {}),
    ("reidentification_risk", {"measure": "share_above", "threshold_risk": "0.9"}, {"at_most": 1}, {"at_most": 0}),
    ("individual_risk", {}, {"at_most": 1}, {"at_most": "0.99"}),
    ("individual_risk", {"measure": "expected"}, {"at_most": 8}, {"at_most": "7.99"}),
    ("population_uniqueness", {}, {"at_most": 1}, {"at_most": "0.99"}),
    ("k_map", {}, {"k": 1}, {"k": 2}),
    ("category_frequency", {}, {}, {"at_least": 1}),
    ("region_population", {"column": "zip"}, {}, {"at_least": 1}),
    ("age_cap", {"column": "age", "at": 1}, {"at_most": 8}, {"at_most": 0}),
    ("identifying_attribute_count", {}, {}, {"at_most": 99}),
    ("delta_presence", {}, {"delta_max": 1}, {"delta_max": "0.99"}),
    ("delta_presence", {}, {"delta_max": 1, "delta_min": 0}, {"delta_max": "0.99", "delta_min": "0.01"}),
    ("k_concealment", EQUAL, {"k": 1}, {"k": 2}),
    ("kk_anonymity", EQUAL, {"k": 1}, {"k": 2}),
    ("distance_record_linkage", EQUAL, {"at_most": 1}, {"at_most": "0.99"}),
    ("supervised_record_linkage", EQUAL, {"at_most": 1}, {"at_most": "0.99"}),
    ("assignment_record_linkage", EQUAL, {"at_most": 1}, {"at_most": "0.99"}),
    ("probabilistic_record_linkage", EQUAL, {"at_most": 1}, {"at_most": "0.99"}),
    ("pram_attack", {**EQUAL, "retention": "0.9"}, {"at_most": 1}, {"at_most": "0.99"}),
    ("noise_attack", {"attributes": ["age"]}, {"at_most": 1}, {"at_most": "0.99"}),
    ("exact_match_rate", {"attributes": ["age"]}, {"at_most": 1}, {"at_most": "0.99"}),
    ("exact_match_rate", {"attributes": ["age"], "measure": "originals"}, {"at_most": 1}, {"at_most": "0.99"}),
    ("singling_out", {"attributes": ["age", "pay"]}, {"at_most": 1}, {"at_most": "0.99"}),
    ("linkability", {"attributes": ["age"], "other_attributes": ["pay"]}, {"at_most": 1}, {"at_most": "0.99"}),
    ("attribute_inference", {"attributes": ["age"], "target": "pay"}, {"at_most": 1}, {"at_most": "0.99"}),
    ("membership_inference", {"attributes": ["age"]}, {"at_most": 1}, {"at_most": "0.99"}),
    ("membership_inference", {"attributes": ["age"]}, {"true_positive_rate": 1}, {"true_positive_rate": "0.99"}),
    ("closest_record_share", {"attributes": ["age"]}, {"at_most": 1}, {"at_most": "0.99"}),
    ("distance_to_closest_record", {"attributes": ["age"]}, {"at_least": 0}, {"at_least": "0.001"}),
    ("nearest_neighbour_distance_ratio", {"attributes": ["age"]}, {"at_least": 0}, {"at_least": "0.001"}),
    ("epsilon_identifiability", {"attributes": ["age"]}, {"epsilon": 1}, {"epsilon": "0.99"}),
    ("sd_interval_disclosure", {"p": 1}, {"at_most": 1}, {"at_most": "0.99"}),
    ("rank_interval_disclosure", {"p": 1}, {"at_most": 1}, {"at_most": "0.99"}),
    ("rank_swap_attack", {"attributes": ["pay"]}, {"at_most": 1}, {"at_most": "0.99"}),
    ("microaggregation_attack", {"attributes": ["pay"]}, {"at_most": 1}, {"at_most": "0.99"}),
    ("k_confusion", {"attack": {"rank_swap_attack": {"attributes": ["pay"]}}}, {"k": 1}, {"k": 2}),
    ("t_from_epsilon", {"epsilon": 1}, {"at_most": 3}, {"at_most": "2.5"}),  # 1/8 + 7/8 e = 2.503…
    ("expected_t_closeness", {"epsilon": "0.1"}, {"at_most": "2.02"}, {"at_most": 2}),  # e^0.7 = 2.013…
    ("implied_epsilon", {}, {}, {"at_most": 1000}),
    ("uniqueness_profile", {}, {"at_most": 1}, {"at_most": "0.99"}),
    ("joinability", {}, {"at_most": 1}, {"at_most": "0.99"}),
    ("joinability", {}, {"contained": 1}, {"contained": "0.99"}),
    ("quasi_identifier_strength", {}, {"at_most": 1}, {"at_most": "0.99"}),
    ("direct_identifiers", {}, {"at_most": 9}, {"at_most": 0}),
    ("safe_harbor", {}, {"at_most": 9}, {"at_most": 0}),
    ("composition_attack", {}, {}, {"at_least": 1}),
    ("release_differencing", {}, {}, {"k": 1}),
    ("m_invariance", {}, {}, {"m": 1}),
]  # fmt: skip
NUMERIC: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    ("t_closeness", {"distance": "ordered"}, {"t": 1}, {"t": "0.6"}),  # a class of 3 is 5/8 away
    ("t_closeness", {"distance": "ordered"}, {"t": "0.625"}, {"t": "0.624"}),
    ("t_closeness", {"distance": "numeric"}, {"t": 1}, {"t": "0.6"}),
    ("similarity", {"width": 1}, {"at_most": 1}, {"at_most": "0.99"}),
    ("stochastic_t_closeness", {"mechanism": "randomised_response", "retention": 0}, {"t": 1}, {}),
    ("stochastic_t_closeness", {"mechanism": "laplace", "noise_scale": 1}, {"t": 10}, {"t": "1.5"}),
]  # fmt: skip

CHECKS = {name: one for name, one in Plugins.load(external=False).checks.items() if one.on_records}
OF_UNITS = {name for name, one in CHECKS.items() if Need.UNIT in one.needs}
OF_TABLES = {name for name, one in CHECKS.items() if Need.UNLINKED_TABLES in one.needs}
OF_WHOLE_RECORDS = {name for name, one in CHECKS.items() if Need.WHOLE_RECORDS in one.needs}
OF_MORE_RECORDS = {"record_order"} | OF_UNITS | OF_TABLES | OF_WHOLE_RECORDS  # errors here, tried in the tests of each


def case_of_guide(name: str) -> tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The example of a check's guide as a case, on the columns that there are."""
    ((_, example),) = yaml.safe_load(CHECKS[name].guide.example)[0].items()
    known = {key: value for key, value in (example or {}).items() if key not in ("attribute", "attributes")}
    demanded = {limit.parameter for limit in CHECKS[name].limits}
    demands = {key: value for key, value in known.items() if key in demanded}
    return name, {key: value for key, value in known.items() if key not in demanded}, {}, demands


WITHOUT_CASE = set(CHECKS) - {one[0] for one in CASES + NUMERIC} - OF_MORE_RECORDS
KINDS = {"nominal": ([*CASES, *map(case_of_guide, sorted(WITHOUT_CASE))], ATTRIBUTES), "numeric": (NUMERIC, PAY)}


def audited(*expect: Mapping[str, Any], attributes: Mapping[str, Any] = ATTRIBUTES, **policy: Any) -> Audit:
    given = {"version": 1, "key": "id", "sampling_fraction": "0.5", "attributes": attributes, "expect": list(expect)}
    with TemporaryDirectory() as folder:
        given["holdout"] = str(Path(folder) / "holdout.parquet")
        pq.write_table(STRANGERS, given["holdout"])
        given["previous"] = f"{folder}/previous.parquet"
        pq.write_table(RELEASE, given["previous"])
        given["registry"] = given["previous"]
        return tcdp_audit.audit(RELEASE, {**given, **policy}, original=ORIGINAL, population=POPULATION)


def outcome_of(check: str, parameters: Mapping[str, Any], attributes: Mapping[str, Any] = ATTRIBUTES) -> Outcome:
    return audited({check: parameters}, attributes=attributes).expectations[0]


def cases(which: int) -> list[Any]:
    """Each case with its unfailable demands, or with those beside them: the demands and where their outcome is."""
    return [
        pytest.param(one[which], (which, kind, place), id=f"{one[0]} {one[1]} {one[which]}")
        for kind in KINDS
        for place, one in enumerate(one for one in KINDS[kind][0] if one[which])
    ]


@cache
def outcomes_of(which: int, kind: str) -> Sequence[Outcome]:
    """The outcomes of all cases of a kind, of one audit."""
    chosen, attributes = KINDS[kind]
    expect = [{one[0]: {**one[1], **one[which]}} for one in chosen if one[which]]
    outcomes = audited(*expect, attributes=attributes).expectations
    assert [one.check for one in outcomes] == [name for one in expect for name in one]
    return outcomes


@pytest.mark.parametrize(("demands", "where"), cases(2))
def test_a_demand_that_nothing_can_fail_is_measured(demands, where):
    which, kind, place = where
    outcome = outcomes_of(which, kind)[place]
    assert (outcome.status, set(outcome.unfailable)) == (Status.MEASURED, set(demands))
    assert all(f" {name}: " in outcome.message for name in demands)
    assert outcome.message.endswith("so this is measured, not judged.")
    assert "no threshold" not in outcome.message


@pytest.mark.parametrize(("demands", "where"), cases(3))
def test_a_demand_beside_it_is_judged(demands, where):
    which, kind, place = where
    outcome = outcomes_of(which, kind)[place]
    assert set(demands) <= set(outcome.parameters)
    assert outcome.is_judged, outcome.message
    assert not outcome.unfailable


def test_an_outcome_is_judged_by_the_demand_that_can_fail():
    outcome = outcome_of("alpha_k_anonymity", {"alpha": 1, "k": 2})
    assert (outcome.status, outcome.unfailable) == (Status.PASSED, ("alpha",))
    assert outcome.message.endswith(" The demand alpha: 1 is kept however these records are grouped.")
    assert outcome.as_json()["details"]["unfailable"] == ["alpha"]


def test_a_reference_that_is_not_the_releases_own_decides_too():
    declared = {**ATTRIBUTES, "disease": {"role": "sensitive", "distribution": {"flu": 8, "gout": 1, "ulcer": 1}}}
    conventions = {"reference": "declared"}
    for at_most, status in (("10", Status.MEASURED), ("9.99", Status.PASSED)):
        result = audited({"skewness": {"at_most": at_most}}, attributes=declared, conventions=conventions)
        assert result.expectations[0].status is status


def test_an_attribute_with_one_value_gives_closeness_nothing_to_judge():
    same = RELEASE.set_column(3, "disease", pa.array(["flu"] * 8))
    policy = {"version": 1, "attributes": ATTRIBUTES, "expect": [{"t_closeness": {"t": "0.01"}}]}
    assert tcdp_audit.audit(same, policy).expectations[0].status is Status.MEASURED


def test_a_class_without_any_value_fails_even_what_no_value_could():
    missing = RELEASE.set_column(3, "disease", pa.array([None, None, *["flu", "gout"] * 3]))
    for demand in ({"distinct_l_diversity": {"l": 1}}, {"t_closeness": {"t": 1}}):
        policy = {"version": 1, "attributes": ATTRIBUTES, "expect": [demand]}
        assert tcdp_audit.audit(missing, policy).expectations[0].status is Status.FAILED


@pytest.mark.parametrize("convention", ["own_category", "excluded"])
def test_missing_values_beside_others_make_no_demand(convention):
    missing = RELEASE.set_column(3, "disease", pa.array([None, "flu", *["flu", "gout"] * 3]))
    policy = {
        "version": 1,
        "attributes": ATTRIBUTES,
        "conventions": {"missing_sensitive": convention},
        "expect": [{"distinct_l_diversity": {"l": 1}}, {"t_closeness": {"t": 1}}],
    }
    result = tcdp_audit.audit(missing, policy)
    assert [one.status for one in result.expectations] == [Status.MEASURED] * 2
    printed = "by every class that has a value, however" if convention == "excluded" else "is kept however"
    assert all(printed in one.message for one in result.expectations)


def test_the_convention_fail_still_fails():
    missing = RELEASE.set_column(1, "zip", pa.array([None, "1", "2", "2", "3", "3", "4", "4"]))
    conventions = {"missing_quasi_identifier": "fail"}
    policy = {"version": 1, "attributes": ATTRIBUTES, "conventions": conventions, "expect": [{"k_anonymity": {"k": 1}}]}
    assert tcdp_audit.audit(missing, policy).status == "failed"


def test_entities_count_once_and_still_cannot_fail():
    result = audited({"p_sensitive_k_anonymity": {"p": 1, "k": 1}}, {"homogeneity": {"at_most": 1}}, unit="id")
    assert [one.status for one in result.expectations] == [Status.MEASURED] * 2


# A policy of nothing else

VACUOUS = {"k_anonymity": {"k": 1}}
WARNING = {"k_anonymity": {"k": 2, "severity": "warning"}}
FAILING_WARNING = {"k_anonymity": {"k": 9, "severity": "warning"}}


@pytest.mark.parametrize(
    ("expect", "status", "codes"),
    [
        ([VACUOUS], "measured", (3, 3, 0)),
        ([VACUOUS, {"homogeneity": {"at_most": 1}}, {"t_closeness": {}}], "measured", (3, 3, 0)),
        ([WARNING], "measured", (3, 0, 0)),
        ([FAILING_WARNING], "measured", (3, 1, 0)),
        ([{"k_anonymity": {"k": 1, "severity": "warning"}}], "measured", (3, 3, 0)),
        ([VACUOUS, {"k_anonymity": {"k": 2}}], "passed", (0, 1, 0)),
        ([VACUOUS, {"k_anonymity": {"k": 3}}], "failed", (1, 1, 1)),
        ([FAILING_WARNING, {"k_anonymity": {"k": 2}}], "passed", (0, 1, 0)),
    ],
)
def test_no_policy_passes_without_a_demand_that_counts_and_can_fail(expect, status, codes):
    result = audited(
        *expect, key=None
    )  # a key is a warning, as a secret is of which a policy that passes demands nothing
    assert (result.status, result.passed) == (status, status == "passed")
    printed = result.exit_code(), result.exit_code(fail_on_warning=True), result.exit_code(allow_vacuous=True)
    assert printed == codes


def test_what_is_raised_says_why():
    with pytest.raises(
        tcdp_audit.TcdpAuditError, match=r"status is measured\nk_anonymity: .*The demand k: 1 is kept however"
    ):
        audited(VACUOUS).raise_for_failures()


def test_measure_says_it_too():
    result = tcdp_audit.measure("k_anonymity", RELEASE.select(["zip"]), quasi_identifiers=["zip"], k=1)
    assert (result.status, result.threshold, result.unfailable) == (Status.MEASURED, Fraction(1), ("k",))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A release of unique records in the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "release.csv").write_text("zip,disease\n1,flu\n2,gout\n3,flu\n")
    return tmp_path


def write(expectation: str) -> None:
    Path("p.tcdp.yaml").write_text(
        "version: 1\nrelease: release.csv\nattributes:\n  zip: {role: quasi_identifier}\n"
        f"  disease: {{role: sensitive}}\nexpect:\n  - {expectation}\n"
    )


THRESHOLDS = [
    "k_anonymity: {k: 1}",
    "distinct_l_diversity: {l: 1}",
    "entropy_l_diversity: {l: 1}",
    "t_closeness: {t: 1}",
    "alpha_k_anonymity: {alpha: 1}",
    "sample_uniqueness: {at_most: 1}",
    "homogeneity: {at_most: 1}",
    "suda: {at_most: 1}",
    "reidentification_risk: {at_most: 1}",
    "skewness: {at_most: 1.0e+300}",
]


@pytest.mark.parametrize("expectation", THRESHOLDS)
@pytest.mark.usefixtures("folder")
def test_unique_records_never_pass_by_a_threshold_that_nothing_can_fail(expectation, capsys):
    write(expectation)
    assert run("check", ["--report", "r.html", "--report", "r.md", "--report", "r.json"]) == 3
    printed = " ".join(capsys.readouterr().out.split())
    assert "Measured, not judged. The policy demands nothing that could fail." in printed
    assert "so this is measured, not judged." in printed
    for report in ("r.html", "r.md"):
        text = " ".join(Path(report).read_text(encoding="utf-8").split())
        assert "so this is measured, not judged." in text
        assert "cannot fail" in text
        assert "no demand set" not in text
    (outcome,) = json.loads(Path("r.json").read_text(encoding="utf-8"))["outcomes"][-1:]
    assert (outcome["status"], len(outcome["details"]["unfailable"])) == ("measured", 1)
    assert run("check", ["--quiet", "--allow-vacuous"]) == 0
    assert run("check", ["--quiet", "--fail-on", "warning"]) == 3


@pytest.mark.usefixtures("folder")
def test_warnings_alone_judge_nothing_and_the_terminal_says_so(capsys):
    write("k_anonymity: {k: 2, severity: warning}")
    assert run("check", []) == 3
    printed = " ".join(capsys.readouterr().out.split())
    assert "Measured, not judged. The only demand warns." in printed
    assert "Nothing was judged: a demand of severity warning fails no release." in printed
    assert run("check", ["--quiet", "--fail-on", "warning"]) == 1


@pytest.mark.usefixtures("folder")
def test_the_convention_matrix_shows_what_is_only_measured(capsys):
    Path("release.csv").write_text("zip,disease\n1,flu\n,gout\n3,flu\n")
    write("k_anonymity: {k: 1}")
    assert run("check", ["--conventions", "all"]) == 3
    printed = capsys.readouterr().out
    assert "as in the policy" in printed
    assert "1 k-anonymity: failed or measured, by convention" in printed


@pytest.mark.parametrize("expectation", ["k_anonymity: {k: 1}", "k_anonymity: {k: 2, severity: warning}"])
@pytest.mark.usefixtures("folder")
def test_there_is_nothing_to_repair(expectation, capsys):
    write(expectation)
    assert run("fix", ["--output", "fixed.csv"]) == 3
    printed = " ".join(capsys.readouterr().out.split())
    assert "Nothing that the policy demands could fail, so there is nothing to repair; nothing was written." in printed
    assert not Path("fixed.csv").exists()


@pytest.mark.usefixtures("folder")
def test_a_repair_that_leaves_nothing_to_fail_is_no_proof(capsys):
    Path("release.csv").write_text("zip,disease\n1,flu\n1,gout\n3,flu\n")
    write("t_closeness: {t: 0.01}\nremedy:\n  - rebucketize: {attribute: disease, buckets: 1}")
    assert run("fix", ["--output", "fixed.csv"]) == 3
    assert "proves nothing" in " ".join(capsys.readouterr().out.split())
    assert not Path("fixed.csv").exists()
