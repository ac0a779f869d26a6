"""Under `rows_aligned` the order is a key: `fix` writes the records shuffled, and proves demands on pairs in order."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

from tcdp_audit import audit, fix, verify
from tcdp_audit.core.base.errors import DataError, ResultError
from tcdp_audit.core.repair.output import OutputFile
from tcdp_audit.core.results.verdict import verdict_title
from tcdp_audit.core.results.written import read_audit
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.verification import State
from tcdp_audit.verification.signature import attest

PLUGINS = Plugins.load(external=False)
RECORDS = 60
RANDOM = np.random.default_rng(5)
AGES, PAY = RANDOM.integers(20, 80, RECORDS), RANDOM.permutation(RECORDS) * 10
NOTES = [f"zqnote{number}" for number in range(RECORDS)]
ORIGINAL = pa.table({"age": AGES, "pay": PAY, "note": NOTES})
RELEASE = pa.table({"age": AGES // 30 * 30, "pay": PAY + RANDOM.integers(-40, 40, RECORDS), "note": NOTES})
UNDEMANDED = "nothing is demanded of 'pay'"
ATTRIBUTES = {
    "age": {"role": "quasi_identifier", "scale": "numeric"},
    "pay": {"role": "sensitive", "scale": "numeric"},
    "note": {"role": "insensitive", "acknowledged": "numbers of notes"},
}
LINKAGE_NAME = "distance_record_linkage"
LINKAGE = {"distance_record_linkage": {"attributes": ["age", "pay"], "at_most": 0.5}}
ALIGNED = {
    "version": 1,
    "rows_aligned": True,
    "original": "original.csv",
    "attributes": ATTRIBUTES,
    "expect": [{"k_anonymity": {"k": 5}}, LINKAGE],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the original, the release and their policy."""
    csv.write_csv(ORIGINAL, tmp_path / "original.csv")
    csv.write_csv(RELEASE, tmp_path / "release.csv")
    (tmp_path / "p.tcdp.yaml").write_text(
        "version: 1\nrows_aligned: true\noriginal: original.csv\nattributes:\n"
        "  age: {role: quasi_identifier, scale: numeric}\n  pay: {role: sensitive, scale: numeric}\n"
        "  note: {role: insensitive, acknowledged: numbers of notes}\nexpect:\n  - k_anonymity: {k: 5}\n"
        "  - distance_record_linkage: {attributes: [age, pay], at_most: 0.5}\n",
        encoding="utf-8",
    )
    return tmp_path


def detected(outcomes: Any, check: str) -> Any:
    return next(one for one in outcomes if one.check == check)


def test_a_file_in_the_originals_order_is_fit_once_it_is_shuffled() -> None:
    in_order = audit(RELEASE, ALIGNED, ORIGINAL)
    assert (in_order.passed, in_order.exit_code(), in_order.exit_code(fail_on_warning=True)) == (True, 0, 1)
    assert verdict_title(in_order) == f"Fit once its records are shuffled, but {UNDEMANDED}"
    for text in (in_order.render(".md"), in_order.render(".html"), in_order.to_json()):
        assert "Fit for release" not in text
    assert "<h3>Columns" not in in_order.render(".html")
    assert detected(in_order.structure, "linkable_order").message == (
        "`rows_aligned: true`: anyone who holds the original can link every record by its place; the audit needs the "
        "order, so shuffle the copy that is released, as `fix` does"
    )
    inside = audit(RELEASE, {**ALIGNED, "internal_only": True}, ORIGINAL)
    assert verdict_title(inside) == f"Fit to stay inside: its records are in the original's order, but {UNDEMANDED}"
    both = audit(RELEASE, {**ALIGNED, "key": "note"}, ORIGINAL)
    assert verdict_title(both) == f"Fit once its key is dropped: note and its records are shuffled, but {UNDEMANDED}"


def test_an_order_that_no_one_declares_links_nothing() -> None:
    plain = {**ALIGNED, "rows_aligned": False, "expect": ALIGNED["expect"][:1]}
    assert verdict_title(audit(RELEASE, plain, ORIGINAL)) == f"Fit, but {UNDEMANDED}"


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_what_is_written_is_shuffled_and_proven_in_order(folder: Path, name: str) -> None:
    done = fix(folder / "release.csv", folder / "p.tcdp.yaml", output=folder / name)
    assert (done.passed, done.log.order, done.log.steps) == (True, "shuffled", ())
    assert verdict_title(done.after) == f"Fit, but {UNDEMANDED}"
    written = done.released["note"].to_pylist()
    assert written != NOTES
    assert sorted(written) == sorted(NOTES)
    truth = audit(folder / "release.csv", folder / "p.tcdp.yaml")
    judged, known = detected(done.after.outcomes, "distance_record_linkage"), detected(truth.outcomes, LINKAGE_NAME)
    assert judged.observed == known.observed > 0
    assert judged.details["audited_aligned"] == done.log.aligned_sha256
    assert "audited_aligned" not in detected(done.after.outcomes, "k_anonymity").details
    strangers = audit(folder / name, folder / "p.tcdp.yaml")
    assert (
        detected(strangers.outcomes, LINKAGE_NAME).observed < known.observed
    )  # what would be compared without its order
    assert (
        verdict_title(strangers) == f"Fit once its records are shuffled, but {UNDEMANDED}"
    )  # the policy claims what the file is not


def test_the_result_names_the_digest_of_the_copy_in_order(folder: Path) -> None:
    shuffled = fix(folder / "release.csv", folder / "p.tcdp.yaml", output=folder / "out.csv")
    assert shuffled.log.aligned_sha256 == _digest_of_written(folder)
    assert f"SHA-256 {shuffled.log.aligned_sha256}" in shuffled.after.render(".md")


def _digest_of_written(folder: Path) -> str:
    """The digest of the release as `fix` writes it in its order, a column dropped, under a policy without alignment."""
    plain = {**ALIGNED, "rows_aligned": False, "expect": ALIGNED["expect"][:1]}
    del plain["original"]
    plain["attributes"] = {**ATTRIBUTES, "gone": {"role": "identifier"}}
    more = RELEASE.append_column("gone", pa.array(range(RECORDS)))
    csv.write_csv(more, folder / "more.csv")
    fix(folder / "more.csv", plain, output=folder / "ordered.csv", keep_order=True)
    return hashlib.sha256((folder / "ordered.csv").read_bytes()).hexdigest()


def test_an_order_that_is_preserved_is_said(folder: Path) -> None:
    done = fix(folder / "release.csv", folder / "p.tcdp.yaml", output=folder / "kept.csv", keep_order=True)
    assert (done.log.order, done.log.aligned_sha256) == ("kept", None)
    assert verdict_title(done.after) == f"Fit once its records are shuffled, but {UNDEMANDED}"
    assert (folder / "kept.csv").read_bytes() == (folder / "release.csv").read_bytes()


def test_a_demand_that_fails_in_order_fails_though_strangers_would_pass(folder: Path) -> None:
    harder = {
        **ALIGNED,
        "expect": [{"k_anonymity": {"k": 5}}, {LINKAGE_NAME: {**LINKAGE[LINKAGE_NAME], "at_most": 0.01}}],
    }
    harder |= {"remedy": [{"suppression": {"of": "cells"}}], "original": str(folder / "original.csv")}
    done = fix(folder / "release.csv", harder, output=folder / "out.csv")
    assert (done.passed, done.written, done.after.exit_code()) == (False, None, 1)
    assert not (folder / "out.csv").exists()


def test_another_permutation_than_the_written_one_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    restored_columns = OutputFile._put_back

    def turned(self: OutputFile, released: Any) -> Any:
        return restored_columns(self, replace(released, places=np.roll(released.places, 1)))

    monkeypatch.setattr(OutputFile, "_put_back", turned)
    with pytest.raises(DataError, match="what was read back differs from what was released; nothing is kept"):
        fix(folder / "release.csv", folder / "p.tcdp.yaml", output=folder / "out.csv")
    assert not (folder / "out.csv").exists()


def test_the_order_of_the_records_is_judged_as_people_get_it() -> None:
    asked = {**ALIGNED, "expect": [*ALIGNED["expect"], {"record_order": {"at_most": 0}}]}
    assert detected(audit(RELEASE, asked, ORIGINAL).expectations, "record_order").observed == 1
    done = fix(RELEASE, asked, ORIGINAL)
    assert (done.passed, done.log.reason) == (True, "")
    assert detected(done.after.expectations, "record_order").observed == 0


def test_a_dropped_unit_and_the_order_are_put_back_together() -> None:
    people = pa.array([f"zqp{number // 2}" for number in range(RECORDS)])
    release, original = (one.append_column("person", people) for one in (RELEASE, ORIGINAL))
    attributes = {**ATTRIBUTES, "person": {"role": "insensitive"}}
    asked = {**ALIGNED, "attributes": attributes, "unit": "person", "unit_released": False}
    before = audit(release, asked, original)
    assert verdict_title(before) == f"Fit once its records are shuffled and person is dropped, but {UNDEMANDED}"
    done = fix(release, asked, original)
    assert verdict_title(done.after) == f"Fit, but {UNDEMANDED}"
    assert done.released.column_names == ["age", "pay", "note"]
    for check in ("k_anonymity", LINKAGE_NAME):
        assert detected(done.after.outcomes, check).observed == detected(before.outcomes, check).observed
        assert detected(done.after.outcomes, check).details["judged_with_columns"] == ["person"]


def test_verify_repeats_the_repair(folder: Path) -> None:
    done = fix(folder / "release.csv", folder / "p.tcdp.yaml", output=folder / "out.csv")
    for suffix in (".json", ".html"):
        done.write(folder / f"result{suffix}")
    alone = verify(folder / "result.json", folder / "out.csv", plugins=PLUGINS)
    assert (alone.exit_code, alone.differences) == (3, [])
    assert any(
        "linkable_order: it was judged with a column, or in an order" in one.sentence for one in alone.unverified
    )
    for suffix in (".json", ".html"):
        whole = verify(folder / f"result{suffix}", folder / "out.csv", before=folder / "release.csv", plugins=PLUGINS)
        assert whole.is_confirmed, [one for one in whole.points if one.state is not State.CONFIRMED]


def test_a_digest_that_was_changed_is_detected(folder: Path) -> None:
    done = fix(folder / "release.csv", folder / "p.tcdp.yaml", output=folder / "out.csv")
    text = done.after.to_json().replace(str(done.log.aligned_sha256), "0" * 64)
    (folder / "result.json").write_text(text, encoding="utf-8")
    forged = verify(folder / "result.json", folder / "out.csv", before=folder / "release.csv", plugins=PLUGINS)
    assert forged.exit_code == 1


def test_attest_refuses_the_file_in_order_and_signs_the_shuffled_one(folder: Path) -> None:
    pytest.importorskip("securesystemslib")
    from securesystemslib.signer import CryptoSigner

    signer = CryptoSigner.generate_ed25519()
    audit(folder / "release.csv", folder / "p.tcdp.yaml").write(folder / "in_order.json")
    with pytest.raises(ResultError, match="is not fit as it is, but once its records are shuffled; nothing was signed"):
        attest(read_audit(folder / "in_order.json"), folder / "release.csv", signer, PLUGINS)
    done = fix(folder / "release.csv", folder / "p.tcdp.yaml", output=folder / "out.csv")
    done.write(folder / "shuffled.json")
    assert attest(read_audit(folder / "shuffled.json"), folder / "out.csv", signer, PLUGINS).startswith("{")
    assert str(done.log.aligned_sha256) in (folder / "shuffled.json").read_text(encoding="utf-8")
