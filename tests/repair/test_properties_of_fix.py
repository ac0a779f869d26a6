"""What holds of every repaired release, whatever the table, the policy and the remedy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings, strategies as st

from tcdp_audit import Remediation, audit, fix
from tcdp_audit.core.remedy import view
from tcdp_audit.core.repair import loop
from tcdp_audit.core.session.registry import Plugins

PLUGINS = Plugins.load(external=False)
TREE = {"any": {"north": ["a", "b"], "south": ["c", "d"]}}
ATTRIBUTES = {
    "note": {"role": "insensitive"},
    "age": {"role": "quasi_identifier", "scale": "numeric"},
    "zip": {"role": "quasi_identifier", "scale": "nominal", "hierarchy": TREE},
    "wage": {"role": "quasi_identifier", "scale": "ordinal", "order": ["low", "middle", "high"]},
    "disease": {"role": "sensitive", "scale": "nominal"},
    "cost": {"role": "sensitive", "scale": "numeric"},
}
DEMANDS: list[list[dict[str, Any]]] = [
    [{"k_anonymity": {"k": 2}}],
    [{"k_anonymity": {"k": 3}}, {"distinct_l_diversity": {"l": 2, "attribute": "disease"}}],
    [{"k_anonymity": {"k": 2}}, {"t_closeness": {"t": 0.6, "attribute": "cost", "distance": "ordered"}}],
    [{"distinct_l_diversity": {"l": 1, "attribute": "disease"}}, {"k_anonymity": {"k": 4}}],
    [{"k_anonymity": {"k": 2}}, {"homogeneity": {"at_most": 0.2, "attribute": "disease"}}],
]
REMEDIES: list[dict[str, Any]] = [
    {"mondrian": {}},
    {"redistribution": {}},
    {"generalization": {}},
    {"generalization": {"suppression": 0.3}},
    {"suppression": {"of": "records"}},
    {"suppression": {"of": "cells"}},
    {"microaggregation": {"k": 3}},
    {"rebucketize": {"attribute": "age"}},
    {"bucketization": {"attribute": "cost", "t": 2, "k": 3}},
]
HARDER: list[dict[str, Any]] = [
    {"alpha_k_anonymity": {"k": 4, "attribute": "disease"}},
    {"distinct_l_diversity": {"l": 2, "attribute": "disease"}},
    {"t_closeness": {"t": 0.6, "attribute": "cost", "distance": "ordered"}},
]
MERGING = ("mondrian", "generalization")  # their classes are unions of those before


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    n = draw(st.integers(4, 30))

    def column(values: list[Any]) -> list[Any]:
        return draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))

    return pa.table(
        {
            "note": pa.array([f"n{i}" for i in range(n)]),
            "age": pa.array(column(["07", "20", "33", "51", "67", None]), pa.string()),
            "zip": pa.array(column(["a", "b", "c", "d"]), pa.string()),
            "wage": pa.array(column(["low", "middle", "high", None]), pa.string()),
            "disease": pa.array(column(["flu", "gout", "cold"]), pa.string()),
            "cost": pa.array(column([1, 2, 3, 5, 8]), pa.int64()),
        }
    )


def repaired(table: pa.Table, expect: list[dict[str, Any]], remedies: list[dict[str, Any]]) -> Remediation:
    policy: dict[str, Any] = {"version": 1, "attributes": ATTRIBUTES, "expect": expect}
    return fix(table, {**policy, "remedy": remedies} if remedies else policy, plugins=PLUGINS)


@pytest.mark.long
@settings(max_examples=8)
@given(table=tables(), expect=st.sampled_from(DEMANDS), remedy=st.sampled_from(REMEDIES), seed=st.randoms())
def test_identifiers_and_the_key_change_nothing_of_the_rest(
    table: pa.Table, expect: list[dict[str, Any]], remedy: dict[str, Any], seed: Any
) -> None:
    ids = [f"i{number}" for number in range(table.num_rows)]
    seed.shuffle(ids)
    keyed = table.add_column(2, "id", [ids]).append_column("name", [ids])
    attributes = {**ATTRIBUTES, "name": {"role": "identifier"}}
    policy = {"version": 1, "attributes": attributes, "expect": expect, "remedy": [remedy], "key": "id"}
    done, plain = fix(keyed, policy, plugins=PLUGINS), repaired(table, expect, [remedy])
    assert [one.name for one in done.log.dropped] == ["id", "name"]
    assert (done.passed, done.log.suppressed, done.log.cells) == (plain.passed, plain.log.suppressed, plain.log.cells)
    assert done.released.num_rows == table.num_rows - done.log.suppressed
    assert done.released.column_names == table.column_names
    order = [("note", "ascending")]
    assert done.released.sort_by(order).equals(plain.released.sort_by(order))
    if plain.log.steps:
        assert done.released.equals(plain.released)
    if done.passed:
        again = fix(done.released, policy, plugins=PLUGINS)
        assert again.log.is_unchanged
        assert again.released.equals(done.released)


given_all = given(
    table=tables(),
    expect=st.sampled_from(DEMANDS),
    remedies=st.lists(st.sampled_from(REMEDIES), min_size=1, max_size=2),
)


@pytest.mark.long
@settings(max_examples=25)
@given_all
def test_what_is_promised_of_every_output(
    table: pa.Table, expect: list[dict[str, Any]], remedies: list[dict[str, Any]]
) -> None:
    done = repaired(table, expect, remedies)
    released = done.released
    assert released.column_names == table.column_names
    assert released.num_rows == table.num_rows - done.log.suppressed
    notes = {text: row for row, text in enumerate(table["note"].to_pylist())}
    assert len(set(released["note"].to_pylist())) == released.num_rows  # nobody twice
    if not any("bucketization" in one for one in remedies):  # the others leave what is sensitive alone
        rows = [notes[text] for text in released["note"].to_pylist()]
        for untouched in ("disease", "cost"):
            assert released[untouched].to_pylist() == table[untouched].take(rows).to_pylist()


@pytest.mark.long
@settings(max_examples=15)
@given_all
def test_a_repaired_release_passes_an_audit_of_its_own_under_every_convention(
    table: pa.Table, expect: list[dict[str, Any]], remedies: list[dict[str, Any]]
) -> None:
    done = repaired(table, expect, remedies)
    assume(done.passed and not done.log.is_unchanged)
    demanded = next(one["k_anonymity"]["k"] for one in expect if "k_anonymity" in one)
    for convention in ("own_category", "wildcard", "fail"):
        conventions = {"missing_quasi_identifier": convention}
        policy = {"version": 1, "attributes": ATTRIBUTES, "expect": expect, "conventions": conventions}
        alone = audit(done.released, policy, plugins=PLUGINS)
        assert alone.passed
        assert next(one.observed for one in alone.expectations if one.check == "k_anonymity") >= demanded


def people(seed: int, n: int = 90) -> pa.Table:
    """A table like the drawn ones, without missing values."""
    random = np.random.default_rng(seed)
    columns = {
        "age": ["07", "20", "33", "51", "67"],
        "zip": list("abcd"),
        "wage": ["low", "middle", "high"],
        "disease": ["flu", "gout", "cold"],
        "cost": [1, 2, 3, 5, 8],
    }
    drawn = {name: random.choice(values, n).tolist() for name, values in columns.items()}
    return pa.table({"note": [f"n{i}" for i in range(n)], **drawn})


@pytest.mark.long
@pytest.mark.parametrize("remedy", REMEDIES, ids=str)
def test_every_remedy_changes_most_tables_for_the_better(remedy: dict[str, Any]) -> None:
    """A property of repaired releases would hold of a remedy that always refuses."""
    better = 0
    for seed in range(10):
        table = people(seed)
        done = repaired(table, DEMANDS[0], [remedy])
        before, after = (one.expectations[0].records.failing for one in (done.before, done.after))
        better += not done.log.is_unchanged and after < before
    assert better >= 6


@pytest.mark.long
@settings(max_examples=10)
@given_all
def test_repairing_what_was_repaired_changes_nothing(
    table: pa.Table, expect: list[dict[str, Any]], remedies: list[dict[str, Any]]
) -> None:
    once = repaired(table, expect, remedies)
    assume(once.passed and not once.log.is_unchanged)
    twice = repaired(once.released, expect, remedies)
    assert twice.log.is_unchanged
    assert twice.released.equals(once.released)


@pytest.mark.long
@settings(max_examples=10)
@given(half=tables(), more=st.sampled_from(HARDER), name=st.sampled_from(MERGING))
def test_what_passed_before_is_at_no_greater_risk(half: pa.Table, more: dict[str, Any], name: str) -> None:
    """Every record stands there twice, so that 2-anonymity passes and the harder demand is what is repaired."""
    table = pa.concat_tables([half, half.set_column(0, "note", pa.array([f"m{i}" for i in range(half.num_rows)]))])
    expect = [{"k_anonymity": {"k": 2}}, more]
    done = repaired(table, expect, [{name: {}}])
    after = {(one.check, one.attribute): one for one in done.after.expectations}
    passed = [one for one in done.before.expectations if one.status.value == "passed"]
    assert passed
    assume(not done.log.is_unchanged)
    for before in passed:
        then = after[before.check, before.attribute]
        assert then.status.value == "passed"
        assert before.observed is not None
        assert then.observed is not None
        safer = (
            then.observed >= before.observed if before.comparison.higher_is_safer else then.observed <= before.observed
        )
        assert safer or abs(then.observed - before.observed) < 1e-12


@pytest.mark.long
@settings(max_examples=6)
@given(table=tables(), expect=st.sampled_from(DEMANDS), seed=st.randoms(use_true_random=False))
def test_the_order_of_records_changes_nothing(table: pa.Table, expect: list[dict[str, Any]], seed: Any) -> None:
    order = list(range(table.num_rows))
    seed.shuffle(order)
    one, two = repaired(table, expect, []), repaired(table.take(order), expect, [])
    assert one.passed == two.passed
    assume(one.passed and not one.log.is_unchanged)
    columns = [(name, "ascending") for name in table.column_names if name != "note"]
    assert one.log.lines == two.log.lines
    first, second = (done.released.select([name for name, _ in columns]).sort_by(columns) for done in (one, two))
    assert first.equals(second)


@pytest.mark.long
@settings(max_examples=12)
@given(table=tables(), expect=st.sampled_from(DEMANDS))
def test_what_is_stopped_would_not_have_been_taken(table: pa.Table, expect: list[dict[str, Any]]) -> None:
    stopping = repaired(table, expect, [])
    with pytest.MonkeyPatch.context() as patch:
        for module in (loop, view):
            patch.setattr(module, "require_least", lambda *_: None)
        thorough = repaired(table, expect, [])
    assert stopping.released.equals(thorough.released)
    assert stopping.log.steps == thorough.log.steps
    assert stopping.log.loss == thorough.log.loss
    pairs = list(zip(stopping.log.tried, thorough.log.tried, strict=True))
    for one, whole in pairs:
        assert one == whole or one.error.startswith("stopped: ")
    assume(any(one != whole for one, whole in pairs))
