"""A URL as messages and provenance name it: without credentials, and without its query, which may be a signature."""

from __future__ import annotations

from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from tcdp_audit.plugin._internal import scheme_of

WEB = ("http", "https")
_CONTAINERS = ("abfs", "abfss")  # a name before @ is that of a container


def without_credentials(url: str) -> str:
    """A URL that says where a table is and not how to get in.

    Example:
        >>> without_credentials("https://ann:secret@example.org/r.csv?sig=abc")
        'https://example.org/r.csv'
        >>> without_credentials("abfs://people@office.dfs.core.windows.net/r.parquet")
        'abfs://people@office.dfs.core.windows.net/r.parquet'
    """
    scheme, rest = scheme_of(url), url.split("://", 1)[1]
    rest = rest.split("#")[0].split("?")[0] if scheme in WEB or "=" in rest.partition("?")[2] else rest
    user, at, place = rest.rpartition("@")
    if at and scheme in _CONTAINERS and not {":", "/"} & set(user):
        return f"{scheme}://{rest}"
    return f"{scheme}://{place}"


def file_name(url: str, path: str) -> str:
    """The name of a file at a URL, from its path; a query is no part of it."""
    name = urlsplit(url).path if scheme_of(url) in WEB else path
    return PurePosixPath(unquote(name) if scheme_of(url) in WEB else name).name
