"""Tables of Delta Lake and Apache Iceberg at a version, and datasets of pyarrow.

Both formats keep the rows of every version in one folder, and a log says which of them count. deltalake and pyiceberg
read the log; nothing here reads a file of such a table by itself. A version is scanned column by column.

Deletion vectors and mapped columns of Delta tables are read by deltalake's `QueryBuilder`, one partition at a time, so
that every scan has the records in one order. pyiceberg reads a file at a time for the same reason, and so that no more
than one is in memory. It applies position deletes and deletion vectors, and refuses equality deletes.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa

from tcdp_audit.plugin._internal import TableVersion, require_one_version, scanned_engine
from tcdp_audit.plugin.engine import DataError, Engine, TcdpAuditError, UsageError, redact_errors
from tcdp_audit_plugins.engines.remote import without_credentials

ROWS = 2**18  # in a batch
WAITING = 2  # batches that are read before they are wanted
MOST_IN_MESSAGE = 5  # versions that a message names
_PART = r'"(?:[^"]|"")+"|[^".@]+'
_DELTA = re.compile(r'(?:"(?P<quoted>(?:[^"]|"")+)"|(?P<plain>[^"@]+))(?:@(?P<version>\d{1,18}))?', re.DOTALL)
_ICEBERG = re.compile(rf"(?P<name>(?:{_PART})(?:\.(?:{_PART})){{2,}})(?:@(?P<version>\d{{1,19}}))?")


def _unquoted(text: str) -> str:
    return text[1:-1].replace('""', '"') if text.startswith('"') else text


def _quoted(text: str, odd: str) -> str:
    return '"' + text.replace('"', '""') + '"' if set(odd) & set(text) else text


def _when(milliseconds: Any) -> str:
    """A moment since 1970 as `2026-11-29T05:00:00.123Z`; nothing where there is none."""
    if not isinstance(milliseconds, int):
        return ""
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@contextmanager
def _reading(shown: str, sentence: str) -> Iterator[None]:
    """Turn errors of a library, whose texts may hold cells and passwords, into a sentence with their kind."""
    kind = ""
    try:
        yield
    except TcdpAuditError:
        raise
    except Exception as error:  # noqa: BLE001 - a library of another language raises all kinds
        kind = type(error).__name__
    if kind:
        raise DataError(f"{shown}: {sentence} ({kind})")


@redact_errors()
def open_delta(given: Any, _: str, memory: int) -> Engine:
    """Open `delta:PATH@VERSION`, or a `DeltaTable` at the version that it has.

    Raises:
        UsageError: deltalake is not installed, the address is wrong, or there is no such table or version.
        DataError: the version cannot be read.
    """
    if find_spec("deltalake") is None:
        raise UsageError('delta: needs deltalake; pip install "tcdp-audit[delta]"')
    if not isinstance(given, str):
        return _delta_engine(given, _place(given.table_uri), memory, is_newest=False)
    match = _DELTA.fullmatch(given.removeprefix("delta:"))
    if match is None:
        raise UsageError(
            "delta: is followed by the path of a table and may end in @ and the number of a version, as in "
            'delta:lake/people@3; write a path that holds @ in double quotes, as in delta:"a@b/people"@3'
        )
    path, version = match["plain"] or match["quoted"].replace('""', '"'), match["version"]
    shown = _without_credentials(path)
    if "://" in path and without_credentials(path) != path:
        raise UsageError(
            f"delta:{shown}: an address has no credentials and no query; deltalake reads those of a store from the "
            "environment, such as AWS_ACCESS_KEY_ID"
        )
    return _delta_engine(_delta_table(path, version, shown), shown, memory, is_newest=version is None)


def _without_credentials(path: str) -> str:
    return without_credentials(path) if "://" in path else path


def _place(uri: str) -> str:
    """The path of a local table, and the address of another without credentials."""
    parts = urlsplit(uri)
    return unquote(parts.path).rstrip("/") if parts.scheme == "file" else _without_credentials(uri).rstrip("/")


def _delta_table(path: str, version: str | None, shown: str) -> Any:
    from deltalake import DeltaTable  # noqa: PLC0415 - an extra
    from deltalake.exceptions import TableNotFoundError  # noqa: PLC0415 - likewise

    if "://" not in path and not (Path(path) / "_delta_log").is_dir():
        raise UsageError(f"delta:{shown}: no Delta table is there; name the folder that holds _delta_log")
    try:
        with _reading(f"delta:{shown}", "the table cannot be opened"):
            try:
                newest = DeltaTable(path)
            except TableNotFoundError:
                newest = None
    except DataError as error:
        raise UsageError(str(error)) from None
    if newest is None:
        raise UsageError(f"delta:{shown}: no Delta table is there, or access to it is denied")
    if version is None or int(version) == newest.version():
        return newest
    if int(version) > newest.version():
        raise UsageError(f"delta:{shown}: has no version {int(version)}; its newest is {newest.version()}")
    sentence = f"version {int(version)} cannot be read any more; its log may have been cleaned up"
    with _reading(f"delta:{shown}", sentence):
        return DeltaTable(path, version=int(version))


def _delta_engine(table: Any, shown: str, memory: int, *, is_newest: bool) -> Engine:
    name = f"delta:{_quoted(shown, '@')}@{table.version()}"
    with _reading(name, "the table's log cannot be read"):
        history = [one for one in table.history(1) if one.get("version", table.version()) == table.version()]
        moment = history[0].get("timestamp") if history else None
        identity = TableVersion("Delta Lake", table.metadata().id, str(table.version()), _when(moment), is_newest)
    lost = "a file of this version is gone or damaged, or needs a feature that deltalake lacks"

    def stream(what: str) -> pa.RecordBatchReader:
        from deltalake import QueryBuilder  # noqa: PLC0415 - an extra

        settings = {
            "datafusion.execution.target_partitions": "1",  # one order of records
            "datafusion.execution.batch_size": str(ROWS),
        }
        query = QueryBuilder(settings).register("release", table)
        return pa.RecordBatchReader.from_stream(query.execute(f"SELECT {what} FROM release"))

    def scan(names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        with _reading(name, lost):
            yield from stream(", ".join('"' + one.replace('"', '""') + '"' for one in names))

    with _reading(name, lost):
        records = sum(batch.column(0).to_pylist()[0] for batch in stream("count(*)"))
        schema = pa.schema(stream("*").schema)
    return scanned_engine(scan, schema, records, name, name, memory, identity)


@redact_errors()
def open_iceberg(given: Any, name: str, memory: int) -> Engine:
    """Open `iceberg:CATALOGUE.NAMESPACE.TABLE@SNAPSHOT`, or a table or a scan of pyiceberg.

    Raises:
        UsageError: pyiceberg is not installed, the address is wrong, there is no such table or snapshot, or it has
            what pyiceberg does not read.
        DataError: the snapshot cannot be read.
    """
    if find_spec("pyiceberg") is None:
        raise UsageError('iceberg: needs pyiceberg; pip install "tcdp-audit[iceberg]"')
    if not isinstance(given, str):
        is_table = hasattr(given, "scan")
        parts = _identifier(given, name)
        return _iceberg_engine(given.scan() if is_table else given, parts, memory, is_newest=False)
    match = _ICEBERG.fullmatch(given.removeprefix("iceberg:"))
    if match is None:
        raise UsageError(
            "iceberg: is followed by CATALOGUE.NAMESPACE.TABLE and may end in @ and the identifier of a snapshot, as "
            "in iceberg:prod.health.people@3051729675574597004; write names that hold a dot or @ in double quotes"
        )
    parts = [_unquoted(part) for part in re.findall(_PART, match["name"])]
    table = _iceberg_table(parts)
    snapshot = None if match["version"] is None else int(match["version"])
    if snapshot is not None and table.metadata.snapshot_by_id(snapshot) is None:
        newest = [str(one.snapshot_id) for one in table.metadata.snapshots][-MOST_IN_MESSAGE:]
        raise UsageError(f"{_iceberg(parts)}: has no snapshot {snapshot}; its last are {', '.join(newest) or 'none'}")
    return _iceberg_engine(table.scan(snapshot_id=snapshot), parts, memory, is_newest=snapshot is None)


def _iceberg(parts: Sequence[str]) -> str:
    return "iceberg:" + ".".join(_quoted(part, '.@"') for part in parts)


def _identifier(given: Any, name: str) -> list[str]:
    """The names of a table that a program passes, as far as it knows them."""
    catalogue = str(getattr(getattr(given, "catalog", None), "name", None) or "catalogue")
    own = given.name() if callable(getattr(given, "name", None)) else getattr(given, "table_identifier", None)
    return [catalogue, *(own or ("namespace", name))]


def _iceberg_table(parts: Sequence[str]) -> Any:
    from pyiceberg.catalog import load_catalog  # noqa: PLC0415 - an extra
    from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError  # noqa: PLC0415 - likewise

    shown = _iceberg(parts)
    try:
        with _reading(shown, "the catalogue cannot be opened"):
            catalogue = load_catalog(parts[0])
    except DataError as error:
        variable = f"PYICEBERG_CATALOG__{parts[0].upper()}__URI"
        raise UsageError(
            f"{error}; describe it in .pyiceberg.yaml or in the environment, as {variable}, and install what its type "
            "needs"
        ) from None
    with _reading(shown, "the catalogue or its store does not give the table"):
        try:
            return catalogue.load_table(tuple(parts[1:]))
        except (NoSuchTableError, NoSuchNamespaceError):
            pass
    raise UsageError(f"{shown}: the catalogue has no such table")


def _is_news(record: logging.LogRecord) -> bool:
    """Whether what pyiceberg logs is no remark on dictionaries, of which it has one for each batch."""
    return not str(record.msg).startswith("Iceberg does not have a dictionary type")


def _iceberg_engine(scan: Any, parts: Sequence[str], memory: int, *, is_newest: bool) -> Engine:
    snapshot, metadata = scan.snapshot(), scan.table_metadata
    if snapshot is None:
        raise DataError(f"{_iceberg(parts)}: the table has no snapshot, so nothing has been written into it yet")
    name = f"{_iceberg(parts)}@{snapshot.snapshot_id}"
    if getattr(scan, "limit", None) is not None:
        raise UsageError(
            f"{name}: a scan with a limit reads some rows only, and which ones is left to chance; pass one without it"
        )
    version = TableVersion(
        "Iceberg",
        str(metadata.table_uuid),
        str(snapshot.snapshot_id),
        _when(snapshot.timestamp_ms),
        is_newest,
        _part(scan, snapshot),
    )
    tasks = _planned(scan, name)
    logging.getLogger("pyiceberg.io.pyarrow").addFilter(_is_news)
    from pyiceberg.io.pyarrow import ArrowScan, schema_to_pyarrow  # noqa: PLC0415 - an extra
    from pyiceberg.schema import Schema  # noqa: PLC0415 - likewise

    with _reading(name, "the table's schema cannot be read"):
        projection = scan.projection()
        fields = {field.name: field for field in projection.fields}
        schema = schema_to_pyarrow(projection, include_field_ids=False)
    schema = pa.schema([_narrow(field) for field in schema])

    def read(names: Sequence[str], some: Iterable[Any]) -> Iterator[pa.RecordBatch]:
        wanted = Schema(*(fields[one] for one in names), schema_id=projection.schema_id)
        texts = tuple(one for one in names if schema.field(one).type == pa.string()) if len(names) == 1 else ()
        own = (metadata, scan.io, wanted, scan.row_filter, scan.case_sensitive)
        reader = ArrowScan(*own, dictionary_columns=texts)  # what a file has as a dictionary is counted as one
        with _reading(name, "a file of this snapshot is gone or damaged, or needs what pyiceberg lacks"):
            for task in some:
                for batch in reader.to_record_batches([task]):
                    yield batch.select(list(names))

    first = [field.name for field in schema][:1]
    counted = [task for task in tasks if _is_whole(task)]
    others = [task for task in tasks if not _is_whole(task)]
    records = sum(task.file.record_count for task in counted) + sum(len(batch) for batch in read(first, others))
    return scanned_engine(lambda names: read(names, tasks), schema, records, name, name, memory, version)


def _part(scan: Any, snapshot: Any) -> str:
    """A noun phrase for the part of its snapshot that a scan reads; empty for all of it as it was written."""
    from pyiceberg.expressions import AlwaysTrue  # noqa: PLC0415 - an extra

    if scan.row_filter != AlwaysTrue() or "*" not in scan.selected_fields:
        return "of which a scan chose rows or columns"
    schema = scan.projection().schema_id
    return f"in schema {schema}" if snapshot.schema_id is not None and schema != snapshot.schema_id else ""


def _planned(scan: Any, name: str) -> list[Any]:
    """The files of a scan."""
    with _reading(name, "the list of the snapshot's files cannot be read"):
        try:
            return list(scan.plan_files())
        except (ValueError, NotImplementedError) as error:
            if "equality delete" not in str(error):
                raise
    raise UsageError(
        f"{name}: has equality deletes, which pyiceberg does not apply: rows that were deleted would be judged; "
        "rewrite the table's files (compaction) with the program that wrote it, and audit the snapshot after that"
    )


def _is_whole(task: Any) -> bool:
    """Whether all records of a file are read, so that its number of records is known."""
    from pyiceberg.expressions import AlwaysTrue  # noqa: PLC0415 - an extra

    return not task.delete_files and task.residual == AlwaysTrue()


def _narrow(field: pa.Field) -> pa.Field:
    """A field of large texts or bytes as one of plain ones, as Parquet files of the table have it."""
    kinds = {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}
    return pa.field(field.name, kinds.get(field.type, field.type), field.nullable)


@redact_errors()
def open_dataset(given: Any, name: str, memory: int) -> Engine:
    """Open a dataset of pyarrow.

    Raises:
        UsageError: a file of it belongs to a table format, whose folder holds the rows of earlier versions.
        DataError: it cannot be read.
    """
    import pyarrow.dataset as ds  # noqa: PLC0415 - late, as everything large

    for files, paths in _files_of(given):
        places = {place for path in paths for place in (os.path.abspath(path), os.path.realpath(path))}  # noqa: PTH100
        require_one_version(name, places if files.type_name == "local" else paths, partial(_holds, files))

    def scan(names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        columns = {one: ds.field(one) for one in names}
        with _reading(name, "the dataset cannot be read"):
            scanner = given.scanner(columns=columns, batch_size=ROWS, batch_readahead=WAITING, fragment_readahead=1)
            yield from scanner.to_batches()

    with _reading(name, "the dataset cannot be read"):
        records = given.count_rows()
    return scanned_engine(scan, given.schema.remove_metadata(), records, name, f"memory:{name}", memory)


def _files_of(given: Any) -> Iterator[tuple[Any, list[str]]]:
    """The file systems of a dataset, and of the datasets that it joins, each with the paths of its files.

    Those that a library of a table format chose have a file system of that library.
    """
    for child in getattr(given, "children", ()):
        yield from _files_of(child)
    files = getattr(given, "filesystem", None)
    if files is None or type(getattr(files, "handler", None)).__module__.startswith("deltalake"):
        return
    paths = list(given.files)
    while hasattr(files, "base_fs"):  # a part of another
        files, paths = files.base_fs, [f"{files.base_path.rstrip('/')}/{path}" for path in paths]
    yield files, paths


def _holds(files: Any, folder: str, logs: Sequence[str]) -> bool:
    """Whether a folder of a store has something that fits one of some patterns."""
    return any(_fits(files, folder, log.split("/")) for log in logs)


def _fits(files: Any, folder: str, pattern: Sequence[str]) -> bool:
    from pyarrow import fs  # noqa: PLC0415 - late, as everything large

    try:
        entries = files.get_file_info(fs.FileSelector(folder, allow_not_found=True))
    except OSError:  # access is denied further up
        return False
    here = [one for one in entries if fnmatchcase(one.base_name, pattern[0])]
    return any(len(pattern) == 1 or _fits(files, one.path, pattern[1:]) for one in here)
