"""Simulated runs for tests, read back."""

import json
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple

from sim.files import read_lines
from sim.run import EVENTS, FACTS, TRUTH, simulate
from sim.scenario import SHIPPED, Scenario, read_scenario

#: Their trouble comes late, or a broker restarts: they are simulated whole. Of others the first LONGEST_S are like the rest.
WHOLE = ("channel", "life", "no_consumer", "no_flow", "reading", "stuck", "transaction")
LONGEST_S = 240.0


#: Of so many epochs the events are kept: one scenario has six at most. Reading them takes longer than most that is done with them.
KEPT_EPOCHS = 6


class Run(NamedTuple):
    """What a simulation wrote."""

    folder: Path
    lines: list[str]
    truth: list[dict[str, Any]]
    facts: dict[str, Any]

    def events(self, life: dict[str, Any]) -> list[dict[str, Any]]:
        """The events of one epoch, which nobody may change; lines that are damaged are left out."""
        epoch = (self.folder, life["broker"], life["epoch"])
        if epoch not in _kept:
            if len(_kept) == KEPT_EPOCHS:
                del _kept[next(iter(_kept))]
            _kept[epoch] = self._read(life)
        return _kept[epoch]

    def _read(self, life: dict[str, Any]) -> list[dict[str, Any]]:
        found = []
        epoch = str(life["epoch"])
        for line in self.lines:
            if epoch not in line or life["broker"] not in line:  # of another epoch: most lines, and reading one takes long
                continue
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if (event["broker"], event["epoch"]) == (life["broker"], life["epoch"]):
                found.append(event)
        return found


#: The oldest first.
_kept: dict[tuple[Path, str, int], list[dict[str, Any]]] = {}


def shipped(name: str) -> Scenario:
    """A shipped scenario."""
    return read_scenario(SHIPPED / f"{name}.toml")


def run_into(scenario: Scenario, folder: Path, seed: int = 1) -> Run:
    """Simulate into a folder, and read it back."""
    simulate(scenario, seed, folder)
    return run_in(folder)


def run_in(folder: Path) -> Run:
    """Read back what a simulation wrote."""
    facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
    lines = [line.rstrip("\n") for path in sorted((folder / EVENTS).iterdir()) for line in read_lines(path)]
    truth = [json.loads(line) for line in read_lines(folder / f"{TRUTH}.jsonl.zst")]
    return Run(folder, lines, truth, facts)


@cache
def shipped_run(name: str) -> Run:
    """A shipped scenario with seed 1, as much of it as a test needs. Simulated once: what another process of the tests has made is read."""
    shared = (_SHARED.get("at") or Path(mkdtemp())) / name
    if not shared.exists():
        scenario = shipped(name)
        own = Path(mkdtemp(dir=shared.parent)) / name
        simulate(scenario if name in WHOLE else replace(scenario, duration_s=min(scenario.duration_s, LONGEST_S)), 1, own)
        with suppress(OSError):  # another process was quicker, with the same bytes
            own.rename(shared)
    return run_in(shared)


#: Where runs of shipped scenarios are: `at`, once the tests have a folder.
_SHARED: dict[str, Path] = {}


def share_in(folder: Path) -> None:
    """Keep runs of shipped scenarios in this folder, which other processes of the tests have, too."""
    folder.mkdir(exist_ok=True)
    _SHARED["at"] = folder


def truth_by_subscription(run: Run) -> dict[tuple[str, int, str, str], list[dict[str, Any]]]:
    """The intervals of each subscription and epoch, in order."""
    found: dict[tuple[str, int, str, str], list[dict[str, Any]]] = {}
    for one in run.truth:
        found.setdefault((one["broker"], one["epoch"], one["topic"], one["subscription"]), []).append(one)
    return found
