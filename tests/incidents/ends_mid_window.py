"""The log of a broker ends within a minute, as most do: a crash, or the end of what was copied.

One message was delivered at 1 s and is not acknowledged: five and a half minutes later still not. 400 messages of a second topic likewise.
"""

from incidents.incident import Check, Incident, Stretch
from incidents.scene import Scene

UNTIL = 330
ONE, MANY, SUB = "persistent://acme/jobs/one", "persistent://acme/jobs/many", "worker"
BEHIND = {"status": "unacknowledged", "behind": True, "backlog": 400}


def scenes() -> list[Scene]:
    """One broker with both topics."""
    scene = Scene("ends_mid_window")
    for number, (name, entries) in enumerate(((ONE, 1), (MANY, 400))):
        topic = scene.topic(name, ledger=170 + number)
        sub = topic.sub(SUB)
        scene.conn(0.4, 2 * number, 2 * number + 1)
        sub.consumer(0.5, 0, 2 * number).read(0.6)
        topic.producer(0.7, 2 * number + 1)
        for entry in range(entries):
            at = 1 + entry * 0.01
            topic.publish(at, 500)
            sub.done(at + 0.0005, 1, 500).deliver(at + 0.0006, 1, 500).read(at + 0.0008, 999 - entry)
    scene.rounds([ONE, MANY], UNTIL)
    return [scene]


INCIDENT = Incident(
    "ends_mid_window",
    "found in a log that ends within a window",
    UNTIL,
    scenes,
    # Ten seconds may be the usual work on a message; minutes are not.
    [stretch for topic in (ONE, MANY) for stretch in (
        Stretch(topic, SUB, 1, 60, ("in_flight",)), Stretch(topic, SUB, 60, UNTIL, ("in_flight",), True),
    )],
    [
        Check("at the last whole minute: unacknowledged, behind", (MANY, SUB), at=300, exit=1, document=BEHIND),
        Check(
            "half a minute later the same",
            (MANY, SUB),
            exit=1,
            document=BEHIND,
        ),
        Check("why has them as behind", why=(MANY, SUB), document={"status": "unacknowledged"}),
        Check(
            "it does not speak of a time after the end of the log",
            (MANY, SUB),
            never=["10:06:00Z"],
        ),
    ],
)  # fmt: skip
