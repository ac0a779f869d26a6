"""A Spark Connect session in a process of its own: the outcomes of a frame as JSON, and what a failure says."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

import sources
from answers import PLUGINS, answer
from pyspark.sql import SparkSession
from test_same_answer import CONVENTIONS, policy

from tcdp_audit import audit
from tcdp_audit.core.base.errors import DataError

warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
session = SparkSession.builder.remote("local[2]").config("spark.sql.shuffle.partitions", "8").getOrCreate()
assert type(session).__module__.startswith("pyspark.sql.connect")
is_bare = sys.argv[1:] == ["bare"]  # whether its workers have no tcdp-audit
policies = [] if is_bare else [policy(one) for one in (CONVENTIONS[0], CONVENTIONS[14])]
outcomes = [answer(session.createDataFrame(sources.ARROW), one) for one in policies]
broken = session.sql("SELECT explode(array('Ümit-4711', 'x')) AS text").selectExpr("cast(text AS int) AS zip")
asked = {"version": 1, "attributes": {"zip": {"role": "quasi_identifier"}}, "expect": [{"k_anonymity": {"k": 2}}]}
refusal: list[str] = []
try:
    audit(session.createDataFrame(sources.ARROW).select("zip") if is_bare else broken, asked, plugins=PLUGINS)
except DataError as error:
    refusal = [str(error), repr(error.__context__), repr(error.__cause__)]
sys.stdout.write(json.dumps({"outcomes": outcomes, "refusal": refusal}))
