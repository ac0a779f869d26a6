"""A draft from a session: the same as from the file, which is not opened again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tcdp_audit.api import Plugins, Session, open_session
from tcdp_audit.core.session import tables
from tcdp_audit.drafting import PolicyEditor, draft_policy
from tcdp_audit.plugin.engine import UsageError

PLUGINS = Plugins.load(external=False)


def write(folder: Path, *, comma: bool = False) -> Path:
    """A table of people; with `comma`, in the notation of numbers that a decimal comma has."""
    between, point = (";", ",") if comma else (",", ".")
    rows = [between.join((f"p{n}", str(20 + n % 60), f"{n % 7}{point}5", "fm"[n % 2])) for n in range(200)]
    path = folder / "people.csv"
    path.write_text("\n".join([between.join(("person", "age", "dose", "sex")), *rows, ""]), encoding="utf-8")
    return path


def opened(path: Path) -> Session:
    return open_session(str(path), plugins=PLUGINS)


@pytest.mark.parametrize(("comma", "openings"), [(False, 1), (True, 3)])
def test_the_draft_is_that_of_the_file_and_nothing_is_opened_again(
    comma: bool, openings: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A decimal comma shows in the cells alone: the draft reads them so, and the audit its columns of numbers."""
    path = write(tmp_path, comma=comma)
    wanted = draft_policy(str(path), plugins=PLUGINS)
    calls: list[Any] = []
    original = tables.open_table

    def counted(*arguments: Any) -> Any:
        calls.append(arguments)
        return original(*arguments)

    monkeypatch.setattr(tables, "open_table", counted)
    with opened(path) as session:
        draft = draft_policy(session)
        policy = PolicyEditor(draft.text(tmp_path / "people.tcdp.yaml"), path=tmp_path / "people.tcdp.yaml").policy
        draft.write_hierarchies(tmp_path / "people.tcdp.yaml", force=False)
        assert session.audit(policy()).release.records == 200
    assert (draft, len(calls)) == (wanted, openings)


def test_a_session_has_its_own_plugins_and_memory(tmp_path: Path) -> None:
    with opened(write(tmp_path)) as session:
        for given in ({"plugins": PLUGINS}, {"memory": 2**30}):
            with pytest.raises(UsageError, match="are those of the session"):
                draft_policy(session, **given)


def test_a_session_of_several_tables_gives_no_draft() -> None:
    table = pa.table({"person": ["a", "b"], "sex": ["f", "m"]})
    policy = {
        "version": 1,
        "unit": "person",
        "tables": {"people": {"attributes": {"sex": {"role": "quasi_identifier"}}}},
        "expect": [{"k_anonymity": {"k": 2}}],
    }
    with (
        open_session({"people": table}, policy, plugins=PLUGINS) as session,
        pytest.raises(UsageError, match="needs one that was given one table"),
    ):
        draft_policy(session)
