"""A policy's demands in Great Expectations: a suite, a guarded run, its results, and Data Docs.

    pip install ".[great-expectations]"
    python examples/great_expectations_suite.py [FOLDER]

With a folder, the context and its Data Docs are kept there.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

with warnings.catch_warnings(action="ignore"):  # its import raises warnings about itself
    import great_expectations as gx

from tcdp_audit.integrations.great_expectations import (
    ExpectColumnToBeDistinctLDiverse,
    ExpectColumnToBeTClose,
    ExpectTableToBeKAnonymous,
)
from tcdp_audit.integrations.great_expectations.guarded import IncompleteRunError, guarded_run
from tcdp_audit.integrations.great_expectations.suites import policy_of, suite_of

TABLE = Path(__file__).parent / "papers" / "li07_table4.csv"
KNOWN = ["zip", "age"]


def main(folder: str) -> None:
    """Validate a table of a paper, and turn a policy into a suite."""
    context = gx.get_context(mode="file", project_root_dir=folder)
    context.variables.progress_bars = {"globally": False}
    frame = pd.read_csv(TABLE, dtype={"zip": str, "age": str})
    asset = context.data_sources.add_pandas("pandas").add_dataframe_asset("release")
    whole = asset.add_batch_definition_whole_dataframe("whole")

    suite = gx.ExpectationSuite(
        name="disclosure",
        expectations=[
            ExpectTableToBeKAnonymous(quasi_identifiers=KNOWN, k=3),
            ExpectTableToBeKAnonymous(quasi_identifiers=KNOWN, k=5),
            ExpectColumnToBeDistinctLDiverse(quasi_identifiers=KNOWN, column="disease", l=3),
            ExpectColumnToBeTClose(
                quasi_identifiers=KNOWN, column="salary", scale="numeric", distance="ordered", t=0.375
            ),
        ],
    )
    context.suites.add(suite)
    definition = context.validation_definitions.add(gx.ValidationDefinition(name="all", data=whole, suite=suite))
    checkpoint = context.checkpoints.add(
        gx.Checkpoint(
            name="gate",
            validation_definitions=[definition],
            actions=[gx.checkpoint.UpdateDataDocsAction(name="docs")],
            result_format="COMPLETE",
        )
    )
    checked = guarded_run(checkpoint, batch_parameters={"dataframe": frame})
    for result in next(iter(checked.run_results.values())).results:
        verdict = "kept" if result.success else "not kept"
        print(f"{result.expectation_config.type}: {result.result['observed_value']} ({verdict})")
        print(f"  {result.result['details']['message']}")
    pages = list(Path(folder).glob("gx/uncommitted/data_docs/local_site/validations/**/*.html"))
    print(f"pages of Data Docs: {len(pages)}")

    policy = TABLE.with_suffix(".tcdp.yaml")
    from_policy = suite_of(policy, "from_policy")
    print(f"{policy.name} as a suite: {len(from_policy.expectations)} expectations")
    print(f"and back: {len(policy_of(from_policy)['expect'])} demands")

    from_policy.expectations = from_policy.expectations[:1]  # as if a class had been unknown where it was read
    context.suites.add(from_policy)
    short = context.validation_definitions.add(gx.ValidationDefinition(name="short", data=whole, suite=from_policy))
    try:
        guarded_run(short, batch_parameters={"dataframe": frame})
    except IncompleteRunError as error:
        print(f"refused: {error}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        with TemporaryDirectory() as temporary:
            main(temporary)
