"""What a program gives to `measure`, `audit` and `fix`: a name is never letters, and a column never names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tcdp_audit import PolicyError, UsageError, audit, fix, load_policy, measure

MARK = "zanzibar"
NO_ATTRIBUTE = ": there is no attribute to describe; name one by `attribute`"
FRAME = pd.DataFrame({"sex": ["m", "f", "m", "f"], "ward": ["1", "1", "1", "2"], "illness": ["a", "b", "c", MARK]})
POLICY = {
    "version": 1,
    "attributes": {
        "sex": {"role": "quasi_identifier"},
        "ward": {"role": "insensitive"},
        "illness": {"role": "sensitive"},
    },
    "expect": [{"k_anonymity": {"k": 2}}],
}


@pytest.mark.parametrize(
    ("named", "k"),
    [
        ("sex", 2),
        (["sex", "ward"], 1),
        (("sex", "ward"), 1),
        ({"ward", "sex"}, 1),
        (pd.Index(["sex", "ward"]), 1),
        (np.array(["sex", "ward"]), 1),
        ((name for name in ["sex", "ward"]), 1),
        ({"sex": 1, "ward": 2}.keys(), 1),
    ],
)
def test_quasi_identifiers_are_names(named: Any, k: int):
    assert measure("k_anonymity", FRAME, quasi_identifiers=named).observed == k


def test_columns_of_pandas_may_be_numbered():
    assert measure("k_anonymity", pd.DataFrame([["x"], ["x"], ["y"]]), quasi_identifiers=[0]).observed == 1


@pytest.mark.parametrize(
    ("named", "kind"),
    [
        (FRAME["illness"], "a list of names, not of type Series"),
        (pl.Series(FRAME["illness"].tolist()), "a list of names, not of type Series"),
        (pa.table(FRAME)["illness"], "a list of names, not of type ChunkedArray"),
        (FRAME[["illness"]], "a list of names, not of type DataFrame"),
        (b"sex", "a list of names, not of type bytes"),
        ({"sex": {}}, "a list of names, not of type dict"),
        (None, "a list of names, not of type NoneType"),
        (7, "a list of names, not of type int"),
        ([["sex"]], "the name of a column, not of type list"),
        ([True], "the name of a column, not of type bool"),
    ],
)
def test_what_names_no_column_is_refused_without_its_cells(named: Any, kind: str):
    with pytest.raises(UsageError) as caught:
        measure("k_anonymity", FRAME, quasi_identifiers=named)

    assert str(caught.value) == f"quasi_identifiers: must be {kind}"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"attribute": ["illness"]}, "attribute: must be the name of a column, not of type list"),
        ({"attribute": "sex"}, "attribute: 'sex' is among the quasi_identifiers as well; a column has one role"),
        ({"scale": "nominal"}, f"scale{NO_ATTRIBUTE}"),
        ({"order": ["a"], "scale": "ordinal"}, f"scale and order{NO_ATTRIBUTE}"),
        ({"conventions": "wildcard"}, "conventions: must be a mapping of names to values, not of type str"),
        ({"parameters": ["k"]}, "parameters: must be a mapping of names to values, not of type list"),
        ({"parameters": {"k": 2}, "k": 2}, "parameters: 'k' is an argument of the call as well; give it once"),
    ],
)
def test_arguments_that_say_nothing_or_two_things_are_refused(arguments: dict[str, Any], sentence: str):
    with pytest.raises(UsageError) as caught:
        measure("k_anonymity", FRAME, quasi_identifiers=["sex"], **arguments)

    assert str(caught.value) == sentence


def test_parameters_may_be_a_mapping():
    outcome = measure("k_anonymity", FRAME, quasi_identifiers="sex", parameters={"k": np.int64(3)})

    assert (outcome.status.value, outcome.threshold) == ("failed", 3)


@pytest.mark.parametrize(
    "order", [("1", "2"), np.array([1, 2]), pd.Index(["1", "2"]), pd.Series(["1", "2"]), iter("12")]
)
def test_an_order_is_any_sequence_of_values(order: Any):
    declared = {"attribute": "ward", "scale": "ordinal", "order": order}
    outcome = measure("t_closeness", FRAME, quasi_identifiers="sex", **declared, distance="ordered")

    assert outcome.observed == 0.25


@pytest.mark.parametrize("order", ["12", {"1", "2"}])
def test_an_order_is_neither_letters_nor_a_set(order: Any):
    with pytest.raises(PolicyError, match=r"^policy: attributes.ward.order: must be a list;"):
        measure("t_closeness", FRAME, quasi_identifiers="sex", attribute="ward", scale="ordinal", order=order)


@pytest.mark.parametrize("attributes", ["sex", FRAME["illness"], {"sex"}])
def test_attributes_of_a_check_are_neither_letters_nor_cells(attributes: Any):
    with pytest.raises(PolicyError) as caught:
        measure("exact_match_rate", FRAME, quasi_identifiers="sex", attributes=attributes)

    assert "exact_match_rate.attributes: must be a list" in str(caught.value)
    assert MARK not in str(caught.value)


def test_a_policy_may_have_tuples_arrays_and_numbers_of_numpy():
    given = {
        **POLICY,
        "conventions": {"missing_tokens": ("", "?")},
        "expect": ({"k_anonymity": {"k": np.int32(2)}}, {"skewness": {"sensitive_values": np.array(["a"])}}),
    }

    loaded = load_policy(given)

    assert (
        loaded.sha256
        == load_policy({**given, "expect": [*given["expect"][:1], {"skewness": {"sensitive_values": ["a"]}}]}).sha256
    )
    assert [one.check.name for one in loaded.expectations] == ["k_anonymity", "skewness"]


@pytest.mark.parametrize("policy", [None, 7, [POLICY]])
def test_what_is_no_policy_is_refused(policy: Any):
    with pytest.raises(UsageError, match=r"^policy: must be a path, a mapping or a Policy, not of type "):
        audit(FRAME, policy)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"memory": "4GiB"}, "memory: must be a number of bytes, not of type str"),
        ({"shards": "4"}, "shards: must be a number of shards, not of type str"),
        ({"plugins": ["office"]}, "plugins: must be what `Plugins.load()` returns, not of type list"),
    ],
)
def test_options_of_another_kind_are_refused(arguments: dict[str, Any], sentence: str):
    for call in (audit, fix) if "shards" not in arguments else (audit,):
        with pytest.raises(UsageError) as caught:
            call(FRAME, POLICY, **arguments)
        assert str(caught.value) == sentence


def test_a_policy_that_holds_itself() -> None:
    order: list[Any] = []
    order.append(order)
    with pytest.raises(UsageError, match=r"^policy: a list or a mapping in it holds itself"):
        load_policy({"version": 1, "attributes": {"zip": {"role": "sensitive", "order": order}}})


def test_columns_may_have_names_and_numbers() -> None:
    frame = pd.DataFrame({0: ["a", "a"], "age": [30, 30]})
    assert measure("k_anonymity", frame, quasi_identifiers=[0, "age"]).observed == 2


def test_a_column_is_declared_once() -> None:
    declared = {0: {"role": "quasi_identifier"}, "0": {"role": "insensitive"}, "age": {"role": "quasi_identifier"}}
    with pytest.raises(UsageError, match=r"^policy: attributes: a column is declared twice"):
        load_policy({"version": 1, "attributes": declared, "expect": [{"k_anonymity": {"k": 2}}]})
