"""Tables at URLs: copied whole or refused, and nothing of what lets one in is ever told."""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import fsspec
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest
import sources
from fsspec.implementations.memory import MemoryFileSystem

from tcdp_audit import audit
from tcdp_audit.cli.run import run
from tcdp_audit.core.base.errors import TcdpAuditError
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.repair.fixing import fix
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.testing import check_conforms
from tcdp_audit_plugins.engines import REMOTE_FILES, SCHEMES, is_remote, open_remote, remote as copying
from tcdp_audit_plugins.engines.remote import without_credentials

PLUGINS = Plugins.load(external=False)
MEMORY = 2**28
TABLE = pa.table({"zip": ["02139", "2139", "a"] * 4, "age": range(12)})
POLICY: dict[str, Any] = {
    "version": 1,
    "attributes": {"zip": {"role": "quasi_identifier"}, "age": {"role": "insensitive"}},
    "expect": [{"k_anonymity": {"k": 4}}],
}


@pytest.fixture
def store() -> Iterator[MemoryFileSystem]:
    files = fsspec.filesystem("memory")
    yield files
    files.rm("/", recursive=True)


def put(files: Any, path: str, content: bytes | pa.Table) -> None:
    with files.open(path, "wb") as file:
        if isinstance(content, bytes):
            file.write(content)
        else:
            pq.write_table(content, file)


def opened(url: str) -> Engine:
    return open_remote(url, "release", MEMORY)


def rows(url: str) -> list[dict[str, Any]]:
    with opened(url) as engine:
        return sorted(engine.table().to_pylist(), key=repr)


def fault(url: str) -> str:
    with pytest.raises(TcdpAuditError) as caught:
        audit(url, POLICY, plugins=PLUGINS)
    assert caught.value.__context__ is None
    return str(caught.value)


@pytest.mark.long
@pytest.mark.parametrize("form", ["file", "folder"])
def test_it_conforms(store: MemoryFileSystem, form: str) -> None:
    def place(table: pa.Table) -> str:
        name = f"place{len(store.find('/'))}"
        put(store, f"{name}/a.parquet", table.slice(0, 1))
        put(store, f"{name}/b.parquet", table.slice(1))
        put(store, f"{name}.parquet", table)
        return f"memory://{name}" if form == "folder" else f"memory://{name}.parquet"

    check_conforms(REMOTE_FILES, {"place": place})


def test_a_file_is_copied_and_the_copy_goes(store: MemoryFileSystem) -> None:
    put(store, "people/r.csv", b"zip,age\n02139,1\n")
    engine = opened("MEMORY://people/r.csv")
    folders = [scratch.path for scratch in engine.scratches]
    assert engine.uri == engine.name == "memory://people/r.csv"
    assert engine.path is None
    assert engine.sha256() == hashlib.sha256(b"zip,age\n02139,1\n").hexdigest()
    assert engine.table().to_pylist() == [{"zip": "02139", "age": "1"}]
    assert [folder.exists() for folder in folders] == [True]
    engine.close()
    assert [folder.exists() for folder in folders] == [False]


def test_folders_and_patterns_are_read_as_local_ones_are(store: MemoryFileSystem, tmp_path: Path) -> None:
    pq.write_to_dataset(TABLE, tmp_path / "r", partition_cols=["zip"])
    (tmp_path / "r" / "_SUCCESS").touch()
    store.put(str(tmp_path / "r"), "/bucket/r", recursive=True)
    expected = sorted(TABLE.select(["age", "zip"]).to_pylist(), key=repr)
    local = audit(tmp_path / "r", POLICY, plugins=PLUGINS)
    for url in ("memory://bucket/r", "memory://bucket/r/", "memory://bucket/r/*/*.parquet", "memory://bucket/r/zip=*"):
        assert rows(url) == expected
        remote = audit(url, POLICY, plugins=PLUGINS)
        assert (remote.release.sha256, remote.release.uri) == (local.release.sha256, url)
        assert remote.outcomes == local.outcomes
    assert [one["zip"] for one in rows("memory://bucket/r/zip=0*/*")] == ["02139"] * 4
    assert [list(one) for one in rows("memory://bucket/r/zip=a")] == [["age"]] * 4


@pytest.mark.parametrize("form", ["csv", "csv.gz", "parquet", "json lines", "feather"])
def test_every_kind_of_file_gives_the_same_answer(store: MemoryFileSystem, form: str, tmp_path: Path) -> None:
    path = sources.SOURCES[form](tmp_path)
    put(store, f"r/{path.name}", path.read_bytes())
    policy = {
        "version": 1,
        "attributes": {name: {"role": "insensitive"} for name in sources.COLUMNS}
        | {"zip": {"role": "quasi_identifier"}},
        "expect": [{"k_anonymity": {"k": 5}}],
    }
    local, remote = (audit(one, policy, plugins=PLUGINS) for one in (path, f"memory://r/{path.name}"))
    assert remote.outcomes == local.outcomes
    assert remote.release.sha256 == local.release.sha256


def test_a_statistical_file_is_converted(store: MemoryFileSystem, tmp_path: Path) -> None:
    pyreadstat.write_sav(
        pd.DataFrame({"sex": [1.0, 2.0]}), tmp_path / "r.sav", variable_value_labels={"sex": {1: "m", 2: "f"}}
    )
    put(store, "r.sav", (tmp_path / "r.sav").read_bytes())
    engine = opened("memory://r.sav")
    folders = [scratch.path for scratch in engine.scratches]
    assert engine.table().to_pylist() == [{"sex": "m"}, {"sex": "f"}]
    assert engine.sha256() == hashlib.sha256((tmp_path / "r.sav").read_bytes()).hexdigest()
    engine.close()
    assert [folder.exists() for folder in folders] == [False, False]
    put(store, "bad.sav", b"no such thing" * 9)
    assert fault("memory://bad.sav").startswith("memory://bad.sav: the file is no intact .sav file")


def test_what_is_not_there_or_no_table(
    store: MemoryFileSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    put(store, "r/a.bin", b"x")
    put(store, "r/b.parquet", b"PAR1")
    put(store, "d/_delta_log/0.json", b"{}")
    put(store, "d/a.parquet", TABLE)
    sentences = {
        "memory://none.csv": "memory://none.csv: no such file",
        "memory://none/*.csv": "memory://none/*.csv: no file of a table is there",
        "memory://r/a.bin": "memory://r/a.bin: unknown kind of file",
        "memory://r": "memory://r: the files of one table are all of one kind",
        "memory://r/b.parquet": "memory://r/b.parquet: the file is not intact Parquet",
        "memory://r/*.parquet": "memory://r/*.parquet: the file is not intact Parquet",
        "memory://d": "memory://d: holds files of a table of Delta Lake",
        "memory://d/*.parquet": "memory://d/*.parquet: holds files of a table of Delta Lake",
    }
    for url, sentence in sentences.items():
        assert fault(url).startswith(sentence)
    assert not list(tmp_path.glob("tcdp-audit-*"))


def test_a_table_that_is_larger_than_the_disk_is_not_copied(
    store: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, "r/a.parquet", TABLE)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10, 10, 10))  # type: ignore[attr-defined]
    monkeypatch.setattr(MemoryFileSystem, "open", None)
    for url in ("memory://r/a.parquet", "memory://r"):
        assert "the folder for temporary files has room for 0.0 GiB; free some" in fault(url)


@pytest.mark.parametrize("size", [-1, 1])
def test_what_changes_while_it_is_copied_is_refused(
    store: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    put(store, "r.parquet", TABLE)
    info = MemoryFileSystem.info

    def other(self: Any, path: str, **options: Any) -> Any:
        known = info(self, path, **options)
        return {**known, "size": known["size"] + size} if path.endswith("r.parquet") else known

    monkeypatch.setattr(MemoryFileSystem, "info", other)
    assert fault("memory://r.parquet") == "memory://r.parquet: broke off, or changed, while it was copied; start again"


def test_what_is_written_again_while_it_is_copied_is_refused(
    store: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, "r.csv", b"zip,age\n1,2\n")
    created = copying._created

    def rewriting(target: Path) -> Any:
        put(store, "r.csv", b"zip,age\n3,4\n")
        return created(target)

    monkeypatch.setattr(copying, "_created", rewriting)
    assert fault("memory://r.csv") == "memory://r.csv: changed while it was copied; start again when it is complete"


@pytest.mark.parametrize("error", [PermissionError, OSError, ValueError, RuntimeError])
def test_errors_of_a_store_are_fixed_sentences(
    store: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def failing(*_: Any, **__: Any) -> None:
        raise error("SECRET at https://key:SECRET@host")

    put(store, "r.csv", b"a\n1\n")
    monkeypatch.setattr(MemoryFileSystem, "open", failing)
    said = fault("memory://r.csv")
    assert said.startswith("memory://r.csv: ")
    assert "the credentials that the environment gives" in said
    assert "SECRET" not in said


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("s3://bucket/r.csv", "s3://bucket/r.csv"),
        ("s3://KEY:sec/ret@bucket/r*.csv", "s3://bucket/r*.csv"),
        ("s3://bucket/a?.csv", "s3://bucket/a?.csv"),
        ("s3://bucket/a.csv?versionId=1", "s3://bucket/a.csv"),
        ("https://u:p@host:80/r.csv?sig=x#y", "https://host:80/r.csv"),
        ("https://u@host/r.csv?token", "https://host/r.csv"),
        ("abfs://c@account.dfs.core.windows.net/r.csv", "abfs://c@account.dfs.core.windows.net/r.csv"),
        ("abfs://c:key@account/r.csv", "abfs://account/r.csv"),
        ("sftp://me:secret@host/r.csv", "sftp://host/r.csv"),
    ],
)
def test_credentials_are_not_reported(url: str, shown: str) -> None:
    assert without_credentials(url) == shown


@pytest.mark.parametrize("table", ["r.csv", "C:/r.csv", Path("s3://b/r.csv"), TABLE, "postgresql://h/d", "s3:r", None])
def test_what_is_left_to_others(table: Any) -> None:
    assert not is_remote(table)


@pytest.mark.parametrize("scheme", ["gs", "s3", "https"])
def test_the_error_names_the_extra_and_the_package(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("fsspec", SCHEMES[scheme]):
        monkeypatch.setitem(sys.modules, module, None)
    assert fault(f"{scheme}://u:SECRET@bucket/r.csv") == (
        f"{scheme}://bucket/r.csv: needs fsspec and what it takes for {scheme}://; "
        f'pip install "tcdp-audit[remote]" "{SCHEMES[scheme]}"'
    )


class Office(SimpleHTTPRequestHandler):
    """A server with a locked door, an answer that breaks off, and a page that is never there."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        Office.asked.append(self.path)
        wanted = "Basic " + base64.b64encode(b"ann:SECRET").decode()
        if self.path.startswith("/locked") and self.headers.get("Authorization") != wanted:
            self.send_error(403)
        elif self.path.startswith("/broken"):
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b"zip,age\n1,SECRET\n")
        else:
            super().do_GET()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    Office.asked.clear()
    (tmp_path / "locked").mkdir()
    for name in ("r.csv", "locked/r.csv"):
        (tmp_path / name).write_text("zip,age\n02139,1\n02139,2\n")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Office, directory=str(tmp_path))) as office:
        thread = threading.Thread(target=office.serve_forever)
        thread.start()
        yield f"127.0.0.1:{office.server_port}"
        office.shutdown()
        thread.join()


def test_a_web_server_is_asked_for_what_was_named_and_nothing_else(server: str, tmp_path: Path) -> None:
    with opened(f"http://{server}/r.csv?sig=SECRET") as engine:
        assert engine.table().to_pylist() == [{"zip": "02139", "age": "1"}, {"zip": "02139", "age": "2"}]
        assert engine.sha256() == hashlib.sha256((tmp_path / "r.csv").read_bytes()).hexdigest()
        assert engine.uri == f"http://{server}/r.csv"
    assert set(Office.asked) == {"/r.csv?sig=SECRET"}


def test_faults_of_a_web_server_are_sentences(server: str) -> None:
    where = f"http://{server}"
    assert fault(f"{where}/none.csv").startswith(f"{where}/none.csv: no such file")
    assert fault(f"{where}/locked/r.csv").startswith(f"{where}/locked/r.csv: the server denies access (403); ")
    assert len(rows(f"http://ann:SECRET@{server}/locked/r.csv")) == 2
    said = fault(f"http://ann:SECRET@{server}/broken.csv")
    assert said.startswith(f"{where}/broken.csv: ")
    assert "SECRET" not in said
    assert "unknown kind of file" in fault(where)


def test_no_report_has_the_credentials(server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy = tmp_path / "p.tcdp.yaml"
    url = f"http://ann:SECRET@{server}/locked/r.csv?sig=SECRET"
    policy.write_text(
        f"version: 1\nrelease: {url}\nattributes:\n  zip: {{role: quasi_identifier}}\n"
        "  age: {role: insensitive}\nexpect:\n- k_anonymity: {k: 2}\n"
    )
    reports = [tmp_path / f"report{suffix}" for suffix in (".html", ".md", ".json")]
    arguments = [word for path in reports for word in ("--report", str(path))]
    assert run("check", [url, "--policy", str(policy), *arguments]) == 0
    printed = capsys.readouterr()
    for text in (*(path.read_text() for path in reports), printed.out, printed.err):
        assert "SECRET" not in text
    assert json.loads(reports[2].read_text())["release"]["uri"] == f"http://{server}/locked/r.csv"


def test_the_policy_names_remote_tables_and_fix_writes_local_ones(store: MemoryFileSystem, tmp_path: Path) -> None:
    put(store, "r.parquet", TABLE)
    put(store, "o.parquet", TABLE)
    policy = {
        **POLICY,
        "release": "memory://r.parquet",
        "original": "memory://o.parquet",
        "rows_aligned": True,
        "attributes": {"zip": {"role": "quasi_identifier", "scale": "nominal"}, "age": {"role": "insensitive"}},
        "expect": [{"k_anonymity": {"k": 5}}, {"exact_match_rate": {}}],
        "remedy": [{"suppression": {"of": "cells"}}],
    }
    done = fix(None, policy, output=tmp_path / "fixed.csv", keep_failing=True, plugins=PLUGINS)
    assert done.before.release.uri == "memory://r.parquet"
    assert done.before.companions["original"].uri == "memory://o.parquet"
    assert store.cat("/r.parquet") == store.cat("/o.parquet")


def test_a_key_that_climbs_out_of_the_folder_is_refused(
    store: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, "r/a.parquet", TABLE)
    find = MemoryFileSystem.find
    monkeypatch.setattr(
        MemoryFileSystem,
        "find",
        lambda *given, **options: {f"/r/../{n}": i for n, i in find(*given, **options).items()},
    )
    with pytest.raises(TcdpAuditError, match="has a part that is no name of a folder"):
        opened("memory://r")
