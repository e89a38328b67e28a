"""Connections whose channel is full, so that the broker does not read from them."""

import time

from scenarios.table import scenario
from tools.live_broker.stage import Stage

#: Linux gives a connection up to 4 MB to send and 32 MB to receive: as much as comes in this time.
FILLED_S = 4
MARKS = {"pulsarChannelWriteBufferHighWaterMark": "65536", "pulsarChannelWriteBufferLowWaterMark": "32768"}


@scenario(
    "A client with two consumers and a small producer on one connection hangs for 8 s, twice, while messages of 250 KB come at 10 MB/s: its"
    " channel is unwritable, the broker stops reading from it, and limits its requests after it resumes. Another client reads the same.",
    **MARKS,
)
def unwritable_channel(stage: Stage) -> None:
    one, two = stage.topic("one", "hangs", "reads"), stage.topic("two", "hangs")
    small = stage.topic("small")
    client = stage.hanging((one, "hangs"), (two, "hangs"), produces=small)
    for topic in (one, two):
        stage.meanwhile(stage.publish, topic, 380, 20, size=250_000)
    stage.meanwhile(stage.consume, one, "reads", for_s=20)
    for _ in range(2):
        time.sleep(1)
        with client.hangs():
            time.sleep(FILLED_S)
            with stage.held_back("full_channel", "the client hangs", (one, "hangs"), (two, "hangs")):
                time.sleep(4)
    stage.join()
    time.sleep(2)
    client.end()


@scenario(
    "The same without the pause (pulsarChannelPauseReceivingRequestsIfUnwritable=false): the channel is unwritable, no reading stops.",
    pulsarChannelPauseReceivingRequestsIfUnwritable="false",
    **MARKS,
)
def unwritable_without_pause(stage: Stage) -> None:
    topic, small = stage.topic("t", "hangs"), stage.topic("small")
    client = stage.hanging((topic, "hangs"), produces=small)
    stage.meanwhile(stage.publish, topic, 240, 20, size=100_000)
    time.sleep(2)
    with client.hangs(), stage.held_back("full_channel", "the client hangs", (topic, "hangs")):
        time.sleep(6)
    stage.join()
    time.sleep(1)
    client.end()


@scenario(
    "Three clients catch up on 40 MB each through one connection with low marks, and publish: pauses and cooldowns follow each other fast.",
    **MARKS,
)
def pauses_under_load(stage: Stage) -> None:
    topic = stage.topic("t", "a", "b", "c")
    small = stage.topic("small")
    stage.publish(topic, 400, 400, size=100_000)
    client = stage.hanging((topic, "a"), (topic, "b"), (topic, "c"), produces=small)
    with stage.held_back("nothing", "40 MB go as fast as one connection takes them", (topic, "a"), (topic, "b"), (topic, "c")):
        time.sleep(10)
    client.end()
