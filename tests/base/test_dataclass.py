"""Our own `dataclass` makes classes that nobody can tell from those of the standard library."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field, fields, replace
from functools import cached_property
from typing import Any

import pytest

from tcdp_audit.core.base import frozen as module

ours: Callable[..., Any] = module.dataclass
BOTH = pytest.mark.parametrize("dataclass", [ours, dataclasses.dataclass], ids=["ours", "standard"])


def point(dataclass: Callable[..., Any], **parameters: Any) -> Any:
    class Point:
        """A point."""

        x: int
        y: float = 0.5
        names: list[str] = field(default_factory=list, repr=False)
        seen: int = field(default=3, init=False)
        self_made: dict[str, int] = field(default_factory=dict, init=False, compare=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "post", self.x)

        @cached_property
        def double(self) -> int:
            return 2 * self.x

    return dataclass(frozen=True, **parameters)(Point)


@ours(frozen=True)
class Place:
    """A place, which pickle finds."""

    name: str
    parts: tuple[Place, ...] = ()


@BOTH
@pytest.mark.parametrize("kw_only", [False, True])
def test_it_is_made_compared_and_shown(dataclass: Callable[..., Any], kw_only: bool):
    point_class = point(dataclass, kw_only=kw_only)
    one, other = point_class(x=1), point_class(x=1, names=["a"])
    assert repr(one) == f"{point_class.__qualname__}(x=1, y=0.5, seen=3, self_made={{}})"
    assert (one == point_class(x=1), one == other, one == (1, 0.5, [], 3), one.post, one.double) == (
        True,
        False,
        False,
        1,
        2,
    )
    assert one.__eq__(1) is NotImplemented
    assert point_class(x=1).names is not one.names
    assert replace(one, y=2).y == 2
    assert dataclasses.asdict(one) == {"x": 1, "y": 0.5, "names": [], "seen": 3, "self_made": {}}
    assert copy.deepcopy(other) == other
    assert [each.name for each in fields(point_class)] == ["x", "y", "names", "seen", "self_made"]
    star = "*, " if kw_only else ""
    written = f"({star}x: 'int', y: 'float' = 0.5, names: 'list[str]' = <factory>) -> None"
    assert str(inspect.signature(point_class)) == written
    assert point_class.__match_args__ == (() if kw_only else ("x", "y", "names"))
    assert point_class.__init__.__qualname__ == f"{point_class.__qualname__}.__init__"


@BOTH
def test_hashes_are_those_of_the_compared_fields(dataclass: Callable[..., Any]):
    assert hash(point(dataclass)(1, 2.0, ())) == hash((1, 2.0, (), 3))

    @dataclass(frozen=True)
    class Single:
        x: float

    nan = float("nan")
    assert Single(nan) == Single(nan)  # the same object, as in a tuple
    assert hash(Single(2)) == hash((2,))

    @dataclass(frozen=True)
    class Nothing:
        pass

    assert (Nothing() == Nothing(), repr(Nothing()).split(".")[-1], hash(Nothing())) == (True, "Nothing()", hash(()))


@BOTH
def test_no_field_changes_and_a_class_that_derives_may_have_more(dataclass: Callable[..., Any]):
    point_class = point(dataclass)
    one = point_class(1)
    for name in ("x", "other"):
        with pytest.raises(FrozenInstanceError, match=f"cannot assign to field '{name}'"):
            setattr(one, name, 2)
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'x'"):
        del one.x

    class More(point_class):
        pass

    more = More(1)
    more.other = 5
    del more.other
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        more.x = 2
    assert more != one


@BOTH
def test_what_a_class_defines_itself_stays(dataclass: Callable[..., Any]):
    @dataclass(frozen=True)
    class Own:  # noqa: PLW1641 - whether it gets a hash is tested
        x: int

        def __repr__(self) -> str:
            return "own"

        def __eq__(self, other: object) -> bool:
            return True

    assert (repr(Own(1)), Own(1) == Own(2), hash(Own(1))) == ("own", True, hash((1,)))

    @dataclass(frozen=True, eq=False, repr=False)
    class Identity:
        x: int

    one = Identity(1)
    assert one != Identity(1)
    assert (hash(one), repr(one)) == (object.__hash__(one), object.__repr__(one))


@pytest.mark.parametrize("base", [ours, dataclasses.dataclass], ids=["ours", "standard"])
@pytest.mark.parametrize("derived", [ours, dataclasses.dataclass], ids=["ours", "standard"])
def test_one_derives_from_the_other(base: Callable[..., Any], derived: Callable[..., Any]):
    point_class = point(base)

    @derived(frozen=True, kw_only=True)
    class Solid(point_class):
        z: int
        y: float = 7

    one = Solid(1, z=2)
    assert repr(one).endswith("Solid(x=1, y=7, seen=3, self_made={}, z=2)")
    assert (one == Solid(1, z=2), one == Solid(1, z=3)) == (True, False)
    with pytest.raises(FrozenInstanceError):
        one.z = 3
    with pytest.raises(TypeError, match="cannot inherit non-frozen dataclass from a frozen one"):
        derived(type("Open", (point_class,), {}))


@BOTH
def test_a_missing_or_unknown_argument_is_reported_alike(dataclass: Callable[..., Any]):
    point_class = point(dataclass)
    with pytest.raises(TypeError, match=r"Point\.__init__\(\) missing 1 required positional argument: 'x'"):
        point_class()
    with pytest.raises(TypeError, match="unexpected keyword argument 'seen'"):
        point_class(1, seen=2)


def test_it_is_pickled_and_shows_itself_within_itself():
    place = Place("town", (Place("street"),))
    assert pickle.loads(pickle.dumps(place)) == place  # noqa: S301 - it was made here
    object.__setattr__(place, "parts", (place,))
    assert repr(place) == "Place(name='town', parts=(...,))"


def test_other_parameters_are_those_of_the_standard_library():
    @ours(frozen=True, order=True)
    class Ordered:
        x: int

    @ours
    class Open:
        x: int

    one = Open(1)
    one.x = 2
    assert (Ordered(1) < Ordered(2), one) == (True, Open(2))
    assert Open.__hash__ is None
