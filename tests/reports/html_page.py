"""Reading a report back: its elements, balanced, with their attributes and text."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset({"meta", "link", "br"})


@dataclass
class Element:
    """A start tag as it stood in the page."""

    name: str
    attributes: dict[str, str | None]
    parts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text in it."""
        return "".join(self.parts)


@dataclass
class Page(HTMLParser):
    """A parsed page; `open` is empty at the end of a balanced one."""

    source: str
    elements: list[Element] = field(default_factory=list)
    open: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.feed(self.source)
        self.close()

    def handle_starttag(self, tag, attrs):
        element = Element(tag, dict(attrs))
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.elements.append(Element(tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        closed = self.open.pop()
        assert closed.name == tag, f"</{tag}> closes <{closed.name}>"

    def handle_data(self, data):
        for element in self.open:
            element.parts.append(data)

    def named(self, name: str) -> list[Element]:
        return [element for element in self.elements if element.name == name]

    def with_id(self, identity: str) -> Element:
        return next(element for element in self.elements if element.attributes.get("id") == identity)
