"""Cells and columns that are not what the policy says, each decided once for every format."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from small_release import MARK, POLICY, RECORDS, TABLE

HUGE = (
    "column 'age' holds an integer too large to be compared exactly as a number; "
    "if it is a code, declare it `{scale: nominal}`"
)


def _with_ages(*ages: str) -> str:
    extra = [f"{age},{MARK}00,{MARK}flu" for age in ages]
    return "\n".join(["age,zip,disease", *RECORDS, *extra, ""])


def _parquet(ages: pa.Array) -> bytes:
    n = len(ages)
    table = pa.table({"age": ages, "zip": [MARK] * n, "disease": [f"{MARK}{i % 2}" for i in range(n)]})
    sink = io.BytesIO()
    pyarrow.parquet.write_table(table, sink)
    return sink.getvalue()


@pytest.mark.parametrize("text", [f"{MARK}", "inf", "-Infinity", "1_000", "0x10", "1,5 x"])
def test_a_value_that_is_no_finite_number_fails_its_scale(check: Any, text: str) -> None:
    ran = check(_with_ages("31", f'"{text}"', f'"{text}"'))
    assert ran.code == 3
    assert ran.outcome("wrong_scale")["status"] == "failed"
    assert ran.outcome("wrong_scale")["message"] == (
        "column 'age' holds a value that is not a finite number in 2 records, first in record 18 "
        "(a range is written [20, 35), [20, 35[, 20-34, <20, >=65, 65+ or 476**)"
    )
    assert ran.outcome("k_anonymity")["message"] == (
        "cannot be evaluated: column 'age' does not keep its declared scale"
    )


@pytest.mark.parametrize("text", ["[87, 38.248[", "[87; 38.248)", "40-30", "]3, 2]"])
def test_a_range_with_its_ends_swapped_has_a_sentence_of_its_own(check: Any, text: str) -> None:
    ran = check(_with_ages("31", f'"{text}"', f'"{text}"'))
    assert ran.code == 3
    assert ran.outcome("wrong_scale")["message"] == (
        "column 'age' holds a range whose lower end is above its upper end in 2 records, first in record 18"
    )


@pytest.mark.parametrize("text", ["NaN", "nan", "-nan", '""', ""])
def test_nan_in_a_numeric_column_is_a_missing_value(check: Any, text: str) -> None:
    ran = check(_with_ages(text, text))
    assert ran.outcome("wrong_scale")["status"] == "passed"
    assert ran.outcome("k_anonymity")["details"]["distribution"] == [[2, 1, 2], [8, 2, 16]]


def test_stored_nan_is_missing_and_stored_infinity_is_no_number(check: Any) -> None:
    ran = check(_parquet(pa.array([1.0, 1.0, float("nan"), None])), "r.parquet")
    assert ran.outcome("wrong_scale")["status"] == "passed"
    assert ran.outcome("k_anonymity")["observed"] == 2
    ran = check(_parquet(pa.array([1.0, 1.0, 2.0, float("-inf")])), "r.parquet")
    assert ran.code == 3
    assert ran.outcome("wrong_scale")["message"] == (
        "column 'age' holds a value that is not a finite number in 1 record, first in record 4"
    )


def test_an_integer_beyond_64_bits_is_exact_as_a_code_and_refused_as_a_number(check: Any) -> None:
    huge = _with_ages("18446744073709551616", "18446744073709551616")
    ran = check(huge)
    assert (ran.code, ran.outcome("wrong_scale")["message"]) == (3, HUGE)
    nominal = POLICY.replace("scale: numeric", "scale: nominal")
    assert check(huge, "release.csv", nominal).outcome("k_anonymity")["observed"] == 2
    near = _with_ages("18446744073709551616", "18446744073709551617")
    assert check(near, "release.csv", nominal).outcome("k_anonymity")["observed"] == 1


@pytest.mark.parametrize("kind", [pa.uint64(), pa.decimal128(30, 0)], ids=["unsigned 64-bit", "decimal of 30 digits"])
def test_a_stored_integer_beyond_int64_behaves_the_same(check: Any, kind: pa.DataType) -> None:
    ages = pa.array([2**64 - 1, 2**64 - 1, 2**64 - 2, 2**64 - 2], pa.decimal128(30, 0)).cast(kind)
    ran = check(_parquet(ages), "r.parquet")
    assert (ran.code, ran.outcome("wrong_scale")["message"]) == (3, HUGE)
    nominal = check(_parquet(ages), "r.parquet", POLICY.replace("scale: numeric", "scale: nominal"))
    assert (nominal.code, nominal.outcome("k_anonymity")["details"]["distribution"]) == (0, [[2, 2, 4]])


@pytest.mark.parametrize("suffix", ["feather", "parquet"])
def test_decimals_of_more_than_38_digits_are_exact_as_codes_and_refused_as_numbers(check: Any, suffix: str) -> None:
    ages = pa.array([10**60, 10**60, 10**60 + 1, 10**60 + 1], pa.decimal256(70, 0))
    table = pa.table({"age": ages, "zip": [MARK] * 4, "disease": ["a", "b"] * 2})
    sink = io.BytesIO()
    if suffix == "parquet":
        pyarrow.parquet.write_table(table, sink)
    else:
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    ran = check(sink.getvalue(), f"r.{suffix}")
    assert (ran.code, ran.outcome("wrong_scale")["message"]) == (3, HUGE)
    nominal = check(sink.getvalue(), f"r.{suffix}", POLICY.replace("scale: numeric", "scale: nominal"))
    assert (nominal.code, nominal.outcome("k_anonymity")["details"]["distribution"]) == (0, [[2, 2, 4]])


def test_columns_missing_undeclared_and_identifying_are_each_an_outcome(check: Any) -> None:
    content = "age,name,note,disease\n" + f"30,{MARK},{MARK},{MARK}\n" * 4
    policy = POLICY.replace("  zip:", "  name: {role: identifier}\n  zip:")
    ran = check(content, "release.csv", policy)
    assert ran.code == 3
    actual = {name: ran.outcome(name)["details"]["columns"] for name in ran.failed if name.endswith(("s",))}
    assert actual == {
        "missing_columns": ["zip"],
        "undeclared_columns": ["note"],
        "present_identifiers": ["name"],
    }
    assert ran.outcome("missing_columns")["message"] == (
        "the policy declares column 'zip', which the release does not have; correct the policy or the release"
    )
    assert ran.outcome("undeclared_columns")["message"] == (
        "the release has column 'note', which the policy does not declare; declare a role, or remove it before "
        "publication"
    )
    assert ran.outcome("present_identifiers")["message"] == (
        "the release still has column 'name', which identifies people; remove it before publication"
    )
    assert ran.outcome("k_anonymity")["message"] == "cannot be evaluated: column 'zip' is not in the release"


def test_an_undeclared_column_alone_fails_and_does_not_hinder_the_rest(check: Any) -> None:
    header, *records = TABLE.splitlines()
    ran = check("\n".join([f"{header},note", *(f"{record},{MARK}" for record in records)]))
    assert ran.code == 1
    assert ran.failed == ["undeclared_columns"]


def test_an_all_missing_quasi_identifier_is_one_category(check: Any) -> None:
    ran = check("age,zip,disease\n" + "".join(f"30,,{MARK}{i % 2}\n" for i in range(6)))
    assert (ran.code, ran.outcome("k_anonymity")["observed"]) == (0, 6)


def test_an_all_missing_sensitive_attribute_cannot_be_evaluated(check: Any) -> None:
    ran = check("age,zip,disease\n" + f"30,{MARK},\n" * 6)
    assert ran.code == 3
    assert ran.outcome("distinct_l_diversity")["status"] == "error"
    assert ran.outcome("distinct_l_diversity")["message"] == (
        "cannot be evaluated: column 'disease' has no value in any record"
    )


def test_a_class_without_any_sensitive_value_fails(check: Any) -> None:
    ran = check(f"{TABLE}99,{MARK},\n99,{MARK},\n")
    assert ran.code == 1
    outcome = ran.outcome("distinct_l_diversity")
    assert (outcome["observed"], outcome["classes"]) == (0, {"total": 3, "failing": 1})


def test_missing_values_in_every_role(check: Any) -> None:
    policy = POLICY.replace("  disease:", "  note: {role: insensitive}\n  person: {role: insensitive}\n  disease:")
    policy += "unit: person\nconventions: {known_rows: one}\n"
    lines = [f"30,{MARK},a,,1", f"30,{MARK},b,,2", ",,a,,3", f",,b,{MARK},", ",,,,"]
    ran = check("\n".join(["age,zip,disease,note,person", *lines, ""]), "release.csv", policy)
    assert (ran.code, ran.failed) == (
        0,
        ["linked_rows", "without_unit"],
    )  # warnings: two records without a person are one person's
    assert ran.outcome("k_anonymity")["observed"] == 2  # persons 3 and the unknown one
    assert ran.outcome("k_anonymity")["records"]["total"] == 5


def test_leading_zeros_and_texts_that_look_alike_stay_different(check: Any) -> None:
    policy = "version: 1\nattributes: {zip: {role: quasi_identifier}}\nexpect: [k_anonymity: {k: 1}]\n"
    for codes in (["02139", "2139"], ["1", "1.0"], ["x", "x "], ["a", "A"], ["1e3", "1000"]):
        ran = check("zip\n" + "".join(f'"{code}"\n' for code in codes), "release.csv", policy)
        assert ran.outcome("k_anonymity")["classes"]["total"] == 2, codes
        sink = io.BytesIO()
        pyarrow.parquet.write_table(pa.table({"zip": codes}), sink)
        ran = check(sink.getvalue(), "r.parquet", policy)
        assert ran.outcome("k_anonymity")["classes"]["total"] == 2, codes


HOSTILE = [
    "<script>alert(1)</script>",
    "{{7*7}}",
    "{% raw %}",
    "{0}",
    "%s%n",
    '"; DROP TABLE release; --',
    "a;b|c\td",
    "[x](javascript:1)",
    "c0",
    "$.a.b[0]",
    "/a~1b",
    "'",
    "\\",
    "\x1b[31m",
    "x" * 500,
]


def _hostile_csv(name: str) -> str:
    def quoted(text: str) -> str:
        return '"' + text.replace('"', '""') + '"'

    lines = [f"{quoted(name)},disease"]
    lines += [f"{quoted(value)},{disease}" for value in HOSTILE for disease in ("a", "b")]
    return "\n".join([*lines, ""])


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_names_and_values_are_never_code(check: Any, name: str) -> None:
    policy = {
        "version": 1,
        "attributes": {name: {"role": "quasi_identifier"}, "disease": {"role": "sensitive"}},
        "expect": [{"k_anonymity": {"k": 2}}, {"distinct_l_diversity": {"l": 2}}],
    }
    import yaml

    ran = check(_hostile_csv(name), "release.csv", yaml.safe_dump(policy))
    assert (ran.code, ran.failed) == (0, [])
    assert ran.outcome("k_anonymity")["classes"]["total"] == len(HOSTILE)
    undeclared = check(_hostile_csv(name), "release.csv", yaml.safe_dump(policy).replace("disease", "illness"))
    assert undeclared.outcome("undeclared_columns")["details"] == {"columns": ["disease"]}


def test_two_thousand_columns_are_quick(check: Any) -> None:
    names = [f"c{i}" for i in range(2000)]
    roles = ["quasi_identifier"] * 5 + ["sensitive"] * 2 + ["insensitive"] * 1993
    declared = "".join(f"  {name}: {{role: {role}}}\n" for name, role in zip(names, roles, strict=True))
    expect = "  - k_anonymity: {k: 2}\n  - distinct_l_diversity: {l: 2}\n"
    policy = f"version: 1\nattributes:\n{declared}expect:\n{expect}"
    cells = [",".join("ab"[(i >> (j % 3)) & 1] for j in range(2000)) for i in range(64)]
    ran = check("\n".join([",".join(names), *cells, ""]), "release.csv", policy)
    assert ran.outcome("k_anonymity")["observed"] == 8
    assert ran.outcome("k_anonymity")["classes"]["total"] == 8
