"""Topics and brokers that go and come back, and many topics at once."""

from scenarios.table import scenario
from tools.live_broker.admin import rate
from tools.live_broker.stage import Stage

EVICT = "consumer_backlog_eviction"
#: A size eviction after a precise age check may block the thread that it needs, for 30 s (a fault of Pulsar's): unloads come amid it.
NOT_PRECISE = {"preciseTimeBasedBacklogQuotaCheck": "false"}


@scenario(
    "Limits of topic and subscription and a size quota; the topic is unloaded twice: counters, limiters and evictions begin again.",
    timeline=True,
    **NOT_PRECISE,
)
def unload(stage: Stage) -> None:
    topic = stage.topic("t", "s", "idle")
    stage.admin.topic_policy(topic, "dispatchRate", rate(60))
    stage.admin.topic_policy(topic, "subscriptionDispatchRate", rate(30))
    stage.admin.size_quota(topic, 40_000, EVICT)
    stage.meanwhile(stage.publish, topic, 540, 30, size=200)
    stage.publish(topic, 200, 400, size=200)
    with stage.held_back("subscription_msg_limit", "30/s may go", (topic, "s")), stage.held_back("no_consumer", "nobody", (topic, "idle")):
        stage.meanwhile(stage.consume, topic, "s", for_s=17)
        for _ in range(2):
            stage.consume(topic, "s", for_s=5)
            stage.admin.unload(topic)
        stage.join()


@scenario(
    "The broker is stopped and started again in mid-run: two epochs in one log, with a limit, a quota, and a subscription with holes.",
    timeline=True,
    **NOT_PRECISE,
)
def restart(stage: Stage) -> None:
    topic = stage.topic("t", "limited", "holes", "idle")
    stage.admin.topic_policy(topic, "limited/dispatchRate", rate(20))
    stage.admin.size_quota(topic, 40_000, EVICT)
    stage.publish(topic, 300, 200, size=200)
    stage.consume(topic, "holes", idle_s=2, acknowledges=lambda number: number % 3 > 0)
    with stage.held_back("subscription_msg_limit", "20/s may go", (topic, "limited")):
        stage.consume(topic, "limited", for_s=5)
    stage.broker.stop()
    with stage.held_back("not_loaded", "the broker is down", (topic, "limited"), (topic, "holes"), (topic, "idle")):
        stage.broker.start()
    stage.publish(topic, 100, 50, size=200)
    with stage.held_back("subscription_msg_limit", "20/s may go", (topic, "limited")):
        stage.meanwhile(stage.consume, topic, "limited", for_s=6)
        stage.consume(topic, "holes", idle_s=2, acknowledges=lambda number: number % 2 > 0)
        stage.join()


@scenario(
    "100 topics under a limit and a size quota of their namespace, each with two subscriptions; a tenth of them is busy.",
    backlogQuotaCheckIntervalInSeconds="10",
    **NOT_PRECISE,
)
def many_topics(stage: Stage) -> None:
    stage.admin.namespace_policy(stage.namespace, "dispatchRate", rate(20))
    quota = {"limitSize": 20_000, "limitTime": -1, "policy": EVICT}
    stage.admin.namespace_policy(stage.namespace, "backlogQuota?backlogQuotaType=destination_storage", quota)
    topics = [stage.topic(f"t{number:03}") for number in range(100)]
    with stage.clients.connected() as client:
        for topic in topics:
            for sub in ("a", "b"):
                client.subscribe(topic, sub).close()
    busy = topics[::10]
    for topic in busy:
        stage.publish(topic, 150, 3000, size=200)
    # Until its consumer comes, a topic that was filled waits for that, and for no limit.
    with stage.held_back("topic_msg_limit", "20/s for each topic", *((topic, "a") for topic in busy)):
        for topic in busy:
            stage.meanwhile(stage.consume, topic, "a", for_s=8)
        stage.join()


@scenario("A topic of three partitions with limits on each, and readers (subscriptions that are not durable).", timeline=True)
def partitions_and_readers(stage: Stage) -> None:
    import pulsar

    topic, parts = f"persistent://{stage.namespace}/parts", stage.partitions("parts", 3)
    stage.admin.namespace_policy(stage.namespace, "subscriptionDispatchRate", rate(20))
    stage.clients.subscribe(topic, "s")
    stage.publish(topic, 300, 200)
    with stage.clients.connected() as client:
        reader = client.create_reader(parts[0], pulsar.MessageId.earliest)
        with stage.held_back("subscription_msg_limit", "20/s for each partition", *((part, "s") for part in parts)):
            stage.meanwhile(stage.consume, topic, "s", for_s=6)
            for _ in range(40):
                reader.read_next(timeout_millis=10_000)
            stage.join()
        reader.close()
