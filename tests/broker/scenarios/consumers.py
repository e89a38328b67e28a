"""Consumers that are slow, absent, leave, hang, or do not acknowledge; deliveries that wait."""

import time

from scenarios.table import scenario
from tools.live_broker.stage import Stage


@scenario("No limit anywhere; one consumer takes 50 ms for a message (queue of 50), another is fast.", timeline=True)
def slow_consumer(stage: Stage) -> None:
    topic = stage.topic("t", "slow", "fast")
    with stage.held_back("slow_consumer", "20/s of 60/s", (topic, "slow")), stage.held_back("nothing", "it is fast", (topic, "fast")):
        stage.meanwhile(stage.publish, topic, 720, 60)
        stage.meanwhile(stage.consume, topic, "slow", for_s=13, pause_ms=50, queue=50)
        stage.meanwhile(stage.consume, topic, "fast", count=720)
        stage.join()


@scenario("A subscription without any consumer, one whose consumer comes after 6 s, and one that is deleted.", timeline=True)
def absent_consumer(stage: Stage) -> None:
    topic = stage.topic("t", "never", "late", "deleted")
    stage.meanwhile(stage.publish, topic, 480, 40)
    with (
        stage.held_back("no_consumer", "nobody ever comes", (topic, "never")),
        stage.held_back("no_consumer", "somebody comes later", (topic, "late")),
    ):
        time.sleep(6)
        stage.admin.subscription("DELETE", topic, "deleted")
    stage.consume(topic, "late", count=480)
    stage.join()


@scenario(
    "Two consumers of a Shared subscription; one leaves with deliveries that it has not acknowledged, later the other too; a third comes."
    " A Failover subscription changes its active consumer.",
    timeline=True,
)
def leaving_consumers(stage: Stage) -> None:
    topic = stage.topic("t", "shared")
    stage.clients.subscribe(topic, "failover", kind="Failover")
    stage.meanwhile(stage.publish, topic, 600, 60)
    stage.meanwhile(stage.consume, topic, "shared", for_s=8, queue=20)
    stage.meanwhile(stage.consume, topic, "failover", kind="Failover", for_s=5)
    with stage.held_back("not_acknowledged", "one of the two consumers acknowledges every third only", (topic, "shared")):
        stage.consume(topic, "shared", for_s=4, acknowledges=lambda number: number % 3 == 0)
    stage.meanwhile(stage.consume, topic, "failover", kind="Failover", for_s=8)
    stage.join()
    stage.consume(topic, "shared", idle_s=2)


@scenario(
    "A client that hangs for 6 s with small messages: its queue and its socket take them all, nothing is acknowledged.", timeline=True
)
def stopped_consumer(stage: Stage) -> None:
    topic = stage.topic("t", "stopped", "other")
    client = stage.hanging((topic, "stopped"))
    stage.meanwhile(stage.publish, topic, 600, 50)
    stage.meanwhile(stage.consume, topic, "other", count=600)
    time.sleep(3)
    with client.hangs(), stage.held_back("stopped_consumer", "the process is stopped", (topic, "stopped")):
        time.sleep(6)
    stage.join()
    time.sleep(1)
    client.end()


@scenario(
    "The caps of unacknowledged messages: 40 for a consumer of one topic, 60 for a subscription of another. Consumers keep all they get for"
    " 6 s, then leave; others acknowledge.",
    maxUnackedMessagesPerConsumer="40",
    maxUnackedMessagesPerSubscription="60",
    timeline=True,
)
def unacknowledged_cap(stage: Stage) -> None:
    topic, two = stage.topic("t", "s"), stage.topic("two", "s")
    stage.meanwhile(stage.publish, topic, 300, 40)
    stage.meanwhile(stage.publish, two, 300, 40)
    with stage.held_back("unacked_cap", "the cap is reached after one second", (topic, "s"), (two, "s")):
        stage.meanwhile(stage.consume, two, "s", for_s=6, acknowledges=lambda number: False)
        stage.meanwhile(stage.consume, two, "s", for_s=6, acknowledges=lambda number: False)
        stage.consume(topic, "s", for_s=6, acknowledges=lambda number: False)
    stage.join()
    stage.meanwhile(stage.consume, two, "s", idle_s=2)
    stage.consume(topic, "s", idle_s=2)
    stage.join()


@scenario("Every message is to be delivered 5 s later (Shared); beside it a topic with both kinds of messages.", timeline=True)
def delayed_messages(stage: Stage) -> None:
    delayed, mixed = stage.topic("delayed", "s"), stage.topic("mixed", "s")
    stage.meanwhile(stage.publish, mixed, 100, 20)
    stage.meanwhile(stage.publish, mixed, 100, 20, delay_ms=4000)
    stage.meanwhile(stage.consume, mixed, "s", count=200)
    with stage.held_back("delayed_delivery", "5 s by the producer's wish", (delayed, "s")):
        stage.meanwhile(stage.publish, delayed, 200, 40, delay_ms=5000)
        stage.consume(delayed, "s", count=200)
    stage.join()


@scenario("A consumer gives every second message back (negative acknowledgement, 0.5 s); they come again.", timeline=True)
def negative_acks(stage: Stage) -> None:
    topic = stage.topic("t", "s")
    stage.meanwhile(stage.publish, topic, 200, 40)
    with stage.held_back("negative_acks", "every second message is given back", (topic, "s")):
        stage.consume(topic, "s", for_s=8, gives_back=lambda number: number % 2 == 0)
    stage.join()
    stage.consume(topic, "s", idle_s=2)


@scenario(
    "Individual acknowledgements with holes: every third message stays; the consumer leaves, the next one gets the rest."
    " Another subscription acknowledges cumulatively, in batches.",
    timeline=True,
)
def holes(stage: Stage) -> None:
    topic = stage.topic("t", "holes")
    stage.clients.subscribe(topic, "cumulative", kind="Exclusive")
    stage.publish(topic, 300, 100)
    stage.publish(topic, 100, 500, batch=10)
    consumer = stage.meanwhile(stage.consume, topic, "holes", idle_s=4, acknowledges=lambda number: number % 3 > 0)
    time.sleep(2)
    with stage.held_back("not_acknowledged", "every third message stays", (topic, "holes")):
        consumer.result()
    stage.consume(
        topic, "cumulative", kind="Exclusive", count=390, cumulative=True, acknowledges=lambda number: number % 40 == 39, idle_s=2
    )
    stage.consume(topic, "holes", idle_s=2)


@scenario("A subscription is moved by a skip, by a seek back to the start, and by a clear; others read on.", timeline=True)
def seeks(stage: Stage) -> None:
    topic = stage.topic("t", "moved", "still")
    stage.meanwhile(stage.publish, topic, 400, 40)
    begun_ms = time.time_ns() // 1_000_000
    time.sleep(2)
    stage.admin.subscription("POST", topic, "moved", "skip/30")
    stage.consume(topic, "moved", for_s=2)
    with stage.held_back("no_consumer", "all of it waits again after a seek to the first message", (topic, "moved")):
        stage.admin.subscription("POST", topic, "moved", f"resetcursor/{begun_ms - 1000}")
        time.sleep(2)
    stage.consume(topic, "moved", for_s=2, acknowledges=lambda number: number % 2 == 0)
    stage.join()
    stage.admin.subscription("POST", topic, "moved", "skip_all")
    stage.consume(topic, "still", idle_s=2)
