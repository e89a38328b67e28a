"""Limits that are set at several places at once."""

import time

from scenarios.table import scenario
from tools.live_broker.admin import rate
from tools.live_broker.stage import Stage

EVICT = "consumer_backlog_eviction"
#: For the broker to apply it, and for a consumer to feel it.
STEP_S = 1.5


@scenario(
    "Rates of topics and subscriptions, and a size quota, are set in the broker's file, then at the namespace, the topic and (a rate) one"
    " subscription, each the stronger place. The topic is unloaded. All are taken away, the strongest first; the broker's rate for"
    " subscriptions changes while it runs, and is taken away. Two consumers feel the limits of their subscriptions.",
    dispatchThrottlingRatePerTopicInMsg="900",
    dispatchThrottlingRatePerSubscriptionInMsg="80",
)
def policy_levels(stage: Stage) -> None:
    topic = stage.topic("t", "s", "other")
    stage.publish(topic, 2500, 5000)
    with stage.held_back("subscription_msg_limit", "25/s to 80/s may go", (topic, "s"), (topic, "other")):
        for sub in ("s", "other"):
            stage.meanwhile(stage.consume, topic, sub, for_s=12 * STEP_S)
        _set_and_take_away(stage, topic)
        stage.admin.broker_setting("dispatchThrottlingRatePerSubscriptionInMsg", 25)
        time.sleep(STEP_S)
    stage.admin.broker_setting("dispatchThrottlingRatePerSubscriptionInMsg", 0)
    stage.join()
    for sub in ("s", "other"):
        stage.consume(topic, sub, idle_s=1)


def _set_and_take_away(stage: Stage, topic: str) -> None:
    admin, namespace = stage.admin, stage.namespace
    time.sleep(STEP_S)
    admin.namespace_policy(namespace, "dispatchRate", rate(700))
    admin.namespace_policy(namespace, "subscriptionDispatchRate", rate(60))
    admin.namespace_policy(namespace, _SIZE_QUOTA, {"limitSize": 70_000_000, "limitTime": -1, "policy": EVICT})
    time.sleep(STEP_S)
    admin.topic_policy(topic, "dispatchRate", rate(500))
    admin.topic_policy(topic, "subscriptionDispatchRate", rate(40))
    admin.size_quota(topic, 50_000_000, EVICT)
    time.sleep(STEP_S)
    admin.topic_policy(topic, "s/dispatchRate", rate(30))
    time.sleep(STEP_S)
    admin.unload(topic)
    time.sleep(STEP_S)
    admin.remove_topic_policy(topic, "s/dispatchRate")
    time.sleep(STEP_S)
    for policy in ("dispatchRate", "subscriptionDispatchRate", _SIZE_QUOTA):
        admin.remove_topic_policy(topic, policy)
    time.sleep(STEP_S)
    for policy in ("dispatchRate", "subscriptionDispatchRate", _SIZE_QUOTA):
        admin.remove_namespace_policy(namespace, policy)
    time.sleep(STEP_S)


_SIZE_QUOTA = "backlogQuota?backlogQuotaType=destination_storage"
