"""What engines are compared by on Adult: every check on classes, and nothing that is an error there."""

from __future__ import annotations

from pathlib import Path

import adult_release
import pytest
from answers import PLUGINS, answer

from tcdp_audit.plugin.check import AttackCheck, ClassCheck, Need


def test_every_check_on_classes_is_in_the_list() -> None:
    of_classes = {name: one for name, one in PLUGINS.checks.items() if isinstance(one, ClassCheck | AttackCheck)}
    asked, risks = ({next(iter(one)) for one in expect} for expect in (adult_release.EXPECT, adult_release.RISKS))
    assert asked - risks <= of_classes.keys()
    assert {name for name, one in of_classes.items() if Need.WHOLE_RECORDS not in one.needs} <= asked


@pytest.mark.parametrize("shards", [None, 16])
def test_every_expectation_has_an_answer(data: Path, shards: int | None) -> None:
    outcomes = answer(adult_release.file(data), adult_release.policy(data), shards=shards)["outcomes"]
    assert len(outcomes) > 45
    assert [one["message"] for one in outcomes if one["status"] == "error"] == []
    assert {next(iter(one)) for one in adult_release.EXPECT} <= {one["check"] for one in outcomes}
    assert next(one for one in outcomes if one["check"] == "k_anonymity")["classes"]["total"] > 1000
