"""`python -m vectors run --tool TOOL`, `python -m vectors page`, `python -m vectors confirm`."""

from __future__ import annotations

import argparse
import sys

from vectors.reading import load


def main() -> int:
    """Run a command; 1 if tcdp-audit or the verifier gives a wrong answer, or if a confirmation disagrees."""
    parser = argparse.ArgumentParser(prog="python -m vectors", description="Test vectors for disclosure measures")
    commands = parser.add_subparsers(dest="command", required=True)
    asked = commands.add_parser("run", help="ask a tool that this environment has")
    asked.add_argument("--tool", required=True)
    asked.add_argument("--measure", help="this one alone")
    asked.add_argument("--id", help="this vector alone")
    asked.add_argument("--write", action="store_true", help="keep the results for the page")
    commands.add_parser("page", help="write docs/vectors.md from the results that were kept")
    commands.add_parser("confirm", help="ask the reference, R and the tools again who confirms what")
    given = parser.parse_args()
    if given.command == "page":
        from vectors.page import write  # noqa: PLC0415 - each command loads what it needs

        write()
        return 0
    if given.command == "confirm":
        from vectors.confirm import confirm  # noqa: PLC0415

        return confirm()
    from vectors.run import TOOLS, report, run, store  # noqa: PLC0415

    if given.tool not in TOOLS:
        parser.error(f"--tool is one of {', '.join(TOOLS)}")
    chosen = [one for one in load() if given.measure in {None, one.measure} and given.id in {None, one.id}]
    if not chosen:
        parser.error("no vector has this measure or id")
    results = run(given.tool, chosen)
    report(results)
    if given.write:
        store(given.tool, results)
    return int(given.tool in {"tcdp-audit", "verifier"} and any(one.status in {"wrong", "refuses"} for one in results))


if __name__ == "__main__":
    sys.exit(main())
