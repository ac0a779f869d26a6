"""The fuzzer for as long as asked: `python tests/fuzz/long_run.py --minutes 60`. Prints how many cases of each form.

Every round takes another seed. The first case that is wrong is made small, printed, and ends the run with exit code 1.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.comparing import CASES
from fuzz.properties import EXAMPLES, PROPERTIES
from hypothesis import HealthCheck, given, seed, settings

ROUND = settings(
    max_examples=200, deadline=None, database=None, suppress_health_check=list(HealthCheck), print_blob=True
)


def main() -> None:
    """Take turns at the forms until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--form", choices=PROPERTIES, action="append", help="Only this form; may be given several times."
    )
    asked = parser.parse_args()
    end, number = time.monotonic() + 60 * asked.minutes, asked.seed
    while time.monotonic() < end:
        for form in asked.form or PROPERTIES:
            check, strategies = PROPERTIES[form]
            tried = settings(ROUND, max_examples=2 * EXAMPLES[form])
            seed(number)(tried(given(**strategies)(check)))()
        number += 1
    sys.stdout.write(", ".join(f"{cases:,} {form}" for form, cases in sorted(CASES.items())) + "\n")


if __name__ == "__main__":
    main()
