"""Names of people, and where they live."""

from __future__ import annotations

from tcdp_audit.plugin.detector import Detector, ValueDetector
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
            """
            =name, =names, =nom, =naam, =nome, =nombre, =namn, =navn, =nimi, first name, given name, last name,
            surname, family name, middle name, full name, maiden name, forename, christian name, patient name,
            person name, customer name, client name, employee name, student name, mother name, father name, spouse
            name, contact name, physician name, doctor name, provider name, nurse name, name first, name last,
            name middle, name of patient, =patient, =employee, =customer, next of kin,
            fname, lname, mname, vorname, nachname, familienname, geburtsname, madchenname,
            rufname, prenom, nom de famille, nom de naissance, nom complet, nombre completo, primer nombre,
            apellido, apellidos, voornaam, achternaam, familienaam, volledige naam, cognome, nome completo, apelido,
            sobrenome, fornamn, efternamn, fornavn, etternavn, efternavn, etunimi, sukunimi, imie, nazwisko, jmeno,
            prijmeni
            """
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
            """
            address, street address, home address, adresse, anschrift, direccion, indirizzo, adres, endereco
            """
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
            """
            street, street name, address, address 1, address 2, address line, home address, adresse, anschrift,
            strasse, wohnort strasse, rue, calle, direccion, domicilio, indirizzo, straat, straatnaam, adres,
            endereco, rua, adress, gata, ulica
            """
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
