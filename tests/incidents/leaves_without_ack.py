"""A consumer dies while it works, comes back, gets the same messages, and dies again: nothing is ever acknowledged.

200 entries come in four seconds. Every ten seconds a consumer connects, gets all of them, and leaves after nine seconds.
"""

from incidents.incident import Check, Incident, Stretch
from incidents.scene import Scene

UNTIL, SIZE, ENTRIES = 305, 1_000, 200
TOPIC, SUB = "persistent://acme/video/render", "encoder"


def scenes() -> list[Scene]:
    """One broker."""
    scene = Scene("leaves_without_ack")
    topic = scene.topic(TOPIC, ledger=150)
    sub = topic.sub(SUB)
    scene.conn(0.4, 2)
    topic.producer(0.7, 2)
    for number in range(ENTRIES):
        topic.publish(1 + number / 50, SIZE)
    for life, second in enumerate(range(6, UNTIL - 10, 10)):
        scene.conn(second, 10 + life)
        sub.consumer(second + 0.01, 0, 10 + life)
        for place in (0, 1):
            at = second + 0.02 + place / 100
            sub.read(at, 1000 - 100 * place).done(at + 0.002, 100, 100 * SIZE).deliver(at + 0.003, 100, 100 * SIZE)
        sub.read(second + 0.05, 800)
        sub.gone(second + 9, 0, 10 + life)
        scene.add(second + 9.001, "conn_close", conn=10 + life)
    scene.rounds([TOPIC], UNTIL)
    return [scene]


INCIDENT = Incident(
    "leaves_without_ack",
    "a kind that users ask about often: a crash loop of a consumer",
    UNTIL,
    scenes,
    [
        Stretch(TOPIC, SUB, 1, 6, ("no_consumer",)),
        Stretch(TOPIC, SUB, 6, 60, ("in_flight", "redelivery")),
        Stretch(TOPIC, SUB, 60, UNTIL, ("redelivery",), True),
    ],
    [
        Check("it is delivered again and again", (TOPIC, SUB), at=285, window=120, exit=1, document={"cause": "redelivery"}),
    ],
)
