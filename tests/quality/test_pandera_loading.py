"""Where a policy's schema comes from, what is wrong with it, and that nobody else pays for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tcdp_audit import PolicyError, audit

pytestmark = pytest.mark.long  # every test starts some processes

POLICY = """version: 1
release: release.csv
schema: {schema}
attributes: {{zip: {{role: quasi_identifier}}, disease: {{role: insensitive}}}}
expect:
- k_anonymity: {{k: 2}}
"""
TRUST = "--trust-policy-code"
SOUND = """columns:
  zip: {dtype: str, checks: {str_length: {min_value: 5, max_value: 5}}}
  disease: {dtype: str}
strict: true
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "release.csv").write_text("zip,disease\n02139,flu\n02139,zqcellzq\n")
    return tmp_path


def written(folder: Path, schema: str) -> Path:
    path = folder / "policies" / "release.tcdp.yaml"
    path.write_text(POLICY.format(schema=schema))
    return path


def check(folder: Path, schema: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tcdp_audit", "check", "--json", *options, "--policy"]
    return subprocess.run(
        [*command, str(written(folder, schema))],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_schema_file_is_relative_to_the_policy(folder: Path):
    (folder / "policies" / "schema.yaml").write_text(SOUND)
    result = check(folder, "schema.yaml")
    assert (result.returncode, result.stderr) == (0, "")
    (folder / "policies" / "schema.yaml").write_text(SOUND.replace("max_value: 5", "max_value: 4"))
    (folder / "policies" / "schema.yaml").write_text(SOUND.replace("value: 5", "value: 4"))
    result = check(folder, "schema.yaml")
    assert (result.returncode, result.stderr) == (1, "")
    assert "column 'zip' does not keep str_length(4, 4) in 2 records." in result.stdout
    assert "zqcellzq" not in result.stdout


def test_a_schema_object_is_imported_from_the_current_folder_where_it_is_trusted(folder: Path):
    (folder / "my_schemas.py").write_text(
        "import pandera.pandas as pa\n"
        "class Release(pa.DataFrameModel):\n    zip: str = pa.Field(str_length=5)\n"
        "schema = pa.DataFrameSchema({'disease': pa.Column(str, pa.Check.isin(['flu']))})\n"
    )
    assert check(folder, "my_schemas:Release", TRUST).returncode == 0
    result = check(folder, "my_schemas:schema", TRUST)
    assert result.returncode == 1
    assert "zqcellzq" not in result.stdout + result.stderr


def test_validation_disabled_in_the_environment_is_enabled(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PANDERA_VALIDATION_ENABLED", "False")
    monkeypatch.setenv("PANDERA_VALIDATION_DEPTH", "SCHEMA_ONLY")
    (folder / "policies" / "schema.yaml").write_text(SOUND.replace("value: 5", "value: 4"))
    assert check(folder, "schema.yaml").returncode == 1


@pytest.mark.parametrize(
    ("schema", "content", "sentence"),
    [
        ("missing.yaml", None, "missing.yaml: cannot be read: No such file or directory"),
        ("schema.yaml", "columns: {", "schema.yaml: is not YAML (ParserError)"),
        ("schema.yaml", "- columns", "is not a pandera schema: it must be a mapping with the key `columns`"),
        ("schema.yaml", "", "is not a pandera schema: it must be a mapping"),
        ("schema.yaml", "colums: {zip: {dtype: str}}", "has keys that pandera does not know: colums"),
        ("schema.yaml", "columns: {}", "it demands nothing"),
        ("schema.yaml", "columns: {zip: {dtype: strr}}", "is not a pandera schema (TypeError: "),
        (
            "schema.yaml",
            "columns: {zip: {checks: {no_check: 3}}}",
            "is not a pandera schema (AttributeError: ",
        ),
        ("schema.yaml", f"dataframe_library: polars\n{SOUND}", "is a schema for another library"),
        ("nowhere.to_be_found:Schema", None, "is code that is not installed; code next to a policy runs only with"),
        ("pandera.nowhere:Schema", None, "no module 'pandera.nowhere' can be imported from here"),
        ("json:Schema", None, "the module has no 'Schema'"),
        ("json:JSONDecoder", None, "is a builtins type; it must be a DataFrameSchema or a DataFrameModel"),
    ],
)
def test_a_schema_that_cannot_be_loaded_is_a_fault_of_the_policy(
    folder: Path, schema: str, content: str | None, sentence: str
):
    if content is not None:
        (folder / "policies" / "schema.yaml").write_text(content)
    with pytest.raises(PolicyError) as caught:
        audit(None, written(folder, schema))
    assert str(caught.value).startswith(f"release.tcdp.yaml: schema: {schema}: ")
    assert sentence in str(caught.value)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("module", "sentence"),
    [
        ("import a_module_that_nobody_has", "no module 'a_module_that_nobody_has' can be imported from here"),
        ("raise SystemExit(0)", "importing it raised SystemExit"),
        ("1 / 0", "importing it raised ZeroDivisionError"),
        ("None.columns", "the module raised AttributeError"),
        (
            "import pandera.polars as pa\nSchema = pa.DataFrameSchema({'zip': pa.Column(str)})",
            "is a pandera DataFrameSchema",
        ),
    ],
)
def test_a_module_that_cannot_be_imported_is_a_fault_of_the_policy(folder: Path, module: str, sentence: str):
    (folder / "my_schemas.py").write_text(module)
    result = check(folder, "my_schemas:Schema", TRUST)
    assert (result.returncode, result.stdout) == (2, "")
    assert f"release.tcdp.yaml: schema: my_schemas:Schema: {sentence}" in result.stderr


@pytest.mark.parametrize(("line", "imported"), [("schema: schema.yaml", True), ("", False)])
def test_pandas_and_pandera_are_imported_for_a_schema_only(folder: Path, line: str, *, imported: bool):
    (folder / "policies" / "schema.yaml").write_text(SOUND)
    path = written(folder, "schema.yaml")
    path.write_text(path.read_text().replace("schema: schema.yaml", line))
    program = (
        "import sys; from tcdp_audit import audit; "
        f"assert audit(None, {str(path)!r}).passed; print('pandas' in sys.modules, 'pandera' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=folder)
    assert result.stdout.split() == [str(imported)] * 2


RUNS = "import os\nos._exit(0)\n"


@pytest.mark.parametrize(
    "schema",
    [
        *("evil:Schema", "evil.sub:Schema", "names.evil:Schema", "yaml_evil.a.b:Schema"),
        *("antigravity:fly", "ensurepip.__main__:x", "pip.__main__:x", "json.evil:x", "pandera.__main__:x"),
    ],
)
def test_code_beside_a_policy_does_not_run(folder: Path, schema: str):
    for place in (folder, folder / "policies"):
        for name in ("evil", "yaml_evil", "names"):
            (place / name / "a").mkdir(parents=True)
            (place / name / "evil.py").write_text(RUNS)
            if name != "names":
                (place / name / "__init__.py").write_text(RUNS if name.endswith("evil") else "")
    result = subprocess.run(
        [str(Path(sys.executable).with_name("tcdp-audit")), "check", "--policy", str(written(folder, schema))],
        cwd=folder,
        env={"PYTHONPATH": f"{folder}:", "PATH": ""} if schema.startswith(("evil", "names", "yaml")) else None,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 2
    assert f"schema: {schema}: " in result.stderr


def test_a_module_that_the_program_has_imported_is_used(folder: Path):
    (folder / "mine.py").write_text(
        "import pandera.pandas as pa\nSchema = pa.DataFrameSchema({'zip': pa.Column(str, pa.Check.str_length(5))})\n"
    )
    program = (
        "import sys; from tcdp_audit import PolicyError, audit, load_policy\npolicy = {path!r}\n"
        "try:\n    audit(None, policy)\nexcept PolicyError:\n    print('refused', 'mine' in sys.modules)\n"
        "import mine\nprint(audit(None, policy).status)\ndel sys.modules['mine']\n"
        "print(audit(None, load_policy(policy, trust_policy_code=True)).status)"
    ).format(path=str(written(folder, "mine:Schema")))
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=folder)
    assert result.stdout.split() == ["refused", "False", "passed", "passed"]


def test_an_installed_module_needs_no_trust(folder: Path, tmp_path_factory: pytest.TempPathFactory):
    place = tmp_path_factory.mktemp("packages")
    (place / "of_a_colleague").mkdir()
    (place / "of_a_colleague" / "__init__.py").touch()
    (place / "of_a_colleague" / "schemas.py").write_text(
        "import pandera.pandas as pa\nSchema = pa.DataFrameSchema({'zip': pa.Column(str)})\n"
    )
    program = (
        "import site; site.getsitepackages = lambda: [{place!r}]; import sys; sys.path.append({place!r}); "
        "from tcdp_audit import audit; print(audit(None, {path!r}).status)"
    ).format(place=str(place), path=str(written(folder, "of_a_colleague.schemas:Schema")))
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=folder)
    assert result.stdout.split() == ["passed"]
