"""What a draft writes is read back as it was, whatever columns are called."""

from __future__ import annotations

from hypothesis import given, strategies as st

from tcdp_audit.core.policy.scalars import as_text
from tcdp_audit.core.policy.source import parse_yaml
from tcdp_audit.drafting.draft import comment, entry, listed, scalar

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
ODD = st.sampled_from(
    [
        "no",
        "Yes",
        "null",
        "~",
        "1e3",
        "0x1",
        "08",
        "- a",
        "a: b",
        "a #b",
        "*",
        "?",
        "<<",
        ".5",
        "=",
        "x" * 2000,
        "../a b",
    ]
)


@given(TEXTS | ODD)
def test_a_text_is_read_back(text: str):
    assert as_text(parse_yaml(f"a: {scalar(text)}\n").data["a"]) == text
    assert [as_text(one) for one in parse_yaml(f"a: {listed([text, 'b'])}\n").data["a"]] == [text, "b"]


@given(TEXTS | ODD, TEXTS | ODD)
def test_a_name_is_read_back(name: str, value: str):
    read = parse_yaml("\n".join(entry(name, scalar(value), "")) + "\n").data

    assert list(read) == [name]
    assert as_text(read[name]) == value


@given(TEXTS)
def test_a_comment_stays_one(text: str):
    written = "".join(f"{line}\n" for line in [*comment(text, "  "), "a: b"])

    assert parse_yaml(written).data == {"a": "b"}
