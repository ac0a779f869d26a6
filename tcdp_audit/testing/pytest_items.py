"""One pytest item for each property of some specifications."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tcdp_audit.testing.conformance import ConformanceError, Property
from tcdp_audit.testing.suites import properties_of

if TYPE_CHECKING:
    import pytest

NOTHING: Mapping[str, Any] = {}


def parametrize_with_properties(
    specifications: Iterable[Any],
    *,
    parameters: Mapping[str, Mapping[str, Any]] = NOTHING,
    expected_failures: Mapping[str, Mapping[str, str]] = NOTHING,
) -> pytest.MarkDecorator:
    """Give a test each property of some specifications in turn, as the argument `conforms`, to be called.

    Args:
        specifications: what hooks yield.
        parameters: by the name of a specification, parameters that the suite cannot guess; see `check_conforms`.
        expected_failures: by the name of a specification, properties that it lacks and why. They are reported as
            expected failures; one that holds after all fails the test.

    Raises:
        ValueError: a name there is that of no specification or of no property.
    """
    import pytest  # noqa: PLC0415 - the suite works without it

    every = {one.name: properties_of(one, parameters.get(one.name)) for one in specifications}
    for mistake in _misnamed(every, parameters, expected_failures):
        raise ValueError(mistake)
    items = []
    for name, properties in every.items():
        for one in properties:
            reason = expected_failures.get(name, {}).get(one.name)
            marks = () if reason is None else pytest.mark.xfail(reason=reason, strict=True, raises=ConformanceError)
            items.append(pytest.param(one, id=f"{name}-{one.name}", marks=marks))
    return pytest.mark.parametrize("conforms", items)


def _misnamed(
    every: Mapping[str, list[Property]],
    parameters: Mapping[str, Any],
    expected_failures: Mapping[str, Mapping[str, str]],
) -> Iterator[str]:
    for name in (*parameters, *expected_failures):
        if name not in every:
            yield f"{name!r} is none of the specifications: {', '.join(every)}"
    for name, expected in expected_failures.items():
        there = [one.name for one in every[name]]
        for property_ in expected:
            if property_ not in there:
                yield f"{property_!r} is no property of {name!r}; it has {', '.join(there)}"
