"""Value generalisation hierarchies: read from ARX's CSV or nested YAML, checked, and laid over a domain.

A hierarchy is a tree whose leaves are values and whose inner nodes are their generalisations (`20-29`, `476**`,
`*`). All leaves stand at one depth under one root. A released value may be a leaf or any inner label.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from tcdp_audit.errors import PolicyError
from tcdp_audit.policy.source import SourceFault, parse

SHOWN = 5
Branch = tuple[int, tuple[str, ...]]  # the line it stands on, and the labels from leaf to root


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
        """For each label the lowest level it stands at (0 is a leaf), and the labels from there up."""
        found: dict[str, tuple[int, tuple[str, ...]]] = {}
        for level in range(self.height + 1):
            for branch in self.branches:
                found.setdefault(branch[level], (level, branch[level:]))
        return found

    def over(self, labels: Sequence[str]) -> Tree:
        """The hierarchy laid over a domain.

        Args:
            labels: the domain's values; each must be a label of the hierarchy (see `unknown`).

        Returns:
            For each level and value the node above it. A released inner label is its own leaf under its node.

        Cost: O(values x height).
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

    @property
    def height(self) -> int:
        """Edges from a value to the root."""
        return len(self.ancestors) - 1

    def nodes(self, level: int) -> int:
        """How many nodes a level has over this domain."""
        return int(self.ancestors[level].max(initial=-1)) + 1


def load_hierarchy(source: str | Mapping[str, Any], path: Path | None) -> Hierarchy:
    """Read and check a hierarchy.

    Args:
        source: its name in messages, or an inline nested mapping.
        path: the file: `.yaml`/`.yml` for a nested mapping, anything else for CSV; None for an inline mapping.

    Raises:
        PolicyError: it cannot be read, or is not one tree of one depth; the message names the lines.
    """
    name = str(source) if path is not None else "the inline hierarchy"
    try:
        if path is None:
            branches = list(_nested(source, (), 0))
        elif path.suffix.lower() in (".yaml", ".yml"):
            branches = _from_yaml(path.read_text(encoding="utf-8-sig"))
        else:
            branches = _from_csv(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise PolicyError(f"{name}: the hierarchy cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise PolicyError(f"{name}: the hierarchy is not UTF-8 text; save it as UTF-8") from None
    except SourceFault as fault:
        first = fault.faults[0]
        raise PolicyError(f"{name}:{first.line}:{first.column}: {first.message}") from None
    faults = list(_faults(branches))
    if faults:
        raise PolicyError("\n".join(f"{name}: {fault}" for fault in faults))
    return Hierarchy(name, tuple(branch for _, branch in branches))


def _from_csv(text: str) -> list[Branch]:
    delimiter = ";" if ";" in text else ","
    reader = csv.reader(text.splitlines(), delimiter=delimiter)
    return [(reader.line_num, tuple(row)) for row in reader if row]


def _from_yaml(text: str) -> list[Branch]:
    root = parse(text).root
    assert root is not None  # noqa: S101 - an empty text is a fault of `parse`
    return list(_nodes(root, ()))


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


def _nested(data: Any, above: tuple[str, ...], line: int) -> Iterator[Branch]:
    """The branches of an inline mapping."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            yield from _nested(value, (str(key), *above), line)
    elif isinstance(data, list):
        for value in data:
            yield from _nested(value, above, line)
    else:
        leaf = getattr(data, "text", data)
        yield line, above if leaf is None else (str(leaf), *above)


def _faults(branches: Sequence[Branch]) -> Iterator[str]:
    """Why some branches are not one tree of one depth; lines are named, labels are not."""
    if not branches:
        yield "the hierarchy is empty"
        return
    depth = max(set(depths := [len(labels) for _, labels in branches]), key=depths.count)
    yield from _told(
        [line for line, labels in branches if len(labels) != depth],
        f"not as deep as the others ({depth} levels)",
    )
    even = [(line, labels) for line, labels in branches if len(labels) == depth]
    root = max(set(roots := [labels[-1] for _, labels in even]), key=roots.count)
    yield from _told(
        [line for line, labels in even if labels[-1] != root], "under another root; a hierarchy has one root"
    )
    yield from _told(_repeated(even), "a leaf that stands on an earlier line already")
    yield from _told(_torn(even), "a label whose parent differs from the one on an earlier line")


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


def _told(lines: Sequence[int], what: str) -> Iterator[str]:
    if lines:
        shown = ", ".join(str(line) for line in lines[:SHOWN])
        more = f" and {len(lines) - SHOWN:,} more" if len(lines) > SHOWN else ""
        yield f"line{'s' if len(lines) > 1 else ''} {shown}{more}: {what}" if lines[0] else what
