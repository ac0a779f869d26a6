"""Versions of Delta and Iceberg tables, and datasets: the audit of the same records as plain Parquet."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from answers import PLUGINS, answer
from deltalake import DeltaTable
from fsspec.implementations.local import LocalFileSystem
from lake_versions import catalogue, delete_by_file, delete_by_vector, delta, iceberg
from pyarrow import fs
from pyiceberg.expressions import EqualTo
from pyiceberg.manifest import DataFileContent
from pyiceberg.types import StringType

from tcdp_audit import audit
from tcdp_audit.core.base.errors import DataError, UsageError
from tcdp_audit.demo import make_discharges
from tcdp_audit.verification import verify

KNOWN = ["age", "sex", "postcode", "admission_month"]
ATTRIBUTES: dict[str, dict[str, Any]] = {
    "discharge": {"role": "insensitive"},
    **{name: {"role": "quasi_identifier", "scale": "nominal"} for name in KNOWN},
    "diagnosis": {"role": "sensitive", "scale": "nominal"},
    "cost": {"role": "sensitive", "scale": "numeric"},
    "length_of_stay": {"role": "sensitive", "scale": "numeric"},
}
FORTY: list[dict[str, dict[str, Any]]] = [
    *({"k_anonymity": {"k": k}} for k in (2, 3, 4, 5, 10)),
    {"k_anonymity": {}},
    *({"reidentification_risk": {"at_most": share}} for share in (0.05, 0.2)),
    *({"sample_uniqueness": {"at_most": share}} for share in (0.01, 0.5)),
    *({"distinct_l_diversity": {"l": l, "attribute": "diagnosis"}} for l in (2, 3)),
    {"distinct_l_diversity": {"l": 3, "attribute": "cost"}},
    *({"entropy_l_diversity": {"l": l, "attribute": "diagnosis"}} for l in (1.5, 3)),
    {"entropy_l_diversity": {"attribute": "length_of_stay"}},
    *({"recursive_cl_diversity": {"c": c, "l": 2, "attribute": "diagnosis"}} for c in (1, 3)),
    {"alpha_k_anonymity": {"alpha": 0.5, "k": 4, "attribute": "diagnosis"}},
    {"p_sensitive_k_anonymity": {"p": 2, "k": 4, "attribute": "diagnosis"}},
    *({"t_closeness": {"t": t, "attribute": "diagnosis", "distance": "equal"}} for t in (0.3, 0.7)),
    *({"t_closeness": {"t": 0.2, "attribute": one, "distance": "ordered"}} for one in ("cost", "length_of_stay")),
    {"t_closeness": {"attribute": "cost", "distance": "numeric"}},
    {"t_closeness": {"t": 0.1, "attribute": "length_of_stay", "distance": "ordered", "severity": "warning"}},
    {"basic_beta_likeness": {"beta": 20, "attribute": "diagnosis"}},
    {"enhanced_beta_likeness": {"beta": 20, "attribute": "diagnosis"}},
    *({"delta_disclosure": {"delta": 2, "attribute": one}} for one in ("length_of_stay", "diagnosis")),
    {"homogeneity": {"at_most": 0.1, "attribute": "diagnosis"}},
    {"skewness": {"at_most": 10, "attribute": "diagnosis"}},
    {"similarity": {"at_most": 0.5, "attribute": "cost", "width": 500}},
    {"background_knowledge": {"at_least": 1, "attribute": "diagnosis"}},
    *({"implied_epsilon": {"attribute": one}} for one in ("length_of_stay", "diagnosis")),
    {"expected_t_closeness": {"epsilon": 1}},
    {"t_from_epsilon": {"epsilon": 1, "at_most": 3}},
    {"suda": {}},
    {"lkc_privacy": {"L": 2, "K": 4, "C": 0.8}},
]
POLICY = {"version": 1, "attributes": ATTRIBUTES, "expect": FORTY}
_KINDS = {name: pa.int64() if one.get("scale") == "numeric" else pa.string() for name, one in ATTRIBUTES.items()}
RELEASE = pyarrow.csv.read_csv(
    io.BytesIO(make_discharges()["discharges.csv"].encode()),
    convert_options=pyarrow.csv.ConvertOptions(column_types=_KINDS),
)
PEOPLE: dict[str, Any] = {
    "version": 1,
    "attributes": {"zip": {"role": "quasi_identifier"}, "illness": {"role": "sensitive"}},
    "expect": [{"k_anonymity": {"k": 2}}],
}


def people(*zips: str | None) -> pa.Table:
    return pa.table({"zip": pa.array(zips, pa.string()), "illness": ["flu"] * len(zips)})


def k_of(release: Any, policy: dict[str, Any] = PEOPLE) -> Any:
    return audit(release, policy, plugins=PLUGINS).outcomes[-1].observed


def refused(release: Any, kind: type[Exception] = UsageError) -> str:
    with pytest.raises(kind) as caught:
        audit(release, PEOPLE, plugins=PLUGINS)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    return str(caught.value)


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    return catalogue(tmp_path / "warehouse", monkeypatch)


def plain(folder: Path, table: pa.Table) -> Path:
    pq.write_table(table, folder / "plain.parquet")
    return folder / "plain.parquet"


# Parity

WAYS: dict[str, Callable[[Path, Any, pa.Table], Any]] = {
    "Delta, an address": lambda folder, _, table: delta(folder / "d", table.slice(7), table) + "@1",
    "Delta, the newest": lambda folder, _, table: delta(folder / "d", table.slice(7), table),
    "Delta, a DeltaTable": lambda folder, _, table: DeltaTable(delta(folder / "d", table).removeprefix("delta:")),
    "Iceberg, an address": lambda _, lake, table: (
        f"iceberg:lake.health.people@{iceberg(lake, table.slice(7), table).current_snapshot().snapshot_id}"
    ),
    "Iceberg, the newest": lambda _, lake, table: iceberg(lake, table.slice(7), table) and "iceberg:lake.health.people",
    "Iceberg, a table": lambda _, lake, table: iceberg(lake, table.slice(7), table),
    "Iceberg, a scan": lambda _, lake, table: iceberg(lake, table).scan(),
    "a dataset": lambda folder, _, table: ds.dataset(plain(folder, table)),
    "a lazy frame of narwhals": lambda folder, _, table: nw.from_native(pl.scan_parquet(plain(folder, table))),
}


@pytest.fixture(scope="module")
def forty(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What an audit of the plain Parquet file says."""
    result = answer(plain(tmp_path_factory.mktemp("plain"), RELEASE), POLICY)
    asked = [one for one in result["outcomes"] if not one["source"].startswith("tcdp-audit")]
    assert len(FORTY) == 40
    assert len(asked) >= 40
    assert {one["status"] for one in asked} == {"passed", "failed", "measured"}
    return result


@pytest.mark.parametrize("way", WAYS)
def test_forty_expectations_agree_to_the_sentence(way: str, tmp_path: Path, lake: Any, forty: dict[str, Any]) -> None:
    assert answer(WAYS[way](tmp_path, lake, RELEASE), POLICY) == forty


TYPES = {
    "day": (pa.date32(), [date(1931, 2, 3), date(2020, 12, 31)]),
    "moment": (pa.timestamp("us", "UTC"), [datetime(2020, 1, 2, 3, 4, 5, 6, UTC), datetime(1969, 12, 31, tzinfo=UTC)]),
    "local": (pa.timestamp("us"), [datetime(2020, 1, 2, 3, 4, 5), datetime(2020, 1, 3)]),  # noqa: DTZ001 - as it is
    "truth": (pa.bool_(), [True, False]),
    "amount": (pa.decimal128(12, 2), [Decimal("10.00"), Decimal("0.10")]),
    "large": (pa.int64(), [2**53, 2**53 + 1]),
    "small": (pa.int32(), [-1, 0]),
    "float": (pa.float64(), [0.1 + 0.2, -0.0]),
    "single": (pa.float32(), [0.1, 1e22]),
    "text": (pa.string(), ["ß", "ss"]),
    'odd name, with "quotes"': (pa.string(), ["", " "]),
}


def typed() -> pa.Table:
    columns = {name: pa.array([*values * 3, None, values[0]], kind) for name, (kind, values) in TYPES.items()}
    return pa.table(columns)


SCANNED = ("Delta, an address", "Iceberg, a table", "a dataset")  # one of each library


@pytest.mark.parametrize("way", SCANNED)
def test_every_type_means_what_it_means_in_parquet(way: str, tmp_path: Path, lake: Any) -> None:
    roles = {name: {"role": "quasi_identifier", "scale": "nominal"} for name in TYPES}
    asked = {"version": 1, "attributes": roles, "expect": [{"k_anonymity": {"k": 2}}, {"suda": {}}]}
    (tmp_path / "p").mkdir()
    assert answer(WAYS[way](tmp_path, lake, typed()), asked) == answer(plain(tmp_path / "p", typed()), asked)


@pytest.mark.parametrize("way", SCANNED)
def test_columns_whose_codes_have_no_room_in_the_memory_are_scanned_again(
    way: str, tmp_path: Path, lake: Any, forty: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tcdp_audit.core.engines.duckdb.SHARE", 2**28)  # one byte for codes
    assert answer(WAYS[way](tmp_path, lake, RELEASE), POLICY) == forty


def test_texts_by_their_views_are_the_texts(tmp_path: Path) -> None:
    texts = ["", "ß", "twelve bytes", "thirteen byte", None, "a", "a\0", "a\0\0"]
    address = delta(tmp_path / "d", people(*texts * 2, *texts[:3]))
    for some in (texts, [one for one in texts if one is None or len(one) < 13]):
        delta(tmp_path / "d", people(*some * 2, *some[:3]))
        assert answer(address, PEOPLE) == answer(people(*some * 2, *some[:3]), PEOPLE)


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_a_scan_with_other_records_is_no_pass(rows: int) -> None:
    from tcdp_audit.core.engines.streams import scanned_engine

    table = people("1", "1")
    batches = people(*["1"] * rows).to_batches()
    scanned = scanned_engine(lambda names: [one.select(names) for one in batches], table.schema, 2, "r", "r", 2**28)
    with scanned as engine:
        if rows == 2:
            assert engine.domain("zip").counts.tolist() == [2]
            assert engine.sha256() == audit(table, PEOPLE, plugins=PLUGINS).release.sha256
            return
        with pytest.raises(DataError, match="not all rows of the table arrived"):
            engine.domain("zip")
        with pytest.raises(DataError, match="not all rows of the table arrived"):
            engine.sha256()


def test_companions_are_versions_too(tmp_path: Path) -> None:
    versions = delta(tmp_path / "d", people("1", "1", "2"), people("1", "2", "3"))
    asked = {**PEOPLE, "expect": [{"k_map": {"k": 1}}]}
    result = audit(f"{versions}@0", asked, population=f"{versions}@1", plugins=PLUGINS)
    assert result.companions["population"].version is not None
    assert result.companions["population"].version.version == "1"


# Versions


def test_the_version_asked_for_is_judged(tmp_path: Path, lake: Any) -> None:
    address = delta(tmp_path / "d", people("1", "2"), people("1", "1"), people("1", "1", "1"))
    assert [k_of(address + version) for version in ("@0", "@1", "@2", "")] == [1, 2, 3, 3]
    table = iceberg(lake, people("1", "2"), people("1", "1"))
    first, *_, last = [one.snapshot_id for one in table.metadata.snapshots]
    assert [k_of(f"iceberg:lake.health.people{at}") for at in (f"@{first}", f"@{last}", "")] == [1, 2, 2]


def test_provenance_says_which_version_and_whether_it_was_named(tmp_path: Path, lake: Any) -> None:
    address = delta(tmp_path / "d", people("1"), people("2", "2"))
    table = iceberg(lake, people("1"))
    snapshot = table.current_snapshot()
    assert snapshot is not None
    for release, uri, version, newest in (
        (f"{address}@0", f"{address}@0", "0", False),
        (address, f"{address}@1", "1", True),
        (DeltaTable(str(tmp_path / "d"), version=0), f"{address}@0", "0", False),
        ("iceberg:lake.health.people", f"iceberg:lake.health.people@{snapshot.snapshot_id}", None, True),
        (table, f"iceberg:lake.health.people@{snapshot.snapshot_id}", None, False),
        (table.scan(), f"iceberg:lake.health.people@{snapshot.snapshot_id}", None, False),
    ):
        result = audit(release, PEOPLE, plugins=PLUGINS)
        entry = json.loads(result.to_json())["release"]
        assert entry["uri"] == uri
        assert entry["sha256"] is None
        assert entry["version"]["version"] == (version or str(snapshot.snapshot_id))
        assert entry["version"]["newest"] is newest
        own = entry["version"]
        sentence = f"version {own['version']} of the {own['format']} table {own['table']}"
        assert sentence in result.release.size
        assert ("the newest when it was read" in result.release.size) is newest
        assert sentence in result.render(".html")
        written = datetime.fromisoformat(entry["version"]["time"])
        assert abs((datetime.now(UTC) - written).total_seconds()) < 3600
    identity = DeltaTable(str(tmp_path / "d")).metadata().id
    assert json.loads(audit(address, PEOPLE, plugins=PLUGINS).to_json())["release"]["version"]["table"] == identity


def test_verify_identifies_the_version(tmp_path: Path, lake: Any) -> None:
    (tmp_path / "p.tcdp.yaml").write_text(json.dumps(PEOPLE))
    address = delta(tmp_path / "d", people("1", "1"))
    iceberg(lake, people("1", "1"))
    for release in (address, "iceberg:lake.health.people"):
        result = audit(release, tmp_path / "p.tcdp.yaml", plugins=PLUGINS)
        pinned = result.release.uri
        for suffix in (".json", ".html"):
            (tmp_path / f"r{suffix}").write_text(result.render(suffix))
            for again in (release, pinned):
                verification = verify(tmp_path / f"r{suffix}", again, plugins=PLUGINS)
                assert verification.is_confirmed
                assert any(point.sentence.startswith("the same, version ") for point in verification.points)
    delta(tmp_path / "d", people("1", "1"))
    lake.load_table("health.people").overwrite(people("1", "1"))
    for name, release in (("delta", address), ("iceberg", "iceberg:lake.health.people")):
        result = audit(release, tmp_path / "p.tcdp.yaml", plugins=PLUGINS)
        (tmp_path / f"{name}.json").write_text(result.to_json())
    delta(tmp_path / "d", people("1", "1"))
    different = [point.sentence for point in verify(tmp_path / "delta.json", address, plugins=PLUGINS).differences]
    assert len(different) == 1  # the figures are equal, the version is another
    assert different[0].startswith("another version than that of the result: it is version 2 of the Delta Lake table ")
    other = verify(tmp_path / "delta.json", people("1", "1"), plugins=PLUGINS)
    assert not other.is_confirmed


def test_a_path_that_holds_the_sign_is_quoted(tmp_path: Path, lake: Any) -> None:
    delta(tmp_path / "a@b", people("1", "2"), people("1", "1"))
    assert k_of(f'delta:"{tmp_path}/a@b"@0') == 1
    assert audit(f'delta:"{tmp_path}/a@b"', PEOPLE, plugins=PLUGINS).release.uri == f'delta:"{tmp_path}/a@b"@1'
    assert audit(f'delta:"{tmp_path}/a@b"', PEOPLE, plugins=PLUGINS).release.name == "a@b@1"
    assert "write a path that holds @ in double quotes" in refused(f"delta:{tmp_path}/a@b@0")
    iceberg(lake, people("1", "1"), name="health.people")
    lake.rename_table("health.people", ("health", "of.2026"))
    assert audit('iceberg:lake.health."of.2026"', PEOPLE, plugins=PLUGINS).release.uri.startswith(
        'iceberg:lake.health."of.2026"@'
    )


def test_schemas_evolve(tmp_path: Path, lake: Any) -> None:
    later = people("1", "2").append_column("year", pa.array([1950, 1951], pa.int32()))
    address = delta(tmp_path / "d", people("1", "1"))
    delta(tmp_path / "d", later, mode="append", schema_mode="merge")
    asked = {**PEOPLE, "attributes": {**PEOPLE["attributes"], "year": {"role": "insensitive"}}}
    assert k_of(f"{address}@0") == 2
    result = audit(address, asked, plugins=PLUGINS)
    assert (result.release.records, result.release.columns, result.outcomes[-1].observed) == (4, 3, 1)
    table = iceberg(lake, people("1", "1"))
    first = table.current_snapshot().snapshot_id
    with table.update_schema() as change:
        change.rename_column("zip", "postcode")
        change.add_column("note", StringType())
    names = {"postcode": {"role": "quasi_identifier"}, "note": {"role": "insensitive"}}
    evolved = {**PEOPLE, "attributes": {"illness": {"role": "sensitive"}, **names}}
    newest = audit("iceberg:lake.health.people", evolved, plugins=PLUGINS)
    assert newest.outcomes[-1].observed == 2
    assert newest.release.version is not None
    assert newest.release.version.part == "in schema 1"  # which was written after the snapshot
    assert k_of(f"iceberg:lake.health.people@{first}") == 2
    table = lake.load_table("health.people")
    table.append(pa.table({"postcode": ["1"], "illness": ["flu"], "note": ["x"]}, table.schema().as_arrow()))
    assert k_of("iceberg:lake.health.people", evolved) == 3


def test_partitions_are_columns(tmp_path: Path) -> None:
    address = delta(tmp_path / "d", people("01", "01", "1", None, "a/b"), partition_by=["zip"])
    assert answer(address, PEOPLE) == answer(people("01", "01", "1", None, "a/b").select(["zip", "illness"]), PEOPLE)


# Deletions


def test_a_deletion_vector_is_applied(tmp_path: Path) -> None:
    asked = {"version": 1, "attributes": {"value": {"role": "quasi_identifier"}}, "expect": [{"k_anonymity": {}}]}
    address = delta(tmp_path / "d", pa.table({"value": pa.array(range(10), pa.int32())}))
    delete_by_vector(tmp_path / "d", [0, 9])
    whole, left = (audit(f"{address}@{at}", asked, plugins=PLUGINS) for at in (0, 1))
    assert (whole.release.records, left.release.records) == (10, 8)
    remaining = pa.table({"value": pa.array(range(1, 9), pa.int32())})
    assert answer(address, asked) == answer(remaining, asked)
    assert left.release.version is not None
    assert left.release.version.time == "2023-03-03T02:39:54.429Z"


def test_deleted_rows_are_gone_in_the_version_after(tmp_path: Path, lake: Any) -> None:
    address = delta(tmp_path / "d", people("1", "1", "2"))
    DeltaTable(str(tmp_path / "d")).delete("zip = '2'")
    assert [k_of(f"{address}@{at}") for at in (0, 1)] == [1, 2]
    table = iceberg(lake, people("1", "1", "2"))
    first = table.current_snapshot().snapshot_id
    table.delete("zip = '2'")
    assert [k_of(f"iceberg:lake.health.people{at}") for at in (f"@{first}", "")] == [1, 2]


def test_position_deletes_of_iceberg_are_applied(lake: Any) -> None:
    table = iceberg(lake, people("1", "1", "2"))
    (task,) = table.scan().plan_files()
    fields = {"file_path": (pa.string(), 2147483546), "pos": (pa.int64(), 2147483545)}
    schema = pa.schema(
        [pa.field(name, kind, False, {"PARQUET:field_id": str(at)}) for name, (kind, at) in fields.items()]
    )
    rows = pa.table({"file_path": [task.file.file_path], "pos": pa.array([2], pa.int64())}, schema)
    delete_by_file(table, rows, DataFileContent.POSITION_DELETES)
    assert answer("iceberg:lake.health.people", PEOPLE) == answer(people("1", "1"), PEOPLE)


def test_equality_deletes_are_refused(lake: Any) -> None:
    delete_by_file(iceberg(lake, people("1", "2")), pa.table({"zip": ["1"]}), DataFileContent.EQUALITY_DELETES, [1])
    assert "has equality deletes, which pyiceberg does not apply" in refused("iceberg:lake.health.people")


# Parts and refusals


def test_a_scan_that_chooses_is_said_to_be_a_part(lake: Any) -> None:
    table = iceberg(lake, people("1", "1", "2"))
    result = audit(table.scan(row_filter=EqualTo("zip", "1")), PEOPLE, plugins=PLUGINS)
    assert (result.release.records, result.outcomes[-1].observed) == (2, 2)
    assert "of which a scan chose rows or columns" in result.release.size
    assert "a scan with a limit" in refused(table.scan(limit=1))


def test_what_is_not_there_is_named(tmp_path: Path, lake: Any) -> None:
    address = delta(tmp_path / "d", people("1", "1"))
    snapshot = iceberg(lake, people("1", "1")).current_snapshot().snapshot_id
    lake.create_table("health.empty", people("1").schema)
    assert refused(f"{address}@5") == f"{address}: has no version 5; its newest is 0"
    assert "no Delta table is there" in refused(f"delta:{tmp_path}/nowhere")
    assert "no Delta table is there" in refused(f"delta:{tmp_path}")
    assert "is followed by the path of a table" in refused("delta:")
    assert f"has no snapshot 7; its last are {snapshot}" in refused("iceberg:lake.health.people@7")
    assert "the catalogue has no such table" in refused("iceberg:lake.health.nobody")
    assert "the catalogue has no such table" in refused("iceberg:lake.nowhere.people")
    assert "the catalogue cannot be opened" in refused("iceberg:elsewhere.health.people")
    assert "is followed by CATALOGUE.NAMESPACE.TABLE" in refused("iceberg:people")
    assert "nothing has been written into it yet" in refused("iceberg:lake.health.empty", DataError)


def test_a_lost_file_is_a_fault_and_no_pass(tmp_path: Path, lake: Any) -> None:
    address = delta(tmp_path / "d", people("1", "1"))
    next((tmp_path / "d").glob("*.parquet")).unlink()
    assert "a file of this version is gone or damaged" in refused(address, DataError)
    table = iceberg(lake, people("1", "1"))
    (task,) = table.scan().plan_files()
    Path(task.file.file_path.removeprefix("file://")).unlink()
    assert "a file of this snapshot is gone or damaged" in refused("iceberg:lake.health.people", DataError)


def test_credentials_are_in_no_message_and_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for address in ('delta:"s3://key:hush@bucket/people"@3', "delta:s3://key:hush@bucket/people"):
        assert "hush" not in refused(address)
    lake = catalogue(tmp_path / "warehouse", monkeypatch)
    iceberg(lake, people("1", "1"))
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__TOKEN", "hush")
    result = audit("iceberg:lake.health.people", PEOPLE, plugins=PLUGINS)
    assert "hush" not in result.to_json() + result.render(".html")
    assert str(tmp_path) not in result.to_json()
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__URI", "postgresql+nodriver://reader:hush@office/db")
    catalogue(tmp_path / "warehouse", monkeypatch)
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__URI", "nodialect://reader:hush@office/db")
    monkeypatch.setattr("pyiceberg.catalog._ENV_CONFIG", type(lake_config())())
    assert "hush" not in refused("iceberg:lake.health.people")


def lake_config() -> Any:
    from pyiceberg.utils.config import Config

    return Config()


@pytest.mark.parametrize(("package", "address"), [("deltalake", "delta:x"), ("pyiceberg", "iceberg:a.b.c")])
def test_a_missing_extra_is_named(package: str, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from tcdp_audit_plugins.engines import table_formats

    monkeypatch.setattr(table_formats, "find_spec", lambda name: None if name == package else object())
    extra = address.partition(":")[0]
    assert refused(address) == f'{extra}: needs {package}; pip install "tcdp-audit[{extra}]"'


# Datasets


def test_a_dataset_of_plain_files_over_a_table_format_is_refused(tmp_path: Path, lake: Any) -> None:
    delta(tmp_path / "d", people("1", "2"), people("1", "2"))
    folder = ds.dataset([str(one) for one in (tmp_path / "d").glob("*.parquet")])
    files = [task.file.file_path for task in iceberg(lake, people("1", "2")).scan().plan_files()]
    (tmp_path / "link").symlink_to(tmp_path / "d")
    linked = ds.dataset([str(one) for one in (tmp_path / "link").glob("*.parquet")])
    below = fs.SubTreeFileSystem(str(tmp_path / "d"), fs.LocalFileSystem())
    part = ds.dataset([one.name for one in (tmp_path / "d").glob("*.parquet")], filesystem=below)
    made = DeltaTable(str(tmp_path / "d")).to_pyarrow_dataset(filesystem=below)
    stored = fs.PyFileSystem(fs.FSSpecHandler(LocalFileSystem()))
    other = ds.dataset([str(one) for one in (tmp_path / "d").glob("*.parquet")], filesystem=stored)
    for dataset in (linked, part, made, other):
        assert "holds files of a table of Delta Lake" in refused(dataset)
    for dataset, kind in ((folder, "Delta Lake"), (ds.dataset(files[0]), "Apache Iceberg")):
        assert f"holds files of a table of {kind}" in refused(dataset)
    assert "holds files of a table of Delta Lake" in refused(ds.dataset([folder, ds.dataset(people("1"))]))


def test_a_dataset_has_the_digest_of_its_content(tmp_path: Path) -> None:
    dataset = ds.dataset(plain(tmp_path, RELEASE))
    digests = [audit(one, POLICY, plugins=PLUGINS).release.sha256 for one in (dataset, RELEASE)]
    assert digests[0] == digests[1]
    assert audit(ds.dataset(people("1", "1")), PEOPLE, plugins=PLUGINS).outcomes[-1].observed == 2
    assert k_of(ds.dataset(people("1", "1", "2")).filter(ds.field("zip") == "1")) == 2


def test_a_dataset_that_breaks_is_a_fault(tmp_path: Path) -> None:
    dataset = ds.dataset(plain(tmp_path, people("1", "1")))
    (tmp_path / "plain.parquet").write_bytes(b"PAR1" * 9)
    assert "the dataset cannot be read" in refused(dataset, DataError)
