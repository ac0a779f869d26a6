"""Count what a reader of an HTML report has to read: words, printed pages, kilobytes, repetitions, private words.

    python benchmarks/report_words.py                          # the demonstration
    python benchmarks/report_words.py REPORT.html [...]        # reports that are there
    TCDP_AUDIT_DATA=... python benchmarks/report_words.py --survey   # and a survey under eight demands

Words are those of all visible text with folded parts open, without formulas. Pages are A4, printed by Chromium, where
it is installed. A sentence is repeated if it has more than eight words and stands more than once. Private words are
those that the report uses without explaining them, in the first half of its text.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

import tcdp_audit
from tcdp_audit.demo import POLICY, make_discharges

UNSEEN = frozenset({"template", "style", "math", "head", "defs"})
MATTERS = UNSEEN | {"code", "svg", "title", "desc", "figcaption"}
BLOCKS = frozenset(
    (  # noqa: SIM905 - names of elements are easier to read so
        "address article aside blockquote br caption dd details div dl dt figcaption figure footer h1 h2 h3 h4 header "
        "li main nav ol p pre section summary table tbody td text th thead title tr ul"
    ).split()
)
PRIVATE = ("shapley", "mondrian", "redistribution", "told", "conventions: 1 declared", "– measured")
LONG = 8  # words of a sentence that may not be repeated
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--no-pdf-header-footer")
SURVEY = {
    "version": 1,
    "unit_name": "person",
    "purpose": "research on living conditions",
    "recipients": "the public",
    "approved_by": {"by": "M. Huber, head of social statistics", "date": "2026-11-02"},
    "sampling_fraction": 0.0018,
    "household": "db030",
    "weight": "rb050",
    "conventions": {"known_rows": "one"},
    "attributes": {
        "db030": {"role": "insensitive", "label": "number of the household", "reason": "drawn for this release"},
        "rb030": {"role": "identifier", "label": "number of the person"},
        "db040": {"role": "quasi_identifier", "label": "region"},
        "hsize": {"role": "quasi_identifier", "scale": "numeric", "label": "size of the household"},
        "rb090": {"role": "quasi_identifier", "label": "sex"},
        "age": {"role": "quasi_identifier", "scale": "numeric"},
        "pb220a": {"role": "quasi_identifier", "label": "citizenship"},
        "pl030": {"role": "sensitive", "label": "economic activity"},
        "rb050": {"role": "insensitive", "scale": "numeric", "label": "sampling weight"},
    },
    "expect": [
        {"k_anonymity": {"k": 3}},
        {"distinct_l_diversity": {"l": 2}},
        {"entropy_l_diversity": {"l": 1.5}},
        {"t_closeness": {"t": 0.4}},
        {"homogeneity": {"at_most": 0.02}},
        {"reidentification_risk": {"measure": "average", "at_most": 0.3}},
        {"individual_risk": {"at_most": 0.09}},
        {"sample_uniqueness": {"at_most": 0.01}},
    ],
}


class Words(NamedTuple):
    """What a report asks of its reader."""

    words: int
    pages: int | None  # None where there is no Chromium
    kilobytes: float
    repeated: dict[str, int]  # sentences that stand more than once
    private: dict[str, int]  # unexplained words in the first half, by word

    def __str__(self) -> str:
        """A line, and another for each word and sentence that should not be there."""
        pages = "not printed" if self.pages is None else f"{self.pages} pages"
        more = "".join(f"\n  {number} × {text}" for text, number in (*self.private.items(), *self.repeated.items()))
        return (
            f"{self.words:,} words, {pages}, {self.kilobytes:.0f} kB, {len(self.repeated)} repeated sentences, "
            f"{sum(self.private.values())} private words{more}"
        )


class _Text(HTMLParser):
    """The visible text of a page by blocks, and what of it is prose.

    The title and the description of a picture are for those who do not see it, and its caption has a block for each
    line.
    """

    def __init__(self) -> None:
        """Begin outside of everything."""
        super().__init__()
        self.open: list[str] = []  # the elements around a text, of those that matter here
        self.blocks: list[list[str]] = [[]]
        self.prose: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - the parser's
        """Begin a block, or a part that is not seen."""
        if tag in BLOCKS or self._is_line(tag):
            self.blocks.append([])
        if tag in MATTERS:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """End it."""
        if tag in self.open:
            del self.open[len(self.open) - 1 - self.open[::-1].index(tag) :]
        if tag in BLOCKS or self._is_line(tag):
            self.blocks.append([])

    def handle_data(self, data: str) -> None:
        """Take a text that is seen."""
        if self._is_unseen:
            return
        self.blocks[-1].append(data)
        if "code" not in self.open:
            self.prose.append(data)

    def _is_line(self, tag: str) -> bool:
        return tag == "span" and "figcaption" in self.open

    @property
    def _is_unseen(self) -> bool:
        return any(one in UNSEEN for one in self.open) or ("svg" in self.open and {"title", "desc"} & {*self.open})


def words(page: str, *, printed: bool = True) -> Words:
    """Count what a page asks of its reader."""
    text = _Text()
    text.feed(page)
    blocks = [" ".join("".join(one).split()) for one in text.blocks]
    first_half = " ".join(" ".join(text.prose).split()).lower()
    first_half = first_half[: len(first_half) // 2]
    private = {one: len(re.findall(rf"(?<!\w){re.escape(one)}(?!\w)", first_half)) for one in PRIVATE}
    sentences = Counter(one for block in blocks for one in _sentences(block))
    return Words(
        sum(len(one.split()) for one in blocks),
        _pages(page) if printed else None,
        len(page.encode()) / 1000,
        {text: number for text, number in sentences.most_common() if number > 1},
        {text: number for text, number in private.items() if number},
    )


def _sentences(block: str) -> Iterator[str]:
    """Its sentences of more than eight words."""
    yield from (one for one in re.split(r"(?<=[.!?])\s+", block) if len(one.split()) > LONG)


def _pages(page: str) -> int | None:
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        source, printed = Path(folder) / "page.html", Path(folder) / "page.pdf"
        source.write_text(page, encoding="utf-8")
        flags = (f"--user-data-dir={folder}/profile", f"--print-to-pdf={printed}")
        subprocess.run([chromium, *FLAGS, *flags, source.as_uri()], capture_output=True, timeout=120, check=True)
        return len(re.findall(rb"/Type\s*/Page\b", printed.read_bytes()))


def demonstration() -> str:
    """The report of `tcdp-audit demo`."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in make_discharges().items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        here = Path.cwd()
        os.chdir(folder)
        try:
            audit = tcdp_audit.audit(
                None,
                POLICY,
                all_conventions=True,
                column_risks=True,
                try_remedies=True,
                run_by="the demonstration",  # as the command says
            )
            return audit.render(".html")
        finally:
            os.chdir(here)


def survey(data: Path, *, try_remedies: bool = True) -> str:
    """A sample of a survey of households, as people, under eight demands."""
    release = data / "histories/eusilc.csv"
    audit = tcdp_audit.audit(
        release,
        SURVEY,
        all_conventions=True,
        column_risks=True,
        try_remedies=try_remedies,
        run_by="A. Gruber, disclosure control",
    )
    return audit.render(".html")


def main() -> None:
    """Print a line for each report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reports", nargs="*", type=Path)
    parser.add_argument("--survey", action="store_true")
    parser.add_argument("--keep", type=Path, help="a folder for the pages")
    asked = parser.parse_args()
    pages = {str(path): path.read_text(encoding="utf-8") for path in asked.reports}
    if not pages:
        pages["demonstration"] = demonstration()
    if asked.survey:
        pages["survey"] = survey(Path(os.environ["TCDP_AUDIT_DATA"]))
    for name, page in pages.items():
        if asked.keep:
            asked.keep.mkdir(parents=True, exist_ok=True)
            (asked.keep / f"{Path(name).stem}.html").write_text(page, encoding="utf-8")
        print(f"{name}: {words(page)}")


if __name__ == "__main__":
    main()
