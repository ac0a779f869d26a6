"""A project file of ARX: a ZIP archive of XML, CSV and serialized Java objects, read within bounds and never unpacked.

The XML and the CSV files say nearly everything. The research sample, the rows that ARX releases, is in a serialized
object alone; it is read as data, and no class is loaded.
"""

from __future__ import annotations

import csv
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from tcdp_audit.plugin.detector import Role
from tcdp_audit.plugin.engine import DataError, UsageError, redact_errors

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

EXTRA = 'a project of ARX needs defusedxml and javaobj-py3; pip install "tcdp-audit[arx]"'
ROLES = {
    "IDENTIFYING_ATTRIBUTE": Role.IDENTIFIER,
    "QUASI_IDENTIFYING_ATTRIBUTE": Role.QUASI_IDENTIFIER,
    "SENSITIVE_ATTRIBUTE": Role.SENSITIVE,
    "INSENSITIVE_ATTRIBUTE": Role.INSENSITIVE,
}
ENTRIES = 10_000  # in an archive; ARX writes some dozens
MIB = 1 << 20
LARGEST = {".xml": 16 * MIB, ".dat": 64 * MIB, ".csv": 1024 * MIB}  # bytes of an entry that are read
LARGEST_HIERARCHIES = 256 * MIB  # of all hierarchies
ENCODINGS = ("utf-8-sig", "cp1252")  # ARX before 3.7.1 wrote what its system used
INPUT, OBJECT = "data/input.csv", "input/config.dat"
CONFIGURATION, DEFINITION = "input/config.xml", "input/definition.xml"
OF_SAMPLE = re.compile(r"Inclusion|\(.*\)-presence|\(\d+\)-map")  # models under which the sample alone is released
Rows = Sequence[Sequence[str]]


@dataclass(frozen=True)
class ArxAttribute:
    """An attribute of a project.

    Args:
        name: of its column.
        role: what ARX calls its type; None for a type that ARX does not have.
        data_type: the name of its data type, such as `Integer`.
        format: the format of its data type; of an ordinal one its values, one on each line.
        hierarchy: for each value its generalisations; empty where it has none.
        levels: the least and the largest level of generalisation; None where it is not limited.
        aggregation: the function that replaces its values in each class; empty where it is generalised.
        is_response: whether it is a target of classification.
    """

    name: str
    role: Role | None
    data_type: str
    format: str = ""
    hierarchy: Rows = field(default=(), repr=False)
    levels: tuple[int | None, int | None] = (None, None)
    aggregation: str = ""
    is_response: bool = False


@dataclass(frozen=True)
class ArxProject:
    """A project as its file has it.

    Args:
        path: the project's file.
        title: what its author called it.
        version: of ARX.
        attributes: in the order of the table.
        models: the privacy models, each as ARX writes it.
        suppression: the largest share of records that may be suppressed.
        quality: the quality model, as ARX writes it.
        weights: the weight of each attribute in the quality model.
        suppressed: the roles whose cells are removed from suppressed records.
        header: the columns of its table; empty where it holds none.
        rows: the records of its table.
        sample: for each record whether it is in the research sample; None where every record is.
        notes: sentences on what could not be read as it should be.
        is_sample_readable: whether the research sample was read.
    """

    path: Path
    title: str
    version: str
    attributes: Sequence[ArxAttribute]
    models: Sequence[str]
    suppression: Decimal
    quality: str
    weights: Mapping[str, float]
    suppressed: frozenset[Role]
    header: Sequence[str] = ()
    rows: Rows = field(default=(), repr=False)
    sample: Sequence[bool] | None = field(default=None, repr=False)
    notes: Sequence[str] = ()
    is_sample_readable: bool = True

    @property
    def name(self) -> str:
        """The name of the project's file."""
        return self.path.name

    @property
    def has_sample(self) -> bool:
        """Whether ARX releases a research sample of its table, and takes the table for the population."""
        return any(OF_SAMPLE.fullmatch(one) for one in self.models)

    @property
    def released(self) -> Rows:
        """The records that ARX releases."""
        return list(compress(self.rows, self.sample)) if self.has_sample and self.sample is not None else self.rows


@redact_errors()
def read_project(path: str | Path) -> ArxProject:
    """Read a project file of ARX, of any version since 2.0.

    Raises:
        UsageError: there is no such file, or a library is missing.
        DataError: it is no project of ARX, is damaged, or is larger than can be read with safety.
    """
    try:
        from defusedxml import ElementTree  # noqa: F401, PLC0415 - an extra
        from javaobj import v2  # noqa: F401, PLC0415 - likewise
    except ImportError:
        raise UsageError(EXTRA) from None
    try:
        with _Archive(Path(path)) as archive:
            return _project(archive)
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None


class _Archive:
    """The archive of a project: entries that are read into memory, each within its bounds."""

    def __init__(self, path: Path) -> None:
        self.path, self.notes = path, list[str]()

    def __enter__(self) -> Self:
        try:
            self._zip = zipfile.ZipFile(self.path)
        except (zipfile.BadZipFile, NotImplementedError):
            raise DataError(f"{self.path}: no project of ARX, which is a ZIP archive") from None
        entries = self._zip.infolist()
        names = [one.filename for one in entries]
        if len(entries) > ENTRIES:
            raise DataError(f"{self.path}: has {len(entries):,} entries, where a project of ARX has some dozens")
        if len(set(names)) < len(names):
            raise DataError(f"{self.path}: has two entries of one name; which one ARX would read is not known")
        if any(_leads_outside(one) for one in names):
            raise DataError(f"{self.path}: has an entry that leads out of the archive; nothing was read")
        self.entries = {one.filename: one for one in entries}
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def read(self, name: str) -> bytes:
        """The bytes of an entry.

        Raises:
            DataError: it is not there, damaged, encrypted, or too large.
        """
        entry = self.entries.get(name)
        if entry is None:
            raise DataError(f"{self.path}: no project of ARX: it lacks {name}")
        largest = LARGEST.get(Path(name).suffix, LARGEST[".xml"])
        if entry.file_size > largest:
            advice = "; export the table from ARX and name it: `tcdp-audit init TABLE --from PROJECT`"
            raise DataError(
                f"{self.path}: {_shown(name)} has {entry.file_size:,} bytes, and at most {largest:,} are read"
                f"{advice if name == INPUT else ''}"
            )
        try:
            with self._zip.open(entry) as file:
                content = file.read(largest + 1)
        except (zipfile.BadZipFile, RuntimeError, EOFError, ValueError, lzma.LZMAError, zlib.error):
            raise DataError(f"{self.path}: {_shown(name)} is damaged or encrypted") from None
        if len(content) != entry.file_size:
            raise DataError(f"{self.path}: {_shown(name)} is damaged: it has another size than the archive says")
        return content

    def xml(self, name: str, root: str) -> Element:
        """The root of an XML entry.

        Raises:
            DataError: it is no XML, has a document type or entities, or has another root.
        """
        from defusedxml import DefusedXmlException, ElementTree  # noqa: PLC0415 - an extra

        content = self.read(name)
        try:
            element: Element = ElementTree.fromstring(content, forbid_dtd=True)
        except DefusedXmlException:
            raise DataError(f"{self.path}: {name} has a document type or entities, which ARX never writes") from None
        except (ElementTree.ParseError, ValueError, LookupError) as error:
            line, column = getattr(error, "position", (0, 0))
            place = f" (line {line}, column {column + 1})" if line else ""
            raise DataError(f"{self.path}: {name} is no XML{place}; save the project again with ARX") from None
        if element.tag != root:
            raise DataError(f"{self.path}: {name} is none of ARX: its root is not <{root}>")
        return element

    def table(self, name: str, separator: str) -> Rows:
        """The rows of a CSV entry, as ARX writes them: quotes are doubled, lines end in any way.

        Raises:
            DataError: it is no such table.
        """
        text = self._text(name)
        try:
            rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        except TypeError:
            raise DataError(f"{self.path}: {_shown(name)} is no CSV") from None
        try:
            return [row for row in rows if row]
        except csv.Error:
            raise DataError(f"{self.path}: {_shown(name)} is no CSV (line {rows.line_num:,})") from None

    def _text(self, name: str) -> str:
        content = self.read(name)
        for encoding in ENCODINGS:
            try:
                text = content.decode(encoding)
            except UnicodeDecodeError:
                continue
            if encoding != ENCODINGS[0]:
                self.notes.append(
                    f"{_shown(name)} is not UTF-8. It was read as Windows-1252, which versions of ARX before 3.7.1 "
                    "wrote on Windows: check letters with accents."
                )
            return text
        raise DataError(f"{self.path}: {_shown(name)} is neither UTF-8 nor Windows-1252; save the project again")


def _leads_outside(name: str) -> bool:
    parts = name.replace("\\", "/").split("/")
    return name.startswith(("/", "\\")) or ".." in parts or (len(name) > 1 and name[1] == ":")


def _shown(name: str) -> str:
    """The name of an entry in a sentence: that of a hierarchy is the name of its column."""
    return name if name.isprintable() and len(name) < 100 else "an entry with a long or odd name"


def _project(archive: _Archive) -> ArxProject:
    metadata, settings = archive.xml("metadata.xml", "metadata"), archive.xml("project.xml", "project")
    vocabulary = _of(metadata, "vocabulary") or "1.0"
    if vocabulary not in ("1.0", "2.0"):
        raise DataError(f"{archive.path}: vocabulary {vocabulary!r} of ARX is not known; known are 1.0 and 2.0")
    configuration = archive.xml(CONFIGURATION, "config")
    separator = _of(settings, "separator", strip=False) or ";"
    if len(separator) != 1:
        raise DataError(f"{archive.path}: project.xml: the separator must be one character")
    attributes = _attributes(archive, separator)
    table = archive.table(INPUT, separator) if INPUT in archive.entries else []
    header, rows = (table[0], table[1:]) if table else ([], [])
    _require_table(archive, attributes, header, rows)
    models = [_text_of(one) for one in configuration.findall("criteria/criterion")]
    sample, is_readable = _sample(archive, len(rows))
    return ArxProject(
        archive.path,
        _of(settings, "name"),
        _of(metadata, "version"),
        attributes,
        [one for one in models if one],
        _suppression(archive, configuration),
        _of(configuration, "metric"),
        _weights(configuration),
        _suppressed(configuration),
        header,
        rows,
        sample,
        archive.notes,
        is_readable,
    )


def _of(element: Element, tag: str, *, strip: bool = True) -> str:
    inner = element.find(tag)
    return "" if inner is None else _text_of(inner, strip=strip)


def _text_of(element: Element, *, strip: bool = True) -> str:
    text = element.text or ""
    return text.strip() if strip else text


def _attributes(archive: _Archive, separator: str) -> list[ArxAttribute]:
    elements = archive.xml(DEFINITION, "definition").findall("assigment")  # which is how ARX spells it
    if not elements:
        raise DataError(f"{archive.path}: {DEFINITION} has no attribute; import data into the project first")
    read, size = [], 0
    for one in elements:
        reference = _of(one, "ref", strip=False)
        entry = f"input/{reference}"
        size += archive.entries[entry].file_size if entry in archive.entries else 0
        if size > LARGEST_HIERARCHIES:
            raise DataError(f"{archive.path}: the hierarchies have more than {LARGEST_HIERARCHIES:,} bytes")
        if reference and entry not in archive.entries:  # as version 3.4.1 left out those that it made itself
            archive.notes.append(f"The file of the hierarchy of {_of(one, 'name')!r} is not in the project.")
        read.append(_attribute(one, archive.table(entry, separator) if entry in archive.entries else ()))
    names = [one.name for one in read]
    if len(set(names)) < len(names) or "" in names:
        raise DataError(f"{archive.path}: {DEFINITION} has two attributes of one name, or one without a name")
    return read


def _attribute(element: Element, hierarchy: Rows) -> ArxAttribute:
    return ArxAttribute(
        _of(element, "name"),
        ROLES.get(_of(element, "type")),
        _of(element, "datatype"),
        _of(element, "format"),
        hierarchy,
        (_level(_of(element, "min")), _level(_of(element, "max"))),
        _of(element, "microaggregationFunction"),
        _of(element, "response") == "true",
    )


def _level(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def _require_table(archive: _Archive, attributes: Sequence[ArxAttribute], header: Sequence[str], rows: Rows) -> None:
    if not header:
        return
    if sorted(one.strip() for one in header) != sorted(one.name for one in attributes):
        raise DataError(f"{archive.path}: the columns of {INPUT} are not the attributes of {DEFINITION}")
    uneven = next((number for number, row in enumerate(rows, 2) if len(row) != len(header)), None)
    if uneven is not None:
        raise DataError(f"{archive.path}: {INPUT} has a row of another length than its header (row {uneven:,})")


def _suppression(archive: _Archive, configuration: Element) -> Decimal:
    text = _of(configuration, "relativeMaxOutliers") or "0"
    try:
        share = Decimal(text)
    except InvalidOperation:
        share = Decimal("NaN")
    if share.is_nan() or not 0 <= share <= 1:
        raise DataError(f"{archive.path}: {CONFIGURATION}: relativeMaxOutliers must be a number from 0 to 1")
    return share


def _weights(configuration: Element) -> dict[str, float]:
    weights = {}
    for one in configuration.findall("attributeWeights/attributeWeight"):
        try:
            weights[_of(one, "attribute")] = float(_of(one, "weight"))
        except ValueError:
            continue
    return weights


def _suppressed(configuration: Element) -> frozenset[Role]:
    named = [_text_of(one) for one in configuration.findall("suppressedAttributeTypes/type")]
    return frozenset(ROLES[one] for one in named if one in ROLES) or frozenset({Role.QUASI_IDENTIFIER})


def _sample(archive: _Archive, records: int) -> tuple[Sequence[bool] | None, bool]:
    """Whether each record is in the research sample, None for all records, and whether it could be read."""
    if OBJECT not in archive.entries or not records:
        return None, False
    from javaobj.v2.main import load  # noqa: PLC0415 - an extra

    try:
        fields = _fields(load(io.BytesIO(archive.read(OBJECT))))
        mask = _mask(_fields(fields["researchSubset"]), records)
    except DataError:
        raise
    except Exception:  # noqa: BLE001 - it may hold anything
        return None, False
    return None if mask is None or all(mask) else mask, mask is not None


def _fields(instance: Any) -> dict[str, Any]:
    return {one.name: value for fields in instance.field_data.values() for one, value in fields.items()}


def _mask(fields: Mapping[str, Any], records: int) -> list[bool] | None:
    """The bits of a set of rows, 64 in each number; None where they do not fit the table."""
    words, size = [int(one) for one in fields["array"]], int(fields["size"])
    if int(fields["length"]) != records or len(words) != -(-records // 64):
        return None
    mask = [bool(words[row >> 6] >> (row & 63) & 1) for row in range(records)]
    return mask if sum(mask) == size > 0 else None
