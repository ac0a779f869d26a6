"""Many texts as bytes: what Python says of each of them."""

from __future__ import annotations

import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from tcdp_audit.core.encoding import text_bytes
from tcdp_audit.core.encoding.text_bytes import (
    NumberedTexts,
    TextBytes,
    differ_in_case_only,
    indices_with_surrounding_whitespace,
    numbered_texts,
)

PIECES = st.sampled_from(["a", "B", "b", "é", "É", "ß", "ss", "😀", " ", "\u00a0", "\u1680", "~", "abcdefgh", "\0", ""])
TEXTS = st.lists(PIECES, max_size=7).map("".join)
LISTS = st.lists(TEXTS, min_size=1, max_size=12)


def bytes_of(texts: list[str]) -> TextBytes:
    encoded = [text.encode() for text in texts]
    data = np.frombuffer(b"".join(encoded), np.uint8)
    return TextBytes.between(data, np.cumsum([0, *map(len, encoded)]))


@settings(max_examples=40)
@given(LISTS, st.text(max_size=20), st.sampled_from([0, 1, 4]))
def test_texts_are_sorted_as_python_sorts_them(texts: list[str], prefix: str, words: int) -> None:
    texts = [prefix + text for text in texts]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_bytes, "SORTED_WORDS", words)
        order, is_new = bytes_of(texts).order(lambda some: [texts[one] for one in some.tolist()])
    ordered = [texts[one] for one in order.tolist()]
    assert ordered == sorted(texts)
    assert is_new.tolist() == [not place or text != ordered[place - 1] for place, text in enumerate(ordered)]


def spelled(texts: NumberedTexts) -> list[str]:
    """The distinct texts."""
    data, ends = texts.data.tobytes(), texts.offsets.tolist()
    return [data[start:end].decode() for start, end in pairwise(ends)]


@settings(max_examples=60)
@given(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=3),
    st.lists(st.lists(st.text("ab0é", max_size=3), min_size=1, max_size=9), min_size=1, max_size=4),
)
def test_short_texts_are_numbered_in_their_order(prefix: str, lists: list[list[str]]) -> None:
    lists = [[prefix + text for text in texts] for texts in lists]
    everything = [text for texts in lists for text in texts]
    numbered = numbered_texts(map(bytes_of, lists))
    assert numbered is not None
    assert spelled(numbered) == sorted({*everything})
    assert [spelled(numbered)[number] for number in numbered.numbers.tolist()] == everything


@pytest.mark.parametrize(
    "lists",
    [
        [["a"], ["a", "a\0"]],
        [["a" * 16], ["a" * 17]],
        [[f"{one:c}{other:c}{other:c}{one:c}" for one in range(33, 127) for other in range(33, 127)]] * 2,
    ],
    ids=["with the character 0", "long", "of too many pairs"],
)
def test_texts_whose_numbers_might_be_the_same_or_too_large_are_not_numbered(
    lists: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_bytes, "MOST", 1_000_000)
    assert numbered_texts(map(bytes_of, lists)) is None
    assert numbered_texts([bytes_of(lists[0][:9])]) is not None


def test_an_end_and_the_bytes_after_it_are_different_digits() -> None:
    lists = [["person-1", "person-10"], ["person-1000000"], ["person-"]]
    numbered = numbered_texts(map(bytes_of, lists))
    assert numbered is not None
    assert spelled(numbered) == ["person-", "person-1", "person-10", "person-1000000"]
    assert numbered.numbers.tolist() == [1, 2, 3, 0]


def test_texts_that_differ_in_a_late_byte_are_different() -> None:
    alike = "x" * 200
    assert bytes_of([alike + "a", alike + "b", "", "a"]).are_different()
    assert not bytes_of([alike, "a", alike]).are_different()
    assert not bytes_of(["a", "x" * 257]).are_different()  # too long to say


@settings(max_examples=40)
@given(st.lists(TEXTS, max_size=12))
def test_all_texts_with_blanks_around_them_are_among_those_that_are_looked_at(texts: list[str]) -> None:
    padded = {place for place, text in enumerate(texts) if text != text.strip()}
    assert padded <= set(indices_with_surrounding_whitespace(texts))


def test_every_blank_is_known() -> None:
    blanks = [chr(code) for code in range(sys.maxunicode + 1) if chr(code).isspace()]
    assert indices_with_surrounding_whitespace(["a" + blank for blank in blanks]) == list(range(len(blanks)))
    assert indices_with_surrounding_whitespace([blank + "a" for blank in blanks]) == list(range(len(blanks)))
    assert indices_with_surrounding_whitespace(["a", "b c", "", "d"]) == []


@settings(max_examples=40)
@given(st.sets(TEXTS, max_size=12).map(sorted))
def test_texts_that_differ_in_case_only_are_noticed(texts: list[str]) -> None:
    assert differ_in_case_only(texts) == (len({text.casefold() for text in texts}) < len(texts))


@settings(max_examples=40)
@given(st.sets(TEXTS, min_size=1, max_size=12).map(sorted))
def test_a_text_in_two_cases_is_noticed(texts: list[str]) -> None:
    assume(texts[-1].swapcase() not in texts and texts[-1].swapcase().casefold() == texts[-1].casefold())
    assert differ_in_case_only([*texts, texts[-1].swapcase()])
