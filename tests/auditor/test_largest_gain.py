"""What an intruder learns of a unit by its whole history, of a secret that is judged in cells."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

from tcdp_audit import audit

KNOWN = {"role": "quasi_identifier", "scale": "nominal"}
SECRET = {"role": "sensitive", "scale": "nominal"}
DEMANDS = [{"t_closeness": {}}, {"distinct_l_diversity": {}}, {"homogeneity": {}}, {"k_anonymity": {}}]
Rows = Sequence[tuple[str, str, str | None]]  # unit, what is known, and the secret


def audited(rows: Rows, **more: Any) -> list[Any]:
    table = pa.table({name: pa.array([row[n] for row in rows], pa.string()) for n, name in enumerate("uas")})
    attributes = {"a": KNOWN, "s": SECRET}
    policy = {"version": 1, "unit": "u", "attributes": attributes, "expect": DEMANDS, **more}
    return [*audit(table, policy).expectations]


def slowly(rows: Iterable[tuple[str, str, str | None]], *, missing: bool = False) -> Fraction | None:
    known, secrets = defaultdict[str, list[str]](list), defaultdict[str, set[str | None]](set)
    for unit, label, secret in rows:
        known[unit].append(label)
        if missing or secret is not None:
            secrets[unit].add(secret)
    classes = defaultdict[tuple[str, ...], list[str]](list)
    for unit in secrets:
        classes[tuple(sorted(known[unit]))].append(unit)

    def share(units: Sequence[str], value: str | None) -> Fraction:
        return Fraction(sum(value in secrets[unit] for unit in units), len(units))

    values = {value for own in secrets.values() for value in own}
    gains = [share(units, value) - share([*secrets], value) for units in classes.values() for value in values]
    return max(gains, default=None)


def test_what_all_units_of_a_class_have_is_learned() -> None:
    """Of six patients three have hiv, those of one ward."""
    rows = [(unit, "1", value) for unit in "pqr" for value in ("hiv", {"p": "flu", "q": "gout", "r": "flu"}[unit])]
    rows += [(unit, "2", value) for unit in "xyz" for value in ("flu", "gout")]
    t_closeness, distinct, homogeneity, k_anonymity = audited(rows)
    assert t_closeness.details["largest_gain"] == distinct.details["largest_gain"] == Fraction(1, 2)
    assert "largest_gain" not in homogeneity.details  # judged in classes of histories
    assert "largest_gain" not in k_anonymity.details


@pytest.mark.parametrize("seed", range(12))
def test_random_tables_equal_plain_python(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - the same tables every time
    rows = [
        (f"u{draw.randrange(6)}", draw.choice("12"), draw.choice(["x", "y", "z", None]))
        for _ in range(draw.randint(4, 16))
    ]
    rows += [("v", "1", "x"), ("v", "2", "y"), ("w", "1", "z")]  # so that the secret is none of a unit
    missing = bool(seed % 2)
    conventions = {"missing_sensitive": "own_category" if missing else "excluded"}
    t_closeness = audited(rows, conventions=conventions)[0]
    assert t_closeness.details["largest_gain"] == slowly(rows, missing=missing)


def test_rows_of_a_child_table_are_judged_by_the_history_of_their_unit() -> None:
    visits = [("p", "1", "hiv"), ("p", "2", "flu"), ("q", "1", "flu"), ("r", "1", "flu"), ("r", "1", "gout")]
    tables = {
        "units": pa.table({"u": [*"pqr"]}),
        "visits": pa.table({name: [row[n] for row in visits] for n, name in enumerate("uas")}),
    }
    declared = {"units": {}, "visits": {"belongs_to": "units", "attributes": {"a": KNOWN, "s": SECRET}}}
    policy = {"version": 1, "unit": "u", "tables": declared, "expect": DEMANDS}
    t_closeness = audit(tables, policy).expectations[0]
    assert t_closeness.details["largest_gain"] == slowly(visits) == Fraction(2, 3)
