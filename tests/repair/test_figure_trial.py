"""Changes that would help tables of figures: found, tried and proved, against a plain enumeration of what fits."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import pyarrow as pa
import pytest

from tcdp_audit import audit, open_session
from tcdp_audit.cli.run import run
from tcdp_audit.cli.schema import result_schema
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.results.setting_trial import FigureProposal

EXAMPLE = Path(__file__).parents[2] / "examples" / "outputs" / "outputs.tcdp.yaml"
Cells = Mapping[tuple[str, str], int]


def counts(seed: int, rows: int = 4, columns: int = 4) -> dict[tuple[str, str], int]:
    """A two-way table of small counts with its totals."""
    random = Random(seed)  # noqa: S311 - no secret
    leaf = {(f"r{i}", f"c{j}"): int(random.random() ** 3 * 30) for i in range(rows) for j in range(columns)}
    names = [[f"r{i}" for i in range(rows)] + ["All"], [f"c{j}" for j in range(columns)] + ["All"]]
    return {
        key: sum(
            n for cell, n in leaf.items() if all(own in ("All", label) for label, own in zip(cell, key, strict=True))
        )
        for key in product(*names)
    }


def published(cells: Cells, hidden: Sequence[tuple[str, str]]) -> pa.Table:
    """The table as text, the hidden ones as `*`."""
    keys = list(cells)
    figures = ["*" if key in hidden else str(cells[key]) for key in keys]
    return pa.table({"row": [one for one, _ in keys], "column": [one for _, one in keys], "n": figures})


def policy(*expect: Any, **table: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "tables": {
            "t": {
                "dimensions": {"row": {"total": "All"}, "column": {"total": "All"}},
                "measures": {"n": {"counts": "people"}},
                "suppressed": {"*": "unknown"},
                **table,
            }
        },
        "expect": list(expect) or [{"cell_frequency": {"k": 4}}, {"derivable_small_count": {"k": 4}}],
    }


def tried(table: Any, rules: Any, **options: Any) -> Audit:
    return audit({"t": table}, rules, try_remedies=True, **options)


def proposals(audited: Audit) -> Sequence[FigureProposal]:
    assert audited.figure_trial is not None
    return audited.figure_trial.proposals


def hidden_by(one: FigureProposal) -> list[tuple[str, str]]:
    return [(cell.labels["row"], cell.labels["column"]) for cell in one.hidden]


def possible_values(cells: Cells, hidden: Sequence[tuple[str, str]]) -> dict[tuple[str, str], set[int]]:
    """All values of each hidden cell in every table of whole numbers that fits, by plain enumeration of the leaves."""
    inner = [key for key in cells if "All" not in key]
    free = [key for key in inner if key in hidden]
    values: dict[tuple[str, str], set[int]] = {key: set() for key in hidden}
    for guess in product(range(sum(cells[key] for key in free) + 1), repeat=len(free)):
        full = {**{key: cells[key] for key in inner}, **dict(zip(free, guess, strict=True))}
        sums = {
            key: sum(
                n for cell, n in full.items() if all(own in ("All", one) for one, own in zip(cell, key, strict=True))
            )
            for key in cells
        }
        if all(sums[key] == cells[key] for key in cells if key not in hidden):
            for key in hidden:
                values[key].add(sums[key])
    return values


@pytest.mark.parametrize("seed", range(6))
def test_no_figure_that_a_proposal_hides_has_one_value(seed: int) -> None:
    cells = counts(seed, 2, 2)
    small = [key for key, n in cells.items() if 0 < n < 4]
    audited = tried(published(cells, small), policy())
    if audited.figure_trial is None:
        assert audited.status == "passed"
        return
    for one in proposals(audited):
        if one.passes and one.hidden and not one.margins:
            everything = [*small, *hidden_by(one)]
            if sum("All" not in key for key in everything) <= 3:
                assert all(len(values) > 1 for values in possible_values(cells, everything).values())


@pytest.mark.parametrize("seed", range(12))
def test_a_changed_file_passes_as_the_proposal_says(seed: int) -> None:
    cells = counts(seed)
    small = [key for key, n in cells.items() if 0 < n < 4]
    rules = policy()
    audited = tried(published(cells, small), rules)
    if audited.figure_trial is None:
        assert audited.status == "passed"
        return
    passing = [one for one in proposals(audited) if one.passes]
    assert passing
    for one in passing:
        if one.base is not None:
            figures = {key: (n + one.base // 2) // one.base * one.base for key, n in cells.items()}
            again = audit({"t": published(figures, small)}, policy(rounding={"base": one.base, "half": "up"}))
        elif one.margins:
            continue
        else:
            again = audit({"t": published(cells, [*small, *hidden_by(one)])}, rules)
        assert again.status == "passed", (seed, one.title)


def test_margins_that_are_left_out_pass_when_the_table_declares_its_categories_exhaustive() -> None:
    cells = {
        ("a", "x"): 3, ("a", "y"): 40, ("a", "All"): 43,
        ("b", "x"): 0, ("b", "y"): 0, ("b", "All"): 0,
        ("All", "x"): 3, ("All", "y"): 40, ("All", "All"): 43,
    }  # fmt: skip
    audited = tried(published(cells, [("a", "x")]), policy())
    margins = [one for one in proposals(audited) if one.margins]
    assert margins
    for one in margins:
        left = {name for _, name in one.margins}
        remaining = {
            key: n
            for key, n in cells.items()
            if not ("row" in left and key[0] == "All") and not ("column" in left and key[1] == "All")
        }
        dimensions = {name: {"exhaustive": True} if name in left else {"total": "All"} for name in ("row", "column")}
        again = audit(
            {"t": published(remaining, [("a", "x"), *hidden_by(one)])},
            policy({"cell_frequency": {"k": 4}}, {"derivable_small_count": {"k": 4}}, dimensions=dimensions),
        )
        assert (again.status == "passed") == one.passes


def test_a_published_small_count_is_hidden_with_what_reveals_it() -> None:
    cells = counts(3)
    audited = tried(published(cells, []), policy({"cell_frequency": {"k": 4}}))
    first = proposals(audited)[0]
    small = [key for key, n in cells.items() if 0 < n < 4]
    assert set(small) < set(hidden_by(first))
    assert {cell.says for cell in first.hidden[: len(small)]} == {"fails a demand as it is published"}
    assert first.passes
    assert first.figures_lost == len(first.hidden)


def test_a_result_has_no_figure_of_a_proposal_unless_asked() -> None:
    cells = counts(3)
    rules = policy({"cell_frequency": {"k": 4}})
    plain = tried(published(cells, []), rules).as_json()
    jsonschema.validate(plain, json.loads(result_schema()))
    assert all(one["people"] is None for one in plain["figure_trial"]["proposals"])
    assert 'figures": {' not in json.dumps(plain["figure_trial"])
    shown = tried(published(cells, []), rules, show_values=True)
    first = proposals(shown)[0]
    people = sum(cells[key] for key in set(hidden_by(first)) if "All" not in key)
    assert first.people == people
    assert f"the hidden cells have {people:,} people" in first.effect


def test_nothing_is_tried_where_no_cell_fails() -> None:
    cells = {key: 2 * people for key, people in counts(3).items()}
    assert tried(published(cells, []), policy({"cell_frequency": {"k": 2}})).figure_trial is None
    assert audit({"t": published(cells, [])}, policy()).figure_trial is None


def test_nothing_is_tried_on_tables_that_contradict_themselves() -> None:
    cells = {**counts(3), ("All", "All"): 1}
    trial = tried(published(cells, []), policy({"cell_frequency": {"k": 4}})).figure_trial
    assert trial is not None
    assert not trial.proposals
    assert "mend those first" in trial.reason


def test_what_a_text_itself_says_is_not_mended_by_hiding_others() -> None:
    cells = counts(5)
    small = [key for key, n in cells.items() if 0 < n < 4]
    assert small
    rules = policy({"derivable_small_count": {"k": 4, "certainty": "below"}}, suppressed={"*": [1, 3]})
    trial = tried(published(cells, small), rules).figure_trial
    assert trial is not None
    assert not any(one.hidden and one.passes for one in trial.proposals)


def test_a_session_answers_as_a_single_audit() -> None:
    table, rules = published(counts(3), []), policy({"cell_frequency": {"k": 4}})
    with open_session({"t": table}, rules) as session:
        again = session.audit(try_remedies=True).figure_trial
    assert again == tried(table, rules).figure_trial


def test_the_example_is_mended_and_reports_say_how(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report, page, result = tmp_path / "r.md", tmp_path / "r.html", tmp_path / "r.json"
    written = [option for path in (report, page, result) for option in ("--report", str(path))]
    given = ["--policy", str(EXAMPLE), "--try-remedies", *written]
    assert run("check", given) == 1
    printed = " ".join(capsys.readouterr().out.split())
    assert "Hide 5 figures: Every demand on the tables then holds. 5 of 32 published figures are not shown" in printed
    assert "ward North, age 80+ (patients of admissions): reveals ward South, age 80+" in printed
    assert "τ-Argus and sdcTable" in printed
    text = report.read_text(encoding="utf-8")
    assert "| ward North, age 80+ | patients of admissions | reveals ward South, age 80+ |" in text
    jsonschema.validate(json.loads(result.read_text(encoding="utf-8")), json.loads(result_schema()))
    assert run("verify", [str(page)]) == 0
    assert run("verify", [str(result)]) == 0


def test_a_report_without_a_trial_names_the_command(tmp_path: Path) -> None:
    report = tmp_path / "r.md"
    run("check", ["--policy", str(EXAMPLE), "--report", str(report), "--quiet"])
    text = report.read_text(encoding="utf-8")
    assert "--try-remedies --report REPORT.html" in text


def nested(seed: int) -> dict[str, dict[tuple[str, ...], int]]:
    """A table by row and column, one by row, and one of men by column, of the same people."""
    random = Random(seed)  # noqa: S311 - no secret
    people = [
        (f"r{int(3 * random.random() ** 2)}", f"c{int(3 * random.random())}", random.random() < 0.4) for _ in range(70)
    ]
    rows, columns = ["r0", "r1", "r2", "All"], ["c0", "c1", "c2", "All"]

    def number(row: str, column: str, *, men: bool = False) -> int:
        return sum(row in ("All", one) and column in ("All", two) and (not men or three) for one, two, three in people)

    return {
        "both": {(row, column): number(row, column) for row in rows for column in columns},
        "by_row": {(row,): number(row, "All") for row in rows},
        "men": {(column,): number("All", column, men=True) for column in columns},
    }


NESTED_DIMENSIONS = {"both": ("row", "column"), "by_row": ("row",), "men": ("column",)}


def nested_policy() -> dict[str, Any]:
    tables = {
        name: {
            "about": {"who": "all", **({"sex": "male"} if name == "men" else {})},
            "dimensions": {one: {"total": "All"} for one in dimensions},
            "measures": {"n": {"counts": "people"}},
            "suppressed": {"*": "unknown", "<5": [1, 4]},
        }
        for name, dimensions in NESTED_DIMENSIONS.items()
    }
    checks = ("cell_frequency", "derivable_small_count", "table_differencing")
    return {"version": 1, "tables": tables, "expect": [{one: {"k": 5}} for one in checks]}


def nested_tables(
    cells: Mapping[str, Mapping[tuple[str, ...], int]], hidden: set[tuple[str, ...]]
) -> dict[str, pa.Table]:
    tables = {}
    for name, figures in cells.items():
        shown = [
            "*" if (name, *key) in hidden else "<5" if 0 < n < 5 and "All" not in key else str(n)
            for key, n in figures.items()
        ]
        labels = zip(*figures, strict=True)
        tables[name] = pa.table({**dict(zip(NESTED_DIMENSIONS[name], labels, strict=True)), "n": shown})
    return tables


@pytest.mark.long
@pytest.mark.parametrize("seed", range(8))
def test_changed_files_of_several_tables_pass_as_proposals_say(seed: int) -> None:
    cells, rules = nested(seed), nested_policy()
    audited = audit(nested_tables(cells, set()), rules, try_remedies=True)
    if audited.figure_trial is None:
        assert audited.status == "passed"
        return
    for one in audited.figure_trial.proposals:
        if not one.margins and one.base is None:
            places = {
                (cell.table, *(cell.labels[name] for name in NESTED_DIMENSIONS[cell.table])) for cell in one.hidden
            }
            again = audit(nested_tables(cells, places), rules)
            assert (again.status == "passed") == one.passes, seed
            remaining = {outcome.title for outcome in again.outcomes if outcome.blocks}
            assert not remaining & {*one.mends}
