"""`diff OLD NEW --policy POLICY`: two releases, such as two versions of one table, audited and compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest
from deltalake import write_deltalake

POLICY = """\
version: 1
attributes:
  zip: {role: quasi_identifier}
  illness: {role: sensitive}
expect:
  - k_anonymity: {k: 2}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "p.tcdp.yaml").write_text(POLICY)
    for version in range(6):
        zips = ["1"] * (version + 1) + (["2"] if version == 3 else [])
        table = pa.table({"zip": zips, "illness": ["flu"] * len(zips)})
        write_deltalake(str(tmp_path / "people"), table, mode="overwrite")
        pyarrow.csv.write_csv(table, tmp_path / f"{version}.csv")
    return tmp_path


def test_version_3_beside_version_5(folder: Path, here: Any) -> None:
    versions = [f"delta:{folder}/people@{number}" for number in (3, 5)]
    report = folder / "d.html"
    asked = ("--policy", folder / "p.tcdp.yaml", "--fail-if", "worse")
    result = here("diff", *versions, *asked, "--json", "--report", report)
    assert result.code == 0, result.err
    compared = json.loads(result.out)
    (k,) = [one for one in compared["expectations"] if one["check"] == "k_anonymity"]
    assert (k["change"], k["old"]["observed"], k["new"]["observed"]) == ("better", 1, 6)
    facts = {one["name"]: (one["old"], one["new"]) for one in compared["facts"]}
    assert facts["release"] == ("people@3", "people@5")
    for place, number in enumerate((3, 5)):
        assert facts["version of the release"][place].startswith(f"version {number} of the Delta Lake table ")
    assert compared["sentence"].endswith("Another release under the same policy.")
    assert "version 5 of the Delta Lake table" in report.read_text()
    back = here("diff", *reversed(versions), *asked)
    assert back.code == 1
    same = here("diff", versions[0], versions[0], "--policy", folder / "p.tcdp.yaml", "--fail-if", "different")
    assert same.code == 0
    assert "The same release under the same policy." in " ".join(same.out.split())


def test_files_are_compared_likewise(folder: Path, here: Any) -> None:
    compared = here("diff", folder / "3.csv", folder / "5.csv", "--policy", folder / "p.tcdp.yaml", "--memory", "1GiB")
    assert compared.code == 0
    assert "better" in compared.out


def test_faults_of_the_call(folder: Path, here: Any) -> None:
    (folder / "r.json").write_text("{}")
    for arguments, sentence in (
        ((folder / "r.json", folder / "r.json", "--memory", "1GiB"), "name their policy with --policy"),
        ((folder / "r.json", folder / "r.json", "--trust-policy-code"), "name their policy with --policy"),
        ((folder / "3.csv", folder / "9.csv", "--policy", folder / "p.tcdp.yaml"), "no such file"),
    ):
        result = here("diff", *arguments)
        assert result.code == 2
        assert sentence in result.err
