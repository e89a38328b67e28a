"""No module imports itself by way of others; imports in functions and under TYPE_CHECKING count.

`lint-imports` asks the same of siblings, folders too (pyproject.toml). It does not see a package that its own modules import back.
"""

import tomllib
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parent.parent.parent


def circles(*packages: str) -> list[str]:
    """The shortest circle of each module that is in one, from its first name on; the shortest first."""
    graph = grimp.build_graph(*packages, cache_dir=None)
    found = set()
    for module in sorted(graph.modules):
        ways = [graph.find_shortest_chain(imported, module) for imported in sorted(graph.find_modules_directly_imported_by(module))]
        for way in sorted((way for way in ways if way is not None), key=len)[:1]:
            first = way.index(min(way))
            found.add((*way[first:], *way[:first], way[first]))
    return [" → ".join(circle) for circle in sorted(found, key=lambda circle: (len(circle), circle))]


def test_no_module_imports_itself_by_way_of_others() -> None:
    ours = sorted(file.parent.name for file in ROOT.glob("*/__init__.py"))
    linted = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    assert linted["root_packages"] == ours
    assert [one["ancestors"] for one in linted["contracts"] if one["type"] == "acyclic_siblings"] == [ours]
    assert circles(*ours) == []


@pytest.mark.parametrize(
    "back",
    [
        "from planted.one import A",
        "def late():\n    from planted.one import A",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from planted.one import A",
    ],
    ids=["above", "in a function", "for types only"],
)
def test_a_circle_is_found_and_shown(back: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"__init__": "", "one": "from planted.two import B", "two": "from planted.three import C", "three": back}
    assert planted(files, tmp_path, monkeypatch) == ["planted.one → planted.two → planted.three → planted.one"]


def test_a_package_that_its_own_module_imports_back_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"__init__": "from planted.one import A", "one": "from planted import B"}
    assert planted(files, tmp_path, monkeypatch) == ["planted → planted.one → planted"]


def planted(files: dict[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The circles of a package `planted` with these modules."""
    (folder / "planted").mkdir()
    for name, text in files.items():
        (folder / "planted" / f"{name}.py").write_text(text + "\n")
    monkeypatch.syspath_prepend(str(folder))
    return circles("planted")
