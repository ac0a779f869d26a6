"""Topics of names of columns: words of English, German, French, Spanish, Italian, Portuguese and Dutch.

An entry may be several words in a row, which may also be written as one; `*` matches any letters,
and after `=` an entry is the whole name. Accents, numbers
and capitals do not count.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from tcdp_audit.plugin.detector import Role, Scale


@dataclass(frozen=True)
class Topic:
    """The topic of some words."""

    key: str  # names it
    noun: str  # what a reason says the name speaks of
    role: Role  # that a column of this topic has
    scale: Scale  # that its values have where they are what the topic promises
    words: str  # the entries, between commas


_KNOWN, _SECRET, _NAMES = Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.IDENTIFIER

TOPICS = (
    Topic(
        "person",
        "a person's name or account",
        _NAMES,
        Scale.NOMINAL,
        "=name, =names, "
        "first name, last name, given name, full name, middle name, maiden name, surname, forename, family name, "
        "patient name, customer name, person name, employee name, student name, user name, nickname, vorname, "
        "nachname, familienname, geburtsname, benutzername, prenom, nom, nom de famille, apellido*, nombre, nombre "
        "completo, cognome, nome completo, sobrenome, voornaam, achternaam, gebruikersnaam, full address, street "
        "address, street, street name, street number, house number, address, adresse, anschrift, strasse*, "
        "hausnummer, rue, direccion, calle, indirizzo, endereco, adres, straat, huisnummer, mail address, e mail, "
        "email, email address, courriel, correo, phone, phone number, telephone, mobile, mobile number, cell "
        "phone, cellphone, fax, fax number, telefon*, handynummer, telefono, telefone, telemovel, telefoon*, "
        "passport, passport number, passport no, social security number, social security no, ssn, soc sec id, "
        "social insurance number, national id, national insurance number, nino, sozialversicherungsnummer, steuer "
        "id, steuernummer, personalausweis*, dni, nif, codice fiscale, cpf, bsn, burgerservicenummer, numero de "
        "securite sociale, insee, nir, medical record number, mrn, health plan number, insurance number, "
        "versichertennummer, krankenversichertennummer, account number, account no, kontonummer, iban, bic, card "
        "number, credit card, credit card number, kreditkartennummer, licence number, license number, drivers "
        "licence, drivers license, driver licence, driver license, fuehrerschein*, licence plate, license plate, "
        "number plate, plate number, kennzeichen, vin, vehicle identification number, serial number, device id, "
        "imei, imsi, mac address, ip, ip address, ipv, url, website, homepage, cookie, cookie id, advertising id, "
        "twitter*, facebook*, linkedin*, instagram*, latitude, longitude, lat, lon, lng, gps, coordinates, photo, "
        "portrait, fingerprint, signature",
    ),
    Topic(
        "key",
        "a record's or a person's own number",
        _NAMES,
        Scale.NOMINAL,
        "id, uuid, guid, rec id, record id, record number, record no, person id, patient id, customer id, user id, "
        "employee id, student id, client id, member id, subject id, case id, case number, household id, patient "
        "number, customer number, employee number, membership number, kundennummer, personalnummer, "
        "patientennummer, fallnummer, matrikelnummer, identifiant, identificador, identificativo, identifier, "
        "pseudonym, unnamed, row number, rownum, row id, seqn, serial, pid, uid, hhid",
    ),
    Topic(
        "date",
        "a date or time",
        _KNOWN,
        Scale.NOMINAL,
        "date, date of *, birthdate, startdate, enddate, admissiondate, dob, birth, birth date, birth day, "
        "birthday, birth year, year of birth, month of birth, born, day, month, quarter, year, yob, timestamp, "
        "datetime, created at, updated at, admitted, discharged, *datum, geburt*, jahr, *jahr, monat, date de *, "
        "naissance, annee, annee de naissance, mois, jour, fecha*, nacimiento, ano, mes, dia, data di nascita, "
        "data de nascimento, data nascita, data nascimento, nascita, nascimento, anno, mese, geboorte*, "
        "geboortejaar, jaar, maand",
    ),
    Topic(
        "age",
        "an age",
        _KNOWN,
        Scale.NUMERIC,
        "age, ages, age in years, age years, age group, agegroup, age range, alter, altersgruppe, edad, eta, "
        "idade, leeftijd, l*age de",
    ),
    Topic(
        "place",
        "a place",
        _KNOWN,
        Scale.NOMINAL,
        "zip, zip code, zipcode, zip three, zcta, postal code, post code, postcode, plz, postleitzahl, code "
        "postal, codigo postal, cap, cep, city, town, village, suburb, borough, district, county, province, "
        "prefecture, canton, state, region, regions, country, nation, municipality, commune, community, parish, "
        "neighbourhood, neighborhood, area, location, residence, place, place of *, metro area, msa, cbsa, puma, "
        "fips, census tract, tract, block group, nuts, lsoa, msoa, local authority, ward, constituency, continent, "
        "geo, geo*, rural, urban, urbanicity, ort, wohnort, geburtsort, stadt, gemeinde, kreis, landkreis, bezirk, "
        "bundesland, land, ville, departement, pays, ciudad, municipio, provincia, estado, pais, comunidad "
        "autonoma, citta, comune, regione, paese, cidade, distrito, regiao, plaats, woonplaats, gemeente, "
        "provincie, regio, hospital, site, school name, employer",
    ),
    Topic(
        "sex",
        "sex or gender",
        _KNOWN,
        Scale.NOMINAL,
        "sex, gender, gender identity, geschlecht, sexe, genre, sexo, genero, sesso, genere, geslacht, male, female",
    ),
    Topic(
        "origin",
        "origin, nationality or language",
        _KNOWN,
        Scale.NOMINAL,
        "race, races, ethnic*, etni, etnia, etnicidad, etniciteit, ethnie, herkunft, abstammung, origin, hispanic, "
        "ancestry, nationality, nationalit*, nacionalidad*, nazionalita, nacionalidade, nationaliteit, citizen*, "
        "staatsangehorigkeit, burgerschaft, native country, country of birth, birth country, birthplace, birth "
        "place, place of birth, geburtsland, lieu de naissance, lugar de nacimiento, luogo di nascita, "
        "geboorteland, geboorteplaats, immigrant, immigration, migration, migrationshintergrund, visa, language, "
        "mother tongue, sprache, muttersprache, langue, idioma, lengua, lingua, taal, tribe, caste, indigenous",
    ),
    Topic(
        "work",
        "work or occupation",
        _KNOWN,
        Scale.NOMINAL,
        "occupation*, occup*, occu*, occ, profession*, job, jobs, job title, title, work, work class, workclass, "
        "employment, employment status, employ*, labour, labor, labour force, labor force, industry, sector, rank, "
        "position, beruf*, tatigkeit, branche, metier, emploi, ocupacion, profesion, empleo, trabajo, occupazione, "
        "professione, lavoro, impiego, ocupacao, profissao, emprego, trabalho, beroep, baan, isco, soc code, "
        "naics, nace",
    ),
    Topic(
        "education",
        "education",
        _KNOWN,
        Scale.NOMINAL,
        "education*, educ, educ*, schooling, school, degree, qualification, years of schooling, university, "
        "college, study, field of study, bildung*, schulabschluss, abschluss, ausbildung, studium, diplome, niveau "
        "d etudes, etudes, educacion, estudios, escolaridad, istruzione, titolo di studio, educacao, escolaridade, "
        "opleiding*, onderwijs",
    ),
    Topic(
        "family",
        "marriage, family or household",
        _KNOWN,
        Scale.NOMINAL,
        "marital, marital status, marstat, married, marriage, relationship, civil status, spouse, partner, family, "
        "family size, family type, household, household size, household type, hhsize, hh size, number of children, "
        "children, child, kids, num children, dependants, dependents, parity, siblings, twin, familienstand, "
        "kinder, haushalt*, etat civil, situation matrimoniale, situation familiale, enfants, menage, estado "
        "civil, hijos, hogar, stato civile, figli, famiglia, filhos, familia, burgerlijke staat, kinderen, "
        "huishouden*, tenure, dwelling, housing, house type, car, cars, vehicle, vehicles, height, hair colour, "
        "hair color, eye colour, eye color",
    ),
    Topic(
        "health",
        "health",
        _SECRET,
        Scale.NOMINAL,
        "health, health*, disease*, illness*, sickness, diagnos*, icd, icd code, drg, condition, symptom*, "
        "syndrome, severity, disorder*, hiv, hiv status, aids, cancer*, tumor, tumour, diabetes, diabet*, asthma, "
        "depression, mental, mental health, psych*, disability, disab*, medication*, medicine, drug, drugs, drug*, "
        "treatment*, therapy, surgery, procedure, prescription, dose, allergy, allergies, bmi, body mass index, "
        "body weight, weight kg, weight lb, blood, blood pressure, blood type, blood group, systolic, diastolic, "
        "heart rate, pulse, cholesterol, glucose, hba, creatinine, lab result, test result, pregnan*, abortion, "
        "contracept*, smok*, alcohol*, addiction*, suicid*, vaccin*, genetic*, genotype, genome*, dna, mutation*, "
        "allele, length of stay, los, mortality, cause of death, death, died, krankheit*, erkrankung*, "
        "gesundheit*, behandlung*, medikament*, schwanger*, behinderung, blut*, sante, maladie, traitement, "
        "medicament*, grossesse, handicap, salud, enfermedad*, tratamiento, medicacion, embarazo, discapacidad, "
        "salute, malattia, diagnosi, terapia, farmaco, gravidanza, saude, doenca, gravidez, gezondheid, ziekte, "
        "behandeling, medicijn*, zwanger*",
    ),
    Topic(
        "money",
        "income, wealth or debt",
        _SECRET,
        Scale.NUMERIC,
        "income, *income, salary, salaries, salary class, wage, wages, pay, paycheck, earning*, bonus, pension*, "
        "benefit*, allowance, tax, taxes, fedtax, federal tax, state tax, income tax, property tax, taxable, "
        "taxinc, taxable income, agi, adjusted gross income, fica, revenue, profit, capital gain, capital loss, "
        "capital, wealth, asset, assets, savings, money, balance, account balance, debt, debts, loan, loans, "
        "mortgage, credit score, credit limit, credit, rent, cost, costs, expense*, expenditure*, charge, charges, "
        "billing*, amount, price, spend*, poverty, bankrupt*, gehalt, lohn, einkommen, *einkommen, verdienst, "
        "rente, steuer*, vermogen, schulden, kredit, miete, kosten, revenu*, salaire, impot*, patrimoine, dette*, "
        "loyer, ingreso*, salario, sueldo, renta, impuesto*, patrimonio, deuda*, alquiler, reddito, stipendio, "
        "imposta*, debito, affitto, rendimento*, renda, ordenado, imposto*, divida*, inkomen, salaris, loon, "
        "belasting*, schuld, huur",
    ),
    Topic(
        "religion",
        "religion or belief",
        _SECRET,
        Scale.NOMINAL,
        "religio*, faith, belief*, denomination, church, konfession, kirche, glaube, culte, croyance, creencia, "
        "credo, geloof, godsdienst, philosophy",
    ),
    Topic(
        "politics",
        "politics or union membership",
        _SECRET,
        Scale.NOMINAL,
        "politic*, party, party affiliation, vote, votes, voted, voting, ballot, ideology, union member*, trade "
        "union, union, partei, wahl, gewerkschaft, parti, syndicat, partido, voto, sindicato, partito, sindacato, "
        "partij, vakbond, opinion",
    ),
    Topic(
        "sexuality",
        "sex life or orientation",
        _SECRET,
        Scale.NOMINAL,
        "sexual*, sexual orientation, orientation, sex life, lgbt*, gay, orientierung, orientacion sexual, "
        "orientamento, orientacao sexual, geaardheid",
    ),
    Topic(
        "crime",
        "crime or justice",
        _SECRET,
        Scale.NOMINAL,
        "crim*, offen[cs]e*, offender, conviction*, convicted, arrest*, sentence, sentenced, prison*, jail, "
        "recidiv*, probation, parole, victim*, violence, police, fraud, straftat*, vorstrafe*, verurteil*, "
        "condamnation, delit*, condena, reato, condanna, crime, condenacao, misdrijf, veroordel*, strafblad",
    ),
    Topic(
        "judgement",
        "how a person was judged",
        _SECRET,
        Scale.NUMERIC,
        "grade, grades, gpa, exam*, test score, score, iq, rating, performance, performance rating, noten, "
        "zeugnis, calificacion, voto di laurea, cijfer",
    ),
)


CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
WORD = re.compile(r"[^\W\d_]+")
LETTERS = str.maketrans({"ß": "ss", "ø": "o", "ł": "l", "æ": "ae", "œ": "oe", "đ": "d", "ı": "i"})


def words_of(name: str) -> list[str]:
    """The words of a name, in small letters without accents and numbers.

    Example:
        >>> words_of("dateOfBirth"), words_of("Staatsangehörigkeit_2"), words_of("HIV-status")
        (['date', 'of', 'birth'], ['staatsangehorigkeit'], ['hiv', 'status'])
    """
    parted = CAMEL.sub(" ", unicodedata.normalize("NFC", name))
    plain = unicodedata.normalize("NFKD", parted.lower().translate(LETTERS))
    return WORD.findall("".join(one for one in plain if not unicodedata.combining(one)))


@dataclass(frozen=True)
class Phrase:
    """One entry of a vocabulary: words in a row, each of which may begin or end with `*` for any letters.

    After `=` it is the whole of a name.
    """

    text: str  # as it is in the vocabulary

    @cached_property
    def _words(self) -> Sequence[re.Pattern[str]]:
        return [re.compile(one.replace("*", r"\w*")) for one in self.text.split()]

    @cached_property
    def _joined(self) -> re.Pattern[str]:
        return re.compile(self.text.replace(" ", "").replace("*", r"\w*"))

    def end(self, words: Sequence[str]) -> int | None:
        """After how many of the words the entry ends, counted from the first; None where it is not there."""
        if self.text.startswith("="):
            return len(words) if list(words) == self.text[1:].split() else None
        ends = [end for end in range(1, len(words) + 1) if self._ends_at(words, end)]
        return ends[-1] if ends else None

    def _ends_at(self, words: Sequence[str], end: int) -> bool:
        start = end - len(self._words)
        in_a_row = start >= 0 and all(
            pattern.fullmatch(word) for pattern, word in zip(self._words, words[start:end], strict=True)
        )
        return in_a_row or self._joined.fullmatch(words[end - 1]) is not None


PHRASES = [(Phrase(text.strip()), topic) for topic in TOPICS for text in topic.words.split(",")]


def topic_of(name: str) -> Topic | None:
    """The topic of a column's name; None where no word is known.

    The last word decides, as it does in English, and of several that end there the longest.

    Example:
        >>> topic_of("zip_code").key, topic_of("Geburtsdatum").key, topic_of("salary-class").key, topic_of("x1")
        ('place', 'date', 'money', None)
    """
    words = words_of(name)
    candidates = [(end, len(phrase.text.replace("*", "")), topic) for phrase, topic, end in _matches(words, PHRASES)]
    return max(candidates, key=lambda one: one[:2])[2] if candidates else None


def _matches(words: Sequence[str], phrases: Iterable[tuple[Phrase, Topic]]) -> Iterator[tuple[Phrase, Topic, int]]:
    for phrase, topic in phrases:
        end = phrase.end(words)
        if end is not None:
            yield phrase, topic, end
