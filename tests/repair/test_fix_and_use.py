"""A policy that says what people would do with its release: what comes of it in the result, the report, the check."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from tcdp_audit import audit, fix, verify
from tcdp_audit.cli.schema import result_schema

pytestmark = pytest.mark.long
POLICY: dict[str, Any] = {
    "version": 1,
    "attributes": {
        "age": {"role": "quasi_identifier", "scale": "numeric"},
        "town": {"role": "quasi_identifier"},
        "pay": {"role": "sensitive", "scale": "numeric"},
        "rich": {"role": "insensitive"},
    },
    "expect": [{"k_anonymity": {"k": 8}}],
    "utility": {
        "counts": [{"by": ["age", "town", "rich"]}],
        "models": [{"of": "rich", "by": ["age", "town"]}],
    },
}


@pytest.fixture
def people() -> pa.Table:
    rng = np.random.default_rng(5)
    age, town = rng.integers(20, 70, 300), rng.choice(["here", "there"], 300)
    pay = 100 + 3 * age + rng.integers(0, 40, 300)
    return pa.table({"age": age, "town": town, "pay": pay, "rich": np.where(pay > 255, "yes", "no")})


def test_the_result_and_the_report_say_what_became_of_each_use(people: pa.Table, tmp_path: Path):
    pytest.importorskip("sklearn")
    source, target, result = (tmp_path / name for name in ("people.csv", "fixed.csv", "result.json"))
    pyarrow.csv.write_csv(people, source)
    done = fix(source, POLICY, output=target)
    done.write(result)
    reported = json.loads(result.read_text(encoding="utf-8"))
    loss = reported["change_log"]["loss"]

    jsonschema.validate(reported, json.loads(result_schema()))
    assert loss["counting_queries"]["tables"][0]["by"] == ["age", "town", "rich"]
    assert [one["column"] for one in loss["regressions"]["models"][0]["effects"]] == ["age", "town"]
    assert loss["models"]["models"][0]["tested"] == 100
    assert [one.split(" ")[0] for one in done.log.utility_impact][-3:] == ["The", "A", "An"]
    page = done.after.render(".html")
    assert isinstance(page, str)
    assert all(title in page for title in ("Effects, before and after", "Models, how often", "Counts that the policy"))
    assert verify(result, target, POLICY, before=source).differences == []


def test_a_trial_without_the_library_says_which_extra_it_needs(people: pa.Table, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    tried = audit(people, POLICY, try_remedies=True)

    assert tried.remedy_trial is not None
    assert 'needs scikit-learn; pip install "tcdp-audit[models]"' in tried.remedy_trial.reason
    assert audit(people, POLICY).status == "failed"  # which needs no model
