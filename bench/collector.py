"""What the collector costs a broker: two real brokers side by side, one with it and one without, put under the same load in turn.

Both run all the time, so both are equally warm, and slices of load alternate: the machine's noise meets both. It needs
`./spark-submit.sh set-up broker` and `./spark-submit.sh collector build`.
"""

import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.measure import processor_s
from tools.collector_jar import JAR
from tools.live_broker.pulsar import server
from tools.live_broker.standalone import Standalone, checked_collector

if TYPE_CHECKING:
    import pulsar

TOPIC = "persistent://public/default/load"
#: A steady load, far below what two cores can do, shows latencies; as much as goes shows throughput. No message is batched: an entry each.
STEADY_PER_S, STEADY_S = 1_500, 15
MOST_MESSAGES = 150_000
MESSAGE_BYTES = 100
#: Pairs that are not counted: until Java has compiled what is hot, on both sides.
WARM_UP = 4
PATIENCE_MS = 30_000
#: As brokers are: large ledgers, checks once a minute.
SETTINGS = {
    "managedLedgerMaxEntriesPerLedger": "50000",
    "managedLedgerMinLedgerRolloverTimeMinutes": "10",
    "backlogQuotaCheckIntervalInSeconds": "60",
}
SIDES = ("without", "with")
FIGURES = ("throughput_per_s", "broker_us_per_msg", "publish_p50_ms", "publish_p99_ms", "end_to_end_p50_ms", "end_to_end_p99_ms")


def bench_collector(folder: Path, rounds: int) -> dict[str, Any]:
    """Medians of each figure on both sides, and of their ratios pair by pair (with ÷ without); `ratio` is that of throughput.

    `quartiles`: half of the pairs lie between.
    """
    brokers = {
        side: Standalone(server(), checked_collector(JAR) if side == "with" else None, folder / side, folder / f"{side}-events",
                         SETTINGS, collector_options="roll_s=30")
        for side in SIDES
    }  # fmt: skip
    pairs: list[dict[str, dict[str, float]]] = []
    with ExitStack() as started:
        for broker in brokers.values():
            started.enter_context(broker)
        for number in range(rounds + WARM_UP):
            order = SIDES if number % 2 else SIDES[::-1]
            pair = {side: _loaded(brokers[side]) for side in order}
            for side in order:
                print(f"  round {number}{' (warm-up)' if number < WARM_UP else ''}: {side:7} {pair[side]}", flush=True)
            if number >= WARM_UP:
                pairs.append(pair)
    return _summary(pairs)


def _summary(pairs: list[dict[str, dict[str, float]]]) -> dict[str, Any]:
    found: dict[str, Any] = {"pairs": len(pairs)}
    for figure in FIGURES:
        ratios = [pair["with"][figure] / pair["without"][figure] for pair in pairs]
        found[figure] = {side: round(statistics.median(pair[side][figure] for pair in pairs), 2) for side in SIDES} | {
            "ratio": round(statistics.median(ratios), 3),
            "quartiles": [round(part, 3) for part in statistics.quantiles(ratios, n=4)[::2]],
        }
    return found | {"ratio": found["throughput_per_s"]["ratio"]}


def _loaded(broker: Standalone) -> dict[str, float]:
    """Figures of one slice of load."""
    import pulsar

    client = pulsar.Client(broker.service_url, logger=pulsar.FileLogger(pulsar.LoggerLevel.Warn, str(broker.work / "clients.log")))
    try:
        consumer = client.subscribe(TOPIC, "s", consumer_type=pulsar.ConsumerType.Shared, receiver_queue_size=2000)
        producer = client.create_producer(TOPIC, batching_enabled=False, block_if_queue_full=True, max_pending_messages=2000)
        steady = _Load(producer, consumer)
        used_s = processor_s(broker.pid)
        steady.run(STEADY_PER_S * STEADY_S, STEADY_PER_S)
        seconds = _Load(producer, consumer).run(MOST_MESSAGES, None)
        used_s = processor_s(broker.pid) - used_s
    finally:
        client.close()
    return {
        "throughput_per_s": round(MOST_MESSAGES / seconds),
        "broker_us_per_msg": round(used_s * 1e6 / (STEADY_PER_S * STEADY_S + MOST_MESSAGES), 1),
        **_latencies("publish", steady.published_ms),
        **_latencies("end_to_end", steady.received_ms),
    }


def _latencies(name: str, measured_ms: list[float]) -> dict[str, float]:
    parts = statistics.quantiles(measured_ms, n=100)
    return {f"{name}_p50_ms": round(parts[49], 2), f"{name}_p99_ms": round(parts[98], 2)}


class _Load:
    """Messages through one topic, and how long each took: until the broker had it, and until the consumer had it."""

    def __init__(self, producer: "pulsar.Producer", consumer: "pulsar.Consumer") -> None:
        self.published_ms: list[float] = []
        self.received_ms: list[float] = []
        self._producer, self._consumer = producer, consumer

    def run(self, count: int, per_s: int | None) -> float:
        """Publish, at an even rate or as fast as it goes; seconds until the consumer has all. pulsar.Timeout if one does not come."""
        with ThreadPoolExecutor(1) as beside:
            received = beside.submit(self._receive, count)
            begun = time.perf_counter()
            for number in range(count):
                if per_s is not None:
                    time.sleep(max(0.0, begun + number / per_s - time.perf_counter()))
                self._publish()
            received.result()
            return time.perf_counter() - begun

    def _publish(self) -> None:
        sent = time.perf_counter_ns()

        def confirmed(_result: object, _id: object) -> None:
            self.published_ms.append((time.perf_counter_ns() - sent) / 1e6)

        self._producer.send_async(sent.to_bytes(8, "big").ljust(MESSAGE_BYTES, b"."), confirmed)

    def _receive(self, count: int) -> None:
        for _ in range(count):
            message = self._consumer.receive(timeout_millis=PATIENCE_MS)
            self.received_ms.append((time.perf_counter_ns() - int.from_bytes(message.data()[:8], "big")) / 1e6)
            self._consumer.acknowledge(message)
