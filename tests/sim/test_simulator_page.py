"""docs/guide/simulator.md has every key of a scenario with its default, and its example can be simulated."""

import dataclasses
import re
import tomllib
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from docs_pages import DOCS
from simulated import run_into

from sim import scenario as declared
from sim.scenario import SHIPPED, scenario_of

PAGE = (DOCS / "guide" / "simulator.md").read_text(encoding="utf-8")
CLASSES = [one for one in vars(declared).values() if dataclasses.is_dataclass(one) and one is not declared.Span]


def shown(default: Any) -> str:
    """A default as the page shows it: nothing for one that is a table or a list of tables, or missing."""
    if default is dataclasses.MISSING or dataclasses.is_dataclass(default) or default == ():
        return ""
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    if isinstance(default, datetime):
        return f"`{default:%Y-%m-%dT%H:%M:%SZ}`"
    return f"`{list(default) if isinstance(default, tuple) else default}`"


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_the_page_has_every_key_and_its_default(cls: Any) -> None:
    section = PAGE.partition(f"### {cls.__name__}\n")[2].partition("\n#")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \|([^|]*)\|", section, re.MULTILINE))
    inherited = {one.name for one in dataclasses.fields(declared.Limit)} if cls is declared.LimitChange else set()
    fields = [one for one in dataclasses.fields(cls) if one.name not in inherited]
    assert {name: default.strip() for name, default in rows.items()} == {one.name: shown(one.default) for one in fields}


def test_the_page_names_every_shipped_scenario() -> None:
    section = PAGE.partition("## Scenarios\n")[2].partition("This is a whole scenario")[0]
    named = {name for line in section.splitlines() if line.startswith("| `") for name in re.findall(r"`(\w+)`", line.split("|")[1])}
    assert named == {path.stem for path in SHIPPED.glob("*.toml")}


def test_the_example_of_the_page_can_be_simulated(tmp_path: Path) -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    run = run_into(dataclasses.replace(scenario_of(tomllib.loads(example)), duration_s=30.0), tmp_path / "example")
    assert {one["cause"] for one in run.truth} >= {"throttled", "in_flight"}


def test_the_page_names_every_cause() -> None:
    from sim import truth

    causes = {one.name for one in vars(truth).values() if isinstance(one, truth.Cause)} | {one.name for one in truth.THROTTLED.values()}
    section = PAGE.partition("## The truth\n")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `(\w+)`", section, re.MULTILINE)) == causes
