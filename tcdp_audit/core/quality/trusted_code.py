"""Code that a policy names: run where it is installed, or where somebody has said that it is trusted.

A policy is data, which may come from anybody. A module that lies beside it, or in the current folder, is not imported
unasked. Installed is what `pip` has put into a folder of this Python's packages, or has registered there (editable).
"""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType

from tcdp_audit.core.policy import Policy

EDITABLE = "__editable__"  # what the finders of editable installations are called
UNTRUSTED = (
    "is code that is not installed; code beside a policy runs only with --trust-policy-code (in Python: "
    "load_policy(..., trust_policy_code=True)), or if this program has imported it"
)


class UntrustedError(Exception):
    """The module is not installed, and the policy's own code is not trusted."""


def module_of(name: str, policy: Policy) -> ModuleType:
    """A module that a policy names, imported.

    Args:
        name: with dots.
        policy: it; where its code is trusted, a module is looked for in the current folder, too.

    Raises:
        UntrustedError: it is not installed, not imported by this program, and not trusted.
        ImportError: it cannot be imported. Whatever else its code raises is raised as well.
    """
    if policy.trusts_code:
        with _path([*sys.path, os.getcwd()]):  # noqa: PTH109 - an entry of sys.path; last, so that it replaces nothing
            return import_module(name)
    if name in sys.modules:
        return sys.modules[name]
    folders = [one for one in _folders_of_packages() if not _same(one, policy.directory)]
    if "__main__" in name.split(".") or not _is_installed(name.partition(".")[0], folders):
        raise UntrustedError
    with _path([*_folders_of_python(), *folders]):
        return import_module(name)


def _is_installed(top: str, folders: list[str]) -> bool:
    """Whether a package of this name is found in folders of packages; nothing is imported."""
    if PathFinder.find_spec(top, folders) is not None:
        return True
    finders = [one for one in sys.meta_path if getattr(one, "__module__", "").startswith(EDITABLE)]
    return any(one.find_spec(top, None) is not None for one in finders)


def _folders_of_packages() -> list[str]:
    """The entries of the path that are folders of packages, or that a file of paths in one of them names."""
    own = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages()}
    if site.ENABLE_USER_SITE:
        own.add(site.getusersitepackages())
    named = {str(Path(folder, line)) for folder in own for line in _lines(folder)}
    return [one for one in sys.path if one and any(_same(one, other) for other in (*own, *named))]


def _lines(folder: str) -> Iterator[str]:
    """The folders that the files of paths in a folder of packages name."""
    for file in sorted(Path(folder).glob("*.pth")):
        try:
            lines = file.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            continue
        yield from (
            line.strip() for line in lines if line.strip() and not line.startswith(("#", "import ", "import\t"))
        )


def _folders_of_python() -> list[str]:
    """The entries of the path that are Python's own."""
    own = [os.path.realpath(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")]
    return [one for one in sys.path if one and any(Path(os.path.realpath(one)).is_relative_to(root) for root in own)]


def _same(one: str | Path, other: str | Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


@contextmanager
def _path(entries: list[str]) -> Iterator[None]:
    """For a while, look for modules in these folders only."""
    before = sys.path
    sys.path = entries
    try:
        yield
    finally:
        sys.path = before
