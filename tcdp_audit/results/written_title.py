"""The verdict of a result that was written, in a few words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tcdp_audit.results.verdict import key_among, title_of
from tcdp_audit.written.audit import is_structural, useless_in, verdict_in


def is_approval(result: Mapping[str, Any]) -> bool:
    """Whether a written result approves of the very file that it is about; with a key in it only inside."""
    key, stays_inside = _key(result)
    return verdict_in(result) == "passed" and (not key or stays_inside)


def title_in(result: Mapping[str, Any]) -> str:
    """The verdict of a written result, put together anew: the title that stands in it is not believed.

    Args:
        result: in the published JSON contract.
    """
    key, stays_inside = _key(result)
    return title_of(verdict_in(result), useless_in(result), key, stays_inside=stays_inside)


def _key(result: Mapping[str, Any]) -> tuple[str, bool]:
    return key_among((str(one["check"]), is_structural(one), one["details"]) for one in result["outcomes"])
