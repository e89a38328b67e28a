"""Consumers stand still while a transaction of a producer is open.

A consumer may not read beyond the first message of an open transaction (maxReadPosition). 50 normal messages come and are consumed; then a
transaction publishes 10; then 290 normal messages come behind it. The transaction is never committed. The dispatcher asks once a second
(in #22943 every 10 ms to 1 s), and storage gives 0 entries each time.
"""

from incidents.incident import Check, Incident, Stretch
from incidents.scene import Scene

UNTIL, SIZE = 365, 1_000
TOPIC, SUB = "persistent://acme/bank/moves", "booking"
ASKED = {"explain": (TOPIC, SUB), "at": 360, "window": 180}


def scenes() -> list[Scene]:
    """One broker."""
    scene = Scene("open_transaction", transactionCoordinatorEnabled="true")
    topic = scene.topic(TOPIC, ledger=110)
    sub = topic.sub(SUB)
    scene.conn(0.4, 1, 2)
    sub.consumer().read(0.6)
    topic.producer(0.7, 2)
    for number in range(50):
        at = 1 + number
        sub.healthy(at, topic.publish(at, SIZE), SIZE, permits=1000 - number)
    scene.add(52, "transaction", topic=TOPIC, transaction_action="publish", commands=10)
    for number in range(10):
        topic.publish(52 + 0.01 * number, SIZE)
    for number in range(290):
        topic.publish(60 + number, SIZE)
    for number in range(UNTIL - 54):
        at = 52.02 + number
        sub.done(at, 0, 0).read(at + 0.0002, 950)
    scene.rounds([TOPIC], UNTIL)
    return [scene]


INCIDENT = Incident(
    "open_transaction",
    "apache/pulsar#14889, #22943, pull request 14192",
    UNTIL,
    scenes,
    [Stretch(TOPIC, SUB, 0, 51.5, ("in_flight", "catching_up"), False), Stretch(TOPIC, SUB, 52, UNTIL, ("transaction",), True)],
    [
        Check(
            "300 entries wait behind an open transaction",
            sql=f"SELECT msg_backlog FROM subscription_backlog WHERE check_number = 6 AND topic = '{TOPIC}'",
            rows=[[300]],
        ),
        Check(
            "it is not said that all is well, that storage is slow, or that the broker has a fault",
            **ASKED,
            exit=1,
            never=["reads and deliveries follow each other", "slow storage", "fault of the broker"],
        ),
        Check("it names the transaction", **ASKED, says=["transaction"]),
    ],
)
