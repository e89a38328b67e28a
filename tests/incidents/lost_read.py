"""A Shared subscription stands still for ever, with permits and a backlog: its dispatcher waits for a read that the cursor does not have.

`parked`: the read was waiting at the end of the topic when it got lost. `asked`: entries were there when the read was asked for, and
storage never answered, while a second subscription of the same topic reads the same entries in a millisecond.
"""

from incidents.incident import Check, Incident, Stretch
from incidents.scene import Scene, Topic

UNTIL, SIZE = 605, 1_000
PARKED, ASKED = "persistent://acme/bids/parked", "persistent://acme/bids/asked"


def scenes() -> list[Scene]:
    """One broker with both topics."""
    scene = Scene("lost_read", version="4.0.12")
    for number, name in enumerate((PARKED, ASKED)):
        _topic(scene, scene.topic(name, ledger=70 + number), 10 * number, extra=name == ASKED)
    scene.rounds([PARKED, ASKED], UNTIL)
    return [scene]


def _topic(scene: Scene, topic: Topic, conn: int, *, extra: bool) -> None:
    """An entry a second; the last that `bad` gets is that of 30 s. `extra`: one more comes just before it asks again."""
    good, bad = topic.sub("good"), topic.sub("bad")
    scene.conn(0.4, conn, conn + 1, conn + 9)
    for place, sub in enumerate((good, bad)):
        sub.consumer(0.5, 0, conn + place).read(0.6)
    topic.producer(0.7, conn + 9)
    permits = {good: 1000, bad: 1000}
    for at in range(1, 551):
        entry = topic.publish(at, SIZE)
        is_last = extra and at == 30
        for sub in (good, bad) if at <= 30 else (good,):
            if permits[sub] < 500:
                sub.flow(at + 0.0001, 500, 0, conn + (sub is bad))
                permits[sub] += 500
            if sub is bad and is_last:
                following = topic.publish(at + 0.0004, SIZE)
                bad.done(at + 0.0005, 1, SIZE).deliver(at + 0.0006, 1, SIZE).read(at + 0.0008, permits[bad] - 1)
                bad.ack(at + 0.01, entry).mark(at + 0.011, entry)
                good.healthy(at + 0.0012, following, SIZE, permits[good] - 1)
                permits[good] -= 1
            else:
                sub.healthy(at, entry, SIZE, permits[sub])
                permits[sub] -= 1


INCIDENT = Incident(
    "lost_read",
    "apache/pulsar#26454, pull request 6966",
    UNTIL,
    scenes,
    [
        *(Stretch(topic, "good", 0, UNTIL, ("in_flight", "catching_up"), False) for topic in (PARKED, ASKED)),
        *(Stretch(topic, "bad", 0, 30, ("in_flight", "catching_up"), False) for topic in (PARKED, ASKED)),
        # Nobody can know it in the first seconds.
        *(Stretch(topic, "bad", 31, 41, ("stuck", "reading", "catching_up")) for topic in (PARKED, ASKED)),
        *(Stretch(topic, "bad", 41, UNTIL, ("stuck",), True) for topic in (PARKED, ASKED)),
    ],
    [
        Check(
            "a parked read that got lost: stuck",
            (PARKED, "bad"),
            window=300,
            exit=1,
            document={"cause": "stuck"},
            within={"share": (0.99, 1)},
        ),
        Check("it advises to unload", (PARKED, "bad"), says=["fault of the broker", "topics unload"]),
        Check(
            "a read of entries that are there, ten minutes out, while the other subscription reads them in a millisecond: stuck",
            (ASKED, "bad"),
            window=300,
            exit=1,
            document={"cause": "stuck"},
        ),
        Check("the good ones are well", (ASKED, "good"), exit=0),
    ],
)
