"""What an audit says of a release wherever the release is: all of its JSON but for provenance."""

from __future__ import annotations

from typing import Any

from tcdp_audit import audit
from tcdp_audit.core.session.registry import Plugins

PROVENANCE = ("audited_at", "tool", "plugins", "release", "policy", "companions", "proof")
PLUGINS = Plugins.load(external=False)
MEMORY = 2**28


def answer(release: Any, asked: Any, **options: Any) -> dict[str, Any]:
    """The result of an audit without its provenance."""
    result = audit(release, asked, plugins=PLUGINS, memory=MEMORY, **options).as_json()
    return {name: value for name, value in result.items() if name not in PROVENANCE}
