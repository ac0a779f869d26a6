"""`python -m tools.generate` writes every stale generated file, and prints its path."""

from __future__ import annotations

import sys

from tools.generate import ROOT, generated, leftovers


def main() -> None:
    """Write stale files and remove those that are no longer generated."""
    for name, text in generated():
        path = ROOT / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
            sys.stdout.write(f"{name}\n")
    for path in leftovers():
        path.unlink()
        sys.stdout.write(f"{path.relative_to(ROOT)} removed\n")


if __name__ == "__main__":
    main()
