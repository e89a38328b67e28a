"""A consumer cannot process its messages, and gives all of them back, again and again.

100 entries come in ten seconds, then one a second. Every five seconds all that is not acknowledged is delivered; a second later the client
gives it back (negative acknowledgements). Nothing is ever acknowledged.
"""

from incidents.incident import Check, Incident, Stretch
from incidents.scene import Scene

UNTIL, SIZE = 305, 1_000
TOPIC, SUB = "persistent://acme/pay/charges", "capture"


def scenes() -> list[Scene]:
    """One broker."""
    scene = Scene("nack_storm")
    topic = scene.topic(TOPIC, ledger=130)
    sub = topic.sub(SUB)
    scene.conn(0.4, 1, 2)
    sub.consumer().read(0.6)
    topic.producer(0.7, 2)
    published = [*(1 + number / 10 for number in range(100)), *range(12, UNTIL)]
    for at in published:
        entry = topic.publish(at, SIZE)
        sub.done(at + 0.0005, 1, SIZE).deliver(at + 0.0006, 1, SIZE).read(at + 0.0008, 1000 - entry % 100)
    for second in range(12, UNTIL - 3, 5):
        there = sum(at < second + 0.4 for at in published)
        sub.add(second + 0.5, "redeliver", cause="requested", entries=there, consumer=0, conn=1)
        sub.flow(second + 0.51, there)
        sub.read(second + 1.5, 1000, want=there).done(second + 1.502, there, there * SIZE, replay=True)
        sub.deliver(second + 1.503, there, there * SIZE)
    scene.rounds([TOPIC], UNTIL)
    return [scene]


INCIDENT = Incident(
    "nack_storm",
    "a kind that users ask about often: negative acknowledgements without an end",
    UNTIL,
    scenes,
    [
        # Who was delivered once or twice may still be worked on.
        Stretch(TOPIC, SUB, 1, 25, ("in_flight", "catching_up", "redelivery")),
        Stretch(TOPIC, SUB, 25, 60, ("in_flight", "redelivery")),
        Stretch(TOPIC, SUB, 60, UNTIL, ("redelivery",), True),
    ],
    [
        Check("it is delivered again and again", (TOPIC, SUB), window=120, exit=1, document={"cause": "redelivery"}),
        Check("it does not advise to wait, nor to look at storage", (TOPIC, SUB), window=120, never=["Wait:", "bookies"]),
    ],
)
