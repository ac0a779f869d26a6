"""The resources of the machine: processors, and memory to work in."""

from __future__ import annotations

import ctypes
import os
import re
from pathlib import Path
from typing import Any

from tcdp_audit.core.base.errors import UsageError

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
LEAST = 64 * 2**20
MOST = 2**50  # a pebibyte: more than any machine has


def processors() -> int:
    """The number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def default_memory() -> int:
    """Three quarters of the memory that is free, in bytes."""
    return free_memory() * 3 // 4


def budget(memory: int | None) -> int:
    """The bytes that a caller gave, or the default. Raises UsageError where it is more than any machine has."""
    if memory is not None and not memory <= MOST:
        raise UsageError("`memory` is more than any machine has; give bytes, at most what is free, or None")
    return memory or default_memory()


def free_memory() -> int:
    """Memory that is available without swapping, in bytes, within the limit of a container.

    Where the system says only what the machine has, as macOS does, half of that.

    Raises:
        UsageError: the system says neither.
    """
    known = [amount for amount in (_proc_available(), _container_limit(), _windows_available()) if amount]
    if known:
        return min(known)
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):
        raise UsageError("how much memory is free cannot be found out here; give --memory, such as 2GiB") from None


def _proc_available() -> int | None:
    try:
        match = re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(encoding="ascii"))
    except OSError:
        return None
    return int(match[1]) * 1024 if match else None


def _windows_available() -> int | None:
    windows: Any = getattr(ctypes, "windll", None)  # only there
    if windows is None:
        return None
    state = _MemoryStatus(dwLength=ctypes.sizeof(_MemoryStatus))
    return int(state.ullAvailPhys) if windows.kernel32.GlobalMemoryStatusEx(ctypes.byref(state)) else None


class _MemoryStatus(ctypes.Structure):
    """MEMORYSTATUSEX of the Windows API."""

    _fields_ = (
        ("dwLength", ctypes.c_uint32),
        ("dwMemoryLoad", ctypes.c_uint32),
        ("ullTotalPhys", ctypes.c_uint64),
        ("ullAvailPhys", ctypes.c_uint64),
        ("ullTotalPageFile", ctypes.c_uint64),
        ("ullAvailPageFile", ctypes.c_uint64),
        ("ullTotalVirtual", ctypes.c_uint64),
        ("ullAvailVirtual", ctypes.c_uint64),
        ("ullAvailExtendedVirtual", ctypes.c_uint64),
    )


def _container_limit() -> int | None:
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii").strip()
        used = Path("/sys/fs/cgroup/memory.current").read_text(encoding="ascii").strip()
    except OSError:
        return None
    return max(int(limit) - int(used), LEAST) if limit.isdigit() else None


def parse_memory(text: str) -> int:
    """An amount such as `1GiB` or `800MB` in bytes.

    Raises:
        UsageError: it is no amount, less than 64 MiB, or more than any machine has.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]i?)?b?\s*", text.lower())
    if match is None:
        raise UsageError(f"{text!r} is not an amount of memory; write for example 1GiB or 800MB")
    try:
        amount = int(float(match[1]) * _UNITS[match[2] or ""])
    except OverflowError:
        amount = MOST + 1
    if amount > MOST:
        raise UsageError(f"{text} is more memory than any machine has; give at most what is free, or nothing")
    if amount < LEAST:
        raise UsageError(f"{text} is too little memory to work in; give at least 64MiB")
    return amount
