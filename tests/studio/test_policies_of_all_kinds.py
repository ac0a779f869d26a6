"""Policies with scenarios, of linked tables and of tables of figures: opened, judged, searched, released and signed."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from workbench_client import POLICY, Client, require_done, require_signed, running, write_policy

from tcdp_audit.studio.release import Signer

OUTPUTS = Path(__file__).parents[2] / "examples" / "outputs"
SCREENS = ("/table", "/risk", "/demands", "/remedies", "/release", "/report")
SCENARIOS = POLICY.replace(
    "expect:", "scenarios:\n  neighbour: {knows: [age, sex]}\n  office: {knows: [age, sex, zip]}\nexpect:"
)
TABLES = """\
version: 1
unit: person
unit_name: person
tables:
  people:
    file: persons.csv
    attributes:
      sex: {role: quasi_identifier}
      zip: {role: quasi_identifier}
  visits:
    file: visits.csv
    belongs_to: people
    attributes:
      ward: {role: quasi_identifier}
      illness: {role: sensitive}
expect:
  - k_anonymity: {k: 2}
"""
ANSWERS = [*(("answer", one) for one in ("roles", "tables", "law")), ("signer", "Bea Lead")]


def search_take_release_and_sign(client: Client) -> None:
    """From the search for remedies to the signature."""
    bench = client.studio.bench
    client.send("/remedies/begin")
    require_done(client)
    assert bench.front.points
    assert bench.front.own_place is not None
    page = client.get("/remedies").text
    assert ", yours" in page
    number = bench.front.own_place + 1
    assert client.send("/remedies/take", {"point": number, "reason": "ours"}).head["location"] == "/release"
    client.send("/release/try")
    require_done(client)
    assert bench.trial.after.passed
    release_and_sign(client)
    assert "Fit" in client.get("/report").text


def release_and_sign(client: Client) -> None:
    """Write the release, and sign it."""
    client.send("/release/write", {"report": "yes", "result": "yes"})
    require_done(client)
    assert client.send("/report/sign", ANSWERS).status == 303, client.seen[-1]
    assert "Signed by Bea Lead" in client.get("/report").text


def test_scenarios(folder: Path, signer: Signer) -> None:
    write_policy(folder, SCENARIOS)
    with running(folder, signer=signer) as client:
        assert {client.get(one).status for one in SCREENS} == {200}
        text = client.get("/risk").text
        assert "Neighbour" in text
        assert "Office" in text
        search_take_release_and_sign(client)
    require_signed(folder)


def test_linked_tables(folder: Path, signer: Signer) -> None:
    draw = random.Random(1)  # noqa: S311 - tables to test on
    people = [f"{n},{draw.choice('fm')},{draw.randint(1, 3)}" for n in range(60)]
    visits = [f"{draw.randint(0, 59)},{draw.choice('ab')},{draw.choice(['flu', 'gout'])}" for _ in range(90)]
    (folder / "persons.csv").write_text("\n".join(["person,sex,zip", *people, ""]), encoding="utf-8")
    (folder / "visits.csv").write_text("\n".join(["person,ward,illness", *visits, ""]), encoding="utf-8")
    path = write_policy(folder, TABLES, "clinic.tcdp.yaml")
    with running(folder, table=None, policy=str(path), signer=signer) as client:
        bench = client.studio.bench
        assert "visits.ward" in client.get("/table").text
        names = [one.name for one in bench.columns]
        client.send("/table/role", {"column": names.index("people.zip"), "role": "insensitive", "reason": "coarse"})
        assert bench.policy.attributes["people.zip"].role.value == "insensitive"
        assert {client.get(one).status for one in SCREENS} == {200}
        search_take_release_and_sign(client)
        assert (folder / "clinic.release").is_dir()
    written = (
        f"--table={name}=clinic.release/{file}.csv" for name, file in (("people", "persons"), ("visits", "visits"))
    )
    require_signed(folder, "clinic", [*written])


def test_tables_of_figures_are_judged_and_signed_and_the_screen_names_the_command(folder: Path, signer: Signer) -> None:
    shutil.copytree(OUTPUTS, folder, dirs_exist_ok=True)
    path = folder / "outputs.tcdp.yaml"
    with running(folder, table=None, policy=str(path), signer=signer) as client:
        assert {client.get(one).status for one in SCREENS} == {200}
        assert "go on to the demands" in client.get("/table").text
        assert "go on to the demands" in client.get("/risk").text
        assert client.studio.bench.policy.name in client.get("/risk").text
        assert "2 of 3 demands fail" in client.get("/demands").text
        page = client.get("/remedies").text
        assert f"tcdp-audit check --policy {path} --try-remedies" in page
        assert "Search for remedies" not in page
        assert "Remedies change records" in client.send("/remedies/begin").text
        release_and_sign(client)
        assert "Not fit for release" in client.get("/report").text


def test_a_search_that_fails_names_the_command(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tcdp_audit.core.repair.session import Session
    from tcdp_audit.plugin.engine import DataError

    def fail(*_: object, **__: object) -> None:
        raise DataError("people.csv: it cannot be searched")

    with running(folder) as client:
        monkeypatch.setattr(Session, "frontier", fail)
        client.send("/remedies/begin")
        client.studio.bench.work.wait(60)
        page = client.get("/remedies").text
        assert "it cannot be searched" in page
        assert f"tcdp-audit frontier {folder / 'people.csv'} --policy {folder / 'people.tcdp.yaml'}" in page


def test_without_a_demand_the_screen_leads_to_the_demands(folder: Path) -> None:
    write_policy(folder, POLICY.replace("{k: 3}", "{}").replace("l: 2, ", ""))
    with running(folder) as client:
        page = client.get("/remedies").text
        assert "Nothing is demanded yet" in page
        assert "Set a demand" in page
        assert "Nothing is demanded yet" in client.get("/demands").text
