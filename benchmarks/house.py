"""The size and shape of the code: packages, layers, modules, lines, public names, and the code that a small call runs.

    python benchmarks/house.py [--static]

A room is a package or module at the root of `tcdp_audit`; where there is a package `core`, each of its children is one.
A floor is a step of the longest chain of rooms that import one another at module level, imports for typing included;
rooms that import each other in a circle are on one floor. The longest chain of modules is counted and shown twice:
with imports for typing, of which lazy facades consist, and as modules are imported when the code runs. The visits of
an audit, a repair and one expectation of Great Expectations on 60 records are counted in a second call of one
process, those of a cold `check` in a separate process, and there twice: with what runs while modules are imported, such
as the body of a class, and without it. Nothing is timed.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PACKAGES = {"tcdp_audit": ROOT, "tcdp_audit_plugins": ROOT / "plugins", "tcdp_audit_reports": ROOT / "reports"}
Graph = Mapping[str, set[str]]


@cache
def modules() -> dict[str, Path]:
    """Every module of the three packages by its dotted name."""
    actual = {}
    for package, folder in PACKAGES.items():
        for path in sorted((folder / package).rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            actual[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return actual


@cache
def imports(*, typing: bool = True) -> dict[str, set[str]]:
    """For each module the modules of this project that it imports at module level, those for typing or not."""
    return {name: set(_imported(path, typing)) - {name} for name, path in modules().items()}


def _imported(path: Path, typing: bool) -> Iterable[str]:  # noqa: FBT001
    for node in _at_module_level(ast.parse(path.read_text(encoding="utf-8")).body, typing):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name in modules())
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            for one in node.names:
                inner = f"{node.module}.{one.name}"
                target = inner if inner in modules() else node.module
                if target in modules():
                    yield target


def _at_module_level(body: Iterable[ast.stmt], typing: bool = True) -> Iterable[ast.stmt]:  # noqa: FBT001, FBT002
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If | ast.Try | ast.With) and (typing or not _for_typing(node)):
            yield from _at_module_level([*node.body, *getattr(node, "orelse", [])], typing)


def _for_typing(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def room_of(module: str) -> str:
    """The room of a module of the core's package."""
    parts = module.split(".")
    return ".".join(parts[:3] if parts[1:2] == ["core"] else parts[:2])


def rooms() -> dict[str, set[str]]:
    """The rooms of `tcdp_audit`, each with those that it imports; the package's own module is no room."""
    graph: dict[str, set[str]] = {}
    for name, used in imports().items():
        if not name.startswith("tcdp_audit.") or name in ("tcdp_audit.core", "tcdp_audit.__main__"):
            continue  # the one holds rooms and is none; the other is the two lines behind `python -m tcdp_audit`
        others = {room_of(one) for one in used if one.startswith("tcdp_audit.") and one != "tcdp_audit.core"}
        graph.setdefault(room_of(name), set()).update(others - {room_of(name)})
    return graph


def longest_chain(graph: Graph) -> list[list[str]]:
    """The longest chain of imports, from its top; a circle counts as one node, and is given with all of its members."""
    circle = _circles(graph)
    members: dict[int, list[str]] = {}
    condensed: dict[int, set[int]] = {}
    for node, used in graph.items():
        members.setdefault(circle[node], []).append(node)
        used_circles = {circle[one] for one in used if one in circle}
        condensed.setdefault(circle[node], set()).update(used_circles - {circle[node]})
    chains: dict[int, list[int]] = {}
    for node in TopologicalSorter(condensed).static_order():
        chains[node] = [node, *max((chains[one] for one in condensed[node]), key=len, default=[])]
    return [members[node] for node in max(chains.values(), key=len)]


def _circles(graph: Graph) -> dict[str, int]:
    """The number of the circle that each node is part of: its strongly connected component."""
    reach = {node: _reachable(graph, node) for node in graph}
    number: dict[str, int] = {}
    for node in graph:
        mates = [one for one in reach[node] if one in reach and node in reach[one]] or [node]
        number[node] = min((number[one] for one in mates if one in number), default=len(number))
    return number


def _reachable(graph: Graph, start: str) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        for one in graph.get(waiting.pop(), ()):
            if one not in seen:
                seen.add(one)
                waiting.append(one)
    return seen


def promised_names() -> dict[str, int]:
    """How many names each public module of `tcdp_audit.plugin` exports."""
    surface = [name for name in modules() if name == "tcdp_audit.plugin" or name.startswith("tcdp_audit.plugin.")]
    public = [name for name in surface if name.count(".") < 3 and not name.rpartition(".")[2].startswith("_")]
    return {name: count for name in public if (count := _exported(modules()[name]))}


def _exported(path: Path) -> int:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if any(isinstance(one, ast.Name) and one.id == "__all__" for one in targets) and isinstance(node, ast.Assign):
            return len(ast.literal_eval(node.value))
    return sum(len(node.names) for node in _at_module_level(tree.body) if _is_own(node))


def _is_own(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module not in ("__future__", "typing", "tcdp_audit.core.base.lazy")


CODE = """
import json, sys
from collections.abc import Callable
from pathlib import Path
folder = Path(sys.argv[1])
OURS = ("/tcdp_audit/", "/tcdp_audit_plugins/", "/tcdp_audit_reports/")
POLICY = {
    "version": 1,
    "attributes": {
        "age": {"role": "quasi_identifier", "scale": "numeric"},
        "sex": {"role": "quasi_identifier"},
        "ill": {"role": "sensitive"},
    },
    "expect": [
        {"k_anonymity": {"k": 3}},
        {"distinct_l_diversity": {"l": 2, "attribute": "ill"}},
        {"t_closeness": {"t": 0.5, "attribute": "ill"}},
    ],
}


def importing(frame):
    while frame is not None:
        if frame.f_code.co_name == "<module>" and any(part in frame.f_code.co_filename for part in OURS):
            return True
        frame = frame.f_back
    return False


def visited(call):
    seen, called = set(), set()  # with what runs while a module is imported, and without it

    def note(frame, event, _):
        if event == "call" and any(part in frame.f_code.co_filename for part in OURS):
            one = (frame.f_code.co_filename, frame.f_code.co_qualname, frame.f_code.co_firstlineno)
            seen.add(one)
            if one not in called and not importing(frame):
                called.add(one)

    import threading

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return {"with imports": counts(seen), "without": counts(called)}


def counts(seen):
    named = {one for one in seen if not one[1].startswith("<")}
    return {"files": len({one[0] for one in named}), "functions": len(named)}


def second(call):
    call()
    return visited(call)
"""
CALLS = {
    "audit, the second in a process": "import tcdp_audit\n"
    "print(json.dumps(second(lambda: tcdp_audit.audit(folder / 'r.csv', POLICY))))",
    "fix by Mondrian, the second": "import tcdp_audit\n"
    "repair = {**POLICY, 'remedy': [{'mondrian': {}}]}\n"
    "print(json.dumps(second(lambda: tcdp_audit.fix(folder / 'r.csv', repair))))",
    "one expectation of Great Expectations, the second": "import warnings\n"
    "warnings.simplefilter('ignore')\n"
    "import pandas, great_expectations as gx\n"
    "from tcdp_audit.integrations import great_expectations as ours\n"
    "frame = pandas.read_csv(folder / 'r.csv', dtype=str)\n"
    "asset = gx.get_context(mode='ephemeral').data_sources.add_pandas('p').add_dataframe_asset('r')\n"
    "batch = asset.add_batch_definition_whole_dataframe('w').get_batch({'dataframe': frame})\n"
    "one = ours.ExpectTableToBeKAnonymous(quasi_identifiers=['age', 'sex'], k=3)\n"
    "print(json.dumps(second(lambda: batch.validate(one))))",
    "check, cold": "import contextlib, io\n"
    "(folder / 'p.tcdp.yaml').write_text(json.dumps(POLICY))\n"
    "def cold():\n"
    "    from tcdp_audit.cli import main\n"
    "    sys.argv = ['tcdp-audit', 'check', str(folder / 'r.csv'), '--policy', str(folder / 'p.tcdp.yaml')]\n"
    "    with contextlib.redirect_stdout(io.StringIO()):\n"
    "        main()\n"
    "print(json.dumps(visited(cold)))",
}


def visits(code: str) -> dict[str, Any] | None:
    """How many files and functions a call visits; None where it cannot run here."""
    with tempfile.TemporaryDirectory() as folder:
        rows = [f"{30 + number % 5},{'fm'[number % 2]},{'abc'[number % 3]}" for number in range(60)]
        (Path(folder) / "r.csv").write_text("\n".join(["age,sex,ill", *rows]) + "\n", encoding="utf-8")
        ran = subprocess.run([sys.executable, "-c", CODE + code, folder], capture_output=True, text=True, check=False)
    return json.loads(ran.stdout.splitlines()[-1]) if ran.returncode == 0 and ran.stdout else None


def report(write: Callable[[str], object]) -> None:
    """Print everything."""
    lines = {name: path.read_text(encoding="utf-8").count("\n") for name, path in modules().items()}
    write(f"modules {len(lines):,}, lines {sum(lines.values()):,}")
    for package in PACKAGES:
        own = [name for name in lines if name.split(".")[0] == package]
        write(f"  {package:20} modules {len(own):4,}, lines {sum(lines[name] for name in own):7,}")
    graph = rooms()
    write(f"rooms {len(graph)} on {len(longest_chain(graph))} floors, arrows {sum(map(len, graph.values()))}")
    for title, typing in {"when the code runs": False, "with imports for typing": True}.items():
        chain = longest_chain(imports(typing=typing))
        write(f"longest chain of modules {title}: {len(chain)}")
        for members in chain:
            write("  " + ", ".join(sorted(members)))
    names = promised_names()
    write(f"promised names {sum(names.values())}: " + ", ".join(f"{name} {count}" for name, count in names.items()))
    for title, code in {} if "--static" in sys.argv else CALLS.items():
        given = visits(code)
        if given is None:
            write(f"{title}: could not run here")
            continue
        all_of_it, called = (f"{one['files']} files, {one['functions']} functions" for one in given.values())
        write(f"{title}: {all_of_it}" + ("" if called == all_of_it else f"; without what imports run, {called}"))


if __name__ == "__main__":
    report(print)
