"""Guides of checks and remedies as Markdown files next to the code that they explain.

A file may begin with front matter, a line `name: text` for each part that has no section. A section for each other
part follows. The lines of a paragraph, or of an item of a list, are joined. A formula is a block of `math` for each of
its lines, or a block of `text` where it is no LaTeX. An example is a block of `yaml` below `expect:` or `remedy:`, and
details and notes are a table.

`tcdp-audit explain` reads guides without the checks, so this module imports nothing that is slow to import.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from tcdp_audit.core.base.errors import PluginError
from tcdp_audit.core.base.frozen import dataclass

if TYPE_CHECKING:
    from typing import Self


CHECK_SECTIONS = {
    "Definition": "definition",
    "How to read it": "reading",
    "What its details say": "details",
    "How to choose a threshold": "choosing",
    "Limits": "limits",
    "In a policy": "example",
    "Source": "source",
}
REMEDY_SECTIONS = {
    "Method": "method",
    "What happens to a row": "row",
    "When to use it": "choosing",
    "What is guaranteed": "guarantees",
    "Who knows how it was done": "attack",
    "What its notes say": "notes",
    "In a policy": "example",
    "Source": "source",
}
FORMULA_SEPARATOR = ";  "  # between the lines of a formula as text
FRONT_MATTER = re.compile(r"---\n(.*?)^---\n", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CELL_BORDER = re.compile(r"(?<!\\)\|")


class GuideFile:
    """A guide that reads its file when the first of its parts is asked for."""

    SECTIONS: ClassVar[Mapping[str, str]]

    @classmethod
    def from_file(cls, path: Path, formulas: Path | None = None) -> Self:
        """Take the guide from a Markdown file, which is read when the first part is asked for.

        Args:
            path: the file.
            formulas: a JSON file with the `text` and the `mathml` of formulas by their LaTeX. A formula that it lacks
                is shown as LaTeX.

        Raises:
            PluginError: the file is not there. When it is read: it is not a guide; the message says why.
        """
        if not path.is_file():
            raise PluginError(f"the guide {path.name} is not in {path.parent}")
        guide = object.__new__(cls)
        vars(guide).update(_path=path, _formulas=formulas)
        return guide

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """A part of the guide, of which the file was not read yet."""
            # Python calls this method only for what the instance lacks. The parts of a dataclass with a plain default
            # are attributes of the class, which Python would answer with instead; guides therefore give their defaults
            # by `default_factory`. Once the file is read, the instance has all parts, and they cost nothing more.
            if name not in self.__dataclass_fields__ or "_path" not in vars(self):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            parts = guide_parts(self._path, self.SECTIONS, self._formulas)
            try:
                read = type(self)(**parts)
            except TypeError as error:
                raise PluginError(f"the guide {self._path.name} is incomplete: {error}") from None
            vars(self).update(vars(read))
            return vars(self)[name]


def guide_parts(path: Path, sections: Mapping[str, str], formulas: Path | None = None) -> dict[str, Any]:
    """Read the parts of a guide, by their names.

    Args:
        path: the Markdown file.
        sections: the part that each section is about, by its heading.
        formulas: as `GuideFile.from_file` takes it.

    Raises:
        PluginError: the file cannot be read, or it has a section that guides do not have.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise PluginError(f"the guide {path.name} cannot be read as UTF-8") from None
    front = FRONT_MATTER.match(text)
    parts: dict[str, Any] = dict(_front_matter(front[1])) if front else {}
    for heading, body in _sections(text[front.end() :] if front else text):
        if heading not in sections:
            known = ", ".join(sections)
            raise PluginError(f"the guide {path.name} has a section {heading!r}; sections of a guide are {known}")
        parts[sections[heading]] = _part(sections[heading], body)
        parts |= _formula(body, formulas)
    return parts


def formula_lines(text: str) -> list[str]:
    """The lines of the formulas in a Markdown text, as LaTeX."""
    return [match[2].strip() for match in FENCE.finditer(text) if match[1] == "math"]


def _front_matter(text: str) -> Iterator[tuple[str, str]]:
    """Names and texts. A text with a colon and a blank is in double quotes, as YAML demands."""
    for line in text.splitlines():
        name, _, value = line.partition(": ")
        value = value.strip()
        yield name, value[1:-1] if value.startswith('"') else value


def _sections(text: str) -> Iterator[tuple[str, str]]:
    """Headings, each with the text below it; an example may have lines that look like headings."""
    fences = [match.span() for match in FENCE.finditer(text)]
    starts = [
        match
        for match in re.finditer(r"^## (.*)\n", text, re.MULTILINE)
        if not any(start < match.start() < end for start, end in fences)
    ]
    ends = [match.start() for match in starts[1:]] + [len(text)]
    for match, end in zip(starts, ends, strict=True):
        yield match[1].strip(), text[match.end() : end].strip()


def _part(name: str, body: str) -> str | dict[str, str]:
    if name in ("details", "notes"):
        rows = [CELL_BORDER.split(line)[1:-1] for line in body.splitlines() if line.startswith("| `")]
        return {named.strip().strip("`"): meaning.strip().replace("\\|", "|") for named, meaning in rows}
    if name == "example":
        return "\n".join(line.removeprefix("  ") for line in _fenced(body).splitlines()[1:])
    paragraphs = re.split(r"\n{2,}", FENCE.sub("", body).strip())
    return "\n\n".join(re.sub(r"\n(?!- )", " ", paragraph) for paragraph in paragraphs)


def _fenced(body: str) -> str:
    """The first block in a section; nothing where it has none."""
    block = FENCE.search(body)
    return block[2] if block else ""


def _formula(body: str, formulas: Path | None) -> dict[str, str]:
    """The formula in a section in the three forms that guides have; nothing where the section has none."""
    if text := [line for match in FENCE.finditer(body) if match[1] == "text" for line in match[2].splitlines()]:
        return {"formula": FORMULA_SEPARATOR.join(text)}
    lines = formula_lines(body)
    if not lines:
        return {}
    table = _table(formulas) if formulas else {}
    known = [table.get(line, {"text": line, "mathml": ""}) for line in lines]
    return {
        "formula": FORMULA_SEPARATOR.join(one["text"] for one in known),
        "latex": "\n".join(lines),
        "mathml": "".join(one["mathml"] for one in known),
    }


@cache
def _table(formulas: Path) -> Mapping[str, Mapping[str, str]]:
    import json  # noqa: PLC0415 - remedies have no formulas

    table: Mapping[str, Mapping[str, str]] = json.loads(formulas.read_text(encoding="utf-8"))
    return table


class DisclosureType(StrEnum):
    """Torra's map: which disclosure a check is about, and whether it answers yes or no or how much."""

    IDENTITY_MODEL = "identity, yes or no"
    IDENTITY_DEGREE = "identity, how much"
    ATTRIBUTE_MODEL = "attribute, yes or no"
    ATTRIBUTE_DEGREE = "attribute, how much"


@dataclass(frozen=True)
class UsualDemand:
    """A usual threshold of a check, with its source.

    Args:
        parameters: the threshold by its parameter, and the parameters with which it applies; a list is a choice.
        says: what it is, to follow `is`: usual for public files.
        source: the document that says so.
    """

    parameters: Mapping[str, str | list[str]]
    says: str
    source: str


USUAL = re.compile(r"^`([a-z_]+: [^`]+)` is ([^:]+): (\S.*)\.$", re.MULTILINE)


@dataclass(frozen=True)
class Guide(GuideFile):
    """The text that a person reads about a check; the report, `explain` and the documentation page show it.

    Give the parts here, or write them in a Markdown file and name it: `Guide.from_file`.

    Args:
        definition: what it measures, in one or two sentences.
        formula: the definition as a formula in plain text, for terminals, its lines separated by `;  `.
        reading: how to read the observed value.
        choosing: how to choose a threshold. A paragraph such as "`k: 11` is usual for public files: SOURCE." declares a
            usual threshold, and an audit says so of a laxer demand.
        source: paper and definition number.
        example: lines of a policy.
        latex: the formula as LaTeX, a line for each of its lines; the documentation has it so.
        mathml: the formula as MathML elements; the report has it so.
        limits: what the check does not say.
        question: what it asks, as a person would: one plain line.
        risk: what could still happen where the question is not asked: one plain line.
        details: what each further figure of an outcome is, in a few words that reports show in the place of its key;
            keys inside of details are among them.
    """

    SECTIONS: ClassVar[Mapping[str, str]] = CHECK_SECTIONS

    definition: str
    formula: str
    reading: str
    choosing: str
    source: str
    example: str
    latex: str = field(default_factory=str)
    mathml: str = field(default_factory=str)
    limits: str = field(default_factory=str)
    question: str = field(default_factory=str)
    risk: str = field(default_factory=str)
    details: Mapping[str, str] = field(default_factory=dict)

    @property
    def usual(self) -> list[UsualDemand]:
        """The usual thresholds that it declares in how to choose one, each with its source.

        Raises:
            PluginError: the parameters of one are no mapping.
        """
        declared = USUAL.findall(self.choosing)
        if not declared:
            return []
        import yaml  # noqa: PLC0415 - only where a guide declares any

        try:
            return [
                UsualDemand(yaml.load(f"{{{one}}}", yaml.BaseLoader), says, source)  # noqa: S506 - it reads texts only
                for one, says, source in declared
            ]
        except yaml.YAMLError:
            raise PluginError(f"a usual threshold of a guide is no mapping: {declared[0][0]}") from None
