"""Dispatch rates at each level, in messages and in bytes, of both kinds of limiter."""

from jobs.live_broker.admin import rate
from jobs.live_broker.stage import Stage
from scenarios.table import scenario


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
