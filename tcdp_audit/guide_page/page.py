"""What a page consists of, before it is written for a browser or a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Prose:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Code:
    """Lines that stand as they are.

    Args:
        language: "yaml" for lines of a policy, "text" for a formula.
        lines: at least one.
    """

    language: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Parameter:
    """A parameter as a person reads it.

    Args:
        name: its key in a policy.
        kind: what may stand there, such as "whole number, at least 1".
        default: what holds where it is left out.
        description: what it does.
    """

    name: str
    kind: str
    default: str
    description: str


@dataclass(frozen=True)
class Parameters:
    """All parameters, the more important first."""

    parameters: tuple[Parameter, ...]


@dataclass(frozen=True)
class Terms:
    """Names and what they mean."""

    meanings: Mapping[str, str]


Block = Prose | Code | Parameters | Terms


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it."""

    heading: str
    blocks: tuple[Block, ...]

    @classmethod
    def of(cls, heading: str, text: str) -> Section:
        """A section of one paragraph, or an empty one."""
        return cls(heading, (Prose(text),) if text else ())


@dataclass(frozen=True)
class Page:
    """The page of a check or a remedy.

    Args:
        kind: "Check" or "Remedy".
        name: as a policy has it.
        title: what a person calls it.
        lead: one sentence below the title.
        sections: those that say something.
    """

    kind: str
    name: str
    title: str
    lead: str
    sections: tuple[Section, ...]
