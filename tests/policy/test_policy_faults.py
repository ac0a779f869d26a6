"""Policies that are wrong: each fault with file, line, column, name, sentence, the line itself and a caret."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import Field

from tcdp_audit import PolicyError, UsageError, load_policy
from tcdp_audit.core.base.guide_file import DisclosureType, Guide
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit.core.policy.scalars import Exact
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.plugin.check import AttributeParameters, ClassCheck, ClassEvidence, Threshold, hookimpl
from tcdp_audit.plugin.sentences import Comparison

HEAD = """\
version: 1
attributes:
  age: {role: quasi_identifier, scale: numeric}
  zip: {role: quasi_identifier}
  disease: {role: sensitive}
"""
EXPECT = "expect:\n  - k_anonymity: {k: 2}\n"
WHOLE = HEAD + EXPECT
PLUGINS = Plugins.load(external=False)
Load = Callable[..., Policy]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    def loaded(text: str | bytes, plugins: Plugins = PLUGINS) -> Policy:
        monkeypatch.chdir(tmp_path)
        Path("p.tcdp.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
        return load_policy("p.tcdp.yaml", plugins)

    return loaded


def expecting(parameters: str) -> str:
    return f"{HEAD}expect:\n  - {parameters}\n"


ROLES = "'identifier', 'quasi_identifier', 'sensitive' or 'insensitive'"
NUMBER, FINITE = "must be a number", "must be a finite number"
AT_MOST = "must be at most 1 for the equal distance, which never exceeds it; only `multiplicative` takes more"
LIST = "must be a list; put the value in [brackets]"
MAPPING = "must be a mapping of names to values"
SHORT = "must be a mapping of parameters to values, such as `- k_anonymity: {k: 5}`"
BOOLEAN = "YAML reads this as true or false; put it in quotes"
VERSION = "must be the whole number 1"
PLAIN = "must be in plain decimal digits"
OCTAL = "YAML reads `%s` as %s (octal)"
K, T = "7:22: expect[0].k_anonymity.k", "7:22: expect[0].t_closeness.t"
DISEASE = "  disease: {role: sensitive}"
CLOSENESS = "expect[0].t_closeness"

# Each policy with what its first line says after the file name.
FAULTS = {
    "wrong version": (WHOLE.replace("version: 1", "version: 2"), "1:10: version: must be 1"),
    "version as text": (WHOLE.replace("version: 1", "version: '1'"), f"1:10: version: {VERSION}"),
    "version as boolean": (WHOLE.replace("version: 1", "version: true"), f"1:10: version: {VERSION}"),
    "version as decimal": (WHOLE.replace("version: 1", "version: 1.0"), f"1:10: version: {VERSION}"),
    "version in octal": (WHOLE.replace("version: 1", "version: 01"), f"1:10: version: {PLAIN}; {OCTAL % ('01', 1)}"),
    "a unit that is no noun": (
        WHOLE.replace("version: 1", "version: 1\nunit_name: 2 people"),
        "2:12: unit_name: must be a noun in the singular, such as person",
    ),
    "a label of two lines": (
        WHOLE.replace(DISEASE, '  disease: {role: sensitive, label: "main\\ndisease"}'),
        "5:37: attributes.disease.label: must be one line of at most 60 characters, without blanks before or after it",
    ),
    "no version": (WHOLE.replace("version: 1\n", ""), "1:1: version: is required"),
    "no expectations": (HEAD, "1:1: expect: is required"),
    "empty expectations": (HEAD + "expect: []\n", "6:1: expect: must not be empty"),
    "expectations as a mapping": (HEAD + "expect:\n  k_anonymity: {k: 2}\n", f"6:1: expect: {LIST}"),
    "expectation as text": (
        expecting("k_anonymity"),
        (
            "7:5: expect[0]: must be a name with its parameters, such as `- name: {parameter: value}`; without any, "
            "`- name: {}`"
        ),
    ),
    "two checks in one": (
        expecting("{k_anonymity: {k: 2}, t_closeness: {t: 1}}"),
        "7:5: expect[0]: must be one check name with its parameters",
    ),
    "unknown check": (
        expecting("k_anonimity: {k: 2}"),
        "7:5: expect[0]: unknown check 'k_anonimity'; did you mean 'k_anonymity'?",
    ),
    "unlike any check": (expecting("zzz: {}"), "7:5: expect[0]: unknown check 'zzz'"),
    "misspelt parameter": (
        expecting("t_closeness: {atribute: disease}"),
        f"7:29: {CLOSENESS}.atribute: unknown name; did you mean 'attribute'?",
    ),
    "parameters as number": (expecting("k_anonymity: 5"), f"7:18: expect[0].k_anonymity: {SHORT}"),
    "parameters as list": (expecting("k_anonymity: [5]"), f"7:5: expect[0].k_anonymity: {SHORT}"),
    "a family of checks": (
        expecting("l_diversity: {l: 2}"),
        (
            "7:5: expect[0]: unknown check 'l_diversity'; did you mean 'distinct_l_diversity' or 'entropy_l_diversity' "
            "or 'recursive_cl_diversity'?"
        ),
    ),
    "a parameter that another check has": (
        expecting("t_closeness: {threshold: 0.2}"),
        (
            f"7:30: {CLOSENESS}.threshold: unknown name; known here: against, attribute, distance, known_rows, knows, "
            "reason, severity, t, unit"
        ),
    ),
    "a percentage": (
        expecting("t_closeness: {t: 20%}"),
        f"7:22: {CLOSENESS}.t: must be a finite number; write 0.2 for 20%",
    ),
    "a percentage of a percent": (
        expecting("t_closeness: {t: 0.5 %}"),
        f"7:22: {CLOSENESS}.t: must be a finite number; write 0.005 for 0.5 %",
    ),
    "a decimal comma": (
        expecting("t_closeness: {t: '0,2'}"),
        f"7:22: {CLOSENESS}.t: must be a finite number; write 0.2 with a point",
    ),
    "the family of a distance": (
        expecting("t_closeness: {t: 0.2, distance: emd}"),
        (
            f"7:37: {CLOSENESS}.distance: the earth mover's distance depends on the scale: `ordered` (by rank), "
            "`numeric` (by difference), `hierarchical` (by a hierarchy) or `equal`; name one"
        ),
    ),
    "the beginning of a column's name": (
        WHOLE.replace("  disease:", "  disease-class:").replace(
            EXPECT, "expect:\n  - t_closeness: {attribute: disease}\n"
        ),
        f"7:30: {CLOSENESS}.attribute: the policy declares no attribute 'disease'; did you mean 'disease-class'?",
    ),
    "a weight that is not numeric": (
        WHOLE.replace("attributes:", "weight: disease\nattributes:"),
        "2:9: weight: 'disease' is not declared as numeric; a weight is: `disease: {role: sensitive, scale: numeric}`",
    ),
    "misspelt name": (
        WHOLE + "conventons: {}\n",
        "8:1: conventons: unknown name; did you mean 'conventions'?",
    ),
    "misspelt convention": (
        WHOLE + "conventions: {missing_sensitve: fail}\n",
        "8:33: conventions.missing_sensitve: unknown name; did you mean 'missing_sensitive'?",
    ),
    "misspelt role": (
        WHOLE.replace("role: sensitive", "role: sensitiv"),
        f"5:19: attributes.disease.role: must be one of {ROLES}; did you mean 'sensitive'?",
    ),
    "attribute as text": (
        WHOLE.replace(DISEASE, "  disease: sensitive"),
        "5:12: attributes.disease: needs a role, such as `{role: sensitive}`",
    ),
    "attribute as an unknown text": (
        WHOLE.replace(DISEASE, "  disease: private"),
        "5:12: attributes.disease: needs a role, such as `{role: quasi_identifier}`",
    ),
    "no attributes": ("version: 1\nattributes: {}\n" + EXPECT, "2:1: attributes: must not be empty"),
    "a text where a list belongs": (
        WHOLE.replace("role: sensitive", "role: sensitive, scale: ordinal, order: low"),
        f"5:53: attributes.disease.order: {LIST}",
    ),
    "a token where a list belongs": (
        WHOLE + "conventions: {suppressed_tokens: '*'}\n",
        f"8:34: conventions.suppressed_tokens: {LIST}",
    ),
    "a boolean where a value belongs": (
        WHOLE.replace("role: sensitive", "role: sensitive, scale: ordinal, order: [maybe, yes]"),
        f"5:61: attributes.disease.order[1]: {BOOLEAN}",
    ),
    "an order without its scale": (
        WHOLE.replace("role: sensitive", "role: sensitive, order: [a]"),
        "5:3: attributes.disease: an order needs `scale: ordinal`",
    ),
    "a value twice in an order": (
        WHOLE.replace("role: sensitive", "role: sensitive, scale: ordinal, order: [1, '1']"),
        "5:3: attributes.disease: the order names a value twice",
    ),
    "a unit that is grouped": (
        WHOLE + "unit: zip\n",
        "8:7: unit: the unit of privacy cannot be a quasi-identifier as well",
    ),
    "k of 0": (expecting("k_anonymity: {k: 0}"), "7:22: expect[0].k_anonymity.k: must be at least 1"),
    "negative k": (expecting("k_anonymity: {k: -1}"), "7:22: expect[0].k_anonymity.k: must be at least 1"),
    "k of 2.5": (expecting("k_anonymity: {k: 2.5}"), "7:22: expect[0].k_anonymity.k: must be a whole number"),
    "k as text": (
        expecting("k_anonymity: {k: five}"),
        "7:22: expect[0].k_anonymity.k: must be a whole number",
    ),
    "k of 19 digits": (
        expecting(f"k_anonymity: {{k: {2**63}}}"),
        "7:22: expect[0].k_anonymity.k: is too large",
    ),
    "k of 5,000 digits": (
        expecting(f"k_anonymity: {{k: {'9' * 5000}}}"),
        "7:22: expect[0].k_anonymity.k: is too large",
    ),
    "k in quotes": (
        expecting("k_anonymity: {k: '2'}"),
        f"{K}: must be a whole number, and in quotes it is a text; write 2 without them",
    ),
    "k with an exponent": (expecting("k_anonymity: {k: 1e3}"), f"{K}: must be a whole number"),
    "k in octal": (expecting("k_anonymity: {k: 010}"), f"{K}: {PLAIN}; {OCTAL % ('010', 8)}"),
    "k by sixties": (expecting("k_anonymity: {k: 2:30}"), f"{K}: {PLAIN}; YAML reads `2:30` as 150 (base 60)"),
    "k with an underscore": (expecting("k_anonymity: {k: 1_0}"), f"{K}: {PLAIN}; write `1_0` without underscores"),
    "k that is nearly octal": (
        expecting("k_anonymity: {k: 08}"),
        f"{K}: {PLAIN}; write `08` without the leading zero",
    ),
    "k of NaN": (expecting("k_anonymity: {k: .nan}"), f"{K}: must be a whole number"),
    "t in octal": (expecting("t_closeness: {t: 01}"), f"{T}: {PLAIN}; {OCTAL % ('01', 1)}"),
    "t in hexadecimal": (expecting("t_closeness: {t: 0x1}"), f"{T}: {PLAIN}; YAML reads `0x1` as 1 (hexadecimal)"),
    "t with an underscore": (
        expecting("t_closeness: {t: 0.1_5}"),
        f"{T}: {PLAIN}; write `0.1_5` without underscores",
    ),
    "a fraction sampled of NaN": (WHOLE + "sampling_fraction: .nan\n", f"8:20: sampling_fraction: {FINITE}"),
    "a fraction sampled above 1": (WHOLE + "sampling_fraction: 2\n", "8:20: sampling_fraction: must be at most 1"),
    "a seed in octal": (WHOLE + "seed: 010\n", f"8:7: seed: {PLAIN}; {OCTAL % ('010', 8)}"),
    "a remedy's k in octal": (
        WHOLE + "remedy: [bucketization: {attribute: disease, t: 2, k: 010}]\n",
        f"8:55: remedy[0].bucketization.k: {PLAIN}; {OCTAL % ('010', 8)}",
    ),
    "a column as boolean": (
        WHOLE + "weight: yes\n",
        "8:9: weight: must be text, and YAML reads this as true or false; put it in quotes",
    ),
    "a column as number": (WHOLE + "unit: 5\n", "8:7: unit: must be text; put it in quotes"),
    "k as boolean": (
        expecting("k_anonymity: {k: yes}"),
        "7:22: expect[0].k_anonymity.k: must be a whole number",
    ),
    "l below 1": (
        expecting("entropy_l_diversity: {l: 0.5}"),
        "7:30: expect[0].entropy_l_diversity.l: must be at least 1",
    ),
    "negative t": (expecting("t_closeness: {t: -0.1}"), f"7:22: {CLOSENESS}.t: must be at least 0"),
    "t above 1": (expecting("t_closeness: {t: 1.01}"), f"7:22: {CLOSENESS}.t: {AT_MOST}"),
    "t of 3/0": (expecting("t_closeness: {t: 3/0}"), f"7:22: {CLOSENESS}.t: {FINITE}"),
    "t of NaN": (expecting("t_closeness: {t: .nan}"), f"7:22: {CLOSENESS}.t: {FINITE}"),
    "t as NaN": (expecting("t_closeness: {t: NaN}"), f"7:22: {CLOSENESS}.t: {FINITE}"),
    "infinite t": (expecting("t_closeness: {t: .inf}"), f"7:22: {CLOSENESS}.t: {FINITE}"),
    "t with a huge exponent": (expecting("t_closeness: {t: 1e999999999}"), f"7:22: {CLOSENESS}.t: {FINITE}"),
    "t with a tiny exponent": (expecting("t_closeness: {t: 1e-999999999}"), f"7:22: {CLOSENESS}.t: {FINITE}"),
    "t as list": (expecting("t_closeness: {t: [0.1]}"), f"7:19: {CLOSENESS}.t: {NUMBER}"),
    "t as boolean": (expecting("t_closeness: {t: no}"), f"7:22: {CLOSENESS}.t: {NUMBER}"),
    "undeclared attribute": (
        expecting("t_closeness: {t: 1, attribute: diseas}"),
        f"7:36: {CLOSENESS}.attribute: the policy declares no attribute 'diseas'; did you mean 'disease'?",
    ),
    "attribute that is not sensitive": (
        expecting("t_closeness: {t: 1, attribute: age}"),
        f"7:36: {CLOSENESS}.attribute: 'age' is not sensitive: its role is quasi_identifier",
    ),
    "scale that a distance needs": (
        expecting("t_closeness: {distance: ordered}"),
        (
            f"7:5: {CLOSENESS}: t-closeness, ordered distance needs 'disease' to be numeric or ordinal; declare it, "
            "for example `disease: {role: sensitive, scale: numeric}`"
        ),
    ),
    "nothing to group by": (
        "version: 1\nattributes: {a: {role: sensitive}}\n" + EXPECT,
        "4:5: expect[0].k_anonymity: no attribute has the role quasi_identifier, so there is nothing to group by",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_has_its_sentence_and_its_place(load: Load, name: str) -> None:
    text, expected = FAULTS[name]
    with pytest.raises(PolicyError) as caught:
        load(text)
    head, shown, caret = str(caught.value).split("\n")
    assert head == f"p.tcdp.yaml:{expected}"
    line, column = (int(part) for part in expected.split(":")[:2])
    source = text.splitlines()[line - 1]
    assert shown == f"{line:>5} | {source[:68]}{'…' if len(source) > 68 else ''}"
    assert caret == "      | " + " " * (column - 1) + "^"


def test_all_faults_come_at_once_in_the_order_of_the_file(load: Load) -> None:
    text = HEAD.replace("version: 1", "version: 3").replace("role: sensitive", "rol: sensitive")
    text += "conventions: {suppressed: exemt}\nexpect:\n  - k_anonymity: {k: 0}\n  - t_closness: {t: 1}\n"
    text += "  - distinct_l_diversity: {l: 7.5, severity: eror}\n"
    with pytest.raises(PolicyError) as caught:
        load(text)
    heads = str(caught.value).split("\n")[::3]
    assert heads == [
        "p.tcdp.yaml:1:10: version: must be 1",
        "p.tcdp.yaml:5:18: attributes.disease.rol: unknown name; did you mean 'role'?",
        "p.tcdp.yaml:6:27: conventions.suppressed: must be one of 'counted' or 'exempt'; did you mean 'exempt'?",
        "p.tcdp.yaml:8:22: expect[0].k_anonymity.k: must be at least 1",
        "p.tcdp.yaml:9:5: expect[1]: unknown check 't_closness'; did you mean 't_closeness'?",
        "p.tcdp.yaml:10:31: expect[2].distinct_l_diversity.l: must be a whole number",
        (
            "p.tcdp.yaml:10:46: expect[2].distinct_l_diversity.severity: must be one of 'error' or 'warning'; "
            "did you mean 'error'?"
        ),
    ]


def test_a_long_line_is_shown_around_its_fault(load: Load) -> None:
    text = expecting(f"k_anonymity: {{severity: error, {' ' * 100}k: 0}}")
    with pytest.raises(PolicyError) as caught:
        load(text)
    head, shown, caret = str(caught.value).split("\n")
    assert head.startswith("p.tcdp.yaml:7:139: ")
    assert len(shown) == 8 + 68 + len("…")
    assert shown.startswith("    7 | …")
    assert shown[caret.index("^")] == "0"


def test_text_that_is_not_utf8(load: Load) -> None:
    with pytest.raises(PolicyError, match=r"^p\.tcdp\.yaml: not UTF-8 text \(byte 9\); save it as UTF-8$"):
        load("version: ü\n".encode("latin-1"))


def test_a_byte_order_mark_and_crlf_are_no_fault(load: Load) -> None:
    policy = load(b"\xef\xbb\xbf" + WHOLE.replace("\n", "\r\n").encode())
    assert [one.line for one in policy.expectations] == [7]


def test_a_policy_that_is_not_there_or_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"absent\.tcdp\.yaml: no such policy file"):
        load_policy(tmp_path / "absent.tcdp.yaml", PLUGINS)
    with pytest.raises(UsageError, match="cannot be read: Is a directory"):
        load_policy(tmp_path, PLUGINS)


def test_thresholds_and_values_are_what_was_typed(load: Load) -> None:
    text = WHOLE.replace("role: sensitive", "role: sensitive, scale: ordinal, order: [02139, 1.50, 7, 1_0]")
    text += "  - t_closeness: {t: 0.2}\n  - t_closeness: {t: 3/8, distance: ordered}\n  - k_anonymity:\n"
    policy = load(text)
    assert policy.attributes["disease"].order == ["02139", "1.50", "7", "1_0"]
    thresholds = [one.parameters.figures() for one in policy.expectations]
    assert [one.get("t") for one in thresholds] == [None, Fraction(1, 5), Fraction(3, 8), None]
    assert [one.line for one in policy.expectations] == [7, 8, 9, 10]


def test_names_of_columns_are_texts_as_well(load: Load) -> None:
    policy = load("version: 1\nattributes:\n  02139: {role: quasi_identifier}\n  yes: {role: insensitive}\n" + EXPECT)
    assert sorted(policy.attributes) == ["02139", "yes"]


def test_a_mapping_has_the_same_faults_without_places() -> None:
    with pytest.raises(PolicyError) as caught:
        load_policy({"version": 1, "attributes": {"a": {"role": "quasi_identifier"}}, "expect": [{"k_anonimity": {}}]})
    assert str(caught.value) == "policy: expect[0]: unknown check 'k_anonimity'; did you mean 'k_anonymity'?"


# A third party's parameters


class Harm(AttributeParameters):
    share: Annotated[Exact | None, Field(gt=0, lt=1)] = None
    harmful: list[str] = []  # noqa: RUF012 - pydantic copies it


def _share(evidence: ClassEvidence, _: Harm) -> Any:
    return evidence.size


class ThirdParty:
    @hookimpl
    def tcdp_audit_checks(self) -> Iterator[ClassCheck[Harm]]:
        yield ClassCheck(
            name="harmful_share",
            title="Harmful share",
            guide=Guide("d", "f", "r", "c", "s", "- harmful_share: {share: 0.5}"),
            disclosure_type=DisclosureType.ATTRIBUTE_DEGREE,
            parameters=Harm,
            thresholds=(Threshold("share", Comparison.BELOW, _share),),
            on_attribute=True,
        )


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        (
            "harmful_share: {shar: 0.5}",
            "7:27: expect[0].harmful_share.shar: unknown name; did you mean 'share'?",
        ),
        ("harmful_share: {share: 1}", "7:28: expect[0].harmful_share.share: must be less than 1"),
        ("harmful_share: {share: 0}", "7:28: expect[0].harmful_share.share: must be greater than 0"),
        ("harmful_share: {share: x}", f"7:28: expect[0].harmful_share.share: {FINITE}"),
        ("harmful_share: {harmful: flu}", f"7:30: expect[0].harmful_share.harmful: {LIST}"),
        ("harmful_share: {harmful: [1]}", "7:31: expect[0].harmful_share.harmful[0]: must be text; put it in quotes"),
        ("harmful_shar: {}", "7:5: expect[0]: unknown check 'harmful_shar'; did you mean 'harmful_share'?"),
    ],
)
def test_a_third_partys_parameters_get_the_same_sentences(load: Load, parameters: str, expected: str) -> None:
    plugins = Plugins.load(external=False)
    plugins.register(ThirdParty(), "third_party")
    with pytest.raises(PolicyError) as caught:
        load(expecting(parameters), plugins)
    assert str(caught.value).split("\n")[0] == f"p.tcdp.yaml:{expected}"


def test_a_third_partys_parameters_are_read_exactly(load: Load) -> None:
    plugins = Plugins.load(external=False)
    plugins.register(ThirdParty(), "third_party")
    expectation = load(expecting("harmful_share: {share: 0.1, harmful: [flu]}"), plugins).expectations[0]
    assert [getattr(expectation.parameters, name) for name in ("share", "harmful")] == [Fraction(1, 10), ["flu"]]
    assert expectation.parameters.figures() == {"share": Fraction(1, 10), "harmful": "1 value"}
