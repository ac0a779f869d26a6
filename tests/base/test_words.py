"""Numbers in words: plural forms, separators, and figures that never read like a threshold that they are not."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import pytest
from hypothesis import assume, given, strategies as st

from tcdp_audit.core.base import words
from tcdp_audit.core.base.phrases import part_of


@pytest.mark.parametrize(
    ("number", "noun", "expected"),
    [
        (0, "record", "0 records"),
        (1, "record", "1 record"),
        (1, "class", "1 class"),
        (30_162, "class", "30,162 classes"),
    ],
)
def test_counts_take_the_right_plural(number, noun, expected):
    assert words.count(number, noun) == expected


def test_numbers_up_to_ten_are_spelled():
    assert [words.in_words(n) for n in (0, 1, 10, 11, 1200)] == ["no", "one", "ten", "11", "1,200"]


@pytest.mark.parametrize(
    ("part", "whole", "expected"),
    [
        (0, 9, "0%"),
        (1, 100_000, "under 0.1%"),
        (6, 9, "66.7%"),
        (1, 10, "10.0%"),
        (99_999, 100_000, "over 99.9%"),
        (9, 9, "100%"),
        (0, 0, "0%"),
    ],
)
def test_shares_never_round_to_nothing_or_all(part, whole, expected):
    assert words.share(part, whole) == expected


@pytest.mark.parametrize(
    ("value", "threshold", "expected"),
    [
        (None, None, "–"),
        (inf, Fraction(1), "∞"),
        (1.0, Fraction(5), "1"),
        (12_345.0, None, "12,345"),
        (0.375, Fraction(1, 5), "0.375"),
        (0.375, Fraction("0.3749999"), "0.375"),
        (0.37499995, Fraction(3, 8), "0.37499995"),
        (0.3750001, Fraction(3, 8), "0.3750001"),
        (0.9997, None, "0.9997"),
        (2.9999999999999996, Fraction(3), "3"),
        (1234.5678, None, "1,234.6"),
        (0.00000123456, None, "1.23e-06"),
    ],
)
def test_figures_have_as_many_digits_as_they_need(value, threshold, expected):
    assert words.figure(value, threshold) == expected


@given(st.fractions(0, 1), st.floats(0, 1))
def test_a_shown_figure_is_on_the_side_where_the_figure_is(threshold, value):
    shown = words.figure(value, threshold)
    assume(not float(value).is_integer() and abs(Fraction(value) - threshold) > Fraction(1, 10**12))
    assert (Fraction(shown) > threshold) == (Fraction(value) > threshold)


def test_thresholds_are_the_decimal_that_was_typed():
    reported = [words.decimal(Fraction(text)) for text in ("5", "0.2", "0.3749999", "1/3", "1000000")]
    assert reported == ["5", "0.2", "0.3749999", "1/3", "1,000,000"]


def test_lists_are_joined_as_in_a_sentence():
    assert [words.listing(["a", "b", "c"][:n]) for n in (1, 2, 3)] == ["a", "a and b", "a, b and c"]


def test_control_characters_and_overrides_are_written_out():
    assert words.visible("a\x1b[2J\u202eb\x9b") == "a\\x1b[2J\\u202eb\\x9b"


def test_letters_of_every_script_stay():
    assert words.visible("گروه\u200cسنی 年齢 é") == "گروه\u200cسنی 年齢 é"


def test_comparisons_in_sentences_stay_with_their_number():
    assert words.prose("do not keep <= 0.2; not >= 3") == "do not keep ≤\u00a00.2; not ≥\u00a03"


@pytest.mark.parametrize(
    ("noun", "many"),
    [("class", "classes"), ("equivalence class", "equivalence classes"), ("person", "people"), ("city", "cities")],
)
def test_a_plural_changes_the_last_word(noun, many):
    assert words.plural(noun) == many


@pytest.mark.parametrize(
    ("column", "noun"),
    [
        ("patient_id", "patient"),
        ("PersonID", "person"),
        ("household", "household"),
        ("Fall-Nr", "fall"),
        ("patients", "patient"),
        ("id", "entity"),
        ("p7", "entity"),
        ("ori_hid", "entity"),
        ("\x1b[31m", "entity"),
    ],
)
def test_a_unit_is_called_what_its_column_names(column, noun):
    assert words.noun_of_column(column) == noun


@pytest.mark.parametrize(
    ("value", "threshold", "text"),
    [
        (None, None, "–"),
        (inf, None, "∞"),
        (0.0, None, "0%"),
        (0.98055, Fraction(1, 10), "98.1%"),
        (0.1, Fraction(1, 10), "10%"),
        (0.1000001, Fraction(1, 10), "10.00001%"),
        (0.6, Fraction(3, 5), "60%"),
        (0.9999, None, "99.99%"),
        (0.00012, None, "0.01%"),
        (6.0, None, "600%"),
    ],
)
def test_a_percentage_reads_like_no_other(value, threshold, text):
    assert words.percent(value, threshold) == text


def test_thresholds_are_percentages_where_that_is_exact():
    texts = [words.percent_of(one) for one in (None, Fraction("0.1"), Fraction("0.005"), Fraction(1, 3))]
    assert texts == ["–", "10%", "0.5%", "1/3"]


def test_huge_figures_have_an_exponent():
    assert [words.figure(value) for value in (1e14, 2.5e300)] == ["100,000,000,000,000", "2.5e+300"]


@pytest.mark.parametrize(
    ("number", "total", "text"),
    [
        (0, 4, "no record"),
        (1, 4, "1 of 4 records"),
        (2, 2, "both records"),
        (4, 4, "all 4 records"),
        (1, 1, "the only record"),
    ],
)
def test_a_part_of_a_total(number, total, text):
    assert part_of(number, total, "record") == text


@pytest.mark.parametrize("typed", ["0.1", "0.2", "0.3", "0.6", "0.7", "0.9", "1.1", "0.05"])
def test_a_figure_at_its_threshold_reads_like_the_threshold(typed):
    shown = words.figure(float(typed), Fraction(typed))
    assert Fraction(shown) == Fraction(typed)
    assert len(shown) <= 5


@given(st.floats(1e-12, 1, exclude_max=True))
def test_a_figure_and_its_percentage_agree(value):
    figure, percent = words.figure(value), words.percent(value)
    exact = Fraction(figure) * 100

    assert Fraction(percent.rstrip("%")) == exact or abs(100 * value - round(100 * value)) < words.BORDERLINE


@pytest.mark.parametrize(("value", "texts"), [(0.0425, ("0.043", "4.3%")), (0.0075, ("0.008", "0.8%"))])
def test_ties_are_rounded_up_in_both_forms(value, texts):
    assert (words.figure(value), words.percent(value)) == texts
    assert words.share(round(value * 10_000), 10_000) == texts[1]
