"""Golden cases of channels as data: C1 to C12 of the semantics reference, and rules that no case shows (X…).

For the bookkeeper and for the machine. Times of a case are ms; `rows`, `transitions`, `memory`, `pauses` name the columns that matter.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from bookkeeper.channel_script import SHIPPED, ChannelLog
from bookkeeper.channel_settings import COOLDOWN_MS, HIGH, PAUSE, PIP_RATE, PIP_SECONDS
from bookkeeper.channel_tracker import BUFFER, COOLDOWN
from log_builder import START_TS_US, SUB, TOPIC

Expected = dict[str, Any]
MS = 1_000_000
SEND_RATE = "TopicPublishRate"


@dataclass(frozen=True)
class Case:
    """`rows`: `channel_backpressure` in order of conn and window. `transitions`: of throttle states: (ms, change, type, cause, count)."""

    id: str
    rule: str
    events: list[dict[str, Any]]
    rows: list[Expected]
    transitions: list[tuple[float, str, str | None, str, int]] | None = None
    memory: list[Expected] | None = None
    pauses: list[Expected] | None = None
    reads: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class LimiterCase:
    """`steps`: (ms, "acquire", wanted, granted, remaining after or None) or (ms, "open", for ms)."""

    id: str
    permits: int
    period_ms: int
    steps: list[tuple[Any, ...]]


LIMITER_CASES = [
    LimiterCase("C3", 10, 1000, [(0, "open", 5000), (0, "acquire", 8, 8, 2), (0, "acquire", 5, 2, 0), (0, "acquire", 3, 0, 0)]),
    LimiterCase("C4-rate-3", 3, 1000, [(0, "open", 5000), *((0, "acquire", 1, granted, None) for granted in (1, 1, 1, 0))]),
    LimiterCase("C4-rate-1", 1, 1000, [(0, "open", 5000), (0, "acquire", 1, 1, 0), (0, "acquire", 1, 0, 0)]),
    LimiterCase("C4-odd", 10, 1000, [(0, "open", 5000), (0, "acquire", 0, 0, 10), (0, "acquire", -5, 0, 10), (0, "acquire", 1000, 10, 0)]),
    LimiterCase("C5", 10, 1000, [(0, "open", 500), (0, "acquire", 15, 10, 0), (1000, "acquire", 1000, 1000, 0)]),
    LimiterCase("C5-for-0", 10, 1000, [(7, "open", 0), (7, "acquire", 1000, 1000, 10)]),
    LimiterCase("C6", 10, 100, [(0, "open", 5000), (0, "acquire", 6, 6, 4), (150, "acquire", 8, 8, 2)]),
    LimiterCase("X-opened-again", 5, 10, [(50, "open", 100), (50, "acquire", 5, 5, 0), (55, "open", 100), (60, "acquire", 1, 0, 0)]),
    LimiterCase(
        "C7",
        5,
        10,
        [
            (1000, "open", 5000),
            *((1000, "acquire", 1, granted, None) for granted in (1, 1, 1, 1, 1, 0, 0)),
            (1010, "acquire", 1, 0, 0),
            (1011, "acquire", 1, 1, 4),
            *((6000, "acquire", 1, granted, None) for granted in (1, 1, 1, 1, 1, 0)),
            (6001, "acquire", 9, 9, 0),
        ],
    ),
]


def water_marks() -> Iterator[Case]:
    log = ChannelLog().begin({}).ms(10).full().ms(30).free()
    once = {
        "pending_bytes_max": 65_633,
        "pending_bytes_last": 16_481,
        "unwritable_count": 1,
        "unwritable_ns": 20 * MS,
        "mark_mismatches": 0,
    }
    yield Case("C1", "3.3: over the high mark, then under the low one", log.events, [once | {"settings_vocabulary": "default"}])

    log = ChannelLog().begin({HIGH: "16384"}).ms(10).free(pending=0)
    yield Case("C2", "3.1: no channel opens with a high mark below Netty's own low one", log.events, [{"water_marks_usable": False}])

    log = ChannelLog().begin().ms(10).full(pending=32_767).ms(20).free(pending=65_537)
    yield Case("X1-impossible-levels", "3.3: unwritable is at the low mark or over it", log.events, [{"mark_mismatches": 2}])


def cooldowns() -> Iterator[Case]:
    log = ChannelLog().begin().ms(50).full().ms(100).free().request(6).ms(110).request().ms(120).request().ms(121).heartbeat()
    steps = [
        (50, "throttled", BUFFER, "writability", 1),
        (100, "unthrottled", BUFFER, "writability", 0),
        (100, "throttled", COOLDOWN, "request_refused", 1),
        (110, "unthrottled", COOLDOWN, "cooldown_timer", 0),
        (110, "throttled", COOLDOWN, "request_refused", 1),
        (120, "unthrottled", COOLDOWN, "cooldown_timer", 0),
    ]
    counts = {"paused_count": 3, "resumed_count": 3, "requests": 8, "requests_limited": 2, "paused_ns": 70 * MS, "cooldown_ns": 21 * MS}
    yield Case("C8", "3.3: what got nothing pauses, is handled, and waits for the period", log.events, [counts], steps)

    logged = ChannelLog().begin().ms(50).full().throttle(BUFFER, True).ms(100).free().throttle(BUFFER, False).request(6)
    logged.throttle(COOLDOWN, True).ms(112).throttle(COOLDOWN, False).request(7).ms(125).heartbeat()
    drained = counts | {
        "paused_count": 2,
        "resumed_count": 2,
        "requests": 13,
        "requests_limited": 3,
        "paused_ns": 62 * MS,
        "cooldown_ns": 25 * MS,
    }
    agreed = {"modelled_paused_count": 3, "outbound_buffer_agreed": 2, "cooldown_agreed": 2, "cooldown_only_modelled": 1}
    yield Case("C8-queued", "capture aa: queued requests go on before the pause is forgotten", logged.events, [drained | agreed])

    log = ChannelLog().begin().ms(100).free().request(6).throttle(COOLDOWN, True).ms(151).throttle(COOLDOWN, False)
    late = {"paused_count": 1, "resumed_count": 1, "marks_dropped": 1, "paused_ns": 51 * MS, "cooldown_agreed": 2}
    yield Case("X15-the-timer-is-late", "capture aa: the broker's word is believed from its first one on", log.events, [late])

    log = ChannelLog().begin().ms(50).full().ms(100).free().request(6).ms(105).full().ms(111).heartbeat().ms(130).free().ms(131).heartbeat()
    steps = [
        (50, "throttled", BUFFER, "writability", 1),
        (100, "unthrottled", BUFFER, "writability", 0),
        (100, "throttled", COOLDOWN, "request_refused", 1),
        (105, "throttled", BUFFER, "writability", 2),
        (110, "unthrottled", COOLDOWN, "cooldown_timer", 1),
        (130, "unthrottled", BUFFER, "writability", 0),
    ]
    both = {"paused_count": 2, "resumed_count": 2, "paused_ns": 80 * MS, "unwritable_ns": 75 * MS, "cooldown_ns": 31 * MS}
    times = {"throttled_ns_by_outbound_buffer_full": 75 * MS, "throttled_ns_by_cooldown_rate_limit": 10 * MS}
    yield Case("C9", "3.3: paused until nothing holds it; writable again restarts the cooldown", log.events, [both | times], steps)

    off = SHIPPED | {COOLDOWN_MS: "-1"}
    log = ChannelLog().begin(off).ms(10).full().ms(20).free().request(50).ms(30).heartbeat()
    held = {"paused_count": 1, "resumed_count": 1, "requests": 50, "requests_limited": 0, "cooldown_ns": 0}
    yield Case("C12", "3.3: no limiter without a cooldown", log.events, [held])

    log = ChannelLog().begin().ms(10).free().request(5).request(9, "PING").request(9, "PONG").request().ms(30).heartbeat()
    yield Case("C12-ping", "3.3: PING and PONG are exempt", log.events, [{"requests": 24, "requests_limited": 1, "paused_count": 1}])


def marks() -> Iterator[Case]:
    log = ChannelLog().begin().ms(10).full().ms(20).full(pending=70_000).ms(30).free().ms(40).free(pending=0).ms(50).heartbeat()
    steps = [(10, "throttled", BUFFER, "writability", 1), (30, "unthrottled", BUFFER, "writability", 0)]
    once = {"paused_count": 1, "resumed_count": 1, "marks_dropped": 2, "writability_repeats": 2, "cooldown_ns": 20 * MS}
    yield Case("C10", "3.3: a repeat is dropped; of writable it restarts the cooldown", log.events, [once], steps)

    log = ChannelLog().begin()
    for moment, on in ((10, True), (20, True), (30, False), (40, False), (50, False)):
        log.ms(moment).throttle(SEND_RATE, on)
    steps = [(at, change, SEND_RATE, "logged", n) for at, change, n in ((10, "throttled", 1), (20, "throttled", 2), (30, "unthrottled", 1))]
    steps.append((40, "unthrottled", SEND_RATE, "logged", 0))
    counted = {"paused_count": 1, "resumed_count": 1, "marks_dropped": 1, "throttled_ns_by_topic_publish_rate": 30 * MS}
    yield Case("C10-counted", "3.3: TopicPublishRate needs as many unmarks as marks", log.events, [counted], steps)

    log = ChannelLog().begin({PAUSE: "false"}).consumer().ms(10).full().reads(1, permits=50).ms(40).free().reads(100, permits=50)
    unaware = {"pause_enabled": False, "writable": True, "unwritable_ns": 30 * MS, "paused_count": 0, "paused_ns": 0, "cooldown_ns": 0}
    yield Case("C11", "3.3, 3.4: with the feature off only dispatch suffers", log.events, [unaware], reads={SUB: 1})

    log = ChannelLog().begin({PAUSE: "true", PIP_SECONDS: "2", PIP_RATE: "3"}).ms(10).free().request(4).ms(1009).heartbeat()
    log.ms(1011).heartbeat().ms(3000).heartbeat()
    pip = {"settings_vocabulary": "pip", "requests_limited": 1, "paused_ns": 1000 * MS, "cooldown_ns": 2000 * MS}
    yield Case("X2-the-words-of-the-pip", "3.1: a rate per second for some seconds", log.events, [pip])

    log = ChannelLog().begin(SHIPPED | {PIP_RATE: "1"}).ms(10).free().request(5)
    yield Case("X3-shipped-words-win", "3.1", log.events, [{"settings_vocabulary": "shipped", "requests_limited": 0}])


def lives() -> Iterator[Case]:
    log = ChannelLog().begin().ms(10).full().throttle(BUFFER, True).ms(30).close().ms(40).throttle(BUFFER, False)
    gone = {"paused_count": 1, "resumed_count": 0, "paused": True, "paused_ns": 20 * MS, "closed_at": START_TS_US + 30_000}
    yield Case(
        "X4-closed-while-paused", "capture aa: only an active channel resumes", log.events, [gone | {"outbound_buffer_only_logged": 0}]
    )

    log = ChannelLog().begin().ms(10).free(conn=7).ms(20).full(conn=7).ms(30).free(conn=7)
    met = {"conn": 7, "complete": False, "opened_at": START_TS_US + 10_000, "paused_count": 1}
    yield Case("X5-met-without-its-beginning", "log contract", log.events, [met])

    log = ChannelLog().begin().ms(10).full().ms(20).free().ms(30).heartbeat()
    lost = [event for event in log.events if event["type"] != "broker_start"]
    log = ChannelLog().begin({}).ms(5).full().ms(10).throttle(BUFFER, True).ms(20).free()
    proven = [event for event in log.events if event["type"] != "broker_start"]
    yield Case("X6-settings-lost", "log contract", lost, [{"complete": False, "pause_enabled": False, "paused_count": 0}])
    yield Case(
        "X6-settings-proven", "a mark proves the feature on", proven, [{"pause_enabled": True, "cooldown_ns": 0, "resumed_count": 0}]
    )

    log = ChannelLog().begin().ms(59_990).full().ms(180_010).free().ms(180_020).heartbeat()
    over = [{"unwritable_ns": ns * MS, "paused_ns": ns * MS} for ns in (10, 60_000, 60_000, 10)]
    yield Case("X7-through-windows", "time is split at borders", log.events, over)

    log = ChannelLog().begin().ms(58_000).free().ms(59_995).request(6).ms(61_000).heartbeat().ms(70_000).heartbeat()
    halves = [
        {"paused_ns": 5 * MS, "cooldown_ns": 2_000 * MS, "paused": True},
        {"paused_ns": 5 * MS, "cooldown_ns": 3_000 * MS, "paused": False},
    ]
    halves = [row | {"paused_count": n, "resumed_count": 1 - n} for row, n in zip(halves, (1, 0), strict=True)]
    yield Case("X8-a-timer-over-a-border", "a timer belongs to the window in which it is due", log.events, halves)

    log = ChannelLog().begin().ms(1_000).free().ms(2_000).full().ms(5_000).heartbeat().ms(20_000).heartbeat()
    for event in log.events[4:]:
        event["ts"] -= 3_000_000
    back = [{"unwritable_ns": 3_000 * MS, "cooldown_ns": 4_000 * MS}, {"unwritable_ns": 15_000 * MS, "cooldown_ns": 4_000 * MS}]
    yield Case("X9-the-clock-goes-back", "the limiter closes by the wall clock", log.events, back)


def memory() -> Iterator[Case]:
    log = ChannelLog().begin(None, 1, 2, 3).ms(10).full(100_000).ms(20).full(70_000, conn=2).ms(30).free(0, conn=2).heartbeat(300_000)
    log.ms(40).free(0).free(0).ms(59_000).heartbeat(96).ms(61_000).heartbeat()
    first = {"pending_bytes_max": 100_000, "pending_bytes_at_least": 300_000 - 2 * 65_536}
    rows = [first, {"pending_bytes_at_least": 70_000}]
    level = {"write_buf_memory_used_bytes": 96, "exact": True, "known_from": "heartbeat", "known_at": START_TS_US + 59_000_000}
    most = {"write_buf_memory_used_bytes_max": 300_000, "max_exact": True, "connections_open": 3, "connections_unwritable": 0}
    yield Case("X10-exact-at-a-heartbeat", "3.4", log.events, rows, memory=[level | most])

    log = ChannelLog().begin(None, 1, 2).ms(10).full(100_000).ms(20).full(70_000, conn=2).ms(60_010).heartbeat().ms(119_000).free(0, conn=2)
    log.ms(120_001).free(0).free(0)
    bounds = [(70_000 + 32_768, 70_000 + 32_768, "writability"), (32_768, 32_768, "writability"), (0, 65_537, "writability")]
    sizes = [
        {"write_buf_memory_used_bytes": size, "write_buf_memory_used_bytes_max": most, "known_from": source, "exact": False}
        for size, most, source in bounds
    ]
    rows = [{"conn": conn} for conn in (1, 1, 1, 2, 2, 2)]
    yield Case("X11-bounds", "an unwritable channel holds the low mark at least", log.events, rows, memory=sizes)

    log = ChannelLog().begin().ms(10).full().ms(60_010).heartbeat()
    by_marks = {"write_buf_memory_used_bytes": 32_768, "known_from": "marks", "exact": False, "known_at": START_TS_US + 60_010_000}
    yield Case("X12-by-the-marks-alone", "a window that says nothing new", log.events, [{}, {}], memory=[{}, by_marks])


def coupling() -> Iterator[Case]:
    log = ChannelLog().begin(None, 1, 2).producer(0).producer(1).producer(0, conn=2).ms(10).full().ms(20).full(conn=2).ms(30).free()
    log.ms(50).free(conn=2)
    paused = [{"topic": TOPIC, "producers_paused_ns": 40 * MS, "publish_limited_times": 3}]
    rows = [{"producers_paused_max": 2, "topics_paused_max": 1}, {"producers_paused_max": 1}]
    yield Case("X13-producers", "3.4: every producer of a paused connection", log.events, rows, pauses=paused)

    log = ChannelLog().begin(None, 1, 2).consumer(0).consumer(0, conn=2).ms(10).full().reads(1).full(conn=2).reads(1).reads(1, permits=1)
    log.reads(100).reads(1, permits=7, sub="nobody").ms(20).free(conn=2).reads(1)
    slow = {"consumers_unwritable_max": 1, "subscriptions_unwritable_max": 1}
    yield Case("X14-reads", "1.2 step 2: nobody of the subscription is writable", log.events, [slow, slow], reads={SUB: 1})


CASES = [*water_marks(), *cooldowns(), *marks(), *lives(), *memory(), *coupling()]
