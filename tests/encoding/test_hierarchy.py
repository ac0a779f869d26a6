"""Hierarchies: both forms read alike, inner labels are recognised, and a fault names lines and never a label."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tcdp_audit import PolicyError, Status, audit
from tcdp_audit.core.encoding.hierarchy import Hierarchy, load_hierarchy

AGES = {"*": {"<40": {"20-29": ["22", "29"], "30-39": ["36"]}, ">=40": {"40-49": ["47"], "50-59": ["52"]}}}
AGES_CSV = "22;20-29;<40;*\n29;20-29;<40;*\n36;30-39;<40;*\n47;40-49;>=40;*\n52;50-59;>=40;*\n"
AGES_YAML = """\
"*":
  "<40":
    20-29: [22, 29]
    30-39:
      - 36
  ">=40":
    40-49: [47]
    50-59:
      52:
"""
MARKER = "zqlabel"


def _read(folder: Path, text: str | bytes, name: str = "tree.csv") -> Hierarchy:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_hierarchy(name, path)


def _refused(folder: Path, text: str | bytes, name: str = "tree.csv") -> str:
    with pytest.raises(PolicyError) as caught:
        _read(folder, text, name)
    return str(caught.value)


# Reading


def test_csv_yaml_and_inline_give_the_same_tree(tmp_path: Path):
    inline = load_hierarchy(AGES, None).branches

    assert inline[0] == ("22", "20-29", "<40", "*")
    assert _read(tmp_path, AGES_CSV).branches == inline
    assert _read(tmp_path, AGES_YAML, "tree.yaml").branches == inline
    assert _read(tmp_path, AGES_YAML, "tree.YML").branches == inline


@pytest.mark.parametrize(
    "text",
    [
        AGES_CSV.replace(";", ","),
        AGES_CSV.replace("\n", "\r\n"),
        AGES_CSV.replace("\n", "\n\n"),
        "\ufeff" + AGES_CSV.rstrip("\n"),
        AGES_CSV.replace("20-29", '"20-29"'),
    ],
    ids=["commas", "CRLF", "blank lines", "byte order mark", "quotes"],
)
def test_csv_is_read_as_programs_write_it(text: str, tmp_path: Path):
    assert _read(tmp_path, text).branches == load_hierarchy(AGES, None).branches


def test_a_label_may_hold_the_other_delimiter_a_line_end_and_an_apostrophe(tmp_path: Path):
    assert _read(tmp_path, '"a;b",x,*\nc,x,*\n').branches == (("a;b", "x", "*"), ("c", "x", "*"))
    assert _read(tmp_path, "a,b;x's;*\nc;y's;*\n").branches == (("a,b", "x's", "*"), ("c", "y's", "*"))
    assert _read(tmp_path, '"a\u2028\r\nb";x;*\nc;x;*\n').branches[0] == ("a\u2028\r\nb", "x", "*")


def test_codes_keep_their_zeros_in_every_form(tmp_path: Path):
    yaml = '"*":\n  021**: [02139, 02140]\n  00:\n    - 0010\n'
    expected = (("02139", "021**", "*"), ("02140", "021**", "*"), ("0010", "00", "*"))
    policy = tmp_path / "codes.tcdp.yaml"
    policy.write_text(
        "version: 1\nattributes:\n  zip:\n    role: quasi_identifier\n    hierarchy:\n"
        f"{indent(yaml, ' ' * 6)}expect: [k_anonymity: {{k: 2}}]\n"
    )
    table = pa.table({"zip": ["02139", "02140", "021**", "021**", "00", "0010"]})

    assert _read(tmp_path, yaml, "tree.yaml").branches == expected
    assert _read(tmp_path, "".join(";".join(one) + "\n" for one in expected)).branches == expected
    outside = next(one for one in audit(table, policy).outcomes if one.check == "outside_hierarchy")
    assert outside.status is Status.PASSED


HEIGHTS = {
    "age": (100, 4),
    "education": (16, 3),
    "marital-status": (7, 2),
    "native-country": (41, 2),
    "occupation": (14, 2),
    "race": (5, 1),
    "salary-class": (2, 1),
    "sex": (2, 1),
    "workclass": (8, 2),
}


def test_the_hierarchies_of_adult_all_load(data: Path):
    loaded = {path.stem: load_hierarchy(path.name, path) for path in (data / "adult/hierarchies").glob("*.csv")}

    assert {name: (len(one.branches), one.height) for name, one in loaded.items()} == HEIGHTS


# Levels


def test_interval_and_masked_labels_stand_at_their_level(tmp_path: Path):
    zips = _read(tmp_path, "47677;4767*;476**;*\n47602;4760*;476**;*\n47905;4790*;479**;*\n")

    assert [load_hierarchy(AGES, None).lineage[label][0] for label in ("22", "20-29", "<40", ">=40", "*")] == [
        0,
        1,
        2,
        2,
        3,
    ]
    assert [zips.lineage[label][0] for label in ("47677", "4767*", "476**", "*")] == [0, 1, 2, 3]
    assert zips.unknown(["476**", "4790", "477**", "*"]) == [1, 2]


def test_a_label_of_several_levels_is_read_at_the_lowest(tmp_path: Path):
    race = _read(tmp_path, "White;White;*\nBlack;Other;*\nOther;Other;*\n")

    assert [race.lineage[label][0] for label in ("White", "Other", "Black", "*")] == [0, 0, 0, 2]


def test_a_tree_over_a_domain_numbers_the_nodes_of_each_level():
    tree = load_hierarchy(AGES, None).over(["22", "29", "36", "52"])

    assert tree.height == 3
    assert tree.ancestors.tolist() == [[0, 1, 2, 3], [0, 0, 1, 2], [0, 0, 0, 1], [0, 0, 0, 0]]
    assert [tree.nodes(level) for level in range(4)] == [4, 3, 2, 1]


def test_a_released_inner_label_is_a_value_of_its_own_below_its_node():
    tree = load_hierarchy(AGES, None).over(["22", "20-29", ">=40", "47", "*"])

    assert tree.ancestors.tolist() == [[0, 1, 2, 3, 4], [0, 0, 1, 2, 3], [0, 0, 1, 1, 2], [0, 0, 0, 0, 0]]


def test_a_tree_over_an_empty_domain_has_no_nodes():
    tree = load_hierarchy(AGES, None).over([])

    assert tree.ancestors.shape == (4, 0)
    assert tree.nodes(0) == 0


# Faults


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a;x;*\nzqlabel;*\nc;x;*\n", "line 2: not as deep as the others (3 levels)"),
        ("a;x;*\nb;x;zqlabel\nc;x;*\nd;y;zqlabel2\n", "lines 2, 4: under another root; a hierarchy has one root"),
        ("zqlabel;x;*\n\nzqlabel;x;*\n", "line 3: a leaf that is on an earlier line already"),
        (
            "a;zqlabel;y;*\nb;zqlabel;z;*\n",
            "line 2: a label whose parent differs from the one on an earlier line",
        ),
        ("zqlabel;;*\nb;x;*\n", "line 1: an empty label"),
        ("zqlabel;x;*;\nb;x;*;\n", "lines 1, 2: an empty label"),
        ("zqlabel\n", "the hierarchy has a single level; a value needs at least a root above it"),
        ("zqlabel\nb\n", "line 2: under another root; a hierarchy has one root"),
        ("", "the hierarchy is empty"),
        ("\n\n", "the hierarchy is empty"),
        ("a;" * 2 + "*\n" + "zqlabel\n" * 7, None),
    ],
)
def test_a_csv_that_is_no_tree_is_reported_by_its_lines(text: str, message: str | None, tmp_path: Path):
    reported = _refused(tmp_path, text)

    assert MARKER not in reported
    assert reported == f"tree.csv: {message}" if message else reported.startswith("tree.csv: line 1: not as deep")


def test_many_faulty_lines_are_counted(tmp_path: Path):
    text = "".join(f"{MARKER}{number};*\n" for number in range(9)) + "".join(f"{one};x;*\n" for one in range(10))

    assert _refused(tmp_path, text) == (
        "tree.csv: lines 1, 2, 3, 4, 5 and 4 more: not as deep as the others (3 levels)"
    )


def test_all_faults_are_reported_at_once(tmp_path: Path):
    reported = _refused(tmp_path, "a;x;v;*\na;x;w;*\nb;*\nc;x;v;+\nd;x;w;*\n")

    assert reported.splitlines() == [
        "tree.csv: line 3: not as deep as the others (4 levels)",
        "tree.csv: line 4: under another root; a hierarchy has one root",
        "tree.csv: line 2: a leaf that is on an earlier line already",
        "tree.csv: lines 2, 5: a label whose parent differs from the one on an earlier line",
    ]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("tree.csv", b"zqlabel;\xff;*\n", "tree.csv: the hierarchy is not UTF-8 text (byte 8); save it as UTF-8"),
        ("tree.csv", b'a;x;*\n"zqlabel;x;*\n', "tree.csv:2: not CSV: unexpected end of data"),
        ("tree.csv", b'a;x;*\n"zqlabel"b;x;*\n', "tree.csv:2: not CSV: ';' expected after '\"'"),
        ("tree.yaml", b"", "tree.yaml: the file is empty"),
        ("tree.yaml", b"'*':\n  zqlabel: [a\n", "tree.yaml:3:1: not YAML: did not find expected ',' or ']'"),
        (
            "tree.yaml",
            b"'*':\n  zqlabel: [a]\n  zqlabel: [b]\n",
            "tree.yaml:3:3: a label is set here a second time; it was set on line 2",
        ),
        ("tree.yaml", b"'*':\n  x: [a]\n  zqlabel:\n", "tree.yaml: line 3: not as deep as the others (3 levels)"),
        (
            "tree.yaml",
            b"[zqlabel, b]\n",
            "tree.yaml: line 1: under another root; a hierarchy has one root",
        ),
        (
            "tree.csv",
            b"value;group;top\na;x;*\nb;x;*\n",
            "tree.csv: line 1: under another root; a hierarchy has one root; if that line is a header, remove it",
        ),
    ],
)
def test_a_file_that_cannot_be_read_is_reported_without_its_labels(
    name: str, text: bytes, message: str, tmp_path: Path
):
    assert _refused(tmp_path, text, name) == message


def test_a_missing_file_and_a_folder_are_reported(tmp_path: Path):
    with pytest.raises(PolicyError, match=r"^trees/age\.csv: the hierarchy cannot be read: No such file"):
        load_hierarchy("trees/age.csv", tmp_path / "trees/age.csv")
    with pytest.raises(PolicyError, match="the hierarchy cannot be read: Is a directory"):
        load_hierarchy("trees", tmp_path)


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({}, "the inline hierarchy: the hierarchy is empty"),
        ({"*": {"x": ["zqlabel"], "zqlabel2": None}}, "the inline hierarchy: not as deep as the others (3 levels)"),
        (
            {"*": [True, "zqlabel"]},
            "the inline hierarchy: a label is no text: YAML reads this as true or false; put it in",
        ),
        ({"*": ["zqlabel", "zqlabel"]}, "the inline hierarchy: a leaf that is on an earlier line already"),
    ],
)
def test_an_inline_mapping_that_is_no_tree_is_reported(tree: dict[str, Any], message: str):
    with pytest.raises(PolicyError) as caught:
        load_hierarchy(tree, None)

    assert str(caught.value).startswith(message)
    assert MARKER not in str(caught.value)


# In an audit


def _audited(ages: list[str], *, show_values: bool = False, **attribute: Any) -> Any:
    table = pa.table({"place": ["a", "a", "b", "b", "b"], "age": ages})
    policy = {
        "version": 1,
        "attributes": {
            "place": {"role": "quasi_identifier"},
            "age": {"role": "sensitive", "hierarchy": AGES, **attribute},
        },
        "expect": [{"t_closeness": {"distance": "hierarchical", "t": 1}}],
    }
    return audit(table, policy, show_values=show_values)


def _outside(audited: Any) -> Any:
    return next(one for one in audited.outcomes if one.check == "outside_hierarchy")


def test_a_release_may_hold_leaves_and_inner_labels():
    audited = _audited(["22", "20-29", ">=40", "47", "*"])

    assert _outside(audited).status is Status.PASSED
    assert audited.expectations[0].status is Status.MEASURED  # no distance exceeds 1


def test_values_that_the_hierarchy_does_not_know_are_counted_and_located():
    audited = _audited(["22", "29", "zqlabel1", "zqlabel2", "zqlabel1"])
    outside, closeness = _outside(audited), audited.expectations[0]

    assert outside.status is Status.FAILED
    assert (
        outside.message == "column 'age' has 2 values that its hierarchy does not know in 3 records, first in record 3"
    )
    assert (closeness.status, closeness.message) == (
        Status.ERROR,
        "cannot be evaluated: the hierarchy of 'age' does not know all its values",
    )
    assert audited.exit_code() == 3
    assert MARKER not in str(audited.as_json())


def test_unknown_values_are_named_only_where_a_person_asked_to_see_them():
    outside = _outside(_audited(["22", "29", "47", "{zqlabel}", "52"], show_values=True))

    assert outside.message == (
        "column 'age' has 1 value that its hierarchy does not know ('{zqlabel}') in 1 record, first in record 4"
    )


def test_values_that_only_a_declared_distribution_has_must_be_known_too():
    table = pa.table({"place": ["a", "a"], "age": ["22", "29"]})
    distribution = {"22": 1, "29": 1, "zqlabel": 2}
    policy = {
        "version": 1,
        "attributes": {
            "place": {"role": "quasi_identifier"},
            "age": {"role": "sensitive", "hierarchy": AGES, "distribution": distribution},
        },
        "conventions": {"reference": "declared"},
        "expect": [{"t_closeness": {"distance": "hierarchical"}}],
    }

    assert _outside(audit(table, policy)).message == (
        "column 'age' has 1 value that its hierarchy does not know in its reference distribution"
    )


def test_generalised_numbers_of_a_quasi_identifier_are_recognised():
    table = pa.table({"age": np.array([22, 29, 36, 47]), "disease": ["x", "y", "x", "y"]})
    attributes = {
        "age": {"role": "quasi_identifier", "scale": "numeric", "hierarchy": AGES},
        "disease": {"role": "sensitive"},
    }
    policy = {"version": 1, "attributes": attributes, "expect": [{"k_anonymity": {"k": 1}}]}

    assert _outside(audit(table, policy)).status is Status.PASSED
