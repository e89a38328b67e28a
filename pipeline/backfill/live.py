"""How a backfill that reached now talks to running lanes: they hold, it computes and swaps until there, they go on from its state.

A lane answers in lane_answers. Where it does not take the state its late events still wait, or its next day begins from another snapshot
than is there: a later backfill does what this one could not.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from pipeline.backfill.run import Run
from pipeline.backfill.stretch import FIRST_SEQ
from pipeline.lanes.control import Order, broker_ids, issue, seed_orders
from pipeline.lanes.operator import OUTPUT_TYPE
from pipeline.reading.beside_spark import look_beside
from pipeline.sinks.outcomes import output_column
from pipeline.warehouse.guard import newest_batches
from pipeline.warehouse.layout import Warehouse
from schemas.outcomes import KINDS, PAYLOAD
from schemas.tables.lane_answers import LANE_ANSWERS

#: A lane answers with its next micro-batch. One that did not after so long is busy with more than can wait for it.
ANSWERED_WITHIN_S, LOOK_EVERY_S = 180, 1.0
GONE_ON = "its lane had gone on before"
#: seq of the first event that was not applied, by broker and epoch.
Standing = Mapping[tuple[str, int], int]


@dataclass
class LiveLanes:
    """Lanes of one backfill's request. `fates`: what became of each broker.

    `asked_to_hold`: brokers that were asked to hold, and not yet to go on. `held`: where they stand. `seeded`: those that go on from what
    was computed.
    """

    spark: SparkSession
    warehouse: Warehouse
    run: Run
    fates: dict[str, str] = field(default_factory=dict)
    asked_to_hold: set[str] = field(default_factory=set)
    seeded: set[str] = field(default_factory=set)
    held: Standing = field(default_factory=dict)

    @property
    def request(self) -> int:
        """Number of the request: when the run began (µs since 1970)."""
        return int(self.run.began_at.timestamp()) * 1_000_000 + self.run.began_at.microsecond

    def hold(self, brokers: Iterable[str]) -> None:
        """Let the lanes of these brokers hold. `fates` names each broker that does not answer in time."""
        asked = set(brokers)
        if not self.run.lanes_run():
            self.fates |= dict.fromkeys(asked, "no stream is running")
            return
        self.asked_to_hold |= asked
        self._issue(asked, "hold")
        answers = self._wait_until(lambda found: asked <= {broker for broker, _, answer in found if answer == "held"})
        self.held = {(broker, epoch): at for (broker, epoch, answer), at in answers.items() if answer == "held" and at > FIRST_SEQ}
        self.fates |= dict.fromkeys(asked - {broker for broker, _ in self.held}, "its lane has nothing open, or did not answer in time")

    def holding(self) -> set[str]:
        """Brokers whose lanes have not gone on by themselves, as far as their whole micro-batches show."""
        gone_on = {broker for broker, _, answer in self._answers() if answer != "held"}
        asked = {broker for broker, _ in self.held}
        self.fates |= dict.fromkeys(asked & gone_on, GONE_ON)
        return asked - gone_on

    def seed(self, outcomes: str, brokers_computed: Collection[str]) -> set[str]:
        """Hand over the states of these brokers that were folded into `outcomes`. Returns those whose lanes took all of theirs."""
        held = {key for key in self.held if key[0] in brokers_computed}
        brokers = {lane: broker for broker, lane in broker_ids(self.spark, self.warehouse).items()}
        rows = self.spark.read.schema(OUTPUT_TYPE).parquet(outcomes).where(F.col("kind") == KINDS[LANE_ANSWERS.name])
        columns = [F.col(output_column(LANE_ANSWERS.name, name)).alias(name) for name in ("epoch", "next_seq")]
        states = rows.select("broker_id", *columns, PAYLOAD).collect()
        computed = {(brokers[row.broker_id], row.epoch) for row in states}
        whole = {broker for broker, _ in held} - {broker for broker, _ in held - computed}
        self.fates |= dict.fromkeys({broker for broker, _ in held} - whole, "with what came late its epoch was over before")
        orders = [
            order
            for row in states
            if brokers[row.broker_id] in whole
            for order in seed_orders(row.broker_id, row.epoch, self.request, row.next_seq, bytes(row[PAYLOAD]))
        ]
        if not orders:
            return set()
        issue(self.spark, self.warehouse, orders, self.run.now())
        self.asked_to_hold -= whole
        wanted = {key for key in computed if key[0] in whole}
        answers = self._wait_until(lambda found: wanted <= {(broker, epoch) for broker, epoch, answer in found if answer != "held"})
        taken = {(broker, epoch) for broker, epoch, answer in answers if answer == "seeded"}
        gone_on = {broker for broker, _, answer in answers if answer in ("lapsed", "refused")}
        self.seeded = whole - {broker for broker, _ in wanted - taken}
        self.fates |= dict.fromkeys(whole - self.seeded, "its lane did not answer in time; it may still go on from what was computed")
        self.fates |= dict.fromkeys(whole & gone_on, GONE_ON)
        self.fates |= dict.fromkeys(self.seeded, "its lane goes on from what was computed")
        return self.seeded

    def release(self) -> None:
        """Let lanes go on as they are that were not handed a state."""
        self._issue(self.asked_to_hold, "release")

    def release_forgotten(self) -> None:
        """Let lanes go on that wait for a backfill that died: of a broker that fell silent nothing else would."""
        answers = self.spark.read.format("delta").load(self.warehouse.table(LANE_ANSWERS.name))
        waiting = answers.groupBy("broker", "request").agg(F.bool_and(F.expr("answer = 'held'")).alias("waits")).where("waits").collect()
        if waiting:
            ids = broker_ids(self.spark, self.warehouse)
            orders = [Order(ids[row.broker], "release", place=(row.request, 0, 0)) for row in waiting]
            issue(self.spark, self.warehouse, orders, self.run.now())

    def _issue(self, brokers: set[str], kind: str) -> None:
        ids = broker_ids(self.spark, self.warehouse)
        orders = [Order(ids[broker], kind, place=(self.request, 0, 0)) for broker in sorted(brokers)]
        if orders:
            issue(self.spark, self.warehouse, orders, self.run.now())

    def _wait_until(self, enough: Callable[[Mapping[tuple[str, int, str], int]], bool]) -> Mapping[tuple[str, int, str], int]:
        """Look at the answers until they are enough, or the time is over, or nobody is there any more."""
        answers = self._answers()
        for _ in range(int(ANSWERED_WITHIN_S / LOOK_EVERY_S)):
            if enough(answers) or not self.run.lanes_run():
                break
            self.run.pause(LOOK_EVERY_S)
            answers = self._answers()
        return answers

    def _answers(self) -> Mapping[tuple[str, int, str], int]:
        """next_seq by (broker, epoch, answer), out of whole micro-batches of lanes alone: then their rows are there, too."""
        batches = newest_batches(look_beside(self.spark, self.warehouse), "lanes")
        version = batches[0]["table_versions"].get(LANE_ANSWERS.name) if batches else None
        if version is None:
            return {}
        table = self.spark.read.format("delta").option("versionAsOf", int(version)).load(self.warehouse.table(LANE_ANSWERS.name))
        rows = table.where(F.col("request") == self.request).select("broker", "epoch", "answer", "next_seq").collect()
        return {(row.broker, row.epoch, row.answer): row.next_seq for row in rows}
