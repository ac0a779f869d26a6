"""Dates that are exact to the day."""

from __future__ import annotations

from tcdp_audit.plugin.detector import Detector, Role, ValueDetector
from tcdp_audit_plugins.detectors._shared import anything, characters, phrases

YEAR, MONTH, DAY = "(1[89]|20)[0-9]{2}", "(0?[1-9]|1[0-2])", "(0?[1-9]|[12][0-9]|3[01])"
TIME = r"([T ][0-9:.]+(Z|[+-][0-9:]+)?)?"
WRITTEN = rf"({YEAR}([-./]){MONTH}\3{DAY}|{DAY}([-./]){MONTH}\7{YEAR}|{MONTH}([-./]){DAY}\11{YEAR}){TIME}"
COMPACT = "(1[89]|20)[0-9]{2}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])"

MONTHS = (
    "jan|january|januar|jänner|janvier|enero|feb|february|februar|février|febrero|mar|march|märz|mars|marzo|apr|april|"
    "avril|abril|may|mai|mayo|jun|june|juni|juin|junio|jul|july|juli|juillet|julio|aug|august|août|agosto|sep|sept|"
    "september|septembre|septiembre|oct|okt|october|oktober|octobre|octubre|nov|november|novembre|noviembre|dec|dez|"
    "december|dezember|décembre|diciembre"
)
ANY_YEAR = "((1[89]|20)[0-9]{2}|'?[0-9]{2})"
DAY_FIRST = rf"{DAY}(st|nd|rd|th|er)?[. -]*(of |de )?({MONTHS})\.?[, -]*(de )?{ANY_YEAR}"
MONTH_FIRST = rf"({MONTHS})\.? ?{DAY}(st|nd|rd|th)?(, ?| ){ANY_YEAR}"
IN_WORDS = f"(?i:{DAY_FIRST}|{MONTH_FIRST})"
SHORT = rf"({MONTH}([-/]){DAY}|{DAY}([-/]){MONTH})[-/][0-9]{{2}}"

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
    ValueDetector(
        name="date_in_words",
        noun="date exact to the day",
        nouns="dates exact to the day",
        words=phrases("date, datum, fecha, =data, date of birth, dob, geburtsdatum, date de naissance"),
        layout=rf"{IN_WORDS}|{SHORT}{TIME}",
        base_rate=0.001,
        random_value=characters("0123456789/- Mar", 6, 11),
        role=Role.QUASI_IDENTIFIER,
        safe_harbor="C",
        source="ours: a month's name in four languages between day and year; a year of two digits",
        examples=(
            "26 March 2021",
            "Mar 5, 2021",
            "5-Mar-2021",
            "8/24/80",
            "3. März 2021",
            "1er janvier 2020",
            "24-8-80",
        ),
        counterexamples=("March 2021", "May", "2021", "1.2.10", "13/32/80"),
    ),
)
