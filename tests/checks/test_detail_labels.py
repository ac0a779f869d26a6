"""Every detail of every built-in check has a label in a statistician's words; see also `detail_labels`."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from detail_labels import BUILT_IN, unlabelled

from tcdp_audit.core.session.registry import Plugins
from tcdp_audit_reports.fact_labels import SHARED, Labels

CHECKS = Plugins.load(external=False).checks


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_labels_are_a_few_words_and_no_keys(name: str) -> None:
    for key, label in CHECKS[name].guide.details.items():
        assert re.fullmatch(r"[a-z]\w*", key), key
        assert not re.search(r"[_`.]|\b(dis|classes?)\b", label), label
        assert len(label) <= 75, label


@pytest.mark.parametrize("label", SHARED.values())
def test_shared_labels_are_a_few_words_and_no_keys(label: str) -> None:
    assert not re.search(r"[_`.]|\bclasses?\b", label)
    assert len(label) <= 75


def test_a_detail_without_a_label_is_named() -> None:
    suda = CHECKS["suda"]
    assert unlabelled(suda, {"dis": 0.1, "median_score": 1, "at": [{"p": 1, "low": 2}]}) == {"median_score", "at", "p"}
    by_column = {"absent": {"population": {"sex": 3, "sexes": 1}}, "sex": 4}
    assert unlabelled(suda, by_column, ["sex"]) == {"sexes", "sex"}  # only where it is nested
    assert unlabelled(suda, {"absent": by_column["absent"]}, ["sex"]) == {"sexes"}
    silent = replace(suda, guide=replace(suda.guide, details={}))
    assert unlabelled(silent, {"dis": 0.1, "low": 0.1}) == {"dis"}


def test_a_guide_says_what_a_shared_name_means_for_its_check() -> None:
    assert Labels.of(CHECKS["singling_out"]).of_key("low") == "lower end of the risk’s interval"
    assert Labels.of(CHECKS["uniqueness_profile"]).of_key("low") == "lower end of the interval"
    assert Labels.of(CHECKS["alpha_k_anonymity"]).of_key("k") == "number of records in the group"


def test_a_key_of_another_plugin_is_shown_as_its_words() -> None:
    assert Labels.of(None).of_key("mean_of_quasi_identifiers") == "mean of quasi-identifiers"
