"""Free text in which something names a person: a title with a name, a number, an address, a date."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

from tcdp_audit.plugin.detector import ColumnDetector, Detector, DetectorColumn, Evidence, Role, binomial_evidence
from tcdp_audit_plugins.detectors.names import DAY, DAY_FIRST, MONTH, MONTH_FIRST, NUMBER_FIRST, YEAR

WORDS = 4  # at least, in a text
LEAST = 3  # texts, and cells that hold something: fewer are an accident
CHANCE = 1e-6  # of a text without sense to hold such a thing
TITLES = (
    "Mr|Mrs|Ms|Miss|Dr|Prof|Mister|Missis|Herrn?|Frau|Hr|Fru|Herra|Rouva|M(?=\\.)|Mme|Mlle|Monsieur|Madame|Sr|Sra|Srta|Señor|"
    "Señora|Senhor|Senhora|Dott|Sig|Signor|Signora|Sig\\.ra|Dhr|Mevr|Mevrouw|Meneer|Pan|Pani|Pana|Paní|Г-н|Г-жа|Господин|"
    "Госпожа|Г-на"
)
NAMED = rf"(?<![\w.])(?:{TITLES})\.? (?:(?:Dr|Prof|med)\.? ?)*[^\W\d_a-zß-öø-ÿ][^\W\d_]*[^\W\d_A-ZÀ-Þ]"
HONORIFIC = r"[\u3040-\u30ff\u3400-\u9fff]{1,6} ?(?:さん|様|氏|先生)"
CALL = (
    r"(?i:tel|phone|telephone|mobile|mobil|fon|telefon|telefono|téléphone|teléfono|telefone|telefoon|puhelin|тел|телефон"
    r"|電話|cell|fax|call)"
)
TELEPHONE = (
    r"(?<![\w.,+-])(?:\+[1-9][\d ().-]{6,17}\d|\(?[2-9]\d{2}\)?[ .-][2-9]\d{2}[.-]\d{4})(?![\w-])"
    rf"|{CALL}\w{{0,6}}[^\w+(]{{0,3}}(?:[^\W\d_]+[^\w+(]+){{0,2}}[(+]?\d[\d ()./-]{{5,17}}\d"
)
NATIONAL = (
    r"(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])"
    r"|(?<!\w)[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?(?!\w)"
)
STREET = (
    rf"(?i:(?<!\w)\d{{1,5}} ?[a-z]?,? +(?:[^\W\d_]+[ '’-]+){{0,3}}(?:{NUMBER_FIRST})\b"
    r"|[^\W\d_]{3,}(?:strasse|straße|str\.|weg|platz|allee|gasse|straat|laan|gatan|vägen|vej|gade|katu|tie) \d{1,4}\b"
    r"|(?<!\w)(?:calle|avenida|plaza|paseo|via|viale|piazza|rua|ulica|ul\.)(?: [^\W\d_.]+\.?){1,5},?"
    r" (?:n[o°º.]* *)?\d{1,5}\b)"
)
DATE = (
    rf"(?<![\w./-])(?:{YEAR}([-./]){MONTH}\2{DAY}|{DAY}([-./]){MONTH}\6{YEAR}|{MONTH}([-./]){DAY}\10{YEAR})(?![\w/-])"
    rf"|(?i:(?<!\w)(?:{DAY_FIRST}|{MONTH_FIRST})(?!\w))"
)


def _holding(*forms: str) -> Callable[[DetectorColumn], Evidence | None]:
    """An examination of the texts of a column for forms within them, compiled when there is a column with texts."""

    def examine(column: DetectorColumn) -> Evidence | None:
        texts = [(text, cells) for text, cells in column.worded if is_text(text)]
        if sum(cells for _, cells in texts) < LEAST:
            return None
        compiled = [re.compile(form) for form in forms]
        held = [cells for text, cells in texts if any(form.search(text) for form in compiled)]
        if sum(held) < LEAST:
            return None
        tested = binomial_evidence(len(held), len(column.texts), CHANCE)
        return Evidence(len(held), len(column.texts), CHANCE, tested.p_value)

    return examine


def is_text(text: str) -> bool:
    """Whether a value is a text of several words, or of so many characters of a script that has no blanks.

    Example:
        >>> is_text("seen twice in ward 7"), is_text("General Hospital")
        (True, False)
    """
    return text.count(" ") >= WORDS - 1 or (len(text) >= 8 and text[0] > "\u2fff")


def _text(name: str, holds: str, letter: str, *forms: str, role: Role = Role.IDENTIFIER) -> ColumnDetector:
    return ColumnDetector(
        name=name,
        noun=f"text with {holds}",
        nouns=f"texts with {holds}",
        examine=_holding(*forms),
        least_share=Fraction(0),
        role=role,
        safe_harbor=letter,
        source="ours: a form within a text of at least four words",
    )


TEXTS: tuple[Detector, ...] = (
    _text("text_with_names", "names of people", "A", NAMED, HONORIFIC),
    _text("text_with_telephone_numbers", "telephone numbers", "D", TELEPHONE),
    _text("text_with_street_addresses", "street addresses", "B", STREET),
    _text("text_with_personal_numbers", "social security or account numbers", "G", NATIONAL),
    _text("text_with_dates", "dates exact to the day", "C", DATE, role=Role.QUASI_IDENTIFIER),
)
