"""Numbers beyond float64: compared exactly, or refused with a sentence; never two different ones as one."""

from __future__ import annotations

import io
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from pyarrow import parquet

from tcdp_audit import DataError, audit
from tcdp_audit.core.encoding.domain import RawDomain
from tcdp_audit.core.encoding.reading import domain_of
from tcdp_audit.core.policy.model import AttributeDeclaration, Conventions, Role, Scale

REFUSED = (
    "column 'x' holds numbers that are different and too close, or too many digits long, to be distinguished as 64-bit "
    "floating point; round them, or declare `{scale: nominal}`"
)
MERGED = {
    "decimals of 17 digits": ("12345678901234567.1", "12345678901234567.9"),
    "18 decimals": ("0.123456789012345678", "0.123456789012345679"),
    "integers as decimals": ("9007199254740992.0", "9007199254740993.0"),
    "underflow": ("1e-400", "0"),
    "underflow of two": ("1e-400", "2e-400"),
    "beyond the shortest decimal": ("0.1", "0.1000000000000000055"),
    "beside an integer": ("1", "1.00000000000000000001"),
    "with an interval in the column": ("0.123456789012345678", "0.123456789012345679", "[1, 2)"),
    "an exponent of many digits": ("1", f"0.0e-{'9' * 30}"),
}


def _policy(scale: str = "numeric", **more: Any) -> dict[str, Any]:
    attributes = {"x": {"role": "quasi_identifier", "scale": scale}}
    return {"version": 1, "attributes": attributes, "expect": [{"k_anonymity": {"k": 2}}], **more}


def _csv(path: Path, *texts: str) -> Path:
    path.write_text("\n".join(["x", *(f'"{text}"' for text in texts), ""]), encoding="utf-8")
    return path


def _refused(release: Any, policy: dict[str, Any]) -> str:
    result = audit(release, policy)
    assert result.status == "error"
    return next(one.message for one in result.outcomes if one.check == "wrong_scale")


@pytest.mark.parametrize("texts", MERGED.values(), ids=MERGED)
def test_numbers_that_float64_would_merge_are_refused(tmp_path: Path, texts: tuple[str, ...]) -> None:
    assert _refused(_csv(tmp_path / "r.csv", *texts), _policy()) == REFUSED
    nominal = audit(_csv(tmp_path / "r.csv", *texts), _policy("nominal"))
    assert nominal.expectations[0].observed == 1


@pytest.mark.parametrize("kind", [pa.decimal128(38, 18), pa.decimal256(60, 18)], ids=str)
@pytest.mark.parametrize("texts", [("0.123456789012345678", "0.123456789012345679"), ("1", "1.000000000000000001")])
def test_stored_decimals_that_float64_would_merge_are_refused(kind: pa.DataType, texts: tuple[str, str]) -> None:
    table = pa.table({"x": pa.array([Decimal(text) for text in texts * 2], kind)})
    file = io.BytesIO()
    parquet.write_table(table, file)
    assert _refused(table, _policy()) == REFUSED
    assert audit(table, _policy("nominal")).expectations[0].observed == 2


RETAINED = {
    "the same number in several ways": (["1.1", "1.10", "+1.1", "11e-1", "1.10000000000000000000"], 1),
    "np.savetxt": ([f"{value:.18e}" for value in (0.1, 0.2, 0.1 + 0.2)], 3),
    "many digits of different floats": (["0.12345678901234567891", "0.12345678901234599999"], 2),
    "shortest decimals": (["0.30000000000000004", "0.3", "1e22", "1.7976931348623157e308", "5e-324"], 5),
}


@pytest.mark.parametrize("case", RETAINED)
def test_numbers_that_float64_distinguishes_are_compared(tmp_path: Path, case: str) -> None:
    texts, classes = RETAINED[case]
    outcome = audit(_csv(tmp_path / "r.csv", *texts), _policy()).expectations[0]
    assert outcome.as_json()["classes"]["total"] == classes


DIGITS = st.text("0123456789", min_size=1, max_size=22)
NUMBERS = st.builds(
    lambda sign, whole, part, power: f"{sign}{whole}.{part}{power}",
    st.sampled_from(["", "-", "+"]),
    st.sampled_from(["0", "1", "9007199254740992", "12345678901234567"]),
    st.one_of(DIGITS, st.sampled_from(["0", "1", "10", "10000000000000000000001"])),
    st.sampled_from(["", "e0", "e-1", "E+1", "e-330"]),
)


@given(st.lists(NUMBERS, min_size=1, max_size=6, unique=True))
def test_no_two_different_numbers_have_one_code(texts: list[str]) -> None:
    raw = RawDomain(np.array([*sorted(texts), None], object)[:-1], np.ones(len(texts), dtype=np.int64), 0)
    declaration = AttributeDeclaration(role=Role.SENSITIVE, scale=Scale.NUMERIC)
    exact = [Fraction(text) for text in sorted(texts)]
    merges = len({float(number) for number in exact}) < len(set(exact))
    if merges:
        with pytest.raises(DataError):
            domain_of("x", raw, declaration, Conventions())
    else:
        codes = domain_of("x", raw, declaration, Conventions())[0].code_of_raw.tolist()
        rank = {number: code for code, number in enumerate(sorted(set(exact)))}
        assert codes == [rank[number] for number in exact]


BESIDE = (
    "column 'x' holds numbers that differ from those of another table only beyond the digits of 64-bit floating "
    "point; round both alike, or declare `scale: nominal`"
)


CLOSE = _policy(
    attributes={"q": {"role": "quasi_identifier", "scale": "nominal"}, "x": {"role": "sensitive", "scale": "numeric"}},
    expect=[{"t_closeness": {"t": 0.5, "distance": "ordered"}}],
    conventions={"reference": "original"},
)
LINKED = {**CLOSE, "expect": [{"exact_match_rate": {"at_most": 0.5}}], "conventions": {}, "rows_aligned": True}
LINKED["attributes"] = {name: {**one, "role": "quasi_identifier"} for name, one in CLOSE["attributes"].items()}


def _messages(release: pa.Table, policy: dict[str, Any], original: pa.Table) -> list[str]:
    result = audit(release, policy, original=original)
    assert result.status == "error"
    return [one.message for one in result.outcomes]


@pytest.mark.parametrize(
    "pair", [("9007199254740993.0", "9007199254740992.0"), ("0.1000000000000000055", "0.1"), ("1e-400", "2e-400")]
)
@pytest.mark.parametrize("places", [(0, 1), (1, 0)])
def test_numbers_of_two_tables_are_not_merged_either(pair: tuple[str, str], places: tuple[int, int]) -> None:
    released, original = (pa.table({"q": ["a", "a"], "x": [pair[place], "7.5"]}) for place in places)
    assert BESIDE in _messages(released, CLOSE, original)
    assert any(BESIDE in message for message in _messages(released, LINKED, original))


def test_large_integers_beside_decimals_of_the_reference_are_refused() -> None:
    released = pa.table({"q": ["a", "a"], "x": [2**53 + 1, 2**53]})
    original = pa.table({"q": ["a", "a"], "x": [2.0**53, 0.5]})
    start = "column 'x' holds integers too large to be compared exactly"
    assert any(message.startswith(start) for message in _messages(released, CLOSE, original))


@pytest.mark.parametrize("text", ["１２", "١٢", "१२", "1２", "12\u00a0", "[१, २]", "１-２", ">=१"])
def test_digits_of_other_scripts_are_no_numbers(tmp_path: Path, text: str) -> None:
    result = audit(_csv(tmp_path / "r.csv", "12", text), _policy())
    message = next(one.message for one in result.outcomes if one.check == "wrong_scale")
    assert (result.status, "in 1 record, first in record 2" in message) == ("error", True)
