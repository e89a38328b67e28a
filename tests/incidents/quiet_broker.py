"""An eviction, and then nobody does anything any more.

`nightly` has no consumer: 300 entries of 50,000 bytes from 1 to 31 s. Size quota 10,000,000 bytes, consumer_backlog_eviction. `west` is the
cursor of a replicator that is far behind. At the check at 60 s the replicator alone is over the quota: `nightly` was unsubscribed at 50 s.
From then on there are only heartbeats and checks, for four minutes.
"""

from incidents.incident import Check, Incident, Stretch
from incidents.scene import START_US, Scene

UNTIL, LIMIT, EVICTS = 305, 10_000_000, "consumer_backlog_eviction"
TOPIC, REPLICATOR, NIGHTLY = "persistent://acme/geo/nightly", "pulsar.repl.west", "nightly"


def scenes() -> list[Scene]:
    """One broker."""
    scene = Scene("quiet_broker")
    topic = scene.topic(TOPIC, size=LIMIT, size_policy=EVICTS)
    replicator, nightly = topic.sub(REPLICATOR, None, kind="replicator"), topic.sub(NIGHTLY, None)
    scene.conn(0.4, 1)
    topic.producer(0.7, 1)
    for number in range(300):
        topic.publish(1 + number / 10, 50_000)
    scene.add(40, "producer_close", topic=TOPIC, producer=1, conn=1)
    nightly.add(50, "cursor_close")

    def evict(at: float) -> None:
        """The target is 9,000,000 of 15,000,000 bytes: int(6,000,000 × 300 ÷ 15,000,000) = 120 entries."""
        topic.exceeded(at, LIMIT, EVICTS)
        replicator.mark(at + 0.0002, 119)

    scene.rounds([TOPIC], UNTIL, {(60, TOPIC): evict})
    return [scene]


INCIDENT = Incident(
    "quiet_broker",
    "found with replicator_evicted: a broker on which nothing moves",
    UNTIL,
    scenes,
    [Stretch(TOPIC, NIGHTLY, 2, 50, ("no_consumer",), True), Stretch(TOPIC, REPLICATOR, 20, UNTIL, ("*",), True)],
    [
        Check(
            "120 entries were lost",
            sql=f"SELECT subscription, entries_evicted, agrees FROM evictions WHERE topic = '{TOPIC}'",
            rows=[[REPLICATOR, 120, True]],
        ),
        Check(
            "the newest window is the last minute, not the first",
            sql=f"SELECT unix_micros(as_of) >= {START_US + 300 * 10**6} FROM newest_windows WHERE broker LIKE 'quiet-broker%'",
            rows=[[True]],
        ),
        Check(
            "explain shows the quota, which was checked five times",
            (TOPIC, REPLICATOR),
            never=["no quota and no rate can be shown", "had no backlog"],
        ),
    ],
)
