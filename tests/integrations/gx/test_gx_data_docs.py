"""Data Docs of a failing run: sentences that a person reads, every figure as in the JSON, and no cell."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import gx_hosts
import pandas as pd
import pytest
from gx_hosts import gx, ours

from tcdp_audit.core.base.words import sentence_case

MARKERS = ["zq-first-cell", "zq-second-cell", "zq-illness"]
KNOWN = ["age", "zip"]


def _marked() -> pd.DataFrame:
    zips = [MARKERS[0]] * 3 + [MARKERS[1]] * 2
    return pd.DataFrame(
        {"age": [31, 31, 31, 44, 44], "zip": zips, "ill": [MARKERS[2], "b", "b", "c", "c"], "pay": [1, 2, 3, 4, 9]}
    )


EXPECTATIONS = [
    ours.ExpectTableToBeKAnonymous(quasi_identifiers=KNOWN, k=3),
    ours.ExpectTableToBeKAnonymous(quasi_identifiers=KNOWN, k=2),
    ours.ExpectColumnToBeDistinctLDiverse(quasi_identifiers=KNOWN, column="ill", l=2),
    ours.ExpectColumnToBeTClose(
        quasi_identifiers=KNOWN, column="pay", scale="numeric", distance="ordered", t=0.3, severity="warning"
    ),
    ours.ExpectColumnToBeTClose(
        quasi_identifiers=KNOWN, column="pay", scale="numeric", distance="ordered", severity="info"
    ),
    ours.ExpectTableSampleUniquenessToBeLimited(quasi_identifiers=["nowhere"], at_most=0.1),
    ours.ExpectColumnHomogeneityToBeLimited(
        quasi_identifiers=KNOWN, column="ill", at_most=0.1, row_condition=gx_hosts.column("age") > 40
    ),
    ours.ExpectTableColumnsToBeDeclared(
        declarations={
            "age": {"role": "quasi_identifier", "scale": "numeric"},
            "zip": {"role": "identifier"},
            "ill": {"role": "sensitive"},
            "unit": {"role": "insensitive"},
        }
    ),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a context with Data Docs of a failing run of every kind."""
    folder = tmp_path_factory.mktemp("site")
    context = gx.get_context(mode="file", project_root_dir=folder)
    asset = context.data_sources.add_pandas("pandas").add_dataframe_asset("release")
    whole = asset.add_batch_definition_whole_dataframe("whole")
    definition = gx_hosts.definition(whole, EXPECTATIONS, "disclosure")
    actions = [gx.checkpoint.UpdateDataDocsAction(name="docs")]
    checkpoint = context.checkpoints.add(
        gx.Checkpoint(name="all", validation_definitions=[definition], actions=actions, result_format="COMPLETE")
    )
    result = checkpoint.run(batch_parameters={"dataframe": _marked()})
    assert not result.success
    return folder


@pytest.fixture(scope="module")
def results(site: Path) -> list[dict[str, Any]]:
    """The results as they are stored."""
    (path,) = site.glob("gx/uncommitted/validations/**/*.json")
    return list(json.loads(path.read_text())["results"])


@pytest.fixture(scope="module")
def page(site: Path) -> str:
    """The page of the run as text."""
    (path,) = site.glob("gx/uncommitted/data_docs/local_site/validations/**/*.html")
    text = re.sub(r"<(script|style).*?</\1>", " ", path.read_text(), flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", text)))


def test_no_file_of_the_context_has_a_cell(site: Path):
    files = [path for path in site.rglob("*") if path.is_file()]

    assert any(path.suffix == ".html" for path in files)
    assert [path for path in files for marker in MARKERS if marker in path.read_text(errors="ignore")] == []


def test_every_kind_of_result_is_there(results: list[dict[str, Any]]):
    statuses = [one["result"]["details"]["status"] for one in results]

    assert sorted(statuses) == sorted(["failed", "passed", "failed", "failed", "measured", "error", "failed", "failed"])
    assert [one["success"] for one in results].count(True) == 2
    assert [one["expectation_config"]["severity"] for one in results].count("warning") == 1


def test_every_message_and_every_figure_is_on_the_page(results: list[dict[str, Any]], page: str):
    for one in results:
        message = re.sub(r"\s+", " ", one["result"]["details"]["message"]).strip()
        assert sentence_case(message) in page
        observed = one["result"].get("observed_value")
        assert observed is None or f" {observed} " in page or f" {json.dumps(observed)} " in page


def test_demands_are_sentences(page: str):
    by = "records grouped by age and zip"
    for sentence in [
        f"k-anonymity, {by}: in every group, the number of records in the group is at least 3.",
        f"t-closeness, ordered distance, {by}: in every group, the distance",
        "Of the records with age > 40: Homogeneity attack",
        f"t-closeness, ordered distance, {by}: measured, nothing is demanded.",
        "The table has the declared columns and no other, no identifier, and values of the declared scales.",
    ]:
        assert sentence in page
    assert "expect_table_to_be_k_anonymous(" not in page
    assert "traceback" not in page.lower()


def test_the_columns_are_said(results: list[dict[str, Any]], page: str):
    (structure,) = [one for one in results if one["expectation_config"]["type"] == gx_hosts.COLUMNS]

    message = structure["result"]["details"]["message"]
    assert structure["result"]["observed_value"] == 3
    for part in ("'pay'", "'zip'", "'unit'"):
        assert part in message
    assert message in page


def test_counts_are_those_of_the_audit(results: list[dict[str, Any]]):
    first = next(one for one in results if one["expectation_config"]["kwargs"].get("k") == 3)

    figures = {name: first["result"][name] for name in ("observed_value", "element_count", "unexpected_count")}
    assert figures == {"observed_value": 2, "element_count": 5, "unexpected_count": 2}
    assert first["result"]["unexpected_percent"] == 40
    assert first["result"]["details"]["classes"] == {"total": 2, "failing": 1}


@pytest.mark.parametrize(
    ("level", "keys"),
    [
        ("BOOLEAN_ONLY", None),
        ("BASIC", {"message", "classes"}),
        ("SUMMARY", {"message", "classes", "conventions"}),
        ("COMPLETE", {"message", "classes", "conventions", "details", "worst"}),
    ],
)
def test_levels_of_results(level: str, keys: set[str] | None):
    (one,) = gx_hosts.run(gx_hosts.pandas_batches(_marked()), EXPECTATIONS[:1], result_format=level).results

    assert one.success is False
    if keys is None:
        assert one.result == {}
        return
    keys_shown = {"message", "classes", "conventions", "details", "worst"} & set(one.result["details"])
    assert keys_shown == keys


def test_newer_renderers_say_the_same():
    expectation = EXPECTATIONS[0].copy()
    gx.get_context(mode="ephemeral")
    expectation.render()

    (shown,) = expectation.rendered_content
    assert shown.value.template == "$sentence"
    assert "is at least 3" in json.dumps(shown.to_json_dict())
