"""Marker values planted in every cell appear in no artefact, unless a person asks to see values."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from document_text import text_of

import tcdp_audit
from tcdp_audit.cli.run import run
from tcdp_audit.core.base.guide_file import DisclosureType, Guide
from tcdp_audit.core.check.evidence import ClassEvidence
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.plugin.check import AttributeParameters, ClassCheck, Parameters, Threshold, hookimpl
from tcdp_audit.plugin.sentences import Comparison

MARK = "zanzibar"
NUMBER = "8675309"  # for numeric columns; any cell's digits contain it
COLUMNS = ("zip", "age", "disease", "cost", "severity", "note", "person", "name", "extra", "misfit")

POLICY = """\
version: 1
unit: person
attributes:
  zip: {role: quasi_identifier, scale: nominal}
  age: {role: quasi_identifier, scale: numeric}
  disease: {role: sensitive, scale: nominal}
  cost: {role: sensitive, scale: numeric}
  severity: {role: sensitive, scale: ordinal, order: [low, high]}
  note: {role: insensitive}
  person: {role: insensitive}
  name: {role: identifier}
  misfit: {role: insensitive, scale: numeric}
expect:
  - k_anonymity: {k: 5}
  - distinct_l_diversity: {l: 3}
  - entropy_l_diversity: {l: 2.5}
  - t_closeness: {t: 0.1}
  - t_closeness: {t: 0.1, attribute: cost, distance: ordered}
"""


def rows() -> Iterator[dict[str, str]]:
    """Twelve records; each text cell contains the marker, each number the marker number."""
    for i in range(12):
        yield {
            "zip": f"{MARK}-zip-{i % 3}",
            "age": f"{NUMBER}{i % 2}",
            "disease": f" {MARK}-disease-{i % 5}",  # a blank before it, which the audit reports
            "cost": f"{NUMBER}{i}.5",
            "severity": f"{MARK}-severity",  # not in the declared order
            "note": f"{MARK.upper() if i else MARK}-note",
            "person": f"{MARK}-person-{i}",
            "name": f"{MARK}-name",
            "extra": f"{MARK}-extra",
            "misfit": f"{MARK}-misfit",
        }


def policies() -> dict[str, str]:
    """With every structural fault, and without those that hinder the checks."""
    ordered = f"order: [{MARK}-severity, high]"
    return {
        "faulty": POLICY,
        "evaluated": POLICY.replace("order: [low, high]", ordered).replace(
            "misfit: {role: insensitive, scale: numeric}", "misfit: {role: insensitive}"
        ),
        "missing values fail": POLICY + "conventions: {missing_sensitive: fail, missing_quasi_identifier: fail}\n",
    }


def assert_free_of_cells(text: str) -> None:
    assert MARK not in text.lower()
    assert NUMBER not in text


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lines = [",".join(COLUMNS), *(",".join(row[name] for name in COLUMNS) for row in rows())]
    Path("release.csv").write_text("\n".join([*lines, ""]))
    return tmp_path


_REMEDIES = {
    "mondrian": "{}",
    "redistribution": "{}",
    "generalization": "{}",
    "suppression": "{of: cells}",
    "bucketization": "{attribute: cost, t: 2, k: 3}",
    "microaggregation": "{attributes: [age], k: 3}",
    "noise": "{attribute: disease, mechanism: randomised_response, epsilon: 1}",
    "global_recoding": "{breaks: {age: [18, 65]}}",
    "top_bottom_coding": "{attribute: age, top: 90}",
    "rounding": "{base: 10}",
    "data_shuffling": "{proximity: 0}",
    "correlated_noise": "{percent: 20}",
    "pram": "{retention: 0.6}",
    "rank_swapping": "{percent: 30}",
    "rebucketize": "{attribute: cost}",
}
SUFFIXES = sorted(reporter.suffix for reporter in Plugins.load(external=False).reporters.values())


@pytest.mark.parametrize("name", policies())
@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.usefixtures("folder")
def test_no_report_holds_a_cell(suffix: str, name: str) -> None:
    policy = tcdp_audit.load_policy(_parsed(policies()[name]))
    audit = tcdp_audit.audit("release.csv", policy, memory=2**28)
    text = text_of(audit.render(suffix))
    assert len(text) > 1000
    assert_free_of_cells(text.replace(f"{MARK}-severity", "") if name == "evaluated" else text)


def _parsed(text: str) -> Any:
    import yaml

    return yaml.safe_load(text)


@pytest.mark.parametrize("name", ["faulty", "missing values fail"])
@pytest.mark.parametrize(
    "options",
    [(), ("--json",), ("--quiet",), ("--format", "github"), ("--format", "gitlab"), ("--policy", ".")],
    ids=["terminal", "json", "quiet", "github", "gitlab", "several"],
)
@pytest.mark.usefixtures("folder")
def test_no_output_of_the_command_holds_a_cell(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], name: str
) -> None:
    Path("policy.tcdp.yaml").write_text(policies()[name])
    if "." in options:
        Path("other.tcdp.yaml").write_text(policies()[name])
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    monkeypatch.setenv("GITHUB_OUTPUT", "output")
    reports = [argument for suffix in SUFFIXES for argument in ("--report", f"{{policy}}{suffix}")]
    code = run("check", ["release.csv", *options, *reports, "--report", "all.sarif"])
    output = capfd.readouterr()
    assert code == 3
    assert_free_of_cells(output.out + output.err)
    written = [Path(f"policy{suffix}") for suffix in SUFFIXES] + [Path("all.sarif")]
    written += [Path("summary.md"), Path("output")] if "github" in options else []
    for path in written:
        assert_free_of_cells(text_of(path.read_bytes()))


@pytest.mark.usefixtures("folder")
def test_no_exception_of_a_failed_audit_holds_a_cell() -> None:
    for name in ("faulty", "missing values fail"):
        audit = tcdp_audit.audit("release.csv", _parsed(policies()[name]), memory=2**28)
        with pytest.raises(tcdp_audit.TcdpAuditError) as caught:
            audit.raise_for_failures()
        assert_free_of_cells(str(caught.value) + repr(caught.value) + repr(audit))
        assert_free_of_cells("".join(repr(one) for one in audit.outcomes))


@pytest.mark.long
@pytest.mark.parametrize("remedy", [*_REMEDIES, "none named"])
@pytest.mark.usefixtures("folder")
def test_nothing_that_fix_says_holds_a_cell(capfd: pytest.CaptureFixture[str], remedy: str) -> None:
    text = policies()["evaluated"].replace("unit: person\n", "").replace("  name: {role: identifier}\n", "")
    text = text.replace("misfit:", "name: {role: insensitive}\n  extra: {role: insensitive}\n  misfit:")
    lines = "" if remedy == "none named" else f"remedy:\n  - {remedy}: {_REMEDIES[remedy]}\n"
    Path("policy.tcdp.yaml").write_text(text.replace("0.1", "0.9") + lines)
    reports = [argument for suffix in SUFFIXES for argument in ("--report", f"fixed{suffix}")]
    run("fix", ["release.csv", "--output", "fixed.csv", "--keep-failing", *reports])
    output = capfd.readouterr()
    assert "\n1. " in output.out or "\n- " in output.out  # what the remedies did, or what was tried
    for said in [output.out + output.err, *(text_of(Path(f"fixed{suffix}").read_bytes()) for suffix in SUFFIXES)]:
        assert_free_of_cells(said.replace(f"{MARK}-severity", ""))
    remediation = tcdp_audit.fix("release.csv", "policy.tcdp.yaml")
    assert_free_of_cells(repr(remediation).replace(f"{MARK}-severity", ""))


BROKEN = {
    "ragged": f"zip,age\n{MARK}\n",
    "too many": f"zip,age\n{MARK},{NUMBER},{MARK}\n",
    "unclosed": f'zip,age\n"{MARK},{NUMBER}\n',
    "not UTF-8": f"zip,age\n{MARK}\xff,{NUMBER}\n",
    "line ends": f"zip,age\n{MARK},{NUMBER}\n{MARK},{NUMBER}\r\n",
    "empty name": f",age\n{MARK},{NUMBER}\n",
}


@pytest.mark.parametrize("fault", BROKEN)
@pytest.mark.usefixtures("folder")
def test_no_exception_about_a_file_holds_a_cell(fault: str) -> None:
    Path("broken.csv").write_bytes(BROKEN[fault].encode("latin-1"))
    with pytest.raises(tcdp_audit.TcdpAuditError) as caught:
        tcdp_audit.audit("broken.csv", {**_parsed(POLICY), "read_as": {"encoding": "utf-8"}}, memory=2**28)
    assert_free_of_cells(str(caught.value) + repr(caught.value))
    assert_free_of_cells("".join(traceback.format_exception(caught.value)))


@pytest.mark.parametrize("line", [f'{{"zip": "{MARK}"', f'{{"zip": ["{MARK}"]}}', f'["{MARK}"]', f'"{MARK}"'])
@pytest.mark.usefixtures("folder")
def test_no_exception_about_json_lines_holds_a_cell(line: str) -> None:
    Path("broken.jsonl").write_text(f'{{"zip": "{MARK}"}}\n{line}\n')
    with pytest.raises(tcdp_audit.TcdpAuditError) as caught:
        tcdp_audit.audit("broken.jsonl", _parsed(POLICY), memory=2**28)
    assert_free_of_cells("".join(traceback.format_exception(caught.value)))


def test_no_exception_about_a_frame_holds_a_cell() -> None:
    mixed = pd.DataFrame({"zip": pd.Series([MARK, int(NUMBER), 1.5, {MARK}], dtype=object)})
    with pytest.raises(tcdp_audit.DataError) as caught:
        tcdp_audit.audit(mixed, _parsed(POLICY), memory=2**28)
    assert_free_of_cells("".join(traceback.format_exception(caught.value)))


@pytest.mark.usefixtures("folder")
def test_values_are_shown_only_to_who_asks(capfd: pytest.CaptureFixture[str]) -> None:
    Path("policy.tcdp.yaml").write_text(policies()["evaluated"])
    run("check", ["release.csv", "--json", "--show-values"])
    shown = capfd.readouterr().out
    assert f"{MARK}-zip-0" in shown
    assert f"{NUMBER}0" in shown
    assert f"{MARK}-disease" in shown  # the shares of the worst group have their names then
    for hidden in ("note", "person", "name", "extra", "misfit"):
        assert f"{MARK}-{hidden}" not in shown


class _Least(Parameters):
    least: int | None = None


class _LeastOfAttribute(AttributeParameters):
    least: int | None = None


def _careless(name: str, error: Exception, parameters: type[Any]) -> ClassCheck[Any]:
    def measure(_: ClassEvidence, __: Any) -> Any:
        raise error

    return ClassCheck(
        name=name,
        title="Careless",
        guide=Guide("d", "f", "r", "c", "s", f"- {name}:"),
        disclosure_type=DisclosureType.IDENTITY_MODEL,
        parameters=parameters,
        thresholds=(Threshold("least", Comparison.AT_LEAST, measure),),
        on_attribute=issubclass(parameters, AttributeParameters),
    )


class _Plugin:
    """Two checks that raise with what they saw."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    @hookimpl
    def tcdp_audit_checks(self) -> Iterator[ClassCheck[Any]]:
        yield _careless("careless_classes", self.error, _Least)
        yield _careless("careless_values", self.error, _LeastOfAttribute)


SEEN = f"{MARK}: {NUMBER}"
ERRORS = [ValueError(SEEN), KeyError(SEEN), OSError(2, SEEN, SEEN), UnicodeDecodeError("x", b"x", 0, 1, SEEN)]


@pytest.mark.parametrize("error", ERRORS, ids=[type(error).__name__ for error in ERRORS])
@pytest.mark.usefixtures("folder")
def test_what_a_raising_check_says_is_not_quoted(error: Exception) -> None:
    plugins = Plugins.load(external=False)
    plugins.register(_Plugin(error), "careless")
    asked = _parsed(policies()["evaluated"].replace(f"{MARK}-severity", "low"))
    asked["attributes"]["severity"] = {"role": "insensitive"}
    asked["expect"] = [{"k_anonymity": {"k": 1}}, {"careless_classes": {}}, {"careless_values": {"least": 1}}]
    audit = tcdp_audit.audit("release.csv", asked, plugins=plugins, memory=2**28)
    statuses = [(one.check, one.status.value) for one in audit.expectations]
    assert statuses == [
        ("k_anonymity", "measured"),
        ("careless_classes", "error"),
        ("careless_values", "error"),
        ("careless_values", "error"),
    ]
    assert audit.expectations[1].message.startswith(f"the check raised {type(error).__name__} in test_markers.py")
    assert audit.exit_code() == 3
    for suffix in SUFFIXES:
        assert_free_of_cells(text_of(audit.render(suffix)))
    with pytest.raises(tcdp_audit.TcdpAuditError) as caught:
        audit.raise_for_failures()
    assert_free_of_cells(str(caught.value) + repr(audit.outcomes))
