"""Every question that is written by hand."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from vectors.make import files, populations
from vectors.make.asked import written_out
from vectors.make.generic import Caught


def special(root: Path) -> list[tuple[str, list[Caught]]]:
    """Questions by the folder of their measure; those whose mistake changes nothing are left out."""
    asked = chain(
        populations.populations(),
        populations.surveys(),
        populations.minimal_uniques(),
        populations.histories(),
        files.masked(),
        files.singled_out(),
        files.sums(),
        files.counts(),
        files.rules(),
    )
    return list(written_out(asked, root).items())
