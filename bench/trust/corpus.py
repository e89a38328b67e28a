"""The logs with a known truth: incidents (tests/incidents), real brokers' captures beside the project, the simulator's scenarios.

Each is asked at many instants of the whole log, and as it is when it was cut off in the middle of a window, without `--at`.
"""

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from capture_events import capture_events
from incidents.corpus import INCIDENTS
from incidents.scene import START_US
from real_captures import CAPTURES
from simulated import run_into, shipped

from bench.trust.backlogs import Named, backlogs
from bench.trust.questions import Question, instants
from bench.trust.truth import FRESH_US, MOVING, US_PER_S, Key, Sample, Stretch, Truth, of_simulator
from sim.confusion import clocks, key_of
from sim.scenario import SHIPPED

Event = dict[str, Any]
DECLARED = Path(__file__).resolve().parents[2] / "tests" / "incidents" / "captures.toml"
DEMO = Path(__file__).resolve().parents[2] / "demo"
#: Scenarios of days, and the one whose causes nobody can know (docs/design/causes.md has it for itself).
LEFT_OUT = ("large", "quota_")
#: A log is cut off after this share of it, so many seconds after a border of its windows.
CUT_SHARE, CUT_AFTER_US = 0.7, 21 * US_PER_S


@dataclass(frozen=True)
class Case:
    """A log: its events by epoch, the truth of its subscriptions, the length of its windows, what is asked of it."""

    name: str
    lives: Sequence[Sequence[Event]]
    truth: Mapping[Key, Truth]
    window_ms: int
    asked: Sequence[Question]

    @property
    def cut_us(self) -> int:
        """Where it is cut off."""
        first, last = self.lives[0][0]["ts"], self.lives[-1][-1]["ts"]
        window_us = self.window_ms * 1000
        return int(first + CUT_SHARE * (last - first)) // window_us * window_us + min(CUT_AFTER_US, window_us // 2)


def cases() -> dict[str, Callable[[], Case]]:
    """By name; each is made when it is wanted."""
    found: dict[str, Callable[[], Case]] = {f"incident {name}": partial(_incident, name) for name in INCIDENTS}
    for name, of_topics in tomllib.loads(DECLARED.read_text(encoding="utf-8")).items():
        if (folder := _capture_folder(name)) is not None:
            found[f"capture {name}"] = partial(_capture, name, folder, of_topics)
    for path in sorted(SHIPPED.glob("*.toml")):
        if not path.stem.startswith(LEFT_OUT):
            found[f"simulated {path.stem}"] = partial(_simulated, path.stem)
    return found


def _incident(name: str) -> Case:
    incident = INCIDENTS[name]
    lives = [list(scene.events(incident.until)) for scene in incident.scenes()]
    truth: dict[Key, Truth] = {}
    for events in lives:
        samples = backlogs(events)
        broker, epoch = events[0]["broker"], events[0]["epoch"]
        for named in sorted({(one.topic, one.subscription) for one in incident.truth} & samples.keys()):
            stretches = [
                Stretch(START_US + round(one.from_s * US_PER_S), START_US + round(one.to_s * US_PER_S), frozenset(one.causes), one.behind)
                for one in incident.truth
                if (one.topic, one.subscription) == named
            ]
            truth[broker, epoch, *named] = Truth(sorted(stretches), samples[named], is_whole=False)
    return Case(f"incident {name}", lives, truth, 60_000, [*_questions(lives, 45), Question(None, 600)])


def _simulated(name: str) -> Case:
    with TemporaryDirectory(prefix="dispatch-trust-") as folder:
        run = run_into(shipped(name), Path(folder) / name)
    clock_of = clocks(run.facts)
    by_key: dict[Key, list[dict[str, Any]]] = {}
    for line in run.truth:
        by_key.setdefault(key_of(line), []).append(line)
    lives = [run.events(life) for life in run.facts["lives"]]
    truth = {
        (events[0]["broker"], events[0]["epoch"], *named): Truth(
            of_simulator(by_key.get(key, []), clock_of[key[:2]]), samples, is_whole=True
        )
        for events in lives
        for named, samples in backlogs(events).items()
        if (key := (events[0]["broker"], events[0]["epoch"], *named))
    }
    return Case(f"simulated {name}", lives, truth, 60_000, [*_questions(lives, 90), Question(None, 600)])


def _questions(lives: Sequence[Sequence[Event]], every_s: int, windows_s: Sequence[int] = (60, 120, 600)) -> list[Question]:
    first, last = min(events[0]["ts"] for events in lives), max(events[-1]["ts"] for events in lives)
    return instants(first, last, every_s, windows_s)


# ---- captures ---------------------------------------------------------------------------------------------------------------------------


def _capture_folder(name: str) -> Path | None:
    """Where the capture lies; that of the demo is in the project."""
    pair, _, side = name.rpartition("_")
    collected, pairs = CAPTURES.with_name("captures-collector"), CAPTURES.with_name("captures-pairs")
    places = (DEMO / name, CAPTURES / name, collected / name, pairs / pair / side)
    return next((place for place in places if (place / "events.jsonl.gz").exists()), None)


def _capture(name: str, folder: Path, of_topics: Mapping[str, Mapping[str, Sequence[str]]]) -> Case:
    events = capture_events(folder, until_as_of=False)
    epochs = sorted({event["epoch"] for event in events})
    lives = [[event for event in events if event["epoch"] == epoch] for epoch in epochs]
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8")) if (folder / "manifest.json").exists() else {}
    stated = {
        (topic, subscription): frozenset(causes)
        for ending, of_subs in of_topics.items()
        for topic in {event["topic"] for event in events if event.get("topic", "").endswith(f"/{ending}")}
        for subscription, causes in of_subs.items()
    }
    truth = {
        (life[0]["broker"], life[0]["epoch"], *named): Truth(list(_stretches(life, named, stated[named], samples, manifest)), samples, True)
        for life in lives
        for named, samples in backlogs(life).items()
        if named in stated
    }
    return Case(f"capture {name}", lives, truth, 5_000, [*_questions(lives, 15, (10, 30, 600)), Question(None, 600)])


def _stretches(
    events: Sequence[Event], named: Named, causes: frozenset[str], samples: Mapping[int, Sample], manifest: Mapping[str, Any]
) -> Iterator[Stretch]:
    """A second each, by the rules that captures.toml begins with."""
    only = [(one["from_us"], one["to_us"]) for one in manifest.get("truth", ()) if (one["topic"], one["subscription"]) == named]
    changes = [(event["ts"], 1 if event["type"] == "consumer_open" else -1) for event in _of(events, named)]
    for second, sample in sorted(samples.items()):
        at = second * US_PER_S
        with_consumers = sum(by for ts, by in changes if ts <= at) > 0
        holds = not only or any(begin <= at < end for begin, end in only)
        if not with_consumers and sample.backlog == 0:
            continue
        if not with_consumers:
            found = frozenset({"no_consumer"})
        elif causes and holds and sample.age_us > FRESH_US:
            found = causes
        else:
            found = causes | MOVING
        yield Stretch(at, at + US_PER_S, found)


def _of(events: Sequence[Event], named: Named) -> Iterator[Event]:
    for event in events:
        if event["type"] in ("consumer_open", "consumer_close") and (event["topic"], event["sub"]) == named:
            yield event
