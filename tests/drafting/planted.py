"""Tables with planted identifiers, made by a seed: a clinic's, a bank's in German, a survey's in Spanish.

Some identifiers have a name that says what they are, others one that says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, timedelta
from uuid import UUID

import numpy as np
import pyarrow as pa

IDENTIFIER, KNOWN, SECRET, NEITHER = "identifier", "quasi_identifier", "sensitive", "insensitive"
FIRST = ("Ada", "Bruno", "Carla", "Dilan", "Emil", "Farah", "Gustav", "Hanna", "Ivo", "Jana", "Kofi", "Lea", "Mina")
LAST = ("Abel", "Brandt", "Costa", "Duarte", "Ekman", "Fischer", "Garcia", "Haas", "Ibsen", "Janssen", "Kaya", "Lund")
STREETS = ("Oak Street", "Mill Road", "High Street", "Park Avenue", "Church Lane")

Column = tuple[str, str, Sequence[object]]  # name, right role, cells


class Planter:
    """Cells of people who do not exist."""

    def __init__(self, seed: int, people: int) -> None:
        self.rng, self.people = np.random.default_rng(seed), people

    def many(self, make: Callable[[], object]) -> list[object]:
        return [make() for _ in range(self.people)]

    def one_of(self, *values: object) -> list[object]:
        return [values[one] for one in self.rng.integers(len(values), size=self.people)]

    def digits(self, count: int) -> str:
        return "".join(map(str, self.rng.integers(10, size=count)))

    def day(self, first: int, last: int) -> date:
        return date(first, 1, 1) + timedelta(days=int(self.rng.integers(365 * (last - first))))

    def full_name(self) -> str:
        return f"{FIRST[self.rng.integers(len(FIRST))]} {LAST[self.rng.integers(len(LAST))]}"

    def mail(self) -> str:
        return f"{LAST[self.rng.integers(len(LAST))].lower()}{self.digits(5)}@example.org"

    def social_security_number(self) -> str:
        area = [one for one in range(1, 900) if one != 666][self.rng.integers(898)]
        return f"{area:03d}-{self.rng.integers(1, 100):02d}-{self.rng.integers(1, 10000):04d}"

    def nhs_number(self) -> str:
        while True:
            body = self.digits(9)
            check = 11 - sum(int(one) * weight for one, weight in zip(body, range(10, 1, -1), strict=True)) % 11
            if check != 10:
                return f"{body}{check % 11}"

    def card(self) -> str:
        body = f"4{self.digits(14)}"
        doubled = [sum(divmod(2 * int(one), 10)) if place % 2 == 0 else int(one) for place, one in enumerate(body)]
        return f"{body}{-sum(doubled) % 10}"

    def iban(self) -> str:
        account = self.digits(18)
        return f"DE{98 - int(f'{account}131400') % 97:02d}{account}"

    def uuid(self) -> str:
        return str(UUID(bytes=self.rng.bytes(16), version=4))

    def address(self) -> str:
        return ".".join(map(str, self.rng.integers(1, 255, size=4)))

    def amount(self) -> int:
        return int(np.exp(self.rng.normal(10, 0.8)))


def clinic(people: int = 2000) -> list[Column]:
    """A clinic's patients; identifiers as `field_7`, `code` and `ref` have no name that helps."""
    p = Planter(1, people)
    return [
        ("patient_name", IDENTIFIER, p.many(p.full_name)),
        ("email", IDENTIFIER, p.many(p.mail)),
        ("mrn", IDENTIFIER, p.many(lambda: p.digits(7))),
        ("field_7", IDENTIFIER, p.many(p.social_security_number)),
        ("code", IDENTIFIER, p.many(p.nhs_number)),
        ("ref", IDENTIFIER, p.many(p.uuid)),
        ("street", IDENTIFIER, p.many(lambda: f"{p.rng.integers(1, 200)} {STREETS[p.rng.integers(5)]}")),
        ("date_of_birth", KNOWN, p.many(lambda: p.day(1930, 2015).isoformat())),
        ("zip", KNOWN, p.many(lambda: f"02{p.digits(3)}")),
        ("sex", KNOWN, p.one_of("f", "m")),
        ("admitted", KNOWN, p.many(lambda: p.day(2021, 2024).isoformat())),
        ("ward", KNOWN, p.one_of("A1", "A2", "B1")),
        ("diagnosis", SECRET, p.one_of("E11.9", "I10", "J45.0", "F32.1")),
        ("severity", SECRET, p.one_of("mild", "moderate", "severe")),
        ("cost", SECRET, p.many(p.amount)),
        ("scanner", NEITHER, p.one_of("s1", "s2")),
    ]


def bank(people: int = 2000) -> list[Column]:
    """A bank's customers in German; `verbindung`, `k2` and `letzter_zugang` are identifiers."""
    p = Planter(2, people)
    return [
        ("knr", IDENTIFIER, [100_000 + one for one in range(people)]),
        ("Nachname", IDENTIFIER, p.many(lambda: LAST[p.rng.integers(len(LAST))])),
        ("verbindung", IDENTIFIER, p.many(p.iban)),
        ("k2", IDENTIFIER, p.many(p.card)),
        ("letzter_zugang", IDENTIFIER, p.many(p.address)),
        ("Geburtsdatum", KNOWN, p.many(lambda: p.day(1930, 2005).strftime("%d.%m.%Y"))),
        ("PLZ", KNOWN, p.many(lambda: f"1{p.digits(4)}")),
        ("Beruf", KNOWN, p.one_of("Lehrer", "Arzt", "Maurer", "Bäcker")),
        ("Familienstand", KNOWN, p.one_of("ledig", "verheiratet", "verwitwet")),
        ("Staatsangehörigkeit", KNOWN, p.one_of("DE", "FR", "NA", "PL")),
        ("Jahreseinkommen", SECRET, p.many(p.amount)),
        ("Schulden", SECRET, p.many(p.amount)),
        ("Filiale", NEITHER, p.one_of(1, 2, 3, 4)),
    ]


def survey(people: int = 2000) -> list[Column]:
    """A survey in Spanish; `contacto` and `equipo` are identifiers, and answers have no name that helps."""
    p = Planter(3, people)
    return [
        ("n", IDENTIFIER, list(range(1, people + 1))),
        ("contacto", IDENTIFIER, p.many(p.mail)),
        ("telefono", IDENTIFIER, p.many(lambda: f"+34 6{p.digits(2)} {p.digits(3)} {p.digits(3)}")),
        ("equipo", IDENTIFIER, p.many(lambda: ":".join(f"{one:02x}" for one in p.rng.integers(256, size=6)))),
        ("edad", KNOWN, p.many(lambda: int(p.rng.integers(18, 95)))),
        ("sexo", KNOWN, p.one_of("mujer", "hombre", "?")),
        ("provincia", KNOWN, p.one_of("Madrid", "Sevilla", "Lugo", "Soria", "Cádiz")),
        ("estudios", KNOWN, p.one_of("primarios", "medios", "superiores")),
        ("religión", SECRET, p.one_of("ninguna", "católica", "otra")),
        ("voto", SECRET, p.one_of("a", "b", "c", "NS/NC")),
        ("ingresos", SECRET, p.many(p.amount)),
        ("r1", NEITHER, p.one_of(1, 2, 3, 4, 5)),
        ("r2", NEITHER, p.one_of(1, 2, 3, 4, 5)),
    ]


def table_of(columns: Sequence[Column]) -> pa.Table:
    """The columns as a table."""
    return pa.table({name: list(cells) for name, _, cells in columns})


def roles_of(columns: Sequence[Column]) -> dict[str, str]:
    """The right role of each column."""
    return {name: role for name, role, _ in columns}


PLANTED = {"clinic": clinic, "bank": bank, "survey": survey}
