"""Identifiers are the words of the field: none that the project defines has a part of its former private idiom.

`tests/banned_words.py` lists the words, each with a better one. Docstrings of the source have none of
them either, and their first lines are imperatives or noun phrases that need no other line to be understood.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from banned_words import IN_NAMES, in_name, in_prose
from imports import ROOT

pytestmark = pytest.mark.xdist_group("docstrings")  # which one worker reads

SOURCES = ("tcdp_audit", "plugins", "reports")
FOLDERS = (*SOURCES, "tests", "benchmarks", "examples", "tools")
FRAGMENT = re.compile(r"(Those|Of|That|So)\b")  # such as "Those of two tables."
QUESTION = re.compile(r"(What|Which|Where|When|Why|How)\b")  # such as "How many there are."
QUESTIONS = 130  # that may be left: there were 575, and 93 when this was written
Documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def defined(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The names that a module defines, with their lines; names of imported things are others' unless renamed."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield node.lineno, name
            case ast.alias(asname=str(name)) | ast.ExceptHandler(name=str(name)):
                yield node.lineno, name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                yield node.lineno, name


def faults(path: Path) -> list[str]:
    """The names of a module with a banned part, its own and those of its folder included."""
    place = path.relative_to(ROOT)
    names = [*((1, part) for part in (*place.parts[:-1], path.stem)), *defined(_tree(path))]
    return [
        f"{place}:{line}: {name}: write for {word!r}: {IN_NAMES[word]}"
        for line, name in names
        for word in in_name(name)
    ]


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_name_has_a_banned_part(folder: str):
    paths = sorted((ROOT / folder).rglob("*.py"))
    messages = [message for path in paths for message in faults(path)]

    assert paths
    assert not messages, "\n".join(messages)


@cache
def docstrings(folder: str) -> dict[str, str]:
    """The docstrings of a folder by their places."""
    return {
        f"{path.relative_to(ROOT)}:{node.body[0].lineno}: {getattr(node, 'name', 'module')}": text
        for path in sorted((ROOT / folder).rglob("*.py"))
        for node in ast.walk(_tree(path))
        if isinstance(node, Documented) and (text := ast.get_docstring(node))
    }


@pytest.mark.parametrize("folder", SOURCES)
def test_no_docstring_has_the_idiom(folder: str):
    actual = [
        f"{place}: {one.word!r}; write {one.better}"
        for place, text in docstrings(folder).items()
        for _, one in in_prose(text)
    ]

    assert not actual


@pytest.mark.parametrize("folder", SOURCES)
def test_no_docstring_begins_as_the_end_of_another_sentence(folder: str):
    documented = docstrings(folder)

    assert len(documented) > 300
    assert [place for place, text in documented.items() if FRAGMENT.match(text)] == []


def test_few_docstrings_begin_with_a_question():
    questions = [place for folder in SOURCES for place, text in docstrings(folder).items() if QUESTION.match(text)]

    assert len(questions) <= QUESTIONS, "\n".join(questions)


def test_names_of_every_kind_are_read():
    source = """
import os as told_a
class ToldB:
    told_c: int
def told_d(told_e, *told_f, told_g=1, **told_h):
    for told_i, (told_j, _) in told_e:
        told_f.told_k = [told_l for told_l in told_e]
    with told_e as told_m:
        told_n = (told_o := 1)
    try: pass
    except OSError as told_p: pass
    match told_n:
        case [told_q, *told_r] | {**told_s}: pass
"""

    read = {name[-1].lower() for _, name in defined(ast.parse(source)) if in_name(name)}

    assert read == set("abcdefghijklmnopqrs")
