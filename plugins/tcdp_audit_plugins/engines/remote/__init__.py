"""Tables in object stores and on servers, by URL: copied through fsspec, and read as local files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tcdp_audit.plugin._internal import scheme_of
from tcdp_audit.plugin.engine import EngineOpener

if TYPE_CHECKING:
    from tcdp_audit.plugin.engine import Engine

SCHEMES = {  # and the package that fsspec needs for each
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


def is_remote(table: Any) -> bool:
    """Whether a table is a URL of an object store or a server of files."""
    return scheme_of(table) in SCHEMES and "://" in table


def open_remote(table: Any, _: str, memory: int) -> Engine:
    """The engine over a copy of a remote file, folder or pattern."""
    from tcdp_audit_plugins.engines.remote.copying import open_copied  # noqa: PLC0415 - imports fsspec

    return open_copied(str(table), memory)


REMOTE_FILES = EngineOpener(
    name="remote_files",
    title="Object stores and servers",
    summary="Files, folders and patterns at s3://, gs://, abfs://, https:// and the like; needs tcdp-audit[remote].",
    accepts=is_remote,
    open=open_remote,
)
