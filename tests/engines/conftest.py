"""Makes `sources` and its neighbours importable from the folders below, and what benchmarks share with tests."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
