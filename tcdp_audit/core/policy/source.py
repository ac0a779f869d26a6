"""A policy file as plain data and as positions: every fault can point at the line that is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, KeysView, Mapping, Sequence
from dataclasses import field
from typing import Any

import yaml

from tcdp_audit.core.base.errors import UsageError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.policy.scalars import OddNumber, TypedFloat, TypedInt, odd_number

DEEPEST = 100
BEYOND = 2**63
TOO_DEEP_FOR_LIBYAML = "exceeded maximum nesting depth"
LEADING_ZERO = re.compile(r"[+-]?0[0-9]+")  # with an 8 or a 9, so that it is not octal either
Location = Sequence[str | int]

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class PolicyFault:
    """One thing that is wrong with a policy, and its place (line and column from 1; 0 is unknown)."""

    location: str
    message: str
    line: int = 0
    column: int = 0


class PolicySourceError(Exception):
    """The text is not a usable YAML document."""

    def __init__(self, *faults: PolicyFault) -> None:
        super().__init__(*faults)
        self.faults = faults


@dataclass(frozen=True)
class PolicySource:
    """A parsed policy text.

    Args:
        data: the plain data.
        root: the text as nodes, each with its place; None for data that a program gave.
        stand_ins: the place of data that are not in the text: (section, entry) to the location that brought them.
        moved: the place in the text of data that are read elsewhere, by the beginning of their location.
    """

    data: Any
    root: yaml.Node | None
    stand_ins: Mapping[tuple[str | int, ...], Location] = field(default_factory=dict)
    moved: Mapping[tuple[str | int, ...], Location] = field(default_factory=dict)

    def written(self, location: Location) -> Location:
        """The location in the text of data that are read elsewhere; any other location as it is."""
        for length in (2, 1):
            if (place := self.moved.get(tuple(location[:length]))) is not None:
                return (*place, *location[length:])
        return location

    def position(self, location: Location) -> tuple[int, int]:
        """Line and column, from 1, of what a location names, or of its nearest parent."""
        node, mark = self.root, self.root.start_mark if self.root is not None else None
        for part in self.stand_ins.get(tuple(location[:2]), self.written(location)):
            if isinstance(node, yaml.MappingNode):
                entry = next(((k, v) for k, v in node.value if k.value == str(part)), None)
                if entry is None:
                    break
                mark, node = entry[0].start_mark, entry[1]
            elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
                node = node.value[part]
                mark = node.start_mark
            else:
                break
        if isinstance(node, yaml.ScalarNode):
            mark = node.start_mark
        return (0, 0) if mark is None else (mark.line + 1, mark.column + 1)


def without(data: Any, location: Location) -> Any:
    """The same data without the entry that a location names, unless it is in a list, where all keep their places."""
    if not location or not isinstance(data, Mapping) or location[0] not in data:
        return data
    part, rest = location[0], location[1:]
    inner = {part: without(data[part], rest)} if rest else {}
    return {**{name: value for name, value in data.items() if name != part}, **inner}


def replaced(data: Any, location: Location, value: Any) -> Any:
    """The same data with another value at a location; data that have no such place stay what they are."""
    if not location:
        return value
    part, rest = location[0], location[1:]
    if isinstance(data, Mapping) and part in data:
        return {**data, part: replaced(data[part], rest, value)}
    if isinstance(data, list) and isinstance(part, int) and part < len(data):
        return [*data[:part], replaced(data[part], rest, value), *data[part + 1 :]]
    return data


def parse_yaml(text: str) -> PolicySource:
    """Read a YAML text as data. Raises PolicySourceError as `parse_nodes` does."""
    root = parse_nodes(text)
    return PolicySource(_construct(root), root)


def parse_nodes(text: str) -> yaml.Node:
    """Read a YAML text as a tree of nodes, each with its place.

    Raises:
        PolicySourceError: no YAML, more than one document, duplicate keys, aliases, merge keys, or nested too deeply.
    """
    try:
        faults = _alias_faults(text)
        root = None if faults else _composed(text)
    except yaml.YAMLError as error:
        raise PolicySourceError(_syntax_fault(error, text)) from None
    faults += [] if root is None else _key_faults(root)
    if faults:
        raise PolicySourceError(*faults)
    if root is None:
        raise PolicySourceError(PolicyFault("", "the file is empty"))
    return root


def _alias_faults(text: str) -> list[PolicyFault]:
    """Aliases, which would make a graph of the tree; stops at a nesting that could break what recurses later."""
    try:
        return list(_alias_faults_of(yaml.parse(text, Loader=_Loader)))
    except yaml.YAMLError as error:
        if getattr(error, "problem", None) != TOO_DEEP_FOR_LIBYAML:
            raise
    # libyaml looks 1024 characters ahead before it gives an event, and newer ones stop at their own limit there
    return list(_alias_faults_of(yaml.parse(text, Loader=yaml.SafeLoader)))


def _alias_faults_of(events: Iterable[Any]) -> Iterator[PolicyFault]:
    depth = 0
    for event in events:
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise PolicySourceError(_fault_at(event, "it is nested too deeply to be a policy"))
        if isinstance(event, yaml.AliasEvent):
            yield _fault_at(event, "aliases (`*name`) are not supported; write the value out")


def _composed(text: str) -> yaml.Node | None:
    loader = _Loader(text)
    try:
        return loader.get_single_node()
    finally:
        loader.dispose()


def _syntax_fault(error: yaml.YAMLError, text: str) -> PolicyFault:
    if isinstance(error, yaml.reader.ReaderError):
        before = text[: error.position].split("\n")
        return PolicyFault("", f"not YAML: {error.reason}", len(before), len(before[-1]) + 1)
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or "the text is not YAML"
    line, column = (0, 0) if mark is None else (mark.line + 1, mark.column + 1)
    return PolicyFault("", f"not YAML: {problem}", line, column)


def _key_faults(node: yaml.Node) -> Iterator[PolicyFault]:
    if isinstance(node, yaml.SequenceNode):
        for value in node.value:
            yield from _key_faults(value)
    if not isinstance(node, yaml.MappingNode):
        return
    first: dict[str, int] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            yield _fault_at(key, "a key must be a plain name")
        elif key.tag == "tag:yaml.org,2002:merge":  # in quotes it is a column's name
            yield _fault_at(key, "merge keys (`<<`) are not supported; write the entries out")
        elif key.value in first:
            yield _fault_at(key, f"{key.value!r} is set here a second time; it was set on line {first[key.value]}")
        else:
            first[key.value] = key.start_mark.line + 1
        yield from _key_faults(value)


def _construct(node: yaml.Node) -> Any:
    if isinstance(node, yaml.MappingNode):
        return {key.value: _construct(value) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [_construct(value) for value in node.value]
    return _scalar(node)


def _scalar(node: Any) -> Any:
    constructor, text = yaml.constructor.SafeConstructor(), str(node.value)
    if node.tag == "tag:yaml.org,2002:int":
        return _integer(node, text)
    if node.tag == "tag:yaml.org,2002:float":
        return _decimal(node, text)
    if node.tag == "tag:yaml.org,2002:bool":
        return constructor.construct_yaml_bool(node)
    if node.tag == "tag:yaml.org,2002:null":
        return None
    if not node.style and LEADING_ZERO.fullmatch(text):
        return odd_number(text, None) or text
    return text  # dates and everything else stay as typed


def _integer(node: Any, text: str) -> Any:
    try:
        number = int(yaml.constructor.SafeConstructor().construct_yaml_int(node))
    except ValueError:  # more digits than Python converts
        number = BEYOND
    if abs(number) >= BEYOND:
        return OddNumber(text, "is too large")
    return odd_number(text, number) or TypedInt(number, text)


def _decimal(node: Any, text: str) -> Any:
    try:
        number = yaml.constructor.SafeConstructor().construct_yaml_float(node)
    except ValueError:  # tagged as a number, and none
        return text
    return odd_number(text, number) or TypedFloat(number, text)


def _fault_at(node: Any, message: str) -> PolicyFault:
    return PolicyFault("", message, node.start_mark.line + 1, node.start_mark.column + 1)


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
