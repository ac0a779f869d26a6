"""The text of a report as a reader, a screen reader or a search finds it, in any format."""

from __future__ import annotations

import io
import zipfile
from xml.etree import ElementTree as ET

import pypdfium2

WORDS = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
SIGNS = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"


def text_of(content: str | bytes) -> str:
    """The text of a report; of PDF and Word that of every page, with the descriptions of pictures where it has them."""
    if isinstance(content, str):
        return content
    if content.startswith(b"%PDF"):
        return "\n".join(pages_of(content))
    return _of_word(content) if content.startswith(b"PK") else content.decode()


def pages_of(content: bytes) -> list[str]:
    """The text of each page of a PDF."""
    document = pypdfium2.PdfDocument(content)
    try:
        return [page.get_textpage().get_text_bounded() for page in document]
    finally:
        document.close()


def _of_word(content: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        trees = [ET.fromstring(parts.read(name)) for name in parts.namelist() if name.endswith((".xml", ".rels"))]  # noqa: S314 - our own
    paragraphs = [one for tree in trees for one in tree.iter(f"{WORDS}p")]
    texts = ["".join(_piece(one) for one in paragraph.iter()) for paragraph in paragraphs]
    described = [one.get("descr", "") for tree in trees for one in tree.iter() if one.get("descr")]
    return "\n".join([*texts, *described, *("".join(tree.itertext()) for tree in trees)])


def _piece(element: ET.Element) -> str:
    if element.tag in (f"{WORDS}br", f"{WORDS}tab"):
        return " "
    return (element.text or "") if element.tag in (f"{WORDS}t", f"{SIGNS}t") else ""


def joined(text: str) -> str:
    """A text without what depends on where its lines end: spaces, hyphens, and places at which a word may break."""
    return "".join(one for one in text if not one.isspace() and one not in "-\u2010\u200b\u0002\ufffe\u00ad")
