"""The files beside the tables that a policy names: hierarchies, a schema, a suite, those of checks.

They decide figures, too.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.base.provenance import NamedFile
from tcdp_audit.core.base.visible import visible
from tcdp_audit.core.policy import Policy
from tcdp_audit.core.policy.model import StoredSuite

MODULE = ":"  # between the module and the name of a schema that is imported


def named_files(policy: Policy) -> tuple[NamedFile, ...]:
    """Every such file with its digest. What cannot be read is left to whoever needs it, and to say why.

    Args:
        policy: what names them.
    """
    digests = ((kind, attribute, path, _digest(path)) for kind, attribute, path in _paths(policy))
    return tuple(NamedFile(kind, attribute, str(path), digest) for kind, attribute, path, digest in digests if digest)


def require_unchanged(policy: Policy, files: tuple[NamedFile, ...]) -> None:
    """Insist that the files are still those that were there before the audit.

    Args:
        policy: what names them.
        files: they, as they were.

    Raises:
        DataError: one is another.
    """
    changed = set(named_files(policy)) ^ set(files)
    if changed:
        names = sorted({one.title for one in changed})
        raise DataError(
            f"{visible(names[0])}: the file changed while it was audited; audit it again when it is complete"
        )


def _paths(policy: Policy) -> Iterator[tuple[str, str | None, Path]]:
    for name, attribute in sorted(policy.attributes.items()):
        if isinstance(attribute.hierarchy, str):
            yield "hierarchy", name, Path(policy.resolve(attribute.hierarchy))
    named = dict.fromkeys(one for expectation in policy.expectations for one in expectation.parameters.files())
    yield from ((kind, name, Path(policy.resolve(location))) for kind, name, location in named)
    schema, suite = policy.document.schema_, policy.document.suite
    if schema is not None and MODULE not in schema:
        yield "schema", None, Path(policy.resolve(schema))
    if isinstance(suite, StoredSuite):
        yield from (("suite", None, path) for path in _stored(policy, suite))
    elif suite is not None:
        yield "suite", None, Path(policy.resolve(suite))


def _stored(policy: Policy, suite: StoredSuite) -> Iterator[Path]:
    if find_spec("great_expectations") is not None:
        with warnings.catch_warnings(action="ignore"):  # it warns of itself while it is imported
            from tcdp_audit.core.quality.great_expectations_suite import stored_file  # noqa: PLC0415 - of an extra

            path = stored_file(policy, suite)
        yield from () if path is None else (path,)


def _digest(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None
