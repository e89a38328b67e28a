"""A Key_Shared subscription stops although one of its consumers has permits.

Consumer 0 owns the hot key, has used up its 100 permits, and acknowledges nothing. Consumer 1 has 1,000 permits, and no key that comes.
The dispatcher (4.0, PIP-379) reads the entries that come, finds only those of the hot key, and puts them aside for later.
`busy`: two entries a second go on coming: reads and read_done follow each other for minutes, and nothing is delivered.
`idle`: nothing comes any more: the read waits at the end of the topic.
"""

from incidents.incident import Check, Incident, Stretch
from incidents.scene import Scene

UNTIL, SIZE = 305, 1_000
BUSY, IDLE, SUB = "persistent://acme/keys/busy", "persistent://acme/keys/idle", "workers"


def scenes() -> list[Scene]:
    """One broker with both topics."""
    scene = Scene("key_shared_blocked")
    for number, name in enumerate((BUSY, IDLE)):
        conn = 10 * number
        topic = scene.topic(name, ledger=80 + number)
        sub = topic.sub(SUB, "Key_Shared")
        scene.conn(0.4, conn, conn + 1, conn + 2)
        sub.consumer(0.5, 0, conn, permits=100).consumer(0.5, 1, conn + 1).read(0.6, 1100)
        topic.producer(0.7, conn + 2)
        for entry in range(600):
            at = 1 + entry * 0.01
            topic.publish(at, SIZE)
            sub.done(at + 0.0005, 1, SIZE)
            if entry < 100:
                sub.deliver(at + 0.0006, 1, SIZE)  # to consumer 0
            sub.read(at + 0.0008, 1100 - min(entry + 1, 100))
        for entry in range(2 * (UNTIL - 12) if name == BUSY else 0):
            at = 10 + entry * 0.5
            topic.publish(at, SIZE)
            sub.done(at + 0.0005, 1, SIZE).read(at + 0.0008, 1000)
    scene.rounds([BUSY, IDLE], UNTIL)
    return [scene]


#: Its consumer is slow: both words name who is to blame.
BLOCKED = ("keys_blocked", "no_permits")
INCIDENT = Incident(
    "key_shared_blocked",
    "apache/pulsar#23999, #8115, #21199",
    UNTIL,
    scenes,
    [Stretch(topic, SUB, 4, UNTIL, BLOCKED, True) for topic in (BUSY, IDLE)],
    [
        Check(
            "nothing is delivered for five minutes: that is not catching up, nor slow storage",
            (BUSY, SUB),
            window=180,
            exit=1,
            never=["reads and deliveries follow each other", "slow storage"],
        ),
        Check("it is said that keys may be blocked by one consumer", (IDLE, SUB), window=180, says=["key"]),
        Check(
            "it does not ask for a collector that is there already",
            (IDLE, SUB),
            window=180,
            never=["a collector of version 1.1 writes them"],
        ),
    ],
)
