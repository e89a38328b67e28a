"""Writes a broker's events of channels: one call is one event of the contract. Times are ms after the start of a window."""

from typing import Any

from bookkeeper.channel_settings import COOLDOWN_MS, HIGH, LOW, PAUSE, PERIOD_MS, PERMITS
from log_builder import SUB, TOPIC, Log

FULL, EMPTY = 65_633, 16_481
#: As a real 4.0.8 writes them, with the feature on.
SHIPPED = {HIGH: "65536", LOW: "32768", PAUSE: "true", COOLDOWN_MS: "5000", PERMITS: "5", PERIOD_MS: "10"}


class ChannelLog(Log):
    """`ms` moves the clock; events are of connection 1 unless said otherwise."""

    def ms(self, moment: float) -> "ChannelLog":
        """Both clocks at `moment`."""
        self.at(moment / 1000)
        return self

    def begin(self, settings: dict[str, str] | None = None, *conns: int) -> "ChannelLog":
        """`broker_start` (the shipped settings, pausing, if none are given) and connections, 1 if none are."""
        self.add("broker_start", cluster="c", version="4.0.8", settings=SHIPPED if settings is None else settings)
        for conn in conns or (1,):
            self.add("conn_open", conn=conn, remote=f"10.0.0.{conn}:1")
        return self

    def full(self, pending: int = FULL, conn: int = 1) -> "ChannelLog":
        """The channel went over the high mark."""
        return self._add("writability", conn=conn, writable=False, pending_bytes=pending)

    def free(self, pending: int = EMPTY, conn: int = 1) -> "ChannelLog":
        """The channel fell under the low mark."""
        return self._add("writability", conn=conn, writable=True, pending_bytes=pending)

    def request(self, times: int = 1, command: str = "SEND", conn: int = 1) -> "ChannelLog":
        """Requests in the same ms."""
        for _ in range(times):
            self._add("request", conn=conn, command=command)
        return self

    def throttle(self, throttle_type: str, on: bool, conn: int = 1) -> "ChannelLog":
        """What the broker says of a reason to stop."""
        return self._add("throttle", conn=conn, throttle_type=throttle_type, on=on)

    def heartbeat(self, pending: int | None = None) -> "ChannelLog":
        """With the sum over all channels, or without."""
        return self._add("heartbeat", dropped=0, **({} if pending is None else {"pending_bytes": pending}))

    def producer(self, number: int = 0, topic: str = TOPIC, conn: int = 1) -> "ChannelLog":
        """Opened."""
        return self._add("producer_open", topic=topic, producer=number, conn=conn)

    def consumer(self, number: int = 0, sub: str = SUB, conn: int = 1) -> "ChannelLog":
        """Opened on the topic."""
        return self._add("consumer_open", topic=TOPIC, sub=sub, consumer=number, conn=conn)

    def close(self, conn: int = 1) -> "ChannelLog":
        """The connection is gone."""
        return self._add("conn_close", conn=conn)

    def reads(self, want: int, permits: int | None = None, sub: str = SUB, sub_type: str = "Shared") -> "ChannelLog":
        """A dispatcher asked for `want` entries."""
        permitted = {} if permits is None else {"permits": permits}
        return self._add("read", topic=TOPIC, sub=sub, sub_type=sub_type, want_msgs=want, want_bytes=5_242_880, **permitted)

    def _add(self, kind: str, **fields: Any) -> "ChannelLog":
        self.add(kind, **fields)
        return self
