"""The page's figures are the auditor's, and those of the papers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from math import inf
from pathlib import Path
from random import Random
from typing import Any

import pytest
from random_tables import ATTRIBUTES, random_conventions, random_demands, random_rows

from tcdp_audit import audit

Ask = Callable[..., list[dict[str, Any]]]


def compared(seeds: range, asked: Ask) -> Counter[str]:
    """Count the outcomes whose figures agree; fail at the first that do not."""
    import pyarrow as pa

    questions, outcomes = [], []
    for seed in seeds:
        random = Random(seed)  # noqa: S311 - the same tables every time
        rows, conventions = random_rows(random), random_conventions(random)
        demands = random_demands(random, exempt=conventions["suppressed"] == "exempt")
        demands = [(name, {key: one for key, one in given.items() if one is not None}) for name, given in demands]
        policy = {"version": 1, "attributes": ATTRIBUTES, "conventions": conventions}
        table = pa.table({name: [row[name] for row in rows] for name in rows[0]})
        result = audit(table, {**policy, "expect": [{name: given} for name, given in demands]})
        outcomes += [(seed, one) for one in result.expectations]
        declared = {"declared": {"attributes": ATTRIBUTES}, "rows": rows, "conventions": conventions}
        questions += [{**declared, "measure": name, "parameters": given} for name, given in demands]
    kinds: Counter[str] = Counter()
    for (seed, outcome), answer in zip(outcomes, asked(questions), strict=True):
        if outcome.status == "error" or "not_mine" in answer:
            assert (outcome.status, "not_mine" in answer) == ("error", True), (seed, outcome, answer)
            kinds["not mine"] += 1
            continue
        figure = inf if answer["answer"] == "infinity" else float(Fraction(answer["answer"]))
        assert figure == pytest.approx(outcome.observed, rel=1e-9), (seed, outcome, answer)
        assert answer["status"] == outcome.status, (seed, outcome, answer)
        assert (answer["classes"], answer["records"]) == (outcome.classes.total, outcome.records.total)
        if outcome.classes.failing is not None:
            failing = (answer["failing_classes"], answer["failing_records"])
            assert failing == (outcome.classes.failing, outcome.records.failing), (seed, outcome, answer)
        kinds[outcome.status] += 1
    return kinds


def test_figures_on_random_tables(asked: Ask):
    kinds = compared(range(20), asked)

    assert min(kinds[one] for one in ("passed", "failed", "measured", "not mine")) > 5


@pytest.mark.long
def test_figures_on_hundreds_of_random_tables(asked: Ask):
    assert sum(compared(range(20, 320), asked).values()) > 7_000


SALARY = {"attribute": "salary", "distance": "ordered"}
DISEASE = {"attribute": "disease", "distance": "hierarchical"}


@pytest.mark.parametrize(
    ("table", "parameters", "answer"),
    [
        ("li07_table4", SALARY, "3/8"),
        ("li07_table5", SALARY, "1/6"),
        ("li07_table4", DISEASE, "4/9"),
        ("li07_table5", DISEASE, "8/27"),
    ],
)
def test_figures_of_the_paper(data: Path, asked: Ask, table: str, parameters: dict[str, str], answer: str):
    lines = (data / "papers/li07_disease_hierarchy.csv").read_text(encoding="utf-8").splitlines()
    tree = [line.split(";") for line in lines if line]
    attributes = {
        **{name: {"role": "quasi_identifier"} for name in ("zip", "age")},
        "salary": {"role": "sensitive", "scale": "numeric"},
        "disease": {"role": "sensitive", "hierarchy": tree},
    }
    question = {
        "rows": (data / f"papers/{table}.csv").read_text(encoding="utf-8"),
        "declared": {"attributes": attributes},
    }

    assert asked([{**question, "measure": "t_closeness", "parameters": parameters}])[0]["answer"] == answer


def test_entropy_is_decided_by_whole_powers(asked: Ask):
    rows = [{"ward": "1", "illness": one} for one in ("flu", "gout", "mumps")]
    attributes = {"ward": {"role": "quasi_identifier"}, "illness": {"role": "sensitive"}}
    base = {"rows": rows, "declared": {"attributes": attributes}, "measure": "entropy_l_diversity"}
    answers = asked([{**base, "parameters": {"l": one}} for one in (3, "3000000000001/1000000000000")])

    assert [one["status"] for one in answers] == ["passed", "failed"]
