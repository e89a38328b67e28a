"""Records the lives that all pairs need: a broker of its own for each, with a new data folder."""

import json
import math
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench.what_if_broker.kinds import EVICT, TOTAL_S, Kind, Load, Side, Sub, kinds_of
from tools.collector_jar import JAR
from tools.live_broker.pulsar import server
from tools.live_broker.run import play
from tools.live_broker.scenario import Scenario
from tools.live_broker.stage import TENANT, Stage
from tools.live_broker.standalone import Standalone, checked_collector

#: The namespace of all topics: both sides of a pair have the same names.
NAMESPACE = f"{TENANT}/pairs"
#: Policies of topics are applied, consumers are there, and producers are connected within this time.
APPLIED_S, READY_S = 3.0, 6.0
#: Consumers stay for so long after the last instant that is compared.
STAY_S = 1.0
US_PER_S = 1_000_000


def record_life(broker: str, side: str, folder: Path) -> None:
    """Play one life; afterwards `folder` has its log and figures, and `begin.json` the whole second (µs since 1970) at which it began."""
    sides = kinds_of(broker, side)
    begins: list[int] = []
    scenario = Scenario("pairs", f"{broker}, side {side}", lambda stage: begins.append(_load(stage, sides)), settings_of(sides))
    with tempfile.TemporaryDirectory(prefix="dispatch-pairs-") as name:
        work = Path(name)
        (work / "events").mkdir()
        play(scenario, Standalone(server(), checked_collector(JAR), work / "broker", work / "events", scenario.settings), work / "kept")
        (work / "kept" / "begin.json").write_text(json.dumps({"begin_us": begins[0]}))
        shutil.copytree(work / "kept", folder)


def settings_of(sides: Sequence[tuple[Kind, Side]]) -> dict[str, str]:
    """Of the broker, in all its kinds. Raises ValueError where two of them contradict each other."""
    found: dict[str, str] = {"managedLedgerMaxEntriesPerLedger": "500"}
    for kind, side in sides:
        for key, value in side.settings.items():
            if found.setdefault(key, value) != value:
                raise ValueError(f"{kind.name}: {key} is {found[key]} for another kind on the broker {side.broker}")
    return found


def _load(stage: Stage, sides: Sequence[tuple[Kind, Side]]) -> int:
    """All kinds side by side; returns when they began, µs since 1970."""
    topics = [(topic, kind, side) for kind, side in sides for topic in _topics(stage, kind, side)]
    time.sleep(APPLIED_S)
    begin_s = math.ceil(time.time() + READY_S)
    first_at_s = time.monotonic() + begin_s - time.time()
    for topic, kind, side in topics:
        for sub in side.subs:
            for _ in range(sub.consumers):
                stage.meanwhile(stage.consume, topic, sub.name, for_s=READY_S + TOTAL_S + STAY_S, idle_s=math.inf, **_consuming(sub))
        stage.meanwhile(stage.publish, topic, **_publishing(kind.load), first_at_s=first_at_s)
    stage.join()
    return begin_s * US_PER_S


def _topics(stage: Stage, kind: Kind, side: Side) -> list[str]:
    """Topics of a kind, with their subscriptions and policies."""
    found = []
    for name in kind.topic_names:
        topic = stage.topic(name)
        for sub in side.subs:
            stage.clients.subscribe(topic, sub.name, kind=sub.kind)
        for policy, rate in (("dispatchRate", side.topic_rate), ("subscriptionDispatchRate", side.subscription_rate)):
            if rate is not None:
                stage.admin.topic_policy(topic, policy, rate)
        if side.size_quota is not None:
            stage.admin.size_quota(topic, side.size_quota, EVICT)
        if side.age_quota_s is not None:
            stage.admin.age_quota(topic, side.age_quota_s, EVICT)
        found.append(topic)
    return found


def _publishing(load: Load) -> dict[str, Any]:
    return {"count": round(load.per_s * load.for_s), "per_s": load.per_s, "size": load.size, "batch": load.batch, "keys": load.keys}


def _consuming(sub: Sub) -> dict[str, Any]:
    return {
        "kind": sub.kind, "pause_ms": sub.pause_ms, "queue": sub.queue, "cumulative": sub.cumulative,
        "gives_back": _one_of(sub.gives_back_every),
    }  # fmt: skip


def _one_of(every: int) -> Callable[[int], bool]:
    return lambda number: every > 0 and number % every == every - 1
