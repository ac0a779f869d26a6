"""Private idiom that pages, sentences and identifiers of this project avoid, each with the better word.

`tests/docs/test_plain_english.py` holds the pages to it, `tests/architecture/test_plain_names.py` the identifiers.
Folders of tests can import this module by its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Banned:
    """A word that is not used.

    Attributes:
        word: the word, or the phrase, in lower case.
        better: what to write in its place.
        in_prose: whether pages, docstrings and messages avoid it.
        in_names: whether it may be no part of an identifier, such as `told` of `told_by_classes`.
        starts: whether it is banned at the start of a sentence only.
    """

    word: str
    better: str
    in_prose: bool = True
    in_names: bool = False
    starts: bool = False


BANNED = (
    Banned("somebody", "a person, an intruder", in_names=True),
    Banned("nobody", "no one", in_names=True),
    Banned("anybody", "anyone"),
    Banned("everybody", "everyone"),
    Banned("whoever", "anyone who, an intruder who", in_names=True),
    Banned("told", "reported, shown; of things kept apart: distinguished", in_names=True),
    Banned("tell", "report, show; to tell apart: distinguish"),
    Banned("tells", "reports, shows, reveals", in_names=True),
    Banned("telling", "reporting, showing"),
    Banned("outdo", "dominate"),
    Banned("outdoes", "dominates", in_names=True),
    Banned("outdone", "dominated", in_names=True),
    Banned("stand", "are, appear; to stand for: represent, replace"),
    Banned("stands", "is, appears; stands for: represents, replaces", in_names=True),
    Banned("standing", "failing, present", in_names=True),
    Banned("stood", "was, appeared"),
    Banned("felt", "utility impact", in_names=True),
    Banned("dealt", "assigned, distributed", in_names=True),
    Banned("landed", "projected, assigned", in_names=True),
    Banned("sealed", "signed", in_prose=False, in_names=True),
    Banned("noted", "recorded, marked", in_names=True),
    Banned("meant", "intended, resolved", in_names=True),
    Banned("rungs", "levels", in_names=True),
    Banned("stair", "stepped line", in_names=True),
    Banned("crew", "workers, pool", in_names=True),
    Banned("beside", "next to, compared with, in addition to"),
    Banned("besides", "in addition, other than"),
    Banned("but for", "except"),
    Banned("so on through", "repeat"),
    Banned("what came of", "the result of"),
    Banned("what comes of", "the result of"),
    Banned("what became of", "the change of"),
    Banned("as it came in", "before the repair"),
    Banned("as it stands", "unchanged"),
    Banned("in the order of their turn", "in the order they run"),
    Banned("so on", "repeat, continue", starts=True),
    Banned("what is given", "the arguments", starts=True),
    Banned("then are", "the following are", starts=True),
    Banned("who", "anyone who, an intruder who (a question may begin with it)", starts=True),
    Banned("found", "the thing that it holds: outcome, matches", in_prose=False, in_names=True),
    Banned("kept", "the thing that it holds: remaining, preserved", in_prose=False, in_names=True),
    Banned("ahead", "in_background", in_prose=False, in_names=True),
    Banned("worth", "score", in_prose=False, in_names=True),
)
IN_PROSE = tuple(one for one in BANNED if one.in_prose)
IN_NAMES = {one.word: one.better for one in BANNED if one.in_names}

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def in_prose(text: str) -> Iterator[tuple[int, Banned]]:
    """Where a text uses a banned word, as whole words in upper or lower case.

    Yields:
        The position of each use in the text, and the word.
    """
    for banned in IN_PROSE:
        for match in _pattern(banned).finditer(text):
            yield match.start("word"), banned


def in_name(identifier: str) -> list[str]:
    """The banned words among the parts of an identifier, in snake case or camel case."""
    return [part for part in map(str.lower, _PARTS.findall(identifier)) if part in IN_NAMES]


def _pattern(banned: Banned) -> re.Pattern[str]:
    words = r"\s+".join(map(re.escape, banned.word.split()))
    if not banned.starts:
        return re.compile(rf"\b(?P<word>{words})\b", re.IGNORECASE)
    # A sentence begins after a full stop or a colon, in a paragraph, an item or a cell; a question is none.
    begin = r"(?:^|[.!?]\s+|\n\s*\n|[-*|] )\**"
    return re.compile(rf"{begin}(?P<word>{words.capitalize()})\b(?![^.!?|]*\?)")
