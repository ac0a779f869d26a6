"""A policy file as plain data and as positions: every fault can point at the line that is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from tcdp_audit.policy.scalars import OddNumber, TypedFloat, TypedInt, odd_number

MOST_NODES = 200_000  # a policy of 2,000 attributes has 10,000; aliases could multiply a few lines without end
SHORT = 10_000  # characters in which no nesting is deep enough to break the parser, which recurses in C
DEEPEST = 100
TOO_DEEP = "it is nested too deeply to be a policy"
BEYOND = 2**63
LEADING_ZERO = re.compile(r"[+-]?0[0-9]+")  # with an 8 or a 9, so that it is not octal either
Location = Sequence[str | int]

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with a policy, and where it stands (line and column from 1; 0 is unknown)."""

    location: str
    message: str
    line: int = 0
    column: int = 0


class SourceFault(Exception):  # noqa: N818 - it carries faults, it is not one
    """The text is not a usable YAML document."""

    def __init__(self, *faults: Fault) -> None:
        super().__init__(*faults)
        self.faults = faults


@dataclass(frozen=True)
class Source:
    """A parsed policy text."""

    data: Any
    root: yaml.Node | None

    def position(self, location: Location) -> tuple[int, int]:
        """Line and column, from 1, of what a location names, or of its nearest parent."""
        node, mark = self.root, self.root.start_mark if self.root is not None else None
        for part in location:
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


def parse(text: str) -> Source:
    """Read a YAML text.

    Raises:
        SourceFault: no YAML, more than one document, duplicate keys, endless or exploding aliases, merge keys.
    """
    try:
        root = _compose(text)
        if root is None:
            raise SourceFault(Fault("", "the file is empty"))
        faults = list(_structure_faults(root))
        if faults:
            raise SourceFault(*faults)
        return Source(_construct(root), root)
    except RecursionError:
        raise SourceFault(Fault("", TOO_DEEP)) from None


def _compose(text: str) -> yaml.Node | None:
    loader = _Loader(text)
    try:
        if len(text) > SHORT:
            _require_shallow(text)
        node: yaml.Node | None = loader.get_single_node()
    except yaml.YAMLError as error:
        raise SourceFault(_syntax_fault(error, text)) from None
    finally:
        loader.dispose()
    return node


def _require_shallow(text: str) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise SourceFault(_fault_at(event, TOO_DEEP))


def _syntax_fault(error: yaml.YAMLError, text: str) -> Fault:
    if isinstance(error, yaml.reader.ReaderError):
        before = text[: error.position].split("\n")
        return Fault("", f"not YAML: {error.reason}", len(before), len(before[-1]) + 1)
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or "the text is not YAML"
    line, column = (0, 0) if mark is None else (mark.line + 1, mark.column + 1)
    return Fault("", f"not YAML: {problem}", line, column)


def _structure_faults(root: yaml.Node) -> Iterator[Fault]:
    if _expanded_size(root, {}, set()) > MOST_NODES:
        yield _fault_at(root, f"its aliases expand to more than {MOST_NODES:,} nodes (or to themselves)")
        return
    seen: set[int] = set()
    pending = [root]
    while pending:
        node = pending.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            yield from _key_faults(node)
            pending += [value for _, value in node.value]
        elif isinstance(node, yaml.SequenceNode):
            pending += node.value


def _key_faults(node: yaml.MappingNode) -> Iterator[Fault]:
    first: dict[str, int] = {}
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode):
            yield _fault_at(key, "a key must be a plain name")
        elif key.value == "<<":
            yield _fault_at(key, "merge keys (`<<`) are not supported; write the entries out")
        elif key.value in first:
            yield _fault_at(key, f"{key.value!r} stands here a second time; it was set on line {first[key.value]}")
        else:
            first[key.value] = key.start_mark.line + 1


def _expanded_size(node: yaml.Node, known: dict[int, int], open_nodes: set[int]) -> int:
    """How many nodes there are once aliases are written out; beyond the limit for an alias to itself."""
    if isinstance(node, yaml.ScalarNode):
        return 1
    if id(node) in open_nodes:
        return MOST_NODES + 1
    if id(node) not in known:
        open_nodes.add(id(node))
        children = [part for pair in node.value for part in pair] if isinstance(node, yaml.MappingNode) else node.value
        known[id(node)] = 1 + sum(_expanded_size(child, known, open_nodes) for child in children)
        open_nodes.discard(id(node))
    return known[id(node)]


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


def _fault_at(node: Any, message: str) -> Fault:
    return Fault("", message, node.start_mark.line + 1, node.start_mark.column + 1)
