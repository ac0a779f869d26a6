"""Templates of the HTML reports: one environment that escapes everything, compiled once.

The bytecode is kept next to them, as Python keeps that of its modules. Jinja takes it only for the same text
under the same versions of Jinja and Python. Where nothing can be written, each process compiles for itself.
"""

from __future__ import annotations

import base64
import hashlib
import re
import sys
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined, Template
from jinja2.bccache import Bucket

from tcdp_audit.plugin.sentences import visible

TEMPLATES = Path(__file__).parent / "templates"
FRAME = "report.html.j2"


@cache
def template(name: str = FRAME) -> Template:
    """A template of the folder, by default the frame of an audit; the others belong to its environment."""
    if name == FRAME:
        return compile_template(TEMPLATES / FRAME)
    return template().environment.get_template(name)


def prepare_templates() -> None:
    """Compile every template of the folder."""
    for name in template().environment.list_templates(["j2"]):
        template(name)


def fill_template(name: str, **values: Any) -> str:
    """Fill in a template of the folder; every text is escaped."""
    return template(name).render(**values)


@cache
def macros() -> Any:
    """The macros that sections share: tables, figures, marks of a state."""
    return template("macros.html.j2").module


@cache
def stylesheet(*names: str) -> str:
    """The stylesheets of the folder as one, without comments and line ends."""
    text = "".join((TEMPLATES / name).read_text(encoding="utf-8") for name in names)
    css = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return re.sub(r"\s*([{};,])\s*", r"\1", re.sub(r"\s+", " ", css)).strip()


def stylesheet_hash(*names: str) -> str:
    """The digest that the content security policy allows, and nothing else."""
    return base64.b64encode(hashlib.sha256(stylesheet(*names).encode()).digest()).decode()


def compile_template(path: Path) -> Template:
    """Compile the template in a file, with those that it includes from the same folder."""
    environment = Environment(
        loader=FileSystemLoader(path.parent),
        bytecode_cache=_ModuleCache(path),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters["visible"] = visible
    return environment.get_template(path.name)


class _ModuleCache(FileSystemBytecodeCache):
    """The folder in which Python would keep the bytecode of a module in the template's place."""

    def __init__(self, template: Path) -> None:
        folder = Path(cache_from_source(str(template))).parent
        super().__init__(str(folder), f"%s.jinja-{version('jinja2')}.{sys.implementation.cache_tag}")

    def load_bytecode(self, bucket: Bucket) -> None:
        try:
            super().load_bytecode(bucket)
        except Exception:  # noqa: BLE001 - whatever a damaged file holds, the template can be compiled
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        if not sys.dont_write_bytecode:
            with suppress(OSError):
                Path(self.directory).mkdir(parents=True, exist_ok=True)
                super().dump_bytecode(bucket)
