"""What a program gives where a policy file has YAML: names, lists, mappings and numbers of Python and of its libraries.

A text is never taken apart into letters, nor a column of a frame into cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, KeysView, Mapping, Sequence
from typing import Any

from tcdp_audit.core.base.errors import UsageError


def plain(value: Any) -> Any:
    """Tuples, arrays and an index as lists, numbers of numpy as Python's, mappings as dictionaries, all through.

    A set has no order and a column of a frame holds cells: they stay what they are, and no policy takes them.
    """
    if isinstance(value, Mapping):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | range | KeysView | Iterator):
        return [plain(one) for one in value]
    return plain(value.tolist()) if hasattr(value, "tolist") and not is_column(value) else value


def is_column(value: Any) -> bool:
    """Whether something is a column of pandas, polars or Arrow: iterating it gives cells."""
    exports = ("__arrow_c_stream__", "__arrow_c_array__")
    return type(value).__name__ == "Series" or any(hasattr(value, method) for method in exports)


def column_names(argument: str, given: Any) -> Sequence[Any]:
    """The columns that an argument names: one by a text, several by a list.

    Raises:
        UsageError: it is something else.
    """
    if isinstance(given, str):
        return [given]
    if is_column(given) or isinstance(given, bytes | Mapping) or not isinstance(given, Iterable):
        raise UsageError(f"{argument}: must be a list of names, not of type {type(given).__name__}")
    names = sorted(given, key=str) if isinstance(given, set | frozenset) else list(plain(iter(given)))
    return [column_name(argument, name) for name in names]


def column_name(argument: str, given: Any) -> str | int:
    """The one column that an argument names. Columns of pandas may be numbered.

    Raises:
        UsageError: it is something else.
    """
    if isinstance(given, bool) or not isinstance(given, str | int):
        raise UsageError(f"{argument}: must be the name of a column, not of type {type(given).__name__}")
    return given
