"""Transactions that end, by a commit and by an abort."""

import time

from scenarios.table import scenario
from tools.live_broker.stage import Stage
from tools.live_broker.transaction import Transactions

#: Transactions of each end; each acknowledges and publishes so many messages.
COMMITTED, ABORTED, MESSAGES = 20, 5, 2
PUBLISHED = 60


@scenario(
    "A client takes two messages of one topic and publishes two to another in each transaction: 20 are committed, then 5 are aborted, and"
    " 5 of an Exclusive subscription. What is committed reaches a consumer. What is aborted does not, and its messages wait.",
    transactionCoordinatorEnabled="true",
    timeline=True,
)
def ended_transactions(stage: Stage) -> None:
    source, alone, target = stage.topic("in", "s"), stage.topic("alone", "s", kind="Exclusive"), stage.topic("out", "s")
    for topic in (source, alone):
        stage.publish(topic, PUBLISHED, 200)
    consumer = stage.meanwhile(stage.consume, target, "s", count=COMMITTED * MESSAGES)
    Transactions(source, target, COMMITTED, MESSAGES).run(stage.broker)
    consumer.result()
    Transactions(source, target, ABORTED, MESSAGES, aborts=True).run(stage.broker)
    Transactions(alone, target, ABORTED, MESSAGES, aborts=True, kind="Exclusive").run(stage.broker)
    with stage.held_back("no_consumer", "the client has gone; the others of its messages wait", (source, "s"), (alone, "s")):
        time.sleep(4)
