"""The size of the code, as `benchmarks/house.py` measures it: modules, rooms, and the longest chain of imports."""

from __future__ import annotations

from house import imports, longest_chain, modules, rooms


def test_the_longest_chain_of_imports_is_shorter_than_twenty() -> None:
    graph = imports(typing=False)

    assert len(graph) > 400
    assert len(longest_chain(graph)) < 20


def test_rooms_and_modules_are_few() -> None:
    assert 10 < len(rooms()) <= 28  # 24, and one for each of units, aggregates, ARX and a studio
    assert (
        400 < len(modules()) <= 680
    )  # 550, and those of figures, documents, languages, workbooks, ARX, drafts, studio, table formats, dbt, catalogues
