"""The same table in every form, in any order, in any number of shards: the same answer to the last digit."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
import sources
from answers import PLUGINS, answer

import tcdp_audit.core.auditor.view_evaluation
from tcdp_audit import audit, load_policy
from tcdp_audit.core.classes.shards import Plan
from tcdp_audit.core.policy.policy import Policy

ATTRIBUTES = {
    "zip": {"role": "quasi_identifier", "scale": "nominal"},
    "age": {"role": "quasi_identifier", "scale": "numeric"},
    "sex": {"role": "quasi_identifier"},
    "disease": {"role": "sensitive", "scale": "nominal"},
    "cost": {"role": "sensitive", "scale": "numeric"},
    "severity": {"role": "sensitive", "scale": "ordinal", "order": ["*", "low", "middle", "high", "extreme"]},
    "person": {"role": "insensitive"},
    "note": {"role": "insensitive"},
}
EXPECT = [
    {"k_anonymity": {"k": 5}},
    {"distinct_l_diversity": {"l": 2}},
    {"entropy_l_diversity": {"l": 1.5, "attribute": "disease"}},
    {"entropy_l_diversity": {"attribute": "cost"}},
    {"t_closeness": {"t": "3/8", "attribute": "disease"}},
    {"t_closeness": {"t": 0.2, "attribute": "cost", "distance": "ordered"}},
    {"t_closeness": {"attribute": "severity", "distance": "ordered", "severity": "warning"}},
]
CONVENTIONS = [
    dict(zip(("missing_quasi_identifier", "missing_sensitive", "suppressed", "unit"), values, strict=True))
    for values in itertools.product(
        ("own_category", "wildcard", "fail"),
        ("excluded", "own_category", "fail"),
        ("counted", "exempt"),
        (None, "person"),
    )
]
NAMES = [" ".join(str(value) for value in one.values()) for one in CONVENTIONS]


def policy(convention: dict[str, Any], **changes: Any) -> Policy:
    chosen = {name: value for name, value in convention.items() if name != "unit"}
    document = {"version": 1, "attributes": ATTRIBUTES, "expect": EXPECT, "conventions": chosen, **changes}
    if convention["suppressed"] == "exempt":  # numbers cannot be suppressed, so none may be grouped
        unread = {name: {"role": "insensitive"} for name in ("age", "cost")}
        document["attributes"] = {**document["attributes"], **unread}
        document["expect"] = [one for one in EXPECT if "cost" not in str(one)]
    if convention["unit"] is not None:
        document["unit"] = convention["unit"]
        if convention["missing_quasi_identifier"] == "wildcard":  # under which histories form no classes
            document["conventions"] = {**chosen, "known_rows": "one"}
    return load_policy(document, PLUGINS)


@pytest.fixture(scope="module")
def baseline(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The answer for the plain CSV file under the first and the most unlike conventions."""
    path = sources.SOURCES["csv"](tmp_path_factory.mktemp("csv"))
    return {name: answer(path, policy(one)) for name, one in zip(NAMES, CONVENTIONS, strict=True) if name in TRIED}


TRIED = ("own_category excluded counted None", "wildcard own_category exempt person")


def test_the_baseline_has_something_to_say(baseline: dict[str, Any]) -> None:
    outcomes = [one for one in baseline[TRIED[0]]["outcomes"] if not one["source"].startswith("tcdp-audit")]
    assert [one["check"] for one in outcomes].count("distinct_l_diversity") == 3
    assert {one["status"] for one in outcomes} == {"failed", "measured"}
    assert outcomes[0]["classes"]["total"] > 100
    assert outcomes[0]["records"]["total"] == sources.RECORDS
    exempt = next(one for one in baseline[TRIED[1]]["outcomes"] if one["check"] == "k_anonymity")
    rows = zip(*(sources.TABLE[name] for name in ("zip", "sex", "disease", "severity")), strict=True)
    assert exempt["records"]["total"] == sources.RECORDS - sum(set(row) == {"*"} for row in rows)


@pytest.mark.parametrize("name", [TRIED[0], pytest.param(TRIED[1], marks=pytest.mark.long)])
@pytest.mark.parametrize("form", sources.SOURCES)
def test_every_form_gives_the_same_answer(form: str, name: str, baseline: dict[str, Any], tmp_path: Path) -> None:
    convention = CONVENTIONS[NAMES.index(name)]
    assert answer(sources.SOURCES[form](tmp_path), policy(convention)) == baseline[name]


@pytest.mark.parametrize(
    "convention",
    [pytest.param(one, marks=[pytest.mark.long] if place % 5 else []) for place, one in enumerate(CONVENTIONS)],
    ids=NAMES,
)
def test_shards_and_spilling_change_nothing(convention: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    asked = policy(convention)
    whole = answer(sources.ARROW, asked, shards=1)
    assert answer(sources.ARROW, asked, shards=7) == whole
    monkeypatch.setattr(tcdp_audit.core.auditor.view_evaluation, "plan", lambda *_: Plan(shards=5, spill=True))
    assert answer(sources.ARROW, asked) == whole


@pytest.mark.parametrize("convention", CONVENTIONS[::5], ids=NAMES[::5])
def test_the_order_of_records_changes_nothing(convention: dict[str, Any]) -> None:
    asked = policy(convention)
    assert answer(sources.ARROW.take(sources.SHUFFLED), asked, shards=3) == answer(sources.ARROW, asked)


def test_the_order_of_the_policys_attributes_changes_only_that_of_columns_in_sentences() -> None:
    reordered = dict(reversed(ATTRIBUTES.items()))
    one, other = policy(CONVENTIONS[0]), policy(CONVENTIONS[0], attributes=reordered)
    text = json.dumps(answer(sources.ARROW, other))
    assert "'zip', 'age' and 'sex'" not in text
    assert answer(sources.ARROW, one) == json.loads(text.replace("'sex', 'age' and 'zip'", "'zip', 'age' and 'sex'"))


@pytest.mark.long
def test_every_convention_makes_a_difference() -> None:
    def figures(convention: dict[str, Any]) -> str:
        outcomes = answer(sources.ARROW, policy(convention))["outcomes"]
        shown = ("check", "attribute", "status", "observed", "classes", "records", "message", "details")
        return repr([[one[name] for name in shown] for one in outcomes])

    # where a missing quasi-identifier fails already, a missing sensitive value that fails too changes nothing but how
    # many units fail
    assert len({figures(one) for one in CONVENTIONS}) == len(CONVENTIONS) - 2


def test_the_callers_connection_stays_as_it_was() -> None:
    import duckdb

    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT 'a' AS zip FROM range(3)")
    asked = {
        "version": 1,
        "attributes": {"zip": {"role": "quasi_identifier"}},
        "expect": [{"k_anonymity": {"k": 3}}],
    }
    assert audit(connection.sql("FROM t"), asked, plugins=PLUGINS).passed
    assert connection.execute("SHOW TABLES").fetchall() == [("t",)]
    assert connection.execute("SELECT count(*) FROM t").fetchall() == [(3,)]
