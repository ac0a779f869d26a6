"""The built-in engines other than the embedded one, and the tables that each accepts.

database     tables, views and queries of databases
remote       files in object stores and on servers
statistics   files of SPSS, Stata and SAS
workbooks    workbooks of Excel and LibreOffice
fixed_width  text in fixed width
published_tables  tables of figures in the formats of statistical offices
table_formats  versions of tables of Delta Lake and Iceberg, datasets of pyarrow
spark        DataFrames and tables of Spark

Whether an engine accepts a table is decided here, without any import; its library is imported when a table is opened.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcdp_audit.plugin._internal import scheme_of
from tcdp_audit.plugin.check import hookimpl
from tcdp_audit.plugin.engine import DatabaseTable, EngineOpener, UsageError

if TYPE_CHECKING:
    from tcdp_audit.plugin.engine import Engine

DIALECTS = frozenset(
    ("postgresql", "postgres", "sqlite", "duckdb", "mysql", "mariadb", "oracle", "mssql", "snowflake", "bigquery")
)
SCHEMES = {  # of object stores and servers, and the package that fsspec needs for each
    "abfs": "adlfs",
    "abfss": "adlfs",
    "az": "adlfs",
    "ftp": "",
    "gcs": "gcsfs",
    "gs": "gcsfs",
    "hdfs": "pyarrow",
    "hf": "huggingface_hub",
    "http": "aiohttp",
    "https": "aiohttp",
    "memory": "",
    "oci": "ocifs",
    "oss": "ossfs",
    "s3": "s3fs",
    "s3a": "s3fs",
    "sftp": "paramiko",
    "smb": "smbprotocol",
    "ssh": "paramiko",
    "webhdfs": "requests",
}
STATISTICAL = (".dta", ".por", ".sas7bdat", ".sav", ".xpt", ".zsav")
WORKBOOKS = (".ods", ".xls", ".xlsb", ".xlsm", ".xlsx")
FIXED_WIDTH = (".asc", ".dat", ".fwf", ".txt")
PUBLISHED = (".px", ".json", ".sdmx.csv")
SPARK_SCHEME = "spark:"


def is_database(release: Any) -> bool:
    """Whether something is the address of a database's table, or a `DatabaseTable`. Imports nothing."""
    if isinstance(release, DatabaseTable):
        return True
    dialect = scheme_of(release).partition("+")[0]
    return bool(dialect) and (dialect in DIALECTS or dialect in _installed())


@cache
def _installed() -> frozenset[str]:
    """The dialects that other packages bring."""
    return frozenset(entry.name.partition(".")[0] for entry in entry_points(group="sqlalchemy.dialects"))


def open_database(release: Any, name: str, memory: int) -> Engine:
    """Open what `is_database` accepts; `name` is not used, as a table has a name already.

    Raises:
        UsageError: the address is wrong, the server does not let one in, or there is no such table.
    """
    if find_spec("sqlalchemy") is None:
        scheme = scheme_of(release)
        extra = "postgresql" if scheme.startswith("postgres") else "sql"
        raise UsageError(f'{f"{scheme}://…" if scheme else name}: needs SQLAlchemy; pip install "tcdp-audit[{extra}]"')
    from tcdp_audit_plugins.engines.database.opening import opened  # noqa: PLC0415 - SQLAlchemy is an extra

    return opened(release, memory)


def is_remote(table: Any) -> bool:
    """Whether a table is a URL of an object store or a server of files."""
    return scheme_of(table) in SCHEMES and "://" in table


def open_remote(table: Any, _: str, memory: int) -> Engine:
    """Open a copy of a remote file, folder or pattern."""
    from tcdp_audit_plugins.engines.remote import open_copied  # noqa: PLC0415 - imports fsspec

    return open_copied(str(table), memory)


def is_statistical(table: Any) -> bool:
    """Whether a table is a file of SPSS, Stata or SAS on this machine, by its extension."""
    return isinstance(table, str | Path) and not scheme_of(table) and Path(table).suffix.lower() in STATISTICAL


def open_statistical(table: Any, _: str, memory: int) -> Engine:
    """Open a file of SPSS, Stata or SAS with the embedded engine."""
    from tcdp_audit_plugins.engines.statistics.reading import open_with_pyreadstat  # noqa: PLC0415 - imports pyarrow

    return open_with_pyreadstat(Path(table), memory)


def is_workbook(table: Any) -> bool:
    """Whether a table is a workbook on this machine, or a sheet of one, by its extension."""
    if not isinstance(table, str | Path) or "://" in str(table):
        return False
    return Path(EngineOpener.split_sheet(str(table))[0]).suffix.lower() in WORKBOOKS


def open_workbook(table: Any, _: str, memory: int) -> Engine:
    """Open a sheet of a workbook with the embedded engine."""
    from tcdp_audit_plugins.engines.workbooks import reading  # noqa: PLC0415 - imports pyarrow

    return reading.open_workbook(str(table), memory)


def write_workbook(table: Any, path: Path) -> None:
    """Write an Arrow table as a fresh workbook."""
    from tcdp_audit_plugins.engines.workbooks import writing  # noqa: PLC0415 - imports pyarrow

    writing.write_workbook(table, path)


def require_workbook(table: Any, shown: str) -> None:
    """Refuse a table that a workbook cannot hold exactly."""
    from tcdp_audit_plugins.engines.workbooks import writing  # noqa: PLC0415 - imports pyarrow

    writing.require_workbook(table, shown)


def is_fixed_width(table: Any) -> bool:
    """Whether a table is text in fixed width on this machine, by its extension."""
    return isinstance(table, str | Path) and not scheme_of(table) and Path(table).suffix.lower() in FIXED_WIDTH


def open_fixed_width(table: Any, _: str, memory: int) -> Engine:
    """Open text in fixed width with the embedded engine."""
    from tcdp_audit_plugins.engines import fixed_width  # noqa: PLC0415 - imports pyarrow

    return fixed_width.open_fixed_width(Path(table), memory)


def is_published(table: Any) -> bool:
    """Whether a table is a file of PC-Axis, JSON-stat or SDMX-CSV on this machine, by its name."""
    return isinstance(table, str | Path) and not scheme_of(table) and Path(table).name.lower().endswith(PUBLISHED)


def open_published(table: Any, _: str, memory: int) -> Engine:
    """Open a table of figures of a statistical office with the embedded engine."""
    from tcdp_audit_plugins.engines import published_tables  # noqa: PLC0415 - imports pyarrow

    return published_tables.open_published(Path(table), memory)


def is_delta(table: Any) -> bool:
    """Whether it is the address of a Delta table, or a `DeltaTable`."""
    if isinstance(table, str):
        return table.startswith("delta:")
    return type(table).__name__ == "DeltaTable" and type(table).__module__.startswith("deltalake.")


def is_iceberg(table: Any) -> bool:
    """Whether it is the address of an Iceberg table, or a table or a scan of pyiceberg."""
    if isinstance(table, str):
        return table.startswith("iceberg:")
    names = ("Table", "StaticTable", "DataScan")
    return type(table).__name__ in names and type(table).__module__.startswith("pyiceberg.table")


def is_dataset(table: Any) -> bool:
    """Whether it is a dataset of pyarrow."""
    return type(table).__module__ == "pyarrow._dataset" and type(table).__name__.endswith("Dataset")


def open_table_format(table: Any, name: str, memory: int) -> Engine:
    """Open what `is_delta`, `is_iceberg` or `is_dataset` accepts."""
    from tcdp_audit_plugins.engines import table_formats  # noqa: PLC0415 - imports pyarrow

    open_one = table_formats.open_delta if is_delta(table) else table_formats.open_iceberg
    return (table_formats.open_dataset if is_dataset(table) else open_one)(table, name, memory)


def is_of_spark(table: Any) -> bool:
    """Whether it is a DataFrame of Spark's, of a classic session or of Connect, or a location on a cluster."""
    if isinstance(table, str):
        return table.startswith(SPARK_SCHEME)
    return type(table).__name__ == "DataFrame" and type(table).__module__.startswith("pyspark.sql.")


def open_with_spark(table: Any, name: str, memory: int) -> Engine:
    """Open what `is_of_spark` accepts.

    Raises:
        UsageError: Spark is not installed, or there is nothing after the scheme.
        DataError: Spark cannot read the table.
    """
    if find_spec("pyspark") is None or find_spec("pandas") is None:  # Spark's workers import pandas
        raise UsageError('spark: needs Spark; pip install "tcdp-audit[spark]"')
    from tcdp_audit_plugins.engines.spark.opening import engine_over  # noqa: PLC0415 - imports Spark

    return engine_over(table, name, memory)


DATABASE = EngineOpener(
    name="database",
    title="Databases",
    summary="A table, view or query of a database, as `DIALECT://HOST/DATABASE?table=SCHEMA.TABLE`",
    accepts=is_database,
    open=open_database,
)
REMOTE_FILES = EngineOpener(
    name="remote_files",
    title="Object stores and servers",
    summary="Files, folders and patterns at s3://, gs://, abfs://, https:// and the like; needs tcdp-audit[remote].",
    accepts=is_remote,
    open=open_remote,
)
STATISTICAL_FILES = EngineOpener(
    name="statistical_files",
    title="SPSS, Stata and SAS",
    summary="Files of SPSS (.sav, .zsav, .por), Stata (.dta) and SAS (.sas7bdat, .xpt); needs tcdp-audit[statistics].",
    accepts=is_statistical,
    open=open_statistical,
    instead="write .csv, which SPSS, Stata and SAS import",
)
WORKBOOK_FILES = EngineOpener(
    name="workbooks",
    title="Excel and LibreOffice",
    summary="A sheet of a workbook (.xlsx, .xlsm, .xlsb, .xls, .ods), as people.xlsx#Sheet; needs tcdp-audit[excel].",
    accepts=is_workbook,
    open=open_workbook,
    writes=(".xlsx",),
    write=write_workbook,
    require=require_workbook,
    instead="write .xlsx, which the programs of other kinds open and save",
)
FIXED_WIDTH_FILES = EngineOpener(
    name="fixed_width",
    title="Text in fixed width",
    summary="Text whose columns have the same places in every line (.txt, .dat, .asc, .fwf), which a layout names.",
    accepts=is_fixed_width,
    open=open_fixed_width,
    instead="a generalised cell such as [20, 30[ has no room in the layout, so write .csv, .tsv or .parquet",
)
PUBLISHED_TABLES = EngineOpener(
    name="published_tables",
    title="PC-Axis, JSON-stat and SDMX",
    summary="Tables of figures as statistical offices publish them: PC-Axis (.px), JSON-stat (.json), .sdmx.csv",
    accepts=is_published,
    open=open_published,
)
DELTA = EngineOpener(
    name="delta",
    title="Delta Lake",
    summary="A version of a Delta table, as delta:PATH@3, or a DeltaTable; needs tcdp-audit[delta].",
    accepts=is_delta,
    open=open_table_format,
)
ICEBERG = EngineOpener(
    name="iceberg",
    title="Apache Iceberg",
    summary="A snapshot of an Iceberg table, as iceberg:CATALOGUE.NAMESPACE.TABLE@ID; needs tcdp-audit[iceberg].",
    accepts=is_iceberg,
    open=open_table_format,
)
DATASETS = EngineOpener(
    name="datasets",
    title="Datasets of pyarrow",
    summary="A pyarrow Dataset, scanned column by column.",
    accepts=is_dataset,
    open=open_table_format,
)
SPARK = EngineOpener(
    name="spark",
    title="Spark",
    summary="A Spark DataFrame, or spark:PATH for Parquet files and spark:TABLE for a table of the catalogue.",
    accepts=is_of_spark,
    open=open_with_spark,
)
OF_FILES = (
    STATISTICAL_FILES,
    WORKBOOK_FILES,
    FIXED_WIDTH_FILES,
    PUBLISHED_TABLES,
)  # which open files of kinds that the embedded engine does not read


@hookimpl
def tcdp_audit_engines() -> Iterator[EngineOpener]:
    """Every built-in engine."""
    yield DATABASE
    yield REMOTE_FILES
    yield STATISTICAL_FILES
    yield WORKBOOK_FILES
    yield FIXED_WIDTH_FILES
    yield PUBLISHED_TABLES
    yield DELTA
    yield ICEBERG
    yield DATASETS
    yield SPARK
