"""Numbers as they were typed: exact fractions, codes with their zeros, and nothing that is no number."""

from __future__ import annotations

import copy
import pickle
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, strategies as st

from tcdp_audit.core.policy.scalars import OddNumber, TypedFloat, TypedInt, as_fraction, as_text, as_version, odd_number


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        (TypedFloat(0.2, "0.2"), Fraction(1, 5)),
        (
            TypedFloat(0.1, "0.1000000000000000055511151231257827"),
            Fraction("0.1000000000000000055511151231257827"),
        ),
        (0.2, Fraction(1, 5)),
        ("3/8", Fraction(3, 8)),
        (" -3/8 ", Fraction(-3, 8)),
        ("1e-3", Fraction(1, 1000)),
        ("+5", Fraction(5)),
        (".5", Fraction(1, 2)),
        (7, Fraction(7)),
        (Decimal("2.50"), Fraction(5, 2)),
        (Fraction(1, 3), Fraction(1, 3)),
        ("1e300", Fraction(10**300)),
        (0, Fraction(0)),
        ("0e-400", Fraction(0)),
    ],
)
def test_a_number_is_the_one_that_was_typed(value: Any, exact: Fraction) -> None:
    assert as_fraction(value) == exact


ENDLESS = [
    "3/0",
    "nan",
    "inf",
    "-Infinity",
    "1e301",
    "1e-301",
    "1e999999999",
    "-1e999999999",
    "1/2/3",
    "",
    "x",
    "0x10",
    "1_000",
    "010",
    "00.5",
    "3/08",
    "٣",
]


@pytest.mark.parametrize("value", [*ENDLESS, float("nan"), float("inf"), "1/" + "9" * 5000])
def test_what_is_no_finite_number(value: Any) -> None:
    with pytest.raises(ValueError, match=r"^must be a finite number$"):
        as_fraction(value)


@pytest.mark.parametrize("value", [True, None, [0.1], {"t": 1}])
def test_what_is_no_number_at_all(value: Any) -> None:
    with pytest.raises(ValueError, match=r"^must be a number$"):
        as_fraction(value)


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9))
def test_every_decimal_is_exact(value: Decimal) -> None:
    assert as_fraction(str(value)) == Fraction(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (TypedInt(1119, "02139"), "02139"),
        (TypedFloat(1.5, "1.50"), "1.50"),
        (7, "7"),
        (0.5, "0.5"),
        ("x", "x"),
    ],
)
def test_a_value_of_a_column_is_the_text_that_was_typed(value: Any, text: str) -> None:
    assert as_text(value) == text


def test_a_boolean_is_no_value_of_a_column() -> None:
    with pytest.raises(ValueError, match="YAML reads this as true or false; put it in quotes"):
        as_text(True)


ODD = {
    "010": ("8 (octal)", 8),
    "-010": ("-8 (octal)", -8),
    "0x1F": ("31 (hexadecimal)", 31),
    "0b101": ("5 (binary)", 5),
    "2:30": ("150 (base 60)", 150),
    "1:30.5": ("90.5 (base 60)", 90.5),
}


@pytest.mark.parametrize("text", ODD)
def test_what_yaml_reads_as_another_number(text: str) -> None:
    read, value = ODD[text]
    odd = odd_number(text, value)
    assert odd is not None
    message = f"must be in plain decimal digits; YAML reads `{text}` as {read}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        as_fraction(odd)
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        as_version(odd)
    assert (as_text(odd), type(as_text(odd))) == (text, str)


@pytest.mark.parametrize(
    ("text", "value", "advice"),
    [
        ("1_000", 1000, "without underscores"),
        ("1_0.5", 10.5, "without underscores"),
        ("08", None, "without the leading zero"),
        ("00.5", 0.5, "without the leading zero"),
    ],
)
def test_digits_that_people_read_in_two_ways(text: str, value: float | None, advice: str) -> None:
    assert odd_number(text, value).fault == f"must be in plain decimal digits; write `{text}` {advice}"


@pytest.mark.parametrize(("text", "value"), [("0", 0), ("10", 10), ("-7", -7), ("0.5", 0.5), (".inf", float("inf"))])
def test_plain_digits_are_not_odd(text: str, value: float) -> None:
    assert odd_number(text, value) is None


@pytest.mark.parametrize("value", [True, 1.0, TypedFloat(1.0, "1.0"), "1", None])
def test_a_version_is_a_whole_number(value: Any) -> None:
    with pytest.raises(ValueError, match="must be the whole number 1"):
        as_version(value)


def test_what_is_no_scalar_is_left_to_the_model() -> None:
    assert as_text([1]) == [1]


@pytest.mark.parametrize("scalar", [TypedInt(7, "07"), TypedFloat(0.2, "0.20"), OddNumber("0x1", "odd")])
def test_a_scalar_is_copied_with_how_it_was_typed(scalar: Any) -> None:
    for one in (copy.deepcopy(scalar), pickle.loads(pickle.dumps(scalar))):  # noqa: S301 - made here
        assert (type(one), one, vars(one) if hasattr(one, "__dict__") else one.fault) == (
            type(scalar),
            scalar,
            vars(scalar) if hasattr(scalar, "__dict__") else scalar.fault,
        )
