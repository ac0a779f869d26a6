"""The policy's `remedy:` section: the same faults with the same places as in `expect:`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import Field

from tcdp_audit import PluginError, PolicyError, load_policy
from tcdp_audit.core.policy.model import PolicyDocument
from tcdp_audit.core.policy.schema import policy_schema
from tcdp_audit.core.remedy.remedy import Remedy, RemedyGuide, RemedyParameters, Treatment
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.plugin.check import hookimpl

HEAD = """\
version: 1
attributes:
  age: {role: quasi_identifier, scale: numeric}
  disease: {role: sensitive}
expect:
  - k_anonymity: {k: 2}
"""


class RoundingParameters(RemedyParameters):
    attribute: Annotated[str, Field(description="Which attribute.")] = "age"
    width: Annotated[int, Field(ge=1, description="Width of a bin.")] = 5


def _faults(parameters: RoundingParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    if parameters.attribute not in document.attributes:
        yield "attribute", f"the policy declares no attribute {parameters.attribute!r}"
    if parameters.width == 13:
        yield "", "thirteen is not a width"


ROUNDING = Remedy(
    name="flooring",
    title="Rounding",
    summary="Rounds numbers.",
    guide=RemedyGuide("Rounds.", "Always.", "None.", "None.", "- flooring: {width: 10}"),
    parameters=RoundingParameters,
    apply=lambda _, __: Treatment(),
    validate=_faults,
)


class Rounds:
    """A plugin of one remedy."""

    @hookimpl
    def tcdp_audit_remedies(self) -> Iterator[Remedy[Any]]:
        yield ROUNDING


@pytest.fixture(scope="module")
def plugins() -> Plugins:
    loaded = Plugins.load(external=False)
    loaded.register(Rounds(), "rounds")
    return loaded


@pytest.fixture
def load(tmp_path: Any, plugins: Plugins, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)

    def loaded(text: str) -> Any:
        (tmp_path / "p.tcdp.yaml").write_text(text, encoding="utf-8")
        return load_policy("p.tcdp.yaml", plugins)

    return loaded


def remedying(entry: str) -> str:
    return f"{HEAD}remedy:\n  - {entry}\n"


def test_remedies_stand_in_the_policys_order_with_their_lines(load: Any):
    policy = load(remedying("flooring: {width: 10}\n  - flooring:\n  - flooring: {}\nseed: 7"))

    assert [one.remedy for one in policy.remedies] == [ROUNDING] * 3
    assert [one.parameters.width for one in policy.remedies] == [10, 5, 5]
    assert [one.line for one in policy.remedies] == [8, 9, 10]
    assert policy.document.seed == 7


def test_without_the_section_nothing_is_planned(load: Any):
    policy = load(HEAD)

    assert (policy.remedies, policy.document.remedy, policy.document.seed) == ((), None, 0)


FAULTS = {
    "empty section": (HEAD + "remedy: []\n", "7:1: remedy: must not be empty"),
    "a mapping": (HEAD + "remedy: {flooring: {}}\n", "7:1: remedy: must be a list; put the value in [brackets]"),
    "two in one": (
        remedying("{flooring: {}, noise: {}}"),
        "8:5: remedy[0]: must be one remedy name with its parameters",
    ),
    "misspelt": (remedying("floorin: {}"), "8:5: remedy[0]: unknown remedy 'floorin'; did you mean 'flooring'?"),
    "a check's name": (remedying("k_anonymity: {k: 2}"), "8:5: remedy[0]: unknown remedy 'k_anonymity'"),
    "misspelt parameter": (
        remedying("flooring: {widht: 2}"),
        "8:23: remedy[0].flooring.widht: unknown name; did you mean 'width'?",
    ),
    "out of bounds": (remedying("flooring: {width: 0}"), "8:23: remedy[0].flooring.width: must be at least 1"),
    "unsound under the policy": (
        remedying("flooring: {attribute: agee}"),
        "8:27: remedy[0].flooring.attribute: the policy declares no attribute 'agee'",
    ),
    "unsound as a whole": (remedying("flooring: {width: 13}"), "8:5: remedy[0].flooring: thirteen is not a width"),
    "negative seed": (HEAD + "seed: -1\n", "7:7: seed: must be at least 0"),
    "seed of 1.5": (HEAD + "seed: 1.5\n", "7:7: seed: must be a whole number"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_has_its_sentence_and_its_place(load: Any, name: str):
    text, expected = FAULTS[name]
    with pytest.raises(PolicyError) as caught:
        load(text)
    assert str(caught.value).split("\n")[0] == f"p.tcdp.yaml:{expected}"


def test_faults_of_both_sections_are_reported_at_once(load: Any):
    with pytest.raises(PolicyError) as caught:
        load(remedying("flooring: {width: 0}\n  - flooring: {attribute: x}").replace("k: 2", "k: 0"))

    places = [line.split(": ")[0] for line in str(caught.value).split("\n") if line.startswith("p.tcdp")]
    assert places == ["p.tcdp.yaml:6:22", "p.tcdp.yaml:8:23", "p.tcdp.yaml:9:27"]


def test_an_unknown_remedy_beside_a_broken_plugin_blames_it(plugins: Plugins):
    class Broken:
        @hookimpl
        def tcdp_audit_remedies(self) -> Iterator[Remedy[Any]]:
            raise RuntimeError("no luck today")

    broken = plugins.only(["rounds"])
    broken.register(Broken(), "unlucky")
    mapping = {"version": 1, "attributes": {"age": {"role": "quasi_identifier"}}, "expect": [{"k_anonymity": {}}]}

    assert load_policy({**mapping, "remedy": [{"flooring": {}}]}, broken).remedies[0].remedy is ROUNDING
    reason = r"no remedy 'swap' is known, and a plugin .* \(unlucky: .*no luck today\)"
    with pytest.raises(PluginError, match=reason):
        load_policy({**mapping, "remedy": [{"swap": {}}]}, broken)


def test_the_schema_takes_what_the_loader_takes(plugins: Plugins):
    schema = Draft202012Validator(policy_schema(plugins.checks, plugins.remedies))
    sound = {"version": 1, "attributes": {"age": {"role": "quasi_identifier"}}, "expect": [{"k_anonymity": {}}]}

    accepted = [[{"flooring": {"width": 3}}], [{"flooring": None}], None]
    assert all(schema.is_valid({**sound, "remedy": one}) for one in accepted)
    refused = [[], [{}], [{"flooring": {"width": 0}}], [{"k_anonymity": {}}], {"flooring": {}}, ["flooring"]]
    assert not any(schema.is_valid({**sound, "remedy": one}) for one in refused)
    assert not schema.is_valid({**sound, "seed": -1})


def test_a_policy_without_remedies_loads_none(plugins: Plugins, monkeypatch: pytest.MonkeyPatch):
    def refuse(_: Plugins) -> Any:
        raise AssertionError("the remedies were asked for")

    monkeypatch.setattr(Plugins, "remedies", property(refuse))
    policy = {"version": 1, "attributes": {"age": {"role": "quasi_identifier"}}, "expect": [{"k_anonymity": {}}]}
    assert load_policy(policy, plugins).remedies == ()
