"""Parquet files behind servers that count what they send: the columns that are audited are fetched, and no others."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qs, unquote, urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sources
from answers import answer

from tcdp_audit import audit, verify
from tcdp_audit.cli.run import run
from tcdp_audit.core.base.errors import DataError, TcdpAuditError, UsageError
from tcdp_audit.core.engines.base import Engine, Sampling
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.testing import check_conforms
from tcdp_audit_plugins.engines import REMOTE_FILES, open_remote, remote

PLUGINS = Plugins.load(external=False)
MEMORY = 2**28
AUDITED = ("zip", "age", "sex", "disease")
OTHERS = ("note", "cost", "person", "visit", "blob")
POLICY: dict[str, Any] = {
    "version": 1,
    "attributes": {
        "zip": {"role": "quasi_identifier"},
        "age": {"role": "quasi_identifier", "scale": "numeric"},
        "sex": {"role": "quasi_identifier"},
        "disease": {"role": "sensitive"},
    },
    "expect": [{"k_anonymity": {"k": 2}}, {"distinct_l_diversity": {"l": 2}}],
}


def people(records: int, seed: int = 5) -> pa.Table:
    """Four columns that a policy names, and five that are larger."""
    chance = np.random.default_rng(seed)
    zips, diseases = (np.array([f"{letter}{n:04d}" for n in range(300)]) for letter in "zd")
    return pa.table(
        {
            "note": pa.array(chance.integers(0, 2**60, records)).cast(pa.string()),
            "zip": zips[chance.integers(0, 300, records)],
            "cost": chance.random(records),
            "age": chance.integers(0, 90, records),
            "person": chance.integers(0, 2**60, records),
            "sex": np.array(["f", "m"])[chance.integers(0, 2, records)],
            "visit": pa.array(chance.integers(0, 2**45, records)).cast(pa.timestamp("us")),
            "disease": diseases[chance.integers(0, 300, records)],
            "blob": pa.array([bytes(8)] * records, pa.binary(8)),
        }
    )


def held(paths: list[Path], names: tuple[str, ...]) -> int:
    """The bytes of columns in Parquet files."""
    footers = [pq.read_metadata(path) for path in paths]
    groups = [footer.row_group(n) for footer in footers for n in range(footer.num_row_groups)]
    columns = [group.column(n) for group in groups for n in range(group.num_columns)]
    return sum(one.total_compressed_size for one in columns if one.path_in_schema in names)


class Counting(BaseHTTPRequestHandler):
    """A server of the files of a folder, by HTTP with ranges, and as WebHDFS, which lists folders too."""

    folder: ClassVar[Path]
    sent: ClassVar[int] = 0
    asked: ClassVar[list[str]] = []
    answers_ranges: ClassVar[bool] = True
    says_state: ClassVar[bool] = True
    status: ClassVar[int] = 0
    before: ClassVar[Callable[[], None] | None] = None
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or the body waits for an acknowledgement of the headers

    def do_HEAD(self) -> None:
        self._file(with_body=False)

    def do_GET(self) -> None:
        if self.path.startswith("/webhdfs/v1/"):
            self._hdfs()
        else:
            self._file(with_body=True)

    def _file(self, *, with_body: bool) -> None:
        path = self.folder / unquote(urlsplit(self.path).path).lstrip("/")
        Counting.asked.append(f"{self.command} {self.path} {self.headers.get('Range', '')}".rstrip())
        if self.status or not path.is_file():
            self._send(b"SECRET", self.status or 404, with_body=with_body)
            return
        content = path.read_bytes()
        state = path.stat()
        headers = {"ETag": f'"{state.st_mtime_ns:x}"'} if self.says_state else {}
        wanted = self.headers.get("Range")
        if wanted and self.answers_ranges:
            first, last = (int(one) for one in wanted.removeprefix("bytes=").split("-"))
            headers["Content-Range"] = f"bytes {first}-{min(last, len(content) - 1)}/{len(content)}"
            self._send(content[first : last + 1], 206, headers, with_body=with_body)
        else:
            self._send(content, 200, headers, with_body=with_body)

    def _hdfs(self) -> None:
        parts = urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        path = self.folder / unquote(parts.path).removeprefix("/webhdfs/v1/")
        Counting.asked.append(f"{asked['op']} {path.name}")
        if not path.exists():
            absent = {"exception": "FileNotFoundException", "message": "SECRET"}
            self._send(json.dumps({"RemoteException": absent}).encode(), 404)
        elif asked["op"] == "OPEN":
            with path.open("rb") as file:
                file.seek(int(asked.get("offset", 0)))
                self._send(file.read(int(asked.get("length", -1))), 200)
        elif asked["op"] == "GETFILESTATUS":
            self._send(json.dumps({"FileStatus": self._status(path)}).encode(), 200, counts=False)
        else:
            entries = [{**self._status(one), "pathSuffix": one.name} for one in sorted(path.iterdir())]
            self._send(json.dumps({"FileStatuses": {"FileStatus": entries}}).encode(), 200, counts=False)

    @staticmethod
    def _status(path: Path) -> dict[str, Any]:
        state = path.stat()
        kind = "DIRECTORY" if path.is_dir() else "FILE"
        own = {"type": kind, "length": state.st_size if path.is_file() else 0, "pathSuffix": ""}
        return {**own, "modificationTime": state.st_mtime_ns // 10**6}

    def _send(
        self,
        body: bytes,
        status: int,
        headers: dict[str, str] | None = None,
        *,
        with_body: bool = True,
        counts: bool = True,
    ) -> None:
        if Counting.before is not None and with_body and counts:
            Counting.before()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if with_body:
            try:
                self.wfile.write(body)
            except ConnectionError:  # who asked had enough
                self.close_connection = True
            Counting.sent += len(body) if counts else 0

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The host and port of a server."""
    Counting.folder, Counting.sent, Counting.status, Counting.before = folder, 0, 0, None
    Counting.answers_ranges = Counting.says_state = True
    Counting.asked.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Counting) as office:
        office.daemon_threads = True
        thread = threading.Thread(target=office.serve_forever)
        thread.start()
        try:
            yield f"127.0.0.1:{office.server_port}"
        finally:
            office.shutdown()
            thread.join()


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server of files, with which small ones are fetched by columns too."""
    monkeypatch.setattr(remote, "SMALL", 0)
    monkeypatch.setattr(remote, "TAIL", 2**12)
    with serving(tmp_path) as where:
        yield where


def put(folder: Path, table: pa.Table, files: int = 3, **options: Any) -> list[Path]:
    """A table as files of a folder."""
    folder.mkdir()
    size = -(-len(table) // files)
    paths = [folder / f"part{n}.parquet" for n in range(files)]
    for n, path in enumerate(paths):
        pq.write_table(table.slice(n * size, size), path, **options)
    return paths


def opened(url: str) -> Engine:
    return open_remote(url, "release", MEMORY)


def fault(url: str, policy: Any = None) -> str:
    with pytest.raises(TcdpAuditError) as caught:
        audit(url, policy or POLICY, plugins=PLUGINS)
    assert caught.value.__context__ is None
    return str(caught.value)


@pytest.mark.parametrize("scheme", ["http", "webhdfs"])
def test_the_audited_columns_are_fetched_and_no_others(scheme: str, host: str, tmp_path: Path) -> None:
    table = people(60_000)
    paths = put(tmp_path / "r", table, 1, row_group_size=20_000)
    url = f"{scheme}://{host}/r/part0.parquet"
    local = answer(paths[0], POLICY)

    assert answer(url, POLICY) == local
    assert held(paths, AUDITED) < Counting.sent <= 1.2 * held(paths, AUDITED)
    assert held(paths, AUDITED) < 0.2 * paths[0].stat().st_size


def test_a_folder_is_read_as_a_local_one(host: str, tmp_path: Path) -> None:
    table = people(60_000)
    pq.write_to_dataset(table, tmp_path / "r", partition_cols=["sex"], basename_template="part-{i}.parquet")
    paths = sorted((tmp_path / "r").rglob("*.parquet"))

    assert answer(f"webhdfs://{host}/r", POLICY) == answer(tmp_path / "r", POLICY)
    assert Counting.sent <= 1.2 * held(paths, AUDITED)
    assert answer(f"webhdfs://{host}/r/sex=*/*.parquet", POLICY) == answer(tmp_path / "r", POLICY)


@pytest.mark.long
def test_a_million_records_in_a_folder(tmp_path: Path) -> None:
    paths = put(tmp_path / "r", people(1_000_000), 4)
    with serving(tmp_path) as host:
        assert answer(f"webhdfs://{host}/r", POLICY) == answer(tmp_path / "r", POLICY)
        assert held(paths, AUDITED) < Counting.sent <= 1.2 * held(paths, AUDITED)


def test_a_small_table_is_copied_whole_and_has_a_digest(tmp_path: Path) -> None:
    put(tmp_path / "r", people(1_000), 1)
    content = (tmp_path / "r" / "part0.parquet").read_bytes()
    with serving(tmp_path) as host, opened(f"http://{host}/r/part0.parquet") as engine:
        assert engine.sha256() == hashlib.sha256(content).hexdigest()
        assert engine.version is None
    assert Counting.sent == len(content)


@pytest.mark.parametrize("form", ["parquet", "parquet, row groups", "parquet, folder with keys", "parquet, pattern"])
def test_every_kind_of_file_is_as_a_local_one(form: str, host: str, tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    path = sources.SOURCES[form](tmp_path / "made")
    policy = {
        "version": 1,
        "attributes": {name: {"role": "insensitive"} for name in sources.COLUMNS}
        | {"zip": {"role": "quasi_identifier"}},
        "expect": [{"k_anonymity": {"k": 5}}],
    }
    place = path.relative_to(tmp_path).as_posix()
    assert answer(f"webhdfs://{host}/{place}", policy) == answer(path, policy)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, None, 3], pa.decimal256(60, 2)),
        pa.array(np.array([1.5, 2.5, 2.5], np.float16)),
        pa.array([1, 2, None], pa.timestamp("us")),
        pa.array(["a.b", None, "c"], pa.large_string()),
    ],
    ids=lambda column: str(column.type),
)
@pytest.mark.parametrize("old", [False, True])
def test_types_that_are_converted_at_once(column: pa.Array, old: bool, host: str, tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    table = pa.table({"a": [1, 2, 3], "b": column, "b.c": ["x", "y", "z"]})
    pq.write_table(table, tmp_path / "r" / "t.parquet", use_deprecated_int96_timestamps=old)
    with opened(f"http://{host}/r/t.parquet") as engine, open_local(tmp_path / "r" / "t.parquet") as local:
        for name in ("b", "b.c", "a"):
            mine, other = engine.domain(name), local.domain(name)
            assert (mine.values.tolist(), mine.counts.tolist(), mine.nulls) == (
                other.values.tolist(),
                other.counts.tolist(),
                other.nulls,
            )
        assert engine.source_table().equals(local.source_table())


def open_local(path: Path) -> Engine:
    return open_engine(path, MEMORY)


def test_columns_are_fetched_by_whatever_asks_for_them(host: str, tmp_path: Path) -> None:
    table = people(3_000)
    put(tmp_path / "r", table, 2)
    url = f"webhdfs://{host}/r"
    for ask in (
        lambda one: one.repeats("person"),
        lambda one: one.locate("zip", np.array(["z0007"], object)),
        lambda one: one.sample(["zip", "cost"], Sampling("person", Fraction(1, 2), 1)).num_rows,
        lambda one: one.table().sort_by("person"),
        lambda one: one.source_table().num_rows,
        lambda one: one.domain("visit").values.tolist(),
    ):
        with opened(url) as engine, open_local(tmp_path / "r") as local:
            assert ask(engine) == ask(local)
            assert engine.records == len(table)


def test_a_column_that_was_not_fetched_is_no_column_of_zeros(host: str, tmp_path: Path) -> None:
    put(tmp_path / "r", people(3_000), 1)
    with opened(f"http://{host}/r/part0.parquet") as engine:
        copy = next(scratch.path for scratch in engine.scratches).rglob("*.parquet")
        with pytest.raises((OSError, pa.ArrowException)):
            pq.read_table(next(copy), columns=["zip"])


def test_the_state_identifies_what_was_read(host: str, tmp_path: Path) -> None:
    paths = put(tmp_path / "r", people(3_000), 1)
    url = f"http://ann:SECRET@{host}/r/part0.parquet?sig=SECRET"
    first = audit(url, POLICY, plugins=PLUGINS)
    version = first.release.version
    assert first.release.sha256 is None
    assert version is not None
    assert (version.format, version.table) == ("remote Parquet", f"http://{host}/r/part0.parquet")
    result = tmp_path / "result.json"
    result.write_text(first.to_json())
    assert "SECRET" not in result.read_text()
    again = verify(result, url, policy=POLICY, plugins=PLUGINS)
    assert again.is_confirmed
    os.utime(paths[0], (10**9, 10**9))
    assert not verify(result, url, policy=POLICY, plugins=PLUGINS).is_confirmed


def test_with_digest_all_bytes_are_hashed(host: str, tmp_path: Path) -> None:
    paths = put(tmp_path / "r", people(3_000), 2)
    for url, path in ((f"webhdfs://{host}/r", tmp_path / "r"), (f"http://{host}/r/part1.parquet", paths[1])):
        mine, local = (audit(one, POLICY, plugins=PLUGINS, digest=True).release for one in (url, path))
        assert (mine.sha256, mine.version) == (local.sha256, None)
        assert mine.sha256


def test_a_file_that_changes_meanwhile_is_refused(host: str, tmp_path: Path) -> None:
    (path,) = put(tmp_path / "r", people(3_000), 1)
    url = f"http://{host}/r/part0.parquet"
    with opened(url) as engine:
        engine.domain("zip")
        os.utime(path, (10**9, 10**9))
        with pytest.raises(DataError, match="changed while it was audited; start again when it is complete"):
            engine.domain("age")
    with opened(url) as engine:
        path.unlink()
        with pytest.raises(UsageError, match=r"part0\.parquet: no such file$"):
            engine.domain("age")


def test_a_server_without_ranges_gives_the_whole_file(
    host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path,) = put(tmp_path / "r", people(3_000), 1)
    Counting.answers_ranges = False
    url = f"http://{host}/r/part0.parquet"
    with opened(url) as engine:
        assert engine.sha256() == hashlib.sha256(path.read_bytes()).hexdigest()
    monkeypatch.setattr(remote.shutil, "disk_usage", lambda _: remote.shutil._ntuple_diskusage(10, 10, 10))
    assert fault(url) == (
        f"{url}: the server answers no requests for a range of bytes, so all of it has to be copied; 0.0 GiB are "
        "needed, and the folder for temporary files has room for 0.0 GiB; free some, or name another folder in TMPDIR"
    )


def test_a_server_that_says_no_state_gives_the_whole_file(host: str, tmp_path: Path) -> None:
    (path,) = put(tmp_path / "r", people(3_000), 1)
    Counting.says_state = False
    with opened(f"http://{host}/r/part0.parquet") as engine:
        assert engine.sha256() == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (401, "the server denies access (401); check the credentials, or whether a signed address has expired"),
        (403, "the server denies access (403); check the credentials, or whether a signed address has expired"),
        (404, "no such file"),
        (503, "the server answers with the error 503; check the address, and try again later"),
    ],
)
def test_answers_of_a_server_are_sentences(status: int, sentence: str, host: str, tmp_path: Path) -> None:
    put(tmp_path / "r", people(3_000), 1)
    Counting.status = status
    assert fault(f"http://ann:SECRET@{host}/r/part0.parquet") == f"http://{host}/r/part0.parquet: {sentence}"
    Counting.status = 0
    with opened(f"http://ann:SECRET@{host}/r/part0.parquet?sig=SECRET") as engine:
        Counting.status = status
        with pytest.raises(UsageError) as caught:
            engine.domain("zip")
    assert str(caught.value) == f"http://{host}/r/part0.parquet: {sentence}"


def test_a_damaged_file_has_the_sentence_of_a_local_one(host: str, tmp_path: Path) -> None:
    (path,) = put(tmp_path / "r", people(3_000), 1)
    whole = path.read_bytes()
    for content in (whole[:-4], whole[:-4] + b"PAR2", whole[:100] + whole[-8:], b"PAR1"):
        path.write_bytes(content)
        assert fault(f"http://{host}/r/part0.parquet") == (
            f"http://{host}/r/part0.parquet: the file is not intact Parquet; write it again"
        )


def test_no_answer(tmp_path: Path) -> None:
    with serving(tmp_path) as host:
        pass
    assert fault(f"http://{host}/r.parquet") == (
        f"http://{host}/r.parquet: no answer from the server; check the address and the connection"
    )


@pytest.mark.long
@pytest.mark.parametrize("form", ["file", "folder"])
def test_it_conforms(form: str, host: str, tmp_path: Path) -> None:
    def place(table: pa.Table) -> str:
        name = f"place{len(list(tmp_path.iterdir()))}"
        put(tmp_path / name, table, 2 if form == "folder" else 1)
        return f"webhdfs://{host}/{name}" if form == "folder" else f"http://{host}/{name}/part0.parquet"

    check_conforms(REMOTE_FILES, {"place": place})


def test_the_command_shows_no_credentials(host: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path / "r", people(3_000), 1)
    url = f"http://ann:SECRET@{host}/r/part0.parquet?sig=SECRET"
    policy = tmp_path / "p.tcdp.yaml"
    policy.write_text(json.dumps(POLICY))
    reports = [tmp_path / f"report{suffix}" for suffix in (".html", ".md", ".json")]
    run("check", [url, "--policy", str(policy), *(word for one in reports for word in ("--report", str(one)))])
    printed = capsys.readouterr()
    for text in (*(one.read_text() for one in reports), printed.out, printed.err):
        assert "SECRET" not in text
    assert f"of the remote Parquet table http://{host}/r/part0.parquet" in reports[0].read_text()
