"""JUnit XML, which every CI reads: a suite a policy, a case an outcome. A case has no time: none was measured."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from xml.etree import ElementTree as ET

from tcdp_audit.plugin._internal import (
    VERDICTS,
    demanded,
    failing,
    name_in_repository,
    number,
    observed,
    place_of,
    verdict_sentence,
)
from tcdp_audit.plugin.report import Audit, Unaudited, tool
from tcdp_audit.plugin.sentences import Outcome, Status, count, prose, visible

NOT_XML = re.compile("[\ufffe\uffff]")  # what `visible` leaves and is no character of XML 1.0
POLICY_ENDS = (".tcdp.yaml", ".tcdp.yml", ".yaml", ".yml")
CELLS = 100  # failing cells of a case
COUNTED = {"failure": "failures", "error": "errors", "skipped": "skipped"}


def render(results: Sequence[Audit | Unaudited]) -> str:
    """The results of a run as XML; the same results give the same bytes. Cost: linear in the outcomes."""
    root = ET.Element("testsuites", name="tcdp-audit")
    for result in results:
        root.append(_unaudited(result) if isinstance(result, Unaudited) else _suite(result))
    _count(root, root.iter("testcase"))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _count(element: ET.Element, cases: Iterable[ET.Element]) -> None:
    listed = list(cases)
    tally = Counter(child.tag for case in listed for child in case)
    element.set("tests", str(len(listed)))
    for tag, attribute in COUNTED.items():
        element.set(attribute, str(tally[tag]))


def _suite(audit: Audit) -> ET.Element:
    name, path = _names(audit)
    suite = ET.Element("testsuite", name=name, timestamp=audit.audited_at.isoformat())
    if path:
        suite.set("file", path)
    _properties(suite, _provenance(audit))
    seen: Counter[str] = Counter()
    for outcome in audit.outcomes:
        inner = ", ".join(filter(None, (outcome.attribute, outcome.name_of_part)))
        label = f"{outcome.check}[{inner}]" if inner else outcome.check
        seen[label] += 1
        suite.append(_case(audit, outcome, label if seen[label] == 1 else f"{label} #{seen[label]}"))
    if audit.status == "error" and not any(one.status is Status.ERROR for one in audit.outcomes):
        case = ET.SubElement(suite, "testcase", name="audit", classname=_class_of(audit, "audit"))
        _verdict(case, "error", VERDICTS["error"], verdict_sentence(audit))
    _count(suite, suite.iter("testcase"))
    return suite


def _names(audit: Audit) -> tuple[str, str]:
    """The policy as a suite is called, and its file where it has one."""
    path = "" if audit.policy.path is None else _text(name_in_repository(audit.policy.path))
    return path or audit.policy.name, path


def _provenance(audit: Audit) -> Iterator[tuple[str, object]]:
    yield "status", audit.status
    yield "release", audit.release.name
    yield "release.sha256", audit.release.sha256
    if audit.has_records:
        yield "records", audit.release.records
    if audit.figures:
        yield "cells", sum(one["cells"] for one in audit.sizes_of_figures.values())
    for name, table in {**audit.companions, **audit.release.tables}.items():
        if name in audit.figures:
            yield f"{name}.sha256", table.sha256
    yield "policy.sha256", audit.policy.sha256
    yield "tcdp-audit", tool()["version"]


def _case(audit: Audit, outcome: Outcome, label: str) -> ET.Element:
    case = ET.Element("testcase", name=_text(label), classname=_class_of(audit, _group(outcome)))
    place = place_of(audit.policy, outcome)
    if place is not None:
        case.set("file", _text(place.path))
        case.set("line", str(place.line))
    _properties(case, _figures(outcome))
    message = prose(outcome.message)
    if outcome.is_warning:
        _verdict(case, "skipped", "warning", f"A warning: {message}")
    elif outcome.status is Status.FAILED:
        figures = f"observed {observed(outcome)}, demanded {demanded(outcome)}"
        _verdict(case, "failure", "failed", message, figures, *_cells(outcome))
    elif outcome.status is Status.ERROR:
        _verdict(case, "error", "could not be evaluated", message, *_cells(outcome))
    elif outcome.status is not Status.PASSED:
        _verdict(case, "skipped", outcome.status.value, f"{outcome.status.value.capitalize()}, not judged: {message}")
    return case


def _group(outcome: Outcome) -> str:
    if outcome.is_structural:
        return "columns"
    return "quality" if outcome.is_schema else "expectations"


def _class_of(audit: Audit, group: str) -> str:
    """A class as CI servers show it: the policy's path with dots, then what the cases are about."""
    return f"{_dotted(_names(audit)[0])}.{group}"


def _dotted(path: str) -> str:
    stem = next((path.removesuffix(end) for end in POLICY_ENDS if path.endswith(end)), path)
    return ".".join(part.replace(".", "_") for part in stem.split("/") if part) or "policy"


def _figures(outcome: Outcome) -> Iterator[tuple[str, object]]:
    """What a verdict rests on, by its name in the JSON result."""
    yield "status", outcome.status.value
    yield "severity", outcome.severity.value
    yield "observed", number(outcome.observed)
    yield "comparison", None if outcome.comparison is None else outcome.comparison.value
    yield "threshold", number(outcome.threshold)
    fails = failing(outcome)
    yield "classes.total", None if outcome.classes is None else outcome.classes.total
    yield "classes.failing", None if fails is None else fails[0]
    yield "records.total", None if outcome.records is None else outcome.records.total
    yield "records.failing", None if outcome.records is None else outcome.records.failing
    yield "cells.total", None if outcome.cells is None else outcome.cells.total
    yield "cells.failing", None if outcome.cells is None else outcome.cells.failing


def _properties(element: ET.Element, pairs: Iterable[tuple[str, object]]) -> None:
    properties = ET.SubElement(element, "properties")
    for name, value in pairs:
        if value is not None:
            ET.SubElement(properties, "property", name=name, value=_text(str(value)))


def _cells(outcome: Outcome) -> Iterator[str]:
    """A line for each failing cell of tables of figures that the result names, and one on the others."""
    yield from (one.description for one in outcome.failing_cells[:CELLS])
    rest = ((outcome.cells and outcome.cells.failing) or 0) - CELLS
    if rest > 0:
        yield f"and {count(rest, 'more cell')}"


def _verdict(case: ET.Element, tag: str, kind: str, message: str, *lines: str) -> None:
    """The reason why a case did not pass: the sentence as a message, and for a failure or an error as its text too."""
    element = ET.SubElement(case, tag, type=_text(kind), message=_text(message))
    if tag != "skipped":
        element.text = "\n".join(_text(one) for one in (message, *lines))


def _unaudited(result: Unaudited) -> ET.Element:
    path = _text(name_in_repository(result.path))
    suite = ET.Element("testsuite", name=path, file=path)
    for position, (line, _, sentence) in enumerate(result.reasons, 1):
        name = "audit" if position == 1 else f"audit #{position}"
        case = ET.SubElement(suite, "testcase", name=name, classname=f"{_dotted(path)}.audit", file=path)
        case.set("line", str(line or 1))
        kind = "the policy is wrong" if result.exit_code == 2 else VERDICTS["error"]
        _verdict(case, "error", kind, visible(sentence))
    _count(suite, suite.iter("testcase"))
    return suite


def _text(text: str) -> str:
    """Text that XML can hold and that nothing on a screen obeys."""
    return NOT_XML.sub(lambda match: match[0].encode("unicode_escape").decode(), visible(text))
