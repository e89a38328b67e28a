"""A busy shop in trouble, as the demo with --live shows it: each trouble begins and ends while somebody watches."""

import time
from collections.abc import Callable

from tools.live_broker.admin import rate
from tools.live_broker.scenario import Scenario
from tools.live_broker.stage import Stage

#: What goes on until the load is over, in shares of its time.
_EVICTION = "consumer_backlog_eviction"
_WHAT = (
    "A shop: `payments#ledger` held back by its own limit of 40 messages/s, which is raised in the end; `orders` under a topic limit of"
    " 15 KB/s that two subscriptions share; `audit` over its size quota, `clicks` over its age quota, with eviction; `refunds#desk` slow;"
    " a client of `images#thumbnails` hangs in the middle; a broker limit of 100 messages/s for a fifth of the time."
)


def incident(seconds: float) -> Scenario:
    """The scenario, its load as long as given."""
    marks = {"pulsarChannelWriteBufferHighWaterMark": "65536", "pulsarChannelWriteBufferLowWaterMark": "32768"}
    return Scenario("incident", _WHAT, _load(seconds), {**marks, "managedLedgerMaxEntriesPerLedger": "200"})


def _load(seconds: float) -> Callable[[Stage], None]:
    def load(stage: Stage) -> None:
        payments, orders = stage.topic("payments", "ledger", "fraud"), stage.topic("orders", "billing", "shipping")
        audit, clicks = stage.topic("audit", "archive"), stage.topic("clicks", "sessions")
        refunds, images, uploads = stage.topic("refunds", "desk"), stage.topic("images", "thumbnails"), stage.topic("uploads")
        stage.admin.topic_policy(payments, "ledger/dispatchRate", rate(40))
        stage.admin.topic_policy(orders, "dispatchRate", rate(byte=15_000))
        stage.admin.size_quota(audit, 60_000, _EVICTION)
        stage.admin.age_quota(clicks, 10, _EVICTION)
        for topic, per_s, size in ((payments, 60, 100), (orders, 30, 500), (audit, 8, 1000), (clicks, 8, 100), (refunds, 20, 100)):
            stage.meanwhile(stage.publish, topic, int(per_s * seconds), per_s, size=size)
        stage.meanwhile(stage.publish, images, int(12 * seconds), 12, size=100_000)
        for topic, sub, pause_ms in (
            (payments, "ledger", 0), (payments, "fraud", 0), (orders, "billing", 0), (orders, "shipping", 0), (refunds, "desk", 80),
        ):  # fmt: skip
            stage.meanwhile(stage.consume, topic, sub, for_s=seconds, pause_ms=pause_ms)
        client = stage.hanging((images, "thumbnails"), produces=uploads)
        with (
            stage.held_back("no_consumer", "nobody consumes", (audit, "archive"), (clicks, "sessions")),
            stage.held_back("slow_consumer", "12/s of 20/s", (refunds, "desk")),
        ):
            # Only until the broker's limit is there: what is behind has more weight by then, and waits for that one, too.
            with (
                stage.held_back("subscription_msg_limit", "40/s of 60/s", (payments, "ledger")),
                stage.held_back(
                    "topic_byte_limit", "two subscriptions share as much as arrives", (orders, "billing"), (orders, "shipping")
                ),
            ):
                time.sleep(0.2 * seconds)
                with client.hangs(), stage.held_back("stopped_consumer", "the client hangs", (images, "thumbnails")):
                    time.sleep(0.2 * seconds)
            stage.admin.broker_setting("dispatchThrottlingRateInMsg", 100)
            with stage.held_back("broker_msg_limit", "all share 100/s", (payments, "fraud")):
                time.sleep(0.2 * seconds)
            stage.admin.broker_setting("dispatchThrottlingRateInMsg", 0)
        stage.admin.topic_policy(payments, "ledger/dispatchRate", rate(400))
        stage.join()
        client.end()

    return load
