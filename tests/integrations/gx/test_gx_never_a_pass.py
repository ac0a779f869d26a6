"""Nothing passes that was not evaluated, and what could not be evaluated is said without a cell."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import gx_hosts
import pytest
import sqlalchemy as sa
from gx_hosts import gx, ours, pandas_batches, run, run_unguarded, sqlite_batches
from same_everywhere import frame, policy

from tcdp_audit.core.base.errors import UsageError
from tcdp_audit.core.session import inputs
from tcdp_audit.integrations.great_expectations.guarded import IncompleteRunError, guarded_run, load_suite
from tcdp_audit.integrations.great_expectations.suites import suite_of

KNOWN = ["age", "sex"]
ANONYMOUS = ours.ExpectTableToBeKAnonymous


def _only(result: Any) -> Any:
    (one,) = result.results
    return one


def _message(one: Any) -> str:
    assert one.success is False
    assert one.exception_info["raised_exception"]
    assert one.exception_info["exception_traceback"] == ""
    return str(one.exception_info["exception_message"])


def test_an_empty_batch_fails():
    one = _only(run(pandas_batches(frame().head(0)), [ANONYMOUS(quasi_identifiers=KNOWN, k=2)]))

    assert "the table has no records" in _message(one)


def test_a_condition_that_leaves_no_record_fails():
    condition = gx_hosts.column("sex") == "nobody"
    asked = [ANONYMOUS(quasi_identifiers=KNOWN, k=2, row_condition=condition)]

    assert "the table has no records" in _message(_only(run_unguarded(pandas_batches(frame()), asked)))


def test_a_column_that_is_not_there_fails():
    one = _only(run(pandas_batches(frame()), [ANONYMOUS(quasi_identifiers=["age", "zip"], k=2)]))

    assert "zip" in _message(one)


@pytest.mark.parametrize("level", ["BOOLEAN_ONLY", "BASIC", "SUMMARY", "COMPLETE"])
def test_a_metric_that_crashes_fails_at_every_level_and_is_asked_once(level: str, monkeypatch: pytest.MonkeyPatch):
    calls = []

    def crash(*_: Any) -> None:
        calls.append(1)
        raise RuntimeError("zq-marker in a cell")

    monkeypatch.setattr(inputs, "evaluation", crash)
    expectations = [ANONYMOUS(quasi_identifiers=KNOWN, k=k) for k in (2, 3, 4)]

    result = run(pandas_batches(frame()), expectations, result_format=level)

    assert not result.success
    assert {_message(one) for one in result.results} == {"the audit raised RuntimeError"}
    assert "zq-marker" not in json.dumps(result.to_json_dict())
    assert len(calls) == 1


def test_a_table_that_is_gone_fails_once(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    url = f"sqlite:///{tmp_path / 'release.db'}"
    gx_hosts.put(frame(), url)
    whole, _ = sqlite_batches(url)
    expectations = [ANONYMOUS(quasi_identifiers=KNOWN, k=k) for k in (2, 3)]
    definition = gx_hosts.definition(whole, expectations)
    with sa.create_engine(url).begin() as connection:
        connection.execute(sa.text("ALTER TABLE release RENAME COLUMN age TO years"))

    result = definition.run()

    assert not result.success
    assert {len(_message(one)) > 10 for one in result.results} == {True}
    assert "Traceback" not in caplog.text


def test_a_temporary_table_is_refused_in_a_sentence(tmp_path: Path):
    url = f"sqlite:///{tmp_path / 'release.db'}"
    gx_hosts.put(frame(), url)
    context = gx.get_context(mode="ephemeral")
    source = context.data_sources.add_sqlite("sqlite", connection_string=url, create_temp_table=True)
    whole = source.add_table_asset("release", table_name="release").add_batch_definition_whole_table("whole")

    one = _only(run((whole, {}), [ANONYMOUS(quasi_identifiers=KNOWN, k=2)]))

    assert "create_temp_table=False" in _message(one)


def test_a_demand_that_nothing_can_fail_is_no_success():
    one = _only(run(pandas_batches(frame()), [ANONYMOUS(quasi_identifiers=KNOWN, k=1)]))

    assert not one.success
    assert one.result["details"]["status"] == "measured"
    assert "so this is measured, not judged" in one.result["details"]["message"]


@pytest.mark.parametrize("level", ["BOOLEAN_ONLY", "COMPLETE"])
def test_a_suite_that_only_measures_is_refused_at_every_level(level: str):
    asked = [ANONYMOUS(quasi_identifiers=KNOWN, severity="info")]

    with pytest.raises(IncompleteRunError, match="only measures"):
        run(pandas_batches(frame()), asked, result_format=level)


def test_a_policy_that_only_measures_is_refused_as_a_suite():
    with pytest.raises(IncompleteRunError, match="only measures"):
        run(pandas_batches(frame()), suite_of(policy([{"k_anonymity": {}}]), "measures"))


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"k": 0}, "must be at least 1"),
        ({"k": "many"}, "must be a whole number"),
        ({}, "nothing is demanded; give k"),
        ({"kk": 2}, "extra fields not permitted"),
        ({"k": 2, "conventions": {"suppressed": "sometimes"}}, "must be one of"),
        ({"k": 2, "declarations": {"age": {"role": "sensitive"}}}, "another role for 'age'"),
        ({"k": 2, "quasi_identifiers": []}, "a list of column names"),
        ({"k": 2, "quasi_identifiers": ["age", "age"]}, "each once"),
        ({"k": 2, "unit": "age"}, "the unit of privacy"),
    ],
)
def test_what_a_policy_would_refuse_is_refused(parameters: dict[str, Any], sentence: str):
    with pytest.raises(ValueError, match=sentence):
        ANONYMOUS(**{"quasi_identifiers": KNOWN, **parameters})


def test_a_column_must_be_named():
    with pytest.raises(ValueError, match="no attribute has the role sensitive"):
        ours.ExpectColumnToBeTClose(quasi_identifiers=KNOWN, t=0.2)


def test_a_measure_needs_the_order_that_it_is_given():
    with pytest.raises(ValueError, match="needs 'cost' to be numeric"):
        ours.ExpectColumnToBeTClose(quasi_identifiers=KNOWN, column="cost", t=0.2, distance="numeric")


UNKNOWN = {"type": "expect_table_to_be_unheard_of", "kwargs": {}}


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A context in files, whose suite has an expectation that no process knows, and a checkpoint on the release."""
    context = gx.get_context(mode="file", project_root_dir=tmp_path)
    frame().to_csv(tmp_path / "release.csv", index=False)
    source = context.data_sources.add_pandas_filesystem("files", base_directory=tmp_path)
    whole = source.add_csv_asset("release").add_batch_definition_path("whole", path="release.csv")
    suite = context.suites.add(suite_of(policy([{"k_anonymity": {"k": 2}}]), "kept"))
    definition = context.validation_definitions.add(gx.ValidationDefinition(name="kept", data=whole, suite=suite))
    context.checkpoints.add(gx.Checkpoint(name="kept", validation_definitions=[definition]))
    return tmp_path


def _change(folder: Path, change: Any) -> None:
    (path,) = folder.glob("gx/expectations/kept.json")
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def _in_new_process(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    head = f"import great_expectations as gx; context = gx.get_context(mode='file', project_root_dir={str(folder)!r})\n"
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", head + script], capture_output=True, text=True, check=False
    )


GUARDED = "from tcdp_audit.integrations.great_expectations import guarded_run\n"


def test_a_saved_checkpoint_evaluates_in_a_new_process(saved: Path):
    script = f"{GUARDED}result = guarded_run(context.checkpoints.get('kept'))\n"
    ran = _in_new_process(saved, script + "print(result.success, result.describe_dict()['statistics'])")

    assert "'evaluated_expectations': 1" in ran.stdout or "True" in ran.stdout, ran.stderr


def test_an_expectation_that_is_not_known_is_refused_before_anything_runs(saved: Path):
    _change(saved, lambda content: content["expectations"].append({**UNKNOWN, "id": content["id"]}))

    ran = _in_new_process(saved, f"{GUARDED}guarded_run(context.checkpoints.get('kept'))")

    assert ran.returncode == 1
    assert "IncompleteRunError: the suite 'kept' was made with 3 expectations, and 2 are known here" in ran.stderr


def test_classes_that_were_never_imported_are_missed(saved: Path):
    late = f"checkpoint = context.checkpoints.get('kept')\n{GUARDED}guarded_run(checkpoint)"

    ran = _in_new_process(saved, late)

    assert ran.returncode == 1
    assert "the suite 'kept' was made with 2 expectations, and 0 are known here" in ran.stderr


def test_a_suite_without_expectations_is_refused():
    whole, given = pandas_batches(frame())

    with pytest.raises(IncompleteRunError, match="has no expectation"):
        guarded_run(gx_hosts.definition(whole, []), **given)


def test_something_else_is_refused():
    with pytest.raises(UsageError, match="no ValidationDefinition and no Checkpoint"):
        guarded_run("suite")


def test_a_result_with_fewer_expectations_is_refused():
    class Forgetful:
        suite = gx.ExpectationSuite(name="s", expectations=[ANONYMOUS(quasi_identifiers=KNOWN, k=k) for k in (2, 3)])

        def run(self) -> Any:
            whole, given = pandas_batches(frame())
            return gx_hosts.definition(whole, [ANONYMOUS(quasi_identifiers=KNOWN, k=2)]).run(**given)

    with pytest.raises(IncompleteRunError, match=r"1 of 2 expectations of the suite 'suite' were evaluated"):
        guarded_run(Forgetful())


def test_a_suite_in_json_is_read_whole_or_not_at_all(tmp_path: Path):
    path = tmp_path / "suite.json"
    suite = suite_of(policy([{"k_anonymity": {"k": 2}}]), "kept")
    content = suite.to_json_dict()
    path.write_text(json.dumps(content))
    wrong = {"type": "expect_table_to_be_k_anonymous", "kwargs": {"quasi_identifiers": KNOWN, "k": 0}}

    assert load_suite(path) == suite
    assert load_suite(content) == suite
    for changed, sentence in [
        ([UNKNOWN], "not known here: expect_table_to_be_unheard_of"),
        ([*content["expectations"], UNKNOWN], "not known here: expect_table_to_be_unheard_of"),
        ([wrong], "must be at least 1"),
        ([], "has no expectation"),
    ]:
        with pytest.raises(IncompleteRunError, match=sentence):
            load_suite({**content, "expectations": changed})
    for broken in ({}, {"name": "s", "expectations": {}}):
        with pytest.raises(UsageError, match="no expectation suite"):
            load_suite(broken)
    for text in ("[", "[" * 100_000, '{"name": "s", "expectations": [{}], "expectations": []}'):
        path.write_text(text)
        with pytest.raises(UsageError, match="is not JSON in UTF-8 in which each key occurs once"):
            load_suite(path)
    with pytest.raises(UsageError, match="cannot be read"):
        load_suite(tmp_path / "nowhere.json")
