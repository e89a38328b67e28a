"""A consumer is marked as blocked by unacknowledged messages; it acknowledges all of them, and stays blocked.

The cap is 10 messages a consumer. Both consumers get 10 and are blocked at 2 s; they acknowledge everything at 30 s; the broker does not
take the mark away. 80 entries wait, with permits.
"""

from incidents.incident import Check, Incident, Stretch
from incidents.scene import Scene

UNTIL, SIZE = 245, 2_000
TOPIC, SUB = "persistent://acme/maps/tiles", "render"


def scenes() -> list[Scene]:
    """One broker."""
    scene = Scene("stale_unacked_block", maxUnackedMessagesPerConsumer="10")
    topic = scene.topic(TOPIC)
    sub = topic.sub(SUB)
    scene.conn(0.4, 1, 2, 3)
    sub.consumer(0.5, 0, 1).consumer(0.5, 1, 2)
    topic.producer(0.7, 3)
    for number in range(100):
        topic.publish(0.8 + number * 0.002, SIZE)
    sub.read(2, 2000, want=20).done(2.001, 20, 20 * SIZE).deliver(2.002, 20, 20 * SIZE)
    for consumer in (0, 1):
        of_cap = {"cap": "consumer", "on": True, "unacked_msgs": 10, "limit": 10}
        sub.add(2.003, "consumer_blocked", consumer=consumer, conn=consumer + 1, **of_cap)
    for entry in range(20):
        sub.ack(30 + 0.01 * entry, entry, number=entry % 2)
        sub.mark(30.001 + 0.01 * entry, entry, persisted=entry == 19)
    scene.rounds([TOPIC], UNTIL)
    return [scene]


INCIDENT = Incident(
    "stale_unacked_block",
    "apache/pulsar#22657",
    UNTIL,
    scenes,
    [
        Stretch(TOPIC, SUB, 2, 30, ("unacked_limit",), True),
        # The cap that is on holds it, and that is a fault of the broker: both are right.
        Stretch(TOPIC, SUB, 30, UNTIL, ("unacked_limit", "stuck"), True),
    ],
    [
        Check("the cap holds it at first", (TOPIC, SUB), at=60, window=60, document={"causes[0].cause": "unacked_limit"}),
        Check(
            "80 entries wait, nothing is unacknowledged",
            sql=f"SELECT msg_backlog, unacked_entries FROM subscription_backlog WHERE check_number = 4 AND topic = '{TOPIC}'",
            rows=[[80, 0]],
        ),
        Check(
            "later it does not say that consumers hold too many messages: they hold none",
            (TOPIC, SUB),
            window=120,
            never=["hold too many messages"],
        ),
        Check(
            "the command is that of a consumer's cap",
            (TOPIC, SUB),
            window=120,
            never=["per-subscription"],
        ),
    ],
)
