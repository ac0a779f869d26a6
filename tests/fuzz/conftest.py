"""The fuzzer's modules are imported as a package, by the suite and by `long_run` alike."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
