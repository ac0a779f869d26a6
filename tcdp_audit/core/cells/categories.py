"""The categories of a dimension: its declared hierarchy and order over the labels that occur, and bands by bounds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter
from math import inf
from pathlib import Path
from typing import Any

from tcdp_audit.core.base.errors import PolicyError, redact_errors
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.words import listing, visible
from tcdp_audit.core.cells.table import Band, Nodes
from tcdp_audit.core.policy.aggregates import Dimension
from tcdp_audit.core.policy.faults import nearest
from tcdp_audit.core.policy.scalars import as_text
from tcdp_audit.core.policy.source import PolicySourceError, parse_yaml

NUMBER = r"[0-9]+(?:\.[0-9]+)?"
_BRACKETED = re.compile(rf"([\[(\]])\s*([+-]?{NUMBER}|-inf|-∞)\s*[,;]\s*([+-]?{NUMBER}|[+]?(?:inf|∞))\s*([\])\[])")
_DASHED = re.compile(rf"({NUMBER})?\s*[-–]\s*({NUMBER})")
_BOUNDED = re.compile(rf"(<=|>=|<|>|≤|≥)\s*([+-]?{NUMBER})")
_AND_MORE = re.compile(rf"({NUMBER})\s*\+")
UNPUBLISHED = "(all)"  # the label of a total that a table does not have
BANDS = "17-24, -17, <18, 85+, >=85 or [18, 25)"  # the forms, as messages name them


def parse_band(label: str) -> Band | None:
    """The values that a label of an ordered dimension covers, as a half-open interval; None if it is no range.

    An end that belongs to the band is one unit of its last digit away from the next band: `17-24` ends where `25-34`
    begins. `-17` is everything up to 17.

    Example:
        >>> [tuple(map(str, parse_band(text))) for text in ("17-24", "-17", "<18", "85+", "(18, 25]", "7")]
        [('17', '25'), ('-inf', '18'), ('-inf', '18'), ('85', 'inf'), ('19', '26'), ('7', '8')]
    """
    text = label.strip()
    if match := _BRACKETED.fullmatch(text):
        left, low, high, right = match.groups()
        unit = _unit(low, high)
        return _proper(_end(low) + (0 if left == "[" else unit), _end(high) + (unit if right == "]" else 0))
    if match := _DASHED.fullmatch(text):
        return _proper(_end(match[1] or "-inf"), _end(match[2]) + _unit(match[1] or "", match[2]))
    if match := _BOUNDED.fullmatch(text):
        end, unit = _end(match[2]), _unit(match[2])
        if match[1][0] in "<≤":
            return -inf, end + (0 if match[1] == "<" else unit)
        return end + (unit if match[1] == ">" else 0), inf
    if match := _AND_MORE.fullmatch(text):
        return _end(match[1]), inf
    return _proper(_end(text), _end(text) + _unit(text)) if re.fullmatch(NUMBER, text) else None


def _end(text: str) -> Fraction | float:
    return float(text.replace("∞", "inf")) if text.endswith(("inf", "∞")) else Fraction(text)


def _unit(*texts: str) -> Fraction:
    """One in the last digit that is not 0 behind the point; 1 for whole numbers."""
    return Fraction(1, 10 ** max(len(text.partition(".")[2].rstrip("0")) for text in texts))


def _proper(low: Fraction | float, high: Fraction | float) -> Band | None:
    return (low, high) if low < high else None


@dataclass
class _Hierarchy:
    """A hierarchy while it is read: its nodes in order, and each way to split one."""

    name: str
    labels: dict[str, None] = field(default_factory=dict)
    sums: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    def add(self, node: Any, children: Any) -> str:
        """Read what is written of a node: nothing, its children, or lists of children, each a way to split it."""
        label = self._label(node)
        self.labels.setdefault(label)
        if children is None:
            return label
        if isinstance(children, Mapping):
            self._split(label, [{key: value} for key, value in children.items()])
        elif isinstance(children, list | tuple):
            several = bool(children) and all(isinstance(one, list | tuple) for one in children)
            for split in children if several else [children]:
                self._split(label, split)
        else:
            raise self.fault(f"the node {visible(label)!r} must have a list of its children")
        return label

    def _split(self, label: str, items: Sequence[Any]) -> None:
        children = [child for item in items for child in self._children(item)]
        if not children:
            raise self.fault(f"the node {visible(label)!r} has no children; leave out its empty list")
        if len(set(children)) < len(children):
            raise self.fault(f"a child of the node {visible(label)!r} is listed twice")
        self.sums.append((label, tuple(children)))

    def _children(self, item: Any) -> Iterator[str]:
        if isinstance(item, Mapping):
            for key, value in item.items():
                yield self.add(key, value)
        elif isinstance(item, list | tuple):
            raise self.fault("a list of children has labels and lists; write either all of them as lists or none")
        else:
            yield self.add(item, None)

    def _label(self, scalar: Any) -> str:
        try:
            text = as_text(scalar)
        except ValueError as error:
            raise self.fault(f"a label is no text: {error}") from None
        if not isinstance(text, str):
            raise self.fault("a label is no text; put it in quotes")
        return text

    def fault(self, sentence: str) -> PolicyError:
        return PolicyError(f"{self.name}: {sentence}")

    def leaves(self) -> dict[str, frozenset[str]]:
        """The leaves under each node; refuses a node below itself, and a leaf that one sum counts twice."""
        splits: dict[str, list[tuple[str, ...]]] = {label: [] for label in self.labels}
        for node, children in self.sums:
            splits[node].append(children)
        below: dict[str, frozenset[str]] = {}
        for label in self._upwards(splits):
            for children in splits[label]:
                if sum(len(below[one]) for one in children) > len(frozenset().union(*(below[one] for one in children))):
                    raise self.fault(f"two children of the node {visible(label)!r} share a category, counted twice")
            inside = frozenset(leaf for children in splits[label] for one in children for leaf in below[one])
            below[label] = inside or frozenset([label])
        return below

    def _upwards(self, splits: Mapping[str, Sequence[Sequence[str]]]) -> list[str]:
        """All nodes, children before their parents."""
        sorter = TopologicalSorter({node: [one for split in under for one in split] for node, under in splits.items()})
        try:
            return list(sorter.static_order())
        except CycleError as error:
            node = str(error.args[1][0])
        raise self.fault(f"the node {visible(node)!r} is below itself")


@redact_errors()
def read_nodes(name: str, declared: Dimension, labels: Sequence[str], directory: Path) -> tuple[Nodes, tuple[str, ...]]:
    """The nodes of a dimension: those that are declared, or those that occur where none are.

    Args:
        name: the dimension.
        declared: its declaration.
        labels: the distinct labels that occur, in the table's order.
        directory: the folder of the policy.

    Returns:
        The nodes, and a sentence for each fault of the labels as a whole. A label that occurs and is no node is left
        to the caller, who knows its lines.

    Raises:
        PolicyError: the hierarchy cannot be read, or has a node below itself or counted twice.
    """
    hierarchy = _read(name, declared, directory)
    below = hierarchy.leaves()
    total, faults = _total(name, declared, labels, hierarchy)
    known = hierarchy.labels if hierarchy.sums or hierarchy.labels else dict.fromkeys(labels)
    if isinstance(declared.order, list):
        known = dict.fromkeys([*declared.order, *(known if hierarchy.labels else ())])
    if total is not None:
        known = {**known, total: None}
    sums = [*hierarchy.sums, *_top(total, known, hierarchy.sums, below)]
    inner = {node for node, _ in sums}
    bands = {label: parse_band(label) for label in known} if declared.order == "by_bounds" else {}
    shapeless = [label for label in known if bands and bands[label] is None and label not in inner and label != total]
    if shapeless:
        listed = ", ".join(repr(visible(one)) for one in shapeless[:5])
        faults += (f"{name}: {listed} is no range such as {BANDS}; correct it, or leave out `order: by_bounds`",)
    ordered = _ordered(declared, known, labels, bands, total)
    code = {label: place for place, label in enumerate(ordered)}
    nodes = Nodes(
        name,
        tuple(ordered),
        None if total is None else code[total],
        tuple((code[node], tuple(code[child] for child in children), declared.complete) for node, children in sums),
        tuple(None if one == total else bands[one] for one in ordered) if bands else (),
        frozenset(code[one] for one in labels if one in code),
    )
    return nodes, faults


def _read(name: str, declared: Dimension, directory: Path) -> _Hierarchy:
    """The declared hierarchy; an empty one where there is none."""
    source = declared.hierarchy
    if source is None:
        return _Hierarchy(name)
    if isinstance(source, str):
        hierarchy, data = _Hierarchy(source), read_yaml(source, directory / source)
    else:
        hierarchy, data = _Hierarchy(f"the hierarchy of {visible(name)}"), source
    if isinstance(data, Mapping):
        for node, children in data.items():
            hierarchy.add(node, children)
    elif isinstance(data, list):
        for item in data:
            for _ in hierarchy._children(item):  # noqa: SLF001 - the class is of this module
                pass
    else:
        raise hierarchy.fault("it must be a mapping of each node to the list of its children")
    return hierarchy


def read_yaml(name: str, path: Path) -> Any:
    """A YAML file of the policy as data. Raises `PolicyError`, which calls it by its name there."""
    try:
        return parse_yaml(path.read_bytes().decode("utf-8-sig")).data
    except OSError as error:
        raise PolicyError(f"{name}: the file cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise PolicyError(f"{name}: the file is not UTF-8 text (byte {error.start:,}); save it as UTF-8") from None
    except PolicySourceError as error:
        lines = (f"{name}:{one.line}: {one.message}" for one in error.faults)
        raise PolicyError("\n".join(lines)) from None


def _total(
    name: str, declared: Dimension, labels: Sequence[str], hierarchy: _Hierarchy
) -> tuple[str | None, tuple[str, ...]]:
    """The total, if it occurs; a declared one that does not is a fault, and nothing is summed up to it."""
    total = declared.total
    if total is None:
        return (UNPUBLISHED if declared.exhaustive else None), ()
    if total in labels:
        alike = [one for one in labels if one != total and one.strip().casefold() == total.strip().casefold()]
        listed = listing([repr(visible(one)) for one in alike]) if alike else ""
        return total, (f"{name}: {listed} and the total {visible(total)!r} are spelt alike; use one",) if alike else ()
    others = [one for one in labels if one not in hierarchy.labels]
    advice = "correct `total`, or write `exhaustive: true` in its place if the table has none and all categories"
    return None, (f"{name}: the total {visible(total)!r} does not occur{nearest(total, others)}; {advice}",)


def _top(
    total: str | None,
    known: Mapping[str, None],
    sums: Sequence[tuple[str, tuple[str, ...]]],
    below: Mapping[str, frozenset[str]],
) -> list[tuple[str, tuple[str, ...]]]:
    """The sum of the total over the topmost nodes; over the leaves where those overlap, as with two hierarchies."""
    if total is None or any(node == total for node, _ in sums):
        return []
    children = {child for _, under in sums for child in under}
    top = [one for one in known if one != total and one not in children]
    covered = [leaf for one in top for leaf in below.get(one, frozenset([one]))]
    if len(set(covered)) < len(covered):
        inner = {node for node, _ in sums}
        top = [one for one in known if one != total and one not in inner]
    return [(total, tuple(top))] if top else []


def _ordered(
    declared: Dimension,
    known: Mapping[str, None],
    labels: Sequence[str],
    bands: Mapping[str, Band | None],
    total: str | None,
) -> list[str]:
    """The nodes as declared, by their bounds, or as they occur; the total first only if it occurs first."""
    if isinstance(declared.order, list):
        inside = list(known)
    else:
        inside = [one for one in labels if one in known]
        inside += [one for one in known if one not in set(inside)]
    if bands:
        place = {label: number for number, label in enumerate(inside)}
        inside.sort(key=lambda one: _by_bounds(bands[one], place[one]))
    if total is None:
        return inside
    others = [one for one in inside if one != total]
    return [total, *others] if labels and labels[0] == total else [*others, total]


def _by_bounds(band: Band | None, place: int) -> tuple[bool, Fraction | float, Fraction | float, int]:
    """Lower bands first, a wide one before those within it, labels that are no band last."""
    return (True, 0, 0, place) if band is None else (False, band[0], -band[1], place)
