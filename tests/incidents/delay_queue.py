"""A topic is used as a delay queue; its backlog alarms, and nobody knows whether something is wrong.

`well`: every message is to be delivered 120 s after it was sent; 2 a second. 240 entries are always held; those that are due are delivered
and acknowledged within 50 ms. `ill`: the same, but from 180 s on its only consumer acknowledges nothing that was due.
"""

from incidents.incident import Check, Incident, Stretch
from incidents.scene import Scene, Sub

UNTIL, SIZE, DELAY_S, ILL_FROM = 425, 500, 120, 180
WELL, ILL, SUB = "persistent://acme/mail/well", "persistent://acme/mail/ill", "sender"


def scenes() -> list[Scene]:
    """One broker with both topics."""
    scene = Scene("delay_queue")
    for number, name in enumerate((WELL, ILL)):
        conn = 10 * number
        topic = scene.topic(name, ledger=90 + number)
        sub = topic.sub(SUB)
        scene.conn(0.4, conn, conn + 1)
        sub.consumer(0.5, 0, conn).read(0.6)
        topic.producer(0.7, conn + 1)
        permits = 1000
        for step in range(2 * (UNTIL - 2)):
            at = 1 + step / 2
            topic.publish(at, SIZE)
            sub.done(at + 0.0005, 1, SIZE).read(at + 0.0008, permits)  # it is read at once, and held
            if step % 2:
                sub.add(at + 0.2, "delayed", entries=min(step + 1, 2 * DELAY_S))
            due = step - 2 * DELAY_S
            if due >= 0 and permits > 0:
                permits = _give(sub, at, due, permits, conn, is_acked=name == WELL or at < ILL_FROM)
    scene.rounds([WELL, ILL], UNTIL)
    return [scene]


def _give(sub: Sub, at: float, entry: int, permits: int, conn: int, *, is_acked: bool) -> int:
    """The entry that is due goes out; the permits that are left."""
    sub.read(at + 0.3, permits).done(at + 0.301, 1, SIZE, replay=True).deliver(at + 0.302, 1, SIZE)
    left = permits - 1
    if is_acked:
        sub.ack(at + 0.35, entry).mark(at + 0.351, entry)
        if left < 500:
            sub.flow(at + 0.36, 500, 0, conn)
            left += 500
    return left


INCIDENT = Incident(
    "delay_queue",
    "apache/pulsar#18139, #10497",
    UNTIL,
    scenes,
    [
        Stretch(WELL, SUB, 2, UNTIL, ("delayed",), False),
        Stretch(ILL, SUB, 2, ILL_FROM, ("delayed",), False),
        # As many are unacknowledged as are held when 240 were not acknowledged: until then either is the larger part.
        Stretch(ILL, SUB, ILL_FROM, ILL_FROM + 10, ("delayed", "in_flight")),
        Stretch(ILL, SUB, ILL_FROM + 10, ILL_FROM + 150, ("delayed", "in_flight"), True),
        Stretch(ILL, SUB, ILL_FROM + 150, UNTIL, ("in_flight",), True),
    ],
    [
        Check("held for later", (WELL, SUB), window=120, document={"cause": "delayed", "backlog": 240, "waiting": 0}),
        Check(
            "a delay queue that is well is not behind",
            (WELL, SUB),
            window=120,
            exit=0,
            document={"behind": False},
        ),
        Check("the ill one: delivered and not acknowledged", (ILL, SUB), at=420, window=60, exit=1, document={"cause": "in_flight"}),
        Check("the same at the end of the log", (ILL, SUB), exit=1),
    ],
)
