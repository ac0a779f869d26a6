"""Types of arrays, and arrays that cannot be written to. Those in evidence are shared by every check.

They are apart from frozen mappings, since a command's help imports those and must not import numpy.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[Any]  # int64, or Python integers (dtype object) where 64 bits are too few


def frozen_array(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only view, not a copy, of an array that is locked as well, with whatever it is a view of.

    numpy lets whoever holds the owner of some memory unlock it again. So the view is of a read-only buffer: neither
    `setflags(write=True)` nor writing to `.base` is possible.

    Cost: some microseconds, whatever the size.
    """
    if isinstance(array.base, memoryview) and not array.flags.writeable:
        return array
    shared: Any = array
    owner = shared
    while isinstance(owner, np.ndarray):
        owner.setflags(write=False)
        owner = owner.base
    try:
        return np.asarray(memoryview(shared).toreadonly())
    except ValueError:  # dates have no buffer
        return array.view()


def freeze_arrays(record: object, *names: str) -> None:
    """Freeze some fields of a frozen dataclass, arrays or None, while it is made."""
    for name in names:
        array = getattr(record, name)
        if isinstance(array, np.ndarray):
            object.__setattr__(record, name, frozen_array(array))


def frozen_arrays(value: Any) -> Any:
    """A value with the arrays that it is, or has as a tuple or a frozen dataclass, frozen."""
    if isinstance(value, np.ndarray):
        return frozen_array(value)
    if type(value) is tuple:
        return tuple(frozen_arrays(one) for one in value)
    if is_dataclass(value):
        freeze_arrays(value, *(one.name for one in fields(value)))
    return value
