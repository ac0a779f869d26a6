"""The experiments of the papers: their pages have tables, pictures and claims; their scripts measure what they say."""

from __future__ import annotations

import re
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pyarrow as pa
import pytest
from documents import ROOT, read, section

CLAIMS = ("l-diversity is the fastest", "entropy l-diversity has the worst quality", "k-anonymity is slightly better")
PICTURES = ("li07-generalization.svg", "li07-mondrian.svg", "ds15-comparison.svg")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def benchmarks(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The scripts, by name."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")

    def script(name: str) -> ModuleType:
        monkeypatch.delitem(sys.modules, name, raising=False)
        return __import__(name)

    return script


def test_every_claim_of_the_slides_has_its_sentence():
    claims = section(read("docs/li07-experiment.md"), "## The three claims")

    for claim in CLAIMS:
        [verdict] = re.findall(rf"^- \*\*{claim}[^*]*\*\* ([^\n]+)", claims, re.MULTILINE)
        assert verdict.startswith(("Holds", "Does not hold", "Holds in part")), claim


@pytest.mark.parametrize("name", ["li07-experiment", "ds15-comparison"])
def test_pages_have_the_tables_of_a_whole_run(name: str):
    text = read(f"docs/{name}.md").partition("<!-- tables -->")[2].partition("<!-- end of tables -->")[0]
    heads = [line for line in text.splitlines() if line.startswith("|---")]

    assert len(heads) == {"li07-experiment": 8, "ds15-comparison": 2}[name]
    assert text.count("\n| ") == {"li07-experiment": 8 * 6, "ds15-comparison": 1 + 12 + 1 + 24}[name]


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_have_four_panels_in_light_and_dark(name: str):
    text = read(f"docs/images/{name}")
    root = ET.fromstring(text)  # noqa: S314 -- a file of this project

    assert len([one for one in root.iter(f"{SVG}text") if one.get("class") == "title"]) == 4
    assert "@media screen and (prefers-color-scheme:dark)" in text
    assert root.find(f"{SVG}title") is not None
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")


def people(records: int, seed: int) -> dict[str, list[Any]]:
    """Columns of Adult, drawn from its hierarchies' leaves."""
    rng = np.random.default_rng(seed)
    return {
        "age": rng.integers(20, 60, records).tolist(),
        **{name: rng.choice(values, records).tolist() for name, values in LEAVES.items()},
    }


LEAVES = {
    "workclass": ["Private", "State-gov"],
    "education": ["Bachelors", "Masters"],
    "native-country": ["Cuba", "Japan"],
    "marital-status": ["Divorced", "Widowed"],
    "race": ["White", "Black"],
    "sex": ["Male", "Female"],
    "occupation": ["Sales", "Tech-support", "Craft-repair"],
    "salary-class": ["<=50K", ">50K"],
}


def adult_in(folder: Path, columns: dict[str, list[Any]]) -> Path:
    """A folder like that of Adult: a table, and a hierarchy of two levels for each column."""
    (folder / "hierarchies").mkdir()
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
    (folder / "adult.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name, values in {**LEAVES, "age": range(20, 60)}.items():
        text = "".join(f"{value};*\n" for value in values)
        (folder / "hierarchies" / f"{name}.csv").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("measure", range(5))
def test_the_five_measures_are_partitioned_and_audited(measure: int, benchmarks: Any, tmp_path: Path):
    script = benchmarks("li07_experiment")
    folder = adult_in(tmp_path, people(240, measure))
    expect = list(script.MEASURES.values())[measure](2)

    for remedy in script.REMEDIES.values():
        trial = script.trial(folder, ("age", "sex"), expect, remedy)

        assert trial.seconds >= 0
        assert 1 <= trial.class_size <= 240
        # a class of the mean size in place of each: no partition into as many classes is less
        assert 240 * trial.class_size / 1e6 <= trial.discernibility <= 240**2 / 1e6


def test_classes_are_counted_as_by_hand(benchmarks: Any, tmp_path: Path):
    """None of the four classes has fewer than two records, so no level is raised, and they are those of the table."""
    script, columns = benchmarks("li07_experiment"), people(60, 7)
    trial = script.trial(
        adult_in(tmp_path, columns), ("race", "sex"), [{"k_anonymity": {"k": 2}}], script.GENERALIZATION
    )
    sizes = Counter(zip(columns["race"], columns["sex"], strict=True)).values()

    assert trial.discernibility == pytest.approx(sum(one**2 for one in sizes) / 1e6)
    assert trial.class_size == 60 / len(sizes)


def test_a_release_is_compared_under_both_distances(benchmarks: Any):
    """The cheapest release that keeps the EMD, or the factor, of each release under the multiplicative distance."""
    script = benchmarks("ds15_comparison")
    releases = {
        "multiplicative": {"2": script.Released(1.9, 0.2, 0.5)},
        "ordered": {
            "0.1": script.Released(1.5, 0.1, 0.9),
            "0.2": script.Released(float("inf"), 0.2, 0.3),
            "0.3": script.Released(float("inf"), 0.3, 0.1),
        },
    }
    [row] = script.side_by_side("T", releases)

    assert row == "| T | 2 | 1.900 | 0.2000 | 50.0 % | 0.2: ∞, 0.2000 | 30.0 % | 0.1: 1.500, 0.1000 | 90.0 % |"


def test_mondrian_is_measured_under_both_distances(benchmarks: Any):
    script = benchmarks("ds15_comparison")
    rng = np.random.default_rng(1)
    table = pa.table({"x": rng.integers(0, 50, 400), "y": rng.integers(0, 1000, 400)})
    source = script.Source("T", table, {"x": {"role": "quasi_identifier", "scale": "numeric"}}, "y", (0, 1000))
    bucketed, attributes = script.bucketed(source, 4)
    released = script.partitioned(bucketed, attributes, {"k_anonymity": {"k": 5}}, script.close("ordered", "0.2"))

    assert Counter(bucketed["y"].to_pylist()).total() == 400
    assert max(Counter(bucketed["y"].to_pylist()).values()) < 110
    assert 0 < released.ordered <= 0.2
    assert released.multiplicative > 1
    assert 0 <= released.loss < 1


@pytest.mark.parametrize(
    ("values", "count", "expected"), [([1, 2, 3, 4], 2, [0, 0, 1, 1]), ([5, 5, 5, 9], 2, [0, 0, 0, 1])]
)
def test_buckets_are_of_equal_mass_and_divide_no_value(
    values: list[int], count: int, expected: list[int], benchmarks: Any
):
    assert benchmarks("ds15_comparison").buckets(np.array(values), count).tolist() == expected


def plain_bucket(values: list[int], value: int, count: int) -> int:
    """The bucket that the middle of a value's mass is in, one record at a time."""
    below = sum(other < value for other in values)
    equal = sum(other == value for other in values)
    return int(Fraction(2 * below + equal, 2 * len(values)) * count)


def test_five_hundred_random_columns_have_the_buckets_of_the_definition(benchmarks: Any):
    script, rng = benchmarks("ds15_comparison"), np.random.default_rng(3)

    for _ in range(500):
        values = rng.integers(0, 9, rng.integers(1, 30)).tolist()
        count = int(rng.integers(1, 6))
        expected = [plain_bucket(values, one, count) for one in values]
        assert script.buckets(np.array(values), count).tolist() == expected


def test_five_hundred_random_comparisons_have_the_least_loss(benchmarks: Any):
    """No release under EMD that protects as much loses less, and the one that is shown protects as much."""
    script, rng = benchmarks("ds15_comparison"), np.random.default_rng(4)

    for _ in range(500):
        one, *others = (script.Released(*row) for row in (rng.integers(1, 9, (6, 3)) / 10).tolist())
        [row] = script.side_by_side(
            "T", {"multiplicative": {"t": one}, "ordered": dict(zip("abcde", others, strict=True))}
        )
        cells = [cell.strip() for cell in row.split("|")[6:-1]]
        for shown, lost, figure in ((cells[0], cells[1], "ordered"), (cells[2], cells[3], "multiplicative")):
            losses = [other.loss for other in others if getattr(other, figure) <= getattr(one, figure)]
            assert (shown == "none tried") == (not losses)
            assert lost == (f"{100 * min(losses):.1f} %" if losses else "")
