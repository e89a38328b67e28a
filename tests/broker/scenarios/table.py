"""All scenarios by name: each is a function that is declared in one of the files beside this one; and the demo's, shortened."""

import importlib
from collections.abc import Callable
from pathlib import Path

from tools.live_broker.incident import incident
from tools.live_broker.scenario import Scenario
from tools.live_broker.stage import Stage

#: Instead of the demo's minute and a half.
INCIDENT_S = 25.0
Load = Callable[[Stage], None]
SCENARIOS: dict[str, Scenario] = {}


def scenario(what: str, *, timeline: bool = False, **settings: str) -> Callable[[Load], Load]:
    """Declare a function as the scenario of its name; `settings` are the broker's."""

    def declare(load: Load) -> Load:
        name = load.__name__
        if name in SCENARIOS:
            raise ValueError(f"two scenarios are named {name}")
        SCENARIOS[name] = Scenario(name, what, load, settings, timeline)
        return load

    return declare


def all_scenarios() -> dict[str, Scenario]:
    """Every scenario, in the order of files, then of declarations."""
    for path in sorted(Path(__file__).parent.glob("*.py")):
        if path.stem not in ("__init__", Path(__file__).stem):
            importlib.import_module(f"scenarios.{path.stem}")
    # Made once: pytest plays a scenario again if it gets another object for it.
    if "incident" not in SCENARIOS:
        SCENARIOS["incident"] = incident(INCIDENT_S)
    return SCENARIOS
