"""The place of a finding: the policy's file as other tools name it, with line and column."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from tcdp_audit.core.base.outcome import SCHEMA, SUITE, Outcome
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit.core.policy.source import PolicySource, PolicySourceError, parse

QUALITY = {SCHEMA: ("schema",), SUITE: ("suite",)}  # the keys of a policy that name what judges quality


@dataclass(frozen=True)
class Place:
    """Where something stands in a policy file.

    Args:
        path: the file, relative to the repository that holds it, with forward slashes.
        line: from 1.
        column: from 1, in characters; None for the whole line.
    """

    path: str
    line: int = 1
    column: int | None = None


def place_of(policy: Policy, outcome: Outcome) -> Place | None:
    """Where a policy asks for an outcome; None for a policy without a file.

    The expectation's own line; that of the schema or the suite; else, as for what is asked of every column, where the
    attributes are declared.
    """
    if policy.path is None:
        return None
    name = name_in_repository(policy.path)
    if outcome.line is not None:
        return Place(name, outcome.line, outcome.column)
    line, column = _line_of(policy, outcome)
    return Place(name, line, column) if line else Place(name)


def _line_of(policy: Policy, outcome: Outcome) -> tuple[int, int]:
    """Line and column of the section that asks for an outcome of no expectation, or zeros."""
    declared = ("attributes",) if outcome.attribute is None else ("attributes", outcome.attribute)
    source = _source(policy.text)
    return (0, 0) if source is None else source.position(QUALITY.get(outcome.source, declared))


@lru_cache(maxsize=8)
def _source(text: str) -> PolicySource | None:
    """A policy's text with the places in it; None for a text that is not what was read from the file."""
    try:
        return parse(text)
    except PolicySourceError:
        return None


def name_in_repository(path: Path) -> str:
    """A file as tools call it that know the repository: relative to the nearest folder above it that has a `.git`.

    Outside of any repository, relative to the current folder; a file that is not below that has its whole path. A link
    has its own name: what it leads to may be a policy of several folders.
    """
    whole = path.parent.resolve() / path.name
    roots = [folder for folder in whole.parents if os.path.exists(folder / ".git")][:1]  # noqa: PTH110 - whoever may enter it
    root = roots[0] if roots else Path.cwd()
    return (whole.relative_to(root) if whole.is_relative_to(root) else whole).as_posix()
