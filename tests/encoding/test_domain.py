"""What raw values mean under a policy: which are missing, which are equal, how they are ordered."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.encoding.domain import Domain, Misfit, RawDomain
from tcdp_audit.core.encoding.reading import domain_of
from tcdp_audit.core.policy.model import AttributeDeclaration, Conventions, Role, Scale


def raw(values: list[Any], nulls: int = 0) -> RawDomain:
    """Value number i occurs i + 1 times."""
    kind: Any = object if isinstance(values[0], str) else None
    return RawDomain(np.array(values, dtype=kind), np.arange(1, len(values) + 1), nulls)


def read(
    values: list[Any],
    scale: str | None = None,
    *,
    nulls: int = 0,
    order: list[str] | None = None,
    **conventions: Any,
) -> tuple[Domain, Misfit | None]:
    chosen = None if scale is None else Scale(scale)
    declaration = AttributeDeclaration(role=Role.SENSITIVE, scale=chosen, order=order)
    return domain_of("x", raw(values, nulls), declaration, Conventions(**conventions))


def test_nominal_text_is_compared_unchanged() -> None:
    domain, misfit = read([" a", "02139", "2139", "A", "a"], nulls=2)
    assert domain.values.tolist() == [" a", "02139", "2139", "A", "a"]
    assert (domain.counts.tolist(), domain.missing, misfit) == ([1, 2, 3, 4, 5], 2, None)
    assert domain.label(1) == "02139"
    assert domain.label(domain.size) == "(missing)"


def test_nominal_numbers_are_the_text_that_a_csv_file_would_hold() -> None:
    assert read([-1, 2, 10], "nominal")[0].values.tolist() == ["-1", "10", "2"]
    assert read([-1, 2, 10], "nominal")[0].code_of_raw.tolist() == [0, 2, 1]
    assert read([-0.5, 2.0, 1e22], "nominal")[0].values.tolist() == ["-0.5", "1e+22", "2"]


def test_numbers_that_are_written_differently_are_equal() -> None:
    domain, misfit = read(["+2", "02", "1e1", "2", "2.0"], "numeric")
    assert (domain.values.tolist(), domain.counts.tolist()) == ([2.0, 10.0], [1 + 2 + 4 + 5, 3])
    assert domain.code_of_raw.tolist() == [0, 0, 1, 0, 0]
    assert misfit is None


def test_integers_keep_64_bits() -> None:
    domain, _ = read(["-9223372036854775807", "9007199254740992", "9007199254740993"], "numeric")
    assert domain.values.dtype == np.int64
    assert domain.values.tolist() == [-(2**63) + 1, 2**53, 2**53 + 1]


@pytest.mark.parametrize("values", [["9223372036854775808"], ["9007199254740993", "0.5"]])
def test_integers_that_cannot_be_compared_exactly_are_refused(values: list[str]) -> None:
    with pytest.raises(DataError, match="column 'x' holds an integer too large to be compared exactly"):
        read(values, "numeric")


def test_what_does_not_fit_the_scale_is_missing_and_reported() -> None:
    domain, misfit = read(["1", "1_0", "inf", "x"], "numeric")
    assert misfit is not None
    assert (misfit.raw.tolist(), misfit.reason) == ([1, 2, 3], "a value that is not a finite number")
    assert (domain.values.tolist(), domain.counts.tolist(), domain.missing) == ([1], [1], 9)
    assert domain.code_of_raw.tolist() == [0, 1, 1, 1]


def test_an_order_is_the_domain_observed_or_not() -> None:
    domain, misfit = read(["high", "low", "odd"], "ordinal", order=["low", "middle", "high"])
    assert domain.values.tolist() == ["low", "middle", "high"]
    assert domain.counts.tolist() == [2, 0, 1]
    assert domain.code_of_raw.tolist() == [2, 0, 3]
    assert misfit is not None
    assert (misfit.raw.tolist(), misfit.reason) == ([2], "a value that is not in the declared order")


def test_an_order_of_numbers_reads_stored_numbers() -> None:
    domain, misfit = read([1, 2], "ordinal", order=["2", "1"])
    assert (domain.values.tolist(), domain.counts.tolist(), misfit) == (["2", "1"], [2, 1], None)


@pytest.mark.parametrize("scale", ["nominal", "numeric"])
def test_a_missing_token_is_missing_however_it_is_stored(scale: str) -> None:
    for values in (["-9", "1"], [-9, 1], [-9.0, 1.0]):
        domain, misfit = read(values, scale, nulls=4, missing_tokens=["", "-9"])
        assert (domain.size, domain.counts.tolist(), domain.missing, misfit) == (1, [2], 5, None)


def test_nan_is_missing_in_a_number_and_a_text_in_a_code() -> None:
    assert read(["1", "NaN", "nan"], "numeric")[0].missing == 5
    assert read([1.0, float("nan")], "numeric")[0].missing == 2
    assert read([1.0, float("nan")], "nominal")[0].missing == 2
    assert read(["1", "NaN", "nan"], "nominal")[0].missing == 0


def test_suppressed_tokens_are_detected_among_the_values() -> None:
    domain, _ = read(["*", "a", "suppressed"], suppressed_tokens=["*", "suppressed", "-"])
    assert domain.suppressed == {0, 2}


@given(st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=30, unique=True))
def test_numbers_and_their_texts_are_the_same_domain(numbers: list[int]) -> None:
    stored, _ = read(sorted(numbers), "numeric")
    written, _ = read(sorted(map(str, numbers)), "numeric")
    assert stored.values.tolist() == written.values.tolist() == sorted(numbers)
    assert stored.dtype == written.dtype == np.min_scalar_type(len(numbers))


def test_a_domain_laid_over_a_larger_one() -> None:
    domain, _ = read(["a", "c"], nulls=1)
    larger = domain.recoded_to(np.array(["a", "b", "c"], dtype=object), np.array([0, 2]))
    assert (larger.counts.tolist(), larger.code_of_raw.tolist(), larger.missing) == ([1, 0, 2], [0, 2], 1)
    ordered, _ = read(["high", "low"], "ordinal", order=["low", "middle", "high"])
    assert ordered.recoded_to(ordered.values, np.arange(3)) is ordered
