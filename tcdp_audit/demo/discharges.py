"""A year of invented hospital discharges: the original, the release made from it, and the whole register."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray


AGES = ((0, 17), (18, 39), (40, 59), (60, 74), (75, 99))  # first and last year of each released band
BANDS = ("0-17", "18-39", "40-59", "60-74", "75+")
BAND_WEIGHTS = (14, 22, 20, 22, 22)
SEXES = ("F", "M")
AREAS = ("010", "021", "024")  # first three digits of the postcodes
AREA_WEIGHTS = (25, 45, 30)
DAYS_OF_MONTH = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)  # of 2025
MONTH_WEIGHTS = (10, 9, 9, 8, 8, 7, 7, 7, 8, 8, 9, 10)


@dataclass(frozen=True)
class Diagnosis:
    """A reason for admission."""

    name: str  # as the release spells it
    block: str  # the next wider group
    chapter: str  # the widest group
    ages: tuple[int, int, int, int, int]  # its frequency in each age band
    sexes: tuple[int, int]  # its relative frequency among women and among men
    days: int  # mean length of stay
    rate: int  # cost of a day, in whole units of money

    def weight(self, band: int, sex: int) -> int:
        """Its frequency in an age band and sex."""
        return self.ages[band] * self.sexes[sex]


DIAGNOSES = (
    Diagnosis("pneumonia", "lung infection", "respiratory", (30, 8, 14, 24, 36), (1, 1), 7, 910),
    Diagnosis("bronchiolitis", "lung infection", "respiratory", (34, 0, 0, 0, 0), (1, 1), 3, 840),
    Diagnosis("asthma", "chronic lung disease", "respiratory", (22, 9, 8, 4, 2), (1, 1), 3, 720),
    Diagnosis("COPD", "chronic lung disease", "respiratory", (0, 1, 12, 26, 24), (1, 1), 7, 760),
    Diagnosis("heart failure", "heart disease", "circulatory", (0, 1, 10, 28, 44), (1, 1), 9, 880),
    Diagnosis("myocardial infarction", "heart disease", "circulatory", (0, 2, 22, 28, 20), (1, 2), 6, 2350),
    Diagnosis("stroke", "cerebrovascular disease", "circulatory", (0, 2, 10, 22, 32), (1, 1), 11, 1120),
    Diagnosis("appendicitis", "acute abdomen", "digestive", (18, 16, 8, 4, 2), (1, 1), 4, 1480),
    Diagnosis("gallstones", "acute abdomen", "digestive", (1, 12, 18, 16, 8), (2, 1), 4, 1390),
    Diagnosis("colon cancer", "digestive cancer", "neoplasms", (0, 1, 9, 18, 12), (1, 1), 9, 1560),
    Diagnosis("leukaemia", "blood cancer", "neoplasms", (5, 2, 4, 6, 4), (1, 1), 14, 1720),
    Diagnosis("hip fracture", "fracture", "injury", (1, 1, 4, 14, 42), (2, 1), 10, 1180),
    Diagnosis("concussion", "head injury", "injury", (20, 12, 6, 4, 6), (1, 2), 2, 990),
    Diagnosis("depression", "mood disorder", "mental", (8, 18, 16, 8, 5), (2, 1), 18, 430),
    Diagnosis("alcohol dependence", "substance use", "mental", (0, 12, 18, 8, 1), (1, 2), 12, 410),
    Diagnosis("HIV disease", "viral infection", "infectious", (0, 5, 4, 1, 0), (1, 3), 8, 1240),
    Diagnosis("sepsis", "bacterial infection", "infectious", (4, 2, 7, 14, 20), (1, 1), 12, 1650),
    Diagnosis("delivery", "childbirth", "pregnancy", (0, 620, 6, 0, 0), (1, 0), 3, 1310),
)

HALF = np.uint64(32)


class Draw:
    """A seeded source of integers."""

    def __init__(self, seed: int) -> None:
        self._bits = np.random.PCG64(seed)

    def below(self, bound: int | NDArray[np.int64], n: int) -> NDArray[np.int64]:
        """Draw n integers from 0 to bound - 1, for a bound under 2^31 or one bound each. Shape (n,).

        Bias at most bound / 2^32.
        """
        high = self._bits.random_raw(n) >> HALF
        return ((high * np.asarray(bound, dtype=np.uint64)) >> HALF).astype(np.int64)

    def pick(self, weights: Sequence[int], n: int) -> NDArray[np.int64]:
        """Draw n positions in `weights`, each as likely as its weight. Shape (n,)."""
        cumulative = np.cumsum(weights)
        return np.searchsorted(cumulative, self.below(int(cumulative[-1]), n), side="right").astype(np.int64)

    def shuffled(self, n: int) -> NDArray[np.int64]:
        """The integers from 0 to n - 1 in random order."""
        return np.argsort(self._bits.random_raw(n), kind="stable").astype(np.int64)


SEED = 20250101
REGISTERED = 40_000  # discharges of the year in the region
RELEASED = 8_000  # of them, those of the hospitals that publish


@dataclass(frozen=True)
class Discharges:
    """Columns of equal length, integers throughout: codes, years, days, and money in hundredths."""

    band: NDArray[np.int64]
    age: NDArray[np.int64]
    sex: NDArray[np.int64]
    area: NDArray[np.int64]
    street: NDArray[np.int64]
    month: NDArray[np.int64]
    day: NDArray[np.int64]
    diagnosis: NDArray[np.int64]
    days: NDArray[np.int64]
    cents: NDArray[np.int64]


def drawn(seed: int = SEED, n: int = REGISTERED) -> Discharges:
    """Draw n discharges. The same seed gives the same discharges on every platform."""
    draw = Draw(seed)
    band = draw.pick(BAND_WEIGHTS, n)
    first, last = np.array(AGES).T
    sex = draw.pick((11, 10), n)
    month = draw.pick(MONTH_WEIGHTS, n)
    diagnosis = _diagnoses(draw, band, sex)
    days = _lengths_of_stay(draw, diagnosis)
    rate = np.array([one.rate for one in DIAGNOSES])[diagnosis]
    return Discharges(
        band=band,
        age=first[band] + draw.below((last - first + 1)[band], n),
        sex=sex,
        area=draw.pick(AREA_WEIGHTS, n),
        street=draw.below(100, n),
        month=month,
        day=1 + draw.below(np.array(DAYS_OF_MONTH)[month], n),
        diagnosis=diagnosis,
        days=days,
        cents=100 * rate * (days + 2) + draw.below(100 * rate, n),
    )


def _diagnoses(draw: Draw, band: NDArray[np.int64], sex: NDArray[np.int64]) -> NDArray[np.int64]:
    chosen = np.zeros(len(band), dtype=np.int64)
    for one_band in range(len(BANDS)):
        for one_sex in range(len(SEXES)):
            where = np.flatnonzero((band == one_band) & (sex == one_sex))
            weights = [diagnosis.weight(one_band, one_sex) for diagnosis in DIAGNOSES]
            chosen[where] = draw.pick(weights, len(where))
    return chosen


def _lengths_of_stay(draw: Draw, diagnosis: NDArray[np.int64]) -> NDArray[np.int64]:
    """Days: a triangle around the mean, and one stay in sixteen three times as long."""
    n, mean = len(diagnosis), np.array([one.days for one in DIAGNOSES])[diagnosis]
    days = 1 + draw.below(mean, n) + draw.below(mean, n)
    return np.where(draw.below(16, n) == 0, 3 * days, days)


def tables(seed: int = SEED) -> dict[str, str]:
    """The release, the original and the register as CSV texts by file name.

    The release keeps a random number for each discharge, age bands, three digits of the postcode, the month
    of admission, and cost rounded to a hundred. The original has exact values and the patient's number.
    """
    records = list(_records(drawn(seed)))
    sample = Draw(seed + 1).shuffled(REGISTERED)[:RELEASED].tolist()
    numbered = [{**records[one], "discharge": f"{number:05}"} for number, one in enumerate(sample, 1)]
    return {
        "discharges.csv": _csv(RELEASE, numbered),
        "original.csv": _csv(ORIGINAL, sorted(numbered, key=lambda record: str(record["patient"]))),
        "register.csv": _csv(REGISTER, records),
    }


RELEASE = {
    "discharge": "discharge",
    "age": "band",
    "sex": "sex",
    "postcode": "area",
    "admission_month": "month",
    "diagnosis": "diagnosis",
    "cost": "rounded_cost",
    "length_of_stay": "days",
}
ORIGINAL = {
    "patient": "patient",
    "discharge": "discharge",
    "age": "age",
    "sex": "sex",
    "postcode": "postcode",
    "admission_date": "date",
    "diagnosis": "diagnosis",
    "cost": "cost",
    "length_of_stay": "days",
}
REGISTER = {"person": "patient", "age": "band", "sex": "sex", "postcode": "area", "admission_month": "month"}


def _records(discharges: Discharges) -> Iterable[dict[str, Any]]:
    """Every discharge with the values of all files."""
    columns = [getattr(discharges, name).tolist() for name in Discharges.__dataclass_fields__]
    for number, row in enumerate(zip(*columns, strict=True)):
        band, age, sex, area, street, month, day, diagnosis, days, cents = row
        yield {
            "patient": f"P{100_000 + number}",
            "band": BANDS[band],
            "age": age,
            "sex": SEXES[sex],
            "area": AREAS[area],
            "postcode": f"{AREAS[area]}{street:02}",
            "month": f"2025-{month + 1:02}",
            "date": f"2025-{month + 1:02}-{day:02}",
            "diagnosis": DIAGNOSES[diagnosis].name,
            "days": days,
            "cost": f"{cents // 100}.{cents % 100:02}",
            "rounded_cost": (cents + 5_000) // 10_000 * 100,
        }


def hierarchy() -> str:
    """The diagnoses' generalisation hierarchy, from leaf to root: one line a leaf, as ARX reads it."""
    return "".join(f"{one.name};{one.block};{one.chapter};*\n" for one in DIAGNOSES)


def _csv(columns: dict[str, str], records: Iterable[dict[str, Any]]) -> str:
    """A CSV text; no value here needs quotes."""
    lines = [",".join(columns)]
    lines += [",".join(str(record[name]) for name in columns.values()) for record in records]
    return "\n".join(lines) + "\n"
