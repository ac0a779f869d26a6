"""How often detectors know what their page claims, and how often they are wrong; run it to write the page's tables."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from generated_columns import HARMLESS, HELD_OUT, KINDS, LOCALES, Kind, cells, columns, is_made

from tcdp_audit.core.detection.column import DetectorColumn
from tcdp_audit.core.detection.detecting import Detection, detect_in_column
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.testing.detectors import column_of_texts

PAGE = Path(__file__).parents[2] / "docs" / "detectors.md"
BEGIN, END = "<!-- recall -->\n", "<!-- end -->"
PARTS = {"tuned": ((BEGIN, END), LOCALES), "held-out": (("<!-- held out -->\n", "<!-- end of held out -->"), HELD_OUT)}
COLUMNS = 5  # of each kind in each locale
LEAST = 0.9  # of the columns of a kind that must be known for the page to claim it
MOST_ALARMS = 0.01  # of the harmless columns, for the page to claim a kind
EXCEPTIONS = "More than 1 % were taken for a kind, so that it is not claimed there: "
OF_RECORDS = {"record_number", "record_code"}  # which look at how many values differ
DETECTORS = [*Plugins.load(external=False).detectors.values()]
Wrong = Mapping[str, list[str]]


def detected(name: str, values: Iterable[str]) -> list[str]:
    """The detectors that know a column, the best first."""
    answers = detect_in_column(_column(name, values), DETECTORS)
    return [one.detector.name for one in answers if isinstance(one, Detection)]


def _column(name: str, values: Iterable[str]) -> DetectorColumn:
    counted = Counter(one.strip() for one in values if one.strip())
    texts = tuple(sorted(counted))
    made, numbers = column_of_texts(name, texts), tuple(counted[one] for one in texts)
    return DetectorColumn(
        name, texts, len(texts), sum(numbers), made.distinct_integers, made.in_order, numbers
    )  # fmt: skip


def recall(locale: str, title: str, number: int = COLUMNS) -> float:
    """The share of the columns of a kind that are known."""
    (kind,) = [one for one in KINDS if one.title == title]
    known = [detected(name, values) for name, values in columns(kind, locale, number)]
    return sum(bool(kind.accepted & {*one}) for one in known) / number


def false_alarms(locale: str, number: int = COLUMNS) -> Wrong:
    """By detector, the harmless columns that it takes for some of its kind."""
    wrong: dict[str, list[str]] = defaultdict(list)
    for title, make in HARMLESS.items():
        for place in range(number):
            some = cells(make, locale, f"{title} {place}", 120)
            for known in detected("x", [*some, *some[:60]]):
                if known not in OF_RECORDS:
                    wrong[known].append(title)
    return wrong


def tables(locales: Iterable[str] = LOCALES, number: int = COLUMNS) -> str:
    """The tables of the page."""
    return "\n".join([*_recalls([*locales], number), "", *_alarms([*locales], number)]) + "\n"


def _recalls(locales: list[str], number: int) -> Iterator[str]:
    yield f"| kind | {' | '.join(one.replace('_', '-') for one in locales)} |"
    yield f"|---|{'---|' * len(locales)}"
    for kind in KINDS:
        shown = [_shown(locale, kind, number) for locale in locales]
        yield f"| {kind.title} | {' | '.join(shown)} |"


def _shown(locale: str, kind: Kind, number: int) -> str:
    if not is_made(kind, locale):
        return "not made"
    share = recall(locale, kind.title, number)
    return "–" if share < LEAST else "all" if share == 1 else f"{share:.0%}"


def _alarms(locales: list[str], number: int) -> Iterator[str]:
    every = len(HARMLESS) * number
    answers = {locale: false_alarms(locale, number) for locale in locales}
    yield f"Of {every} harmless columns in each locale, the following were taken for something else:"
    yield ""
    yield "| detector | locale | columns | which |"
    yield "|---|---|---|---|"
    too_many = []
    for locale, wrong in answers.items():
        for name, titles in sorted(wrong.items()):
            share, said = len(titles) / every, locale.replace("_", "-")
            yield f"| `{name}` | {said} | {len(titles)} ({share:.1%}) | {', '.join(sorted({*titles}))} |"
            too_many += [f"`{name}` in {said}"] if share > MOST_ALARMS else []
    yield ""
    yield f"{EXCEPTIONS}{'; '.join(too_many) or 'none'}."


def main() -> None:
    """Write the tables of one part, or of both, into the page."""
    for part in sys.argv[1:] or PARTS:
        (begin, end), locales = PARTS[part]
        before, rest = PAGE.read_text(encoding="utf-8").split(begin)
        _, after = rest.split(end, 1)
        PAGE.write_text(before + begin + tables(locales) + end + after, encoding="utf-8")


if __name__ == "__main__":
    main()
