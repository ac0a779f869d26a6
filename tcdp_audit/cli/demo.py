"""`tcdp-audit demo`: write a demonstration release, audit it and render the report."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tcdp_audit.api import write_atomically
from tcdp_audit.cli.printing import write
from tcdp_audit.plugin.engine import UsageError
from tcdp_audit.plugin.sentences import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tcdp_audit.core.results.audit import Audit

FOLDER = "tcdp-audit-demo"
REPORTS = {"report.html": "the report, for people: open it in a browser", "result.json": "the result, for programs"}
INCOMPLETE = 3


@click.command(context_settings={"help_option_names": ["--help", "-h"]})
@click.argument("folder", metavar="[DIR]", default=FOLDER, type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Write even if DIR holds other files.")
def command(folder: Path, *, force: bool) -> int:
    """Write a hospital's discharges to DIR, audit their release and write the report.

    DIR is ./tcdp-audit-demo by default; it must be new, empty or an unchanged demonstration. All data are
    invented, and the same every time.

    Exit code: 0 if the demonstration ran, although its release does not meet its policy.
    """
    from tcdp_audit.demo import POLICY, make_discharges  # noqa: PLC0415 - imports numpy

    made = make_discharges()
    if not force:
        _require_free(folder, made)
    with _whole(folder, [*made, *REPORTS]):
        for name, text in made.items():
            write_atomically(folder / name, text)
        audit = _audited(folder / POLICY)
        for name in REPORTS:
            audit.write(folder / name)
    _print_result(audit, folder)
    return INCOMPLETE if audit.exit_code() == INCOMPLETE else 0


def _audited(policy: Path) -> Audit:
    """The audit by the built-in plugins, so that no other can spoil the demonstration; under all conventions."""
    from tcdp_audit.api import Plugins, audit, command_line  # noqa: PLC0415 - imports the engine
    from tcdp_audit.plugin.report import Run  # noqa: PLC0415

    plugins = Plugins.load(external=False)
    made = audit(None, policy, plugins=plugins, all_conventions=True, column_risks=True, try_remedies=True)
    return replace(made, run=Run("the demonstration", command_line(sys.argv[1:])))


def _require_free(folder: Path, made: Mapping[str, str]) -> None:
    """Refuse a file, and a folder that holds anything but an unchanged demonstration."""
    if folder.is_file():
        raise UsageError(f"{folder}: is a file; name a folder")
    if _is_empty(folder):
        return
    changed = [name for name, text in made.items() if not _is_same(folder / name, text)]
    if changed:
        reason = "holds other files" if len(changed) == len(made) else f"its {changed[0]} is not the demonstration's"
        raise UsageError(f"{folder}: {reason}; name a new folder, or write over what is there with --force")


def _is_same(path: Path, text: str) -> bool:
    return path.is_file() and path.read_bytes() == text.encode()


def _is_empty(folder: Path) -> bool:
    return not folder.is_dir() or not any(folder.iterdir())


@contextmanager
def _whole(folder: Path, names: Sequence[str]) -> Iterator[None]:
    """Create a folder for some files; if the work fails, an empty one is left empty."""
    existed, was_empty = folder.is_dir(), _is_empty(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be created: {error.strerror}") from None
    try:
        yield
    except BaseException:
        for name in names if was_empty else ():
            (folder / name).unlink(missing_ok=True)
        if not existed:
            folder.rmdir()
        raise


def _print_result(audit: Audit, folder: Path) -> None:
    from tcdp_audit.cli.document import console  # noqa: PLC0415 - imports rich
    from tcdp_audit.cli.terminal import print_audit  # noqa: PLC0415 - likewise

    print_audit(console(), audit, [str(folder / name) for name in REPORTS])
    write("\n".join(_lines(audit, folder)) + "\n")


def _lines(audit: Audit, folder: Path) -> Iterator[str]:
    """A description of the files, the meaning of the verdict, and the next commands."""
    from tcdp_audit.demo import FILES, POLICY  # noqa: PLC0415 - imports numpy

    described = {**FILES, **REPORTS}
    width = max(map(len, described))
    folder = Path(visible(str(folder)))
    yield from ["", f"In {folder}:"]
    yield from (f"  {name:<{width}}  {what}" for name, what in described.items())
    met = "meets" if audit.passed else "does not meet"
    code = audit.exit_code()
    yield from ["", f"The release {met} its policy: `tcdp-audit check` exits with {code} here.", "", "Next:"]
    yield f"  tcdp-audit check --policy {folder / POLICY}"
    yield f"  tcdp-audit fix --policy {folder / POLICY} --output out.csv"
    yield "  tcdp-audit explain t_closeness"
    yield f"  edit {folder / POLICY} and check again"
