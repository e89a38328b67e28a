"""Compaction fails again and again, silently; its cursor holds the storage, and the quota.

`__compaction` is a durable cursor without consumers. It stands before the first entry. The other subscription is caught up. 600 entries of
20,000 bytes; size quota 10,000,000 bytes, producer_request_hold: exceeded at the check at 60 s; producers are cut off.
"""

from incidents.incident import Check, Incident, Stretch
from incidents.scene import Scene

UNTIL, SIZE, LIMIT, HOLDS = 245, 20_000, 10_000_000, "producer_request_hold"
TOPIC, COMPACTION, CACHE = "persistent://acme/state/prices", "__compaction", "cache"


def scenes() -> list[Scene]:
    """One broker."""
    scene = Scene("compaction_cursor")
    topic = scene.topic(TOPIC, ledger=120, size=LIMIT, size_policy=HOLDS)
    topic.sub(COMPACTION, None, kind="compaction")
    cache = topic.sub(CACHE)
    scene.conn(0.4, 1, 2)
    cache.consumer().read(0.6)
    topic.producer(0.7, 2)
    for number in range(600):
        at = 1 + number * 0.09
        cache.healthy(at, topic.publish(at, SIZE), SIZE, permits=1000 - number)
    for begin in (30, 100, 160):
        scene.add(begin, "compaction", topic=TOPIC, phase="start")
        scene.add(begin + 30, "compaction", topic=TOPIC, phase="end", duration_us=30_000_000, error="TimeoutException")

    def cut_off(at: float) -> None:
        topic.exceeded(at, LIMIT, HOLDS)
        if at < 70:
            scene.add(at + 0.0004, "producer_close", topic=TOPIC, producer=1, conn=2)

    scene.rounds([TOPIC], UNTIL, {(second, TOPIC): cut_off for second in (60, 120, 180, 240)})
    return [scene]


CUT = "disconnect_producers"
INCIDENT = Incident(
    "compaction_cursor",
    "apache/pulsar#6173, #6432",
    UNTIL,
    scenes,
    [Stretch(TOPIC, CACHE, 0, UNTIL, ("in_flight", "catching_up"), False), Stretch(TOPIC, COMPACTION, 60, UNTIL, ("*",), True)],
    [
        Check(
            "its cursor has the size; producers are cut off",
            sql="SELECT e.action, e.agrees, t.backlog_size, e.producers_closed FROM quota_evictions e"
            f" JOIN topic_backlog t USING (topic, check_number) WHERE topic = '{TOPIC}' ORDER BY check_number",
            rows=[[CUT, True, 12_000_000, closed] for closed in (1, 0, 0, 0)],
        ),
        Check("the other one is well", (TOPIC, CACHE), exit=0, document={"status": "current"}),
        Check(
            "it does not advise to delete the cursor of compaction: that deletes the compacted data",
            (TOPIC, COMPACTION),
            never=["unsubscribe"],
        ),
        Check("it names compaction", (TOPIC, COMPACTION), says=["compaction"]),
    ],
)
