"""The result inside an HTML report: JSON as zlib compresses it, in base64, since plain it is half of a large report."""

from __future__ import annotations

import base64
import binascii
import re
import zlib

from tcdp_audit.core.base.errors import ResultError

BEGINNING = re.compile(r"<template\b[^<>]*>")
MARK, END = 'id="tcdp-audit-result"', "</template>"
LARGEST = 2**26  # bytes that a result may unpack to


def embedded(page: str) -> list[tuple[int, int]]:
    """Where the results in a report begin and end; no more than two. Cost: linear in the page, whatever is in it."""
    places: list[tuple[int, int]] = []
    for start in BEGINNING.finditer(page):
        if MARK in start[0] and len(places) < 2:
            end = page.find(END, start.end())
            if end < 0:
                break
            places.append((start.end(), end))
    return places


def embed_result(text: str) -> str:
    """A JSON text as a report holds it. Nothing in it is markup."""
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def unpacked(text: str, name: str) -> str:
    """The JSON text that a report holds, packed, or plain as older reports have it.

    Args:
        text: what stands in the report.
        name: what messages call it.

    Raises:
        ResultError: it cannot be unpacked, or not to its end.
    """
    if text.lstrip()[:1] in ("{", "["):
        return text
    stream = zlib.decompressobj()
    try:
        unpacked = stream.decompress(base64.b64decode(text, validate=True), LARGEST)
        if stream.unconsumed_tail:
            raise ResultError(f"{name}: unpacks to more than {LARGEST:,} bytes")
        if not stream.eof or stream.unused_data:
            raise ResultError(f"{name}: is cut off, or has something after its end")
        return unpacked.decode("utf-8")
    except (binascii.Error, zlib.error, ValueError):
        raise ResultError(f"{name}: is not JSON, packed by zlib in base64 or plain") from None


def with_plain_result(page: str, name: str) -> str:
    """A report with its result as plain JSON: two builds of zlib pack one text in two ways."""
    for begin, end in reversed(embedded(page)):
        page = f"{page[:begin]}{unpacked(page[begin:end], name)}{page[end:]}"
    return page
