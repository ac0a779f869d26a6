"""The patients of the demonstration's hospitals: diagnoses, whom they befall, how long and how expensive they are."""

from __future__ import annotations

from dataclasses import dataclass

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
    """A reason for admission.

    Args:
        name: as the release spells it.
        block: the next wider group.
        chapter: the widest group.
        ages: how frequent it is in each age band.
        sexes: how much more frequent it is among women and among men.
        days: mean length of stay.
        rate: cost of a day, in whole units of money.
    """

    name: str
    block: str
    chapter: str
    ages: tuple[int, int, int, int, int]
    sexes: tuple[int, int]
    days: int
    rate: int

    def weight(self, band: int, sex: int) -> int:
        """How frequent it is in an age band and sex."""
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
