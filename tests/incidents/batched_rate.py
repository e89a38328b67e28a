"""A subscription rate of 10 messages/s, batches of 58 messages: 583 messages/s were seen going out.

Two brokers. On the first limiters count messages (the default), on the second entries.
"""

from incidents.incident import Check, Incident, Stretch
from incidents.limited import Bucket, LimitedSub
from incidents.scene import Scene, rate

UNTIL, MSGS, SIZE = 180, 58, 61_248
ORDERS, BATCHES, SUB = "persistent://acme/shop/orders", "persistent://acme/shop/orders-batch", "test-1"


def scenes() -> list[Scene]:
    """One for each way to count."""
    return [_scene("by_messages", ORDERS, 10, by_entries=False), _scene("by_entries", BATCHES, 20, by_entries=True)]


def _scene(broker: str, name: str, per_s: int, *, by_entries: bool) -> Scene:
    scene = Scene(broker, dispatchThrottlingOnBatchMessageEnabled=str(by_entries).lower())
    topic = scene.topic(name)
    sub = topic.sub(SUB)
    policy = {"policy_kind": "subscription_dispatch_rate", "msg_rate": 10, "byte_rate": -1, "period_s": 1, "relative": False}
    scene.add(0.3, "policy_set", source="namespace", namespace="acme/shop", **policy)
    sub.add(0.4, "dispatch_rate", level="subscription", **rate(10, -1, source="namespace"))
    scene.conn(0.4, 1, 2)
    sub.consumer(permits=10**6)
    topic.producer(0.6, 2)
    published = [round(1 + number / per_s, 4) for number in range((UNTIL - 1) * per_s)]
    for at in published:
        topic.publish(at, SIZE, MSGS)
    _dispatch(LimitedSub(sub, Bucket(10, 0.4), 10**6), published, by_entries=by_entries)
    scene.rounds([name], UNTIL)
    return scene


def _dispatch(reader: LimitedSub, published: list[float], *, by_entries: bool) -> None:
    """The dispatcher asks for all that is there, and again a second after it was blocked."""
    granted, at = reader.ask(0.55), 1.0
    while at < UNTIL - 2:
        if granted is None:
            at += 1.0
            granted = reader.ask(at)
            continue
        there = sum(one <= at for one in published)
        entries = min(granted, there - reader.next)
        if entries <= 0:
            at = published[there]
            continue
        reader.serve(at + 0.001, entries, SIZE, MSGS, by_entries=by_entries)
        for entry in range(reader.next - entries, reader.next):
            reader.sub.ack(at + 0.05, entry)
        reader.sub.mark(at + 0.06, reader.next - 1)
        at += 0.002
        granted = reader.ask(at)


HELD = ("throttled subscription msg",)
INCIDENT = Incident(
    "batched_rate",
    "apache/pulsar#4777",
    UNTIL,
    scenes,
    [Stretch(ORDERS, SUB, 2, UNTIL, HELD, True), Stretch(BATCHES, SUB, 2, UNTIL, HELD, True)],
    [
        Check(
            "a limiter of messages of the subscription holds it, set by the namespace",
            (ORDERS, SUB),
            exit=1,
            document={
                "cause": "throttled", "level": "subscription", "dimension": "msg", "behind": True,
                "limits[0].set_by": "namespace", "limits[0].rate": 10, "backlog": 1751,
            },
            within={"share": (0.97, 1)},
        ),
        Check(
            "Pulsar's counter, both modes",
            sql="SELECT topic, sum(dispatch_throttled_msg_events_by_subscription_limit), sum(dispatched_entries), sum(dispatched_msgs)"
            " FROM subscription_throttle WHERE topic LIKE '%/shop/orders%' GROUP BY topic ORDER BY topic",
            rows=[[ORDERS, 183, 39, 2262], [BATCHES, 371, 1769, 102_602]],
        ),
        Check(
            "10 messages/s of 58-message batches are 0.17 entries/s, and 10 come: not allowed",
            (ORDERS, SUB),
            document={"catch_up.allowed": "no"},
            within={"catch_up.most_entries_per_s": (0.17, 0.18)},
        ),
        Check(
            "with dispatchThrottlingOnBatchMessageEnabled the limit is 10 entries/s",
            (BATCHES, SUB),
            document={"cause": "throttled", "level": "subscription", "catch_up.allowed": "no"},
            within={"catch_up.most_entries_per_s": (9.9, 10.1)},
        ),
        Check("it pays for whole batches", (ORDERS, SUB), says=["owes"]),
        Check(
            "it says why more goes out than the limit: a read counts entries, the limiter messages",
            (ORDERS, SUB),
            says=["batch"],
        ),
        Check(
            "the limiter's books: beyond the balance, balance at the end, answers that the model gives exactly",
            sql="SELECT topic, sum(over_delivered), max_by(permits_end, window_start), sum(compared), sum(exact)"
            " FROM limiter_windows WHERE topic LIKE '%/shop/orders%' GROUP BY topic ORDER BY topic",
            rows=[[ORDERS, 2214, -500, 183, 183], [BATCHES, 0, 10, 371, 371]],
        ),
    ],
)  # fmt: skip
