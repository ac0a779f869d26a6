"""Catalogues of translations: `python -m tools.languages` brings every `tcdp_audit/languages/*.po` up to date.

The texts come from seven places: what checks declare (titles, questions, risks, labels, sentences), the phrases that
sentences are made of, what remedies do, what profiles ask, the templates of `say`, the fixed texts of reports, and
their texts with gaps.
Babel reads and writes the catalogues and carries translations over: a translation whose text is gone stays as an
obsolete entry (`#~`), and one whose text changed is marked `fuzzy`, which is not used until a person has looked at it.
A German catalogue holds every text of checks and remedies, translated or not; a text of reports that has no translation
is left out of every catalogue, and `python -m tools.languages LANGUAGE` prints those.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from html import unescape
from importlib import import_module
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.pofile import read_po, write_po

from tcdp_audit.core.base.language import CATALOGUES, NOUN, PATTERN, POLICY_NOUN, SENTENCE_END, VALUE
from tcdp_audit.core.check.translation import PHRASES, STRICTNESS, WORDS
from tcdp_audit.core.policy.policy import profiles
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.plugin.check import Check
from tcdp_audit.plugin.sentences import prose
from tcdp_audit_plugins.checks import FAMILIES
from tcdp_audit_plugins.checks._shared.sensitive_values import REFERENCES as FILES
from tcdp_audit_plugins.checks.differential_privacy.stochastic_t_closeness import NAMES, Mechanism
from tcdp_audit_plugins.checks.individual_risk import JUDGED
from tcdp_audit_plugins.checks.t_closeness.t_closeness import EVERYONE, KINDS, REFERENCES
from tcdp_audit_plugins.detectors import DETECTORS
from tcdp_audit_plugins.engines.workbooks import binary, open_document
from tcdp_audit_plugins.engines.workbooks.contents import NAMED
from tcdp_audit_plugins.engines.workbooks.open_document import BESIDE
from tcdp_audit_plugins.engines.workbooks.reading import UNSEEN
from tcdp_audit_reports.guide_text import in_groups

ROOT = Path(__file__).parents[1]
SOURCES = ("tcdp_audit/core", "reports/tcdp_audit_reports", "plugins/tcdp_audit_plugins")
OF_CHECKS, OF_REMEDIES, OF_PHRASES = (
    "check ",
    "remedy ",
    "phrase",
)  # how the comments of entries begin that a complete catalogue has
COMPLETE = ("de",)  # languages in which nothing of a check may be missing
NOUNS = (  # with their forms; the last are those that policies often name
    POLICY_NOUN,
    *("record", "person", "household", "entity", "column", "cell", "group", "demand", "schema check", "table"),
    *("patient", "adult", "child", "employee", "student", "customer", "respondent", "woman", "man", "user", "case"),
    *(
        "check",
        "figure",
        "hidden cell",
        "intruder",
        "result",
        "entry",
        "warning",
        "expectation",
        "combination",
        "level",
    ),
    *("setting", "point", "remedy", "remedied release", "external plugin", "value", "scenario"),
    *("way", "measurement", "fitted model", "hidden row", "other thing"),
    *("stay", "visit", "company", "business", "resident", "member", "participant", "client", "family", "inhabitant"),
)
CONTENTS = (NAMED, binary.SAID, binary.STORED, BESIDE, open_document.NAMED)  # of workbooks
WORDS_OF_CHECKS = (  # texts among the values of sentences
    *REFERENCES.values(),
    *FILES.values(),
    *EVERYONE.values(),
    *(one.name for one in KINDS.values()),
    *(NAMES.get(one.value, one.value.replace("_", " ")) for one in Mechanism),
    *JUDGED.values(),
    *(one.plural for one in DETECTORS),
    *(one for kind in CONTENTS for one in kind.values()),
    *("defined names", "document properties", UNSEEN),
    *("highest", "average", "expected", "share_above", "prosecutor", "journalist", "marketer"),
    *("exact", "Zayatz", "Pitman", "log-linear"),
    *("under 0.1%", "over 99.9%", ", which must stay secret"),
    *("generalising first", "coarser or shorter histories"),
)
ELEMENT = re.compile(r"<(style|svg)\b.*?</\1>", re.DOTALL)
NO_GAPS = re.compile(r"[<>=\\@#$^`|]|\{(?!\})|(?<!\{)\}")  # in a text that no reader sees as such
CODE = re.compile(r"`([^`]+)`")
NO_TEXT = re.compile(r"[<>{}_=\\@#$^`|]|^\W*$")


def main(languages: list[str]) -> None:
    """Update every catalogue; print what the named languages lack."""
    template = all_texts()
    for path in sorted(CATALOGUES.glob("*.po")):
        catalogue = updated(path, template)
        with path.open("wb") as file:
            write_po(file, catalogue, width=0, include_lineno=False, sort_output=False)
        lacking = [one.id for one in template if one.id and not _is_translated(catalogue, one.id, one.context)]
        sys.stdout.write(f"{path.relative_to(ROOT)}: {len(catalogue)} entries, {len(catalogue.obsolete)} obsolete\n")
        if path.stem in languages:
            sys.stdout.write("".join(f"  {one}\n" for one in lacking))


def all_texts() -> Catalog:
    """Every text that can be translated, each once, with a comment on where it is from."""
    template = Catalog(project="tcdp-audit", fuzzy=False)
    of_plugins = [*texts_of_checks(), *texts_of_phrases(), *texts_of_remedies()]
    for text, comment in [*of_plugins, *texts_of_profiles(), *texts_of_reports()]:
        template.add(text, auto_comments=[comment])
    for text, comment in patterns_of_reports():
        template.add(text, context=PATTERN, auto_comments=[comment])
    for text in WORDS_OF_CHECKS:
        template.add(text, context=VALUE, auto_comments=[f"{OF_PHRASES}: inside of sentences"])
    for noun in NOUNS:
        template.add(noun, context=NOUN, auto_comments=[f"{OF_PHRASES}: a noun with its forms"])
    return template


def texts_of_checks() -> Iterator[tuple[str, str]]:
    """The texts that built-in checks declare, with the check and the kind of text."""
    for family in FAMILIES:
        for check in import_module(f"tcdp_audit_plugins.checks.{family}").CHECKS:
            labels = [one.label for one in getattr(check, "thresholds", ()) if getattr(one, "label", "")]
            texts = {
                "title": [check.title],
                "question": [check.guide.question],
                "risk": [check.risk],
                "label": [check.label, *labels],
                "sentence": [*check.sentences.templates()],
            }
            yield from ((text, f"guide {check.name}: label of a detail") for text in details_of(check))
            yield from ((one.says, f"guide {check.name}: a usual threshold") for one in check.guide.usual)
            defined = sentences_of(in_groups(check.guide.definition))  # without those that hold code
            yield from ((text, f"{OF_CHECKS}{check.name}: definition") for text in defined if "`" not in text)
            for kind, listed in texts.items():
                yield from ((text, f"{OF_CHECKS}{check.name}: {kind}") for text in listed if text)


def sentences_of(text: str) -> Iterator[str]:
    """The sentences of a text, without anything that holds no words."""
    yield from (one for each in SENTENCE_END.split(text) if len(one := each.strip()) > 1 and not NO_TEXT.search(one))


def details_of(check: Check) -> Iterator[str]:
    """The labels of the details of a check's outcomes: of its guide, and of its further limits."""
    yield from check.guide.details.values()
    yield from (one.figure for one in check.limits[1:] if one.figure)


def texts_of_remedies() -> Iterator[tuple[str, str]]:
    """What built-in remedies do, in plain words and in sentences."""
    for name, remedy in Plugins.load(external=False).remedies.items():
        texts = [remedy.title, remedy.guide.plainly, *sentences_of(remedy.guide.effect)]
        yield from ((text, f"{OF_REMEDIES}{name}") for text in texts if text)


def texts_of_profiles() -> Iterator[tuple[str, str]]:
    """The questions of profiles, as the first screen of a report has them."""
    for name, profile in profiles().items():
        for one in profile.questions:
            sentences = SENTENCE_END.split(prose(one.question))  # those with lines of a policy stay English
            yield from ((text, f"profile {name}: question") for text in sentences if "{" not in text)


def texts_of_phrases() -> Iterator[tuple[str, str]]:
    """The parts of sentences that all checks share."""
    for part in PHRASES.values():
        texts = [part] if isinstance(part, str) else [text for name, text in part.items() if name != "by"]
        yield from ((text, f"{OF_PHRASES} of all checks") for text in texts)
    yield from ((text, f"{OF_PHRASES} of values") for text in (*WORDS, *STRICTNESS))


def texts_of_reports() -> Iterator[tuple[str, str]]:
    """The templates of `say`, and the fixed texts of templates and modules."""
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if "say(" in path.read_text(encoding="utf-8"):
                with path.open("rb") as file:
                    said = [*extract("python", file, keywords={"say": None})]
                yield from ((str(one[1]), f"{name}: say") for one in said)
            if "/tcdp_audit_plugins/" not in name or "/sections/" in name:
                yield from ((text, name) for text in constants(path))
        for path in sorted((ROOT / folder).rglob("*.html.j2")):
            name = path.relative_to(ROOT).as_posix()
            yield from ((text, name) for text in text_nodes(path.read_text(encoding="utf-8")))


def patterns_of_reports() -> Iterator[tuple[str, str]]:
    """The f-strings of reports, and each of their sentences, with a gap for each value."""
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            for node, _ in texts_in(path):
                values = node.values if isinstance(node, ast.JoinedStr) else [node]
                parts = [str(one.value) if isinstance(one, ast.Constant) else "{}" for one in values]
                pattern = "".join(parts).replace("{columns}", "{}")
                yield from ((text, name) for text in patterns_with_sentences(pattern))
        for path in sorted((ROOT / folder).rglob("*.html.j2")):
            plain = ELEMENT.sub(" ", path.read_text(encoding="utf-8"))
            for text in re.split(r"<[^>]*>|\{%.*?%\}", re.sub(r"\{\{.*?\}\}", "{}", plain)):
                patterns = patterns_with_sentences(unescape(text))
                yield from ((one, path.relative_to(ROOT).as_posix()) for one in patterns)


def patterns_with_sentences(pattern: str) -> Iterator[str]:
    """A text with gaps and, if it has several, its sentences; those with words and at least one gap.

    Code is between quotation marks, as reports show it.
    """
    shown = CODE.sub(r"‘\1’", pattern)
    texts = dict.fromkeys([shown.strip(), *(one.strip() for one in SENTENCE_END.split(shown))])
    yield from (one for one in texts if "{}" in one and re.search(r"[A-Za-z]{2}", one) and not NO_GAPS.search(one))


def constants(path: Path) -> Iterator[str]:
    """The constants of a module, also those inside of f-strings, and each of their sentences; no docstrings."""
    for node, is_docstring in texts_in(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and not is_docstring:
            yield from with_sentences(node.value)


@cache
def texts_in(path: Path) -> list[tuple[ast.Constant | ast.JoinedStr, bool]]:
    """The constants and f-strings of a module, each with whether it is a docstring."""
    nodes = [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    return [(node, id(node) in docstrings) for node in nodes if isinstance(node, ast.Constant | ast.JoinedStr)]


def text_nodes(template: str) -> Iterator[str]:
    """The texts of a template between tags, values and instructions, and the texts in those."""
    plain = ELEMENT.sub(" ", template)
    for text in re.split(r"<[^>]*>|\{\{.*?\}\}|\{%.*?%\}", plain):
        yield from with_sentences(unescape(text))
    for text in re.findall(r"[\"\x27]([^\"\x27<>{}]+)[\"\x27]", template):
        yield from with_sentences(unescape(text))


def with_sentences(text: str) -> Iterator[str]:
    """A text and, if it has several, its sentences, without anything that holds no words."""
    texts = dict.fromkeys([text.strip(), *(one.strip() for one in SENTENCE_END.split(text))])
    yield from (one for one in texts if len(one) > 1 and not NO_TEXT.search(one))


def updated(path: Path, template: Catalog) -> Catalog:
    """A catalogue with the texts of a template; without entries that need no translation and have none."""
    with path.open("rb") as file:
        catalogue = read_po(file, locale=path.stem)
    created = catalogue.creation_date
    wanted = Catalog(fuzzy=False)
    for entry in template:  # without texts of reports that have no translation here, which Babel would guess slowly
        if entry.id and (is_required(entry.auto_comments) or catalogue.get(entry.id, entry.context) is not None):
            wanted[entry.id] = entry
    catalogue.update(wanted, update_header_comment=False)
    catalogue.creation_date = created
    for entry in [*catalogue]:
        required = path.stem in COMPLETE and is_required(entry.auto_comments)
        if entry.id and not required and (not entry.string or entry.fuzzy):
            catalogue.delete(entry.id, entry.context)
    return catalogue


def is_required(comments: list[str]) -> bool:
    """Whether a complete catalogue must have an entry with these comments."""
    return any(one.startswith((OF_CHECKS, OF_REMEDIES, OF_PHRASES)) for one in comments)


def _is_translated(catalogue: Catalog, text: str, context: str | None) -> bool:
    entry = catalogue.get(text, context)
    return entry is not None and bool(entry.string) and not entry.fuzzy


if __name__ == "__main__":
    main(sys.argv[1:])
