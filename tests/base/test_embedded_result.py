"""The result inside a report comes back to the letter, and nothing else comes back."""

from __future__ import annotations

import base64
import zlib

import pytest
from hypothesis import given, strategies as st

from tcdp_audit.core.base.errors import ResultError
from tcdp_audit.core.results import strict_json as embedded_result
from tcdp_audit.core.results.strict_json import embed_result, unpacked, with_plain_result

PAGE = '<p>before</p><template id="tcdp-audit-result">%s</template><p>after</p>'


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_text_comes_back_and_is_no_markup(text):
    inside = embed_result(text)
    assert unpacked(inside, "x") == text
    assert not set(inside) & set("<>&\"'")


def test_plain_json_represents_itself():
    assert unpacked(' {"a": 1}', "x") == ' {"a": 1}'


def test_pages_that_differ_in_the_packing_only_are_one():
    text = '{"a": "' + "b" * 100 + '"}'
    other = base64.b64encode(zlib.compress(text.encode(), 0)).decode()
    assert other != embed_result(text)
    assert with_plain_result(PAGE % other, "x") == with_plain_result(PAGE % embed_result(text), "x") == PAGE % text


def _zlib(text: bytes, more: bytes = b"", end: int | None = None) -> str:
    return base64.b64encode((zlib.compress(text) + more)[:end]).decode()


@pytest.mark.parametrize(
    ("inside", "sentence"),
    [
        ("secret!", "is not JSON, packed by zlib in base64 or plain"),
        (base64.b64encode(b"secret").decode(), "is not JSON, packed by zlib in base64 or plain"),
        (_zlib(b"secret", end=-2), "is cut off, or has something after its end"),
        (_zlib(b"secret", b"more"), "is cut off, or has something after its end"),
        (_zlib(b"secret\xff"), "is not JSON, packed by zlib in base64 or plain"),
    ],
)
def test_what_is_no_result_is_refused_without_a_word_of_it(inside, sentence):
    with pytest.raises(ResultError, match=sentence) as caught:
        unpacked(inside, "report.html")
    assert str(caught.value).startswith("report.html: ")
    assert "secret" not in str(caught.value)


def test_a_result_does_not_outgrow_its_bound(monkeypatch):
    monkeypatch.setattr(embedded_result, "LARGEST", 1000)
    assert unpacked(embed_result("a" * 1000), "x") == "a" * 1000
    with pytest.raises(ResultError, match="unpacks to more than 1,000 bytes"):
        unpacked(embed_result("a" * 1001), "x")
