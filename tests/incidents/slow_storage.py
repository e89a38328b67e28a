"""Storage is slow: from 60 s on each read of 100 entries takes eight seconds. 20 entries a second come, so the backlog grows.

Until then every entry is read from the cache in half a millisecond.
"""

from incidents.incident import Check, Incident, Stretch
from incidents.scene import Scene

UNTIL, SIZE, SLOW_FROM, TAKES_S = 305, 1_000, 60, 8
TOPIC, SUB = "persistent://acme/logs/audit", "search"


def scenes() -> list[Scene]:
    """One broker."""
    scene = Scene("slow_storage")
    topic = scene.topic(TOPIC, ledger=180)
    sub = topic.sub(SUB)
    scene.conn(0.4, 1, 2)
    sub.consumer(permits=10**6).read(0.6, 10**6)
    topic.producer(0.7, 2)
    healthy = 0
    for number in range(20 * (UNTIL - 2)):
        at = 1 + number / 20
        entry = topic.publish(at, SIZE)
        if at < SLOW_FROM:
            sub.healthy(at, entry, SIZE, permits=10**6 - number)
            healthy = number + 1
    first, at = healthy, SLOW_FROM + 1.0
    sub.done(at - 0.01, 1, SIZE).deliver(at - 0.009, 1, SIZE).read(at, 10**6 - first, want=100)
    while at + TAKES_S < UNTIL - 1:
        at += TAKES_S
        sub.add(at, "read_done", entries=100, bytes=100 * SIZE, duration_us=TAKES_S * 1_000_000).deliver(at + 0.001, 100, 100 * SIZE)
        first += 100
        sub.read(at + 0.002, 10**6 - first, want=100)
        for entry in range(first - 100, first + 1):
            sub.ack(at + 0.05, entry)
        sub.mark(at + 0.06, first)
    scene.rounds([TOPIC], UNTIL)
    return [scene]


INCIDENT = Incident(
    "slow_storage",
    "the opposite of lost_read: reads that come back, late",
    UNTIL,
    scenes,
    [
        Stretch(TOPIC, SUB, 0, SLOW_FROM, ("in_flight", "catching_up"), False),
        Stretch(TOPIC, SUB, SLOW_FROM, SLOW_FROM + TAKES_S, ("reading", "catching_up")),
        Stretch(TOPIC, SUB, SLOW_FROM + TAKES_S, UNTIL, ("reading",), True),
    ],
    [
        Check("slow storage", (TOPIC, SUB), window=120, exit=1, document={"cause": "reading", "status": "slow storage"}),
        Check("it names bookies", (TOPIC, SUB), window=120, says=["bookies"]),
    ],
)
