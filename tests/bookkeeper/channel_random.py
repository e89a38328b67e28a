"""Random logs of one broker's channels: hypothesis draws lists of small actions, a `Broker` writes them down.

Several connections with producers and consumers, both vocabularies, the feature on and off, bursts of requests, repeated writability,
`throttle` events that are right, wrong or absent, heartbeats with and without bytes, topics that go, clock steps, restarts. `broken` of
random_log loses, repeats, damages and shuffles. The first of every choice is the dullest: hypothesis shrinks towards it.
"""

from typing import Any

from bookkeeper.channel_script import SHIPPED
from bookkeeper.channel_settings import COOLDOWN_MS, HIGH, PAUSE, PERIOD_MS, PERMITS, PIP_RATE, PIP_SECONDS
from bookkeeper.channel_tracker import BUFFER, COOLDOWN, TYPES
from bookkeeper.random_log import CLOCK_STEPS_US, JITTERS_US
from bookkeeper.script import MINUTE_US
from hypothesis import strategies as st

Event = dict[str, Any]
Action = tuple[Any, ...]

SECOND = 1_000_000_000
#: Around the limiter's edges (ms), a window's length, a cooldown's.
WAITS_NS = (0, 1_000, 300_000, 1_000_000, 9_999_999, 10_000_000, 10_000_001, 11_000_000, SECOND, 5 * SECOND, 5_001_000_000, 61 * SECOND)
SETTINGS: tuple[dict[str, str], ...] = (
    SHIPPED,
    SHIPPED | {PAUSE: "false"},
    SHIPPED | {COOLDOWN_MS: "-1"},
    SHIPPED | {PERMITS: "1", PERIOD_MS: "2000", COOLDOWN_MS: "70000"},
    {PAUSE: "TRUE", PIP_SECONDS: "2", PIP_RATE: "3"},
    SHIPPED | {PERMITS: "many", HIGH: "16384"},
    {},
)
PENDING = (0, 96, 32_677, 32_768, 65_536, 65_537, 100_259, 45_159_623)
COMMANDS = ("SEND", "ACK", "FLOW", "PING", "PONG", "GET_TOPICS_OF_NAMESPACE")
PLACES = tuple((f"persistent://t/n/topic-{topic}", f"sub-{sub}") for topic in range(2) for sub in range(2))


class Broker:
    """`events` grow by `start_epoch`, `act` and `emit`."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.epoch, self.last_us = 1_700_000_000_000, MINUTE_US

    def start_epoch(self, settings: dict[str, str], start_us: int, *, with_ns: bool, with_throttle: bool) -> None:
        """`broker_start` and two connections, in the minute after the last event."""
        self.epoch += 1
        self.seq, self.ns, self.jitter_us = 0, 5_000_000_000_000, 0
        self.with_ns, self.with_throttle = with_ns, with_throttle
        self.used: set[tuple[int | None, int]] = set()
        self.clock_us = self.last_us - self.last_us % 60_000_000 + 60_000_000 + start_us - self.ns // 1000
        self.emit("broker_start", cluster="c", version="4.0.8", settings=settings)
        for conn in (1, 2):
            self.emit("conn_open", conn=conn)

    def act(self, wait_ns: int, jitter_us: int, action: Action) -> None:
        """`wait_ns` later, with `ts` off by `jitter_us`."""
        self.ns += wait_ns
        self.jitter_us = jitter_us if self.with_ns else 0
        getattr(self, f"_{action[0]}")(*action[1:])
        self.jitter_us = 0

    def emit(self, kind: str, **payload: Any) -> None:
        """The next event of the epoch; payload that is None is left out."""
        self.seq += 1
        ts = self.clock_us + self.ns // 1000 + self.jitter_us
        while (payload.get("conn"), ts) in self.used:  # any event may be a connection's beginning, and `opened_at` is part of a grain
            ts += 1
        self.used.add((payload.get("conn"), ts))
        event = {"v": 1, "broker": "b:1", "epoch": self.epoch, "seq": self.seq, "ts": ts, "type": kind}
        if self.with_ns:
            event["ns"] = self.ns
        self.events.append(event | {name: value for name, value in payload.items() if value is not None})
        self.last_us = max(self.last_us, ts)

    def _beat(self, pending: int | None) -> None:
        self.emit("heartbeat", dropped=0, pending_bytes=pending)

    def _connect(self, conn: int, on: bool) -> None:
        self.emit("conn_open" if on else "conn_close", conn=conn)

    def _cross(self, conn: int, writable: bool, pending: int, followed: bool) -> None:
        self.emit("writability", conn=conn, writable=writable, pending_bytes=pending)
        if followed and self.with_throttle:
            self.emit("throttle", conn=conn, throttle_type=BUFFER, on=not writable)

    def _ask(self, conn: int, times: int, command: str, gap_ns: int, followed: bool) -> None:
        for _ in range(times):
            self.ns += gap_ns
            self.emit("request", conn=conn, command=command)
        if followed and self.with_throttle:
            self.emit("throttle", conn=conn, throttle_type=COOLDOWN, on=True)

    def _throttle(self, conn: int, throttle_type: str, on: bool) -> None:
        if self.with_throttle:
            self.emit("throttle", conn=conn, throttle_type=throttle_type, on=on)

    def _produce(self, conn: int, producer: int, place: int, on: bool) -> None:
        self.emit("producer_open" if on else "producer_close", conn=conn, producer=producer, topic=PLACES[place][0])

    def _consume(self, conn: int, consumer: int, place: int, on: bool) -> None:
        topic, sub = PLACES[place]
        self.emit("consumer_open" if on else "consumer_close", conn=conn, consumer=consumer, topic=topic, sub=sub)

    def _read(self, place: int, want: int, permits: int | None) -> None:
        topic, sub = PLACES[place]
        self.emit("read", topic=topic, sub=sub, sub_type="Shared", want_msgs=want, want_bytes=5_242_880, permits=permits)

    def _topic(self, place: int, loaded: bool) -> None:
        self.emit("topic_load" if loaded else "topic_unload", topic=PLACES[place][0])

    def _clock(self, step_us: int) -> None:
        if self.with_ns:
            self.clock_us += step_us
        self.emit("heartbeat", dropped=0)


def _pick(values: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    return st.sampled_from(values)


#: The third is met without its beginning.
_conn = st.sampled_from((1, 1, 1, 2, 3))
_flag = st.booleans()
_number = st.integers(0, 1)
_place = st.integers(0, len(PLACES) - 1)


def _action() -> st.SearchStrategy[Action]:
    """One action. Crossings and requests are drawn more often: most rules are theirs."""
    cross = st.tuples(st.just("cross"), _conn, _flag, _pick(PENDING), _flag)
    ask = st.tuples(st.just("ask"), _conn, _pick((1, 5, 6, 7, 12)), _pick(COMMANDS), _pick((0, 0, 1_000, 3_000_000)), _flag)
    return st.one_of(
        st.tuples(st.just("beat"), st.none() | _pick(PENDING)),
        cross,
        ask,
        cross,
        ask,
        st.tuples(st.just("throttle"), _conn, _pick((COOLDOWN, BUFFER, *TYPES)), _flag),
        st.tuples(st.just("connect"), _conn, _flag),
        st.tuples(st.just("produce"), _conn, _number, _place, _pick((True, True, False))),
        st.tuples(st.just("consume"), _conn, _number, _place, _pick((True, True, False))),
        st.tuples(st.just("read"), _place, _pick((1, 1, 100)), _pick((None, 1, 50))),
        st.tuples(st.just("topic"), _place, _flag),
        st.tuples(st.just("clock"), _pick(CLOCK_STEPS_US)),
    )


@st.composite
def channel_logs(draw: st.DrawFn, max_actions: int = 40, *, with_throttle: bool | None = None) -> list[Event]:
    """Events of one broker in (epoch, seq) order, one or two epochs, nothing lost. `with_throttle`: whether it logs `throttle` at all."""
    broker = Broker()
    for _ in range(draw(st.integers(1, 2))):
        says_throttle = draw(_flag) if with_throttle is None else with_throttle
        start_us = draw(_pick((0, 30_000_000, 59_990_000)))
        broker.start_epoch(draw(_pick(SETTINGS)), start_us, with_ns=not draw(_pick((False, False, True))), with_throttle=says_throttle)
        actions = st.lists(st.tuples(_pick(WAITS_NS), _pick(JITTERS_US), _action()), min_size=draw(_pick((0, 5, 15))), max_size=max_actions)
        for wait, jitter, action in draw(actions):
            broker.act(wait, jitter, action)
        if draw(_flag):
            broker.emit("broker_stop")
    return broker.events
