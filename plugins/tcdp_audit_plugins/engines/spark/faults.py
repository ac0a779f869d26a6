"""Faults of a cluster, in sentences of our own: Spark's texts quote cells, plans and addresses."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from tcdp_audit.plugin.engine import DataError, TcdpAuditError, UsageError, redact_errors

SENTENCES = {
    "changed": "the table was changed while it was read; audit a copy, or a version that stays",
    "memory": "a Python worker of the cluster ran out of memory; give executors more memory outside the heap "
    "(`spark.executor.memoryOverhead`)",
    "failed": "the work on a partition failed on the cluster; is the same version of tcdp-audit, with the plugins that "
    "the policy needs, installed on every executor?",
    "unsent": "what a check made of a partition cannot be sent back from the cluster",
    "twice": "the cluster answered for a part of the table twice, or not at all; audit it again",
    "split": "the cluster split an equivalence class between two partitions; audit a copy of the table",
    "lost": "the cluster did not finish the work on the table; see Spark's own log, and audit it again",
}
CONDITIONS = {  # of Spark's own errors, by their names: a name says what, and quotes nothing
    "FAILED_READ_FILE": "a file of the table cannot be read; write it again, as Parquet",
    "FAILED_READ_FILE.NO_HINT": "a file of the table cannot be read; write it again, as Parquet",
}
SIGNS = {  # what the text of an error contains, which is looked at and never quoted
    "No module named": "a Python worker of the cluster cannot import a module, as a rule tcdp-audit or one of its "
    "plugins; install the same version on every executor, and name a Python that has it in PYSPARK_PYTHON",
    "PYTHON_VERSION_MISMATCH": "executors have another version of Python; name one of the same version in "
    "PYSPARK_PYTHON",
    "Cannot run program": "an executor cannot start Python; name one that every executor has in PYSPARK_PYTHON",
    "FILE_NOT_EXIST": "a file of the table is gone; audit a copy, or a version that stays",
}
ABSENT = {  # conditions that say that a caller named the wrong thing
    "PATH_NOT_FOUND": "no such path; name a Parquet file or folder that the cluster can see",
    "TABLE_OR_VIEW_NOT_FOUND": "no such table, and no path either; name a table of the catalogue, or a path with a /",
    "UNABLE_TO_INFER_SCHEMA": "no Parquet file there; name a Parquet file or folder",
    "JAVA_GATEWAY_EXITED": "Java could not be started; install Java 17 or later, and set JAVA_HOME",
}


def fault(table: str, name: str) -> DataError:
    """A sentence about a table: `name` is a fault of ours, or one with a text of ours after a colon."""
    kind, _, text = name.partition(": ")
    return DataError(f"{table}: {text or SENTENCES[kind]}")


@contextmanager
def on_cluster(table: str) -> Iterator[None]:
    """Work that Spark does: whatever it raises is a sentence, and nothing of its own text remains.

    Raises:
        UsageError: there is no such table.
        DataError: the work could not be done.
    """
    condition, sentence = "", ""
    with redact_errors():
        try:
            yield
        except TcdpAuditError:
            raise
        except Exception as error:  # noqa: BLE001 - py4j, gRPC, Spark and Arrow have no error in common
            condition = condition_of(error)
            sentence = CONDITIONS.get(condition) or _sentence(error)
        if condition in ABSENT:
            raise UsageError(f"{table}: {ABSENT[condition]}")
        if sentence:
            raise DataError(f"{table}: {sentence}")


def _sentence(error: Exception) -> str:
    """What an error without a condition of its own says, which may be that of a task."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - asking a broken connection
        text = ""
    return next((sentence for sign, sentence in SIGNS.items() if sign in text), SENTENCES["lost"])


def condition_of(error: Exception) -> str:
    """The name of a Spark error's condition, if it has one."""
    try:
        return str(error.getCondition())  # type: ignore[attr-defined]
    except Exception:  # noqa: BLE001 - asking a broken connection
        return ""


@contextmanager
def without_warning_of_pandas() -> Iterator[None]:
    """Spark warns of pandas 3 whenever a function is sent to workers, also where no pandas takes part."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        yield
