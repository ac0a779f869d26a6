"""The attack on post-randomisation against exact fractions pair by pair, the handbook's figures, and real data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import assume, given, strategies as st

import tcdp_audit
from tcdp_audit import Outcome, Status
from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.check.table_view import TableView
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit_plugins.checks.masking_attacks.channel import declared
from tcdp_audit_plugins.checks.masking_attacks.likelihood_attacks import candidates_under_pram
from tcdp_audit_plugins.checks.masking_attacks.masked_values import PramParameters
from tcdp_audit_plugins.checks.masking_attacks.parameters import read_matrix

PLUGINS = Plugins.load(external=False)
Row = tuple[str | None, ...]
Matrix = Mapping[tuple[str, str], Fraction]
WAYS = ("masked_to_original", "original_to_masked")
row = st.tuples(st.sampled_from(["a", "b", "c", None]), st.sampled_from(["x", "y"]))
tables = st.lists(row, min_size=1, max_size=7)


def table(rows: Sequence[Row], keys: Sequence[int]) -> pa.Table:
    columns = {name: [one[place] for one in rows] for place, name in enumerate(("first", "second"))}
    return pa.table({name: pa.array(cells, pa.string()) for name, cells in columns.items()}).append_column(
        "id", pa.array(keys, pa.int64())
    )


def policy(names: Sequence[str], parameters: Mapping[str, Any], **given: Any) -> dict[str, Any]:
    attributes: dict[str, Any] = {name: {"role": "quasi_identifier"} for name in names}
    attributes |= {"id": {"role": "insensitive"}} if "rows_aligned" not in given else {}
    pairing = given if "rows_aligned" in given else {"key": "id", **given}
    return {"version": 1, **pairing, "attributes": attributes, "expect": [{"pram_attack": dict(parameters)}]}


def attacked(released: Any, original: Any, parameters: Mapping[str, Any]) -> Outcome:
    document = policy(["first", "second"], parameters)
    (outcome,) = tcdp_audit.audit(released, document, original, plugins=PLUGINS).expectations
    return outcome


def keeping(values: Sequence[str], retention: Fraction) -> Matrix:
    rest = (1 - retention) / max(len(values) - 1, 1)
    retained = retention if len(values) > 1 else Fraction(1)
    return {(x, y): retained if x == y else rest for x in values for y in values}


def counted(pairs: Sequence[tuple[str | None, str | None]], values: Sequence[str]) -> Matrix:
    matrix = {}
    for x in values:
        whole = [one for one in pairs if one[0] == x and one[1] is not None]
        matrix |= {(x, y): Fraction(whole.count((x, y)), len(whole)) for y in values if whole}
    return matrix


def probability(matrix: Matrix, released: Sequence[str | None], x: str | None, y: str | None) -> Fraction:
    """Pr(y released | x); whoever knows nothing of x goes by what was released in all."""
    if y is None:
        return Fraction(1)
    if x is None or (x, y) not in matrix:
        cells = [one for one in released if one is not None]
        return Fraction(cells.count(y), len(cells))
    return matrix[x, y]


def brute(released: Sequence[Row], original: Sequence[Row], retention: Fraction | None) -> dict[str, Any]:
    """Everything by the definition, pair by pair, in fractions. Record i of one is person i of the other."""
    matched = range(min(len(released), len(original)))
    columns = []
    for place in range(2):
        values = sorted({one[place] for one in (*released, *original)} - {None})  # type: ignore[type-var]
        pairs = [(original[i][place], released[i][place]) for i in matched]
        matrix = counted(pairs, values) if retention is None else keeping(values, retention)  # type: ignore[arg-type]
        columns.append((matrix, [one[place] for one in released]))
    likelihood = [
        [
            prod(
                probability(matrix, cells, x, y) for (matrix, cells), x, y in zip(columns, person, record, strict=True)
            )
            for person in original
        ]
        for record in released
    ]
    links = dict.fromkeys(WAYS, Fraction(0))
    truths, tops = [], []
    for i in matched:
        for way, scores in zip(WAYS, (likelihood[i], [one[i] for one in likelihood]), strict=True):
            links[way] += Fraction(scores[i] == max(scores), scores.count(max(scores)))
        truths.append(likelihood[i][i] / sum(likelihood[i]))
        tops.append(max(likelihood[i]) / sum(likelihood[i]))
    return {"links": links, "truths": truths, "tops": tops, "likelihood": likelihood}


@pytest.mark.long
@given(tables, tables, st.sampled_from([None, Fraction(1, 2), Fraction(9, 10), Fraction(1, 5)]))
def test_links_and_posteriors_are_those_of_every_pair(
    released: list[Row], original: list[Row], retention: Fraction | None
):
    pairs = list(zip(released, original, strict=False))
    assume(all(any(one[place] is not None is not other[place] for one, other in pairs) for place in range(2)))
    compare(released, original, retention)


@pytest.mark.parametrize("retention", [None, Fraction(9, 10)])
def test_missing_cells_and_people_in_one_table_only(retention: Fraction | None):
    compare([("a", "x"), (None, "y"), ("b", "x")], [("a", "y"), ("b", "y"), (None, "x"), ("c", "x")], retention)


def compare(released: list[Row], original: list[Row], retention: Fraction | None) -> None:
    attack_outcome = attacked(
        table(released, range(len(released))),
        table(original, range(len(original))),
        {} if retention is None else {"retention": retention},
    )
    exact = brute(released, original, retention)
    matched = len(exact["truths"])
    assert attack_outcome.observed == pytest.approx(float(exact["links"][WAYS[0]] / matched), abs=1e-12)
    assert {way: attack_outcome.details[way]["expected_correct"] for way in WAYS} == exact["links"]
    assert attack_outcome.details["mean_posterior_of_truth"] == pytest.approx(float(sum(exact["truths"]) / matched))
    assert attack_outcome.details["mean_top_posterior"] == pytest.approx(float(sum(exact["tops"]) / matched))
    if all(abs(float(one) - 0.5) > 1e-9 for one in (*exact["tops"], *exact["truths"])):
        assert attack_outcome.details["above_half"] == sum(one > 0.5 for one in exact["tops"])
        assert attack_outcome.details["right_above_half"] == sum(one > 0.5 for one in exact["truths"])


@pytest.mark.long
@given(tables, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(rows: list[Row], random: Any):
    assume(len(rows) > 1)
    original, released = table(rows, range(len(rows))), table(rows[1:] + rows[:1], range(len(rows)))
    shuffled = released.take(random.sample(range(len(rows)), len(rows)))
    assert attacked(shuffled, original, {"retention": "0.8"}) == attacked(released, original, {"retention": "0.8"})


def test_a_posterior_above_the_probability_makes_a_candidate():
    rows: list[Row] = [("a", "x"), ("a", "y"), ("b", "y")]
    released, original = table(rows, [1, 2, 3]), table(rows, [1, 2, 3])
    # the first record: 0.81, 0.09 and 0.01 of 0.91; the second 0.09, 0.81, 0.09 of 0.99; the third as the first
    details = attacked(released, original, {"retention": "0.9", "probability": "0.0908"}).details["at_probability"]
    assert details["mean_candidates"] == pytest.approx((2 + 3 + 2) / 3)
    assert (details["least_candidates"], details["single_candidate"], details["truth_among_candidates"]) == (2, 0, 3)
    parameters = PramParameters.model_validate({"retention": "0.9", "probability": "0.5"})
    document = policy(["first", "second"], {"retention": "0.9"})
    with open_engine(released, 2**28) as engine, open_engine(original, 2**28) as other:
        view = TableView(tcdp_audit.load_policy(document), engine, {"original": other})
        assert candidates_under_pram(view, parameters).tolist() == [1, 1, 1]


def test_the_handbook_s_men_and_women():
    sexes = ["m"] * 110 + ["f"] * 90
    cells = pa.table({"sex": sexes})
    document = policy(["sex"], {"retention": "0.9"}, rows_aligned=True)
    (one,) = tcdp_audit.audit(cells, document, cells).expectations
    (sex,) = one.details["cells"]
    assert sex["least_cell_posterior"] == pytest.approx(81 / 92)
    assert sex["mean_cell_posterior"] == pytest.approx((110 * 11 / 12 + 90 * 81 / 92) / 200)
    assert (sex["compared"], sex["unchanged"]) == (200, 200)


MATRIX = "sex;m;f\nm;0.9;0.1\nf;0.1;0.9\n"
SEXES = ["m"] * 5 + ["f"] * 4
RELEASED = ["m"] * 4 + ["f"] * 5


def with_file(folder: Path, text: str) -> tcdp_audit.Audit:
    (folder / "sex.csv").write_text(text)
    path = folder / "sex.tcdp.yaml"
    path.write_text(
        "version: 1\nrows_aligned: true\nattributes: {sex: {role: quasi_identifier}}\n"
        "expect: [{pram_attack: {matrix: {sex: sex.csv}, at_most: 0.5}}]\n"
    )
    return tcdp_audit.audit(pa.table({"sex": RELEASED}), path, pa.table({"sex": SEXES}))


def test_a_matrix_in_a_file_is_the_retention_that_it_says(tmp_path: Path):
    result = with_file(tmp_path, MATRIX)
    (one,) = result.expectations
    document = policy(["sex"], {"retention": "0.9"}, rows_aligned=True)
    (other,) = tcdp_audit.audit(pa.table({"sex": RELEASED}), document, pa.table({"sex": SEXES})).expectations
    assert (one.status, one.observed, one.details["estimated"]) == (Status.PASSED, other.observed, [])
    assert one.details["mean_posterior_of_truth"] == other.details["mean_posterior_of_truth"]
    assert [(file.kind, file.attribute) for file in result.files] == [("matrix", "sex")]


def of_sexes(**parameters: Any) -> Outcome:
    document = policy(["sex"], parameters, rows_aligned=True)
    (one,) = tcdp_audit.audit(pa.table({"sex": RELEASED}), document, pa.table({"sex": SEXES})).expectations
    return one


LINES = {"m": {"m": "0.9", "f": "0.1"}, "f": {"m": "0.2", "f": "0.8"}}


def test_a_matrix_in_the_policy_is_that_of_a_file_and_its_values_are_counted(tmp_path: Path):
    (file,) = with_file(tmp_path, "sex;m;f\nm;0.9;0.1\nf;0.2;0.8\n").expectations
    one = of_sexes(matrix={"sex": LINES})
    assert one.details == file.details
    assert one.parameters["matrix"] == {"sex": "2 values"}
    assert "1 row is no distribution" in of_sexes(matrix={"sex": {**LINES, "m": {"m": 0.5}}}).message


def test_an_invariant_matrix_is_adapted_to_the_original(tmp_path: Path):
    """Of five men and four women P = 0.9 becomes R = P Q with t R = t, worked out by hand."""
    back = {"m": Fraction("0.9") * 5 / (Fraction("0.9") * 5 + Fraction("0.2") * 4)}
    back["f"] = Fraction("0.8") * 4 / (Fraction("0.8") * 4 + Fraction("0.1") * 5)
    men = Fraction("0.9") * back["m"] + Fraction("0.1") * (1 - back["f"])
    women = Fraction("0.8") * back["f"] + Fraction("0.2") * (1 - back["m"])
    assert 5 * men + 4 * (1 - women) == 5
    (adapted,) = with_file(
        tmp_path, f"sex;m;f\nm;{float(men)};{float(1 - men)}\nf;{float(1 - women)};{float(women)}\n"
    ).expectations
    result = of_sexes(matrix={"sex": LINES}, invariant=True)
    for name in ("mean_posterior_of_truth", "mean_top_posterior", "expected_correct"):
        assert float(result.details[name]) == pytest.approx(float(adapted.details[name]))
    as_declared = of_sexes(matrix={"sex": LINES}).details["mean_posterior_of_truth"]
    assert result.details["mean_posterior_of_truth"] != as_declared
    same = of_sexes(retention="0.9", invariant=True)
    lines = {"m": {"m": "0.9", "f": "0.1", "x": 0}, "f": {"m": "0.1", "f": "0.9"}, "x": {"x": 1}}
    wider = of_sexes(matrix={"sex": lines}, invariant=True).details["mean_posterior_of_truth"]
    assert wider == pytest.approx(same.details["mean_posterior_of_truth"])


WRONG: dict[str, str | bytes] = {
    "1 row is no distribution": "sex;m;f\nm;0.9;0.1\nf;0.3;0.9\n",
    "2 rows are no distribution": "sex;m;f\nm;1.1;-0.1\nf;0.1;0.8\n",
    "no row for 1 value of the original": "sex;m;f\nm;0.9;0.1\n",
    "no column for 1 value of the release": "sex;m\nm;1\nf;1\n",
    "line 2 has 2 cells, and the first has 3": "sex;m;f\nm;0.9\n",
    "line 2 has a cell after its label that is no number": "sex;m;f\nm;0.9;few\n",
    "line 2 has a number that is not finite": "sex;m;f\nm;0.9;inf\n",
    "two columns have the same label": "sex,m,m\nm,1,0\n",
    "two lines have the same label": "sex,m,f\nm,1,0\nm,1,0\n",
    "no numbers in it": "",
    "is not CSV": 'sex,m,"f\n',
    "is not UTF-8 text": b"sex,\xff\n",
}


@pytest.mark.parametrize("reason", WRONG)
def test_a_matrix_that_is_none_is_reported(tmp_path: Path, reason: str):
    file, text = tmp_path / "sex.csv", WRONG[reason]
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(CheckError, match=reason) as caught:
        declared(read_matrix(file, "the matrix"), ["m", "f"], np.array([5, 4]), np.array([4, 5]))
    assert "few" not in str(caught.value)


def test_a_matrix_that_makes_what_happened_impossible_is_refused(tmp_path: Path):
    (one,) = with_file(tmp_path, "sex;m;f\nm;1;0\nf;0;1\n").expectations
    assert one.status is Status.ERROR
    assert "gives probability 0 to what happened in 1 record" in one.message


def test_a_file_that_is_not_there_is_reported(tmp_path: Path):
    document = policy(["sex"], {"matrix": {"sex": str(tmp_path / "none.csv")}}, rows_aligned=True)
    (one,) = tcdp_audit.audit(pa.table({"sex": RELEASED}), document, pa.table({"sex": SEXES})).expectations
    assert one.status is Status.ERROR
    assert "cannot be read: No such file" in one.message


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"retention": {"third": 1}}, "not among the attributes"),
        ({"matrix": {"third": "third.csv"}}, "not among the attributes"),
        ({"retention": {"first": 1}, "matrix": {"first": "first.csv"}}, "has a matrix, too"),
        ({"invariant": True, "retention": {"first": 1}}, "nothing is of 'second'"),
        ({"attributes": ["third"]}, "declares no attribute 'third'"),
        ({"attributes": ["id"]}, "is the key"),
    ],
)
def test_what_cannot_hold_is_reported_before(parameters: dict[str, Any], reason: str):
    with pytest.raises(tcdp_audit.PolicyError, match=reason):
        tcdp_audit.load_policy(policy(["first", "second"], parameters))


def test_too_many_records_or_values_are_refused():
    many = pa.table({"first": [str(one) for one in range(4_001)], "second": ["x"] * 4_001, "id": range(4_001)})
    assert "4,001 values" in attacked(many, many, {"retention": "0.9"}).message
    assert "beyond the limit of 2" in attacked(many[:3], many[:3], {"retention": "0.9", "limit": 2}).message


def test_real_data_under_its_declared_matrix_and_the_true_one(data: Path):
    original, released = (
        pd.read_csv(data / "adult" / name, dtype=str)
        for name in ("adult_subset.csv", "masked/adult_subset_pram_0.95.csv")
    )
    document = policy(list(original.columns), {"retention": "0.95"}, rows_aligned=True)
    document["expect"].append({"pram_attack": {}})
    known, estimated = (one.details for one in tcdp_audit.audit(released, document, original).expectations)

    def links(details: Mapping[str, Any]) -> list[float]:
        return [round(float(details[way]["expected_correct"]), 1) for way in WAYS]

    assert links(known["without_knowledge"]) == [2501.5, 2475.2]
    assert links(known) == [2564.8, 2559.7]
    assert (known["above_half"], known["right_above_half"]) == (2346, 2299)
    assert round(known["mean_posterior_of_truth"], 3) == 0.824
    assert round(known["mean_top_posterior"], 3) == 0.841
    assert links(estimated) == [2618.7, 2566.8]  # one more each than where they were first computed; as brute force has
