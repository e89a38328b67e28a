"""Many dispatchers that ask one limiter at the same time."""

from scenarios.table import scenario
from tools.live_broker.stage import Stage

_TOPICS = ("a", "b", "c", "d")
_SUBS = ("one", "two", "three", "four")


@scenario(
    "16 dispatchers of four topics share a broker limit of 600 messages/s and 150 KB/s; messages of 100 bytes go on arriving at 240/s.",
    dispatchThrottlingRateInMsg="600",
    dispatchThrottlingRateInByte="150000",
)
def shared(stage: Stage) -> None:
    topics = [stage.topic(name, *_SUBS) for name in _TOPICS]
    for topic in topics:
        stage.publish(topic, 600, 3000)
    of_all = [(topic, sub) for topic in topics for sub in _SUBS]
    with stage.held_back("broker_msg_limit", "all together may take 600/s", *of_all):
        for topic in topics:
            stage.meanwhile(stage.publish, topic, 600, 60)
        for topic, sub in of_all:
            stage.meanwhile(stage.consume, topic, sub, for_s=12)
        stage.join()
