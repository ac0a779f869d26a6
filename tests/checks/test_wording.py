"""What every built-in check says, against a file a check; TCDP_AUDIT_GOLDEN=write writes them anew."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from asked_tables import EXPECT, TABLES, is_asked, outcomes

from tcdp_audit.core.base.outcome import Outcome

WORDING = Path(__file__).parent / "wording"
SHOWN = (("one alone", True), ("three groups", False))  # tables with and without a unit, whose people have a name


@pytest.mark.parametrize("check", sorted(EXPECT))
def test_a_check_says_what_its_file_says(check: str) -> None:
    path, text = WORDING / f"{check}.md", "".join(_sections(check))
    if os.environ.get("TCDP_AUDIT_GOLDEN") == "write":
        path.write_text(text, encoding="utf-8", newline="\n")
    assert path.read_text(encoding="utf-8") == text


def test_every_file_is_of_a_check() -> None:
    assert {path.stem for path in WORDING.iterdir()} == EXPECT.keys()


def _sections(check: str) -> Iterator[str]:
    yield f"# {check}\n"
    for name, named in SHOWN:
        for unit in (False, True):
            own = [one for one in outcomes(name, unit=unit, named=named) if one.check == check]
            demands = [demand for demand in EXPECT[check] if is_asked(check, demand, unit=unit)]
            if own:
                yield f"\n## {len(TABLES[name][0])} {'rows of patients' if unit else 'records'}\n"
            for demand, outcome in zip(demands, own, strict=True):
                yield _paragraphs(json.dumps(demand), outcome)


def _paragraphs(demand: str, outcome: Outcome) -> str:
    texts = filter(None, (outcome.message, outcome.individual_impact))
    return f"\n{outcome.status.value}: `{demand}`\n" + "".join(f"\n{text}\n" for text in texts)
