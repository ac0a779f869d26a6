"""A table for workbenches, and a client that speaks to one as a browser does, header by header."""

from __future__ import annotations

import http.client
import random
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tcdp_audit.studio.choices import Place
from tcdp_audit.studio.server import Studio
from tcdp_audit.studio.work import State, Work
from tcdp_audit.studio.workbench import Workbench

COLUMNS = ("patient", "age", "sex", "zip", "illness", "cost")
ILLNESSES = ("asthma", "flu", "gout", "measles", "migraine")
POLICY = """\
version: 1
attributes:
  patient: {role: identifier}
  age: {role: quasi_identifier, scale: numeric, hierarchy: age.csv}
  sex: {role: quasi_identifier, scale: nominal}
  zip: {role: quasi_identifier, scale: nominal, hierarchy: zip.csv}
  illness: {role: sensitive, scale: nominal}
  cost: {role: insensitive, scale: numeric}
unit_name: person
expect:
  - k_anonymity: {k: 3}
  - distinct_l_diversity: {l: 2, attribute: illness}
"""
TOKEN = re.compile(r'name="token" value="([^"]+)"')
SHAPE = re.compile(r'name="shape" value="([^"]+)"')


def write_table(folder: Path, records: int = 300, seed: int = 1, name: str = "people.csv") -> Path:
    """A table of people, with hierarchies of age and zip next to it."""
    draw = random.Random(seed)  # noqa: S311 - a table to test on
    rows = [
        f"p{number:05},{draw.randint(20, 79)},{draw.choice('fm')},{draw.randint(100, 139)},{draw.choice(ILLNESSES)},"
        f"{draw.randint(1, 999)}"
        for number in range(records)
    ]
    path = folder / name
    path.write_text("\n".join([",".join(COLUMNS), *rows, ""]), encoding="utf-8")
    ages = [
        f"{age};{age // 10 * 10}-{age // 10 * 10 + 9};{'20-49' if age < 50 else '50-79'};*" for age in range(20, 80)
    ]
    (folder / "age.csv").write_text("\n".join([*ages, ""]), encoding="utf-8")
    (folder / "zip.csv").write_text("".join(f"{one};{one // 10}*;*\n" for one in range(100, 140)), encoding="utf-8")
    return path


def write_policy(folder: Path, text: str = POLICY, name: str = "people.tcdp.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@dataclass
class Answer:
    """An answer of the workbench."""

    status: int
    head: Mapping[str, str]
    cookies: str
    text: str


@dataclass
class Client:
    """A browser without scripts.

    Attributes:
        studio: the workbench.
        cookie: what it shows, as `name=value`.
    """

    studio: Studio
    cookie: str = ""
    seen: list[str] = field(default_factory=list)

    def ask(self, method: str, path: str, body: bytes | None = None, **head: str | None) -> Answer:
        """Send one request. Headers are given with `_` for `-`; None leaves one out."""
        own: dict[str, str | None] = {"host": self.studio.host, "cookie": self.cookie or None}
        if method == "POST":
            own["origin"] = f"http://{self.studio.host}"
        own |= {name.replace("_", "-"): value for name, value in head.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.studio.port, timeout=30)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in own.items():
            if value is not None:
                connection.putheader(name, value)
        if body is not None and "transfer-encoding" not in own:
            connection.putheader("content-length", str(len(body)))
        connection.endheaders(body)
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        self.seen.append(text)
        head_of = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, head_of, response.getheader("set-cookie") or "", text)

    def get(self, path: str, **head: str | None) -> Answer:
        return self.ask("GET", path, **head)

    def enter(self) -> Answer:
        """Enter with the address that the terminal shows, and keep the cookie."""
        answer = self.get(self.studio.address.partition(self.studio.host)[2])
        self.cookie = answer.cookies.partition(";")[0]
        return answer

    def send(self, path: str, fields: Mapping[str, Any] | Sequence[tuple[str, Any]] = (), **head: str | None) -> Answer:
        """Send a form with the token of the page, as a click on its button does."""
        pairs = list(fields.items()) if isinstance(fields, Mapping) else list(fields)
        body = urlencode([("token", self.studio.keys.page), *pairs]).encode()
        return self.ask("POST", path, body, content_type="application/x-www-form-urlencoded", **head)


@contextmanager
def running(
    folder: Path, *, table: str | None = "people.csv", policy: str | None = None, entered: bool = True, **more: Any
) -> Iterator[Client]:
    """A workbench on a table of a folder, or on the tables of a policy, open, and a client that has entered."""
    place = Place.of(None if table is None else str(folder / table), policy)
    studio = Studio(Workbench(place, **more))
    with studio.serving():
        studio.bench.opening.wait(60)
        assert not studio.bench.opening.fault, studio.bench.opening.fault
        client = Client(studio)
        if entered:
            client.enter()
        yield client


def finished(client: Client) -> Work:
    """The work of a workbench, when it has ended."""
    client.studio.bench.work.wait(120)
    return client.studio.bench.work


def require_done(client: Client) -> None:
    """Insist that the work ends well."""
    work = finished(client)
    assert work.state is State.DONE, work.fault


def require_signed(folder: Path, name: str = "people", release: Sequence[str] = ("people.release.csv",)) -> None:
    """Insist that the command line confirms a signature with the public key of the folder."""
    command = [sys.executable, "-m", "tcdp_audit", "verify", f"{name}.attestation.json", *release]
    done = subprocess.run([*command, "--key", "public.pem"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
