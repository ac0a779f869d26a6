"""The cells of a notebook, each after `# %%`: an audit as a table, as a pandas frame, and single figures.

Jupyter, VS Code and PyCharm run such cells one by one; `python notebook.py` runs them all.
"""

# %% A release and its policy
from pathlib import Path

from tcdp_audit import audit, measure

PAPERS = Path(__file__).parent / "papers"
result = audit(PAPERS / "li07_table3.csv", PAPERS / "li07_table3.tcdp.yaml")

# %% In a notebook the last line of a cell is displayed: here the verdict, and a table of outcomes
result  # noqa: B018
print(result)  # as text

# %% The outcomes as a pandas frame
frame = result.to_frame()
print(frame.loc[frame["kind"] == "expectation", ["check", "attribute", "status", "observed"]].to_string(index=False))

# %% One figure for several sets of quasi-identifiers
for known in ("zip", "age", ["zip", "age"]):
    print(known, measure("k_anonymity", PAPERS / "li07_table4.csv", quasi_identifiers=known))
