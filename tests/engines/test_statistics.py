"""Files of SPSS, Stata and SAS: value labels, declared missing values, dates, texts; what is damaged is said."""

from __future__ import annotations

import datetime as dt
import hashlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyreadstat
import pytest
import sources

from tcdp_audit import audit
from tcdp_audit.cli.run import run
from tcdp_audit.core.base.errors import DataError, TcdpAuditError, UsageError
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.repair.fixing import fix
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.testing import check_conforms
from tcdp_audit_plugins.engines import STATISTICAL_FILES, is_statistical, open_statistical
from tcdp_audit_plugins.engines.statistics import reading
from tcdp_audit_plugins.engines.statistics.labels import times_of

PLUGINS = Plugins.load(external=False)
MEMORY = 2**28
WRITERS: dict[str, Callable[..., Any]] = {
    ".sav": pyreadstat.write_sav,
    ".zsav": lambda frame, path, **options: pyreadstat.write_sav(frame, path, compress=True, **options),
    ".dta": pyreadstat.write_dta,
    ".xpt": pyreadstat.write_xport,
    ".por": pyreadstat.write_por,
}
LABELLED = [".sav", ".zsav", ".dta"]
SEX = {1: "Male", 2: "Female"}


def written(path: Path, frame: pd.DataFrame, **options: Any) -> Path:
    WRITERS[path.suffix](frame, str(path), **options)
    return path


def opened(path: Path) -> Engine:
    return open_statistical(path, "release", MEMORY)


def cells(path: Path) -> dict[str, list[Any]]:
    with opened(path) as engine:
        table = engine.source_table()
        assert engine.records == table.num_rows
        return {name.lower(): column for name, column in table.to_pydict().items()}


def fault(path: Path) -> str:
    with pytest.raises(TcdpAuditError) as caught:
        opened(path)
    assert caught.value.__context__ is None
    return str(caught.value)


def test_it_conforms() -> None:
    check_conforms(STATISTICAL_FILES)


@pytest.mark.parametrize("kind", WRITERS)
def test_numbers_texts_and_missing_cells(tmp_path: Path, kind: str) -> None:
    frame = pd.DataFrame({"A": [1.5, np.nan, -3.0], "T": ["02139", "b", "x y"]})
    assert cells(written(tmp_path / f"r{kind}", frame)) == {"a": [1.5, None, -3.0], "t": ["02139", "b", "x y"]}


@pytest.mark.parametrize("kind", WRITERS)
def test_the_digest_is_that_of_the_file_and_nothing_is_left(tmp_path: Path, kind: str) -> None:
    path = written(tmp_path / f"r{kind}", pd.DataFrame({"A": [1.0]}))
    engine = opened(path)
    folders = [scratch.path for scratch in engine.scratches]
    assert engine.sha256() == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (engine.uri, engine.name, engine.path) == (str(path), path.name, None)
    assert [folder.exists() for folder in folders] == [True]
    engine.close()
    assert [folder.exists() for folder in folders] == [False]


@pytest.mark.parametrize("kind", LABELLED)
def test_labels_are_read_where_every_value_has_one_of_its_own(tmp_path: Path, kind: str) -> None:
    frame = pd.DataFrame({"sex": [1.0, 2.0, np.nan, 1.0]})
    path = written(tmp_path / f"r{kind}", frame, variable_value_labels={"sex": {**SEX, 3: "Other"}})
    assert cells(path) == {"sex": ["Male", "Female", None, "Male"]}


@pytest.mark.parametrize("kind", LABELLED)
@pytest.mark.parametrize(
    "labels",
    [{1: "Male"}, {1: "Same", 2: "Same"}, {1: "Male", 2: ""}],
    ids=["a value without", "one for two values", "an empty one"],
)
def test_otherwise_codes_are_read_and_no_two_become_one(tmp_path: Path, kind: str, labels: dict[int, str]) -> None:
    frame = pd.DataFrame({"sex": [1.0, 2.0, 1.0]})
    assert cells(written(tmp_path / f"r{kind}", frame, variable_value_labels={"sex": labels})) == {"sex": [1, 2, 1]}


def test_labels_of_texts(tmp_path: Path) -> None:
    frame = pd.DataFrame({"sex": ["m", "f", "f"]})
    path = written(tmp_path / "r.sav", frame, variable_value_labels={"sex": {"m": "Male", "f": "Female"}})
    assert cells(path) == {"sex": ["Male", "Female", "Female"]}


def test_what_spss_declares_missing_is_missing(tmp_path: Path) -> None:
    frame = pd.DataFrame({"sex": [1.0, 2, 8, 9], "age": [30.0, 98, 99, 100], "text": ["x", "NA", "y", ""]})
    missing = {"sex": [{"lo": 8, "hi": 9}], "age": [99, {"lo": 100, "hi": 200}], "text": ["NA"]}
    labels = {"sex": {**SEX, 8: "Refused", 9: "Refused"}}
    path = written(tmp_path / "r.sav", frame, missing_ranges=missing, variable_value_labels=labels)
    assert cells(path) == {
        "sex": ["Male", "Female", None, None],
        "age": [30, 98, None, None],
        "text": ["x", None, "y", ""],
    }


def test_special_missing_values_of_stata_are_missing(tmp_path: Path) -> None:
    frame = pd.DataFrame({"sex": [1, 2, "a", "z"], "one": [1, 1, 1, 2]})
    labels = {"sex": {1: "Male", 2: "Female", "a": "Male"}}
    path = written(tmp_path / "r.dta", frame, missing_user_values={"sex": ["a", "z"]}, variable_value_labels=labels)
    assert cells(path) == {"sex": ["Male", "Female", None, None], "one": [1, 1, 1, 2]}


@pytest.mark.parametrize("kind", [".sav", ".dta", ".xpt", ".por"])
def test_dates_are_exact(tmp_path: Path, kind: str) -> None:
    days = [dt.date(1600, 2, 29), dt.date(1959, 12, 31), None, dt.date(2100, 12, 31)]
    moments = [
        pd.Timestamp("1899-12-31 23:59:59"),
        pd.NaT,
        pd.Timestamp("1960-01-01"),
        pd.Timestamp("2024-02-29 12:30"),
    ]
    path = written(tmp_path / f"r{kind}", pd.DataFrame({"D": days, "M": moments}))
    assert cells(path) == {"d": days, "m": [None if pd.isna(one) else one.to_pydatetime() for one in moments]}


def test_a_date_with_a_time_of_day_is_no_date(tmp_path: Path) -> None:
    path = written(
        tmp_path / "r.sav", pd.DataFrame({"d": [86400.0 * 150_000, 86400.5]}), variable_format={"d": "DATE11"}
    )
    assert fault(path).endswith(
        "column 'd' has the format of dates and holds times of day too; give it one that shows both"
    )


@pytest.mark.parametrize(("number", "sentence"), [(1e300, "beyond the years 1 to 9999"), (1e9 + 2**-22, "finer than")])
def test_times_that_are_not_exact(tmp_path: Path, number: float, sentence: str) -> None:
    path = written(tmp_path / "r.sav", pd.DataFrame({"d": [number]}), variable_format={"d": "DATETIME20"})
    assert sentence in fault(path)


@pytest.mark.parametrize(
    ("name", "suffix", "is_date"),
    [
        ("DATE9.", ".xpt", True),
        ("YYMMDDN8", ".sas7bdat", True),
        ("E8601DA", ".sas7bdat", True),
        ("DATETIME20.", ".xpt", False),
        ("E8601DT", ".sas7bdat", False),
        ("TIME8", ".xpt", None),
        ("SDATE10", ".sav", True),
        ("YMDHMS19.2", ".sav", False),
        ("QYR8", ".sav", None),
        ("%td", ".dta", True),
        ("%tdCCYY-NN-DD", ".dta", True),
        ("%d", ".dta", True),
        ("%tc", ".dta", False),
        ("%tC", ".dta", None),
        ("%tm", ".dta", None),
        ("%9.0g", ".dta", None),
        ("", ".sav", None),
    ],
)
def test_formats(name: str, suffix: str, is_date: bool | None) -> None:
    times = times_of(name, suffix)
    assert (None if times is None else times.is_date) is is_date


def test_text_is_what_the_file_holds(tmp_path: Path) -> None:
    frame = pd.DataFrame({"text": ["blanks  ", "é女", "x" * 3000, ""]})
    assert cells(written(tmp_path / "r.sav", frame))["text"] == ["blanks", "é女", "x" * 3000, ""]
    assert cells(written(tmp_path / "r.dta", frame))["text"] == ["blanks  ", "é女", "x" * 3000, None]


def test_numbers_of_32_bits_are_the_decimals_that_were_intended(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": np.array([0.1, 2.5], np.float32), "b": np.array([1, 2], np.int8)})
    frame.to_stata(tmp_path / "r.dta", write_index=False)
    with opened(tmp_path / "r.dta") as engine:
        assert [engine.domain(name).values.tolist() for name in "ab"] == [[0.1, 2.5], [1, 2]]  # noqa: PD011


@pytest.mark.parametrize("kind", [".sav", ".zsav", ".dta", ".xpt", ".por"])
def test_records_come_in_parts_none_lost_or_read_twice(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "FEWEST", 7)
    monkeypatch.setattr(reading, "MOST", 7)
    for records in (6, 7, 14, 50):
        path = written(tmp_path / f"r{records}{kind}", pd.DataFrame({"A": np.arange(float(records))}))
        assert cells(path) == {"a": list(range(records))}


@pytest.fixture(scope="module")
def baseline() -> Any:
    return answer(sources.ARROW.select(RETAINED))


RETAINED = ["zip", "sex", "severity", "cost", "note"]
POLICY = {
    "version": 1,
    "attributes": {
        "zip": {"role": "quasi_identifier"},
        "sex": {"role": "quasi_identifier"},
        "severity": {"role": "sensitive", "scale": "ordinal", "order": ["*", "low", "middle", "high"]},
        "cost": {"role": "sensitive", "scale": "numeric"},
        "note": {"role": "insensitive"},
    },
    "expect": [
        {"k_anonymity": {"k": 5}},
        {"distinct_l_diversity": {"l": 2}},
        {"t_closeness": {"t": 0.2, "attribute": "cost", "distance": "ordered"}},
    ],
}


def answer(release: Any) -> Any:
    return audit(release, POLICY, plugins=PLUGINS, memory=MEMORY).outcomes


@pytest.mark.parametrize("kind", [".sav", ".zsav", ".dta"])
def test_the_same_table_gives_the_same_answer(tmp_path: Path, kind: str, baseline: Any) -> None:
    frame = pd.DataFrame({name: sources.TABLE[name] for name in RETAINED})
    frame = frame.fillna({name: "" for name in RETAINED if name != "cost"})
    assert answer(written(tmp_path / f"r{kind}", frame)) == baseline


@pytest.mark.parametrize("kind", [".sav", ".dta"])
def test_labels_give_the_same_answer_as_their_text(tmp_path: Path, kind: str, baseline: Any) -> None:
    frame = pd.DataFrame({name: sources.TABLE[name] for name in RETAINED}).fillna({"zip": "", "note": ""})
    labels = {}
    for name in ("sex", "severity"):
        texts = sorted({text for text in sources.TABLE[name] if text})
        labels[name] = dict(enumerate(texts, 1))
        frame[name] = [np.nan if text is None else texts.index(text) + 1.0 for text in sources.TABLE[name]]
    assert answer(written(tmp_path / f"r{kind}", frame, variable_value_labels=labels)) == baseline


def test_labels_of_a_release_are_not_compared_with_codes_of_its_original(tmp_path: Path) -> None:
    labels = {"variable_value_labels": {"sex": SEX}}
    release = written(tmp_path / "r.sav", pd.DataFrame({"sex": [1.0, 2.0] * 4}), **labels)
    alike = written(tmp_path / "a.sav", pd.DataFrame({"sex": [1.0, 2.0] * 5}), **labels)
    other = written(tmp_path / "o.sav", pd.DataFrame({"sex": [1.0, 3.0] * 5}), **labels)
    attributes = {"sex": {"role": "quasi_identifier"}}
    policy = {"version": 1, "attributes": attributes, "expect": [{"k_anonymity": {"k": 2}}]}
    assert audit(release, policy, alike, plugins=PLUGINS).outcomes
    with pytest.raises(DataError, match="column 'sex' is read as its value labels in one of the release and the orig"):
        audit(release, policy, other, plugins=PLUGINS)


@pytest.mark.parametrize("kind", WRITERS)
def test_a_file_that_is_cut_off_or_something_else_is_refused(tmp_path: Path, kind: str) -> None:
    frame = pd.DataFrame({"A": np.arange(300.0), "T": ["SECRET"] * 300})
    path = written(tmp_path / f"r{kind}", frame)
    whole = path.read_bytes()
    for size in (0.3, 0.6, 0.9):
        path.write_bytes(whole[: int(len(whole) * size) // 80 * 80 + 7])
        assert "write it again" in (said := fault(path))
        assert "SECRET" not in said
    path.write_bytes(b"a,b\n1,2\n" * 60)
    assert "write it again" in fault(path)
    path.write_bytes(b"")
    assert "the file is empty" in fault(path)


def test_records_that_do_not_come_are_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = pyreadstat.read_dta

    def short(*given: Any, metadataonly: bool = False, **options: Any) -> Any:
        if not metadataonly:
            options["row_limit"] = 2
        return read(*given, metadataonly=metadataonly, **options)

    path = written(tmp_path / "r.dta", pd.DataFrame({"a": [1.0, 2.0, 3.0]}))
    monkeypatch.setattr(pyreadstat, "read_dta", short)
    assert fault(path) == f"{path}: 2 records were read where it declares 3; write it again"


def test_a_dta_without_its_end_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "r.dta", pd.DataFrame({"a": [1.0]}))
    path.write_bytes(path.read_bytes()[:-5])
    assert fault(path) == f"{path}: the file is cut off; write it again"


def test_a_file_that_changes_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "r.sav", pd.DataFrame({"a": [1.0, 2.0]}))
    write = reading.write_labels

    def changing(*arguments: Any) -> None:
        written(path, pd.DataFrame({"a": [3.0, 2.0, 1.0]}))
        write(*arguments)

    monkeypatch.setattr(reading, "write_labels", changing)
    assert "the file changed while it was audited" in fault(path)


def test_the_error_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "r.sav", pd.DataFrame({"a": [1.0]}))
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    assert fault(path) == f'{path}: needs pyreadstat; pip install "tcdp-audit[statistics]"'


def test_what_is_no_file(tmp_path: Path) -> None:
    assert fault(tmp_path / "none.sav").endswith("none.sav: no such file")
    (tmp_path / "folder.sav").mkdir()
    assert fault(tmp_path / "folder.sav").endswith("is a folder; name a file")
    assert not is_statistical("s3://bucket/r.sav")
    assert not is_statistical(pd.DataFrame())


def test_fix_reads_it_and_writes_another_kind(tmp_path: Path) -> None:
    frame = pd.DataFrame({"sex": [1.0] * 8 + [2.0], "day": [dt.date(2024, 1, 1)] * 9})
    path = written(tmp_path / "r.sav", frame, variable_value_labels={"sex": SEX})
    policy = {
        "version": 1,
        "attributes": {"sex": {"role": "quasi_identifier"}, "day": {"role": "insensitive"}},
        "expect": [{"k_anonymity": {"k": 2}}],
        "remedy": [{"suppression": {}}],
    }
    done = fix(path, policy, output=tmp_path / "fixed.parquet", plugins=PLUGINS)
    assert done.passed
    assert done.released["day"].to_pylist() == [dt.date(2024, 1, 1)] * done.released.num_rows
    assert set(done.released["sex"].to_pylist()) <= {"Male", "*"}
    with pytest.raises(UsageError, match="files of this kind are read and not written"):
        fix(path, policy, output=tmp_path / "fixed.sav", plugins=PLUGINS)


def test_the_command_line_takes_it(tmp_path: Path) -> None:
    path = written(tmp_path / "r.dta", pd.DataFrame({"sex": ["m"] * 5}))
    policy = tmp_path / "p.tcdp.yaml"
    policy.write_text(
        "version: 1\nrelease: r.dta\nattributes:\n  sex: {role: quasi_identifier}\nexpect:\n- k_anonymity: {k: 5}\n"
    )
    assert run("check", ["--policy", str(policy), "--quiet"]) == 0
    assert run("check", [str(path), "--policy", str(policy), "--quiet"]) == 0
