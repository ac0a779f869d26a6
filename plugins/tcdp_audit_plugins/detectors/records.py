"""Numbers and codes of records: whoever holds another table with them links each record."""

from __future__ import annotations

import re
from math import expm1, lgamma, log

import numpy as np

from tcdp_audit.plugin._internal import Integers
from tcdp_audit.plugin.detector import ColumnDetector, Detector, DetectorColumn, Evidence, binomial_evidence
from tcdp_audit_plugins.detectors._shared import phrases

DENSE = 0.9  # of a range of numbers that is taken
ONE_IN_MANY = 0.99  # of records whose value no other has
CODE = re.compile(r"(?=.*\d)[^\W_][\w./#*-]{3,63}")
NUMBER = re.compile(r"[+-]?\d*[.,]?\d+([eE][+-]?\d+)?|[+-]?\d[\d.,]*")
DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}.*")
REPEATED = -expm1(-1)  # the share of different ones among n draws from n codes


def record_number(column: DetectorColumn) -> Evidence | None:
    """Integers of which no two are equal, and which count the records or ascend (or descend) with them.

    In a random column of n integers from a range of m all differ with a chance of m! / ((m - n)! m^n), and they stand
    in order with a chance of 2 / n!.

    Cost: O(values); where they do not fill a range, one pass over the column.
    """
    numbers = column.integers if not column.repeats else None
    if numbers is None or len(numbers) < 2:
        return None
    span = int(numbers[-1]) - int(numbers[0]) + 1
    if len(numbers) >= DENSE * span:
        chance = lgamma(span + 1) - lgamma(span - len(numbers) + 1) - len(numbers) * log(span)
        return Evidence(len(numbers), len(numbers), REPEATED, float(np.exp(chance)))
    steps = column.in_order()
    if steps is None or not (_ascends(steps) or _ascends(-steps)):
        return None
    return Evidence(len(numbers), len(numbers), 0.5, float(np.exp(log(2) - lgamma(len(numbers) + 1))))


def _ascends(numbers: Integers) -> bool:
    return bool((numbers[1:] > numbers[:-1]).all())


def record_code(column: DetectorColumn) -> Evidence | None:
    """Codes with letters and digits of which almost none stands in two records.

    Of n codes drawn at random from n, 63 % are different.

    Cost: O(10,000).
    """
    if not column.records or column.values < ONE_IN_MANY * column.records or not all(map(_is_code, column.texts)):
        return None
    lengths = {len(text) for text in column.texts}
    if all(map(NUMBER.fullmatch, column.texts)) and (len(lengths) > 1 or min(lengths) < 6):  # a measurement
        return None
    return binomial_evidence(column.values, column.records, REPEATED)


def _is_code(text: str) -> bool:
    return bool(CODE.fullmatch(text)) and not DATE.fullmatch(text)


DETECTORS: tuple[Detector, ...] = (
    ColumnDetector(
        name="record_number",
        noun="number of a record",
        nouns="numbers of records",
        words=phrases(
            """
            =row, row number, row id, =line, =index, id, =nr, =no, =number, nummer, lfd nr, seq, sequence, =record,
            record number, unnamed 0, rownum, numero, volgnummer
            """
        ),
        examine=record_number,
        safe_harbor="R",
        source="45 CFR 164.514(b)(2)(i)(R); ours: integers that count the records, or ascend with them",
    ),
    ColumnDetector(
        name="record_code",
        noun="code of a record",
        nouns="codes of records",
        words=phrases("id, rec id, record id, =key, =code, identifier, kennung, schlussel, identifiant, clave"),
        examine=record_code,
        safe_harbor="R",
        source="45 CFR 164.514(b)(2)(i)(R); ours: codes with a digit, almost each in a record of its own",
    ),
)
