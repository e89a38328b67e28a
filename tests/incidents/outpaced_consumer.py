"""A consumer acknowledges twelve entries of the twenty that come in a second. Beside it one takes four seconds for each, and keeps up.

Both have large queues: all is delivered as it comes, and none lacks permits. The second one has 80 entries at any time, many at once.
"""

from collections.abc import Callable

from incidents.incident import Check, Incident, Stretch
from incidents.scene import Scene, Topic

UNTIL, SIZE, PER_S, QUEUE = 245, 1_000, 20, 10**6
OUTPACED, EVEN, SUB = "persistent://acme/refunds/desk", "persistent://acme/refunds/ledger", "clerks"
#: From here on it is older than half a minute.
BEHIND_FROM = 45


def scenes() -> list[Scene]:
    """One broker."""
    scene = Scene("outpaced_consumer")
    scene.conn(0.4, 1, 2)
    _served(scene.topic(OUTPACED, ledger=170), lambda number: 1 + number / 12)
    _served(scene.topic(EVEN, ledger=171), lambda number: 5 + number / PER_S)
    scene.rounds([OUTPACED, EVEN], UNTIL)
    return [scene]


def _served(topic: Topic, acknowledged_at: Callable[[int], float]) -> None:
    """Each entry is delivered at once, and acknowledged at its time, 10 ms later."""
    sub = topic.sub(SUB).consumer(permits=QUEUE).read(0.6, QUEUE)
    topic.producer(0.7, 2)
    for number in range(PER_S * (UNTIL - 2)):
        at = 1 + number / PER_S
        entry = topic.publish(at, SIZE)
        sub.done(at + 0.0005, 1, SIZE).deliver(at + 0.0006, 1, SIZE).read(at + 0.0008, QUEUE - number - 1)
        if acknowledged_at(number) < UNTIL - 1:
            sub.ack(acknowledged_at(number) + 0.01, entry).mark(acknowledged_at(number) + 0.011, entry)


INCIDENT = Incident(
    "outpaced_consumer",
    "the live demo's own: for seconds at a time it was said to keep up, with 500 entries and more",
    UNTIL,
    scenes,
    [
        Stretch(OUTPACED, SUB, 0, BEHIND_FROM, ("in_flight", "catching_up")),
        Stretch(OUTPACED, SUB, BEHIND_FROM, UNTIL, ("in_flight",), True),
        Stretch(EVEN, SUB, 0, UNTIL, ("in_flight", "catching_up"), False),
    ],
    [
        Check(
            "it is behind in its second minute, and no restart helps",
            (OUTPACED, SUB),
            at=110,
            window=60,
            exit=1,
            document={"cause": "in_flight", "status": "unacknowledged"},
            says=["Its consumers acknowledge 11.8 entries/s, and 19.7 come", "Speed its consumers up, or add some"],
            never=["unload", "keeping up"],
        ),
        Check(
            "the answer of now",
            (OUTPACED, SUB),
            window=120,
            exit=1,
            says=["more consumers yes (in_flight)", "current not before acknowledgements come for what is delivered"],
        ),
        Check("four seconds for each are no backlog", (EVEN, SUB), exit=0, document={"status": "keeping up", "more_consumers": None}),
        Check("nor in its first minutes", (EVEN, SUB), at=70, window=60, exit=0, document={"status": "keeping up"}),
    ],
)
