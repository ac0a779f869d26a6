"""The page by which anyone can confirm a result without this program, and its digest, which reports name."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files

from tcdp_audit.core.base.errors import TcdpAuditError

PACKAGE, NAME = "tcdp_audit.core.results", "verifier.html"


@cache
def verifier_page() -> str:
    """The page's HTML: plain JavaScript, without a dependency and without a request.

    Raises:
        TcdpAuditError: it is not part of this installation.
    """
    try:
        return files(PACKAGE).joinpath(NAME).read_bytes().decode()
    except (FileNotFoundError, ModuleNotFoundError):
        problem = f"{NAME} is missing from {PACKAGE}: the installation is incomplete; reinstall it"
        raise TcdpAuditError(problem) from None


@cache
def verifier_digest() -> str:
    """SHA-256 of the page, as `tcdp-audit verifier` writes it."""
    return hashlib.sha256(verifier_page().encode()).hexdigest()
