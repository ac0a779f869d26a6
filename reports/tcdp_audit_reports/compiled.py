"""Templates that are compiled once: their bytecode is kept beside them, as Python keeps that of its modules.

Jinja takes what is kept only for the same text under the same versions of Jinja and Python. Where nothing can be
written, or Python is told to write nothing, each process compiles for itself.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib.metadata import version
from importlib.util import cache_from_source
from pathlib import Path

from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined, Template
from jinja2.bccache import Bucket


def compiled(path: Path) -> Template:
    """The template in a file, with those that it includes from the same folder."""
    environment = Environment(
        loader=FileSystemLoader(path.parent),
        bytecode_cache=_BesideModules(path),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    return environment.get_template(path.name)


class _BesideModules(FileSystemBytecodeCache):
    """The folder in which Python would keep the bytecode of a module that stands where the template does."""

    def __init__(self, template: Path) -> None:
        folder = Path(cache_from_source(str(template))).parent
        super().__init__(str(folder), f"%s.jinja-{version('jinja2')}.{sys.implementation.cache_tag}")

    def load_bytecode(self, bucket: Bucket) -> None:
        try:
            super().load_bytecode(bucket)
        except Exception:  # noqa: BLE001 - whatever stands in a damaged file, the template can be compiled
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        if not sys.dont_write_bytecode:
            with suppress(OSError):
                Path(self.directory).mkdir(parents=True, exist_ok=True)
                super().dump_bytecode(bucket)
