"""What `init` proposes beside what is right, as the table of docs/init.md; run it to write that table."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from planted import IDENTIFIER, KNOWN, NEITHER, PLANTED, SECRET, roles_of, table_of

from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.drafting import PolicyDraft, draft_policy

PAGE = Path(__file__).parents[2] / "docs" / "init.md"
BEGIN, END = "<!-- confusion -->\n", "<!-- end -->"
PROPOSED = (IDENTIFIER, KNOWN, SECRET, NEITHER, "TODO")


def _each(**columns: str) -> dict[str, str]:
    return {name: role for role, names in columns.items() for name in names.split()}


RIGHT = {
    "adult/adult.csv": _each(
        quasi_identifier="sex age race marital-status education native-country workclass occupation",
        sensitive="salary-class",
    ),
    "casc/census.csv": _each(
        insensitive="AFNLWGT",
        sensitive="AGI EMCONTRB FEDTAX PTOTVAL STATETAX TAXINC POTHVAL INTVAL PEARNVAL FICA WSALVAL ERNVAL",
    ),
    "casc/free1.csv": _each(
        quasi_identifier="REGION SEX AGE MARSTAT KINDPERS NUMYOUNG NUMOLD AGEYOUNG EDUC1 EDUC2 ETNI PRIOCCU POSLABM "
        "REGJOBC POSLABLY POSFACT COMPCODE OCCUCODE KINDFACT TENURE FTPTIME",
        sensitive="RECBEN RECUNBEN RECODBEN RECBILL RECSOSEC RECPENS INCOME MONEY ASSETS DEBTS",
        insensitive="ADDJOB JOBFIND WEIGHT",
    ),
    "febrl/dataset4a.csv": _each(
        identifier="rec_id given_name surname street_number address_1 address_2 soc_sec_id",
        quasi_identifier="suburb postcode state date_of_birth",
    ),
}


def confusion(data: Path) -> str:
    """The table, and a line for each wrong proposal."""
    plugins = Plugins.load(external=False)
    drafts = {name: (RIGHT[name], draft_policy(data / name, plugins=plugins)) for name in RIGHT}
    planted = {name: make() for name, make in PLANTED.items()}
    for name, columns in planted.items():
        drafts[f"planted: {name}"] = roles_of(columns), draft_policy(table_of(columns), plugins=plugins)
    return "\n".join(_lines(drafts)) + "\n"


def _lines(drafts: Mapping[str, tuple[Mapping[str, str], PolicyDraft]]) -> Iterator[str]:
    pairs = [
        (table, one.name, right[one.name], "TODO" if one.role is None else one.role.value)
        for table, (right, draft) in drafts.items()
        for one in draft.columns
    ]
    yield "| table | columns | as is right | left to you | wrong | missed |"
    yield "|---|---|---|---|---|---|"
    for table in drafts:
        yield _row(table, [(right, given) for name, _, right, given in pairs if name == table])
    yield _row("all", [(right, given) for _, _, right, given in pairs])
    yield ""
    yield f"| right ↓ proposed → | {' | '.join(PROPOSED)} |"
    yield f"|---|{'---|' * len(PROPOSED)}"
    counts = Counter((right, given) for _, _, right, given in pairs)
    for right in PROPOSED[:-1]:
        yield f"| {right} | {' | '.join(str(counts[right, given]) for given in PROPOSED)} |"
    wrong = [
        f"`{name}` of {table}: {given}, right is {right}"
        for table, name, right, given in pairs
        if given not in (right, "TODO")
    ]
    yield ""
    yield f"Wrong: {'; '.join(wrong)}." if wrong else "No proposal is wrong."


def _row(table: str, pairs: list[tuple[str, str]]) -> str:
    right = sum(one == given for one, given in pairs)
    left = sum(given == "TODO" for _, given in pairs)
    missed = sum(one == IDENTIFIER != given and given != "TODO" for one, given in pairs)
    return f"| {table} | {len(pairs)} | {right} | {left} | {len(pairs) - right - left} | {missed} |"


def main() -> None:
    """Write the table into the page."""
    page = PAGE.read_text(encoding="utf-8")
    before, after = page.split(BEGIN)[0], page.split(END)[1]
    table = confusion(Path(os.environ["TCDP_AUDIT_DATA"]))
    PAGE.write_text(f"{before}{BEGIN}{table}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
