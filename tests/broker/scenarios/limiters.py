"""Dispatch rates at each level, in messages and in bytes, of both kinds of limiter."""

import time

from scenarios.table import scenario
from tools.live_broker.admin import rate
from tools.live_broker.stage import Stage

CLASSIC = "org.apache.pulsar.broker.service.persistent.DispatchRateLimiterFactoryClassic"


@scenario(
    "A limit of 20 messages/s on every subscription of one topic (Shared and Exclusive); 300 messages wait. Another topic has no limit."
)
def subscription_messages(stage: Stage) -> None:
    limited = stage.topic("limited", "shared")
    stage.clients.subscribe(limited, "exclusive", kind="Exclusive")
    free = stage.topic("free", "s")
    stage.admin.topic_policy(limited, "subscriptionDispatchRate", rate(20))
    stage.publish(free, 300, 600)
    stage.publish(limited, 300, 600)
    with stage.held_back("nothing", "no limit, a fast consumer", (free, "s")):
        stage.consume(free, "s", count=300)
    with stage.held_back("subscription_msg_limit", "300 wait, 20/s may go", (limited, "shared"), (limited, "exclusive")):
        stage.meanwhile(stage.consume, limited, "shared", count=240)
        stage.meanwhile(stage.consume, limited, "exclusive", kind="Exclusive", count=240)
        stage.join()


@scenario("A limit of 20 KB/s on every subscription of a topic; 300 messages of 1 KB wait for Failover and Key_Shared consumers.")
def subscription_bytes(stage: Stage) -> None:
    topic = stage.topic("t")
    stage.clients.subscribe(topic, "failover", kind="Failover")
    stage.clients.subscribe(topic, "keys", kind="Key_Shared")
    stage.admin.topic_policy(topic, "subscriptionDispatchRate", rate(byte=20_000))
    stage.publish(topic, 300, 600, size=1000)
    with stage.held_back("subscription_byte_limit", "300 KB wait, 20 KB/s may go", (topic, "failover"), (topic, "keys")):
        stage.meanwhile(stage.consume, topic, "failover", kind="Failover", count=220)
        stage.meanwhile(stage.consume, topic, "keys", kind="Key_Shared", count=220)
        stage.join()


@scenario("A topic limit of 40 messages/s that two subscriptions share; messages go on arriving at 10/s.")
def topic_messages(stage: Stage) -> None:
    topic = stage.topic("t", "one", "two")
    stage.admin.topic_policy(topic, "dispatchRate", rate(40))
    stage.publish(topic, 250, 600)
    with stage.held_back("topic_msg_limit", "both together may take 40/s", (topic, "one"), (topic, "two")):
        stage.meanwhile(stage.publish, topic, 80, 10)
        stage.meanwhile(stage.consume, topic, "one", count=240)
        stage.meanwhile(stage.consume, topic, "two", count=240)
        stage.join()


@scenario("A topic limit of 30 KB in 2 s, with a subscription of its own limit of 25 messages/s; batches of ten.")
def topic_bytes(stage: Stage) -> None:
    topic = stage.topic("t", "shares", "limited")
    stage.admin.topic_policy(topic, "dispatchRate", rate(byte=30_000, period_s=2))
    stage.admin.topic_policy(topic, "limited/dispatchRate", rate(25))
    stage.publish(topic, 300, 600, size=1000, batch=10)
    with stage.held_back("topic_byte_limit", "both together may take 15 KB/s", (topic, "shares")):
        stage.meanwhile(stage.consume, topic, "limited", for_s=16)
        stage.consume(topic, "shares", for_s=16)
        stage.join()


@scenario(
    "A broker limit of 60 messages/s, set while the broker runs; two topics with three subscriptions share it. Taken away at the end."
)
def broker_messages(stage: Stage) -> None:
    one, two = stage.topic("one", "a", "b"), stage.topic("two", "c")
    for topic in (one, two):
        stage.publish(topic, 250, 600)
    stage.admin.broker_setting("dispatchThrottlingRateInMsg", 60)
    with stage.held_back("broker_msg_limit", "all together may take 60/s", (one, "a"), (one, "b"), (two, "c")):
        for topic, sub in ((one, "a"), (one, "b"), (two, "c")):
            stage.meanwhile(stage.consume, topic, sub, for_s=12)
        stage.join()
    stage.admin.broker_setting("dispatchThrottlingRateInMsg", 0)
    for topic, sub in ((one, "a"), (one, "b"), (two, "c")):
        stage.consume(topic, sub, idle_s=1)


@scenario("A broker limit of 40 KB/s, set while the broker runs; a topic of large and one of small messages share it.")
def broker_bytes(stage: Stage) -> None:
    large, small = stage.topic("large", "s"), stage.topic("small", "s")
    stage.admin.broker_setting("dispatchThrottlingRateInByte", 40_000)
    with stage.held_back("broker_byte_limit", "both together may take 40 KB/s", (large, "s"), (small, "s")):
        stage.meanwhile(stage.publish, large, 120, 10, size=8000)
        stage.meanwhile(stage.publish, small, 1200, 100, size=100)
        stage.meanwhile(stage.consume, large, "s", for_s=15)
        stage.meanwhile(stage.consume, small, "s", for_s=15)
        stage.join()


@scenario(
    "Limits of all three levels, messages and bytes, at once on one topic, of which that of the subscriptions is the least; later another"
    " topic takes what the broker's limit leaves."
)
def all_levels(stage: Stage) -> None:
    topic, other = stage.topic("t", "a", "b"), stage.topic("other", "s")
    stage.admin.broker_setting("dispatchThrottlingRateInMsg", 90)
    stage.admin.broker_setting("dispatchThrottlingRateInByte", 60_000)
    stage.admin.topic_policy(topic, "dispatchRate", rate(80, 50_000))
    stage.admin.topic_policy(topic, "subscriptionDispatchRate", rate(35, 30_000))
    for one in (topic, other):
        stage.publish(one, 800, 1600, size=500)
    with stage.held_back("subscription_msg_limit", "35/s each, 80/s both, 90/s all", (topic, "a"), (topic, "b")):
        for sub in ("a", "b"):
            stage.meanwhile(stage.consume, topic, sub, for_s=14)
        time.sleep(7)
    with stage.held_back("broker_msg_limit", "it has no other limit", (other, "s")):
        stage.consume(other, "s", for_s=7)
    stage.join()


@scenario(
    "The classic limiter: a topic of 90 messages/s with subscriptions of 40/s, another topic of 25 KB in 2 s. An unrelated policy changes.",
    dispatchRateLimiterFactoryClassName=CLASSIC,
)
def classic_limiter(stage: Stage) -> None:
    by_message, by_byte = stage.topic("messages", "a", "b"), stage.topic("bytes", "s")
    stage.admin.topic_policy(by_message, "dispatchRate", rate(90))
    stage.admin.topic_policy(by_message, "subscriptionDispatchRate", rate(40))
    stage.admin.topic_policy(by_byte, "dispatchRate", rate(byte=25_000, period_s=2))
    stage.publish(by_message, 700, 1000)
    stage.publish(by_byte, 300, 1000, size=1000)
    with (
        stage.held_back("subscription_msg_limit", "40/s each, 90/s both", (by_message, "a"), (by_message, "b")),
        stage.held_back("topic_byte_limit", "25 KB in 2 s may go", (by_byte, "s")),
    ):
        stage.meanwhile(stage.consume, by_message, "a", for_s=14)
        stage.meanwhile(stage.consume, by_message, "b", for_s=14)
        half = stage.meanwhile(stage.consume, by_byte, "s", for_s=7)
        half.result()
        stage.admin.topic_policy(by_message, "maxConsumers", 50)
        stage.consume(by_byte, "s", for_s=7)
        stage.join()


@scenario(
    "A limit of 50 messages/s and 1 MB/s on the subscription, need 5/s, the consumer is caught up: the counters move, nothing is late."
)
def limit_above_need(stage: Stage) -> None:
    topic = stage.topic("t", "s")
    stage.admin.topic_policy(topic, "subscriptionDispatchRate", rate(50, 1_000_000))
    with stage.held_back("nothing", "the limit is ten times what is needed", (topic, "s")):
        stage.meanwhile(stage.publish, topic, 60, 5)
        stage.consume(topic, "s", count=60)
        stage.join()


@scenario(
    "Batches of 50 messages against 100 messages/s of the subscription, batches of 20 and single messages against 60/s of the topic:"
    " permits are messages, reads are entries; what goes out beyond the limit is paid later."
)
def batches(stage: Stage) -> None:
    large, mixed = stage.topic("large", "s"), stage.topic("mixed", "a", "b")
    stage.admin.topic_policy(large, "subscriptionDispatchRate", rate(100))
    stage.admin.topic_policy(mixed, "dispatchRate", rate(60))
    with (
        stage.held_back("subscription_msg_limit", "batches of 50 against 100/s", (large, "s")),
        stage.held_back("topic_msg_limit", "both together may take 60/s", (mixed, "a"), (mixed, "b")),
    ):
        stage.publish(large, 1500, 3000, batch=50)
        stage.publish(mixed, 400, 2000, batch=20)
        stage.meanwhile(stage.publish, mixed, 80, 10)
        for topic, sub in ((large, "s"), (mixed, "a"), (mixed, "b")):
            stage.meanwhile(stage.consume, topic, sub, for_s=13)
        stage.join()


@scenario(
    "Permits are entries, not messages (dispatchThrottlingOnBatchMessageEnabled): batches of 20 against 10/s of the subscription.",
    dispatchThrottlingOnBatchMessageEnabled="true",
)
def entries_are_permits(stage: Stage) -> None:
    topic = stage.topic("t", "s")
    stage.admin.topic_policy(topic, "subscriptionDispatchRate", rate(10))
    stage.publish(topic, 3000, 6000, batch=20)
    with stage.held_back("subscription_msg_limit", "150 entries wait, 10/s may go", (topic, "s")):
        stage.consume(topic, "s", for_s=12)


@scenario(
    "A relative rate: the topic may send 20 messages/s more than it receives; it receives 30/s, then nothing. The limit changes twice.",
)
def relative_rate_and_changes(stage: Stage) -> None:
    topic = stage.topic("t", "s")
    stage.admin.topic_policy(topic, "dispatchRate", rate(20, relative=True))
    stage.publish(topic, 400, 800)
    with stage.held_back("topic_msg_limit", "20/s beyond what arrives", (topic, "s")):
        stage.meanwhile(stage.publish, topic, 150, 30)
        stage.consume(topic, "s", for_s=6)
        stage.join()
    stage.admin.topic_policy(topic, "dispatchRate", rate(50))
    stage.consume(topic, "s", for_s=3)
    stage.admin.remove_topic_policy(topic, "dispatchRate")
    stage.consume(topic, "s", idle_s=1)
