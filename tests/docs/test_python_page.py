"""docs/python.md documents every public name, and no other."""

from __future__ import annotations

from documents import code, read, rows, section

import tcdp_audit

PAGE = read("docs/python.md")


def test_every_public_name_has_a_row():
    documented = [code(cells[0])[0] for cells in rows(section(PAGE, "## Every public name"))]

    assert sorted(documented) == sorted(tcdp_audit.__all__)
    assert all(hasattr(tcdp_audit, name) for name in documented)


def test_every_attribute_that_a_row_names_is_there():
    for cells in rows(section(PAGE, "## Every public name")):
        public = getattr(tcdp_audit, code(cells[0])[0])
        fields = getattr(public, "__dataclass_fields__", {})
        for attribute in (span for span in code(cells[1]) if span.startswith(".")):
            name = attribute.lstrip(".").partition("(")[0]
            assert name in fields or hasattr(public, name), f"{cells[0]}{attribute}"
