"""A consumer has acknowledged all that it got, and asks for nothing more: its application does not take messages.

Five entries a second come. Its client has asked for 100 messages, gets and acknowledges them in the first 20 s, and asks no more.
"""

from incidents.incident import Check, Incident, Stretch
from incidents.scene import Scene

UNTIL, SIZE, QUEUE = 245, 1_000, 100
TOPIC, SUB = "persistent://acme/news/push", "mobile"


def scenes() -> list[Scene]:
    """One broker."""
    scene = Scene("idle_consumer")
    topic = scene.topic(TOPIC, ledger=160)
    sub = topic.sub(SUB)
    scene.conn(0.4, 1, 2)
    sub.consumer(permits=QUEUE).read(0.6, QUEUE)
    topic.producer(0.7, 2)
    for number in range(5 * (UNTIL - 2)):
        at = 1 + number / 5
        entry = topic.publish(at, SIZE)
        if number < QUEUE:
            sub.done(at + 0.0005, 1, SIZE).deliver(at + 0.0006, 1, SIZE)
            sub.ack(at + 0.01, entry).mark(at + 0.011, entry)
            if number < QUEUE - 1:
                sub.read(at + 0.0008, QUEUE - 1 - number)
    scene.rounds([TOPIC], UNTIL)
    return [scene]


INCIDENT = Incident(
    "idle_consumer",
    "a kind that users ask about often: a consumer with an empty queue, and a backlog",
    UNTIL,
    scenes,
    [Stretch(TOPIC, SUB, 0, 20.5, ("in_flight", "catching_up"), False), Stretch(TOPIC, SUB, 21, UNTIL, ("no_flow",), True)],
    [
        Check(
            "consumers that hold nothing are not called slow",
            (TOPIC, SUB),
            window=120,
            exit=1,
            document={"cause": "no_flow"},
        ),
    ],
)
