"""Projects of ARX, written as its `WorkerSave` writes them in different versions.

The object `input/config.dat` is a stream of Java's serialization with the one field that is read: the research sample.
"""

from __future__ import annotations

import csv
import io
import struct
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

QI, SENSITIVE = "QUASI_IDENTIFYING_ATTRIBUTE", "SENSITIVE_ATTRIBUTE"
IDENTIFYING, INSENSITIVE = "IDENTIFYING_ATTRIBUTE", "INSENSITIVE_ATTRIBUTE"
Rows = Sequence[Sequence[str]]


@dataclass
class Attribute:
    """An attribute of a project, in the words of its XML."""

    name: str
    type: str = QI
    datatype: str = "String"
    format: str = ""
    hierarchy: Rows = ()
    min: str = "All"
    max: str = "All"
    function: str = ""
    response: bool = False


@dataclass
class Project:
    """A project to write."""

    attributes: Sequence[Attribute]
    rows: Rows = ()
    criteria: Sequence[str] = ("5-anonymity",)
    suppression: str = "0.05"
    metric: str = "Loss (0.5/1.0/1.0)"
    weights: Mapping[str, str] = field(default_factory=dict)
    sample: Sequence[int] | None = None  # rows; None for all
    version: str = "3.9.2"
    separator: str = ";"
    suppressed: Sequence[str] = (QI,)
    encoding: str = "utf-8"
    entries: Mapping[str, bytes] = field(default_factory=dict)  # that replace or join the others
    without: Sequence[str] = ()  # entries that are left out


def write_project(path: Path, project: Project) -> Path:
    """Write a project file."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in {**_entries(project), **project.entries}.items():
            if name not in project.without:
                archive.writestr(name, content)
    return path


def _entries(project: Project) -> dict[str, bytes]:
    first = project.version.startswith("2.0")
    vocabulary = [] if first else [("vocabulary", "2.0")]
    separators = [("separator", project.separator)]
    if not first:
        separators += [("escape", '"'), ("quote", '"'), ("linebreak", "UNIX")]
    described = [("description", "A study"), ("locale", "EN"), ("historySize", "200")]
    entries = {
        "metadata.xml": _xml("metadata", [("version", project.version), *vocabulary]),
        "project.dat": b"\xac\xed\x00\x05",
        "project.xml": _xml("project", [("name", "Study"), *separators, *described]),
        "input/config.dat": research_sample(len(project.rows), project.sample),
        "input/config.xml": _configuration(project, first=first),
        "input/definition.xml": _definition(project),
        "clipboard.xml": _xml("clipboard", []),
    }
    if project.rows:
        header = [one.name for one in project.attributes]
        entries["data/input.csv"] = _csv([header, *project.rows], project)
    for one in project.attributes:
        if one.hierarchy:
            entries[f"input/hierarchies/{one.name}.csv"] = _csv(one.hierarchy, project)
    return entries


def _csv(rows: Rows, project: Project) -> bytes:
    written = io.StringIO()
    csv.writer(written, delimiter=project.separator, lineterminator="\n").writerows(rows)
    return written.getvalue().encode(project.encoding)


def _xml(root: str, elements: Sequence[tuple[str, str]], indent: str = "\t") -> bytes:
    lines = [f"{indent}<{tag}>{_escaped(text)}</{tag}>" for tag, text in elements]
    return "\n".join([f"<{root}>", *lines, f"</{root}>", ""]).encode("ascii")


def _escaped(text: str) -> str:
    """A text as `StringEscapeUtils.escapeXml` writes it: other letters than those of ASCII as numbers."""
    plain = escape(text, {'"': "&quot;", "'": "&apos;"})
    return "".join(one if ord(one) < 128 else f"&#{ord(one)};" for one in plain)


def _configuration(project: Project, *, first: bool) -> bytes:
    lines = ["<config>"]
    if first:
        lines += ["\t<removeOutliers>true</removeOutliers>"]
    else:
        lines += ["\t<suppressTuplesInNonAnonymousOutput>true</suppressTuplesInNonAnonymousOutput>"]
        lines += ["\t<suppressedAttributeTypes>"]
        lines += [f"\t\t<type>{one}</type>" for one in project.suppressed]
        lines += ["\t</suppressedAttributeTypes>"]
    lines += ["\t<practicalMonotonicity>false</practicalMonotonicity>"]
    lines += [f"\t<relativeMaxOutliers>{project.suppression}</relativeMaxOutliers>"]
    lines += [f"\t<metric>{_escaped(project.metric)}</metric>"]
    if not first:
        lines += ["\t<attributeWeights>"]
        for name, weight in project.weights.items():
            lines += ["\t\t<attributeWeight>", f"\t\t\t<attribute>{_escaped(name)}</attribute>"]
            lines += [f"\t\t\t<weight>{weight}</weight>", "\t\t</attributeWeight>"]
        lines += ["\t</attributeWeights>"]
    lines += ["\t<criteria>"]
    lines += [f"\t\t<criterion>{_escaped(one)}</criterion>" for one in project.criteria]
    lines += ["\t</criteria>", "</config>", ""]
    return "\n".join(lines).encode("ascii")


def _definition(project: Project) -> bytes:
    lines = ["<definition>"]
    for one in project.attributes:
        said = [("name", one.name), ("type", one.type), ("datatype", one.datatype)]
        said += [("format", one.format)] if one.format else []
        said += [("response", "true")] if one.response else []
        if one.hierarchy:
            said += [("ref", f"hierarchies/{one.name}.csv"), ("min", one.min), ("max", one.max)]
        if one.function:
            said += [("microaggregationFunction", one.function), ("microaggregationIgnoreMissingData", "true")]
        lines += ["\t<assigment>", *(f"\t\t<{tag}>{_escaped(text)}</{tag}>" for tag, text in said), "\t</assigment>"]
    return "\n".join([*lines, "</definition>", ""]).encode("ascii")


def research_sample(records: int, sample: Sequence[int] | None) -> bytes:
    """An object of ARX's configuration, in which a set of rows has a bit for each record."""
    rows = range(records) if sample is None else sample
    words = [0] * -(-records // 64)
    for row in rows:
        words[row >> 6] |= 1 << (row & 63)
    package = "org.deidentifier.arx"
    subset = f"L{package.replace('.', '/')}/RowSet;"
    outer = _class(f"{package}.gui.model.ModelConfiguration", [("researchSubset", subset)])
    inner = _class(f"{package}.RowSet", [("length", "I"), ("size", "I"), ("array", "[J")])
    array = b"\x75" + _class("[J", []) + struct.pack(">i", len(words))
    packed = b"".join(struct.pack(">Q", word) for word in words)
    fields = struct.pack(">ii", records, len(rows)) + array + packed
    return b"\xac\xed\x00\x05" + b"\x73" + outer + b"\x73" + inner + fields


def _class(name: str, fields: Sequence[tuple[str, str]]) -> bytes:
    """The description of a class: its name, a version, and its fields."""
    described = b"\x72" + _utf(name) + bytes(8) + b"\x02" + struct.pack(">H", len(fields))
    for one, kind in fields:
        described += kind[:1].encode() + _utf(one) + (b"\x74" + _utf(kind) if kind[0] in "L[" else b"")
    return described + b"\x78\x70"


def _utf(text: str) -> bytes:
    encoded = text.encode()
    return struct.pack(">H", len(encoded)) + encoded
