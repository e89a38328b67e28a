"""Small logs of channels, one broker each: what happens is said at each function. Seconds after the start of a window of 60 s."""

from typing import Any

from bookkeeper.channel_script import SHIPPED, ChannelLog
from bookkeeper.channel_settings import PAUSE, PIP_RATE
from bookkeeper.channel_tracker import BUFFER, COOLDOWN

Events = list[dict[str, Any]]
PUBLISH_RATE = "TopicPublishRate"
AUDIT = "persistent://shop/eu/audit"
MB = 1_000_000


def at(log: ChannelLog, second: float) -> ChannelLog:
    """Both clocks at `second`."""
    return log.ms(second * 1000)


def of_broker(log: ChannelLog, broker: str, epoch: int | None = None) -> Events:
    """The log's events as `broker` writes them."""
    return [event | {"broker": broker} | ({} if epoch is None else {"epoch": epoch}) for event in log.events]


def busy(broker: str, **memory: str) -> Events:
    """Three windows of a broker with six connections; its JVM's options are in its settings.

    1 is unwritable and paused from 10 s on, with two producers and a consumer. The sum over all is 1, 4 and 7 MB at 50, 110 and 170 s.
    2 was paused from 20 to 25 s, and cooled down until 30 s: free since. 3 was paused at 165 s for a second, and cools down.
    4 is closed while it is paused. 5 was unwritable once, and is closed when nothing lasts any more. 6 has a producer of another topic
    and waits for its publish rate since 160 s.
    """
    log = ChannelLog().begin(SHIPPED | memory, 1, 2, 3, 4, 5, 6)
    log.producer(0).producer(1).consumer(0).producer(0, AUDIT, conn=6)
    at(log, 10).full(70_000).throttle(BUFFER, True)
    at(log, 20).full(66_000, conn=2).throttle(BUFFER, True, conn=2)
    at(log, 25).free(conn=2).throttle(BUFFER, False, conn=2)
    at(log, 30).full(conn=4).throttle(BUFFER, True, conn=4)
    at(log, 35).full(conn=5).throttle(BUFFER, True, conn=5)
    at(log, 36).free(conn=5).throttle(BUFFER, False, conn=5)
    at(log, 40).close(conn=4)
    at(log, 50).heartbeat(1 * MB)
    at(log, 100).close(conn=5)
    at(log, 110).heartbeat(4 * MB)
    at(log, 160).throttle(PUBLISH_RATE, True, conn=6).throttle(PUBLISH_RATE, True, conn=6).throttle(PUBLISH_RATE, False, conn=6)
    at(log, 165).full(conn=3).throttle(BUFFER, True, conn=3)
    at(log, 166).free(conn=3).throttle(BUFFER, False, conn=3)
    at(log, 170).heartbeat(7 * MB)
    return of_broker(log, broker)


def feature_off(broker: str) -> Events:
    """A broker with the PIP's names of settings that pauses nobody: two connections unwritable, no heartbeat has a sum."""
    log = ChannelLog().begin({PAUSE: "false", PIP_RATE: "1000"}, 1, 2)
    at(log, 5).full(100_000)
    at(log, 6).full(80_000, conn=2)
    at(log, 70).heartbeat()
    return of_broker(log, broker)


def stopped(broker: str) -> Events:
    """A paused connection of a broker that stops."""
    log = ChannelLog().begin(SHIPPED, 1)
    at(log, 5).full().throttle(BUFFER, True)
    at(log, 70).heartbeat(0)
    at(log, 71).add("broker_stop")
    return of_broker(log, broker)


def died(broker: str) -> list[Events]:
    """A connection is paused, the broker dies, and its next process has one that is free; the connection has the same id."""
    old, new = ChannelLog().begin(SHIPPED, 1), ChannelLog()
    at(old, 5).full().throttle(BUFFER, True)
    at(old, 70).heartbeat(90_000)
    at(new, 100).begin(SHIPPED, 1)
    at(new, 110).full().throttle(BUFFER, True)
    at(new, 111).free().throttle(BUFFER, False)
    at(new, 130).heartbeat(5_000)
    return [of_broker(old, broker, 1_795_259_990_000), of_broker(new, broker, 1_795_260_090_000)]


def limited(broker: str) -> Events:
    """A connection goes on at 101 s and sends six requests at once: the sixth is refused, and the connection paused for 10 ms.

    Its id was used before: that connection was paused when it was closed.
    """
    log = ChannelLog().begin(SHIPPED, 1)
    log.producer()
    at(log, 5).full().throttle(BUFFER, True)
    at(log, 10).close()
    at(log, 90).add("conn_open", conn=1, remote="10.0.0.9:9")
    log.producer()
    at(log, 100).full().throttle(BUFFER, True)
    at(log, 101).free().throttle(BUFFER, False)
    at(log, 101.001).request(6).throttle(COOLDOWN, True)
    at(log, 101.011).throttle(COOLDOWN, False)
    at(log, 104).heartbeat(0)
    return of_broker(log, broker)


#: What the JVM may have in each busy broker, and which setting names it.
MEMORY = {
    "direct": {"PULSAR_MEM": "-Xms2g -Xmx2g -XX:MaxDirectMemorySize=64m"},
    "heap": {"PULSAR_MEM": "-Xmx20000000"},
    "netty": {"io.netty.maxDirectMemory": "7340032"},
    "none": {"io.netty.maxDirectMemory": "0"},
}


def every_log() -> list[Events]:
    """Each of a broker of its own."""
    busy_ones = [busy(name, **memory) for name, memory in MEMORY.items()]
    return [*busy_ones, feature_off("off"), stopped("stopped"), *died("died"), limited("limited")]
