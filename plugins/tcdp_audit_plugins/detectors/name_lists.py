"""Names of people by value: given names and surnames of many countries, as the library mimesis lists them."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from tcdp_audit.plugin.detector import ColumnDetector, Detector, DetectorColumn, Evidence, binomial_evidence
from tcdp_audit_plugins.detectors._shared import phrases

LIBRARY = ("mimesis", 'pip install "tcdp-audit[identifiers]"')
MOST = 1_000  # values that are looked up: the share of so many is known to 3 per cent points
LEAST = 20  # values without which a column of words is none of names, so that no library is asked for
WORDY = 0.9  # of the values of a column of names that are words
CHANCE = 0.2  # of the words of a column that is none of names, at most, are names: Rose, May, Christian
NAME = re.compile(r"[^\W\d_]([^\W\d_]|[ .,'’ʼ-]){1,60}")
EAST_ASIAN = "\u2fff"  # scripts of Chinese, Japanese and Korean come after it
PARTS = re.compile(r"[\s,]+")
TITLES = frozenset(
    phrases(
        "mr, mrs, ms, miss, dr, prof, herr, frau, mag, dipl, ing, med, phd, md, dds, dvm, jr, sr, sra, srta, dra, "
        "dott, sig, hr, fr, fru, dhr, mevr, mme, mlle, pan, pani, dlle, ba, ma, msc, bsc, mba, ii, iii, iv, drs, ir, "
        "tit, esq, hon, rev"
    )
)
PARTICLES = frozenset(
    phrases(
        "van, von, der, den, de, da, do, dos, das, di, del, della, dello, la, le, les, lo, los, el, al, ter, ten, te, "
        "zu, zur, zum, af, av, y, e, i, bin, ibn, abu, o, d, l"
    )
)
NO_NAME = frozenset(
    phrases(
        "inc, llc, ltd, plc, group, gmbh, ag, kg, kgaa, ohg, ug, sa, sas, sarl, spa, srl, sl, sau, ab, as, asa, oy, "
        "oyj, aps, bv, nv, cv, sp, zoo, and, und, et, og, och, sons, brothers, partners, associates, company, corp, "
        "corporation, holding, verein, stiftung, university, school, street, st, road, rd, avenue, ave, lane, drive, "
        "court, place, boulevard, square, terrace, crescent, close, way, highway, circle, trail, parkway, mews, "
        "plaza, row, walk, run, pass, path, loop, ridge, view, hill, hills, park, port, ports, station, summit, "
        "valley, village, ville, island, islands, isle, lake, lakes, land, manor, meadow, meadows, mill, mills, "
        "mission, motorway, mount, mountain, neck, orchard, oval, overpass, pike, pine, pines, plain, plains, point, "
        "points, prairie, radial, ramp, ranch, rapid, rapids, rest, river, route, rue, ruelle, shoal, shoals, shore, "
        "shores, skyway, spring, springs, spur, spurs, stravenue, stream, throughway, trace, track, trafficway, "
        "tunnel, turnpike, underpass, union, unions, viaduct, vista, wall, well, wells, field, fields, ford, fords, "
        "forest, forge, forges, fork, forks, freeway, garden, gardens, gateway, glen, glens, green, greens, grove, "
        "groves, harbor, harbors, haven, heights, hollow, inlet, junction, key, keys, knoll, knolls, landing, light, "
        "lights, locks, lodge, course, cove, creek, crest, crossing, crossroad, curve, dale, dam, divide, estate, "
        "estates, expressway, extension, falls, ferry, flat, flats, club, coast, common, commons, corner, corners, "
        "causeway, center, centers, cliff, cliffs, camp, canyon, cape, burg, burgs, bypass, brook, brooks, branch, "
        "bridge, bluff, bluffs, bottom, bayou, beach, bend, alley, annex, arcade, anex, strasse, straße, weg, platz, "
        "allee, gasse, ring, calle, avenida, paseo, via, viale, piazza, corso, contrada, canale, borgo, stretto, "
        "rotonda, incrocio, rua, travessa, praça, praca, largo, chemin, impasse, quai, passage, cuesta, glorieta, "
        "callejón, callejon, pasaje, ronda, rambla, camino, cañada, canada, acceso, vial, urbanización, urbanizacion, "
        "alameda, estrada, jardim, lagoa, ladeira, morro, nucleo, núcleo, parque, recanto, residencial, rodovia, "
        "setor, sítio, sitio, trecho, trevo, vale, vereda, viaduto, viela, vila, conjunto, colônia, colonia, "
        "condomínio, condominio, distrito, esplanada, estação, estacao, favela, fazenda, feira, quadra, loteamento, "
        "aeroporto, área, area, campo, chácara, chacara, katu, tie, gatan, gata, vägen, vagen, vej, gade, ulica, ul, "
        "aleja, plac, straat, laan, plein"
    )
)


class NameLists(NamedTuple):
    """Names in lower case without accents."""

    given: frozenset[str]
    family: frozenset[str]


@lru_cache(maxsize=1)
def name_lists() -> NameLists:
    """The given names and the surnames of all countries that mimesis knows. A tenth of a second, once."""
    given: set[str] = set()
    family: set[str] = set()
    for folder in files("mimesis").joinpath("datasets").iterdir():
        file = folder.joinpath("person.json")
        if file.is_file():
            listed = json.loads(file.read_text(encoding="utf-8"))
            given.update(map(plain, _texts(listed.get("names"))))
            family.update(map(plain, _texts(listed.get("surnames"))))
    return NameLists(frozenset(given), frozenset(family))


def _texts(listed: Any) -> Iterator[str]:
    """The texts in lists and in lists by sex."""
    if isinstance(listed, str):
        yield listed
    elif isinstance(listed, dict | list):
        for one in listed.values() if isinstance(listed, dict) else listed:
            yield from _texts(one)


def plain(text: str) -> str:
    """A text in lower case without accents.

    Example:
        >>> plain("Łucja Müller-Ångström")
        'łucja muller-angstrom'
    """
    if text.isascii():
        return text.casefold()
    return "".join(one for one in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(one))


def is_person_name(text: str) -> bool:
    """Whether a text is a name: one word that is listed; or several, of which one is a given name.

    Of several words at least half must be listed, without titles, initials and particles, and none may be a word of
    streets or companies. In Chinese, Japanese and Korean the family name comes first and is enough.
    """
    if not NAME.fullmatch(text):
        return False
    lists = name_lists()
    words = [word.strip(".'’") for word in PARTS.split(plain(text))]
    said = [word for word in words if len(word) > (1 if word.isascii() else 0) and word not in TITLES]
    if not NO_NAME.isdisjoint(said):
        return False
    remaining = [word for word in said if word not in PARTICLES] or said
    if len(remaining) == 1:
        return _is_listed(remaining[0], lists.given | _NONE) or _is_listed(remaining[0], lists.family)
    if not 1 < len(remaining) <= 5:
        return False
    listed = sum(_is_listed(word, lists.given) or _is_listed(word, lists.family) for word in remaining)
    has_given = any(_is_listed(word, lists.given) for word in remaining)
    is_east_asian = remaining[0] > EAST_ASIAN and len("".join(remaining)) <= 8 and remaining[0] in lists.family
    return 2 * listed >= len(remaining) and (has_given or is_east_asian or listed == len(remaining))


_NONE: frozenset[str] = frozenset()


def _is_listed(word: str, names: frozenset[str]) -> bool:
    """Whether a word, or each part of a double name, is in a list."""
    return word in names or ("-" in word and all(part in names for part in word.split("-")))


def may_be_words(column: DetectorColumn) -> bool:
    """Whether a column may hold names of people or places: at least 20 words that begin with a capital.

    Letters of scripts without capitals count as well. O(1,000).
    """
    texts = spread(column.texts)
    if len(texts) < LEAST:
        return False
    fit = sum(bool(NAME.fullmatch(text)) and not text[0].islower() and len(text.split()) <= 5 for text in texts)
    return fit >= WORDY * len(texts)


def spread(texts: tuple[str, ...]) -> tuple[str, ...]:
    """At most a thousand values from all over a column."""
    return texts[:: -(-len(texts) // MOST)] if len(texts) > MOST else texts


def share_of_names(column: DetectorColumn) -> tuple[int, int]:
    """Count the values that are names of people, and those that were looked up."""
    texts = spread(column.texts)
    return sum(map(is_person_name, texts)), len(texts)


def listed_names(column: DetectorColumn) -> Evidence | None:
    """Evidence that a column holds names of people, whatever it is called.

    Cost: O(1,000) look-ups.
    """
    if not _is_wordy(column):
        return None
    return binomial_evidence(*share_of_names(column), CHANCE)


def _is_wordy(column: DetectorColumn) -> bool:
    texts = spread(column.texts)
    return sum(map(bool, map(NAME.fullmatch, texts))) >= WORDY * len(texts) and bool(texts)


NAMES: tuple[Detector, ...] = (
    ColumnDetector(
        name="listed_person_name",
        noun="name of a person",
        nouns="names of people",
        examine=listed_names,
        may_be=may_be_words,
        least_share=Fraction(3, 5),
        library=LIBRARY,
        safe_harbor="A",
        source="given names and surnames of 47 languages and regions in the library mimesis",
    ),
)
