"""Judges of a release's quality that a policy names next to its expectations. Imported only where a policy names it.

frame                                          the release as a pandas frame
pandera_schema, pandera                        a pandera schema: loaded if its code may run, its failures as outcomes
great_expectations_suite, great_expectations   an expectation suite: likewise
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

NO_JSON = "is not JSON in UTF-8 in which each key occurs once"
EXTRAS = {
    "pandera": 'needs pandera; pip install "tcdp-audit[pandera]"',
    "pandas": 'needs pandera; pip install "tcdp-audit[pandera]"',
    "great_expectations": 'needs Great Expectations; pip install "tcdp-audit[great-expectations]"',
}


def installed(library: str) -> bool:
    """True if a library can be imported. A folder of its name, such as `great_expectations`, is something else."""
    spec = find_spec(library)
    return spec is not None and spec.origin is not None


def missing_extra(library: str) -> str:
    """Advice to install a library, as the end of a sentence; nothing where it is installed."""
    return "" if installed(library) else EXTRAS[library]


def read_json(path: Path) -> Any:
    """The content of a JSON file in which no key occurs twice: only the last value would be read.

    Raises:
        ValueError: it cannot be read, or is not JSON in which each key occurs once; the text says so without cells.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_once_each)
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise ValueError(NO_JSON) from None


def _once_each(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        raise ValueError
    return mapping
