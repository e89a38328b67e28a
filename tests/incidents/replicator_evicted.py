"""The backlog of a replicator grows while nobody else is behind; then the quota evicts.

`pulsar.repl.east` does not move. 900 entries of 20,000 bytes come; the size quota has 10,000,000 bytes, with consumer_backlog_eviction. At
the check at 60 s 18,000,000 bytes wait, the target is 9,000,000: the replicator is skipped over 450 entries, which the other cluster never
gets.
"""

from incidents.incident import Check, Incident, Stretch
from incidents.scene import Scene

UNTIL, LIMIT, EVICTS = 185, 10_000_000, "consumer_backlog_eviction"
TOPIC, REPLICATOR, BILLING = "persistent://acme/geo/orders", "pulsar.repl.east", "billing"


def scenes() -> list[Scene]:
    """One broker."""
    scene = Scene("replicator_evicted")
    topic = scene.topic(TOPIC, size=LIMIT, size_policy=EVICTS)
    replicator, billing = topic.sub(REPLICATOR, None, kind="replicator"), topic.sub(BILLING)
    scene.conn(0.4, 1, 2)
    billing.consumer().read(0.6)
    topic.producer(0.7, 2)
    for number in range(900):
        at = 1 + number / 18
        billing.healthy(at, topic.publish(at, 20_000), 20_000)
    for number in range(24):  # a little goes on
        at = 62 + 5 * number
        billing.healthy(at, topic.publish(at), 1_000)

    def evict(at: float) -> None:
        topic.exceeded(at, LIMIT, EVICTS)
        replicator.mark(at + 0.0002, 449)

    scene.rounds([TOPIC], UNTIL, {(60, TOPIC): evict})
    return [scene]


INCIDENT = Incident(
    "replicator_evicted",
    "apache/pulsar#6438, #199",
    UNTIL,
    scenes,
    [Stretch(TOPIC, BILLING, 0, UNTIL, ("in_flight", "catching_up"), False), Stretch(TOPIC, REPLICATOR, 20, UNTIL, ("*",), True)],
    [
        Check(
            "450 entries of the replicator are lost",
            sql=f"SELECT subscription, action, entries_planned, entries_evicted, agrees FROM evictions WHERE topic = '{TOPIC}'",
            rows=[[REPLICATOR, "evict", 450, 450, True]],
        ),
        Check(
            "sizes before and after",
            sql=f"SELECT backlog_size FROM topic_backlog WHERE topic = '{TOPIC}' ORDER BY check_number",
            rows=[[18_000_000], [9_124_500], [9_246_300]],
        ),
        Check("billing is well", (TOPIC, BILLING), exit=0, document={"status": "current"}),
        Check(
            "explain of the replicator answers that it is behind",
            (TOPIC, REPLICATOR),
            exit=1,
        ),
        Check(
            "why does not call a replicator with 474 entries current",
            why=(TOPIC, REPLICATOR),
            unlike={"status": "current"},
        ),
    ],
)
