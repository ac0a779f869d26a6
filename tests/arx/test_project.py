"""Project files of ARX are read as ARX writes them, and hostile or damaged ones are refused with a sentence."""

from __future__ import annotations

import io
import zipfile
from contextlib import suppress
from decimal import Decimal
from pathlib import Path

import pytest
from arx.projects import IDENTIFYING, QI, SENSITIVE, Attribute, Project, research_sample, write_project

from tcdp_audit.arx import project as reading, read_project
from tcdp_audit.plugin.detector import Role
from tcdp_audit.plugin.engine import DataError, UsageError

CELL = "unlikely-cell"
AGES = [[str(age), f"[{age // 10 * 10}, {age // 10 * 10 + 10}[", "*"] for age in range(20, 40)]
ATTRIBUTES = [
    Attribute("name", IDENTIFYING),
    Attribute("age", QI, "Integer", hierarchy=AGES),
    Attribute("Größe <cm> & 'size'", QI, "Decimal", format="#,##0.00"),
    Attribute("illness", SENSITIVE, "Ordinal", format="mild\nsevere"),
]
ROWS = [[f"n{row}", str(20 + row % 20), "1.5", "mild" if row % 3 else "severe"] for row in range(130)]


@pytest.mark.parametrize("version", ["2.0", "2.3.0", "3.3.0", "3.9.2"])
def test_a_project_is_read_as_it_was_written(tmp_path: Path, version: str):
    read = read_project(write_project(tmp_path / "a.deid", Project(ATTRIBUTES, ROWS, version=version)))

    assert [one.name for one in read.attributes] == ["name", "age", "Größe <cm> & 'size'", "illness"]
    assert [one.role for one in read.attributes] == [
        Role.IDENTIFIER,
        Role.QUASI_IDENTIFIER,
        Role.QUASI_IDENTIFIER,
        Role.SENSITIVE,
    ]
    assert read.attributes[1].hierarchy == AGES
    assert read.attributes[1].levels == (None, None)
    assert read.attributes[3].format == "mild\nsevere"
    assert (read.version, read.title, read.models) == (version, "Study", ["5-anonymity"])
    assert (read.suppression, read.quality) == (Decimal("0.05"), "Loss (0.5/1.0/1.0)")
    assert (list(read.header), read.rows, read.notes) == ([one.name for one in ATTRIBUTES], ROWS, [])


@pytest.mark.parametrize("model", ["Inclusion", "(3)-map", "(0.0,0.5)-presence"])
def test_the_research_sample_is_what_is_released(tmp_path: Path, model: str):
    sample = [0, 1, 62, 63, 64, 65, 127, 128, 129]
    read = read_project(write_project(tmp_path / "a.deid", Project(ATTRIBUTES, ROWS, [model], sample=sample)))

    assert read.released == [ROWS[row] for row in sample]
    assert read.is_sample_readable


def test_a_sample_that_no_model_uses_is_ignored_as_by_arx(tmp_path: Path):
    read = read_project(write_project(tmp_path / "a.deid", Project(ATTRIBUTES, ROWS, sample=[1, 2])))
    assert read.released == ROWS


@pytest.mark.parametrize(
    "written",
    [
        b"",
        b"\xac\xed\x00\x05",
        b"no object",
        research_sample(10, [1]),
        research_sample(130, []),
        b"\xac\xed\x00\x05\x73",
    ],
)
def test_an_unreadable_sample_is_known_as_unreadable(tmp_path: Path, written: bytes):
    project = Project(ATTRIBUTES, ROWS, ["Inclusion"], entries={"input/config.dat": written})
    assert not read_project(write_project(tmp_path / "a.deid", project)).is_sample_readable


@pytest.mark.parametrize("separator", [";", ",", "\t", "|"])
def test_cells_with_separators_quotes_and_line_ends_stay_whole(tmp_path: Path, separator: str):
    rows = [['a;b,c|d\t"e"', "20", "", "x\ny"], ["", "21", " ", "mild"]]
    read = read_project(write_project(tmp_path / "a.deid", Project(ATTRIBUTES, rows, separator=separator)))
    assert read.rows == rows


def test_text_of_windows_is_read_and_said(tmp_path: Path):
    rows = [["Zoë", "20", "1", "mild"]]
    attributes = [Attribute("name"), Attribute("age"), Attribute("size"), Attribute("illness")]
    read = read_project(write_project(tmp_path / "a.deid", Project(attributes, rows, encoding="cp1252")))

    assert read.rows == rows
    assert read.notes == [
        (
            "data/input.csv is not UTF-8. It was read as Windows-1252, which versions of ARX before 3.7.1 wrote on "
            "Windows: check letters with accents."
        )
    ]


def test_a_hierarchy_whose_file_is_missing_is_said(tmp_path: Path):
    project = Project(ATTRIBUTES, ROWS, without=["input/hierarchies/age.csv"])
    read = read_project(write_project(tmp_path / "a.deid", project))
    assert read.notes == ["The file of the hierarchy of 'age' is not in the project."]


XML_BOMB = b"""<!DOCTYPE config [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><config>&b;</config>"""
EXTERNAL = b"""<!DOCTYPE config [<!ENTITY a SYSTEM "file:///etc/passwd">]><config>&a;</config>"""


@pytest.mark.parametrize(
    ("entries", "sentence"),
    [
        ({"input/config.xml": XML_BOMB}, "input/config.xml has a document type or entities, which ARX never writes"),
        ({"input/config.xml": EXTERNAL}, "input/config.xml has a document type or entities, which ARX never writes"),
        ({"input/definition.xml": b"<definition"}, "input/definition.xml is no XML"),
        ({"input/definition.xml": b"<other/>"}, "input/definition.xml is none of ARX: its root is not <definition>"),
        (
            {"input/definition.xml": b"<definition></definition>"},
            "has no attribute; import data into the project first",
        ),
        (
            {"metadata.xml": b"<metadata><vocabulary>9.0</vocabulary></metadata>"},
            "vocabulary '9.0' of ARX is not known",
        ),
        ({"project.xml": b"<project><separator>ab</separator></project>"}, "the separator must be one character"),
        ({"../outside.csv": b"x"}, "has an entry that leads out of the archive; nothing was read"),
        ({"/etc/outside": b"x"}, "has an entry that leads out of the archive; nothing was read"),
        ({"C:\\outside": b"x"}, "has an entry that leads out of the archive; nothing was read"),
        ({"data/input.csv": CELL.encode()}, "the columns of data/input.csv are not the attributes of"),
        (
            {"input/config.xml": b"<config><relativeMaxOutliers>2</relativeMaxOutliers></config>"},
            "relativeMaxOutliers must be a number from 0 to 1",
        ),
    ],
)
def test_what_is_wrong_with_a_project_is_a_sentence(tmp_path: Path, entries: dict[str, bytes], sentence: str):
    path = write_project(tmp_path / "a.deid", Project(ATTRIBUTES, ROWS, entries=entries))

    with pytest.raises(DataError, match=r"a\.deid") as raised:
        read_project(path)
    assert sentence in str(raised.value)
    assert CELL not in str(raised.value)


def test_a_row_of_another_length_is_refused_by_its_number(tmp_path: Path):
    path = write_project(tmp_path / "a.deid", Project(ATTRIBUTES, [*ROWS, [CELL]]))

    with pytest.raises(DataError, match=r"another length than its header \(row 132\)") as raised:
        read_project(path)
    assert CELL not in str(raised.value)


@pytest.mark.parametrize("name", ["metadata.xml", "project.xml", "input/config.xml", "input/definition.xml"])
def test_a_file_without_what_a_project_has_is_no_project(tmp_path: Path, name: str):
    path = write_project(tmp_path / "a.deid", Project(ATTRIBUTES, ROWS, without=[name]))
    with pytest.raises(DataError, match=f"no project of ARX: it lacks {name}"):
        read_project(path)


def test_a_bomb_is_refused_by_the_size_that_it_states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(reading.LARGEST, ".csv", 1000)
    path = write_project(tmp_path / "a.deid", Project(ATTRIBUTES, ROWS))

    with pytest.raises(DataError, match=r"data/input\.csv has [\d,]+ bytes, and at most 1,000 are read; export"):
        read_project(path)


def test_an_entry_that_states_a_wrong_size_is_damaged(tmp_path: Path):
    path = write_project(tmp_path / "a.deid", Project(ATTRIBUTES, ROWS))
    content = bytearray(path.read_bytes())
    place = content.rindex(b"project.xml") - 46 + 24  # the size in the central directory
    content[place : place + 4] = (5).to_bytes(4, "little")
    path.write_bytes(content)

    with pytest.raises(DataError, match=r"project\.xml is damaged"):
        read_project(path)


def test_two_entries_of_one_name_are_refused(tmp_path: Path):
    path = write_project(tmp_path / "a.deid", Project(ATTRIBUTES, ROWS))
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr("project.xml", "<project/>")
    with pytest.raises(DataError, match="two entries of one name"):
        read_project(path)


@pytest.mark.parametrize("content", [b"", b"PK\x05\x06", b"age;sex\n20;m\n", bytes(100)])
def test_a_file_that_is_no_archive_is_said_to_be_none(tmp_path: Path, content: bytes):
    path = tmp_path / "a.deid"
    path.write_bytes(content)
    with pytest.raises(DataError, match="no project of ARX, which is a ZIP archive"):
        read_project(path)


def test_a_file_that_is_not_there(tmp_path: Path):
    with pytest.raises(UsageError, match="no such file"):
        read_project(tmp_path / "none.deid")


def test_every_cut_of_a_project_is_refused_or_read(tmp_path: Path):
    whole = write_project(tmp_path / "a.deid", Project(ATTRIBUTES, ROWS[:5])).read_bytes()
    for length in range(0, len(whole), 97):
        (tmp_path / "b.deid").write_bytes(whole[:length])
        with pytest.raises(DataError):
            read_project(tmp_path / "b.deid")


def test_changed_bytes_end_in_a_sentence(tmp_path: Path):
    whole = write_project(tmp_path / "a.deid", Project(ATTRIBUTES, ROWS[:5])).read_bytes()
    for place in range(0, len(whole), 41):
        changed = bytearray(whole)
        changed[place] ^= 0x55
        (tmp_path / "b.deid").write_bytes(changed)
        with suppress(DataError, UsageError):  # and no other error
            read_project(tmp_path / "b.deid")


def test_an_encrypted_entry_is_refused(tmp_path: Path):
    path = write_project(tmp_path / "a.deid", Project(ATTRIBUTES, ROWS))
    content = bytearray(path.read_bytes())
    for offset, flag in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = 0
        while (start := content.find(offset, start)) >= 0:
            content[start + flag] |= 1
            start += 4
    path.write_bytes(content)
    with pytest.raises(DataError, match="is damaged or encrypted"):
        read_project(path)
    assert zipfile.is_zipfile(io.BytesIO(content))
