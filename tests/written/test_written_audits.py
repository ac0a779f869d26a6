"""What is read back is what was written; what is no result is refused, and never quoted."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
from written_samples import MARK, Pair

from tcdp_audit.core.base.errors import ResultError, UsageError
from tcdp_audit.core.results.strict_json import LARGEST, OUTCOME, RESULT, Optional, embed_result, faults
from tcdp_audit.core.results.written import is_quality, is_structural, read_audit


def test_a_result_and_its_report_hold_the_same_audit(pair: Pair):
    plain, page = read_audit(pair.json), read_audit(pair.html)

    assert plain.result == page.result == pair.result
    assert plain.page is None
    assert page.page == pair.html.read_text(encoding="utf-8")
    assert (plain.status, plain.release.records, plain.release.name) == ("failed", 10, "release.csv")
    assert plain.policy_path == Path(pair.policy.name)
    assert [one["check"] for one in plain.outcomes if not is_structural(one) and not is_quality(one)][:2] == [
        "k_anonymity",
        "distinct_l_diversity",
    ]
    assert not plain.names_cells
    assert repr(page) == "<WrittenAudit report.html: failed>"


def test_keys_that_a_later_version_adds_are_read_over(pair: Pair):
    def add(result):
        result["later"] = {"a": 1}
        result["outcomes"][-1]["later"] = "text"

    assert read_audit(pair.forge(add)).result["later"] == {"a": 1}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (f"{{{MARK}", r"not JSON \(line 1, column 2\)"),
        ('{"a": 1, "a": 2}', "a key occurs twice in one object"),
        ('{"a": NaN}', "NaN and Infinity are no numbers in JSON"),
        ('{"a": 1e999}', "a number is too large"),
        ('{"a": ' + "1" * 5000 + "}", "a number is too long"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("[]", "holds no result of tcdp-audit; name a JSON result, or an HTML report of one audit"),
        (f"# Fit for release: {MARK}", "holds no result of tcdp-audit; name a JSON result"),
        ('{"schema_version": 2}', "its schema_version is 2; this tcdp-audit reads 1"),
        (f"<!doctype html><p>{MARK}</p>", "holds no result of tcdp-audit"),
        (f'<html><template id="tcdp-audit-result">{{{MARK}</template>', "its result: not JSON"),
        ('<template id="tcdp-audit-result">1</template>' * 2, "holds several results"),
    ],
)
def test_what_is_no_result_is_refused_without_a_word_of_it(text: str, sentence: str, tmp_path: Path):
    path = tmp_path / "x.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ResultError, match=sentence) as caught:
        read_audit(path)
    assert MARK not in str(caught.value)
    assert str(caught.value).startswith(str(path))


def needs(form: object) -> bool:
    """Whether a key must be there."""
    return not isinstance(form, Optional)


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path: Path):
    with pytest.raises(UsageError, match="no such file"):
        read_audit(tmp_path / "nowhere.json")
    with pytest.raises(UsageError, match="cannot be read"):
        read_audit(tmp_path)
    (tmp_path / "x.json").write_bytes(b"{\xff")
    with pytest.raises(ResultError, match=r"not UTF-8 text \(byte 1\)"):
        read_audit(tmp_path / "x.json")


@pytest.mark.parametrize("key", [key for key, form in RESULT.items() if needs(form) and key != "schema_version"])
def test_every_key_of_a_result_is_needed_and_has_its_kind(key: str, pair: Pair):
    whole = pair.result
    assert list(faults({name: one for name, one in whole.items() if name != key})) == [f"{key}: is missing"]
    assert next(faults({**whole, key: 1.5})).startswith(f"{key}: must be ")


def test_files_need_not_be_named_and_have_their_kind(pair: Pair):
    whole = pair.result
    assert "files" not in whole
    assert list(faults({**whole, "files": 1})) == ["files: must be a list"]
    assert list(faults({**whole, "files": [{"kind": "suite", "attribute": None, "uri": MARK}]})) == [
        "files[0].sha256: is missing"
    ]


@pytest.mark.parametrize("key", ["tables_of_figures", "models"])
def test_tables_of_figures_need_not_be_there_and_have_their_kind(key: str, pair: Pair):
    assert key not in pair.result
    assert next(faults({**pair.result, key: 1.5})).startswith(f"{key}: must be ")


def test_a_failing_cell_has_every_key(pair: Pair):
    whole = copy.deepcopy(pair.result)
    cell = {"table": "t", "measure": "m", "name": "a", "cell": {"d": "a"}, "line": None, "says": ""}
    whole["outcomes"][2]["failing_cells"] = [cell]
    assert list(faults(whole)) == []
    for key in cell:
        whole["outcomes"][2]["failing_cells"] = [{name: one for name, one in cell.items() if name != key}]
        assert list(faults(whole)) == [f"outcomes[2].failing_cells[0].{key}: is missing"]


@pytest.mark.parametrize("key", OUTCOME)
def test_every_key_of_an_outcome_is_needed_and_has_its_kind(key: str, pair: Pair):
    whole = copy.deepcopy(pair.result)
    outcome = whole["outcomes"][2]
    value = outcome.pop(key, "")
    assert list(faults(whole)) == ([f"outcomes[2].{key}: is missing"] if needs(OUTCOME[key]) else [])
    outcome[key] = {} if isinstance(value, list | str) and key != "cells" else [MARK]
    (reported,) = faults(whole)
    assert reported.startswith(f"outcomes[2].{key}: must be ")
    assert MARK not in reported


def test_a_truth_value_is_no_number(pair: Pair):
    whole = pair.result
    whole["release"]["records"] = True
    assert list(faults(whole)) == ["release.records: must be a whole number"]


@pytest.mark.parametrize("time", ["yesterday", "2026-01-01T00:00:00"])
def test_a_time_has_its_zone(time: str, pair: Pair):
    with pytest.raises(ResultError, match="audited_at: must be a time with its zone"):
        read_audit(pair.forge(lambda result: result.update(audited_at=time)))


PACKED = '<template id="tcdp-audit-result">{}</template>'
BOMBS = {
    "values in a report": PACKED.format(embed_result("[" + "[]," * 3_000_000 + "1]")),
    "letters in a report": PACKED.format(embed_result('{"a": "' + "x" * LARGEST + '"}')),
    "values": '{"a": [' + "[]," * 3_000_000 + "1]}",
    "a key twice": "{" + ",".join(f'"k{one}": 1' for one in range(100_000)) + ',"k99999": 2}',
    "beginnings of a result": '<template id="tcdp-audit-result">' * 100_000,
    "results": f"{PACKED[:33]}" * 100_000 + "</template>",
    "elements without an end": "<template " * 300_000,
}


@pytest.mark.parametrize("name", BOMBS)
def test_what_is_larger_inside_than_any_result_is_refused(name: str, tmp_path: Path):
    path = tmp_path / "x.html"
    path.write_text(BOMBS[name], encoding="utf-8")
    with pytest.raises(ResultError):
        read_audit(path)


def test_a_file_larger_than_any_result_is_not_read(tmp_path: Path):
    path = tmp_path / "x.html"
    with path.open("wb") as file:
        file.truncate(10 * LARGEST)
    with pytest.raises(ResultError, match="is larger than 67,108,864 bytes, which no result is"):
        read_audit(path)
