"""What SPSS, Stata and SAS declare missing: values in quasi-identifiers, where they tell apart; missing elsewhere."""

from __future__ import annotations

import datetime as dt
from contextlib import suppress
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest

from tcdp_audit import audit
from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.encoding.domain import texts_of
from tcdp_audit.core.repair.fixing import fix
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.core.session.tables import open_table
from tcdp_audit_plugins.engines.statistics.labels import as_texts
from tcdp_audit_plugins.engines.statistics.reading import open_with_pyreadstat

PLUGINS = Plugins.load(external=False)
MEMORY = 2**28


def policy(**further: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "attributes": {"a": {"role": "quasi_identifier"}, "s": {"role": "sensitive"}},
        "expect": [{"k_anonymity": {"k": 3}}, {"distinct_l_diversity": {"l": 1}}],
        **further,
    }


def figures(release: Any, **further: Any) -> list[Any]:
    return [one.observed for one in audit(release, policy(**further), plugins=PLUGINS).expectations]


def sav(path: Path, frame: pd.DataFrame, **options: Any) -> Path:
    pyreadstat.write_sav(frame, str(path), **options)
    return path


def cells(path: Path, *codes: str) -> dict[str, list[Any]]:
    with open_with_pyreadstat(path, MEMORY).with_codes(codes) as engine:
        table = engine.source_table()
        domains = {name: engine.domain(name).counts for name in table.column_names}
        assert engine.table().num_rows == engine.records == table.num_rows
        assert all(len(domains[name]) == len(set(table[name].drop_null().to_pylist())) for name in domains)
        return dict(table.to_pydict())


FRAME = pd.DataFrame({"a": [1.0, 2.0, 3.0], "s": [1.0, 2.0, 1.0]})


def test_a_range_over_unique_codes_makes_no_class_of_three(tmp_path: Path) -> None:
    path = sav(tmp_path / "r.sav", FRAME, missing_ranges={"a": [{"lo": 0, "hi": 99}]})
    assert figures(path) == [1, 1]
    assert figures(path, conventions={"missing_quasi_identifier": "wildcard"}) == [1, 1]
    assert figures(FRAME) == [1, 1]


def test_sensitive_codes_are_missing_and_add_no_diversity(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1.0] * 4, "s": [1.0, 97, 98, 99]})
    path = sav(tmp_path / "r.sav", frame, missing_ranges={"s": [{"lo": 97, "hi": 99}]})
    assert figures(path) == [4, 1]
    assert figures(frame) == [4, 4]


def test_a_remote_file_and_companions_are_read_alike(tmp_path: Path) -> None:
    path = sav(tmp_path / "r.sav", FRAME, missing_ranges={"a": [1.0, 2.0, 3.0]})
    store = fsspec.filesystem("memory")
    with store.open("declared/r.sav", "wb") as file:
        file.write(path.read_bytes())
    assert figures("memory://declared/r.sav") == [1, 1]
    engine = open_table("memory://declared/r.sav", "release", MEMORY, PLUGINS)
    folders = [scratch.path for scratch in engine.scratches]
    engine = engine.with_codes(["a"])
    assert (engine.name, engine.uri) == ("memory://declared/r.sav", "memory://declared/r.sav")
    folders += [scratch.path for scratch in engine.scratches]
    engine.close()
    assert not any(folder.exists() for folder in folders)
    store.rm("declared", recursive=True)
    population = pd.DataFrame({"a": [1.0, 2, 2, 3], "s": [1.0] * 4})
    expect = {"expect": [{"k_map": {"k": 2}}]}
    of_file = sav(tmp_path / "p.sav", population, missing_ranges={"a": [{"lo": 0, "hi": 9}]})
    observed = [
        audit(FRAME, policy(**expect), population=one, plugins=PLUGINS).expectations[0].observed
        for one in (of_file, population)
    ]
    assert observed[0] == observed[1]


def test_codes_are_what_is_in_the_file(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "sex": [1.0, 2, 8, 9],
            "age": [30.5, 98, 99, 100],
            "text": ["x", "NA", "y", ""],
            "day": [dt.date(2024, 2, 29), dt.date(2024, 3, 1), dt.date(1582, 10, 15), None],
        }
    )
    missing = {"sex": [8, 9], "age": [99, {"lo": 100, "hi": 200}], "text": ["NA"], "day": [86_400.0]}
    labels = {"sex": {1: "Male", 2: "Female", 8: "Refused", 9: "Refused"}}
    path = sav(tmp_path / "r.sav", frame, missing_ranges=missing, variable_value_labels=labels)
    without = {
        "sex": ["Male", "Female", None, None],
        "age": [30.5, 98, None, None],
        "text": ["x", None, "y", ""],
        "day": [dt.date(2024, 2, 29), dt.date(2024, 3, 1), None, None],
    }
    codes = {
        "sex": ["Male", "Female", "8", "9"],
        "age": [30.5, 98, 99, 100],
        "text": ["x", "NA", "y", ""],
        "day": ["2024-02-29", "2024-03-01", "86400", None],
    }
    assert cells(path) == without
    assert cells(path, *codes) == codes
    for name, read in codes.items():
        assert cells(path, name) == {**without, name: read}


def test_a_label_that_reads_as_a_code_makes_a_column_of_codes(tmp_path: Path) -> None:
    frame = pd.DataFrame({"sex": [1.0, 2, 9]})
    labels = {"sex": {1: "9", 2: "Female"}}
    path = sav(tmp_path / "r.sav", frame, missing_ranges={"sex": [9]}, variable_value_labels=labels)
    assert cells(path, "sex") == {"sex": [1, 2, 9]}


def test_letters_of_stata_are_values_of_their_own(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1, 2, "a", "z", None], "f": [1.5, "b", 2.0, None, 3.25], "s": [1, 1, 1, 1, "c"]})
    path = tmp_path / "r.dta"
    missing = {"a": ["a", "z"], "f": ["b"], "s": ["c"]}
    pyreadstat.write_dta(frame, str(path), missing_user_values=missing)
    assert cells(path, "a", "f") == {
        "a": ["1", "2", ".a", ".z", None],
        "f": ["1.5", ".b", "2", None, "3.25"],
        "s": [1, 1, 1, 1, None],
    }
    assert cells(path)["a"] == [1, 2, None, None, None]
    assert figures(path)[0] == 1


def test_letters_are_no_numbers_and_tokens_make_them_missing(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1, 1, 1, "a", "a"], "s": [1, 2, 3, 4, 5]})
    pyreadstat.write_dta(frame, str(tmp_path / "r.dta"), missing_user_values={"a": ["a"]})
    numeric = {"attributes": {"a": {"role": "quasi_identifier", "scale": "numeric"}, "s": {"role": "sensitive"}}}
    result = audit(tmp_path / "r.dta", policy(**numeric), plugins=PLUGINS)
    assert "failed" in {one.status for one in result.outcomes if one.check == "wrong_scale"}
    tokens = {**numeric, "conventions": {"missing_tokens": ["", ".a"]}}
    assert figures(tmp_path / "r.dta", **tokens) == [2, 2]


def test_what_is_fixed_keeps_codes_in_quasi_identifiers_only(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1.0, 1, 1, 98, 99], "s": [1.0, 2, 97, 1, 1]})
    path = sav(tmp_path / "r.sav", frame, missing_ranges={"a": [98, 99], "s": [97]})
    treatment = {"remedy": [{"suppression": {}}], "conventions": {"suppressed_tokens": ["*"]}}
    fix(path, policy(**treatment), output=tmp_path / "fixed.csv", plugins=PLUGINS)
    text = (tmp_path / "fixed.csv").read_text()
    assert "97" not in text
    assert figures(tmp_path / "fixed.csv", conventions={"suppressed_tokens": ["*"]})[0] >= 3


@pytest.mark.parametrize(
    ("array", "texts"),
    [
        (pa.array([39.0, 0.1, None]), ["39", "0.1", None]),
        (pa.array([0.1, 2.0], pa.float32()), ["0.1", "2"]),
        (pa.array([3, -1], pa.int32()), ["3", "-1"]),
        (pa.array([1_709_209_800_000_000], pa.timestamp("us")), ["2024-02-29 12:30:00"]),
        (pa.array([1_709_209_800_500_000], pa.timestamp("us")), ["2024-02-29 12:30:00.5"]),
        (pa.array([-1_000_000], pa.timestamp("us")), ["1969-12-31 23:59:59"]),
        (pa.array([19_782], pa.date32()), ["2024-02-29"]),
    ],
)
def test_texts_are_those_of_the_audit(array: pa.Array, texts: list[Any]) -> None:
    assert as_texts(array).to_pylist() == texts
    with open_table(pa.table({"c": array}), "release", MEMORY, PLUGINS) as engine:
        assert sorted(texts_of(engine.domain("c").values).tolist()) == sorted(text for text in texts if text)


def test_any_fault_of_the_library_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = sav(tmp_path / "r.sav", FRAME)

    def broken(*_: Any, **__: Any) -> Any:
        raise TypeError("cell 4711")

    monkeypatch.setattr(pyreadstat, "read_sav", broken)
    with pytest.raises(DataError, match=r"the file is no intact \.sav file") as caught:
        open_with_pyreadstat(path, MEMORY)
    assert caught.value.__context__ is None


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_corrupted_files_are_refused_or_read(tmp_path: Path, seed: int) -> None:
    random = np.random.default_rng(seed)
    content = sav(tmp_path / "r.sav", pd.DataFrame({"a": np.arange(50.0), "t": ["x"] * 50})).read_bytes()
    for _ in range(50):
        damaged = bytearray(content)
        for place in random.integers(0, len(damaged), 4):
            damaged[place] = random.integers(0, 256)
        (tmp_path / "d.sav").write_bytes(damaged)
        with suppress(DataError):  # anything else is an error of ours
            open_with_pyreadstat(tmp_path / "d.sav", MEMORY).close()


def test_codes_that_are_not_read_are_no_missing_values(tmp_path: Path) -> None:
    frame = pd.DataFrame({"A": [1.0, 2.0, np.nan], "S": [1.0, 2.0, 1.0]})
    asked = policy(attributes={"A": {"role": "quasi_identifier"}, "S": {"role": "sensitive"}})
    pyreadstat.write_por(frame, str(tmp_path / "r.por"))
    with pytest.raises(DataError, match="column 'A' has missing cells, and the file may hold codes there"):
        audit(tmp_path / "r.por", asked, plugins=PLUGINS)
    path = tmp_path / "r.xpt"
    pyreadstat.write_xport(frame, str(path))
    assert audit(path, asked, plugins=PLUGINS).expectations[0].observed == 1
    content = path.read_bytes()
    missing = content.rindex(b".\0\0\0\0\0\0\0")
    path.write_bytes(content[:missing] + b"B" + content[missing + 1 :])
    with pytest.raises(DataError, match="save it as"):
        audit(path, asked, plugins=PLUGINS)
    pyreadstat.write_por(frame.fillna(3), str(tmp_path / "r.por"))
    assert audit(tmp_path / "r.por", asked, plugins=PLUGINS).expectations[0].observed == 1
