"""Whole runs on tables of figures: what is printed, written, compared, verified and attested."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pandas as pd
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from tcdp_audit import audit, open_session
from tcdp_audit.cli.run import run
from tcdp_audit.core.cells import view as cells_view
from tcdp_audit.core.results import __file__ as results
from tcdp_audit.core.results.written_verdict import contradictions
from tcdp_audit.integrations.pytest_plugin.answer import by_key, plan
from tcdp_audit.plugin.engine import TcdpAuditError

WARDS = {
    "A": ("31", "24", "<10", "62"),
    "B": ("18", "4", "<10", "27"),
    "C": ("12", "40", "55", "107"),
    "All": ("61", "68", "67", "196"),
}
AGES = ("20-39", "40-59", "60+", "All")
TABLES = """\
  wards:
    file: wards.csv
    about: {who: admitted 2025}
    dimensions: {ward: {total: All}, age: {total: All}}
    measures: {patients: {counts: people}}
    suppressed: {"<10": [1, 9]}
  men:
    file: men.csv
    about: {who: admitted 2025, sex: male}
    dimensions: {age: {total: All}}
    measures: {patients: {counts: people}}
"""
EXPECT = """\
expect:
  - cell_frequency: {k: 10}
  - derivable_small_count: {k: 10}
"""
RECORDS = """\
  people:
    file: people.csv
    attributes: {zip: {role: quasi_identifier}, job: {role: quasi_identifier}}
"""
HIDDEN = (5, 7)  # of ward B and ward A, aged 60+


def table_of(wards: dict[str, tuple[str, ...]]) -> str:
    rows = [f"{ward},{age},{count}" for ward, counts in wards.items() for age, count in zip(AGES, counts, strict=True)]
    return "\n".join(["ward,age,patients", *rows, ""])


def write_policy(name: str, tables: str = TABLES, expect: str = EXPECT) -> None:
    Path(name).write_text(f"version: 1\nunit_name: patient\ntables:\n{tables}{expect}", encoding="utf-8")


@pytest.fixture
def outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two tables of figures, a table of records, and a policy of the figures."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    Path("wards.csv").write_text(table_of(WARDS), encoding="utf-8")
    Path("men.csv").write_text("age,patients\n20-39,28\n40-59,31\n60+,30\nAll,89\n", encoding="utf-8")
    Path("people.csv").write_text("zip,job\n" + "A,x\nA,y\nB,x\nB,y\n" * 12, encoding="utf-8")
    write_policy("x.tcdp.yaml")
    return tmp_path


def result_of(policy: str = "x.tcdp.yaml", *options: str) -> dict[str, Any]:
    run("check", ["--policy", policy, "--report", "result.json", "--quiet", *options])
    return dict(json.loads(Path("result.json").read_text(encoding="utf-8")))


def test_the_terminal_names_failing_cells_within_eighty_columns(outputs, capsys):  # noqa: ARG001 - its folder
    assert run("check", ["--policy", "x.tcdp.yaml"]) == 1
    printed = capsys.readouterr().out
    assert printed.startswith("wards.csv, men.csv: 2 tables of figures with 20 cells\n")
    assert "  ward B, age 40-59 (patients of wards)\n" in printed
    lines = printed.splitlines()
    at = lines.index("              ward A, age 60+ (patients of wards): is the total of ward A less")
    assert lines[at + 1] == "              age 20-39 and age 40-59"
    assert "2 tables of figures with 20 cells were examined; the records behind" in " ".join(printed.split())
    assert max(map(len, lines)) <= 80
    assert "safe" not in printed


def test_a_brief_output_has_the_cells_of_what_fails(outputs, capsys):  # noqa: ARG001 - its folder
    assert run("check", ["--policy", "x.tcdp.yaml", "--brief"]) == 1
    printed = capsys.readouterr().out
    assert "checks of the tables" not in printed
    assert "ward B, age 60+ (patients of wards)" in printed


def test_of_many_failing_cells_the_first_are_printed_and_the_others_counted(outputs, capsys):  # noqa: ARG001
    write_policy("x.tcdp.yaml", expect="expect:\n  - cell_frequency: {k: 70}\n")
    run("check", ["--policy", "x.tcdp.yaml"])
    printed = capsys.readouterr().out
    assert printed.count("(patients of ") == 5
    assert "  and 10 more cells\n" in printed


def test_figures_of_failing_cells_are_given_only_if_asked_for(outputs, capsys):  # noqa: ARG001 - its folder
    plain = json.dumps(result_of()["outcomes"])
    assert '"figures"' not in plain
    assert '"value"' not in plain
    shown = json.dumps(result_of("x.tcdp.yaml", "--show-values")["outcomes"])
    assert all(f'"figures": {{"value": {figure}}}' in shown for figure in HIDDEN)
    run("check", ["--policy", "x.tcdp.yaml", "--show-values"])
    assert "value 7" in "".join(capsys.readouterr().out.split("\n"))


def test_a_result_has_the_published_form_and_no_contradiction(outputs):  # noqa: ARG001 - its folder
    result = result_of()
    schema = json.loads((Path(results).parent / "result.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(result, schema)
    assert [*contradictions(result)] == []
    assert result["tables_of_figures"]["wards"] == {
        "dimensions": 2,
        "measures": 1,
        "cells": 16,
        "hidden": 2,
        "absent": 0,
    }
    assert result["conventions"] == {"negative": "refuse", "boundary": "handbook", "integers": "exact"}
    assert result["columns"] == []


def test_results_that_contradict_themselves_are_detected(outputs):  # noqa: ARG001 - its folder
    result = result_of()
    without = {**result, "outcomes": [one for one in result["outcomes"] if one["check"] != "contradiction"]}
    assert any("each demand on tables of figures (contradiction)" in one for one in contradictions(without))
    empty = {**result, "tables_of_figures": {"wards": {**result["tables_of_figures"]["wards"], "cells": 0}}}
    assert "its tables of figures have no cell" in [*contradictions(empty)]
    write_policy("x.tcdp.yaml", expect="expect:\n  - cell_frequency: {k: 2}\n")
    passed = result_of()
    assert passed["status"] == "passed"
    assert [*contradictions(passed)] == []
    words = {
        **passed["verdict"],
        "sentence": passed["verdict"]["sentence"].replace("; the records behind them were not", ""),
    }
    assert "its verdict has another sentence than its outcomes give" in [*contradictions({**passed, "verdict": words})]
    nothing = [
        {**one, "cells": {"total": 0, "failing": 0}} if one["check"] == "cell_frequency" else one
        for one in passed["outcomes"]
    ]
    assert any("passed without a cell" in one for one in contradictions({**passed, "outcomes": nothing}))


def test_each_failing_cell_is_a_finding_at_its_line_of_the_file(outputs):  # noqa: ARG001 - its folder
    run("check", ["--policy", "x.tcdp.yaml", "--report", "x.sarif", "--report", "x.codequality.json", "--quiet"])
    sarif = json.loads(Path("x.sarif").read_text(encoding="utf-8"))["runs"][0]
    places = [one["locations"][0]["physicalLocation"] for one in sarif["results"]]
    results = [(one["artifactLocation"]["uri"], one["region"]["startLine"]) for one in places]
    assert results == [("x.tcdp.yaml", 16), ("wards.csv", 7), ("x.tcdp.yaml", 17), ("wards.csv", 4), ("wards.csv", 8)]
    assert sarif["results"][1]["properties"]["cell"] == {"ward": "B", "age": "40-59"}
    marks = [one["partialFingerprints"]["tcdpAuditFinding/v1"] for one in sarif["results"]]
    assert len({*marks}) == 5
    issues = json.loads(Path("x.codequality.json").read_text(encoding="utf-8"))
    assert [one["location"]["path"] for one in issues].count("wards.csv") == 3


def test_junit_has_the_cells_in_the_text_of_a_failure(outputs):  # noqa: ARG001 - its folder
    run("check", ["--policy", "x.tcdp.yaml", "--report", "x.junit.xml", "--quiet"])
    text = Path("x.junit.xml").read_text(encoding="utf-8")
    assert "ward A, age 60+ (patients of wards): is the total of ward A less age 20-39 and age 40-59\n" in text
    assert '<property name="cells.failing" value="2" />' in text
    assert '<property name="cells" value="20" />' in text
    assert 'name="records' not in text


def test_diff_says_which_cells_fail_now(outputs, capsys):  # noqa: ARG001 - its folder
    run("check", ["--policy", "x.tcdp.yaml", "--report", "old.json", "--quiet"])
    assert run("diff", ["old.json", "old.json", "--fail-if", "different"]) == 0
    Path("wards.csv").write_text(
        table_of({**WARDS, "B": ("17", "5", "5", "27"), "C": ("13", "<10", "55", "<10")}), encoding="utf-8"
    )
    run("check", ["--policy", "x.tcdp.yaml", "--report", "new.json", "--quiet"])
    capsys.readouterr()
    assert run("diff", ["old.json", "new.json", "--fail-if", "worse"]) == 1
    printed = " ".join(capsys.readouterr().out.split())
    assert "fails now ward B, age 60+ (patients of wards)" in printed
    assert "1 cell fails that did not." in printed
    assert "records" not in printed
    run("diff", ["old.json", "new.json", "--json"])
    compared = json.loads(capsys.readouterr().out)
    changes, facts = compared["expectations"], {one["name"]: (one["old"], one["new"]) for one in compared["facts"]}
    assert facts["table wards"] == ("16 cells, 2 hidden, 0 absent", "16 cells, 3 hidden, 0 absent")
    assert "people at risk" not in facts
    frequency = next(one for one in changes if one["check"] == "cell_frequency")
    assert frequency["cells"]["new"] == [{"table": "wards", "measure": "patients", "cell": {"ward": "B", "age": "60+"}}]
    assert frequency["cells"]["gone"] == []


def test_a_cell_that_takes_the_place_of_another_is_worse(outputs, capsys):  # noqa: ARG001 - its folder
    write_policy("x.tcdp.yaml", expect="expect:\n  - cell_frequency: {k: 10}\n")
    run("check", ["--policy", "x.tcdp.yaml", "--report", "old.json", "--quiet"])
    Path("wards.csv").write_text(
        table_of({**WARDS, "B": ("4", "18", "<10", "27"), "C": ("26", "26", "55", "107")}), encoding="utf-8"
    )
    run("check", ["--policy", "x.tcdp.yaml", "--report", "new.json", "--quiet"])
    capsys.readouterr()
    assert run("diff", ["old.json", "new.json", "--fail-if", "worse"]) == 1
    printed = capsys.readouterr().out
    assert "~ different" in printed
    assert "fails now" in printed
    assert "fails no more" in printed


@pytest.mark.parametrize("report", ["x.html", "x.json"])
def test_verify_confirms_what_was_audited_and_names_a_table_that_changed(report, outputs, capsys):  # noqa: ARG001
    run("check", ["--policy", "x.tcdp.yaml", "--report", report, "--quiet"])
    assert run("verify", [report]) == 0
    assert run("verify", [report, "."]) == 0
    assert run("verify", [report, "--table", "wards=wards.csv", "--table", "men=men.csv"]) == 0
    Path("men.csv").write_text("age,patients\n20-39,28\n40-59,32\n60+,29\nAll,89\n", encoding="utf-8")
    capsys.readouterr()
    assert run("verify", [report]) == 1
    assert "table men    another one" in capsys.readouterr().out


def keys() -> None:
    key = Ed25519PrivateKey.generate()
    Path("k.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    Path("p.pem").write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))


def test_attestations_are_about_every_table(outputs, capsys):  # noqa: ARG001 - its folder
    keys()
    run("check", ["--policy", "x.tcdp.yaml", "--report", "x.json", "--quiet"])
    assert run("attest", ["x.json", "--key", "k.pem", "--output", "a.json"]) == 0
    wards, men = ["--table", "wards=wards.csv"], ["--table", "men=men.csv"]
    given = ["a.json", "--key", "p.pem", "--allow-failed"]
    assert run("verify", [*given, *wards, *men]) == 0
    assert run("verify", [*given, *wards, "--table", "men=wards.csv"]) == 1
    run("check", ["--policy", "x.tcdp.yaml", "--show-values", "--report", "v.json", "--quiet"])
    assert run("attest", ["v.json", "--key", "k.pem"]) == 3
    assert "names cells of the release" in capsys.readouterr().err


def test_records_and_figures_of_one_release_are_verified_and_attested_together(outputs, capsys):  # noqa: ARG001
    keys()
    write_policy("m.tcdp.yaml", RECORDS + TABLES, EXPECT + "  - k_anonymity: {k: 2}\n")
    assert run("check", ["--policy", "m.tcdp.yaml", "--report", "m.html", "--report", "m.json"]) == 1
    printed = capsys.readouterr().out
    assert printed.startswith("people.csv: 48 records, 2 columns; 2 tables of figures with 20 cells\n")
    for named in ([], ["people.csv"], ["."], ["--table", "people=people.csv", "--table", "men=men.csv"]):
        assert run("verify", ["m.html", *named]) == 0
    assert run("attest", ["m.json", ".", "--key", "k.pem", "--output", "a.json"]) == 0
    statement = json.loads(
        __import__("base64").b64decode(json.loads(Path("a.json").read_text(encoding="utf-8"))["payload"])
    )
    assert [one["name"] for one in statement["subject"]] == ["people.csv", "wards.csv", "men.csv"]
    given = ["a.json", "--key", "p.pem", "--allow-failed"]
    tables = [f"{name}={name}.csv" for name in ("people", "wards", "men")]
    every = [option for one in tables for option in ("--table", one)]
    assert run("verify", [*given, *every]) == 0
    assert run("verify", [*given, *every[:4]]) == 1
    assert run("verify", [*given, "people.csv"]) == 1
    assert run("attest", ["m.json", "--table", "people=people.csv", "--key", "k.pem"]) == 2
    Path("men.csv").write_text("age,patients\n20-39,29\n40-59,31\n60+,29\nAll,89\n", encoding="utf-8")
    assert run("verify", ["m.html", "people.csv"]) == 1
    assert run("attest", ["m.json", ".", "--key", "k.pem", "--output", "b.json"]) == 1


def test_a_mixed_report_has_both_parts(outputs):  # noqa: ARG001 - its folder
    write_policy("m.tcdp.yaml", RECORDS + TABLES, EXPECT + "  - k_anonymity: {k: 20}\n")
    run("check", ["--policy", "m.tcdp.yaml", "--report", "m.md", "--quiet"])
    text = Path("m.md").read_text(encoding="utf-8")
    assert "**Every column of the file and of the policy**" in text
    assert "**Every table of figures**" in text
    assert "Failing figures of tables are not counted." in text
    assert "Compute the SHA-256 of men.csv. It must be" in text


def test_models_alone_are_reported_without_tables_and_without_a_digest(outputs, capsys):  # noqa: ARG001
    models = "models:\n  income: {n: 214, parameters: 9, dummies: {ward_C: 4}}\n"
    text = f"version: 1\n{models}expect:\n  - regression_output: {{k: 10}}\n"
    Path("o.tcdp.yaml").write_text(text, encoding="utf-8")
    assert run("check", ["--policy", "o.tcdp.yaml", "--report", "o.html", "--report", "o.json"]) == 1
    printed = capsys.readouterr().out
    assert printed.startswith("income: 1 fitted model\n")
    assert "1 fitted model was examined." in printed
    assert run("verify", ["o.html"]) == 0
    keys()
    assert run("attest", ["o.json", "--key", "k.pem"]) == 3
    assert "without a digest" in capsys.readouterr().err


def test_frames_and_notebooks_count_cells(outputs):  # noqa: ARG001 - its folder
    tables = {"wards": pd.read_csv("wards.csv", dtype=str), "men": pd.read_csv("men.csv", dtype=str)}
    audited = audit(tables, "x.tcdp.yaml")
    assert repr(audited).startswith("<Audit of wards, men (2 tables of figures with 20 cells): failed>")
    frame = audited.to_frame()
    assert frame.cells_failing.tolist()[-2:] == [1, 2]
    assert str(frame.cells.dtype) == "Int64"
    page = audited._repr_html_()
    assert "cells failing</th>" in page
    assert "records failing" not in page


def test_items_of_pytest_are_those_of_the_outcomes(outputs):  # noqa: ARG001 - its folder
    write_policy("m.tcdp.yaml", RECORDS + TABLES, EXPECT + "  - k_anonymity: {k: 2}\n")
    for policy in ("x.tcdp.yaml", "m.tcdp.yaml"):
        audited = audit(None, policy)
        planned = {one.key for one in plan(audited.policy)}
        assert {*by_key(audited.as_json()["outcomes"])} == {one for one in planned if one.part != "verdict"}


def test_reports_are_no_table_of_the_policy(outputs, capsys):  # noqa: ARG001 - its folder
    Path("wards.json").write_text("{}", encoding="utf-8")
    write_policy("j.tcdp.yaml", TABLES.replace("wards.csv", "wards.json"))
    assert run("check", ["--policy", "j.tcdp.yaml", "--report", "wards.json"]) == 2
    assert "the policy's table 'wards'" in capsys.readouterr().err


def test_a_table_that_does_not_add_up_is_no_pass(outputs, capsys):  # noqa: ARG001 - its folder
    Path("men.csv").write_text("age,patients\n20-39,28\n40-59,31\n60+,30\nAll,90\n", encoding="utf-8")
    write_policy("x.tcdp.yaml", expect="expect:\n  - cell_frequency: {k: 2}\n")
    assert run("check", ["--policy", "x.tcdp.yaml", "--report", "x.html"]) == 3
    printed = " ".join(capsys.readouterr().out.split())
    assert "1 of 5 checks of the tables finds a fault" in printed
    assert run("verify", ["x.html"]) == 0
    with pytest.raises(TcdpAuditError):
        audit(None, "x.tcdp.yaml").raise_for_failures()


def test_tables_are_compared_with_the_records_behind_them(outputs, capsys):  # noqa: ARG001 - its folder
    counts = {"A": (31, 24, 7), "B": (18, 4, 5), "C": (12, 40, 55)}
    rows = [
        (ward, age) for ward, numbers in counts.items() for age, n in zip(AGES, numbers, strict=False) for _ in range(n)
    ]
    lines = [f"{number},{ward},{age}" for number, (ward, age) in enumerate(rows)]
    Path("patients.csv").write_text("\n".join(["pid,ward,age", *lines, ""]), encoding="utf-8")
    wards = TABLES[: TABLES.index("  men:")]
    write_policy("m.tcdp.yaml", wards, "microdata: {file: patients.csv, unit: pid}\n" + EXPECT)
    run("check", ["--policy", "m.tcdp.yaml", "--report", "m.html"])
    printed = " ".join(capsys.readouterr().out.split())
    assert "1 table of figures with 16 cells was examined and compared with the records behind it." in printed
    assert "Records behind</dt>" in Path("m.html").read_text(encoding="utf-8")
    assert run("verify", ["m.html"]) == 0
    assert capsys.readouterr().out.count("microdata") == 1
    Path("wards.csv").write_text(
        table_of({**WARDS, "C": ("13", "39", "55", "107")}).replace(",61", ",62").replace(",68", ",67"),
        encoding="utf-8",
    )
    assert run("check", ["--policy", "m.tcdp.yaml", "--report", "m.html"]) == 1
    printed = capsys.readouterr().out
    assert "✗ failed    Figures differ from the records" in printed
    assert "ward C, age 20-39 (patients of wards): is not the figure of the" in printed
    assert run("verify", ["m.html"]) == 0


REMARKED = """\
  a:
    file: a.csv
    about: {who: x}
    dimensions: {ward: {total: All}}
    measures: {n: {counts: people}}
    suppressed: {"<10": unknown}
  b: {file: b.csv, about: {who: y}, dimensions: {ward: {total: All}}, measures: {n: {counts: people}}}
  c: {file: c.csv, about: {who: x}, dimensions: {ward: {}}, measures: {m: {mean: age}}}
"""


def test_outcomes_say_what_was_not_judged_together_and_that_totals_may_be_of_what_is_shown(outputs, capsys):  # noqa: ARG001
    Path("a.csv").write_text("ward,n\nA,20\nB,<10\nC,30\nAll,50\n", encoding="utf-8")
    Path("b.csv").write_text("ward,n\nA,20\nB,11\nC,30\nAll,61\n", encoding="utf-8")
    Path("c.csv").write_text("ward,m\nA,20.5\nB,11.1\nC,30.1\n", encoding="utf-8")
    write_policy("n.tcdp.yaml", REMARKED, "expect:\n  - cell_frequency: {k: 10}\n")
    assert run("check", ["--policy", "n.tcdp.yaml", "--report", "n.json", "--report", "n.html"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "✓ passed 4 checks of the tables ✓ passed The figures add up a.csv: n: every line" in printed
    result = json.loads(Path("n.json").read_text(encoding="utf-8"))
    sums = next(one for one in result["outcomes"] if one["check"] == "contradiction")
    (hint,) = sums["details"]["hints"]
    assert hint.startswith("a.csv: n: every line with hidden figures adds up without them: either they are all 0, or ")
    assert hint.endswith("declare `totals: shown` if they are.")
    assert sums["details"]["not_joined"] == [
        "a and b: `about` says that they are about different people",
        "a and c: they have no counts, or sums of one column, in common",
        "b and c: `about` says that they are about different people",
    ]
    assert "3 pairs of tables are not judged together: a and b: `about` says" in sums["message"]
    page = Path("n.html").read_text(encoding="utf-8")
    assert "either they are all 0, or totals are of what is shown" in page
    assert "3 pairs of tables are not judged together" in page
    assert [*contradictions(result)] == []
    assert run("verify", ["n.html"]) == 0


def test_figures_that_could_not_be_compared_with_records_are_named(outputs, capsys):  # noqa: ARG001 - its folder
    Path("a.csv").write_text("ward,n\nA,21\nB,9\nAll,33\n", encoding="utf-8")
    Path("records.csv").write_text("ward\n" + "A\n" * 20 + "B\n" * 11, encoding="utf-8")
    declared = "dimensions: {ward: {total: All}}, measures: {n: {counts: people}}, noise: {kind: laplace, scale: 2}"
    table = f"  a: {{file: a.csv, {declared}}}\n"
    more = "microdata: {file: records.csv}\nexpect:\n  - feasibility_interval: {sliding: 1}\n"
    write_policy("n.tcdp.yaml", table, more)
    run("check", ["--policy", "n.tcdp.yaml", "--report", "n.json"])
    result = json.loads(Path("n.json").read_text(encoding="utf-8"))
    agree = next(one for one in result["outcomes"] if one["check"] == "cells_agree")
    assert agree["details"]["not_compared"]
    assert agree["details"]["not_compared"][0] in agree["message"]
    assert agree["message"].split(".")[0] in " ".join(capsys.readouterr().out.split())


MIXED = EXPECT + "  - k_anonymity: {k: 2}\n"


def test_a_table_by_a_wrong_name_is_never_taken_for_the_records(outputs, capsys):  # noqa: ARG001 - its folder
    write_policy("m.tcdp.yaml", RECORDS + TABLES, MIXED)
    assert run("check", ["--policy", "m.tcdp.yaml", "--table", "ward=men.csv"]) == 2
    assert "the policy has no table 'ward'; did you mean 'wards'?" in capsys.readouterr().err
    with pytest.raises(TcdpAuditError, match="it has people, wards and men"):
        audit({"x": pd.read_csv("men.csv")}, "m.tcdp.yaml")
    with pytest.raises(TcdpAuditError, match=r"several tables \(people, wards, men\)"):
        audit(pd.read_csv("people.csv"), "m.tcdp.yaml")
    write_policy("n.tcdp.yaml", RECORDS.replace("    file: people.csv\n", "") + TABLES, MIXED)
    assert run("check", ["--policy", "n.tcdp.yaml"]) == 2
    assert "as `--table people=FILE`" in capsys.readouterr().err


def test_a_folder_gives_the_records_as_well_as_the_figures(outputs, capsys):  # noqa: ARG001 - its folder
    write_policy("m.tcdp.yaml", RECORDS + TABLES, MIXED)
    Path("later").mkdir()
    for name in ("wards.csv", "men.csv"):
        Path("later", name).write_bytes(Path(name).read_bytes())
    Path("later/people.csv").write_text("zip,job\n" + "A,x\nA,y\n" * 3, encoding="utf-8")
    assert run("check", ["later", "--policy", "m.tcdp.yaml"]) == 1
    assert capsys.readouterr().out.startswith("people.csv: 6 records, 2 columns; 2 tables of figures with 20 cells\n")


def test_a_demand_that_needs_records_and_has_none_leaves_the_one_verdict_open(outputs, capsys):  # noqa: ARG001
    tables = RECORDS + TABLES.replace(
        "{patients: {counts: people}}", "{patients: {counts: people}, days: {sum: days}}", 1
    )
    Path("wards.csv").write_text(
        "ward,age,patients,days\n" + "".join(f"{row},100\n" for row in table_of(WARDS).splitlines()[1:]),
        encoding="utf-8",
    )
    expect = "expect:\n  - k_anonymity: {k: 2}\n  - cell_frequency: {k: 2}\n  - p_percent: {%s}\n"
    write_policy("d.tcdp.yaml", tables.replace("sum: days", "mean: days, over: patients"), expect % "p: 10")
    assert run("check", ["--policy", "d.tcdp.yaml"]) == 3
    printed = " ".join(capsys.readouterr().out.split())
    assert "the records behind them were not. 1 of 3 demands could not be checked" in printed
    write_policy("s.tcdp.yaml", tables.replace("sum: days", "mean: days, over: patients"), expect % "")
    assert run("check", ["--policy", "s.tcdp.yaml"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "1 measurement was not made" in printed
    assert "what the records behind the figures would show was not examined" in printed


def test_a_session_reads_and_joins_tables_once_whatever_is_demanded(outputs, monkeypatch):  # noqa: ARG001
    calls = []

    def counted(name: str) -> Any:
        original = getattr(cells_view, name)
        return lambda *given, **named: (calls.append(name), original(*given, **named))[1]

    for name in ("read_table", "join_figures"):
        monkeypatch.setattr(cells_view, name, counted(name))
    tables = {"wards": pd.read_csv("wards.csv", dtype=str), "men": pd.read_csv("men.csv", dtype=str)}
    with open_session(tables, "x.tcdp.yaml") as session:
        first = session.audit()
        write_policy("y.tcdp.yaml", expect="expect:\n  - cell_frequency: {k: 4}\n")
        assert session.audit("y.tcdp.yaml").status == "passed"
        assert session.audit().as_json()["outcomes"] == first.as_json()["outcomes"]
    assert calls == ["read_table", "read_table", "join_figures"]
    write_policy("z.tcdp.yaml", TABLES.replace("[1, 9]", "[0, 9]"))
    with open_session(tables, "x.tcdp.yaml") as session:
        session.audit()
        again = session.audit("z.tcdp.yaml")  # a token that means another thing is read again
    assert again.as_json()["outcomes"] == audit(tables, "z.tcdp.yaml").as_json()["outcomes"]
