"""One scenario on one broker, from its start to its stop; and the folder that keeps it, in the form of shared/captures."""

import gzip
import json
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

from tools.live_broker.figures import Figures, Timeline, when_quiet
from tools.live_broker.load import Clients
from tools.live_broker.pulsar import VERSION
from tools.live_broker.scenario import Scenario
from tools.live_broker.stage import TENANT, Stage, now_us
from tools.live_broker.standalone import Standalone
from tools.maven import java_tool

_FILE = re.compile(r"(?P<broker>.+)-(?P<epoch>\d+)-(?P<seq>\d+)\.jsonl\.gz")


def play(scenario: Scenario, broker: Standalone, folder: Path) -> None:
    """Run the scenario; afterwards the broker has ended, and `folder` has its log, its figures, `manifest.json` and `causes.json`."""
    folder.mkdir(parents=True)
    begun_us = now_us()
    with broker:
        stage = Stage(broker, f"{TENANT}/{scenario.name.replace('_', '-')}", Clients(broker.service_url, broker.work / "clients.log"))
        stage.admin.make_namespace(stage.namespace)
        timeline = Timeline(stage.admin, stage.namespace)
        if scenario.timeline:
            timeline.begin()
        try:
            scenario.load(stage)
            stage.join()
        finally:
            timeline.end()
            stage.close()
        load_end_us = now_us()
        figures = when_quiet(stage.admin, stage.namespace)
    figures.write(folder)
    if timeline.lines:
        lines = (json.dumps(line, separators=(",", ":")) + "\n" for line in timeline.lines)
        (folder / "timeline.jsonl").write_text("".join(lines), encoding="utf-8")
    gather_log(broker, folder / "events.jsonl.gz")
    _write_json(folder / "causes.json", [asdict(cause) for cause in sorted(stage.causes, key=lambda cause: cause.from_us)])
    _write_json(folder / "manifest.json", _manifest(scenario, stage, figures, begun_us, load_end_us, folder))


def gather_log(broker: Standalone, target: Path) -> None:
    """All of the broker's files as one, in the order of the events."""
    found = [(int(name["epoch"]), int(name["seq"]), path) for path in broker.events.iterdir() if (name := _FILE.fullmatch(path.name))]
    ours = [path for _, _, path in sorted(found) if _first(path)["broker"] == broker.name]
    with target.open("wb") as whole:
        for path in ours:
            with path.open("rb") as part:
                shutil.copyfileobj(part, whole)


def _first(path: Path) -> dict[str, Any]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return dict(json.loads(next(lines)))


def events_in(folder: Path) -> Iterator[dict[str, Any]]:
    """The events of a kept scenario."""
    with gzip.open(folder / "events.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _manifest(scenario: Scenario, stage: Stage, figures: Figures, begun_us: int, load_end_us: int, folder: Path) -> dict[str, Any]:
    types, dropped = Counter[str](), 0
    for event in events_in(folder):
        types[event["type"]] += 1
        dropped = event.get("dropped", dropped)
    said = subprocess.run([java_tool("java"), "-version"], capture_output=True, text=True, check=True).stderr
    java = next(line.strip() for line in said.splitlines() if "Runtime" in line)
    return {
        "scenario": scenario.name,
        "what": scenario.what,
        "as_of_us": figures.as_of_us,
        "as_of_end_us": figures.as_of_end_us,
        "start": _iso(begun_us),
        "load_end": _iso(load_end_us),
        "events": types.total(),
        "events_by_type": dict(sorted(types.items())),
        "dropped": dropped,
        "produced": dict(sorted(stage.clients.produced.items())),
        "consumed": dict(sorted(stage.clients.consumed.items())),
        "notes": [f"{count} sends refused on {topic}" for topic, count in sorted(stage.clients.refused.items())],
        "overlay": dict(sorted(stage.broker.effective_settings().items())),
        "overlay_of_this_scenario": dict(scenario.settings),
        "pulsar": VERSION,
        "python_client": version_of("pulsar-client"),
        "java": java,
        "scrapes": figures.scrapes,
    }


def _iso(at_us: int) -> str:
    return datetime.fromtimestamp(at_us / 1e6, UTC).isoformat(timespec="milliseconds")


def _write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=1, sort_keys=isinstance(value, dict)) + "\n", encoding="utf-8")
