"""Demands that are laxer than usual, and demands that another one implies."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

from tcdp_audit import audit, load_policy
from tcdp_audit.core.base.errors import PluginError
from tcdp_audit.core.base.guide_file import USUAL
from tcdp_audit.core.base.phrases import strictness_sentences
from tcdp_audit.core.check.strictness import laxer_than
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.plugin.check import Guide

CHECKS = Plugins.load(external=False).checks
PEOPLE = pa.table({"zip": ["1"] * 30 + ["2"] * 30, "pain": ["none", "some", "much"] * 20})
EL_EMAM = "El Emam, 2013, doi:10.1201/b14764-29"


def policy(*expect: Any, **more: Any) -> dict[str, Any]:
    attributes = {"zip": {"role": "quasi_identifier"}, "pain": {"role": "sensitive", "scale": "nominal"}}
    return {"version": 1, "attributes": attributes, "expect": list(expect), **more}


def stricter(demand: dict[str, Any], **more: Any) -> list[tuple[Fraction, str]]:
    (expectation,) = load_policy(policy(demand, **more)).expectations
    return [(one.threshold, one.profile) for one in laxer_than(expectation)]


@pytest.mark.parametrize(
    ("demand", "thresholds"),
    [
        ({"k_anonymity": {"k": 2}}, ["3", "11", "20"]),
        ({"k_anonymity": {"k": 5}}, ["11", "20"]),
        ({"k_anonymity": {"k": 11}}, ["20"]),  # as strict as usual is not laxer; a profile demands 20
        ({"k_anonymity": {"k": 20}}, []),
        ({"k_anonymity": {}}, []),
        ({"k_anonymity": {"k": 11, "knows": ["zip"], "reason": "The office says so."}}, ["20"]),
        ({"reidentification_risk": {"at_most": "1/11"}}, []),
        ({"reidentification_risk": {"at_most": "0.0910"}}, ["1/11"]),
        ({"reidentification_risk": {"at_most": "0.5", "measure": "average"}}, []),
        ({"t_closeness": {"t": "0.2"}}, []),
        ({"t_closeness": {"t": "0.21", "distance": "equal"}}, ["1/5"]),
        ({"t_closeness": {"t": 2, "distance": "multiplicative"}}, []),
        ({"recursive_cl_diversity": {"c": 5, "l": 2}}, ["4"]),
    ],
)
def test_stricter_thresholds_are_those_of_the_guide_and_the_strictest_of_a_profile(
    demand: dict[str, Any], thresholds: list[str]
) -> None:
    assert [one for one, _ in stricter(demand)] == [Fraction(one) for one in thresholds]


def test_a_profile_counts_only_where_its_other_parameters_are_the_same() -> None:
    def of_size(size: int) -> list[Fraction]:
        demand = {"category_frequency": {"max_size": size, "at_least": 10}}
        return [
            one for one, _ in stricter(demand, population="x.csv", conventions={"missing_quasi_identifier": "fail"})
        ]

    assert (of_size(1), of_size(2), of_size(3)) == ([200_000], [1000], [100])


def test_an_outcome_says_what_is_usual_with_the_source() -> None:
    outcome = audit(PEOPLE, policy({"k_anonymity": {"k": 5}})).expectations[0]

    assert strictness_sentences(outcome) == (
        f"The policy demands at least 5; at least 11 is usual for public files ({EL_EMAM}) and at least 20 is "
        "demanded by a published profile (el_emam_precedents_20@2013)."
    )
    assert outcome.as_json()["laxer_than"] == [
        {"threshold": 11, "says": "usual for public files", "source": EL_EMAM},
        {
            "threshold": 20,
            "says": "demanded by a published profile",
            "source": "el_emam_precedents_20@2013",
            "profile": "el_emam_precedents_20@2013",
        },
    ]


def test_a_demand_that_another_implies_names_it_and_no_usual_threshold() -> None:
    expect = [{"k_anonymity": {"k": 5}}, {"k_anonymity": {"k": 3}}, {"t_closeness": {"t": "0.1"}}]
    strong, weak, other = audit(PEOPLE, policy(*expect)).expectations

    assert strictness_sentences(weak) == "A file that meets k-anonymity of at least 5 meets this demand, too."
    assert weak.as_json()["implied_by"] == "k-anonymity of at least 5"
    assert (strong.implied_by, other.implied_by, weak.laxer_than) == ("", "", ())
    assert "implied_by" not in other.as_json()
    assert "laxer_than" not in other.as_json()


def test_each_attribute_has_the_demand_that_implies_its_own() -> None:
    attributes = {name: {"role": "sensitive", "scale": "nominal"} for name in ("pain", "ill")}
    attributes["zip"] = {"role": "quasi_identifier"}
    expect = [
        {"distinct_l_diversity": {"l": 2, "attribute": "pain"}},
        {"distinct_l_diversity": {"l": 2, "attribute": "ill"}},
        {"distinct_l_diversity": {"l": 3, "attribute": "ill"}},
    ]
    outcomes = audit(PEOPLE.append_column("ill", PEOPLE["pain"]), policy(*expect, attributes=attributes)).expectations

    assert [one.implied_by for one in outcomes] == ["", "Distinct l-diversity of at least 3 on 'ill'", ""]


def test_the_line_of_the_demand_that_implies_another_is_named(tmp_path: Any) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(
        "version: 1\nattributes:\n  zip: {role: quasi_identifier}\n  pain: {role: sensitive}\n"
        "expect:\n  - k_anonymity: {k: 3}\n  - k_anonymity: {k: 5}\n"
    )

    assert audit(PEOPLE, path).expectations[0].implied_by == "k-anonymity of at least 5 in line 7"


def test_a_demand_that_nothing_can_fail_is_not_called_laxer() -> None:
    assert audit(PEOPLE, policy({"k_anonymity": {"k": 1}})).expectations[0].laxer_than == ()


def test_no_verdict_depends_on_it() -> None:
    lax, strict = (audit(PEOPLE, policy({"k_anonymity": {"k": k}})) for k in (5, 20))

    assert (lax.exit_code(), lax.status) == (strict.exit_code(), strict.status) == (0, "passed")


@pytest.mark.parametrize("check", sorted(CHECKS))
def test_what_a_guide_calls_usual_has_a_source_and_a_threshold_of_the_check(check: str) -> None:
    guide, parameters = CHECKS[check].guide, CHECKS[check].parameters.model_fields
    loose = [one for one in guide.choosing.split("\n\n") if re.search(r"\b(is|are) usual\b", one)]

    assert [one for one in loose if not USUAL.match(one)] == []
    for one in guide.usual:
        assert CHECKS[check].headline.parameter in one.parameters
        assert one.parameters.keys() <= parameters.keys()
        assert re.search(r"doi:10\.|section|profile", one.source)


@pytest.mark.parametrize(
    ("choosing", "usual"),
    [
        ("`k: 11` is usual for public files: A, 2013.", ({"k": "11"}, "usual for public files", "A, 2013")),
        (
            "`t: 0.2, distance: [equal, ordered]` is small: B, 1, doi:10.1/x.",
            ({"t": "0.2", "distance": ["equal", "ordered"]}, "small", "B, 1, doi:10.1/x"),
        ),
        ("`k: 11` is usual for public files.", None),
        ("11 is usual: A.", None),
    ],
)
def test_a_guide_declares_usual_thresholds_in_paragraphs(choosing: str, usual: Any) -> None:
    guide = Guide("d", "f", "r", f"Before.\n\n{choosing}\n\nAfter.", "s", "e")

    assert [(one.parameters, one.says, one.source) for one in guide.usual] == ([usual] if usual else [])


def test_a_usual_threshold_that_is_no_mapping_is_a_fault_of_the_guide() -> None:
    guide = Guide("d", "f", "r", "`k: [11` is usual for public files: A.", "s", "e")

    with pytest.raises(PluginError, match="is no mapping"):
        _ = guide.usual


def test_a_result_with_both_keeps_the_published_schema() -> None:
    from importlib.resources import files

    from jsonschema import Draft202012Validator

    text = files("tcdp_audit.core.results").joinpath("result.schema.json").read_text(encoding="utf-8")
    result = audit(PEOPLE, policy({"k_anonymity": {"k": 5}}, {"k_anonymity": {"k": 3}})).as_json()

    assert [
        one.message for one in Draft202012Validator(json.loads(text)).iter_errors(json.loads(json.dumps(result)))
    ] == []
