"""docs/plugins.md is true: it names every hook with its signature, and its examples run and conform."""

from __future__ import annotations

import inspect
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from plugin_names import MEMBERS, ROOT, first_line, names_of, row_of, uses, with_tables

from tcdp_audit import Status, audit, fix, plugin
from tcdp_audit.cli import options
from tcdp_audit.core.session import hookspecs
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.testing import check_conforms
from tcdp_audit.testing.releases import ROLES

PAGE = (Path(__file__).parents[2] / "docs" / "plugins.md").read_text(encoding="utf-8")
HOOKS = [name for name, one in vars(hookspecs).items() if inspect.isfunction(one) and name.startswith("tcdp_audit_")]
EXAMPLES = (
    "commonest_value",
    "lonely_records",
    "hidden_share",
    "rare_classes",
    "shelf",
    "badges",
    "statuses",
    "commonest_in_words",
)
CLASS = pa.table({"zip": ["a", "a", "a", "b"], "disease": ["x", "x", "y", "z"]})
ATTRIBUTES = {"zip": {"role": "quasi_identifier"}, "disease": {"role": "sensitive"}}


def code(pattern: str) -> str:
    match = re.search(pattern, PAGE, re.DOTALL)
    assert match is not None
    return match[1]


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The page's Python files, in a folder that modules are imported from."""
    for name in EXAMPLES:
        (tmp_path / f"{name}.py").write_text(code(rf"<!-- example: {name}.py -->\n```python\n(.*?)```"))
    (tmp_path / "page_test.py").write_text(code(r"```python\n(from tcdp_audit.testing .*?)```"))
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    for name in (*EXAMPLES, "page_test"):
        sys.modules.pop(name, None)


def test_there_are_hooks_to_document():
    assert HOOKS == [
        "tcdp_audit_checks",
        "tcdp_audit_remedies",
        "tcdp_audit_reporters",
        "tcdp_audit_report_sections",
        "tcdp_audit_engines",
        "tcdp_audit_detectors",
    ]


@pytest.mark.parametrize("name", HOOKS)
def test_every_hook_is_documented_with_its_signature(name: str):
    hook = getattr(hookspecs, name)
    assert f"| `{name}{inspect.signature(hook)}` |".replace("'", "") in PAGE


@pytest.mark.parametrize("option", ["--no-external-plugins", "-p no:NAME"])
def test_every_option_is_documented(option: str):
    assert f"| `{option}` |" in PAGE
    assert option.split(" ", maxsplit=1)[0] in inspect.getsource(options)


@pytest.mark.usefixtures("written")
def test_the_example_of_a_check_runs():
    plugins = Plugins.load(external=False)
    plugins.register(import_module("commonest_value"), "commonest_value")
    table = pa.table({"zip": ["a", "a", "a", "b"], "disease": ["x", "x", "y", "z"]})
    policy = {
        "version": 1,
        "attributes": {"zip": {"role": "quasi_identifier"}, "disease": {"role": "sensitive"}},
        "expect": [{"commonest_value": {"at_most": "2/3"}}],
    }
    outcome = audit(table, policy, plugins=plugins).expectations[0]
    assert (outcome.observed, outcome.status, outcome.classes.failing) == (1, Status.FAILED, 1)


@pytest.mark.usefixtures("written")
@pytest.mark.parametrize("remedies", [{"remedy": [{"rare_classes": {"k": 2}}]}, {}], ids=["named", "planned"])
def test_the_example_of_a_remedy_runs(remedies: dict[str, Any]):
    plugins = Plugins.load(external=False, blocked=["remedies"])
    plugins.register(import_module("rare_classes"), "rare_classes")
    table = pa.table({"zip": ["a", "a", "a", "b"], "disease": ["x", "x", "y", "z"]})
    policy = {
        "version": 1,
        "attributes": {"zip": {"role": "quasi_identifier"}, "disease": {"role": "sensitive"}},
        "expect": [{"k_anonymity": {"k": 2}}],
        **remedies,
    }
    remediation = fix(table, policy, plugins=plugins)
    assert remediation.passed
    assert sorted(remediation.released["disease"].to_pylist()) == ["x", "x", "y"]
    assert remediation.log.steps[0].notes == {"classes": 1}
    demanding = {**policy, "expect": [{"k_anonymity": {"k": 4}}], "remedy": [{"rare_classes": {"k": 4}}]}
    unattainable = fix(table, demanding, plugins=plugins)
    assert unattainable.log.tried[0].error == "no equivalence class has 4 records; the largest has 3"


@pytest.mark.long
@pytest.mark.usefixtures("written")
def test_the_examples_conform_by_the_test_of_the_page():
    marked = import_module("page_test").test_it_conforms
    (items,) = (mark.args[1] for mark in marked.pytestmark)
    for item in items:
        marked(*item.values)
    assert {item.id.split("-")[0] for item in items} == {"commonest_value", "lonely_records", "hidden_share"}
    check_conforms(import_module("rare_classes").RARE_CLASSES)


@pytest.mark.usefixtures("written")
def test_the_example_of_a_check_on_tables_runs():
    plugins = Plugins.load(external=False)
    plugins.register(import_module("lonely_records"), "lonely_records")
    table = pa.table({"zip": ["a", "a", "a", "b"], "disease": ["x", "x", "y", "z"]})
    attributes = {"zip": {"role": "quasi_identifier"}, "disease": {"role": "sensitive"}}
    policy = {"version": 1, "attributes": attributes, "expect": [{"lonely_records": {"at_most": "1/8"}}]}
    outcome = audit(table, policy, plugins=plugins).expectations[0]
    assert (outcome.observed, outcome.status, outcome.records.failing) == (0.25, Status.FAILED, 1)


@pytest.mark.usefixtures("written")
def test_the_example_of_a_check_on_figures_runs():
    plugins = Plugins.load(external=False)
    plugins.register(import_module("hidden_share"), "hidden_share")
    table = pa.table({"ward": ["a", "b", "T"], "patients": ["<10", "20", "25"]})
    declared = {
        "dimensions": {"ward": {"total": "T"}},
        "measures": {"patients": {"counts": "people"}},
        "suppressed": {"<10": [1, 9]},
    }
    policy = {"version": 1, "tables": {"wards": declared}, "expect": [{"hidden_share": {"at_most": "1/4"}}]}

    outcome = audit({"wards": table}, policy, plugins=plugins).expectations[0]

    assert (outcome.status, outcome.cells.total, outcome.cells.failing) == (Status.FAILED, 3, 1)
    assert [dict(one.labels) for one in outcome.failing_cells] == [{"ward": "a"}]


@pytest.mark.parametrize("name", ROLES)
def test_the_page_names_the_columns_of_the_suites_releases(name: str):
    assert f"`{name}`" in PAGE


def rows_of(role: str) -> dict[str, list[str]]:
    """The table of a role's names: name, line and link."""
    table = code(rf"<!-- names: {role} -->\n(.*?)\n<!-- end -->").splitlines()[2:]
    cells = [re.split(r"(?<!\\) \| ", row.strip("| ")) for row in table]
    return {name.strip("`"): [line, link] for name, line, link in cells}


@pytest.mark.parametrize("role", plugin.__all__)
def test_every_public_name_has_its_row(role: str):
    rows = rows_of(role)
    stale = [name for name in names_of(role) if rows.get(name, [""])[0] != first_line(role, name).replace("|", "\\|")]

    print(*(row_of(role, name) for name in stale), sep="\n")  # noqa: T201 - what is to be written there
    assert stale == [], "run `python tests/plugins/plugin_names.py`"
    assert set(rows) == set(names_of(role))


def test_the_tables_of_members_are_those_of_the_source():
    assert [name for _, _, name, _ in re.findall(MEMBERS, PAGE, re.DOTALL)] == [
        *("ClassEvidence", "Histogram", "ReferenceDistribution", "TableFigure"),
        *("Attribute", "NewColumn", "Treatment"),
        *("streamed_engine", "grouped_engine", "Engine", "RawDomain", "Domain"),
    ]
    assert with_tables(PAGE) == PAGE, "run `python tests/plugins/plugin_names.py`"
    assert "`of_texts(cells: Sequence[str], codes: NDArray[Any])`" in PAGE


@pytest.mark.parametrize("name", ["commonest_value", "rare_classes", "shelf"])
def test_a_whole_project_names_each_example(name: str):
    projects = [tomllib.loads(text) for text in re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)]
    (project,) = (one for one in projects if name in one["project"]["entry-points"]["tcdp_audit"])

    assert project["project"]["entry-points"]["tcdp_audit"] == {name: name}
    assert project["tool"]["hatch"]["build"]["targets"]["wheel"]["include"] == [f"{name}.py"]
    assert {"name", "version", "dependencies"} <= project["project"].keys()


@pytest.mark.parametrize("role", plugin.__all__)
def test_every_row_links_to_a_use_of_its_name(role: str):
    for name, (_, link) in rows_of(role).items():
        (path,) = re.findall(r"\]\(\.\./([^)]+)\)", link)
        text = (ROOT / path).read_text(encoding="utf-8")
        assert uses(text, role, name) or re.search(rf"^(class|def)? ?{name}\b", text, re.MULTILINE), (name, path)


def test_what_is_not_promised_is_named():
    assert "`tcdp_audit.plugin._internal` is not promised to anyone" in PAGE


def test_the_page_imports_public_names_alone():
    imported = re.findall(r"^from (tcdp_audit[\w.]*) import", PAGE, re.MULTILINE)
    public = {*(f"tcdp_audit.plugin.{role}" for role in plugin.__all__), "tcdp_audit.testing", "tcdp_audit.api"}

    assert set(imported) == public


@pytest.mark.usefixtures("written")
def test_the_example_of_an_engine_runs():
    shelf = import_module("shelf")
    plugins = Plugins.load(external=False)
    plugins.register(shelf, "shelf")
    shelf.TABLES["shelf://answers"] = CLASS
    policy = {"version": 1, "attributes": ATTRIBUTES, "expect": [{"k_anonymity": {"k": 2}}]}

    outcome = audit("shelf://answers", policy, plugins=plugins).expectations[0]

    assert (outcome.observed, outcome.status, outcome.records.total) == (1, Status.FAILED, 4)


@pytest.mark.usefixtures("written")
def test_the_example_of_a_detector_runs():
    plugins = Plugins.load(external=False)
    plugins.register(import_module("badges"), "badges")
    table = pa.table(
        {"zip": ["a"] * 20, "badge": [f"B{number:04}{-sum(map(int, str(number))) % 10}" for number in range(20)]}
    )
    attributes = {"zip": {"role": "quasi_identifier"}, "badge": {"role": "insensitive"}}
    policy = {"version": 1, "attributes": attributes, "expect": [{"direct_identifiers": {"at_most": 0}}]}

    outcome = audit(table, policy, plugins=plugins).expectations[0]

    assert outcome.status is Status.FAILED
    assert "badge" in str(outcome.details)


@pytest.mark.usefixtures("written")
def test_the_example_of_a_section_runs():
    plugins = Plugins.load(external=False)
    plugins.register(import_module("statuses"), "statuses")
    policy = {"version": 1, "attributes": ATTRIBUTES, "expect": [{"k_anonymity": {"k": 2}}]}

    page = audit(CLASS, policy, plugins=plugins).render(".md")

    assert "## Statuses" in page
    assert "How many outcomes have which status." in page


@pytest.mark.usefixtures("written")
def test_the_example_of_sentences_runs():
    plugins = Plugins.load(external=False)
    plugins.register(import_module("commonest_in_words"), "commonest_in_words")
    policy = {"version": 1, "attributes": ATTRIBUTES, "expect": [{"commonest_value": {"at_most": "2/3"}}]}

    outcome = audit(CLASS, policy, plugins=plugins).expectations[0]

    assert outcome.message == ("1 of 4 records is in a group in which one value of 'disease' makes up more than 2/3.")
    assert outcome.individual_impact.endswith(
        "in the worst of all groups, of 1 record, the commonest 'disease' is right with certainty."
    )


@pytest.mark.long
@pytest.mark.usefixtures("written")
def test_the_other_examples_conform():
    shelf, places = import_module("shelf"), iter(range(100))

    def place(table: pa.Table) -> str:
        shelf.TABLES[url := f"shelf://{next(places)}"] = table
        return url

    check_conforms(shelf.SHELF, {"place": place})
    check_conforms(import_module("badges").BADGES)
    check_conforms(import_module("statuses").STATUSES)
    check_conforms(import_module("commonest_in_words").COMMONEST_IN_WORDS)
