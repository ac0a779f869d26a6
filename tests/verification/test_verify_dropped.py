"""What was judged with a column that the release does not have is confirmed by repeating the repair, or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tcdp_audit import fix
from tcdp_audit.core.base.outcome import COLUMN_DEMANDS
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.verification import Verification, verify

FIRST = len(COLUMN_DEMANDS)  # the number of the first expectation among the outcomes

PLUGINS = Plugins.load(external=False)
AGES = [20, 21, 33, 34, 51, 52, 67, 68, 39, 40, 28, 29]
POLICY = """
version: 1
release: release.csv
original: release.csv
key: id
attributes:
  age: {role: quasi_identifier, scale: numeric}
  cost: {role: sensitive, scale: numeric}
expect:
  - k_anonymity: {k: 3}
  - distance_record_linkage: {attributes: [age], at_most: 0.5}
remedy:
  - microaggregation: {k: 3}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [f"{100 + i * 5 % 12},{age},{i * 7 % 11}" for i, age in enumerate(AGES)]
    (tmp_path / "release.csv").write_text("\n".join(["id,age,cost", *rows, ""]), encoding="utf-8")
    (tmp_path / "p.tcdp.yaml").write_text(POLICY, encoding="utf-8")
    return tmp_path


def repaired(folder: Path, **more: Any) -> None:
    done = fix(None, folder / "p.tcdp.yaml", output=folder / "out.csv", plugins=PLUGINS, **more)
    assert done.passed
    assert done.log.judged_with_columns == ("id",)
    done.write(folder / "out.json")


def verified(folder: Path, **more: Any) -> Verification:
    return verify(folder / "out.json", folder / "out.csv", plugins=PLUGINS, **more)


def forge(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    result = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    change(result)
    (folder / "out.json").write_text(json.dumps(result), encoding="utf-8")


@pytest.mark.long
@pytest.mark.parametrize("keep_order", [False, True])
def test_it_is_confirmed_with_the_input_only(folder: Path, *, keep_order: bool) -> None:
    repaired(folder, keep_order=keep_order)
    alone = verified(folder)
    assert (alone.exit_code, alone.differences) == (3, [])
    figures = [one.sentence for one in alone.unverified if one.subject == "figures"]
    assert len(figures) == 1
    assert figures[0].startswith("expectation 2, distance_record_linkage: it was judged with a column, or in an")
    whole = verified(folder, before=folder / "release.csv")
    assert whole.is_confirmed
    assert whole.title == "Fit, but nothing is demanded of 'cost'"


@pytest.mark.long
@pytest.mark.parametrize(
    "lie",
    [
        lambda result: result["outcomes"][FIRST + 1].update(observed=0.01),
        lambda result: result["outcomes"][FIRST]["details"].update(judged_with_columns=["id"]),
        lambda result: result["outcomes"][FIRST + 1]["details"].pop("judged_with_columns"),
        lambda result: result["change_log"].update(columns_dropped=[]),
        lambda result: result["change_log"].update(judged_with_columns=[]),
    ],
    ids=["figure", "mark", "no mark", "nothing dropped", "nothing put back"],
)
def test_a_lie_is_named_and_never_confirmed(folder: Path, lie: Callable[[dict[str, Any]], object]) -> None:
    repaired(folder)
    forge(folder, lie)
    assert verified(folder, before=folder / "release.csv").exit_code == 1
    assert verified(folder).exit_code in (1, 3)


@pytest.mark.long
def test_another_input_is_named(folder: Path) -> None:
    repaired(folder)
    text = (folder / "release.csv").read_text(encoding="utf-8")
    (folder / "other.csv").write_text(text.replace(",67,", ",60,"), encoding="utf-8")
    other = verified(folder, before=folder / "other.csv")
    assert other.exit_code == 1
    assert any(one.sentence.endswith("is another table than this one") for one in other.differences)
