"""What `pip install tcdp-audit` brings is enough for every built-in check, and what is not there is named."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tcdp_audit import PolicyError, audit
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.plugin.check import Need
from tcdp_audit.plugin.engine import UsageError

CHECKS = {
    name: one
    for name, one in Plugins.load(external=False).checks.items()
    if one.on_records and Need.WHOLE_RECORDS not in one.needs
}
ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
FOR_USERS = EXTRAS.keys() - {"all", "benchmarks", "docs", "test", "longer", "dev"}
REPORTERS = Plugins.load(external=False).reporters
OF_FORMATS = FOR_USERS & REPORTERS.keys()  # extras of formats, whose sentence is one for all of them
PROGRAM = Path(__file__).with_name("without_extras.py")
LIBRARIES = (
    "pandas",
    "pandera",
    "great_expectations",
    "polars",
    "opendp",
    "sqlalchemy",
    "psycopg",
    "fsspec",
    "aiohttp",
    "pyreadstat",
    "pyspark",
    "stdnum",
    "phonenumbers",
    "sklearn",
)
POLICY = {
    "version": 1,
    "schema": "schema.yaml",
    "attributes": {"zip": {"role": "quasi_identifier"}},
    "expect": [{"k_anonymity": {"k": 2}}],
}


def test_formats_for_paper_have_extras():
    assert sorted(OF_FORMATS) == ["docx", "pdf"]


def test_all_is_every_extra_for_users():
    (everything,) = EXTRAS["all"]
    assert everything == f"tcdp-audit[{','.join(sorted(FOR_USERS))}]"


@pytest.mark.parametrize("extra", sorted(FOR_USERS - {"polars"} - OF_FORMATS))  # who gives a frame of polars has it
def test_a_sentence_names_each_extra(extra: str):
    sources = (
        path.read_text(encoding="utf-8") for top in ("tcdp_audit", "plugins") for path in (ROOT / top).rglob("*.py")
    )
    named = f"tcdp-audit[{extra}]" if extra != "sql" else 'else "sql"'  # the sentence on databases chooses among two
    assert any(named in text for text in sources)


@pytest.mark.parametrize("extra", sorted(OF_FORMATS))
def test_a_format_of_reports_names_its_extra(extra: str, monkeypatch: pytest.MonkeyPatch):
    require = REPORTERS[extra].require
    require()
    monkeypatch.setattr("tcdp_audit_reports.find_spec", lambda _: None)
    with pytest.raises(UsageError) as caught:
        require()
    assert str(caught.value).endswith(f'; pip install "tcdp-audit[{extra}]"')


@pytest.mark.parametrize("library", ["pandas", "pandera"])
def test_without_pandera_its_extra_is_named(library: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(PolicyError) as caught:
        audit(ROOT / "examples/papers/li07_table4.csv", POLICY)
    assert str(caught.value) == 'policy: schema: needs pandera; pip install "tcdp-audit[pandera]"'


@pytest.mark.long
def test_every_built_in_check_works_without_any_extra(tmp_path: Path):
    def outcomes(*missing: str) -> list[list[object]]:
        command = [sys.executable, str(PROGRAM), str(tmp_path), *missing]
        return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    without = outcomes(*LIBRARIES)
    measured = {check for check, _, status, *_ in without if status == "measured"}
    on_one_table = {name for name, one in CHECKS.items() if Need.UNLINKED_TABLES not in one.needs}
    assert measured == on_one_table
    assert {status for _, _, status, *_ in without} == {"measured", "error"}  # no case has what every check measures
    assert without == outcomes()
