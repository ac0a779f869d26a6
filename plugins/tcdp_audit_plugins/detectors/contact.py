"""Ways to reach a person: e-mail, telephone, pages, accounts of social networks.

Telephone numbers that are assigned, as the library phonenumbers knows the plans of all countries.
"""

from __future__ import annotations

import re

import numpy as np

from tcdp_audit.plugin.detector import Detector, ValueDetector
from tcdp_audit_plugins.detectors._shared import DIGITS, anything, characters, phrases

TELEPHONE = phrases(
    "phone, phone number, telephone, telephone number, tel, tel no, =contact, contact number, mobile, mobile number, "
    "=cell, cell phone, telefon, telefonnummer, =handy, handynummer, mobilnummer, telephone portable, =portable, "
    "numero de telephone, telefono, numero de telefono, movil, celular, telefoon, telefoonnummer, mobiel, cellulare, "
    "telefone, telemovel, puhelin, puhelinnumero, numer telefonu"
)
FAX = phrases("fax, fax number, facsimile, telefax, faxnummer, telecopie, numero de fax")
ADDRESS = r"[\w.!#$%&'*+/=?^`{|}~-]{1,64}(@| ?[(\[]at[)\]] ?)[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,63}"
BEFORE, AFTER = r"[\s\S]*[\s<>\"'({\[:;,|]", r"[.!?]?[\s<>\"')}\]:;,|][\s\S]*"  # an address in a text is an address
NO_TELEPHONE = re.compile(
    r"\d{4}[-./ ]\d{1,2}[-./ ]\d{1,2}|\d{1,2}[-./ ]\d{1,2}[-./ ](\d{2}|\d{4})"  # dates
    r"|\d{3}-\d{2}-\d{4}|\d+[.,]\d+|\d{1,3}(\.\d{1,3}){3}|\d{1,3}( \d{3})+|\d+ ?- ?\d+"  # other numbers and ranges
)
LIBRARY = ("phonenumbers", 'pip install "tcdp-audit[identifiers]"')
FIRST, NINE = characters("23456789", 1), characters(DIGITS, 9)


def is_punctuated_telephone_number(text: str) -> bool:
    """Whether digits with separators may be a telephone number: 7 to 15 of them, and neither a date nor an amount."""
    return 7 <= sum(map(str.isdigit, text)) <= 15 and not NO_TELEPHONE.fullmatch(text)


DETECTORS: tuple[Detector, ...] = (
    ValueDetector(
        name="email_address",
        noun="e-mail address",
        words=phrases(
            "email, e mail, =mail, mail address, email address, emailadresse, courriel, adresse mail, correo, correo "
            "electronico, e mailadres, posta elettronica, epost, sahkoposti"
        ),
        layout=rf"({BEFORE})?{ADDRESS}({AFTER}|[.!?])?",
        base_rate=0.0001,
        random_value=anything,
        safe_harbor="F",
        source="RFC 5322, section 3.4.1; RFC 1035, section 2.3.1",
        examples=(
            "ada@example.org",
            "a.b+c@sub.example.co.uk",
            "Ada Lovelace <ada@example.org>",
            "mailto:ada@example.org",
            "ada@example.org; bob@example.org",
            "ada(at)example.org",
        ),
        counterexamples=("ada@example", "@ada", "example.org", "@ada@example.org"),
    ),
    ValueDetector(
        name="telephone_number",
        noun="telephone number",
        words=TELEPHONE,
        layout=r"(\+|00)?[(]?[0-9+][0-9 ().\-/]{5,20}[0-9]",
        accepts=is_punctuated_telephone_number,
        base_rate=0.35,
        random_value=characters(DIGITS + " ().-/", 9, 16),
        safe_harbor="D",
        needs_name=True,
        source="ITU-T E.164 (at most 15 digits), E.123 (how they are written)",
        examples=("+1 202-555-0123", "(0)20 7946 0018", "020 7946 0018", "2025550123"),
        counterexamples=("2020-01-31", "192.168.1.100", "1,234,567.1", "12345"),
    ),
    ValueDetector(
        name="international_telephone_number",
        noun="international telephone number",
        words=TELEPHONE,
        layout=r"(\+|00)[1-9][0-9 ().\-/]{5,19}[0-9]",
        accepts=is_punctuated_telephone_number,
        base_rate=0.01,
        random_value=characters(DIGITS + " ()+.-/", 9, 16),
        safe_harbor="D",
        source="ITU-T E.164, E.123",
        examples=("+1 202-555-0123", "+442079460018"),
        counterexamples=("1 202-555-0123", "+12"),
    ),
    ValueDetector(
        name="telephone_number_with_area_code",
        noun="telephone number with its area code",
        nouns="telephone numbers with their area codes",
        words=TELEPHONE,
        layout=r"((\+?1|001)[-. ])?(\([2-9][0-9]{2}\) ?[2-9][0-9]{2}[-. ]?|[2-9][0-9]{2}([-.])[2-9][0-9]{2}\4)[0-9]{4}"
        r"( ?(x|ext\.?) ?[0-9]{1,6})?",
        base_rate=0.0001,
        random_value=characters(DIGITS + " ()-", 13, 14),
        safe_harbor="D",
        source="North American Numbering Plan, as numbers of it are written",
        examples=("(202) 555-0123", "(202)555-0123", "202-555-0123", "202.555.0123x45", "+1-202-555-0123"),
        counterexamples=("(20) 555-0123", "102-555-0123", "202-555.0123", "2025550123", "202 555 0123"),
    ),
    ValueDetector(
        name="fax_number",
        noun="fax number",
        words=FAX,
        layout=r"(\+|00)?[(]?[0-9+][0-9 ().\-/]{5,20}[0-9]",
        accepts=is_punctuated_telephone_number,
        base_rate=0.35,
        random_value=characters(DIGITS + " ().-/", 9, 16),
        safe_harbor="E",
        needs_name=True,
        source="ITU-T E.164, E.123",
        examples=("+1 202-555-0123",),
        counterexamples=("2020-01-31",),
    ),
    ValueDetector(
        name="web_address",
        noun="web address",
        words=phrases("url, web address, website, web site, homepage, webseite, site web, sitio web, =link"),
        layout=r"(https?|ftp)://[^\s]{3,}|www\.[^\s]+\.[^\s]{2,}",
        base_rate=0.0001,
        random_value=characters("htpsw:/.ab", 8, 30),
        safe_harbor="N",
        source="RFC 3986",
        examples=("https://example.org/ada", "www.example.org"),
        counterexamples=("example", "http", "ada@example.org"),
    ),
    ValueDetector(
        name="social_handle",
        noun="name on a social network",
        nouns="names on a social network",
        words=phrases("twitter, instagram, facebook, tiktok, mastodon, =handle, screen name, social handle"),
        layout=r"@[A-Za-z0-9_][A-Za-z0-9_.]{1,29}(@[A-Za-z0-9.-]+)?",
        base_rate=0.002,
        random_value=anything,
        safe_harbor="R",
        source="ours: an at sign, and a name of up to 30 characters",
        examples=("@ada_l", "@ada@example.org"),
        counterexamples=("ada", "@", "ada@example.org"),
    ),
    ValueDetector(
        name="user_name",
        noun="user name",
        words=phrases(
            "username, user name, =login, login name, nickname, benutzername, identifiant, nombre de usuario, "
            "gebruikersnaam, nome utente"
        ),
        layout=r"[A-Za-z0-9][A-Za-z0-9_.\-]{1,39}",
        base_rate=0.05,
        random_value=anything,
        safe_harbor="R",
        needs_name=True,
        source="ours: letters and digits without blanks in a column of that name",
        examples=("ada.l", "ada_1815"),
        counterexamples=("Ada Lovelace", "?"),
    ),
)


def is_assigned_in_north_america(text: str) -> bool:
    """Whether ten digits are in a range that the North American numbering plan has assigned."""
    from phonenumbers import is_valid_number, parse  # noqa: PLC0415 - of the extra

    return bool(is_valid_number(parse(text, "US")))


def random_digits(generator: np.random.Generator) -> str:
    """Ten digits that begin as an area of the plan does."""
    return FIRST(generator) + NINE(generator)


TELEPHONES: tuple[Detector, ...] = (
    ValueDetector(
        name="north_american_telephone_number",
        noun="North American telephone number",
        words=TELEPHONE,
        layout=r"[2-9][0-9]{9}",
        accepts=is_assigned_in_north_america,
        base_rate=0.47,
        random_value=random_digits,
        safe_harbor="D",
        library=LIBRARY,
        source="North American Numbering Plan, by the library phonenumbers",
        examples=("2025550123",),
        counterexamples=("1025550123", "202555012"),
    ),
)
