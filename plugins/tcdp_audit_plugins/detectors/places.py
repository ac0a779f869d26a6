"""Places smaller than a state."""

from __future__ import annotations

from tcdp_audit.plugin.detector import Detector, Role, ValueDetector
from tcdp_audit_plugins.detectors._shared import anything, characters, phrases

POSTCODE = phrases(
    """
    zip, zip code, zip5, postcode, post code, postal code, postal, plz, postleitzahl, code postal, =cp, codigo
    postal, =cap, postnummer, postinumero, kod pocztowy, =psc, pincode, =cep
    """
)
PLACE = phrases(
    """
    city, town, township, village, municipality, borough, suburb, county, county name, county fips, parish, precinct,
    district, neighborhood, neighbourhood, locality, census tract, census block, block group, place of residence, place
    of birth, birthplace, stadt, =ort, wohnort, geburtsort, ortsteil, stadtteil, gemeinde, landkreis, =kreis, bezirk,
    ville, commune, arrondissement, lieu de naissance, ciudad, municipio, barrio, localidad, lugar de nacimiento,
    comune,
    citta, quartiere, plaats, woonplaats, gemeente, wijk, buurt, cidade, concelho, bairro, kommun, kommune, =kunta,
    miasto, gmina, powiat, obec, okres
    """
)
BRITISH = r"[A-Z]{1,2}[0-9][A-Z0-9]? ?[0-9][A-Z]{2}"
CANADIAN = r"[A-Z][0-9][A-Z] ?[0-9][A-Z][0-9]"
DUTCH = r"[1-9][0-9]{3} ?[A-Z]{2}"
NUMERIC = r"[0-9]{4,8}|[0-9]{5}-[0-9]{4}|[0-9]{2}-[0-9]{3}|[0-9]{3}[ -][0-9]{2,4}"
LATITUDE, LONGITUDE = r"[+-]?([0-8]?[0-9]|90)\.[0-9]{3,}", r"[+-]?(1[0-7][0-9]|180|[0-9]{1,2})\.[0-9]{3,}"

DETECTORS: tuple[Detector, ...] = (
    ValueDetector(
        name="coordinates",
        noun="pair of coordinates",
        nouns="pairs of coordinates",
        words=phrases("coordinates, =location, lat lon, latlng, =geo, gps, koordinaten, coordonnees, coordenadas"),
        layout=rf"\(?{LATITUDE}[,; ] ?{LONGITUDE}\)?|(?i:point) ?\({LONGITUDE} {LATITUDE}\)",
        base_rate=0.002,
        random_value=characters("0123456789.,", 13, 18),
        safe_harbor="B",
        source="ISO 6709:2022, decimal degrees with at least three decimals (about 100 m)",
        examples=("52.5163, 13.3777", "POINT (13.3777 52.5163)"),
        counterexamples=("52, 13", "95.5163, 13.3777"),
    ),
    ValueDetector(
        name="latitude_or_longitude",
        noun="exact latitude or longitude",
        words=phrases(
            """
            latitude, longitude, lat, lon, lng, =long, breitengrad, langengrad, latitud, longitud, breedtegraad,
            lengtegraad, latitudine, longitudine, gps lat, gps lon
            """
        ),
        layout=rf"{LATITUDE}|{LONGITUDE}",
        base_rate=0.01,
        random_value=anything,
        role=Role.QUASI_IDENTIFIER,
        safe_harbor="B",
        needs_name=True,
        source="ISO 6709:2022, decimal degrees with at least three decimals (about 100 m)",
        examples=("52.5163", "-113.3777"),
        counterexamples=("52", "52.5", "200.1234"),
    ),
    ValueDetector(
        name="alphanumeric_postcode",
        noun="British, Canadian or Dutch postcode",
        words=POSTCODE,
        layout=f"{BRITISH}|{CANADIAN}|{DUTCH}",
        base_rate=0.035,
        random_value=characters("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 5, 8),
        role=Role.QUASI_IDENTIFIER,
        safe_harbor="B",
        source="Royal Mail, Canada Post and PostNL: full postcodes",
        examples=("SW1A 2AA", "K1A 0B1", "2594 AW"),
        counterexamples=("SW1A", "12345"),
    ),
    ValueDetector(
        name="place_name",
        noun="place smaller than a state",
        nouns="places smaller than a state",
        words=PLACE,
        layout=r"(?=.*[^\W_])[\w ,.'’/()#-]{1,80}",
        base_rate=0.09,
        random_value=anything,
        role=Role.QUASI_IDENTIFIER,
        safe_harbor="B",
        needs_name=True,
        source="45 CFR 164.514(b)(2)(i)(B): city, county, precinct; ours: names and numbers in a column of that name",
        examples=("Springfield", "Saint-Denis", "25017", "St. John's"),
        counterexamples=("?", "a@example.org", "*"),
    ),
    ValueDetector(
        name="postcode",
        noun="full postcode",
        words=POSTCODE,
        layout=f"{NUMERIC}|{BRITISH}|{CANADIAN}|{DUTCH}",
        base_rate=0.01,
        random_value=anything,
        role=Role.QUASI_IDENTIFIER,
        safe_harbor="B",
        needs_name=True,
        source="Universal Postal Union, S42: four digits or more, or a full code of letters and digits",
        examples=("02139", "02139-4307", "10117", "00-950", "SW1A 2AA"),
        counterexamples=("021", "476**", "Berlin"),
    ),
)
