"""Hierarchies of bands, prefixes, periods and known codes: labels, groups, and values that have not the form."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from tcdp_audit.api import load_hierarchy, number_or_interval
from tcdp_audit.drafting.column import ColumnFacts
from tcdp_audit.drafting.hierarchy_builder import (
    BuiltHierarchy,
    build_bands,
    build_code_groups,
    build_periods,
    build_prefixes,
)
from tcdp_audit.plugin.engine import RawDomain, UsageError


def column(*texts: str) -> ColumnFacts:
    counted = Counter(texts)
    values = np.array(sorted(counted), object)
    counts = np.array([counted[one] for one in values], np.int64)
    return ColumnFacts("x", RawDomain(values, counts, 0), len(texts))


def path_of(built: BuiltHierarchy, leaf: str) -> tuple[str, ...]:
    (path,) = [one for one in built.hierarchy.paths if one[0] == leaf]
    return tuple(path)


def test_bands_of_whole_numbers_hold_every_number_between_round_ends():
    built = build_bands(column("37", "37", "52"), ["5", "10", "20"])

    assert path_of(built, "37") == ("37", "35-39", "30-39", "20-39", "*")
    assert [one[0] for one in built.hierarchy.paths] == [str(one) for one in range(20, 60)]
    assert [(one.name, one.groups, one.smallest) for one in built.levels] == [
        ("values", 2, 1),
        ("bands of 5", 2, 1),
        ("bands of 10", 2, 1),
        ("bands of 20", 2, 1),
        ("all", 1, 3),
    ]
    assert built.is_numeric


@pytest.mark.parametrize(
    ("text", "widths", "path"),
    [
        ("2.5", ["1"], ("2.5", "[2, 3)", "*")),
        ("-3", ["5"], ("-3", "[-5, 0)", "*")),
        ("0.30", ["0.1", "0.5"], ("0.30", "[0.3, 0.4)", "[0, 0.5)", "*")),
        ("020", ["10"], ("020", "20-29", "*")),
        ("1e2", ["50"], ("1e2", "100-149", "*")),
    ],
)
def test_a_number_is_in_its_band(text: str, widths: list[str], path: tuple[str, ...]):
    assert path_of(build_bands(column(text), widths), text) == path


@given(
    st.lists(st.decimals(-1000, 1000, places=2, allow_nan=False), min_size=1, max_size=30),
    st.sampled_from([["5", "10"], ["0.5", "1", "3"], ["7"], ["0.1"]]),
)
def test_a_number_lies_in_each_of_its_bands(numbers, widths: list[str]):
    built = build_bands(column(*map(str, numbers)), widths)

    for leaf, *labels, _ in built.hierarchy.paths:
        value = float(leaf)
        for label in labels:
            cover = number_or_interval(label)
            assert cover is not None
            assert cover.low <= value <= cover.high


@pytest.mark.parametrize("widths", [[""], ["0"], ["-5"], ["5", "5"], ["5", "7"], ["10", "5"], ["x"], ["nan"], ["1_0"]])
def test_widths_that_are_none_are_refused(widths: list[str]):
    with pytest.raises(UsageError, match="--bands: give widths such as 5,10,20"):
        build_bands(column("20"), widths)


def test_values_that_are_no_numbers_go_under_other():
    built = build_bands(column("20", "21", "22", "unknown", "unknown", "65+"), ["5"])

    assert path_of(built, "unknown") == ("unknown", "other", "*")
    assert (built.values, built.others, built.others_records, built.is_numeric) == (5, 2, 3, False)
    assert all("other" not in example for example in built.examples)


def test_a_column_of_another_form_is_refused_by_counts_alone():
    with pytest.raises(UsageError, match="2 of 3 values of the column are no numbers") as raised:
        build_bands(column("20", "unlikely-cell", "other-cell"), ["5"])
    assert "cell" not in str(raised.value).replace("cells", "")


@pytest.mark.parametrize(
    ("texts", "lengths", "path"),
    [
        (["02139", "02138"], ["3", "2"], ("02139", "021**", "02***", "*")),
        (["E11.9", "I10"], ["3", "1"], ("E11.9", "E11*", "E*", "*")),
        (["AB1 2CD", "B1"], ["3", "2"], ("B1", "B1", "B1*", "*")),
    ],
)
def test_prefixes(texts: list[str], lengths: list[str], path: tuple[str, ...]):
    assert path_of(build_prefixes(column(*texts), lengths), path[0]) == path


@pytest.mark.parametrize("lengths", [[""], ["0"], ["2", "3"], ["2", "2"], ["-1"], ["x"], ["²"]])
def test_lengths_that_are_none_are_refused(lengths: list[str]):
    with pytest.raises(UsageError, match="--prefix: give lengths such as 3,2"):
        build_prefixes(column("02139"), lengths)


def test_a_prefix_that_keeps_whole_values_is_refused():
    with pytest.raises(UsageError, match="the values have 5 characters at most"):
        build_prefixes(column("02139"), ["5"])


@pytest.mark.parametrize(
    ("text", "periods", "path"),
    [
        ("2021-05-31", ["month", "quarter", "year"], ("2021-05-31", "2021-05", "2021-Q2", "2021", "*")),
        ("31.12.1999", ["quarter", "decade"], ("31.12.1999", "1999-Q4", "1990-1999", "*")),
        ("2021-01-01 10:30:00", ["month"], ("2021-01-01 10:30:00", "2021-01", "*")),
        ("2021-01-01T10:30", ["year"], ("2021-01-01T10:30", "2021", "*")),
    ],
)
def test_periods(text: str, periods: list[str], path: tuple[str, ...]):
    assert path_of(build_periods(column(text), periods), text) == path


def test_days_that_can_be_read_in_two_ways_are_refused():
    with pytest.raises(UsageError, match="--dates: the days can be read as MM/DD/YYYY and DD/MM/YYYY"):
        build_periods(column("03/04/2021", "01/02/2021"), ["year"])
    assert path_of(build_periods(column("03/04/2021", "01/31/2021"), ["month"]), "03/04/2021")[1] == "2021-03"


@pytest.mark.parametrize("periods", [[""], ["week"], ["year", "month"], ["month", "month"]])
def test_periods_that_are_none_are_refused(periods: list[str]):
    with pytest.raises(UsageError, match="--dates: give some of month,quarter,year,decade, in this order"):
        build_periods(column("2021-05-31"), periods)


@pytest.mark.parametrize("text", ["2021-02-30", "2021-13-01", "0000-00-00", "2021", "31.02.2021", "soon"])
def test_what_is_no_day_goes_under_other(text: str):
    built = build_periods(column("2021-05-31", "2020-01-01", text), ["year"])
    assert path_of(built, text) == (text, "other", "*")


CODES = [
    ("icd", "E11.9", ("E11.*", "E00-E90")),
    ("icd", "E119", ("E11.*", "E00-E90")),
    ("icd", "D48", ("D48.*", "C00-D49")),
    ("icd", "D50.0", ("D50.*", "D50-D89")),
    ("icd", "S72.00XA", ("S72.*", "S00-T98")),
    ("icd", "S72.00XA9", None),
    ("icd", "S72.0", ("S72.*", "S00-T98")),
    ("icd", "U07.1", ("U07.*", "U00-U99")),
    ("icd", "Y98", ("Y98.*", "V00-Y99")),
    ("icd", "E99", None),
    ("icd", "250.00", None),
    ("icd", "e11.9", None),
    ("icd", "E1", None),
    ("icd", "E11.", None),
    ("nuts", "DE212", ("DE21", "DE2", "DE")),
    ("nuts", "DE21", ("DE21", "DE2", "DE")),
    ("nuts", "EL30", ("EL30", "EL3", "EL")),
    ("nuts", "GR30", None),
    ("nuts", "GB", None),
    ("nuts", "US", None),
    ("nuts", "DE2123", None),
    ("nuts", "Bayern", None),
    ("isco", "2310", ("231*", "23**", "2***")),
    ("isco", "0110", ("011*", "01**", "0***")),
    ("isco", "9999", None),
    ("isco", "0000", None),
    ("isco", "1510", None),
    ("isco", "231", None),
    ("isco", "23100", None),
    ("isco", "teacher", None),
]
SOUND = {"icd": ["A00.0", "B01", "C50.9"], "nuts": ["AT13", "FR101", "PL2"], "isco": ["1111", "5223", "9629"]}


@pytest.mark.parametrize(("codes", "text", "labels"), CODES)
def test_codes_and_values_that_are_none(codes: str, text: str, labels: tuple[str, ...] | None):
    built = build_code_groups(column(*SOUND[codes], text), codes)
    height = len(built.levels) - 2

    assert path_of(built, text) == (text, *(labels or ["other"] * height), "*")
    assert built.others == (labels is None)


@pytest.mark.parametrize("codes", SOUND)
def test_no_column_of_words_is_one_of_codes(codes: str):
    with pytest.raises(UsageError, match="3 of 3 values of the column are no codes of"):
        build_code_groups(column("red", "green", "blue"), codes)


def test_codes_of_groups_are_grouped_too():
    built = build_code_groups(column("23", "24", "31"), "isco")
    assert path_of(built, "23") == ("23", "2*", "*")
    assert [one.name for one in built.levels] == ["values", "major group", "all"]


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)


@given(
    st.lists(TEXTS | st.sampled_from(["20", "2021-05-31", "DE212", "E11.9", "2310", "other", "*", "20-24"]), min_size=1)
)
@example(["0\r", "0\n"])
def test_every_hierarchy_is_a_tree_that_a_policy_reads(tmp_path_factory: pytest.TempPathFactory, texts: list[str]):
    facts = column(*texts)
    builds = [
        lambda: build_bands(facts, ["5", "10"]),
        lambda: build_prefixes(facts, ["2", "1"]),
        lambda: build_periods(facts, ["month", "year"]),
        *(lambda one=one: build_code_groups(facts, one) for one in SOUND),
    ]
    file: Path = tmp_path_factory.getbasetemp() / "hierarchy.csv"
    for build in builds:
        try:
            built = build()
        except UsageError:
            continue
        file.write_text(built.hierarchy.csv, encoding="utf-8", newline="")
        read = load_hierarchy("it", file)
        assert set(texts) <= {one[0] for one in read.branches}
        assert [one.groups for one in built.levels] == sorted((one.groups for one in built.levels), reverse=True)
        assert [one.smallest for one in built.levels] == sorted(one.smallest for one in built.levels)
