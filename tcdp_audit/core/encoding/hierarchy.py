"""Value generalisation hierarchies: read from ARX's CSV or nested YAML, checked, and laid over a domain.

A hierarchy is a tree whose leaves are values and whose inner nodes are their generalisations (`20-29`, `476**`,
`>=40`, `*`). All leaves are at one depth under one root. A released value may be a leaf or any inner label; a label
that occurs at several levels is read at the lowest.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from tcdp_audit.core.base.errors import PolicyError, redact_errors
from tcdp_audit.core.base.frozen import FrozenDict, dataclass
from tcdp_audit.core.encoding.keys import freeze_arrays
from tcdp_audit.core.policy.scalars import as_text
from tcdp_audit.core.policy.source import PolicyFault, PolicySourceError, parse_nodes

SHOWN = 5
QUOTED = re.compile(r"""(['"])(.*?)\1""")
Branch = tuple[int, tuple[str, ...]]  # its line, and the labels from leaf to root


@dataclass(frozen=True)
class Hierarchy:
    """A tree of labels.

    Args:
        name: where it was read from.
        branches: for each leaf the labels from leaf to root, all of one length.
    """

    name: str
    branches: tuple[tuple[str, ...], ...]

    @property
    def height(self) -> int:
        """Edges from a leaf to the root."""
        return len(self.branches[0]) - 1

    @cached_property
    def lineage(self) -> Mapping[str, tuple[int, tuple[str, ...]]]:
        """For each label its lowest level (0 is a leaf), and the labels from there up."""
        by_leaf: dict[str, tuple[int, tuple[str, ...]]] = {}
        for level in range(self.height + 1):
            for branch in self.branches:
                by_leaf.setdefault(branch[level], (level, branch[level:]))
        return FrozenDict(by_leaf)

    def over(self, labels: Sequence[str]) -> Tree:
        """For each level and value of a domain the node above it. O(values x height).

        Each value must be a label of the hierarchy (see `unknown`). A released inner label is its own leaf under its
        node.
        """
        ancestors = np.zeros((self.height + 1, len(labels)), dtype=np.int64)
        numbers: list[dict[Any, int]] = [{} for _ in range(self.height + 1)]
        for code, label in enumerate(labels):
            start, upward = self.lineage[label]
            for level in range(self.height + 1):
                # Below its own level a released inner label has a chain of nodes to itself.
                node = (True, upward[level - start]) if level >= start else (False, label)
                ancestors[level, code] = numbers[level].setdefault(node, len(numbers[level]))
        return Tree(ancestors)

    def unknown(self, labels: Sequence[str]) -> list[int]:
        """Positions of the labels that the hierarchy does not have."""
        return [position for position, label in enumerate(labels) if label not in self.lineage]


@dataclass(frozen=True)
class Tree:
    """A hierarchy over a domain of m values.

    Args:
        ancestors: node number at each level, int64, shape (height + 1, m); level 0 are the values, the last the root.
    """

    ancestors: NDArray[np.int64]

    def __post_init__(self) -> None:
        """Lock the matrix."""
        freeze_arrays(self, "ancestors")

    @property
    def height(self) -> int:
        """Edges from a value to the root."""
        return len(self.ancestors) - 1

    def nodes(self, level: int) -> int:
        """The number of nodes that a level has over this domain."""
        return int(self.ancestors[level].max(initial=-1)) + 1


@redact_errors()
def load_hierarchy(source: str | Mapping[str, Any], path: Path | None) -> Hierarchy:
    """Read and check a hierarchy.

    Args:
        source: its name in messages, or an inline nested mapping.
        path: the file: `.yaml`/`.yml` for a nested mapping, anything else for CSV; None for an inline mapping.

    Raises:
        PolicyError: it cannot be read, or is not one tree of one depth; the message names the lines, never a label.
    """
    name = str(source) if path is not None else "the inline hierarchy"
    try:
        branches = list(_nested(source, ())) if path is None else _from_file(path)
    except OSError as error:
        raise PolicyError(f"{name}: the hierarchy cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise PolicyError(f"{name}: the hierarchy is not UTF-8 text (byte {error.start:,}); save it as UTF-8") from None
    except PolicySourceError as fault:
        raise PolicyError("\n".join(f"{name}{_without_labels(one)}" for one in fault.faults)) from None
    faults = list(_faults(branches))
    if faults:
        raise PolicyError("\n".join(f"{name}: {fault}" for fault in faults))
    return Hierarchy(name, tuple(labels for _, labels in branches))


def _without_labels(fault: PolicyFault) -> str:
    """A fault's place and sentence; what it quotes from the file is a label, and may be a cell of the release."""
    place = "".join(f":{number}" for number in (fault.line, fault.column) if number)
    message = QUOTED.sub(lambda match: "a label" if re.search(r"\w", match[2]) else match[0], fault.message)
    return f"{place}: {message}"


def _from_file(path: Path) -> list[Branch]:
    text = path.read_bytes().decode("utf-8-sig")  # line ends stay unchanged: a quoted label may hold one
    return list(_nodes(parse_nodes(text), ())) if path.suffix.lower() in (".yaml", ".yml") else _from_csv(text)


def _from_csv(text: str) -> list[Branch]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    try:
        return [(reader.line_num, tuple(row)) for row in reader if row]
    except csv.Error as error:
        raise PolicySourceError(PolicyFault("", f"not CSV: {error}", reader.line_num)) from None


def _delimiter(text: str) -> str:
    """The semicolon of ARX, or a comma where the first line has no semicolon outside quotes."""
    first = re.sub('"[^"]*"', "", text).lstrip("\r\n").partition("\n")[0]
    return ";" if ";" in first else ","


def _nodes(node: yaml.Node, above: tuple[str, ...]) -> Iterator[Branch]:
    """The branches of a YAML tree: keys are inner nodes, entries of a list are leaves."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _nodes(value, (key.value, *above))
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            yield from _nodes(value, above)
    elif node.value:
        yield node.start_mark.line + 1, (str(node.value), *above)
    else:
        yield node.start_mark.line + 1, above  # a key without children is a leaf


def _nested(data: Any, above: tuple[str, ...]) -> Iterator[Branch]:
    """The branches of an inline mapping."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            yield from _nested(value, (_label(key), *above))
    elif isinstance(data, list | tuple):
        for value in data:
            yield from _nested(value, above)
    else:
        yield 0, above if data is None else (_label(data), *above)


def _label(scalar: Any) -> str:
    """A label as it was typed, so that `02139` keeps its zero."""
    try:
        return str(as_text(scalar))
    except ValueError as error:
        raise PolicySourceError(PolicyFault("", f"a label is no text: {error}")) from None


def _faults(branches: Sequence[Branch]) -> Iterator[str]:
    """The reasons why some branches are not one tree of one depth; lines are named, labels are not."""
    if not branches:
        yield "the hierarchy is empty"
        return
    depth = _commonest([len(labels) for _, labels in branches])
    uneven = [line for line, labels in branches if len(labels) != depth]
    yield from _about_lines(uneven, f"not as deep as the others ({depth} levels)")
    yield from _about_lines([line for line, labels in branches if "" in labels], "an empty label")
    even = [(line, labels) for line, labels in branches if len(labels) == depth]
    root = _commonest([labels[-1] for _, labels in even])
    strays = [line for line, labels in even if labels[-1] != root]
    header = "; if that line is a header, remove it" if strays == [1] and depth > 1 else ""
    yield from _about_lines(strays, f"under another root; a hierarchy has one root{header}")
    if depth < 2 and not strays:
        yield "the hierarchy has a single level; a value needs at least a root above it"
    sound = [(line, labels) for line, labels in even if labels[-1] == root]
    yield from _about_lines(_repeated(sound), "a leaf that is on an earlier line already")
    yield from _about_lines(_torn(sound), "a label whose parent differs from the one on an earlier line")


def _commonest(values: Sequence[Any]) -> Any:
    """The value that occurs most often, the first of them among equals. O(n)."""
    return Counter(values).most_common(1)[0][0]


def _repeated(branches: Sequence[Branch]) -> list[int]:
    seen: set[str] = set()
    return [line for line, labels in branches if labels[0] in seen or seen.add(labels[0])]  # type: ignore[func-returns-value]


def _torn(branches: Sequence[Branch]) -> list[int]:
    parent: dict[tuple[int, str], str] = {}
    lines = []
    for line, labels in branches:
        steps = [((level, labels[level]), labels[level + 1]) for level in range(len(labels) - 1)]
        if any(parent.setdefault(node, above) != above for node, above in steps):
            lines.append(line)
    return lines


def _about_lines(lines: Sequence[int], what: str) -> Iterator[str]:
    if lines:
        listed = ", ".join(str(line) for line in lines[:SHOWN])
        more = f" and {len(lines) - SHOWN:,} more" if len(lines) > SHOWN else ""
        yield f"line{'s' if len(lines) > 1 else ''} {listed}{more}: {what}" if lines[0] else what


def ancestors_of(hierarchy: Hierarchy, labels: Sequence[str]) -> NDArray[np.int64]:
    """The node above each label at each level, shape (height + 1, labels).

    A text that is no label of the hierarchy has a negative number, different from all others, at every level.
    """
    known = [position for position, label in enumerate(labels) if label in hierarchy.lineage]
    ancestors = np.tile(-1 - np.arange(len(labels)), (hierarchy.height + 1, 1))
    ancestors[:, known] = hierarchy.over([labels[position] for position in known]).ancestors
    return ancestors
