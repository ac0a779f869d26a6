"""Abbreviations in names of statistical files, whose names have eight letters: `husage`, `lwage`, `eduyrs`, `faminc`.

Such a name is divided into words and abbreviations only if they make up all of it: `passage` stays whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

WORDS = """
age: ag
aid: afdc
alcohol: alc
amount: amt
account: acct
balance: bal
black: blk blck
birth: bth brth
british: brit
child: chld
children: kids chldn
cholesterol: chol
city: cty
cigarettes: cig cigs
college: coll clg
country: cntry ctry
creatinine: creat
crime: crm
dead: dth
degree: deg
diagnosis: diag dx
disability: disab
district: dist
divorced: div
doctor: doc
drinks: drk
earnings: earn earns ern
education: ed edu educ edc
employment: emp empl
english: eng
ethnicity: eth ethn
expenditure: expd expn expnd expend
experience: exper xper
family: fam
father: fath dad fa
female: fem
foreign: forgn
gender: gend gndr
glucose: gluc
grade: grd
health: hlth hlt
hemoglobin: hgb hb
hispanic: hisp
hospital: hosp
hours: hrs
household: hh hhold
housing: hsg
husband: hus husb
immigrant: imm immig immg
income: inc incm
injury: inj
insurance: ins
job: jb
kid: kd
language: lang
limitation: lim
length of stay: los
loan: ln
male: mal
married: marr mard
marital status: marst mstat maritl
mathematics: mth
medication: meds
mortgage: mort mortg
mother: moth mom mum mo
nationality: natl natlty
native: natv
occupation: occ occup
opinion: opin
parent: par
partner: prtnr
payment: pmt pymt
person: pers
physician: phys
police: plc
political: pol
poverty: pov
pressure: press
price: prc
region: reg regn
religion: relig rlg
residence: resid
retired: retd
salary: sal slry
satisfaction: stf satis
score: scr
school: sch schl
sibling: sib
siblings: sibs
single: sin sngl
smoking: smk
social: soc
south: sth
spending: spnd
spouse: sp spous
symptom: symp
tax: tx
test: tst
treatment: trt rx
trust: trst
unemployed: unemp unem uemp
union: un
university: univ
urban: urb
value: val
village: vill
visit: vis
visits: vst
voted: vt
wage: wag
wages: wags
weight: wt wgt
west: wst
white: wht
white collar: whtcol
wife: wif
work: wrk
"""
QUALIFIERS = frozenset(  # say which of several, or how it was transformed, and nothing of what it is
    (
        *("log", "ln", "lg", "sq", "sqr", "sqrd", "squared", "sqrt", "cube", "cubed", "tot", "total", "ttl", "avg"),
        *(
            "mean",
            "max",
            "min",
            "num",
            "no",
            "nr",
            "net",
            "gross",
            "real",
            "adj",
            "std",
            "raw",
            "yr",
            "yrs",
            "wk",
            "wks",
        ),
        *(
            "wkly",
            "mth",
            "mths",
            "hr",
            "hrly",
            "non",
            "oth",
            "other",
            "old",
            "young",
            "new",
            "now",
            "cur",
            "ever",
            "pct",
        ),
        *("perc", "log", "lt", "ge", "gt", "le", "ann", "mon", "day", "is", "has", "of", "in", "at", "own", "cat"),
        *("grp", "never", "all", "any", "rec", "recode", "index", "idx", "scale", "hrwk", "high", "low"),
    )
)
FIRST, LAST = frozenset("lnhw"), frozenset("ahwmfx")  # lone letters in a name: a logarithm, a number, hers, his
SHORTEST, PIECE = 4, 4  # letters of a name that is divided, and of a word that stands for itself in one
SHORT = frozenset(
    {"age", "sex", "job", "tax", "bmi", "gpa", "zip", "dob", "kid", "iq", "tv"}
)  # and the shorter ones that do
WHOLE = frozenset({"passage", "postage", "coverage", "average", "percentage", "mileage"})  # are never divided
_MEANINGS = {
    short: words.split()
    for words, shorts in (line.split(":") for line in WORDS.strip().splitlines())
    for short in shorts.split()
}


def expanded(words: Sequence[str], known: frozenset[str]) -> list[str]:
    """The words of a name with abbreviations written out, and without what only qualifies.

    Args:
        words: in small letters.
        known: words that need no abbreviation.

    Example:
        >>> known = frozenset({"age", "wage", "education"})
        >>> expanded(["husage"], known), expanded(["lwage"], known), expanded(["ed", "yrs"], known)
        (['husband', 'age'], ['wage'], ['education'])
    """
    return [part for word in words for part in _parts(word, known, is_among=len(words) > 1)]


def _parts(word: str, known: frozenset[str], *, is_among: bool) -> Iterable[str]:
    if word in known:
        return [word]
    if word in QUALIFIERS:
        return [] if is_among else [word]
    if word in _MEANINGS and (is_among or len(word) >= PIECE):
        return _MEANINGS[word]
    pieces = _divided(word, known) if len(word) >= SHORTEST and word not in WHOLE else None
    if pieces is None:
        return [word]
    return [meaning for piece in pieces for meaning in _meaning(piece, known)]


def _meaning(piece: str, known: frozenset[str]) -> Sequence[str]:
    if piece in _MEANINGS:
        return _MEANINGS[piece]
    return [piece] if piece in known or piece in SHORT else []


@cache
def _divided(word: str, known: frozenset[str]) -> tuple[str, ...] | None:
    """The fewest pieces that make up a word, the last one as long as possible; None where there are none.

    Cost: O(letters^2).
    """
    best: dict[int, tuple[str, ...]] = {0: ()}
    for end in range(1, len(word) + 1):
        for start in range(end):
            piece = word[start:end]
            if start in best and _is_piece(piece, known, is_first=start == 0, is_last=end == len(word)):
                pieces = (*best[start], piece)
                if end not in best or _rank(pieces) < _rank(best[end]):
                    best[end] = pieces
    whole = best.get(len(word))
    return None if whole is None or not any(_meaning(one, known) for one in whole) else whole


def _is_piece(piece: str, known: frozenset[str], *, is_first: bool, is_last: bool) -> bool:
    if len(piece) == 1:
        return (is_first and piece in FIRST) or (is_last and piece in LAST)
    return piece in _MEANINGS or piece in QUALIFIERS or piece in SHORT or (len(piece) >= PIECE and piece in known)


def _rank(pieces: tuple[str, ...]) -> tuple[int, int, int]:
    return (len(pieces), sum(len(one) == 1 for one in pieces), -len(pieces[-1]))
