"""A Spark session on each worker of xdist, for all tests of the engine."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent))  # the sources of the embedded engine's tests


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out what `-m` does not ask for
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever needs a session takes long."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("long")


@pytest.fixture(scope="session")
def java(skip_or_fail: Callable[[str], None]) -> None:
    """Spark and Java are here."""
    if find_spec("pyspark") is None:
        skip_or_fail("pyspark is not installed")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        skip_or_fail("Java is not installed")


@pytest.fixture(scope="session")
def spark(java: None) -> Iterator[Any]:  # noqa: ARG001 - it skips
    """A session of two processors that tries every task four times; functions of tests travel whole."""
    from pyspark import cloudpickle
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        builder = SparkSession.builder.master("local[2,4]").appName("tests")
        for name, value in SETTINGS.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
    for module in [one for name, one in sys.modules.items() if name.startswith("test_spark_")]:
        cloudpickle.register_pickle_by_value(module)
    yield session
    session.stop()


SETTINGS = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",  # what runs for minutes repays no better compilation
    "spark.log.level": "OFF",
    "spark.sql.shuffle.partitions": "3",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
