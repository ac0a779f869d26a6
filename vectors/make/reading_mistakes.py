"""Mistakes in reading a table: each turns a question into the one that a careless tool answers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import Any

from vectors.reading import Row, Vector, rows
from vectors.reference.classes import missing, roles

Rows = Sequence[Row]
NO_VALUES = {"na", "n/a", "nan", "null", "none", ""}


@dataclass(frozen=True)
class ReadingMistake:
    """A mistake that does not depend on the measure.

    Args:
        sentence: what the tool does.
        rows: the table as it reads it.
        of: the question as it understands it.
    """

    sentence: str
    rows: Callable[[Rows, Vector], Rows] | None = None
    of: Callable[[Vector], Vector] | None = None


def _cells(change: Callable[[str], str]) -> Callable[[Rows, Vector], Rows]:
    return lambda table, _: [{name: change(cell) for name, cell in row.items()} for row in table]


def _keep(test: Callable[[Row, Vector], bool]) -> Callable[[Rows, Vector], Rows]:
    return lambda table, vector: [row for row in table if test(row, vector)]


def _lacks(row: Row, vector: Vector, names: Sequence[str]) -> bool:
    return any(row[name] in missing(vector) for name in names)


def _quasi(vector: Vector) -> list[str]:
    return roles(vector, "quasi_identifier")


def _as_number(cell: str) -> str:
    try:
        number = float(cell)
    except ValueError:
        return cell
    return cell if isnan(number) or not re.match(r"[-+0-9.]", cell) else repr(number + 0.0)


def _first_of_each(table: Rows, vector: Vector) -> Rows:
    seen: dict[str, Row] = {}
    for row in table:
        seen.setdefault(row[vector.declared["unit"]], row)
    return list(seen.values())


def _once(table: Rows, _: Vector) -> Rows:
    return list({tuple(row.items()): row for row in table}.values())


def _conventions(**changed: Any) -> Callable[[Vector], Vector]:
    return lambda vector: replace(vector, conventions={**vector.conventions, **changed})


def _declared(change: Callable[[dict[str, Any], Vector], Mapping[str, Any]]) -> Callable[[Vector], Vector]:
    return lambda vector: replace(vector, declared=change(dict(vector.declared), vector))


def _roles(test: Callable[[str, Mapping[str, Any], Vector], str]) -> Callable[[Vector], Vector]:
    return _declared(
        lambda declared, vector: {
            **declared,
            "attributes": {
                name: {**one, "role": test(name, one, vector)} for name, one in declared["attributes"].items()
            },
        }
    )


def _others_known(name: str, one: Mapping[str, Any], vector: Vector) -> str:
    other = one["role"] == "insensitive" and name not in {"cost", "stage", vector.declared.get("weight")}
    return "quasi_identifier" if other else str(one["role"])


READING = {
    "drops_missing_quasi_identifiers": ReadingMistake(
        "leaves out the records that lack a quasi-identifier", _keep(lambda row, v: not _lacks(row, v, _quasi(v)))
    ),
    "drops_incomplete_records": ReadingMistake(
        "leaves out every record that lacks a cell", _keep(lambda row, v: not _lacks(row, v, list(row)))
    ),
    "missing_matches_all": ReadingMistake(
        "lets a missing quasi-identifier match every value", of=_conventions(missing_quasi_identifier="wildcard")
    ),
    "missing_is_a_value": ReadingMistake(
        "takes a missing quasi-identifier for a value of its own, where it matches every value",
        of=_conventions(missing_quasi_identifier="own_category"),
    ),
    "missing_secret_is_a_value": ReadingMistake(
        "counts a missing sensitive value as one more value", of=_conventions(missing_sensitive="own_category")
    ),
    "missing_secret_is_left_out": ReadingMistake(
        "leaves out missing sensitive values, where they are declared to be a value",
        of=_conventions(missing_sensitive="excluded"),
    ),
    "passes_what_lacks_cells": ReadingMistake(
        "judges a table with missing cells although they are declared to fail it",
        of=_conventions(missing_sensitive="excluded", missing_quasi_identifier="own_category"),
    ),
    "ignores_missing_tokens": ReadingMistake(
        "does not know the declared texts for missing cells", of=_conventions(missing_tokens=[""])
    ),
    "strips_blanks": ReadingMistake("removes blanks around a text", _cells(str.strip)),
    "ignores_case": ReadingMistake("does not tell capital from small letters", _cells(str.casefold)),
    "reads_texts_as_numbers": ReadingMistake("reads texts that look like numbers as numbers", _cells(_as_number)),
    "takes_words_for_missing": ReadingMistake(
        "takes the words NA, NaN, null or None for a missing cell",
        _cells(lambda cell: "" if cell.strip().lower() in NO_VALUES else cell),
    ),
    "normalises_letters": ReadingMistake(
        "brings letters into a normal form", _cells(lambda cell: unicodedata.normalize("NFKC", cell))
    ),
    "cuts_at_commas": ReadingMistake("ends a quoted cell at its comma", _cells(lambda cell: cell.split(",")[0])),
    "cuts_at_line_ends": ReadingMistake("ends a quoted cell at its line end", _cells(lambda cell: cell.split("\n")[0])),
    "drops_quotation_marks": ReadingMistake(
        "drops the quotation marks that belong to a cell", _cells(lambda cell: cell.replace('"', ""))
    ),
    "drops_suppressed_cells": ReadingMistake(
        "leaves out every record with a suppressed cell", _keep(lambda row, _: "*" not in row.values())
    ),
    "exempts_suppressed_records": ReadingMistake(
        "leaves out suppressed records that are declared to count", of=_conventions(suppressed="exempt")
    ),
    "exempts_by_quasi_identifiers": ReadingMistake(
        "leaves out records whose quasi-identifiers are suppressed although a secret is left",
        _keep(lambda row, v: v.conventions.get("suppressed") != "exempt" or any(row[n] != "*" for n in _quasi(v))),
    ),
    "counts_suppressed_records": ReadingMistake(
        "counts records that are suppressed throughout and declared exempt", of=_conventions(suppressed="counted")
    ),
    "removes_equal_records": ReadingMistake("removes records that are equal to another", _once),
    "counts_rows": ReadingMistake(
        "counts rows instead of people",
        of=_declared(lambda declared, _: {name: one for name, one in declared.items() if name != "unit"}),
    ),
    "keeps_one_row_of_each_person": ReadingMistake("keeps the first row of each person", _first_of_each),
    "knows_only_the_first_column": ReadingMistake(
        "groups by the first quasi-identifier alone",
        of=_roles(
            lambda name, one, v: (
                "insensitive" if one["role"] == "quasi_identifier" and name != _quasi(v)[0] else str(one["role"])
            )
        ),
    ),
    "groups_by_every_column": ReadingMistake(
        "groups by columns that are no quasi-identifiers as well", of=_roles(_others_known)
    ),
    "ignores_the_reference": ReadingMistake(
        "compares with the released table, where another reference is declared",
        of=_conventions(reference="release"),
    ),
    "looks_at_each_secret_alone": ReadingMistake(
        "judges a secret by itself, where another one is declared to be known or joined",
        of=_conventions(multiple_sensitive="per_attribute"),
    ),
    "joins_secrets": ReadingMistake(
        "judges two secrets together, where each is to be judged by itself",
        of=_conventions(multiple_sensitive="joint"),
    ),
    "knows_other_secrets": ReadingMistake(
        "groups by the other secrets as well", of=_conventions(multiple_sensitive="others_as_quasi_identifiers")
    ),
    "loses_the_last_record": ReadingMistake("loses the last record", lambda table, _: table[:-1]),
}


def applies(name: str, vector: Vector) -> bool:
    """Whether a vector has what a mistake is about."""
    conventions, table = vector.conventions, rows(vector.path)
    has_empty = any(not cell for row in table for cell in row.values())
    needs = {
        "missing_is_a_value": conventions.get("missing_quasi_identifier") == "wildcard",
        "missing_matches_all": has_empty and "missing_quasi_identifier" not in conventions,
        "missing_secret_is_left_out": conventions.get("missing_sensitive") == "own_category",
        "missing_secret_is_a_value": has_empty and "missing_sensitive" not in conventions,
        "passes_what_lacks_cells": "fail" in conventions.values(),
        "counts_suppressed_records": conventions.get("suppressed") == "exempt",
        "exempts_by_quasi_identifiers": conventions.get("suppressed") == "exempt",
        "exempts_suppressed_records": "suppressed" not in conventions,
        "drops_suppressed_cells": "suppressed" not in conventions,
        "ignores_missing_tokens": "missing_tokens" in conventions,
        "ignores_the_reference": "reference" in conventions,
        "looks_at_each_secret_alone": "multiple_sensitive" in conventions,
        "joins_secrets": "multiple_sensitive" not in conventions and len(roles(vector, "sensitive")) > 1,
        "knows_other_secrets": "multiple_sensitive" not in conventions and len(roles(vector, "sensitive")) > 1,
        "counts_rows": "unit" in vector.declared,
        "keeps_one_row_of_each_person": "unit" in vector.declared,
        "knows_only_the_first_column": len(_quasi(vector)) > 1,
    }
    return needs.get(name, True)
