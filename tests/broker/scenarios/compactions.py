"""Compactions that fail: their cursor stays, and with it the storage that it holds."""

import time

from scenarios.table import scenario
from tools.live_broker.admin import rate
from tools.live_broker.stage import Stage

#: Names that the test of this scenario asks for.
CURSOR, CACHE = "__compaction", "cache"
#: Messages before the compaction that succeeds, and those that no compaction gets.
COMPACTED, LEFT = 100, 300
KEYS, FAILURES = 20, 2
#: Less than what is left, more than what was compacted.
QUOTA_BYTES = 40_000


@scenario(
    "The compaction of a topic succeeds once. Then a topic limit of 5 messages in 60 s lets its reader wait longer for a message than a"
    " compaction waits (2 s): two compactions fail. The limit goes, a subscription catches up, and the cursor of compaction alone holds"
    " 300 messages: more than the size quota, which shuts producers out.",
    brokerServiceCompactionPhaseOneLoopTimeInSeconds="2",
    timeline=True,
)
def failing_compaction(stage: Stage) -> None:
    topic = stage.topic("t", CACHE)
    stage.publish(topic, COMPACTED, 200, keys=KEYS)
    stage.consume(topic, CACHE, count=COMPACTED)
    stage.compact(topic, "SUCCESS")
    # Five messages may go at once, then one in 12 s.
    stage.admin.topic_policy(topic, "dispatchRate", rate(5, period_s=60))
    stage.publish(topic, LEFT, 600, keys=KEYS, size=200)
    # Not before: the producer would be shut out amid its messages.
    stage.admin.size_quota(topic, QUOTA_BYTES, "producer_request_hold")
    with stage.held_back("topic_msg_limit", "5 messages in 60 s for all that read the topic", (topic, CACHE)):
        reader = stage.meanwhile(stage.consume, topic, CACHE, for_s=8)
        for _ in range(FAILURES):
            with stage.held_back("topic_msg_limit", "its reader shares that limit, and nothing is left", (topic, CURSOR)):
                stage.compact(topic, "ERROR")
        reader.result()
    stage.admin.remove_topic_policy(topic, "dispatchRate")
    with stage.held_back("nothing", "the limit has gone", (topic, CACHE)):
        stage.consume(topic, CACHE, idle_s=2)
        time.sleep(1)
