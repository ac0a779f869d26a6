"""All mistakes of a policy come in one run, whatever stage they belong to, and no mistake is reported twice."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from tcdp_audit import PolicyError, load_policy
from tcdp_audit.core.policy.source import parse_yaml
from tcdp_audit.core.session.registry import Plugins

PLUGINS = Plugins.load(external=False)
SOUND = """\
version: 1
original: original.csv
key: id
unit: person
weight: share
attributes:
  id: {role: identifier}
  person: {role: insensitive}
  share: {role: insensitive, scale: numeric}
  age: {role: quasi_identifier, scale: numeric}
  zip: {role: quasi_identifier}
  grade: {role: quasi_identifier, scale: ordinal, order: [low, middle, high]}
  salary: {role: sensitive, scale: numeric}
  disease: {role: sensitive, hierarchy: disease.csv}
  note: {role: sensitive, label: the note}
conventions: {missing_sensitive: own_category}
min_utility: {age: 0.5, zip: 0.5}
utility:
  counts: [{by: [age]}, {by: [zip]}]
  regressions: [{of: salary, by: [age]}]
expect:
  - k_anonymity: {k: 3}
  - distinct_l_diversity: {l: 2, attribute: disease}
  - t_closeness: {t: 0.3, attribute: salary, distance: ordered}
  - t_closeness: {t: 0.4, attribute: disease, distance: hierarchical}
  - t_closeness: {t: 0.5, attribute: note}
  - recursive_cl_diversity: {c: 2, l: 2, attribute: note}
remedy:
  - mondrian: {k: 3}
max_loss: 0.9
"""

MISTAKES = {  # what is typed, what instead, and where the one fault is
    "version": ("version: 1", "version: 2", "version"),
    "key kept of no key": ("key: id\n", "keep_key: true\n", "keep_key"),
    "unit as number": ("unit: person", "unit: 5", "unit"),
    "weight that is no number": ("weight: share", "weight: zip", "weight"),
    "role": ("person: {role: insensitive}", "person: {role: insensitiv}", "attributes.person.role"),
    "role left open": ("note: {role: sensitive", "note: {role: TODO", "attributes.note.role"),
    "name of role": ("id: {role: identifier}", "id: {rol: identifier}", "attributes.id.rol"),
    "name of scale": (
        "salary: {role: sensitive, scale:",
        "salary: {role: sensitive, scael:",
        "attributes.salary.scael",
    ),
    "order of a nominal": ("scale: ordinal, order", "scale: nominal, order", "attributes.grade"),
    "hierarchy as number": ("hierarchy: disease.csv", "hierarchy: 7", "attributes.disease.hierarchy"),
    "label": ("label: the note", "label: ' the note'", "attributes.note.label"),
    "convention": ("missing_sensitive: own", "missing_sensitve: own", "conventions.missing_sensitve"),
    "name in keep": ("min_utility: {age: 0.5", "min_utility: {aeg: 0.5", "min_utility.aeg"),
    "share in keep": ("zip: 0.5}", "zip: 1.5}", "min_utility.zip"),
    "form in utility": ("{by: [age]}, {", "{by: age}, {", "utility.counts[0].by"),
    "name in utility": ("{by: [zip]}]", "{by: [zipp]}]", "utility.counts[1].by"),
    "outcome of a regression": ("{of: salary", "{of: zip", "utility.regressions[0].of"),
    "k": ("k_anonymity: {k: 3}", "k_anonymity: {k: 0}", "expect[0].k_anonymity.k"),
    "name of a check": ("- distinct_l_diversity", "- distinct_l_diversiti", "expect[1]"),
    "threshold": ("{t: 0.3", "{t: 2", "expect[2].t_closeness.t"),
    "distance": ("hierarchical}", "hierarchicl}", "expect[3].t_closeness.distance"),
    "attribute": ("attribute: note}\n  - r", "attribute: nota}\n  - r", "expect[4].t_closeness.attribute"),
    "threshold beside an attribute": ("{t: 0.5", "{t: 5", "expect[4].t_closeness.t"),
    "parameter": ("{c: 2, l: 2", "{c: 2, ll: 2", "expect[5].recursive_cl_diversity.ll"),
    "name of a remedy": ("- mondrian", "- mondrain", "remedy[0]"),
    "most that is lost": ("max_loss: 0.9", "max_loss: 9", "max_loss"),
}


def faults(policy: str | dict[str, Any]) -> list[str]:
    """The places of all faults, in their order."""
    try:
        load_policy(parse_yaml(policy).data if isinstance(policy, str) else policy, PLUGINS)
    except PolicyError as error:
        return [line.split(": ")[1] for line in str(error).splitlines()]
    return []


def planted(names: tuple[str, ...] | list[str]) -> tuple[str, list[str]]:
    """The policy with mistakes, and the places where they are."""
    text = SOUND
    for name in names:
        before, after, _ = MISTAKES[name]
        assert text.count(before) == 1, name
        text = text.replace(before, after)
    return text, sorted(MISTAKES[name][2] for name in names)


def test_the_policy_is_sound_without_them() -> None:
    assert faults(SOUND) == []


@pytest.mark.parametrize("name", MISTAKES)
def test_one_mistake_is_one_fault(name: str) -> None:
    text, places = planted([name])
    assert faults(text) == places


@pytest.mark.parametrize("names", list(combinations(sorted(MISTAKES), 2))[::7], ids=" and ".join)
def test_two_mistakes_are_two_faults(names: tuple[str, ...]) -> None:
    text, places = planted(names)
    assert sorted(faults(text)) == places


@given(names=st.lists(st.sampled_from(sorted(MISTAKES)), min_size=3, max_size=12, unique=True))
def test_as_many_faults_as_mistakes(names: list[str]) -> None:
    text, places = planted(names)
    assert sorted(faults(text)) == places


def test_a_column_of_open_role_hides_no_other_mistake() -> None:
    text, places = planted(["role left open", "threshold beside an attribute"])
    assert faults(text) == places


def test_the_faults_have_the_order_of_the_lines() -> None:
    names = sorted(MISTAKES)
    text, places = planted(names)
    with pytest.raises(PolicyError) as caught:
        load_policy(parse_yaml(text).data, PLUGINS)
    assert len(str(caught.value).splitlines()) == len(places) == len(MISTAKES)


STAGES = """\
version: 1
attributes:
  age: {role: quasi_identifier, scale: numeric}
  disease: {role: sensitiv}
  salary: {role: sensitive}
expect:
  - k_anonymity: {k: 0}
  - t_closeness: {t: 2, attribute: diseas}
  - t_closeness: {t: 0.1, attribute: salary, distance: ordered}
  - k_anonimity: {k: 2}
min_utility: {agge: 0.5}
"""


def test_a_file_with_mistakes_of_every_stage(tmp_path: Path) -> None:
    path = tmp_path / "p.tcdp.yaml"
    path.write_text(STAGES, encoding="utf-8")
    with pytest.raises(PolicyError) as caught:
        load_policy(path, PLUGINS)
    heads = [line.partition("p.tcdp.yaml:")[2].split(": ")[:2] for line in str(caught.value).splitlines()[::3]]
    assert heads == [
        ["4:19", "attributes.disease.role"],
        ["7:22", "expect[0].k_anonymity.k"],
        ["8:22", "expect[1].t_closeness.t"],
        ["8:36", "expect[1].t_closeness.attribute"],
        ["9:5", "expect[2].t_closeness"],
        ["10:5", "expect[3]"],
        ["11:21", "min_utility.agge"],
    ]


def test_what_a_mistake_leaves_open_is_no_fault() -> None:
    """Each role or scale that `disease` may have been meant to have makes one of the demands sound."""
    for declaration in ("{role: sensitiv}", "{rol: sensitive}", "secret", "{role: sensitive, scale: numerc}", "{}"):
        text = STAGES.replace("{role: sensitiv}", declaration).replace("diseas}", "disease, distance: ordered}")
        assert not [one for one in faults(text) if one.startswith("expect[1].t_closeness") and not one.endswith(".t")]


@pytest.mark.parametrize("attributes", ["attributes: {}", "attributes: [age]", "attributes: 3"])
def test_parameters_are_judged_where_no_column_is_declared(attributes: str) -> None:
    text = f"version: 1\n{attributes}\nexpect:\n  - k_anonymity: {{k: 0}}\n  - t_closeness: {{t: 0.1, attribute: a}}\n"
    assert faults(text) == ["attributes", "expect[0].k_anonymity.k"]
