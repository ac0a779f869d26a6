"""docs/dbt.md from failing to passing, on DuckDB and PostgreSQL, and the figures of the generic tests beside ours."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests" / "engines" / "database"))

from postgres_server import PASSWORD, USER, Server, binaries  # noqa: E402

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("dbt")]

SHOP = Path(__file__).parent / "dbt_shop"
PAGE = (ROOT / "docs" / "dbt.md").read_text(encoding="utf-8")
FILES = re.findall(r"```(?:yaml|sql)\n(?:#|--) (\S+\.\w+)\n(.*?)```", PAGE, re.DOTALL)
QUIET = {"DBT_SEND_ANONYMOUS_USAGE_STATS": "false", "DBT_NO_VERSION_CHECK": "1"}
COMMAND = [sys.executable, "-m", "tcdp_audit"]
DEMANDS = {"k_anonymity": "k_anonymity", "l_diversity": "distinct_l_diversity", "t_closeness": "t_closeness"}
# what is written in the cells of `edges`: a null, an empty text and NaN are missing, and missing values are equal
EDGES = [
    *(("a", 1.5, "x"), ("a", 1.5, "x"), ("a", 1.5, "y")),
    *((None, 2.0, "x"), ("", 2.0, "z"), ("A", 2.0, None)),
    *(("b", float("nan"), "x"), ("b", None, "y"), ("b", float("nan"), "")),
    *((" a", -0.0, "x"), (" a", 0.0, "z"), ("b ", 1e300, None)),
]


class Shop:
    """A project of dbt in a folder of its own, with the environment in which its commands run."""

    def __init__(self, folder: Path, dbt: Path, **environment: str) -> None:
        shutil.copytree(SHOP, folder)
        shutil.copytree(ROOT / "clients" / "dbt" / "macros", folder / "macros" / "tcdp_audit")
        self.folder, self._dbt = folder, dbt / "dbt"
        self._environment = {**os.environ, **QUIET, **environment, "COLUMNS": "200"}
        self.printed = ""

    def run(self, *command: str | Path) -> int:
        """The exit code of a command; what it prints is kept."""
        ran = subprocess.run(
            command, cwd=self.folder, env=self._environment, capture_output=True, text=True, check=False
        )
        self.printed += f"\n{ran.stdout}{ran.stderr}"
        return ran.returncode

    def build(self, *options: str) -> int:
        return self.run(self._dbt, "build", "--no-use-colors", *options)

    def audit(self, *options: str) -> int:
        return self.run(*COMMAND, "dbt", *options)

    def follow(self, *names: str) -> None:
        """Write files of the page."""
        for name, text in FILES:
            if name in names:
                (self.folder / name).write_text(text, encoding="utf-8")

    def failing_records(self) -> Iterator[tuple[str, int]]:
        """What each generic test of ours counted in the last run."""
        results = json.loads((self.folder / "target" / "run_results.json").read_text())["results"]
        nodes = json.loads((self.folder / "target" / "manifest.json").read_text())["nodes"]
        for one in results:
            kind = (nodes[one["unique_id"]].get("test_metadata") or {}).get("name")
            if kind in DEMANDS:
                assert one["status"] in ("pass", "fail"), one
                yield DEMANDS[kind], one["failures"]


@pytest.fixture(scope="module")
def server(skip_or_fail: Callable[[str], None]) -> Iterator[Server]:
    if binaries() is None:
        skip_or_fail("PostgreSQL's server is not installed")
    started = Server.start()
    try:
        yield started
    finally:
        started.stop()


@pytest.fixture(params=["duckdb", "postgres"])
def shop(request: pytest.FixtureRequest, guest: Callable[[str], Path], tmp_path: Path) -> Shop:
    """The shop, in a file of DuckDB or in a server that listens on a socket."""
    if request.param == "duckdb":
        return Shop(tmp_path / "shop", guest("dbt"))
    server = request.getfixturevalue("server")
    return Shop(
        tmp_path / "shop",
        guest("dbt"),
        SHOP_TARGET="server",
        SHOP_HOST=str(server.folder),
        SHOP_USER=USER,
        DBT_ENV_SECRET_SHOP_PASSWORD=PASSWORD,
    )


def without_customers(path: Path) -> None:
    """Delete what the page says: the entry of `customers`, and the test `relationships` of `orders`."""
    content = yaml.safe_load(path.read_text())
    content["models"] = [one for one in content["models"] if one["name"] != "customers"]
    for column in (column for one in content["models"] for column in one["columns"]):
        column["data_tests"] = [one for one in column["data_tests"] if "relationships" not in one]
    path.write_text(yaml.safe_dump(content))


def outcomes(path: Path) -> dict[str, Mapping[str, Any]]:
    listed = json.loads(path.read_text())["outcomes"]
    return {one["check"]: one for one in listed if one["check"] in DEMANDS.values()}


def test_the_page_leads_from_failing_to_passing(shop):
    shop.follow("customers.tcdp.yaml", "models/customers.yml")
    without_customers(shop.folder / "models" / "schema.yml")
    report = shop.folder / "customers.json"

    assert (shop.build(), shop.audit("--report", "{policy}.json", "--report", "{policy}.html")) == (1, 1), shop.printed
    ours = {check: one["records"]["failing"] for check, one in outcomes(report).items()}
    assert dict(shop.failing_records()) == ours
    assert min(ours.values()) > 0
    assert json.loads(report.read_text())["release"]["records"] == 100

    shop.follow("models/customers.sql")
    assert (shop.build(), shop.audit("--report", "{policy}.json")) == (0, 0), shop.printed
    assert dict(shop.failing_records()) == dict.fromkeys(DEMANDS.values(), 0)
    assert json.loads(report.read_text())["verdict"]["state"] == "passed"

    assert PASSWORD not in shop.printed
    assert USER not in shop.printed
    written = [one for one in shop.folder.iterdir() if one.suffix in (".json", ".html")]
    assert len(written) == 2
    assert not [one for one in written if PASSWORD in one.read_text() or USER in one.read_text()]


def test_figures_of_generic_tests_are_ours_at_the_edges(shop):
    """Missing values, signed zeros, blanks, collations, classes without a value: counted alike at every threshold."""
    models = shop.folder / "models"
    for path in models.rglob("*.*"):
        path.unlink()
    rows = " union all ".join(
        f"select {_text(zipped)} as zip, {_number(income)} as income, {_text(secret)} as secret"
        for zipped, income, secret in EDGES
    )
    (models / "edges.sql").write_text(f"{rows}\n")
    (models / "nobody.sql").write_text(f"select * from ({rows}) as listed where zip = 'nowhere'\n")
    known = ["zip", "income"]
    thresholds = {"k_anonymity": [2, 3, 4], "l_diversity": [1, 2, 3], "t_closeness": [0.2, 0.25, "0.28", 1]}
    parameter = {"k_anonymity": "k", "l_diversity": "l", "t_closeness": "t"}

    def tests(name: str) -> list[dict[str, Any]]:
        return [
            {name: {"name": f"{name}_{number}", "arguments": {"quasi_identifiers": known, parameter[name]: value}}}
            for number, value in enumerate(thresholds[name])
        ]

    expect = [
        {DEMANDS[name]: {parameter[name]: value, **({"distance": "equal"} if name == "t_closeness" else {})}}
        for name, values in thresholds.items()
        for value in values
    ]
    policy = {
        "version": 1,
        "attributes": {
            "zip": {"role": "quasi_identifier"},
            "income": {"role": "quasi_identifier"},
            "secret": {"role": "sensitive", "scale": "nominal"},
        },
        "expect": expect,
    }
    judged = {
        "name": "edges",
        "config": {"meta": {"tcdp_audit": policy}},
        "data_tests": tests("k_anonymity"),
        "columns": [{"name": "secret", "data_tests": [*tests("l_diversity"), *tests("t_closeness")]}],
    }
    empty = {
        "name": "nobody",
        "data_tests": [{"k_anonymity": {"name": "of_nobody", "arguments": {"quasi_identifiers": known, "k": 2}}}],
    }
    (models / "edges.yml").write_text(yaml.safe_dump({"models": [judged, empty]}))

    assert shop.build("--exclude-resource-type", "seed") == 1, shop.printed
    assert shop.audit("--report", "edges.json") == 1, shop.printed
    results = json.loads((shop.folder / "target" / "run_results.json").read_text())["results"]
    theirs = {one["unique_id"].split(".")[2]: one["failures"] for one in results if one["failures"] is not None}
    outcomes = json.loads((shop.folder / "edges.json").read_text())["outcomes"]
    listed = [one for one in outcomes if one["check"] in DEMANDS.values()]
    ours = {}
    names = [f"{name}_{number}" for name, values in thresholds.items() for number in range(len(values))]
    for name, one in zip(names, listed, strict=True):
        ours[name] = one["records"]["failing"]

    assert theirs.pop("of_nobody") == 1  # a table without records does not pass
    assert theirs == ours
    assert 0 < ours["k_anonymity_0"] < ours["k_anonymity_2"]
    assert len({ours[f"t_closeness_{number}"] for number in range(4)}) > 1


def _text(value: str | None) -> str:
    return "cast(null as varchar)" if value is None else f"cast('{value}' as varchar)"


def _number(value: float | None) -> str:
    return f"cast({'null' if value is None else repr(str(value))} as double precision)"


def test_a_model_whose_build_failed_is_not_audited(guest, tmp_path):
    shop = Shop(tmp_path / "shop", guest("dbt"))
    shop.follow("customers.tcdp.yaml", "models/customers.yml")
    without_customers(shop.folder / "models" / "schema.yml")
    assert shop.build("--quiet") == 1
    (shop.folder / "models" / "customers.sql").write_text("select no_such_column from {{ ref('stg_customers') }}\n")

    assert shop.build("--quiet") == 1
    assert shop.audit() == 3
    assert "customers: was not built by the last run of dbt (its state is 'error'); run dbt build" in shop.printed


def test_tests_that_are_called_wrongly_say_so(guest, tmp_path):
    shop = Shop(tmp_path / "shop", guest("dbt"))
    wrong = [
        {"k_anonymity": {"name": "no_column", "arguments": {"quasi_identifiers": ["nothing"], "k": 2}}},
        {"k_anonymity": {"name": "no_list", "arguments": {"quasi_identifiers": "customer_id", "k": 2}}},
    ]
    for one, says in zip(wrong, ("has no column nothing", "quasi_identifiers takes a list of columns"), strict=True):
        (shop.folder / "models" / "wrong.yml").write_text(
            yaml.safe_dump({"models": [{"name": "stg_customers", "data_tests": [one]}]})
        )
        shop.printed = ""
        assert shop.build("--select", "+stg_customers") != 0
        assert says in shop.printed


def test_the_shop_is_what_the_page_says() -> None:
    """Its seeds have people who never ordered, and its page has the three files that the test follows."""
    assert [name for name, _ in FILES] == ["customers.tcdp.yaml", "models/customers.yml", "models/customers.sql"]
    orders, people = (duckdb.read_csv(str(SHOP / "seeds" / f"raw_{name}.csv")) for name in ("orders", "customers"))
    assert people.count("id").fetchall() == [(100,)]
    assert len(set(orders.project("user_id").fetchall())) == 64
