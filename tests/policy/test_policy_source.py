"""YAML as data and positions: every text that is no policy at all has a sentence and a place."""

from __future__ import annotations

import pytest

from tcdp_audit.core.policy.scalars import OddNumber, TypedFloat, TypedInt
from tcdp_audit.core.policy.source import PolicySourceError, parse_yaml

ALIAS = "aliases (`*name`) are not supported; write the value out"
DEEP = "it is nested too deeply to be a policy"

FAULTS = {
    "open list": ("a: [1\n", "not YAML: did not find expected ',' or ']'", 2, 1),
    "tab": ("a: 1\n\tb: 2\n", "not YAML: found a tab character that violates indentation", 2, 1),
    "control character": ("a: 1\nb: \x07\n", "not YAML: control characters are not allowed", 2, 4),
    "unknown alias": ("a: *b\n", ALIAS, 1, 4),
    "two documents": ("a: 1\n---\nb: 2\n", "not YAML: but found another document", 2, 1),
    "nothing": ("", "the file is empty", 0, 0),
    "comments only": ("# nothing\n", "the file is empty", 0, 0),
    "key twice": ("a: 1\nb: 2\na: 3\n", "'a' is set here a second time; it was set on line 1", 3, 1),
    "key twice, deeper": (
        "x:\n  a: 1\n  a: 2\n",
        "'a' is set here a second time; it was set on line 2",
        3,
        3,
    ),
    "merge key": (
        "a: 1\nb:\n  <<: {x: 1}\n",
        "merge keys (`<<`) are not supported; write the entries out",
        3,
        3,
    ),
    "list as key": ("? [a]\n: 1\n", "a key must be a plain name", 1, 3),
    "alias": ("a: &a [1, 2]\nb:\n  - *a\n", ALIAS, 3, 5),
    "alias to itself": ("a: &a [*a]\n", ALIAS, 1, 8),
    "alias to itself in a mapping": ("a: &a {b: *a}\n", ALIAS, 1, 11),
    "alias in a merge key": ("a: &a {x: 1}\nb:\n  <<: *a\n", ALIAS, 3, 7),
    "alias as a key": ("a: &a x\n*a : 1\n", ALIAS, 2, 1),
    "deep list": ("a: " + "[" * 4000 + "]" * 4000, DEEP, 1, 103),
    "very deep list": ("a: " + "[" * 10**6, DEEP, 1, 103),
    "very deep sequence on one line": ("- " * 10**6 + "a", DEEP, 1, 201),
    "very deep mapping": ("{a: " * 10**5, DEEP, 1, 401),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_text_that_is_no_policy(name: str) -> None:
    text, message, line, column = FAULTS[name]
    with pytest.raises(PolicySourceError) as caught:
        parse_yaml(text)
    actual = [(fault.message, fault.line, fault.column) for fault in caught.value.faults]
    assert actual == [(message, line, column)]


@pytest.mark.parametrize("text", ["a: 1\na: 2\nb: {c: 1, c: 2}\n", "a: &a 1\n*a : 2\nb: {c: 1, *a : 2}\n"])
def test_all_duplicates_and_all_aliases_are_detected_at_once(text: str) -> None:
    with pytest.raises(PolicySourceError) as caught:
        parse_yaml(text)
    assert [(fault.line, fault.column) for fault in caught.value.faults] == [(2, 1), (3, 11)]


def test_scalars_remember_how_they_were_typed() -> None:
    data = parse_yaml("a: 213\nb: 0.20\nc: 1e3\ne: 2024-01-31\nf: '7'\ng: ~\nh: yes\n").data
    assert [data[name].text for name in "ab"] == ["213", "0.20"]
    assert isinstance(data["a"], TypedInt)
    assert isinstance(data["b"], TypedFloat)
    assert (data["a"], data["b"]) == (213, 0.2)
    assert (data["c"], data["e"], data["f"], data["g"], data["h"]) == ("1e3", "2024-01-31", "7", None, True)


@pytest.mark.parametrize("text", ["0213", "1_000", "1:30", "0x1f", "0b1", "08", "00.5", "1:30.5", "1_0.5", str(2**63)])
def test_numbers_that_are_not_in_plain_digits_stay_the_text_that_was_typed(text: str) -> None:
    data = parse_yaml(f"a: {text}\nb: '{text}'\n").data
    assert (data["a"], data["b"]) == (text, text)
    assert isinstance(data["a"], OddNumber)
    assert not isinstance(data["b"], OddNumber)


def test_what_only_a_tag_calls_a_number_is_a_text() -> None:
    data = parse_yaml("a: !!float x\nb: !!float '0.5'\n").data
    assert (data["a"], data["b"]) == ("x", 0.5)


def test_keys_are_the_text_that_is_there() -> None:
    assert list(parse_yaml("02139: a\nyes: b\n~: c\n1.50: d\n").data) == ["02139", "yes", "~", "1.50"]


def test_positions_of_values_names_and_nearest_parents() -> None:
    source = parse_yaml("a:\n  b: [10,\n      20]\nc: {d: x}\n")
    assert source.position(["a"]) == (1, 1)
    assert source.position(["a", "b"]) == (2, 3)
    assert source.position(["a", "b", 1]) == (3, 7)
    assert source.position(["c", "d"]) == (4, 8)
    assert source.position(["c", "absent"]) == (4, 1)
    assert source.position(["a", "b", 7]) == (2, 3)
    assert source.position([]) == (1, 1)


def test_a_name_for_aliases_that_no_one_uses_is_no_fault() -> None:
    assert parse_yaml("a: &a [1, 2]\n").data == {"a": [1, 2]}
