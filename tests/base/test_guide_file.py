"""Guides are read from Markdown when their first part is asked for, and a file that is no guide is refused."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from tcdp_audit import PluginError
from tcdp_audit.plugin.check import Guide
from tcdp_audit.plugin.remedy import RemedyGuide

CHECK = """\
---
question: Is every one of them alike?
risk: "Then: all is known."
---

## Definition

All members of a class are
alike.

A second paragraph.

```math
\\min_E n_E
```

```math
x
```

## How to read it

It is a number.

## How to choose a threshold

- 3, or
- 5

## In a policy

```yaml
expect:
  - alike: {k: 5}
  - alike:
      k: 6
```

## Source

Somebody, 2026.
"""
REMEDY = """\
## Method

It waits.

## When to use it

Never.

## What is guaranteed

Nothing.

## What its notes say

| note | meaning |
| --- | --- |
| `share` | Kept \\| dropped. |

## In a policy

```yaml
remedy:
  - waiting: {}
```

## Source

Somebody, 2026.
"""


def _written(folder: Path, text: str) -> Path:
    path = folder / "guide.md"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_guide_in_a_file_is_the_same_as_one_in_code(tmp_path: Path) -> None:
    formulas = tmp_path / "formulas.json"
    formulas.write_text(json.dumps({r"\min_E n_E": {"text": "min_E n_E", "mathml": "<math/>"}}), encoding="utf-8")

    assert Guide.from_file(_written(tmp_path, CHECK), formulas) == Guide(
        definition="All members of a class are alike.\n\nA second paragraph.",
        formula="min_E n_E;  x",
        reading="It is a number.",
        choosing="- 3, or\n- 5",
        source="Somebody, 2026.",
        example="- alike: {k: 5}\n- alike:\n    k: 6",
        latex="\\min_E n_E\nx",
        mathml="<math/>",
        question="Is every one of them alike?",
        risk="Then: all is known.",
    )


def test_so_is_that_of_a_remedy(tmp_path: Path) -> None:
    assert RemedyGuide.from_file(_written(tmp_path, REMEDY)) == RemedyGuide(
        "It waits.", "Never.", "Nothing.", "Somebody, 2026.", "- waiting: {}", {"share": "Kept | dropped."}
    )


def test_a_formula_may_be_plain_text(tmp_path: Path) -> None:
    text = CHECK.replace("```math", "```text")

    guide = Guide.from_file(_written(tmp_path, text))

    assert (guide.formula, guide.latex, guide.mathml) == ("\\min_E n_E;  x", "", "")


def test_a_file_is_read_when_a_part_is_asked_for(tmp_path: Path) -> None:
    path = _written(tmp_path, "no guide yet")
    guide = Guide.from_file(path)
    path.write_text(CHECK, encoding="utf-8")

    assert guide.limits == ""
    path.unlink()
    assert replace(guide, limits="All.").reading == "It is a number."
    assert pickle.loads(pickle.dumps(guide)) == guide  # noqa: S301 - our own
    with pytest.raises(AttributeError, match=r"^'Guide' object has no attribute 'nothing'$"):
        _ = guide.nothing  # type: ignore[attr-defined]


def test_a_file_that_is_not_there_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match=r"^the guide guide\.md is not in "):
        Guide.from_file(tmp_path / "guide.md")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            CHECK.replace("## How to read it", "## Reading"),
            "has a section 'Reading'; sections of a guide are Definition,",
        ),
        (CHECK.replace("## How to read it\n\nIt is a number.\n", ""), r"is incomplete: .*'reading'"),
        (CHECK.replace("```math", "```tex"), r"is incomplete: .*'formula'"),
        (CHECK.replace("risk:", "danger:"), r"is incomplete: .*'danger'"),
    ],
)
def test_what_is_no_guide_is_refused_with_the_reason(text: str, fault: str, tmp_path: Path) -> None:
    with pytest.raises(PluginError, match=fault):
        _ = Guide.from_file(_written(tmp_path, text)).definition


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "guide.md"
    path.write_bytes(b"\xff\xfe")

    with pytest.raises(PluginError, match=r"^the guide guide\.md cannot be read as UTF-8$"):
        _ = Guide.from_file(path).definition


def test_an_example_may_have_lines_like_headings(tmp_path: Path) -> None:
    text = CHECK.replace("      k: 6", "      k: 6\n## no heading")

    assert Guide.from_file(_written(tmp_path, text)).example.endswith("\n## no heading")
