"""Arrow arrays made of the bytes of others hold what pyarrow's own constructor would hold, and import no pandas."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from tcdp_audit.core.engines.arrow_types import array_of_numbers, array_of_texts, array_of_truths, dictionary_positions


@pytest.mark.parametrize(
    "numbers",
    [
        np.arange(5, dtype=np.uint8),
        np.arange(10, dtype=np.int64)[::2],
        np.array([0.5, np.nan, -np.inf]),
        np.zeros(0, dtype=np.int32),
    ],
    ids=lambda one: str(one.dtype),
)
def test_numbers(numbers: np.ndarray[tuple[int], np.dtype[np.generic]]) -> None:
    made = array_of_numbers(numbers)
    made.validate(full=True)
    assert made.equals(pa.array(numbers)) or np.isnan(numbers).any()
    assert made.type == pa.array(numbers).type
    np.testing.assert_array_equal(made.to_numpy(zero_copy_only=False), numbers)


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 17])
def test_truths(length: int) -> None:
    truths = np.arange(length) % 3 == 0
    made = array_of_truths(truths)
    made.validate(full=True)
    assert made.equals(pa.array(truths))


@pytest.mark.parametrize("texts", [[], [None], ["a", None, "", "ß", "日本", "a,b"], ["x"] * 9])
def test_texts(texts: list[str | None]) -> None:
    made = array_of_texts(texts)
    made.validate(full=True)
    assert made.equals(pa.array(texts, pa.string()))


def test_positions_in_a_dictionary() -> None:
    cells = pa.array(["b", None, "a", "b", None, "c"]).dictionary_encode()
    assert dictionary_positions(cells, 9).tolist() == [0, 9, 1, 0, 9, 2]
    assert dictionary_positions(cells.slice(1, 3), 9).tolist() == [9, 1, 0]
    assert dictionary_positions(cells.slice(2, 2), 9).tolist() == [1, 0]


@pytest.mark.long
def test_a_repair_of_a_text_file_imports_no_pandas() -> None:
    code = """
import sys, tempfile, pathlib, tcdp_audit
folder = pathlib.Path(tempfile.mkdtemp())
(folder / "r.csv").write_text("age,zip\\n1,\\n2,a\\n3,a\\n4,b\\n")
asked = {"version": 1, "attributes": {"age": {"role": "quasi_identifier", "scale": "numeric"},
         "zip": {"role": "quasi_identifier"}}, "expect": [{"k_anonymity": {"k": 2}}]}
done = tcdp_audit.fix(folder / "r.csv", asked, output=folder / "out.csv")
print(done.passed, "pandas" in sys.modules)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["True", "False"]
