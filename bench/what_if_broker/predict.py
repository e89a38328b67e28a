"""Predicts side b of each pair from the log of side a, and compares it with side b as it was."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

from bench.trust.backlogs import Named, backlogs
from bench.what_if_broker.kinds import TOTAL_S, Kind
from bench.what_if_broker.record import NAMESPACE
from bench.what_if_pairs.compare import Verdict, verdict_of
from bench.what_if_pairs.truth import Lived
from driver.loading import load_log
from pipeline.diagnosis.evidence import NoAnswer
from pipeline.query.room import ReadingRoom
from pipeline.settings import load_settings
from pipeline.warehouse.layout import Warehouse
from pipeline.what_if.answer import what_if
from pipeline.what_if.changes import Changes, changes_of
from tools.live_broker.run import events_in

US_PER_S = 1_000_000
#: Counters of the broker's statistics: reads that a limiter lowered.
_LOWERED = "dispatchThrottled"
_1970 = datetime(1970, 1, 1, tzinfo=UTC)

Document = dict[str, Any]


@dataclass(frozen=True)
class Recorded:
    """A kept life. It is loaded into a warehouse beside its log when it is first asked."""

    folder: Path

    @cached_property
    def begin_s(self) -> int:
        """When its load began, in seconds since 1970."""
        return int(json.loads((self.folder / "begin.json").read_text())["begin_us"]) // US_PER_S

    @property
    def span(self) -> tuple[datetime, datetime]:
        """The time that is compared."""
        begin = _1970 + timedelta(seconds=self.begin_s)
        return begin, begin + timedelta(seconds=TOTAL_S)

    @cached_property
    def room(self) -> ReadingRoom:
        """Its warehouse."""
        at = self.folder / "warehouse"
        if not at.exists():
            load_log(str(self.folder / "events.jsonl.gz"), f"file:{at}", load_settings(None, [], {}), 1, lambda _: None)
        return ReadingRoom(Warehouse(f"file:{at}"), consistent=True)

    @cached_property
    def backlog(self) -> dict[Named, dict[int, int]]:
        """By subscription and second since 1970, counted without the project's rules."""
        found = backlogs(events_in(self.folder))
        return {named: {second: sample.backlog for second, sample in samples.items()} for named, samples in found.items()}

    @cached_property
    def lowered(self) -> dict[Named, int]:
        """Reads that limiters lowered, by the broker's own statistics."""
        stats = json.loads((self.folder / "stats.json").read_text())
        return {
            (topic, sub): sum(count for name, count in said.items() if name.startswith(_LOWERED))
            for topic, of_topic in stats.items()
            for sub, said in of_topic["subscriptions"].items()
        }


@dataclass(frozen=True)
class Outcome:
    """Of one pair: the truth as the document of side b has it, the prediction, and the verdict. Null with `refused`: why there is none."""

    kind: Kind
    refused: tuple[str, ...] = ()
    prediction: Document | None = None
    truth: Document | None = None
    verdict: Verdict | None = None

    @property
    def faults(self) -> tuple[str, ...]:
        """Bounds that do not hold."""
        if self.verdict is None or self.prediction is None:
            return ()
        told = self.prediction["next_limit"]
        return self.verdict.faults + (() if told == self.kind.next_limit else (f"{told} binds, not {self.kind.next_limit}",))

    @property
    def is_sure(self) -> bool:
        """Whether the answer says that it is sure. If not, only its band is promised."""
        return self.prediction is not None and bool(self.prediction["sure"])

    @property
    def is_repeatable(self) -> bool:
        """Whether side b, replayed from its own log with its own settings, is side b. If not, its machine stalled."""
        return self.truth is not None and bool(self.truth["self_check"]["ok"])


class Records:
    """All kept lives, a folder for each. Each is read once, whatever is asked of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lives: dict[str, Recorded] = {}

    def life(self, broker: str, side: str) -> Recorded:
        """One of them."""
        return self._lives.setdefault(f"{broker}-{side}", Recorded(self.folder / f"{broker}-{side}"))

    def outcome_of(self, kind: Kind) -> Outcome:
        """The verdict on one pair."""
        a, b = self.life(kind.a.broker, "a"), self.life(kind.b.broker, "b")
        topic = f"persistent://{NAMESPACE}/{kind.topic_names[0]}"
        try:
            prediction = what_if(a.room, topic, kind.subscription, changes_of(kind.texts), None, a.span)
        except NoAnswer as why:
            return Outcome(kind, (str(why),))
        if not prediction["self_check"]["ok"]:
            return Outcome(kind, tuple(prediction["self_check"]["reasons"]))
        truth = what_if(b.room, topic, None, Changes(), None, b.span)
        return Outcome(kind, (), prediction, truth, verdict_of(prediction, _lived(a, b, truth, kind)))


def _lived(a: Recorded, b: Recorded, truth: Document, kind: Kind) -> Lived:
    """Side b at the instants of side a. Evicted entries are in no figure of the broker: they are those of its log."""
    later_s = a.begin_s - b.begin_s
    backlog = {named: {second + later_s: entries for second, entries in of.items()} for named, of in b.backlog.items()}
    evicted = {(one["topic"], one["subscription"]): one["actual"]["evicted_entries"] for one in truth["subscriptions"]}
    published = round(kind.load.per_s * kind.load.for_s / kind.load.batch) * kind.topics
    return Lived(backlog, b.lowered, evicted, published)
