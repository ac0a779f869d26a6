"""Abbreviations in names of statistical files, whose names have eight letters: `husage`, `lwage`, `eduyrs`, `faminc`.

Such a name is divided into words and abbreviations only if they make up all of it: `passage` stays whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

WORDS = """
aid: afdc
alcohol: alc
application: app appl
applicant: applic
arrests: arr
amount: amt
account: acct
balance: bal
black: blk blck
birth: bth brth
british: brit
child: chld
children: kids chldn
cholesterol: chol
catholic: cath
city: cty
community: comm
cigarettes: cig cigs
college: coll clg
country: cntry ctry
creatinine: creat
crime: crm
criminal: crimnl
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
father: fath dad fa pa
female: fem fml
feeling: fel
foreign: forgn
gender: gend gndr
glucose: gluc
grade: grd
health: hlth hlt
hemoglobin: hgb hb
highest grade: hgc
hispanic: hisp hispan
hospital: hosp
hours: hrs
household: hh hhold
housing: hsg
husband: hus husb
immigrant: imm immig immg
income: inc incm incom incme
injury: inj
institution: inst
insurance: ins insur
job: jb
kid: kd
language: lang
limitation: lim
length of stay: los
loan: ln
male: mal
married: marr mard
marital status: marst mstat maritl
mathematics: maths
north: nrth nth
rural: rur
medication: meds
mortgage: mort mortg
mother: moth mom mum mo ma
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
protestant: prot
order: ord
region: reg regn
religion: relig rlg
residence: resid
retired: retd
salary: sal slry
satisfaction: stf satis sat
self employed: slf
sentiment: sent
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
stocks: stck stk
symptom: symp
tax: tx
test: tst
treatment: trt rx treat
trust: trst
unemployed: unemp unem uemp ue
union: un
university: univ
urban: urb
value: val
village: vill
visit: vis
visits: vst
views: vws view
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
# what says which of several, or how it was transformed, and nothing of what it is
QUALIFYING = """
first second third last prev previous since per with and the to from for pre post curr base baseline start begin
end final gd good bad yng nev log ln lg sq sqr sqrd squared sqrt cube cubed tot total ttl avg mean max min num no nr
net gross real adj std raw yr yrs wk wks wkly mth mths hr hrly non oth other old young new now cur ever pct perc lt
ge gt le ann mon day is has of in at own cat grp stat status program prog prg out sm small large big size never all
any rec recode index idx scale hrwk high low hs
"""
QUALIFIERS = frozenset(QUALIFYING.split())
FIRST, LAST = frozenset("lnhwy"), frozenset("ahwmfxr")  # lone letters: a logarithm, a number, hers, his, years, recoded
OF_PARENTS, OF_OTHERS = frozenset("mf"), frozenset("prst")  # a mother's, father's; a partner's, respondent's, spouse's
AFTER_PARENTS, AFTER_OTHERS = 3, 5  # letters of the word that such a letter is before, at least
OF_PARENTS_IN_SHORT = frozenset({"pa", "ma", "fa", "mo"})  # are no words of a name by themselves
AT_THE_START = frozenset({"pa", "ma", "fa", "mo", "sp", "un", "ue"})  # are too common within words
STEM = 5  # letters at least of a known word that is written with any ending
SHORTEST, PIECE = 4, 4  # letters of a name that is divided, and of a word that stands for itself in one
SHORT = frozenset(
    {"age", "sex", "job", "tax", "bmi", "gpa", "zip", "dob", "kid", "iq", "tv", "gun"}
)  # and the shorter ones that do
ALONE = frozenset(
    {"rx", "trt", "dx", "edu", "occ", "fml", "eth", "inc", "hrs", "hgb", "hgc", "rur", "nrth", "nth"}
)  # short, and mean nothing else
WHOLE = frozenset(
    {"passage", "postage", "coverage", "average", "percentage", "mileage", "page", "current", "trace", "spain", "grace"}
)  # are never divided
_MEANINGS = {
    short: words.split()
    for words, shorts in (line.split(":") for line in WORDS.strip().splitlines())
    for short in shorts.split()
}


def expanded(words: Sequence[str], known: frozenset[str], *, is_part: bool = False) -> list[str]:
    """The words of a name with abbreviations written out, and without what only qualifies.

    Args:
        words: in small letters.
        known: words that need no abbreviation; with `*`, those with any ending.
        is_part: whether the name has numbers as well, as `reg16` has, so that its only word is a part of it.

    Example:
        >>> known = frozenset({"age", "wage", "education"})
        >>> expanded(["husage"], known), expanded(["lwage"], known), expanded(["ed", "yrs"], known)
        (['husband', 'age'], ['wage'], ['education'])
    """
    return [part for word in words for part in _parts(word, known, is_among=is_part or len(words) > 1)]


def _parts(word: str, known: frozenset[str], *, is_among: bool) -> Iterable[str]:
    if word in known:
        return [word]
    if word in QUALIFIERS:
        return [] if is_among else [word]
    if word in _MEANINGS and (word in ALONE or (word not in OF_PARENTS_IN_SHORT and (is_among or len(word) >= PIECE))):
        return _MEANINGS[word]
    pieces = _divided(word, known) if len(word) >= SHORTEST and word not in WHOLE else None
    if pieces is None:
        return [word]
    return [meaning for piece in pieces for meaning in _meaning(piece, known)]


def _meaning(piece: str, known: frozenset[str]) -> Sequence[str]:
    if piece in _MEANINGS:
        return _MEANINGS[piece]
    return [piece] if piece == "id" or piece in known or piece in SHORT or _begins_known(piece, known) else []


@cache
def _divided(word: str, known: frozenset[str]) -> tuple[str, ...] | None:
    """The fewest pieces that make up a word, the last one as long as possible; None where there are none.

    Cost: O(letters^2).
    """
    best: dict[int, tuple[str, ...]] = {0: ()}
    for end in range(1, len(word) + 1):
        for start in range(end):
            if start in best and _is_piece(word, start, end, best[start], known):
                pieces = (*best[start], word[start:end])
                if end not in best or _rank(pieces) < _rank(best[end]):
                    best[end] = pieces
    whole = best.get(len(word))
    return None if whole is None or not any(_meaning(one, known) for one in whole) else whole


def _is_piece(word: str, start: int, end: int, before: Sequence[str], known: frozenset[str]) -> bool:
    """Whether letters of a word may be a piece of it, after others.

    A lone letter comes before or after what it qualifies, not on both sides, and never next to another qualifier.
    `ed` after a qualifier ends a verb.
    """
    piece = word[start:end]
    if len(piece) == 1:
        return _may_begin(word) if start == 0 else end == len(word) and piece in LAST and len(before[0]) > 1
    if before and len(before[-1]) == 1 and piece in QUALIFIERS:
        return False
    if piece in AT_THE_START and start > 0:
        return False
    if piece == "id":
        return end == len(word) and len(before) == 1 and len(before[0]) > len(piece)
    if piece == "ed" and before and before[-1] in QUALIFIERS:
        return False
    is_word = len(piece) >= PIECE and (piece in known or (end == len(word) and _begins_known(piece, known)))
    return piece in _MEANINGS or piece in QUALIFIERS or piece in SHORT or is_word


def _begins_known(piece: str, known: frozenset[str]) -> bool:
    """Whether letters are a form of a known word, as `ethnicity` is of `ethnic*`."""
    return any(f"{piece[:cut]}*" in known for cut in range(STEM, len(piece)))


def _may_begin(word: str) -> bool:
    """Whether the first letter of a word may be a piece, as in `lwage`, `meduc` and `tethnicity`."""
    first, rest = word[0], len(word) - 1
    return (
        first in FIRST
        or (first in OF_PARENTS and rest >= AFTER_PARENTS)
        or (first in OF_OTHERS and rest >= AFTER_OTHERS)
    )


def _rank(pieces: tuple[str, ...]) -> tuple[int, int, int]:
    return (len(pieces), sum(len(one) == 1 for one in pieces), -len(pieces[-1]))
