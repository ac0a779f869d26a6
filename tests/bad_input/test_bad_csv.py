"""CSV files that are wrong, each with the sentence that says what, where, and what to do."""

from __future__ import annotations

from typing import Any

import pytest
from small_release import MARK, RECORDS, TABLE

COUNT = "cells where the header names 3; quote cells with delimiters"
NOT_UTF8 = (
    "the text is not UTF-8; save the file as UTF-8, or name its encoding in the policy: `read_as: {encoding: cp1252}`"
)
UTF8 = f"1,{MARK}ü,x\n".encode()
DAMAGED = f"1,{MARK}".encode() + b"\xff,x\n"
UNCLOSED = "a quoted cell is never closed, or text follows its closing quote; correct the record"
MORE = "\n".join([*RECORDS, ""])

FAULTS: dict[str, tuple[bytes | str, str]] = {
    "empty": (b"", "release.csv: the file is empty; an empty release cannot be audited"),
    "blank lines only": (b"\n\n", "release.csv: the file is empty; an empty release cannot be audited"),
    "header only": (
        "age,zip,disease\n",
        "release.csv: the table has no records; an empty release cannot be audited",
    ),
    "blank line before the header": (
        "\n" + TABLE,
        "release.csv:1: the line is blank; the column names must be on the first line",
    ),
    "too many cells": (f"{TABLE}1,{MARK},3,4\n", f"release.csv:18: the record has 4 {COUNT}"),
    "too few cells": (f"{TABLE}1,{MARK}\n{MORE}", f"release.csv:18: the record has 2 {COUNT}"),
    "too few cells after quoted newlines": (
        f'{TABLE}1,"{MARK}\n\n{MARK}",3\n1,{MARK}\n{MORE}',
        f"release.csv:21: the record has 2 {COUNT}",
    ),
    "too few cells after a header with a newline": (
        f'age,"zip\ncode",disease\n1,{MARK}\n',
        f"release.csv:3: the record has 2 {COUNT}",
    ),
    "damaged UTF-8 in the header": (TABLE.encode().replace(b"zip", b"z\xffp") + UTF8, f"release.csv:1: {NOT_UTF8}"),
    "damaged UTF-8 in the body": (TABLE.encode() + DAMAGED + UTF8, f"release.csv:18: {NOT_UTF8}"),
    "damaged UTF-8 deep in the body": (
        f"{TABLE}{MORE * 10_000}".encode() + DAMAGED + UTF8,
        f"release.csv:160018: {NOT_UTF8}",
    ),
    "a column name twice": (
        f"age,zip,zip\n1,{MARK},3\n",
        "release.csv: the column name 'zip' appears more than once; rename all but one",
    ),
    "a column without a name": (
        f"age,,disease\n1,{MARK},3\n",
        "release.csv: column 2 has no name; give every column a name",
    ),
    "the index of a data frame": (
        f",age,disease\n0,1,{MARK}\n",
        (
            "release.csv: column 1 has no name; if it is the index of a data frame, write the file with `index=False`, "
            "or give the column a name"
        ),
    ),
    "a quote never closed": (f'{TABLE}1,"{MARK},x\n{MORE}', f"release.csv:18: {UNCLOSED}"),
    "text after a closing quote": (f'{TABLE}1,"{MARK}"x,x\n{MORE}', f"release.csv:18: {UNCLOSED}"),
    "a quote never closed in the header": (
        f'"age,zip,disease\n1,{MARK},3\n',
        "release.csv:1: a quoted column name is never closed, or is too long; correct the header",
    ),
    "line ends of two kinds": (
        f"{TABLE}1,{MARK},x\r\n",
        "release.csv:18: the line ends otherwise than the first, or holds a stray quote; use one kind of line end",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_csv_file_is_refused_with_its_line(check: Any, fault: str) -> None:
    content, sentence = FAULTS[fault]
    ran = check(content)
    assert (ran.code, ran.out, ran.err) == (3, "", f"tcdp-audit: {sentence}\n")


SOUND = {
    "byte order mark": b"\xef\xbb\xbf" + TABLE.encode(),
    "CRLF": TABLE.replace("\n", "\r\n").encode(),
    "CR": TABLE.replace("\n", "\r").encode(),
    "semicolons": TABLE.replace(",", ";").encode(),
    "tabs": TABLE.replace(",", "\t").encode(),
    "bars": TABLE.replace(",", "|").encode(),
    "no newline at the end": TABLE.rstrip("\n").encode(),
    "everything quoted": "\n".join(
        ",".join(f'"{cell}"' for cell in line.split(",")) for line in TABLE.splitlines()
    ).encode(),
    "blank line at the end": (TABLE + "\n").encode(),
}


@pytest.mark.parametrize("form", SOUND)
def test_every_usual_form_of_csv_simply_works(check: Any, form: str) -> None:
    ran = check(SOUND[form])
    assert (ran.code, ran.err, ran.failed) == (0, "", [])
    assert ran.outcome("k_anonymity")["observed"] == 8
    assert ran.outcome("k_anonymity")["records"]["total"] == 16


@pytest.mark.parametrize("name", ["a [1] *?.csv", "it's.csv", "two words.csv", "$(x) {y}.csv", "-.csv", "ü.csv"])
def test_no_file_name_is_a_pattern_or_part_of_a_statement(check: Any, name: str) -> None:
    assert check(TABLE, f"./{name}").code == 0


def test_a_missing_file_a_folder_and_an_unknown_extension_are_errors_of_usage(check: Any) -> None:
    known = ".arrow, .csv, .feather, .jsonl, .ndjson, .parquet, .tsv, text also as .gz"
    assert check(None, "absent.csv").err == "tcdp-audit: absent.csv: no such file\n"
    assert check(None, ".").err.startswith("tcdp-audit: .: the files of one table are all of one kind, ")
    unknown = check("x", "release.pdf")
    advice = "and what plugins open (`tcdp-audit plugins`); save it as CSV UTF-8"
    assert unknown.err == f"tcdp-audit: release.pdf: unknown kind of file; known are {known}, {advice}\n"
    assert {check(None, "absent.csv").code, check(None, ".").code, unknown.code} == {2}


def test_a_quoted_newline_is_part_of_a_cell(check: Any) -> None:
    ran = check(TABLE.replace(f"{MARK}00", f'"{MARK}\n00"'))
    assert (ran.code, ran.outcome("k_anonymity")["records"]["total"]) == (0, 16)


def test_a_path_that_the_system_refuses(check: Any) -> None:
    ran = check(None, "r" * 300 + ".csv")
    assert (ran.code, ran.err) == (2, f"tcdp-audit: {'r' * 300}.csv: cannot be read: File name too long\n")
