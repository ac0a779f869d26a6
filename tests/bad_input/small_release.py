"""A release of sixteen records that keeps its policy; every test here breaks it in one place."""

from __future__ import annotations

MARK = "zanzibar"  # every text cell below contains it

POLICY = """\
version: 1
attributes:
  age: {role: quasi_identifier, scale: numeric}
  zip: {role: quasi_identifier, scale: nominal}
  disease: {role: sensitive, scale: nominal}
expect:
  - k_anonymity: {k: 2}
  - distinct_l_diversity: {l: 2}
"""

RECORDS = [f"{30 + i % 2},{MARK}0{i % 2},{MARK}{'flu' if i % 4 < 2 else 'ache'}" for i in range(16)]
TABLE = "\n".join(["age,zip,disease", *RECORDS, ""])  # header on line 1, records on lines 2 to 17: keeps the policy
