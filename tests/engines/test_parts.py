"""A table in several files: folders, patterns, keys in the names of folders. No record is lost or read twice."""

from __future__ import annotations

import gzip
import hashlib
import os
import subprocess
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st

from tcdp_audit import audit
from tcdp_audit.cli.run import run
from tcdp_audit.core.base.errors import DataError, TcdpAuditError, UsageError
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.engines.parts import belongs
from tcdp_audit.core.repair.fixing import fix
from tcdp_audit.core.session.registry import Plugins

PLUGINS = Plugins.load(external=False)
MEMORY = 2**28
TABLE = pa.table({"zip": ["02139", "2139", None, "a/b=c%"] * 3, "age": range(12), "note": ["x", None, "", "y"] * 3})
POLICY: dict[str, Any] = {
    "version": 1,
    "attributes": {
        "zip": {"role": "quasi_identifier"},
        "age": {"role": "insensitive"},
        "note": {"role": "sensitive"},
    },
    "expect": [{"k_anonymity": {"k": 2}}, {"distinct_l_diversity": {"l": 1}}],
}


def rows(location: Any) -> list[dict[str, Any]]:
    with open_engine(location, MEMORY) as engine:
        table = engine.table()
        assert engine.records == table.num_rows
        assert engine.source_table().to_pylist() == table.to_pylist()
        return sorted(table.to_pylist(), key=repr)


def sorted_rows(table: pa.Table, names: list[str]) -> list[dict[str, Any]]:
    return sorted(table.select(names).to_pylist(), key=repr)


def fault(location: Any) -> str:
    with pytest.raises(TcdpAuditError) as caught:
        open_engine(location, MEMORY)
    return str(caught.value)


def folder_of(path: Path, *tables: pa.Table) -> Path:
    path.mkdir(exist_ok=True)
    for number, table in enumerate(tables):
        pq.write_table(table, path / f"part-{number}.parquet")
    return path


@pytest.fixture
def partitioned(tmp_path: Path) -> Path:
    pq.write_to_dataset(TABLE, tmp_path / "release", partition_cols=["zip"])
    (tmp_path / "release" / "_SUCCESS").touch()
    (tmp_path / "release" / ".part.crc").write_bytes(b"1")
    return tmp_path / "release"


@pytest.mark.parametrize("pattern", ["", "*/*.parquet", "**/*.parquet", "zip=*/**/*.parquet"])
def test_keys_are_columns_of_text_and_the_default_partition_is_a_missing_value(partitioned: Path, pattern: str) -> None:
    assert rows(str(partitioned / pattern)) == sorted_rows(TABLE, ["age", "note", "zip"])


def test_a_pattern_chooses_files(partitioned: Path) -> None:
    assert {one["zip"] for one in rows(partitioned / "zip=0*" / "*")} == {"02139"}
    assert [one["age"] for one in rows(partitioned / "zip=02139")] == [0, 4, 8]
    assert rows(next((partitioned / "zip=02139").iterdir())) == rows(partitioned / "zip=02139")


def test_a_key_is_numeric_where_the_policy_says_so(tmp_path: Path) -> None:
    table = pa.table({"zip": ["a", "b"] * 4, "age": [9, 10, 9, 10, 11, 11, 10, 9]})
    pq.write_to_dataset(table, tmp_path / "r", partition_cols=["age"])
    attributes = {"zip": {"role": "quasi_identifier"}, "age": {"role": "sensitive", "scale": "numeric"}}
    policy = {"version": 1, "attributes": attributes, "expect": [{"t_closeness": {"t": 0.1, "distance": "ordered"}}]}
    (one,) = audit(tmp_path / "r", policy, plugins=PLUGINS).expectations
    (other,) = audit(table, policy, plugins=PLUGINS).expectations
    assert one == other


@pytest.mark.long
@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=60), st.integers(1, 7))
def test_any_division_gives_the_same_outcomes(
    tmp_path_factory: pytest.TempPathFactory, cells: list[int], n: int
) -> None:
    texts = ["02139", "2139", None, "*", "é", "a b"]
    table = pa.table(
        {"zip": [texts[cell] for cell in cells], "age": cells, "note": [texts[5 - cell] for cell in cells]}
    )
    folder = folder_of(
        tmp_path_factory.mktemp("parts"),
        *(table.slice(i * len(cells) // n, (i + 1) * len(cells) // n - i * len(cells) // n) for i in range(n)),
    )
    whole = audit(table, POLICY, plugins=PLUGINS)
    for location in (folder, folder / "*.parquet"):
        result = audit(location, POLICY, plugins=PLUGINS)
        assert result.outcomes == whole.outcomes
        assert result.release.records == len(cells)


def test_the_order_is_that_of_the_names(tmp_path: Path) -> None:
    with open_engine(folder_of(tmp_path / "r", *(TABLE.slice(i, 1) for i in range(12))), MEMORY) as engine:
        assert engine.table()["age"].to_pylist() == [0, 1, 10, 11, 2, 3, 4, 5, 6, 7, 8, 9]


def test_the_digest_is_that_of_a_mark_and_the_list_that_sha256sum_prints(partitioned: Path) -> None:
    names = sorted(str(path.relative_to(partitioned)) for path in partitioned.rglob("*.parquet"))
    listed = subprocess.run(["sha256sum", "-z", *names], cwd=partitioned, capture_output=True, check=True).stdout
    assert listed.count(b"\0") == len(names) > 1
    with open_engine(partitioned, MEMORY) as engine:
        assert engine.sha256() == hashlib.sha256(b"\xfftcdp-audit folder\0" + listed).hexdigest()


def test_no_file_that_can_be_audited_has_the_digest_of_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.csv").write_text("age\n1\n1\n")
    listed = hashlib.sha256(b"age\n1\n1\n").hexdigest().encode()
    with open_engine(folder, MEMORY) as engine:
        digest = engine.sha256()
    old, new = listed + b"  a.csv\n", b"\xfftcdp-audit folder\0" + listed + b"  a.csv\0"
    assert hashlib.sha256(new).hexdigest() == digest != hashlib.sha256(old).hexdigest()
    for name in ("list.csv", "list.tsv", "list.jsonl", "list.parquet", "list.feather", "list.arrow"):
        (tmp_path / name).write_bytes(new)
        with pytest.raises(DataError), open_engine(tmp_path / name, MEMORY) as engine:
            engine.domain(engine.columns[0].name)


@pytest.mark.parametrize("change", [lambda path: path.unlink(), lambda path: path.write_bytes(b"PAR1")])
def test_a_file_that_changes_during_the_audit_is_named(tmp_path: Path, change: Any) -> None:
    folder = folder_of(tmp_path / "r", TABLE, TABLE)
    with open_engine(folder, MEMORY) as engine:
        change(folder / "part-1.parquet")
        with pytest.raises(DataError, match=r"file 2 of 2 \(part-1.parquet\): the file changed while it was audited"):
            engine.domain("zip")


def test_a_file_of_another_schema_is_named_with_the_column(tmp_path: Path) -> None:
    others = {
        "has no column 'note'": TABLE.drop_columns("note"),
        "has a column 'more'": TABLE.append_column("more", TABLE["age"]),
        "has the column 'age' in another place": TABLE.select(["age", "zip", "note"]),
        "has another type of column 'age'": TABLE.set_column(1, "age", TABLE["age"].cast(pa.int32())),
    }
    for sentence, other in others.items():
        said = fault(folder_of(tmp_path / "r", TABLE, other))
        assert f"file 2 of 2 (part-1.parquet) {sentence}" in said


def test_decimals_of_another_scale_are_another_type(tmp_path: Path) -> None:
    one, other = (pa.table({"a": pa.array([Decimal(1)], pa.decimal128(9, scale))}) for scale in (0, 2))
    assert "has another type of column 'a'" in fault(folder_of(tmp_path / "r", one, other))


def test_cells_that_duckdb_would_round_are_retained_beside_keys(tmp_path: Path) -> None:
    wide = pa.table({"a": pa.array([Decimal(10**40 + i) for i in range(4)], pa.decimal256(50, 0)), "k": ["é", "b"] * 2})
    pq.write_to_dataset(wide, tmp_path / "r", partition_cols=["k"])
    with open_engine(tmp_path / "r", MEMORY) as engine:
        pairs = set(map(tuple, (row.values() for row in engine.table().to_pylist())))
    assert pairs == {(str(10**40 + i), "éb"[i % 2]) for i in range(4)}


def test_a_column_of_duckdbs_own_name_does_not_mislead_the_keys(tmp_path: Path) -> None:
    table = pa.table({"file_index": [1, 0, 1, 0], "FILENAME": ["x"] * 4, "k": ["a", "a", "b", "b"]})
    pq.write_to_dataset(table, tmp_path / "r", partition_cols=["k"])
    assert rows(tmp_path / "r") == sorted_rows(table, ["file_index", "FILENAME", "k"])


def test_names_that_look_like_patterns_are_names(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "a[1]*?", TABLE)
    (folder / "part-0.parquet").rename(folder / "[b]'*.parquet")
    expected = sorted_rows(TABLE, ["zip", "age", "note"])
    assert [rows(one) for one in (folder, folder / "[b]'*.parquet", folder / "*.parquet")] == [expected] * 3


def test_dictionaries_and_text_go_together(tmp_path: Path) -> None:
    encoded = TABLE.set_column(0, "zip", TABLE["zip"].dictionary_encode())
    assert rows(folder_of(tmp_path / "r", TABLE, encoded)) == sorted_rows(
        pa.concat_tables([TABLE] * 2), TABLE.column_names
    )


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("k=1/k=2", "is in two folders of the key 'k'; leave one out"),
        ("k=", "gives the key 'k' no value; a missing one is __HIVE_DEFAULT_PARTITION__"),
        ("k=%FF", "is in a folder whose name is not UTF-8"),
        ("zip=1", "column 'zip' is in the files and also a key"),
        ("j=1", "is in folders of other keys than the first file"),
    ],
)
def test_keys_that_cannot_be_columns(tmp_path: Path, name: str, sentence: str) -> None:
    (tmp_path / "r" / name).mkdir(parents=True)
    pq.write_table(TABLE, tmp_path / "r" / name / "a.parquet")
    if name == "j=1":
        folder_of(tmp_path / "r" / "zone=SECRET", TABLE)
    said = fault(tmp_path / "r")
    assert sentence in said
    assert "SECRET" not in said


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "zip=SECRET", TABLE, TABLE, TABLE)
    damaged = folder / "part-1.parquet"
    damaged.write_bytes(damaged.read_bytes()[:-20])
    said = fault(tmp_path / "zip=*")
    assert "file 2 of 3 (zip=*/part-1.parquet): the file is not intact Parquet; write it again" in said
    assert "SECRET" not in said


def test_what_is_no_table_in_several_files(tmp_path: Path) -> None:
    folder = tmp_path / "r"
    folder.mkdir()
    assert "no file of a table is there" in fault(folder)
    assert "no file of a table is there" in fault(folder / "*.parquet")
    assert "no such file" in fault(tmp_path / "none" / "*.parquet")
    (folder / "a.json").touch()
    assert "there are .json" in fault(folder)
    folder_of(folder, TABLE)
    assert "there are .json, .parquet" in fault(folder)
    (folder / "a.json").rename(folder / "_a.json")
    assert len(rows(folder)) == 12
    (folder / "_delta_log").mkdir()
    assert "holds files of a table of Delta Lake" in fault(folder)
    assert "holds files of a table of Delta Lake" in fault(folder / "*.parquet")
    (folder / "_delta_log").rename(folder / "_temporary")
    assert "is still being written" in fault(folder)


def test_nothing_is_read_twice(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "r", TABLE)
    (folder / "other.parquet").hardlink_to(folder / "part-0.parquet")
    assert "file 1 of 2 (other.parquet)" not in (said := fault(folder))
    assert "is another name of an earlier one" in said
    (folder / "other.parquet").unlink()
    (folder / "loop").symlink_to(folder)
    assert "a link in it leads to a folder" in fault(folder)


def test_what_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(folder_of(tmp_path / "r", TABLE) / "pipe.parquet")
    assert "file 2 of 2 (pipe.parquet) is a device or a pipe; copy it to a file first" in fault(tmp_path / "r")


def test_csv_files_with_one_header_are_one_table(tmp_path: Path) -> None:
    folder = tmp_path / "r"
    (folder / "zip=02139").mkdir(parents=True)
    (folder / "zip=02139" / "a.csv").write_text('x,y\n1,\n02,"b\nc"\n')
    (folder / "zip=02139" / "b.csv.gz").write_bytes(gzip.compress(b"x;y\r\n5;6\r\n"))
    (folder / "zip=02139" / "c.csv").write_text("x,y\n")
    cells = [("02", "b\nc"), ("1", None), ("5", "6")]
    assert rows(folder) == [{"x": x, "y": y, "zip": "02139"} for x, y in cells]
    (folder / "zip=02139" / "d.csv").write_text("x,z\n1,2\n")
    assert fault(folder).endswith(
        "file 4 of 4 (zip=*/d.csv) has the column 'z' where the first file has 'y'; "
        "write all files with the same header"
    )
    (folder / "zip=02139" / "d.csv").write_text("x,y,z\n1,2,3\n")
    assert "has 3 columns and the first file 2" in fault(folder)
    (folder / "zip=02139" / "d.csv").write_text("x,y\n1,SECRET,3\n")
    assert "file 4 of 4 (zip=*/d.csv):2: the record has 3 cells" in (said := fault(folder))
    assert "02139" not in said


@pytest.mark.parametrize(
    ("path", "pattern", "fits"),
    [
        ("a.csv", "*.csv", True),
        ("b/a.csv", "*.csv", False),
        ("a.csv", "**/*.csv", True),
        ("b/c/a.csv", "**/*.csv", True),
        ("_b/a.csv", "**/*.csv", False),
        ("_k=1/a.csv", "**/*.csv", True),
        ("_a.csv", "_*.csv", True),
        ("a.CSV", "*.csv", False),
        ("k=1/x/a.csv", "k=*", True),
        ("k=1/_x/a.csv", "k=*", False),
        ("a1.csv", "a[0-9].csv", True),
    ],
)
def test_patterns(path: str, pattern: str, fits: bool) -> None:
    assert belongs(path.split("/"), pattern.split("/")) is fits


def test_fix_writes_no_file_into_its_own_input(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "r", TABLE)
    policy = {**POLICY, "expect": [{"k_anonymity": {"k": 4}}], "remedy": [{"suppression": {}}]}
    for location in (folder, folder / "*.parquet"):
        with pytest.raises(UsageError, match="must be a file of its own"):
            fix(location, policy, output=folder / "new.parquet", plugins=PLUGINS)
        with pytest.raises(UsageError, match="must be a file of its own"):
            fix(location, policy, output=folder / "part-0.parquet", plugins=PLUGINS)
    done = fix(folder, policy, output=tmp_path / "new.parquet", plugins=PLUGINS)
    assert done.before.release.records == 12
    assert rows(folder) == sorted_rows(TABLE, TABLE.column_names)


def test_the_command_line_and_the_policy_take_a_pattern(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder_of(tmp_path / "r", TABLE, TABLE)
    policy = tmp_path / "p.tcdp.yaml"
    policy.write_text(
        "version: 1\nrelease: r/*.parquet\nattributes:\n  zip: {role: quasi_identifier}\n"
        "  age: {role: insensitive}\n  note: {role: insensitive}\nexpect:\n- k_anonymity: {k: 6}\n"
    )
    monkeypatch.chdir(tmp_path.parent)
    assert run("check", ["--policy", str(policy)]) == 0
    assert run("check", [str(tmp_path / "r"), "--policy", str(policy)]) == 0
    monkeypatch.chdir(tmp_path)
    for location in ("r", "./r/", "*/*.parquet", f"../{tmp_path.name}/r*"):
        assert run("check", [location, "--policy", str(policy)]) == 0
    assert run("fix", ["r", "--policy", str(policy), "--output", "r/fixed.parquet"]) == 2
    assert "here it would be a part of the policy's release" in capsys.readouterr().err
    assert run("check", [str(tmp_path / "q*"), "--policy", str(policy)]) == 2
    assert "no file of a table is there" in capsys.readouterr().err
