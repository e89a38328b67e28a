"""What keeps messages from consumers that are there: keys, transactions, redeliveries, a client that hangs, delays."""

import time

from scenarios.table import scenario
from tools.live_broker.stage import Stage


@scenario(
    "Key_Shared: one of three consumers acknowledges nothing and takes 20 messages; those of its keys are put aside, the look-ahead fills.",
    keySharedLookAheadMsgInReplayThresholdPerConsumer="40",
    keySharedLookAheadMsgInReplayThresholdPerSubscription="100",
    timeline=True,
)
def slow_key(stage: Stage) -> None:
    topic = stage.topic("t")
    stage.clients.subscribe(topic, "keys", kind="Key_Shared")
    stage.meanwhile(stage.publish, topic, 900, 60, keys=30)
    with stage.held_back("keys_blocked", "one of three consumers takes nothing more", (topic, "keys")):
        stage.meanwhile(
            stage.consume, topic, "keys", kind="Key_Shared", for_s=14, pause_ms=10_000, queue=20, acknowledges=lambda number: False
        )
        stage.meanwhile(stage.consume, topic, "keys", kind="Key_Shared", for_s=14)
        stage.consume(topic, "keys", kind="Key_Shared", for_s=14)
    stage.join()
    stage.consume(topic, "keys", kind="Key_Shared", idle_s=3)


@scenario(
    "Half of the consumers' messages are given back at once, again and again: more redeliveries than acknowledgements.", timeline=True
)
def nack_storm(stage: Stage) -> None:
    topic = stage.topic("t", "s")
    stage.meanwhile(stage.publish, topic, 200, 40)
    with stage.held_back("negative_acks", "four of five messages are given back", (topic, "s")):
        stage.consume(topic, "s", for_s=12, gives_back=lambda number: number % 5 > 0)
    stage.join()
    stage.consume(topic, "s", idle_s=2)


@scenario(
    "Clients that take up to 200 messages and leave without acknowledging, one after the other; the messages come again and again.",
    timeline=True,
)
def leaves_without_acknowledging(stage: Stage) -> None:
    topic = stage.topic("t", "s")
    stage.publish(topic, 200, 100)

    def come_and_go() -> None:
        # Of several at once the broker (4.0.8) forgets what one has that leaves: it lies nowhere, until all have left.
        until = time.monotonic() + 9
        while time.monotonic() < until:
            stage.consume(topic, "s", count=150, for_s=3, pause_ms=3, queue=200, acknowledges=lambda number: False)

    clients = stage.meanwhile(come_and_go)
    time.sleep(5)
    with stage.held_back("not_acknowledged", "every client leaves with what it has", (topic, "s")):
        time.sleep(4)
    clients.result()
    stage.consume(topic, "s", idle_s=2)


@scenario("Failover: the active consumer hangs for 12 s, another one waits behind it.", timeline=True)
def hanging_failover(stage: Stage) -> None:
    (topic,) = stage.partitions("t", 1)
    stage.clients.subscribe(topic, "failover", kind="Failover")
    active = stage.hanging((topic, "failover"), kind="Failover")
    stage.meanwhile(stage.publish, topic, 3000, 250)
    stage.meanwhile(stage.consume, topic, "failover", kind="Failover", for_s=16)
    time.sleep(1)
    with active.hangs(), stage.held_back("stopped_consumer", "the active consumer hangs", (topic, "failover")):
        time.sleep(12)
    stage.join()
    time.sleep(1)
    active.end()


@scenario(
    "Messages that are due after a minute are held, nothing else waits; beside it messages that are due and find no consumer.",
    timeline=True,
)
def delayed_and_due(stage: Stage) -> None:
    held, due = stage.topic("held", "s"), stage.topic("due", "s")
    stage.meanwhile(stage.consume, held, "s", for_s=14)
    stage.publish(held, 100, 100, delay_ms=60_000)
    stage.meanwhile(stage.consume, due, "s", for_s=2)
    stage.publish(due, 100, 100, delay_ms=5_000)
    with stage.held_back("no_consumer", "they are due, and the consumer has gone", (due, "s")):
        time.sleep(11)
    stage.join()


@scenario("Readers: one follows, one stops to read after 50 messages and stays.", timeline=True)
def readers_behind(stage: Stage) -> None:
    topic = stage.topic("t", "s")
    stage.meanwhile(stage.publish, topic, 900, 60)
    stage.meanwhile(stage.consume, topic, "s", count=900)
    slow = stage.reader(topic, "slow", count=50, for_s=16)
    stage.reader(topic, "fast", count=10_000, for_s=14)
    time.sleep(3)
    with stage.held_back("paused_reader", "it has read fifty messages, and reads no more", (topic, slow)):
        time.sleep(8)
    stage.join()


@scenario(
    "A transaction stays open for 12 s: messages that are published behind its first one reach nobody.",
    transactionCoordinatorEnabled="true",
    timeline=True,
)
def open_transaction(stage: Stage) -> None:
    topic = stage.topic("t", "s")
    stage.publish(topic, 50, 100)
    stage.consume(topic, "s", count=50)
    with stage.open_transaction(topic, timeout_s=15):
        stage.meanwhile(stage.consume, topic, "s", for_s=60, idle_s=25)
        with stage.held_back("transaction", "it is neither committed nor aborted", (topic, "s")):
            stage.publish(topic, 200, 40)
            time.sleep(4)
    stage.join()


@scenario("A replicator whose other cluster does not answer: it fails to connect, and falls behind.", timeline=True)
def replicator_alone(stage: Stage) -> None:
    stage.admin.make_cluster("far", "http://127.0.0.1:1", "pulsar://127.0.0.1:1")
    stage.admin.replicate(stage.namespace, "far")
    topic = stage.topic("t", "s")
    stage.meanwhile(stage.consume, topic, "s", for_s=12)
    with stage.held_back("not_connected", "the other cluster does not answer", (topic, "pulsar.repl.far")):
        stage.publish(topic, 300, 30)
        time.sleep(2)
    stage.join()


@scenario("One of three partitions has no consumer that keeps up: its consumer pauses, the others follow.", timeline=True)
def partition_behind(stage: Stage) -> None:
    parts = stage.partitions("p", 3, "s")
    for part in parts:
        stage.meanwhile(stage.publish, part, 300, 30)
    for part in parts[1:]:
        stage.meanwhile(stage.consume, part, "s", count=300)
    with stage.held_back("slow_consumer", "100 ms for a message", (parts[0], "s")):
        stage.consume(parts[0], "s", for_s=12, pause_ms=100, queue=10)
    stage.join()


@scenario("TTL: a subscription without consumers loses what is older than 5 s; another is skipped and cleared.", timeline=True)
def expires(stage: Stage) -> None:
    topic, other = stage.topic("t", "s"), stage.topic("other", "s")
    stage.publish(topic, 300, 150)
    stage.publish(other, 300, 150)
    with stage.held_back("no_consumer", "nobody consumes", (topic, "s")):
        time.sleep(5)
        stage.admin.subscription("POST", topic, "s", "expireMessages/3")
        stage.admin.subscription("POST", other, "s", "skip/30")
        stage.admin.subscription("POST", other, "s", "skip_all")
        time.sleep(3)
