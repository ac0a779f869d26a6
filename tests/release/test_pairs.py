"""Who is who: what pairs records of release and original, and how every wrong pairing is caught."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tcdp_audit import Audit, CheckError, Outcome, Status, audit
from tcdp_audit.cli.run import run
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.policy.model import AttributeDeclaration, Conventions, Role, Scale
from tcdp_audit.core.release.coded import code_together

MARK = "quokka"  # part of every key
ATTRIBUTES = {
    "age": {"role": "quasi_identifier", "scale": "numeric"},
    "zip": {"role": "quasi_identifier"},
}
AGES = [30, 31, 32, 40, 41, 42]
KEYS = [f"{MARK}{number}" for number in range(6)]


def table(ages: list[Any] = AGES, keys: list[str | None] | None = None) -> pa.Table:
    columns: dict[str, Any] = {"age": ages, "zip": ["02139"] * len(ages)}
    return pa.table(columns if keys is None else {**columns, "id": keys})


def audited(release: pa.Table, original: pa.Table | None, **policy: Any) -> Audit:
    expect = [{"sd_interval_disclosure": {"p": 1, "at_most": 1}}]
    return audit(release, {"version": 1, "attributes": ATTRIBUTES, "expect": expect} | policy, original)


def paired(release: pa.Table, original: pa.Table | None, **policy: Any) -> Outcome:
    return audited(release, original, **(policy or {"key": "id"})).expectations[0]


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Write release, original and policy as files, and run the command."""
    monkeypatch.chdir(tmp_path)

    def checked(release: str, original: str, pairing: str = "key: id", check: str = "{p: 1, at_most: 1}") -> Ran:
        Path("release.csv").write_text(release)
        Path("original.csv").write_text(original)
        Path("policy.tcdp.yaml").write_text(
            f"version: 1\n{pairing}\noriginal: original.csv\nattributes:\n"
            "  age: {role: quasi_identifier, scale: numeric}\n  zip: {role: quasi_identifier}\n"
            f"expect:\n  - sd_interval_disclosure: {check}\n"
        )
        code = run("check", ["release.csv", "--policy", "policy.tcdp.yaml", "--json"])
        output = capfd.readouterr()
        assert MARK not in output.out + output.err
        assert "Traceback" not in output.err
        return Ran(code, output.out, output.err)

    return checked


def csv(*rows: str, header: str = "id,age,zip") -> str:
    return "\n".join([header, *rows, ""])


GOOD = csv(f"{MARK}1,30,02139", f"{MARK}2,40,02139")
TWICE = csv(f"{MARK}1,30,02139", f"{MARK}1,40,02139", f"{MARK}2,40,02139")
EMPTY = csv(f"{MARK}1,30,02139", ",40,02139")
KEYLESS = csv("30,02139", "40,02139", header="age,zip")
AGELESS = csv(f"{MARK}1,02139", f"{MARK}2,02139", header="id,zip")
OTHERS = csv(f"{MARK}8,30,02139", f"{MARK}9,40,02139")
WORDS = csv(f"{MARK}1,old,02139", f"{MARK}2,40,02139")

TWICE_SAID = (
    "records cannot be paired: 1 value appears in more than one record in the key 'id' of {}; name a key that is unique"
)
EMPTY_SAID = "records cannot be paired: 1 record has no value in the key 'id' of {}; fill it in, or remove them"
LACKING_SAID = (
    "records cannot be paired: {} has no column 'id', which the policy names as the key; "
    "audit a copy that has it, or correct `key:`"
)


@pytest.mark.parametrize(
    ("release", "original", "said"),
    [
        pytest.param(TWICE, GOOD, TWICE_SAID.format("release.csv"), id="repeated in the release"),
        pytest.param(GOOD, TWICE, TWICE_SAID.format("original.csv"), id="repeated in the original"),
        pytest.param(EMPTY, GOOD, EMPTY_SAID.format("release.csv"), id="empty in the release"),
        pytest.param(GOOD, EMPTY, EMPTY_SAID.format("original.csv"), id="empty in the original"),
        pytest.param(KEYLESS, GOOD, LACKING_SAID.format("release.csv"), id="no column in the release"),
        pytest.param(GOOD, KEYLESS, LACKING_SAID.format("original.csv"), id="no column in the original"),
        pytest.param(
            GOOD,
            AGELESS,
            "column 'age' is not in original.csv; if it has another name there, or none, say so as "
            "`original: {file: …, columns: {age: …}}`",
            id="attribute not in the original",
        ),
        pytest.param(
            GOOD,
            WORDS,
            "column 'age' of original.csv holds a value that is not a finite number",
            id="another scale in the original",
        ),
        pytest.param(
            GOOD,
            OTHERS,
            "records cannot be paired: no value of the key 'id' is in both tables; "
            "check that both write it in the same way",
            id="nothing in common",
        ),
    ],
)
def test_a_wrong_pairing_leaves_the_audit_incomplete(check, release, original, said):
    ran = check(release, original)
    outcome = json.loads(ran.out)["outcomes"][-1]

    assert (ran.code, outcome["status"], outcome["observed"]) == (3, "error", None)
    assert outcome["message"] == said


def test_rows_that_are_said_to_be_aligned_must_be_as_many(check):
    ran = check(KEYLESS, csv("30,02139", header="age,zip"), pairing="rows_aligned: true")
    outcome = json.loads(ran.out)["outcomes"][-1]

    assert (ran.code, outcome["status"]) == (3, "error")
    assert outcome["message"] == (
        "the policy says `rows_aligned`, but release.csv has 2 records and original.csv has 1; declare a `key` instead"
    )


def test_the_order_of_rows_is_never_taken_silently(check):
    ran = check(GOOD, GOOD, pairing="rows_aligned: false")

    assert (ran.code, ran.out) == (2, "")
    assert "policy.tcdp.yaml:8:5: expect[0].sd_interval_disclosure" in ran.err
    assert "add `key:` with the attribute that both tables share, or `rows_aligned: true`" in ran.err


def test_an_attribute_without_a_common_scale_is_a_fault_of_the_policy(check):
    ran = check(GOOD, GOOD, check="{p: 1, attributes: [zip]}")

    assert (ran.code, ran.out) == (2, "")
    assert "an interval needs 'zip' to be numeric, and its scale is not declared" in ran.err


def test_without_an_original_nothing_is_compared():
    outcome = paired(table(keys=KEYS), None)

    assert (outcome.status, outcome.message) == (
        Status.ERROR,
        "no original is given; name it in the policy as `original:`",
    )


def test_a_right_pairing_passes_and_warns_of_the_key_that_it_needs(check):
    ran = check(GOOD, csv(f"{MARK}1,30,02139", f"{MARK}2,99,02139"), check="{p: 1, at_most: 0.9}")
    outcomes = {one["check"]: one for one in json.loads(ran.out)["outcomes"]}

    assert ran.code == 0
    assert outcomes["sd_interval_disclosure"]["details"]["matched"] == 2
    actual = outcomes["linkable_key"]
    assert (actual["status"], actual["severity"], actual["details"]) == (
        "failed",
        "warning",
        {"columns": ["id"]},
    )
    assert actual["message"] == (
        "column 'id' is the key: anyone with another table that has it can link every record; "
        "the audit needs it, but the published copy must not have it"
    )


@pytest.mark.parametrize(
    ("keys", "policy", "status"),
    [
        (KEYS, {"key": "id"}, "failed"),
        (None, {"key": "id"}, "passed"),
        (None, {"rows_aligned": True}, "passed"),
    ],
)
def test_only_a_key_that_is_released_links(keys: list[str | None] | None, policy: Mapping[str, Any], status: str):
    result = audited(table(keys=keys), table(keys=keys), **policy)

    actual = next(one for one in result.structure if one.check == "linkable_key")
    assert (actual.status.value, actual.observed) == (status, float(status == "failed"))


def test_a_warning_of_the_key_fails_the_audit_only_where_warnings_do():
    original = table(ages=[*AGES[:-1], 99], keys=KEYS)
    expect = [{"sd_interval_disclosure": {"p": 1, "at_most": "0.9"}}]
    result = audited(table(keys=KEYS), original, key="id", expect=expect)

    assert (result.exit_code(), result.exit_code(fail_on_warning=True)) == (0, 1)


def test_records_of_either_table_without_a_partner_are_counted():
    release, original = table(AGES[:4], [*KEYS[:3], f"{MARK}9"]), table(AGES, KEYS)

    outcome = paired(release, original)

    counted = {
        name: outcome.details[name] for name in ("matched", "released_without_original", "originals_not_released")
    }
    assert counted == {"matched": 3, "released_without_original": 1, "originals_not_released": 3}
    assert outcome.observed == 1
    assert outcome.records is not None
    assert outcome.records.total == 3
    assert "Not compared: 3 originals not released, 1 released record without an original." in outcome.message


def test_shuffling_either_table_changes_nothing():
    random = np.random.default_rng(7)
    ages = random.integers(0, 50, 400)
    keys = [f"{MARK}{number}" for number in range(400)]
    original = table(ages.tolist(), keys)
    release = table((ages + random.integers(-4, 5, 400)).tolist(), keys).slice(30)
    policy = {
        "version": 1,
        "key": "id",
        "attributes": ATTRIBUTES,
        "expect": [
            {"rank_interval_disclosure": {"p": [1, 10], "at_most": "1/2"}},
            {"sd_interval_disclosure": {"p": [1, 10]}},
        ],
    }

    def reported(one: pa.Table, other: pa.Table) -> list[Any]:
        return [outcome.as_json() for outcome in audit(one, policy, other).outcomes]

    expected = reported(release, original)
    shuffled_release = release.take(random.permutation(release.num_rows))
    shuffled_original = original.take(random.permutation(400))
    assert 0 < expected[-2]["observed"] < 1
    assert reported(shuffled_release, original) == expected
    assert reported(release, shuffled_original) == expected
    assert reported(shuffled_release, shuffled_original) == expected


def test_shuffling_rows_that_are_said_to_be_aligned_changes_the_answer():
    backwards = table(AGES[::-1])

    assert paired(table(), table(), rows_aligned=True).observed == 1
    assert paired(backwards, table(), rows_aligned=True).observed == 0


@pytest.mark.long
@pytest.mark.parametrize("name", ["large.csv", "large.parquet"])
def test_rows_of_a_large_file_stay_in_their_order(tmp_path: Path, name: str):
    from pyarrow import csv as arrow_csv, parquet

    count = 300_000
    numbers = np.random.default_rng(3).permutation(count)
    large = pa.table({"age": numbers, "zip": np.full(count, "a")})
    if name.endswith("csv"):
        arrow_csv.write_csv(large, tmp_path / name)
    else:
        parquet.write_table(large, tmp_path / name, row_group_size=10_000)

    engine = open_engine(tmp_path / name, 2**30)
    declared = {"age": AttributeDeclaration(role=Role.QUASI_IDENTIFIER, scale=Scale.NUMERIC)}
    (coded,) = code_together([engine], ["age"], declared, Conventions())
    engine.close()

    assert np.array_equal(coded.codes["age"], numbers)
    assert np.array_equal(coded.numbers("age"), numbers.astype(float))


def test_keys_are_compared_as_text_however_they_are_stored():
    ages = pa.array([30.5, 31.0])
    numbers = pa.table({"age": ages, "zip": ["a", "a"], "id": pa.array([7, 1207])})
    texts = pa.table({"age": ages, "zip": ["a", "a"], "id": ["1207", "07"]})

    assert paired(numbers, texts).details["matched"] == 1


def test_integers_are_never_rounded_to_meet_decimal_numbers():
    whole = pa.table({"age": pa.array([2**53 + 1, 5]), "zip": ["a", "a"]})
    decimal = pa.table({"age": pa.array([2.0**53, 5.5]), "zip": ["a", "a"]})

    outcome = paired(decimal, whole, rows_aligned=True)

    assert outcome.status is Status.ERROR
    assert outcome.message.startswith("column 'age' holds integers too large to be compared exactly")


def test_text_has_no_numbers():
    engine = open_engine(table(), 2**28)
    (coded,) = code_together([engine], ["zip"], {}, Conventions())
    engine.close()

    with pytest.raises(CheckError, match="column 'zip' is not numeric"):
        coded.numbers("zip")


@pytest.mark.parametrize("counted", [False, True])
def test_rows_that_outgrow_the_memory_are_refused_before_they_are_read(counted: bool):
    with open_engine(table(), 2**28) as engine:
        records = engine.records
        with pytest.raises(CheckError) as refused:
            code_together([engine, engine], ["zip"], {}, Conventions(), counted=counted, memory=10)
        (coded, _) = code_together([engine, engine], ["zip"], {}, Conventions(), counted=counted, memory=2**20)
    rows = "the distinct rows" if counted else "every record"
    assert str(refused.value) == (
        f"it needs {rows} of release and release at once, about 1 MiB for {2 * records:,}, and 1 MiB may be used; "
        "give more with --memory"
    )
    assert coded.records == records
