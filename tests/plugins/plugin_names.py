"""The public names for plugins as tables of docs/plugins.md: `python tests/plugins/plugin_names.py` writes them.

A row has the name, the first line of its documentation in the source, and the shortest plugin
that uses it, or where it is defined if none does. Of some names the page has the attributes, methods
and parameters too, from annotations and docstrings.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

from tcdp_audit import plugin

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "plugins.md"
HOMES = json.loads((ROOT / "tcdp_audit/core/base/public_names.json").read_text(encoding="utf-8"))
USERS = (
    "examples/plugin/src",
    "tests/plugins/tcdp_audit_example/src/tcdp_audit_example",
    "plugins/tcdp_audit_plugins",
    "reports/tcdp_audit_reports",
    "tcdp_audit",
)  # where examples are looked for, in this order
MEMBERS = r"(<!-- members: (\w+) (\w+) -->\n).*?(\n<!-- end -->)"
HEAD = "| name | what it is | used in |\n|---|---|---|"


def names_of(role: str) -> list[str]:
    """The public names of a role."""
    names: list[str] = import_module(f"tcdp_audit.plugin.{role}").__all__
    return sorted(names, key=str.lower)


def table_of(role: str) -> str:
    """The names of a role as a table."""
    return "\n".join([HEAD, *(row_of(role, name) for name in names_of(role))])


def row_of(role: str, name: str) -> str:
    """One name."""
    line = first_line(role, name).replace("|", "\\|")
    path = example_of(role, name) or _path(_defining_module(role, name))
    return f"| `{name}` | {line} | [{path.name}](../{path.as_posix()}) |"


def first_line(role: str, name: str) -> str:
    """What the source says of a name: its docstring's first line, or the text under or next to its definition.

    Raises:
        ValueError: it says nothing.
    """
    module = _defining_module(role, name)
    text = _source(module)
    for node, following in _pairs(ast.parse(text).body):
        documentation: str | None = None
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
            documentation = ast.get_docstring(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and name in _assigned(node):
            documentation = _of_assignment(node, following, text)
        if documentation:
            return documentation.splitlines()[0]
    raise ValueError(f"{name}: write a docstring under its definition in {module}")


def members_of(role: str, name: str) -> str:
    """The parameters of a function, or the attributes and methods of a class, as a table with its signature."""
    (node,) = (
        node
        for node in ast.parse(_source(_defining_module(role, name))).body
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name
    )
    head = f"`{name}{_signature(node)}`" if isinstance(node, ast.FunctionDef) else f"`{name}` has"
    rows = list(_arguments(node))
    if isinstance(node, ast.ClassDef):
        rows += [row for one in node.body if (row := _member(one))]
    return "\n".join(
        [f"| {head} | |\n|---|---|", *(f"| `{one}` | {text.replace('|', chr(92) + '|')} |" for one, text in rows)]
    )


def _signature(node: ast.FunctionDef) -> str:
    arguments = ast.arguments(**{key: value for key, value in vars(node.args).items() if key in ast.arguments._fields})
    arguments.args = [one for one in arguments.args if one.arg not in ("self", "cls")]
    return f"({ast.unparse(arguments)})"


def _arguments(node: ast.ClassDef | ast.FunctionDef) -> Iterator[tuple[str, str]]:
    """What the docstring says of each argument."""
    _, _, section = (ast.get_docstring(node) or "").partition("Args:\n")
    section = re.split(r"\n(?=\S)", section)[0]
    for name, text in re.findall(r"^ {4}(\w+): (.+(?:\n {8}.+)*)", section, re.MULTILINE):
        sentence = " ".join(text.split())
        yield name, sentence[:1].upper() + sentence[1:]


def _member(node: ast.stmt) -> tuple[str, str] | None:
    """A public method or property with the first line of its docstring."""
    if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
        return None
    text = (ast.get_docstring(node) or "").splitlines()[0]
    decorators = {ast.unparse(one) for one in node.decorator_list}
    call = "" if decorators & {"property", "cached_property"} else _signature(node)
    must = "To implement. " if "abstractmethod" in decorators else ""
    return f"{node.name}{call}", f"{must}{text}"


def _defining_module(role: str, name: str) -> str:
    return _home(HOMES[f"tcdp_audit.plugin.{role}"][name], name)


def _home(module: str, name: str) -> str:
    """The module that defines a name; a package may only hand it on."""
    for node in ast.walk(ast.parse(_source(module))):
        if isinstance(node, ast.ImportFrom) and node.module and any(one.name == name for one in node.names):
            return _home(node.module, name)
    return module


def _pairs(body: list[ast.stmt]) -> Iterator[tuple[ast.stmt, ast.stmt | None]]:
    return zip(body, [*body[1:], None], strict=True)


def _assigned(node: ast.Assign | ast.AnnAssign) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {one.id for one in targets if isinstance(one, ast.Name)}


def _of_assignment(node: ast.stmt, following: ast.stmt | None, text: str) -> str:
    """The string under an assignment, or the comment at its end."""
    if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
        return str(following.value.value)
    comment = text.splitlines()[(node.end_lineno or 1) - 1].partition("  # ")[2].strip()
    return comment and f"{comment[:1].upper()}{comment[1:].rstrip('.')}."


@cache
def _source(module: str) -> str:
    return (ROOT / _path(module)).read_text(encoding="utf-8")


def _path(module: str) -> Path:
    path = Path(*module.split("."))
    return path / "__init__.py" if (ROOT / path).is_dir() else path.with_suffix(".py")


def example_of(role: str, name: str) -> Path | None:
    """The shortest file that imports a name, of the first folder where one does."""
    for folder in USERS:
        using = [path for path, text in _files(folder).items() if uses(text, role, name)]
        if using:
            return min(using, key=lambda path: (path.name == "__init__.py", len(_files(folder)[path])))
    return None


def uses(text: str, role: str, name: str) -> bool:
    """Whether a source imports a public name."""
    blocks = re.findall(rf"from tcdp_audit\.plugin\.{role} import (?:\(([^)]*)\)|([^(\n]+))", text)
    return any(re.search(rf"\b{name}\b", long or short) for long, short in blocks)


@cache
def _files(folder: str) -> dict[Path, str]:
    paths = [path for path in sorted((ROOT / folder).rglob("*.py")) if "broken" not in path.parts]
    return {path.relative_to(ROOT): path.read_text(encoding="utf-8") for path in paths}


def with_tables(page: str) -> str:
    """The page with a table of names for every role, between its marks."""
    for role in plugin.__all__:
        marks = f"<!-- names: {role} -->\n", "\n<!-- end -->"
        before, opening, rest = page.partition(marks[0])
        _, closing, after = rest.partition(marks[1])
        if not (opening and closing):
            raise ValueError(f"{PAGE.name} has no table of the names of {role}")
        page = f"{before}{opening}{table_of(role)}{closing}{after}"
    return re.sub(MEMBERS, lambda table: f"{table[1]}{members_of(table[2], table[3])}{table[4]}", page, flags=re.DOTALL)


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
