"""Change a YAML text so that it says something else and every other character stays: comments, order, quotes, blanks.

The text is not written anew. The marks of the parser say where a key, a value or an entry of a list begins and ends,
and the edit replaces these characters. Where an entry goes, its lines go; a comment on a line of its own stays.

An edit is never trusted. Each result is parsed, and taken only if it says exactly what it should. Where it does not
(a key in an unusual form, a comment in an unexpected place), the collection around the change is written anew, then the
one around that, and at last the whole text. So a text in the usual forms keeps all that a person wrote, and no text
ever means anything else than the data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import zip_longest
from typing import Any

import yaml

from tcdp_audit.api import OddNumber, PolicySourceError, TypedFloat, TypedInt, parse_nodes, parse_yaml
from tcdp_audit.drafting.draft import LONGEST_KEY, scalar
from tcdp_audit.plugin.engine import UsageError

Place = tuple[str | int, ...]
Edit = Callable[[str], str]
ABSENT: Any = object()  # the new value of what is removed
BLOCK = 2  # places in a path up to which new lists and mappings have lines of their own


def with_data(text: str, old: Any, new: Any) -> str:
    """A text that says something else, with as little of it changed as possible.

    Args:
        text: a YAML document.
        old: what it says.
        new: what it is to say: mappings with text keys, lists, texts, numbers, true, false and None.

    Raises:
        UsageError: YAML has no form for it that is read back as the same.

    Cost: the changes times the length of the text.
    """
    for path, value in _changes((), old, new):
        old = changed(old, path, value)
        text = _edited(text, path, value, old)
    return text


def without(text: str, data: Any, path: Place) -> str:
    """A text without what is at a path: the very entry, also where a list has an equal one.

    Args:
        text: a YAML document.
        data: what it says.
        path: the entry.
    """
    return _edited(text, path, ABSENT, changed(data, path, ABSENT))


def text_of(data: Any) -> str:
    """Some data as a YAML text: a line for each key of the two outermost mappings.

    Raises:
        UsageError: YAML has no form for it that is read back as the same.
    """
    return _edited("", (), data, data)


def changed(data: Any, path: Place, value: Any) -> Any:
    """The same data with another value at a path, which may be new in the last of its places; `ABSENT` removes it."""
    if not path:
        return value
    part, rest = path[0], path[1:]
    if isinstance(data, Mapping) or (data is None and isinstance(part, str)):
        data = data or {}
        inner = changed(data.get(str(part)), rest, value)
        others = {name: one for name, one in data.items() if inner is not ABSENT or name != part}
        return others if inner is ABSENT else {**others, str(part): inner}
    place, data = int(part), data or []
    inner = [] if value is ABSENT and not rest else [changed(data[place] if place < len(data) else None, rest, value)]
    return [*data[:place], *inner, *data[place + 1 :]]


def is_same(one: Any, other: Any) -> bool:
    """Whether two data are equal to the types of their scalars and the spelling of their numbers."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(is_same(value, other[name]) for name, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    kinds = (bool, int, float, str)
    return bool(one == other) and [isinstance(one, kind) for kind in kinds] == [isinstance(other, k) for k in kinds]


def _changes(path: Place, old: Any, new: Any) -> Iterator[tuple[Place, Any]]:
    """The smallest changes that lead from some data to others, in an order in which each can be made."""
    if isinstance(old, Mapping) and isinstance(new, Mapping) and new:
        for name in old.keys() - new.keys():
            yield (*path, name), ABSENT
        for name, value in new.items():
            yield from _changes((*path, name), old[name], value) if name in old else [((*path, name), value)]
    elif isinstance(old, list) and isinstance(new, list) and new:
        if len(new) < len(old):  # the entry that went, and not every entry behind it
            first = next((n for n, one in enumerate(new) if not is_same(old[n], one)), len(new))
            yield (*path, first), ABSENT
            yield from _changes(path, [*old[:first], *old[first + 1 :]], new)
            return
        for place, (was, now) in enumerate(zip_longest(old, new, fillvalue=ABSENT)):
            yield from _changes((*path, place), was, now) if was is not ABSENT else [((*path, place), now)]
    elif not is_same(old, new):
        yield path, new


def _edited(text: str, path: Place, value: Any, data: Any) -> str:
    """The text after one change, by the narrowest edit after which it says these data."""
    for edit in _edits(path, value, data):
        try:
            candidate = edit(text)
            if is_same(parse_yaml(candidate).data, data):
                return candidate
        except (PolicySourceError, _NoPlaceError):
            continue
    raise UsageError("the policy: a value or a name has no form in YAML that is read back as the same")


def _edits(path: Place, value: Any, data: Any) -> Iterator[Edit]:
    """The edit of the change itself, then those that write a larger and larger part of the text anew."""
    if path:
        yield lambda text: _removed(text, path) if value is ABSENT else _placed(text, path, value)
    for length in range(len(path) - 1, 0, -1):
        outer, inner = path[:length], data
        for part in outer:
            inner = inner[part]
        yield lambda text, outer=outer, inner=inner: _placed(text, outer, inner)  # type: ignore[misc]
    yield lambda _: "\n".join([*_lines(data, "", 0), ""])


class _NoPlaceError(Exception):
    """The text has no place of the usual form for an edit."""


def _placed(text: str, path: Place, value: Any) -> str:
    """The text with a value at a path: in the place of another one, or behind the last entry."""
    *outer, last = path
    parent, _ = _node(text, outer)
    if isinstance(parent, yaml.MappingNode):
        at = next((n for n, (key, _) in enumerate(parent.value) if key.value == last), None)
        return _appended(text, path, parent, value) if at is None else _replaced(text, path, value)
    if isinstance(parent, yaml.SequenceNode) and isinstance(last, int):
        return _replaced(text, path, value) if last < len(parent.value) else _appended(text, path, parent, value)
    raise _NoPlaceError


def _replaced(text: str, path: Place, value: Any) -> str:
    node, end = _node(text, path)
    begin = node.start_mark.index
    if (
        isinstance(node, yaml.CollectionNode)
        and not node.flow_style
        and not text[_line_begin(text, begin) : begin].strip()
    ):
        text = _without_lines(text, begin, end)  # the lines below a key, which can be no deeper than the key itself
        end = begin = _node(text, path)[1]
    if begin < end:
        return text[:begin] + _inline(value) + text[end:]
    if len(path) < BLOCK and isinstance(value, Mapping | list) and value:  # nothing was there but the key
        close, feed = _line_end(text, end), _feed(text)
        lines = _lines(value, "  ", len(path))
        return text[:close] + "".join(f"{feed}{line}" for line in lines) + text[close:]
    return f"{text[:end]} {_inline(value)}{text[end:]}"


def _appended(text: str, path: Place, parent: Any, value: Any) -> str:
    """The text with a new last entry of a mapping or of a list."""
    begin, end = parent.start_mark.index, _node(text, path[:-1])[1]
    key = path[-1] if isinstance(parent, yaml.MappingNode) else None
    if not parent.value:
        return text[:begin] + _inline([value] if key is None else {key: value}) + text[end:]
    end = _end_of_entry(text, parent, len(parent.value) - 1)
    if parent.flow_style:
        return f"{text[:end]}, {_inline([value] if key is None else {key: value})[1:-1]}{text[end:]}"
    first = _first_of(text, parent, 0)
    indent = " " * (first - _line_begin(text, first))
    entry = {key: value} if key is not None else [value]
    close, feed = _line_end(text, end), _feed(text)
    return text[:close] + "".join(f"{feed}{line}" for line in _lines(entry, indent, len(path) - 1)) + text[close:]


def _removed(text: str, path: Place) -> str:
    """The text without the entry at a path: with its lines, where it has lines of its own."""
    parent, _ = _node(text, path[:-1])
    place = _place_in(parent, path[-1])
    if len(parent.value) == 1:
        return _replaced(text, path[:-1], {} if isinstance(parent, yaml.MappingNode) else [])
    begin, end = _first_of(text, parent, place), _end_of_entry(text, parent, place)
    if not parent.flow_style:
        return _without_lines(text, begin, end)
    if comma := re.compile(r"[ \t\r\n]*,[ \t]*").match(text, end):
        is_line = not text[_line_begin(text, begin) : begin].strip()
        if is_line and text[comma.end() : comma.end() + 1] in ("#", "\r", "\n", ""):
            return _without_lines(text, begin, comma.end())
        return text[:begin] + text[comma.end() :]
    before = _end_of_entry(text, parent, place - 1) if place else begin
    if re.fullmatch(r"[ \t\r\n]*,[ \t\r\n]*", text[before:begin]):
        return text[:before] + text[end:]
    return text[:begin] + text[end:]  # a comment is between the entries: their comma stays, as YAML allows


def _without_lines(text: str, begin: int, end: int) -> str:
    """The text without a part and what follows it on its last line, and without the line if nothing else was on it."""
    first, close = _line_begin(text, begin), _line_end(text, end)
    if text[first:begin].strip():
        return text[:begin].rstrip(" \t") + text[close:]
    feed = re.compile(r"\r?\n").match(text, close)
    return text[:first] + text[close if feed is None else feed.end() :]


def _node(text: str, path: Sequence[str | int]) -> tuple[Any, int]:
    """The node at a path, and where its last character is: a node's own mark may be behind comments that follow it."""
    node, end = parse_nodes(text), None
    for part in path:
        place = _place_in(node, part)
        end = _end_of_entry(text, node, place)
        node = node.value[place] if isinstance(node, yaml.SequenceNode) else node.value[place][1]
    return node, _end(text, node) if end is None else end


def _place_in(node: Any, part: str | int) -> int:
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return part
    names = [key.value for key, _ in node.value] if isinstance(node, yaml.MappingNode) else []
    if part not in names:
        raise _NoPlaceError
    return names.index(part)


def _end(text: str, node: Any) -> int:
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        return _end_of_entry(text, node, len(node.value) - 1)
    end = int(node.end_mark.index)
    return len(text[:end].rstrip()) if getattr(node, "style", None) in ("|", ">") else end


def _end_of_entry(text: str, node: Any, place: int) -> int:
    return _end(text, node.value[place] if isinstance(node, yaml.SequenceNode) else node.value[place][1])


def _first_of(text: str, node: Any, place: int) -> int:
    """The position of an entry: of a key, an entry of a flow list, or the dash before one of a block list."""
    if isinstance(node, yaml.MappingNode):
        return int(node.value[place][0].start_mark.index)
    begin = int(node.value[place].start_mark.index)
    if node.flow_style:
        return begin
    head = text[:begin].rstrip()
    while (line := head[_line_begin(head, len(head)) :]).lstrip().startswith("#"):
        head = head[: -len(line)].rstrip()
    dash = re.search(r"-(?:[ \t]+#.*)?\Z", line)
    if dash is None:
        raise _NoPlaceError
    return len(head) - len(line) + dash.start()


def _line_begin(text: str, index: int) -> int:
    return text.rfind("\n", 0, index) + 1


def _line_end(text: str, index: int) -> int:
    """The position where a line ends, before its line feed."""
    end = text.find("\n", index)
    end = len(text) if end < 0 else end
    return end - 1 if text[index:end].endswith("\r") else end


def _feed(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _lines(value: Any, indent: str, depth: int) -> Iterator[str]:
    """A mapping or a list with a line for each entry, down to a depth; below it each is on one line."""
    if not isinstance(value, Mapping | list) or not value:
        yield indent + _inline(value)
        return
    for name, one in value.items() if isinstance(value, Mapping) else enumerate(value):
        head = "-" if isinstance(value, list) else f"{scalar(str(name))}:"
        if isinstance(value, Mapping) and len(head) > LONGEST_KEY:
            yield from (f"{indent}? {head[:-1]}", f"{indent}: {_inline(one)}")
        elif isinstance(value, Mapping) and depth + 1 < BLOCK and _has_lines(one):
            yield f"{indent}{head}"
            yield from _lines(one, f"{indent}  ", depth + 1)
        elif isinstance(value, list) and isinstance(one, Mapping) and len(one) == 1:
            yield f"{indent}- {next(_lines(one, '', BLOCK))}"
        else:
            yield f"{indent}{head} {_inline(one)}"


def _has_lines(value: Any) -> bool:
    """Whether a person would write it on several lines: a mapping, or a list of such; not a list of names."""
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return bool(value) and (isinstance(value, Mapping) or any(isinstance(one, Mapping | list) for one in inner))


def _inline(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{scalar(str(name))}: {_inline(one)}" for name, one in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_inline, value))}]"
    if isinstance(value, TypedInt | TypedFloat):
        return value.text
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, float):
        digits = f"{Decimal(repr(value)):f}"
        return digits if "." in digits else f"{digits}.0"
    return str(value) if isinstance(value, int | OddNumber) else scalar(value)
