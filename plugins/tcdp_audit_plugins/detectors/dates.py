"""Dates that are exact to the day."""

from __future__ import annotations

from tcdp_audit.plugin import Detector, Role, ValueDetector
from tcdp_audit_plugins.detectors._shared.phrases import phrases
from tcdp_audit_plugins.detectors._shared.random_texts import anything, characters

YEAR, MONTH, DAY = "(1[89]|20)[0-9]{2}", "(0?[1-9]|1[0-2])", "(0?[1-9]|[12][0-9]|3[01])"
TIME = r"([T ][0-9:.]+(Z|[+-][0-9:]+)?)?"
WRITTEN = rf"({YEAR}([-./]){MONTH}\3{DAY}|{DAY}([-./]){MONTH}\7{YEAR}|{MONTH}([-./]){DAY}\11{YEAR}){TIME}"
COMPACT = "(1[89]|20)[0-9]{2}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])"

DETECTORS: tuple[Detector, ...] = (
    ValueDetector(
        name="date_of_birth",
        noun="date of birth",
        nouns="dates of birth",
        words=phrases(
            """
            date of birth, birth date, birthday, dob, =born, birthdate, geburtsdatum, geboren, geb datum, date de
            naissance, naissance, ddn, fecha de nacimiento, nacimiento, geboortedatum, data di nascita, data
            nascita, data de nascimento, fodelsedatum, fodselsdato, syntymaaika, data urodzenia, datum narozeni
            """
        ),
        layout=f"{WRITTEN}|{COMPACT}",
        base_rate=0.01,
        random_value=anything,
        role=Role.QUASI_IDENTIFIER,
        safe_harbor="C",
        needs_name=True,
        source="ISO 8601-1:2019, and the orders that people write",
        examples=("1815-12-10", "10.12.1815", "12/10/1815", "18151210"),
        counterexamples=("1815", "12-1815", "1815-13-10x"),
    ),
    ValueDetector(
        name="exact_date",
        noun="date exact to the day",
        nouns="dates exact to the day",
        words=phrases(
            """
            date, datum, fecha, =data, timestamp, admission date, discharge date, date of death, dod, aufnahmedatum,
            entlassdatum, todesdatum, date d admission, date de sortie, opnamedatum
            """
        ),
        layout=f"{WRITTEN}|{COMPACT}",
        base_rate=0.01,
        random_value=characters("0123456789", 8),
        role=Role.QUASI_IDENTIFIER,
        safe_harbor="C",
        source="ISO 8601-1:2019, and the orders that people write",
        examples=("2026-11-22", "2026-11-22T10:00:00", "22.11.2026", "20261122"),
        counterexamples=("2026", "2026-11", "99999999"),
    ),
)
