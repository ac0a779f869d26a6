"""Names of people, and where they live."""

from __future__ import annotations

from tcdp_audit.plugin.detector import Detector, Role, ValueDetector
from tcdp_audit_plugins.detectors._shared import anything, characters, phrases

NUMBER_FIRST = (
    "street|st|road|rd|avenue|ave|av|lane|ln|drive|dr|court|ct|place|pl|boulevard|blvd|square|sq|terrace|tce|crescent|"
    "cres|close|circuit|way|parade|highway|hwy|circle|cir|trail|parkway|pkwy|rue|chemin|allee|impasse|quai"
)
NUMBER_LAST = (
    r"[^\W\d_]*(strasse|straße|str\.?|weg|platz|allee|gasse|ring|damm|ufer|laan|straat|plein|gracht|kade|gatan|vagen|"
    r"vägen|vej|gade|katu|tie)|(calle|avenida|plaza|paseo|via|viale|piazza|corso|rua|ulica|ul\.)\b.*"
)
STREET = rf"(?i:\d+ ?[a-z]?([/-]\d+)?,? +.*\b({NUMBER_FIRST})\b.*|.*\b({NUMBER_LAST}),? +(n[o°º.]* *)?\d+.*)"


DETECTORS: tuple[Detector, ...] = (
    ValueDetector(
        name="person_name",
        noun="name of a person",
        nouns="names of people",
        words=phrases(
            "=name, =names, =nom, =naam, =nome, =nombre, =namn, =navn, =nimi, first name, given name, last name, "
            "surname, family name, middle name, full name, maiden name, forename, christian name, patient name, "
            "person name, customer name, client name, employee name, student name, mother name, father name, spouse "
            "name, contact name, physician name, doctor name, provider name, nurse name, name first, name last, name "
            "middle, name full, name of patient, =patient, =employee, =customer, =client, =contact, =contact person, "
            "emergency contact, next of kin, =kin, =relative, =guardian, =parent, =mother, =father, =spouse, "
            "=physician, =doctor, =nurse, =surgeon, =therapist, =provider, =attending, attending physician, =gp, "
            "=caregiver, =carer, =owner, =applicant, =signatory, =author, =respondent name, passenger name, "
            "=passenger, subject name, member name, participant name, father s name, mother s name, =first, =last, "
            "=surnames, =forenames, fname, lname, mname, firstname, lastname, fullname, ansprechpartner, "
            "kontaktperson, arzt, hausarzt, behandelnder arzt, angehoriger, patientenname, mitarbeitername, medecin, "
            "personne a contacter, contacto, medico, paciente, contactpersoon, huisarts, lakare, laege, lege, "
            "laakari, lekarz, osoba kontaktowa, lekar, vorname, nachname, familienname, geburtsname, madchenname, "
            "rufname, prenom, nom de famille, nom de naissance, nom complet, nombre completo, primer nombre, "
            "apellido, apellidos, voornaam, achternaam, familienaam, volledige naam, cognome, nome completo, apelido, "
            "sobrenome, fornamn, efternamn, fornavn, etternavn, efternavn, etunimi, sukunimi, imie, nazwisko, jmeno, "
            "prijmeni"
        ),
        layout=r"[^\W\d_]([^\W\d_]|[ .,'’-]){1,60}",
        base_rate=0.03,
        random_value=anything,
        safe_harbor="A",
        needs_name=True,
        source="ours: letters, blanks, hyphens and apostrophes in a column of that name",
        examples=("Ada Lovelace", "O'Neill", "Müller-Lüdenscheidt", "Lovelace, Ada"),
        counterexamples=("4711", "<=50K", "a1"),
    ),
    ValueDetector(
        name="street_address",
        noun="street address",
        words=phrases(
            "address, street address, home address, adresse, anschrift, direccion, indirizzo, adres, endereco"
        ),
        layout=STREET,
        base_rate=0.001,
        random_value=characters("0123456789 abcdefghijklmnoprstuv.", 8, 30),
        safe_harbor="B",
        source="ours: a house number and a word for a street in one of nine languages",
        examples=(
            "10 Downing Street",
            "Unter den Linden Allee 77",
            "Hauptstr. 5a",
            "12 rue de la Paix",
            "Calle Mayor 3",
        ),
        counterexamples=("Downing Street", "10", "Berlin"),
    ),
    ValueDetector(
        name="street",
        noun="street",
        words=phrases(
            "street, street name, address, address 1, address 2, address line, home address, adresse, anschrift, "
            "strasse, wohnort strasse, rue, calle, direccion, domicilio, indirizzo, straat, straatnaam, adres, "
            "endereco, rua, adress, gata, ulica, gate, gade, vej, osoite, katuosoite, adresa, ulice"
        ),
        layout=r"(?=.*[^\W\d_].*[^\W\d_])[\w ,.'’/()#°-]{3,120}",
        base_rate=0.09,
        random_value=anything,
        safe_harbor="B",
        needs_name=True,
        source="ours: words in a column of that name",
        examples=("stanley street", "Hauptstr. 5a"),
        counterexamples=("10", "a@example.org"),
    ),
)


YEAR, MONTH, DAY = "(1[89]|20)[0-9]{2}", "(0?[1-9]|1[0-2])", "(0?[1-9]|[12][0-9]|3[01])"
TIME = r"([T ][0-9:.]+(Z|[+-][0-9:]+)?)?"
WRITTEN = rf"({YEAR}([-./]){MONTH}\3{DAY}|{DAY}([-./]){MONTH}\7{YEAR}|{MONTH}([-./]){DAY}\11{YEAR}){TIME}"
COMPACT = "(1[89]|20)[0-9]{2}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])"

MONTHS = (
    "january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|"
    "sept|sep|oct|nov|dec|januar|jänner|feber|februar|märz|mai|juni|juli|oktober|okt|dezember|dez|mär|janvier|février|mars|"
    "avril|juin|juillet|août|septembre|octobre|novembre|décembre|janv|févr|avr|juil|déc|enero|febrero|marzo|abril|mayo|"
    "junio|julio|agosto|septiembre|octubre|noviembre|diciembre|ene|abr|ago|dic|gennaio|febbraio|aprile|maggio|giugno|"
    "luglio|settembre|ottobre|dicembre|gen|mag|giu|lug|set|ott|janeiro|fevereiro|março|maio|junho|julho|setembro|outubro|"
    "novembro|dezembro|fev|out|januari|februari|maart|mei|augustus|mrt|maj|augusti|marts|desember|des|"
    "(tammi|helmi|maalis|huhti|touko|kesä|heinä|elo|syys|loka|marras|joulu)(kuu(ta)?)?|stycznia|lutego|marca|kwietnia|"
    "maja|czerwca|lipca|sierpnia|września|października|listopada|grudnia|styczeń|luty|marzec|kwiecień|czerwiec|lipiec|"
    "sierpień|wrzesień|październik|listopad|grudzień|sty|lut|kwi|cze|lip|sie|wrz|paź|lis|gru|ledna|února|března|dubna|"
    "května|června|července|srpna|září|října|listopadu|prosince|leden|únor|březen|duben|květen|červen|červenec|srpen|říjen|"
    "prosinec|led|úno|bře|dub|kvě|čvn|čvc|srp|zář|říj|pro|января|февраля|марта|апреля|мая|июня|июля|августа|сентября|"
    "октября|ноября|декабря|январь|февраль|март|апрель|май|июнь|июль|август|сентябрь|октябрь|ноябрь|декабрь|янв|февр?|"
    "мар|апр|июн|июл|авг|сент?|окт|нояб?|дек"
)
ANY_YEAR = "((1[89]|20)[0-9]{2}|'?[0-9]{2})"
DAY_FIRST = (
    rf"{DAY}(st|nd|rd|th|er|º|e)?[. /-]{{0,2}}(of |de |den )?({MONTHS})\.?[, /-]{{0,2}}(de |of )?{ANY_YEAR}( ?г\.?)?"
)
MONTH_FIRST = rf"({MONTHS})\.?[ -]?{DAY}(st|nd|rd|th)?(, ?|[ -]){ANY_YEAR}|{YEAR}[- ]({MONTHS})[- ]{DAY}"
EAST_ASIAN = f"{YEAR} ?[年년] ?{MONTH} ?[月월] ?{DAY} ?[日일]"
WEEKDAY = r"([^\W\d_]{2,13}(-feira)?\.?,? +(den |the )?)?"
SPACED = rf"{DAY}\. {MONTH}\. {YEAR}\.?|{YEAR}\. {MONTH}\. {DAY}\.?"
IN_WORDS = rf"(?i:{WEEKDAY}({DAY_FIRST}|{MONTH_FIRST})|{EAST_ASIAN}[^\W\d_]{{0,3}}|{SPACED})"
SHORT = rf"({MONTH}([-/]){DAY}|{DAY}([-/]){MONTH})[-/][0-9]{{2}}|(0[1-9]|[12][0-9]|3[01])\.(0[1-9]|1[0-2])\.[0-9]{{2}}"

DATES: tuple[Detector, ...] = (
    ValueDetector(
        name="date_of_birth",
        noun="date of birth",
        nouns="dates of birth",
        words=phrases(
            "date of birth, birth date, birthday, dob, =born, birthdate, geburtsdatum, geboren, geb datum, date de "
            "naissance, naissance, ddn, fecha de nacimiento, nacimiento, geboortedatum, data di nascita, data nascita, "
            "data de nascimento, fodelsedatum, fodselsdato, syntymaaika, data urodzenia, datum narozeni"
        ),
        layout=f"{WRITTEN}|{COMPACT}|{IN_WORDS}|{SHORT}",
        base_rate=0.01,
        random_value=anything,
        role=Role.QUASI_IDENTIFIER,
        safe_harbor="C",
        needs_name=True,
        source="ISO 8601-1:2019, and the orders that people write",
        examples=("1815-12-10", "10.12.1815", "12/10/1815", "18151210"),
        counterexamples=("1815", "12-1815", "1815-13-10x"),
    ),
    ValueDetector(
        name="exact_date",
        noun="date exact to the day",
        nouns="dates exact to the day",
        words=phrases(
            "date, datum, fecha, =data, timestamp, admission date, discharge date, date of death, dod, aufnahmedatum, "
            "entlassdatum, todesdatum, date d admission, date de sortie, opnamedatum"
        ),
        layout=f"{WRITTEN}|{COMPACT}",
        base_rate=0.01,
        random_value=characters("0123456789", 8),
        role=Role.QUASI_IDENTIFIER,
        safe_harbor="C",
        source="ISO 8601-1:2019, and the orders that people write",
        examples=("2026-11-22", "2026-11-22T10:00:00", "22.11.2026", "20261122"),
        counterexamples=("2026", "2026-11", "99999999"),
    ),
    ValueDetector(
        name="date_in_words",
        noun="date exact to the day",
        nouns="dates exact to the day",
        words=phrases("date, datum, fecha, =data, date of birth, dob, geburtsdatum, date de naissance"),
        layout=rf"{IN_WORDS}{TIME}|({SHORT}){TIME}",
        base_rate=0.001,
        random_value=characters("0123456789/- Mar", 6, 11),
        role=Role.QUASI_IDENTIFIER,
        safe_harbor="C",
        source="Unicode CLDR: a month's name in 14 languages between day and year; ours: a year of two digits",
        examples=(
            "26 March 2021",
            "Mar 5, 2021",
            "5-Mar-2021",
            "8/24/80",
            "3. März 2021",
            "1er janvier 2020",
            "24-8-80",
            "5 de marzo de 2021",
            "5. 3. 2021",
            "2021年3月5日",
            "fredag den 5. marts 2021",
            "05.03.21",
        ),
        counterexamples=("March 2021", "May", "2021", "1.2.10", "13/32/80"),
    ),
)


POSTCODE = phrases(
    "zip, zip code, zip5, postcode, post code, postal code, postal, plz, postleitzahl, code postal, =cp, codigo "
    "postal, =cap, postnummer, postinumero, kod pocztowy, =psc, pincode, =cep"
)
PLACE = phrases(
    "city, town, township, village, municipality, borough, suburb, county, county name, county fips, parish, precinct, "
    "district, neighborhood, neighbourhood, locality, census tract, census block, block group, place of residence, "
    "place of birth, birthplace, stadt, =ort, wohnort, geburtsort, ortsteil, stadtteil, gemeinde, landkreis, =kreis, "
    "bezirk, ville, commune, arrondissement, lieu de naissance, ciudad, municipio, barrio, localidad, lugar de "
    "nacimiento, comune, citta, quartiere, plaats, woonplaats, gemeente, wijk, buurt, cidade, concelho, bairro, "
    "kommun, kommune, =kunta, kaupunki, miasto, mesto, gmina, powiat, obec, okres"
)
BRITISH = r"[A-Z]{1,2}[0-9][A-Z0-9]? ?[0-9][A-Z]{2}"
CANADIAN = r"[A-Z][0-9][A-Z] ?[0-9][A-Z][0-9]"
DUTCH = r"[1-9][0-9]{3} ?[A-Z]{2}"
NUMERIC = r"[0-9]{4,8}|[0-9]{5}-[0-9]{3,4}|[0-9]{2}-[0-9]{3}|[0-9]{3}[ -][0-9]{2,4}"
LATITUDE, LONGITUDE = r"[+-]?([0-8]?[0-9]|90)\.[0-9]{3,}", r"[+-]?(1[0-7][0-9]|180|[0-9]{1,2})\.[0-9]{3,}"

PLACES: tuple[Detector, ...] = (
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
            "latitude, longitude, lat, lon, lng, =long, breitengrad, langengrad, latitud, longitud, breedtegraad, "
            "lengtegraad, latitudine, longitudine, gps lat, gps lon"
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
