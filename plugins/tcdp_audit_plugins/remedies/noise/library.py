"""OpenDP, which is needed for noise only."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tcdp_audit.remedy import RemedyError


def opendp() -> Any:
    """OpenDP's public interface, with the mechanisms that its contributors have proven but not yet vetted.

    Raises:
        RemedyError: it is not installed.
    """
    try:
        library = import_module("opendp.prelude")
    except ModuleNotFoundError:
        raise RemedyError("noise needs OpenDP; install tcdp-audit[dp]") from None
    library.enable_features("contrib")
    return library
