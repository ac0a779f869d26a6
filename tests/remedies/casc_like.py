"""Tables like those that masking is compared on: companies as in CASC's Tarragona, people as in UCI's Adult."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

COMPANIES, FIGURES = 834, 13
EDUCATION = [f"level {number:02}" for number in range(16)]
WORK = ["private", "self", "federal", "state", "local", "none"]


def tarragona_like(records: int = COMPANIES) -> pa.Table:
    """Thirteen whole figures of companies: skewed, correlated by size, some negative, hardly any two alike."""
    random = np.random.default_rng(834)
    size = random.normal(0, 1.3, records)
    columns = {}
    for number in range(FIGURES):
        own = np.exp(9 + 0.2 * (number % 4) + 0.9 * size + random.normal(0, 0.7, records))
        loss = random.random(records) < (0.3 if number > 8 else 0.0)
        columns[f"f{number:02}"] = np.where(loss, -own / 4, own).astype(np.int64)
    return pa.table(columns)


def adult_like(records: int = 600) -> pa.Table:
    """Age and hours with many ties, education in order, work and sex without."""
    random = np.random.default_rng(1996)
    age = np.clip(random.gamma(6, 6.5, records), 17, 90).astype(np.int64)
    hours = np.where(random.random(records) < 0.5, 40, random.integers(1, 99, records))
    education = random.choice(16, records, p=np.r_[np.full(8, 0.02), 0.32, 0.22, np.full(6, 0.05)])
    work = random.choice(6, records, p=[0.74, 0.11, 0.03, 0.04, 0.07, 0.01])
    return pa.table(
        {
            "age": age,
            "hours": hours,
            "education": pa.array([EDUCATION[one] for one in education]),
            "work": pa.array([WORK[one] for one in work]),
            "sex": pa.array(random.choice(["female", "male"], records, p=[0.33, 0.67])),
        }
    )
