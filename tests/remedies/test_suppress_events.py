"""Suppressed events: the labels of the least support go, as few as suffice."""

from __future__ import annotations

import random
from collections import Counter

import pyarrow as pa
import pytest
from histories import KNOWN, PLUGINS, UNIT, clinic, clinic_policy, figures_of, histories_of, repaired, treated

from tcdp_audit import RemedyError, fix


def with_rare_rows(seed: int, patients: int = 60) -> pa.Table:
    """One or two visits to common wards, and now and then one to a rare ward."""
    draw = random.Random(seed)  # noqa: S311 - a generated table
    rows = [(one, "2024-01", draw.choice("nnns"), "a") for one in range(patients) for _ in range(draw.randint(1, 2))]
    rows += [(one, f"2024-{draw.randint(2, 9):02}", draw.choice("xyz"), "b") for one in range(0, patients, 7)]
    return pa.table(dict(zip((UNIT, *KNOWN, "diagnosis"), zip(*rows, strict=True), strict=True)))


def slowly(table: pa.Table, k: int) -> int | None:
    """The number of labels without which every history is k units': each number is tried."""
    rows = [(row[UNIT], (row["month"], row["ward"])) for row in table.to_pylist()]
    support = Counter(label for _, label in set(rows))
    labels = sorted(support, key=lambda label: (support[label], label))
    for number in range(1, len(labels)):
        gone = set(labels[:number])
        left = pa.table(
            {
                UNIT: [unit for unit, label in rows if label not in gone],
                "month": [label[0] for _, label in rows if label not in gone],
                "ward": [label[1] for _, label in rows if label not in gone],
            }
        )
        if figures_of(histories_of(left).values())[0] >= k:
            return number
    return None


@pytest.mark.parametrize("seed", range(6))
def test_labels_equal_plain_python(seed: int) -> None:
    table = with_rare_rows(seed)
    number = slowly(table, 2)
    assert number is not None
    released, treatment = treated(table, clinic_policy(k=2), "suppress_events")
    assert treatment.notes["labels"] <= number or figures_of(histories_of(released).values())[0] >= 2
    before, after = (Counter((row["month"], row["ward"]) for row in some.to_pylist()) for some in (table, released))
    assert all(after[label] in (0, rows) for label, rows in before.items())
    assert sum(after[label] == 0 for label in before) == treatment.notes["labels"]
    assert len(table) - len(released) == treatment.notes["records"]


def test_common_labels_that_do_not_suffice() -> None:
    with pytest.raises(RemedyError, match="even the rows of one combination of quasi-identifiers do not suffice"):
        treated(clinic(), clinic_policy(), "suppress_events")
    with pytest.raises(RemedyError, match="`at_most` allows 1;"):
        treated(with_rare_rows(1), clinic_policy(k=2), "suppress_events", at_most="0.01")
    with pytest.raises(RemedyError, match="no demand fails that it acts on"):
        treated(with_rare_rows(1), clinic_policy(k=1), "suppress_events")


def test_a_release_is_repaired_and_says_who_has_no_row_left() -> None:
    table = with_rare_rows(2).append_column("note", [[""] * len(with_rare_rows(2))]).drop_columns(["note"])
    lonely = pa.table({UNIT: [999], "month": ["2024-12"], "ward": ["q"], "diagnosis": ["a"]})
    result = fix(pa.concat_tables([table, lonely]), clinic_policy({"suppress_events": {}}, k=2), plugins=PLUGINS)
    assert result.passed
    assert result.log.steps[0].notes["units_without_rows"] == 1
    assert 999 not in result.released[UNIT].to_pylist()


def test_it_is_not_tried_twice_on_what_it_made() -> None:
    result = repaired(with_rare_rows(3), {"suppress_events": {}}, k=2)
    assert fix(result.released, clinic_policy({"suppress_events": {}}, k=2), plugins=PLUGINS).log.is_unchanged
