"""The active consumer of a Failover subscription hangs. A second one is connected, and gets nothing: the first one is not gone.

Five entries a second come. Consumer 0 is active, and hangs from 60 s on: it acknowledges nothing, and asks for nothing. 20 s later its 100
permits are used up.
"""

from incidents.incident import Check, Incident, Stretch
from incidents.scene import Scene

UNTIL, SIZE, HANGS_FROM, QUEUE = 305, 1_000, 60, 100
TOPIC, SUB = "persistent://acme/stock/moves", "ledger"


def scenes() -> list[Scene]:
    """One broker."""
    scene = Scene("hanging_failover")
    topic = scene.topic(TOPIC, ledger=140)
    sub = topic.sub(SUB, "Failover")
    scene.conn(0.4, 1, 2, 3)
    sub.consumer(0.5, 0, 1, permits=QUEUE).consumer(0.55, 1, 2, permits=1000).read(0.6, QUEUE)
    topic.producer(0.7, 3)
    permits = QUEUE
    for number in range(5 * (UNTIL - 2)):
        at = 1 + number / 5
        entry = topic.publish(at, SIZE)
        if permits == 0:
            continue
        permits -= 1
        sub.done(at + 0.0005, 1, SIZE).deliver(at + 0.0006, 1, SIZE)
        if permits:
            sub.read(at + 0.0008, permits)
        if at < HANGS_FROM:
            sub.ack(at + 0.01, entry).mark(at + 0.011, entry)
            if permits == QUEUE // 2:
                sub.flow(at + 0.02, QUEUE // 2, 0, 1)
                permits += QUEUE // 2
    scene.rounds([TOPIC], UNTIL)
    return [scene]


INCIDENT = Incident(
    "hanging_failover",
    "a kind that users ask about often: Failover and Exclusive consumers that hang",
    UNTIL,
    scenes,
    [
        Stretch(TOPIC, SUB, 0, HANGS_FROM, ("in_flight", "catching_up"), False),
        Stretch(TOPIC, SUB, HANGS_FROM, 82, ("in_flight", "no_permits")),
        Stretch(TOPIC, SUB, 82, UNTIL, ("no_permits",), True),
    ],
    [
        Check(
            "its consumers are too slow",
            (TOPIC, SUB),
            window=120,
            exit=1,
            document={"cause": "no_permits", "sub_type": "Failover"},
        ),
        Check("more consumers are not the answer", (TOPIC, SUB), window=120, never=["add some", "add consumers"]),
    ],
)
