"""Reports of what is no audit, a comparison or a frontier: by the formats that have a form for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from tcdp_audit.api import Plugins
    from tcdp_audit.core.results.reporter import Reporter

Form = Literal["render_comparison", "render_frontier"]
Chosen = Sequence[tuple[Path, "Reporter"]]


def chosen_reports(
    form: Form, names: Sequence[str], plugins: Plugins, require_own: Callable[[list[tuple[str, Path]]], None]
) -> Chosen:
    """The reports that are asked for, each with its format.

    Args:
        form: the field of a reporter that is to render them.
        names: of their files.
        plugins: what may render them.
        require_own: raises where one of some files, each with its option, is none of its own.

    Raises:
        UsageError: a format has no such form, or a file cannot be written.
    """
    from tcdp_audit.api import require_writable  # noqa: PLC0415 - only for reports
    from tcdp_audit.core.results.reporter import reporter_of  # noqa: PLC0415 - likewise

    known = [one for one in plugins.reporters.values() if getattr(one, form) is not None] if names else []
    chosen = [(Path(name), reporter_of(Path(name), known)) for name in names]
    require_own([("--report", path) for path, _ in chosen])
    for path, _ in chosen:
        require_writable(path)
    return chosen


def write_reports(form: Form, chosen: Chosen, result: Any, plugins: Plugins) -> list[str]:
    """Write the reports that were chosen; the paths of their files.

    Raises:
        PluginError: a format raised, or gave no text.
        UsageError: a file cannot be written any more.
    """
    from tcdp_audit.api import write_atomically  # noqa: PLC0415 - only for reports
    from tcdp_audit.core.results.audit import blaming_reporter  # noqa: PLC0415 - imports pydantic

    for path, reporter in chosen:
        with blaming_reporter(reporter.name, plugins):
            text = getattr(reporter, form)(result)
        write_atomically(path, text)
    return [str(path) for path, _ in chosen]
