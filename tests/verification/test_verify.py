"""`verify` confirms what is untouched, and names what is not: release, policy, figures, text, each by itself."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest
import yaml
from written_samples import MARK, POLICY, ROWS, Pair, write_pair

import tcdp_audit
from tcdp_audit.core.auditor.evaluation import evaluation
from tcdp_audit.core.base.errors import DataError, ResultError, TcdpAuditError, UsageError
from tcdp_audit.core.results.written import WrittenAudit
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.verification import Point, State, Verification, verify
from tcdp_audit.verification.wording import Wording, points_of

PLUGINS = Plugins.load(external=False)


def verified(pair: Pair, path: Path | None = None, **given: Any) -> Verification:
    return verify(path or pair.json, given.pop("release", pair.release), plugins=PLUGINS, **given)


def reported(verification: Verification, state: State) -> list[tuple[str, str]]:
    return [(one.subject, one.sentence) for one in verification.points if one.state is state]


def subjects(verification: Verification, state: State = State.DIFFERS) -> set[str]:
    return {subject for subject, _ in reported(verification, state)}


@pytest.mark.parametrize("name", ["json", "html"])
def test_an_untouched_pair_is_confirmed(name: str, pair: Pair):
    verification = verified(pair, getattr(pair, name))

    assert verification.is_confirmed
    assert verification.exit_code == 0
    assert verification.verdict == "failed"
    report = {"report"} if name == "html" else set()
    assert subjects(verification, State.CONFIRMED) == {"release", "policy", "figures"} | report
    assert subjects(verification, State.NOTE) == {"not checked"}
    assert len(verification.points) == 5 + len(report)


@pytest.mark.parametrize(
    ("old", "new"),
    [("476,20", "476,21"), (",12\n", ",13\n"), ("flu", "flv"), ("\n", '"\n'), (",3\n", ",3,\n")],
    ids=["a class", "a salary", "a text", "no CSV", "a cell more"],
)
def test_one_byte_of_the_release_is_named(old: str, new: str, pair: Pair):
    text = pair.release.read_text(encoding="utf-8")
    assert old in text
    pair.release.write_text(text.replace(old, new, 1), encoding="utf-8")
    verification = verified(pair, pair.html)

    assert verification.exit_code == 1
    (sentence,) = [one for subject, one in reported(verification, State.DIFFERS) if subject == "release"]
    assert sentence.startswith("another one: SHA-256 was ")
    assert MARK not in str(verification.points)


def test_another_release_is_named_with_every_figure_that_is_another(pair: Pair):
    pair.release.write_text("\n".join([pair.release.read_text(encoding="utf-8").split("\n")[0], *ROWS[:7], ""]))
    verification = verified(pair)

    assert ("release", "records was 10, is 7") in reported(verification, State.DIFFERS)
    assert ("figures", "expectation 1, k_anonymity: classes.total was 3, is 2") in reported(verification, State.DIFFERS)
    assert ("figures", "expectation 5, entropy_l_diversity on 'disease': the sentence differs") in reported(
        verification, State.DIFFERS
    )


@pytest.mark.parametrize(
    ("old", "new", "also"),
    [
        ("version: 1\n", "version: 1 \n", set()),
        ("k: 3", "k: 4", {"figures"}),
        ("k: 3", "k: [", set()),
        ("k_anonymity", "l_anonymity", set()),
    ],
    ids=["a blank", "a demand", "no YAML", "no check"],
)
def test_one_byte_of_the_policy_is_named(old: str, new: str, also: set[str], pair: Pair):
    pair.policy.write_text(POLICY.replace(old, new, 1), encoding="utf-8")
    verification = verified(pair)

    assert verification.exit_code == 1
    assert subjects(verification) == {"policy"} | also
    if also:
        differing = [sentence for _, sentence in reported(verification, State.DIFFERS)]
        assert "expectation 1, k_anonymity: parameters.k was 3, is 4" in differing
        assert "expectation 1, k_anonymity: the demand was 3, is 4" in differing


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of everything in a JSON value that is neither a list nor a mapping."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from leaves(one, (*path, key))
    if not isinstance(value, dict | list):
        yield path


def changed(value: Any) -> Any:
    """Another value of the same kind."""
    if isinstance(value, bool) or value is None:
        return 1.5 if value is None else not value
    if isinstance(value, str):
        others = {"passed": "failed", "failed": "passed", "measured": "passed", "error": "warning", "warning": "error"}
        return others.get(value, f"{value}{MARK}") if value not in (">=", "<=") else "<"
    return value + 1


def test_whatever_is_changed_in_a_result_is_named_and_never_quoted(pair: Pair):
    audit = tcdp_audit.audit(pair.release, pair.policy, plugins=PLUGINS)
    whole, now = pair.result, audit.as_json()
    paths = [path for path in leaves(whole) if path[0] not in ("audited_at", "run", "schema_version")]
    assert len(paths) > 250
    kinds = {tuple(key for key in path if isinstance(key, str)): path for path in paths}  # one of each
    assert len(kinds) > 60
    for path in kinds.values():
        forged = copy.deepcopy(whole)
        place = forged
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = MARK if path[-1] == "attribute" else changed(place[path[-1]])
        points = list(points_of(WrittenAudit(pair.json, forged), now))
        states = {one.state for one in points}
        if path[0] in ("tool", "plugins") or path[-1] == "uri":  # worth knowing only; hooks are not even that
            assert State.NOTE in states or path[-2] == "hooks" or path[-1] == "distribution", path
        else:
            assert State.DIFFERS in states, path
            assert path[-1] in ("check", "attribute", "name") or not any(MARK in one.sentence for one in points), path


@pytest.mark.parametrize("position", [0, 3])
def test_an_outcome_that_is_left_out_or_made_up_is_named(position: int, pair: Pair):
    expectations = [i for i, one in enumerate(pair.result["outcomes"]) if one["source"] != "tcdp-audit: structure"]
    left = verified(pair, pair.forge(lambda result: result["outcomes"].pop(expectations[position])))
    assert any(sentence.endswith("is not in the result") for _, sentence in reported(left, State.DIFFERS))

    def twice(result: dict[str, Any]) -> None:
        result["outcomes"].append({**result["outcomes"][-1], "check": "made_up"})

    more = verified(pair, pair.forge(twice))
    assert any(
        "made_up on 'disease' does not come of this release" in sentence
        for _, sentence in reported(more, State.DIFFERS)
    )


def test_outcomes_in_another_order_are_named(pair: Pair):
    verification = verified(pair, pair.forge(lambda result: result["outcomes"].reverse()))
    assert ("figures", "the outcomes are in another order") in reported(verification, State.DIFFERS)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Not fit for release</h1>", f"Fit for release {MARK}</h1>"),
        ("</main>", f"<p>{MARK}</p></main>"),
        ("</body>", f"<style>h1{{content:'{MARK}'}}</style></body>"),
        ("<body>", f'<body><div style="display:none" title="{MARK}"></div>'),
        ("</html>", f"</html><!-- {MARK} -->"),
        ("k-anonymity", "k-anonymitx"),
        ("\n", "\n\n"),
    ],
    ids=["verdict", "paragraph", "style", "attribute", "comment", "letter", "line"],
)
def test_a_report_that_says_what_its_result_does_not_is_named(old: str, new: str, pair: Pair):
    verification = verified(pair, pair.forge_page(old, new))

    assert subjects(verification) == {"report"}
    assert verification.exit_code == 1
    assert MARK not in str(verification.points)


def test_a_forged_verdict_is_reported_with_what_should_be_there(pair: Pair):
    verification = verified(pair, pair.forge_page("Not fit for release</h1>", "Fit for release</h1>"))
    ((_, sentence),) = reported(verification, State.DIFFERS)
    assert 'it should read "Not fit for release"' in sentence


def test_a_report_whose_result_was_forged_is_named_by_the_figure(pair: Pair):
    verification = verified(pair, pair.forge_page('"status":"failed"', '"status":"passed"'))
    assert "figures" in subjects(verification)
    assert subjects(verification, State.UNVERIFIED) == {"report"}


def of_another_version(result: dict[str, Any]) -> None:
    result["tool"]["version"] = "0.0.9"


def test_what_another_version_wrote_is_compared_as_far_as_both_know_it(pair: Pair):
    def later(result: dict[str, Any]) -> None:
        of_another_version(result)
        result["exposed_later"] = 3

    known = verified(pair, pair.forge(of_another_version))
    assert known.is_confirmed
    assert ("versions", f"tcdp-audit was 0.0.9, is {tcdp_audit.__version__}") in reported(known, State.NOTE)

    unknown = verified(pair, pair.forge(later))
    assert unknown.exit_code == 3
    assert subjects(unknown, State.UNVERIFIED) == {"figures"}

    sentence = verified(pair, pair.forge(lambda result: result["outcomes"][11].update(message=f"{MARK} is better")))
    assert sentence.exit_code == 3
    figure = verified(pair, pair.forge(lambda result: result["outcomes"][11].update(observed=77)))
    assert figure.exit_code == 1
    assert MARK not in str(sentence.points)


def test_an_unknown_key_of_this_very_version_is_a_difference(pair: Pair):
    verification = verified(pair, pair.forge(lambda result: result.update(approved_by="somebody")))
    assert reported(verification, State.DIFFERS) == [("figures", "approved_by does not come of the audit")]


def test_a_key_that_an_older_version_did_not_write_is_a_note(pair: Pair):
    now = tcdp_audit.audit(pair.release, pair.policy, plugins=PLUGINS).as_json()
    was = copy.deepcopy(pair.result)
    of_another_version(was)
    points = list(points_of(WrittenAudit(pair.json, was), {**now, "later": 1}))
    assert Point("figures", State.NOTE, "later is missing in the result: tcdp-audit 0.0.9 did not write it") in points


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ('"version":"', '"version":"0.0.9-', "tcdp-audit 0.0.9-"),
        ('"plugins":[', '"plugins":[{"name":"p","distribution":"d","version":"3","hooks":[]},', "plugin p 3"),
    ],
)
def test_a_page_that_something_else_wrote_is_not_judged(old: str, new: str, named: str, pair: Pair):
    pair.forge_page(old, new)
    verification = verified(pair, pair.forge_page("</h1>", f" {MARK}</h1>"))
    assert verification.exit_code == 3
    ((subject, sentence),) = reported(verification, State.UNVERIFIED)
    assert subject == "report"
    assert sentence.startswith(f"its text can be verified with what wrote it: {named}")
    assert MARK not in sentence


def test_cells_and_conventions_that_were_asked_for_are_asked_for_again(tmp_path: Path):
    pair = write_pair(tmp_path, show_values=True, all_conventions=True)
    assert MARK in pair.json.read_text(encoding="utf-8")
    assert verified(pair, pair.html).is_confirmed

    forged = verified(pair, pair.forge_page("<h2", f"<p>{MARK}</p><h2"))
    assert forged.exit_code == 1
    assert MARK not in str(forged.points)


def test_a_policy_is_looked_for_beside_the_result(pair: Pair, tmp_path: Path):
    assert pair.result["policy"]["uri"] == "policy.tcdp.yaml"  # which is not in the folder of this test

    pair.policy.rename(tmp_path / "renamed.tcdp.yaml")
    with pytest.raises(ResultError, match=r"its policy policy.tcdp.yaml is not there; name it with --policy"):
        verified(pair)
    named = verified(pair, policy=tmp_path / "renamed.tcdp.yaml")
    assert named.is_confirmed
    assert reported(named, State.NOTE)[0] == ("policy", "was called 'policy.tcdp.yaml', is 'renamed.tcdp.yaml'")


def test_of_two_policies_of_that_name_the_one_that_has_not_changed_is_taken(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
):
    (pair.folder / "here").mkdir()
    monkeypatch.chdir(pair.folder / "here")
    Path("policy.tcdp.yaml").write_text(POLICY.replace("k: 3", "k: 4"), encoding="utf-8")
    assert verified(pair).is_confirmed
    pair.policy.unlink()
    assert "policy" in subjects(verified(pair))


def test_the_tables_beside_a_release_are_compared(tmp_path: Path):
    paired = f"rows_aligned: true\noriginal: original.csv\n{POLICY}  - exact_match_rate: {{attributes: [age]}}\n"
    (tmp_path / "original.csv").write_text("\n".join(["zip,age,disease,salary", *ROWS, ""]), encoding="utf-8")
    pair = write_pair(tmp_path, paired)
    assert "original" in subjects(verified(pair), State.CONFIRMED)

    original = tmp_path / "original.csv"
    original.write_text(original.read_text(encoding="utf-8").replace(",12\n", ",13\n"), encoding="utf-8")
    assert subjects(verified(pair)) == {"original"}


BANDS = "20;2*;*\n30;3*;*\n40;4*;*\n"
BANDED = POLICY.replace(
    "age: {role: quasi_identifier, scale: numeric}", "age: {role: quasi_identifier, hierarchy: ages.csv}"
)


@pytest.fixture
def banded(tmp_path: Path) -> Pair:
    """A release whose policy names a hierarchy."""
    (tmp_path / "ages.csv").write_text(BANDS, encoding="utf-8")
    return write_pair(tmp_path, BANDED)


def test_a_hierarchy_is_compared_by_its_digest_where_it_changes_no_figure(banded: Pair):
    assert verified(banded, banded.html).is_confirmed
    assert "hierarchy of 'age'" in subjects(verified(banded), State.CONFIRMED)
    assert banded.result["files"][0]["sha256"] == hashlib.sha256(BANDS.encode()).hexdigest()

    (banded.folder / "ages.csv").write_text(BANDS.replace("2*", "3*"), encoding="utf-8")
    ((subject, sentence),) = reported(verified(banded), State.DIFFERS)
    assert subject == "hierarchy of 'age'"
    assert sentence.startswith("changed: SHA-256 was ")


@pytest.mark.parametrize("content", [None, f"20;2*;*\n{MARK};*\n"], ids=["none", "no tree"])
def test_a_hierarchy_without_which_nothing_can_be_computed_is_named(content: str | None, banded: Pair):
    (banded.folder / "ages.csv").unlink()
    if content is not None:
        (banded.folder / "ages.csv").write_text(content, encoding="utf-8")
    verification = verified(banded)
    assert subjects(verification) == {"hierarchy of 'age'"}
    assert subjects(verification, State.UNVERIFIED) == {"figures"}
    assert MARK not in str(verification.points)


def test_a_hierarchy_that_the_result_does_not_name_is_a_difference_or_one_of_versions(banded: Pair):
    older = verified(banded, banded.forge(lambda result: (result.pop("files"), of_another_version(result))))
    assert "hierarchy of 'age'" in subjects(older, State.NOTE)
    unnamed = verified(banded, banded.forge(lambda result: result["tool"].update(version=tcdp_audit.__version__)))
    assert subjects(unnamed) == {"hierarchy of 'age'"}


def test_a_hierarchy_that_changes_while_it_is_used_is_no_basis(banded: Pair, monkeypatch: pytest.MonkeyPatch):
    def examined(*parts: Any, **options: Any) -> Any:
        (banded.folder / "ages.csv").write_text(BANDS.replace("2*", "3*"), encoding="utf-8")
        return evaluation(*parts, **options)

    monkeypatch.setattr("tcdp_audit.core.session.inputs.evaluation", examined)
    with pytest.raises(DataError, match="hierarchy of 'age': the file changed while it was audited"):
        tcdp_audit.audit(banded.release, banded.policy, plugins=PLUGINS)


def test_a_table_that_only_the_call_named_must_be_named_again(tmp_path: Path):
    aligned = f"rows_aligned: true\n{POLICY}  - exact_match_rate: {{attributes: [age]}}\n"
    original = tmp_path / "original.csv"
    original.write_text("\n".join(["zip,age,disease,salary", *ROWS, ""]), encoding="utf-8")
    pair = write_pair(tmp_path, aligned, original=original)

    with pytest.raises(ResultError, match="compares with the original, which the policy does not name; name it with"):
        verified(pair)
    assert verified(pair, original=original).is_confirmed


def test_a_policy_that_a_program_gave_is_read_from_a_file_that_says_the_same(tmp_path: Path):
    pair = write_pair(tmp_path)
    audit = tcdp_audit.audit(pair.release, yaml.safe_load(POLICY), plugins=PLUGINS)
    audit.write(pair.json)

    with pytest.raises(ResultError, match="its policy was given in a program; name a file that says the same"):
        verified(pair)
    assert verified(pair, policy=pair.policy).is_confirmed
    assert verified(pair, policy=yaml.safe_load(POLICY)).is_confirmed


def test_a_table_in_memory_is_verified_as_one(pair: Pair):
    table: pa.Table = pyarrow.csv.read_csv(pair.release)
    audit = tcdp_audit.audit(table, pair.policy, plugins=PLUGINS)
    audit.write(pair.json)
    audit.write(pair.html)

    assert verified(pair, pair.html, release=table).is_confirmed
    as_file = verified(pair)
    assert as_file.exit_code == 3
    assert subjects(as_file, State.UNVERIFIED) == {"release"}
    assert subjects(verified(pair, release=table.slice(1)), State.DIFFERS) >= {"release"}


def test_a_table_without_a_digest_is_said_to_be_tied_by_its_figures_only():
    entry = {"uri": "duckdb://x?table=y", "sha256": None, "records": 3, "columns": 2}
    (point,) = Wording("1", "1").tables("release", entry, entry)
    assert point.state is State.NOTE
    assert "only its figures tie it" in point.sentence


def test_what_cannot_be_computed_although_nothing_changed_is_an_error(pair: Pair):
    with pytest.raises(UsageError, match="no such file"):
        verified(pair, release=pair.folder / "nowhere.csv")
    assert not Verification((), "passed").is_confirmed
    assert Verification((), "passed").exit_code == 3


def repaired(folder: Path) -> Pair:
    """A release that `fix` made, with what it wrote."""
    policy = POLICY.replace("t: 0.2", "t: 0.9") + "remedy:\n  - suppression: {of: records}\n"
    pair = write_pair(folder, policy.replace("k: 3", "k: 4"))
    pair.release.rename(folder / "input.csv")
    remediation = tcdp_audit.fix(folder / "input.csv", pair.policy, output=pair.release, plugins=PLUGINS)
    assert remediation.log.steps
    remediation.write(pair.json)
    remediation.write(pair.html)
    return pair


@pytest.mark.long
def test_what_remedies_did_is_done_again(tmp_path: Path):
    pair = repaired(tmp_path)
    without = verified(pair, pair.html)
    assert without.exit_code == 3
    assert subjects(without, State.UNVERIFIED) == {"changes", "report"}
    assert verified(pair, pair.html, before=tmp_path / "input.csv").is_confirmed

    pair.forge(lambda result: result["change_log"].update(records_suppressed=0))
    forged = verified(pair, before=tmp_path / "input.csv")
    assert subjects(forged) == {"changes", "figures"}  # whose digest no longer fits
    another = verified(pair, before=pair.release)
    assert "changes" in subjects(another)


@pytest.mark.long
def test_noise_cannot_be_drawn_again(tmp_path: Path):
    pair = repaired(tmp_path)
    noisy = POLICY + "remedy:\n  - noise: {attribute: salary, mechanism: laplace, epsilon: 1, bounds: [0, 20]}\n"
    pair.policy.write_text(noisy, encoding="utf-8")
    verification = verified(pair, before=tmp_path / "input.csv")
    assert (
        "changes",
        "a remedy draws its noise anew each time, so what remedies did cannot be done again",
    ) in reported(verification, State.UNVERIFIED)


def test_errors_hold_no_cell(pair: Pair):
    pair.json.write_text(json.dumps({MARK: MARK}), encoding="utf-8")
    with pytest.raises(TcdpAuditError) as caught:
        verified(pair)
    assert MARK not in str(caught.value)
    assert caught.value.__context__ is None
    assert dataclasses.is_dataclass(Point)


APPROVED = "APPROVED by the Data Protection Authority"
WORDS = {
    "distribution": lambda result: result["plugins"][0].update(distribution=APPROVED),
    "hooks": lambda result: result["plugins"][0].update(hooks=[APPROVED]),
    "an error of a plugin": lambda result: result["plugins"][0].update(error=APPROVED),
    "tool": lambda result: result["tool"].update(name=APPROVED),
    "a key of the tool": lambda result: result["tool"].update({APPROVED: "1"}),
    "version": lambda result: result["tool"].update(version=APPROVED),
    "Python": lambda result: result["tool"].update(python=f"3.11 {APPROVED}"),
    "a library": lambda result: result["tool"]["libraries"].update(numpy=APPROVED),
    "another library": lambda result: result["tool"]["libraries"].update({APPROVED: "1.0"}),
    "no library": lambda result: result["tool"].update(libraries={}),
    "a version of a plugin": lambda result: result["plugins"][0].update(version=APPROVED),
    "no run": lambda result: result.pop("run"),
}


@pytest.mark.parametrize("name", WORDS)
def test_words_about_the_writers_are_compared(name: str, pair: Pair):
    pair.forge(WORDS[name])
    verification = verified(pair)
    assert verification.exit_code == 1
    assert APPROVED not in str([one.sentence for one in verification.points if one.state is State.DIFFERS])


def test_a_plugin_that_is_not_here_is_not_checked_and_that_is_said(pair: Pair):
    strange = {"name": "dpa", "distribution": APPROVED, "version": "1.0", "hooks": [APPROVED]}
    pair.forge(lambda result: result["plugins"].append(strange))
    notes = reported(verified(pair), State.NOTE)
    assert ("writers", "not checked: what it says of the plugin dpa") in notes


def test_parts_that_a_result_does_not_have_are_named(pair: Pair):
    assert reported(verified(pair), State.NOTE) == [
        (
            "not checked",
            "the result's word for when it was made, who ran it, how and configured by what and where its files were",
        ),
        (
            "not checked",
            "parts that a result may have and this one has not: column_risks, variants, change_log, remedy_trial",
        ),
    ]


def test_a_hostile_page_costs_no_more_than_its_length(pair: Pair):
    page = pair.html.read_text(encoding="utf-8")
    pair.html.write_text(page + "<!--" * 100_000 + "<h1>" + "a<b>" * 100_000, encoding="utf-8")
    assert subjects(verified(pair, pair.html)) == {"report"}
