"""The page of a remedy: what it says where there is little to say, and of noise that no seed repeats."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tcdp_audit.cli.declarations import index_of_remedies, registered_page
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.plugin.remedy import Remedy, RemedyGuide, RemedyParameters, Treatment

SILENT = Remedy(
    name="silent",
    title="Silent remedy",
    summary="Changes nothing.",
    guide=RemedyGuide("It waits.", "Never.", "Nothing.", "None, 2026.", "- silent: {}"),
    parameters=RemedyParameters,
    apply=lambda _, __: Treatment(),
)
PAGE = """\
# Silent remedy

Remedy `silent`. Changes nothing.

## Method

It waits.

## Parameters

None.

## When to use it

Never.

## What is guaranteed

Nothing.

## In a policy

```yaml
remedy:
  - silent: {}
```

## Source

None, 2026.
"""


def test_a_page_says_what_there_is_and_no_more():
    assert registered_page(SILENT) == PAGE


def test_noise_that_no_seed_repeats_is_named():
    page = registered_page(replace(SILENT, random=True))

    assert "It waits.\n\nIt draws from a source that no seed repeats, and runs once only.\n" in page


def test_notes_are_a_table_whose_cells_stay_in_it():
    noting = replace(SILENT, guide=replace(SILENT.guide, notes={"share": "Kept | dropped."}))

    assert (
        "## What its notes say\n\n| note | meaning |\n| --- | --- |\n| `share` | Kept \\| dropped. |\n"
        in registered_page(noting)
    )


def test_the_list_links_to_every_page():
    listed = index_of_remedies(
        {"silent": SILENT, "another": replace(SILENT, name="another", title="Another")},
        {"another": "elsewhere/another.md"},
    )

    rows = [line for line in listed.splitlines() if line.startswith("| [")]
    assert rows == [
        "| [`another`](elsewhere/another.md) | Another | Changes nothing. |",
        "| [`silent`](silent.md) | Silent remedy | Changes nothing. |",
    ]


@pytest.mark.parametrize("remedy", [*Plugins.load(external=False).remedies.values()], ids=lambda one: one.name)
def test_a_built_in_remedy_says_what_happens_to_a_row(remedy: Remedy[Any]) -> None:
    guide = remedy.guide
    assert guide.plainly
    assert guide.plainly != remedy.title.lower()
    assert guide.effect.endswith(".")
    assert "\n" not in guide.effect
    example = guide.example_row
    assert example is not None
    before, after = example
    assert before != after
    assert isinstance(after, str) or after.keys() == before.keys()
    assert f"## What happens to a row\n\n{guide.row}" in registered_page(remedy)


def test_a_guide_without_an_example_has_none() -> None:
    guide = replace(SILENT.guide, row="Nothing happens.")
    assert (guide.effect, guide.example_row, SILENT.guide.example_row) == ("Nothing happens.", None, None)
