"""Cases A1–A37 of the semantics reference, each by its id, as event sequences through the production fold.

What a limiter has to answer is written into the log as the broker's answer: the fold compares it with its model, and every comparison
must be exact.
"""

from typing import Any

import pytest
from lane_tables import tables_of
from log_builder import TOPIC, Log

from pipeline.rules.broker.limiter import is_refill_due, refilled
from pipeline.rules.integers import INT64_MAX

SECOND = 1_000_000_000
#: Cases that no event of the log can express, with the reason.
OUTSIDE_THE_LOG = {
    "A1": "constructor errors: the log writes a policy that cannot make a limiter as rate ≤ 0, which is no limiter",
    "A4": "tryAcquire's return value: dispatching never refuses, and the log has no such call",
    "A33": "how many messages a client receives within some seconds is client timing",
    "A34": "an effective rate over 2.5–8 s is client timing; the walk over three levels is A24",
    "A36": "bytes to entries by ledger metadata happens after the walk; the log has no event of it",
}
#: Cases whose bucket no dispatch limiter has (another resolution or starting balance): the production arithmetic is called directly.
ARITHMETIC_ONLY = {"A13", "A14", "A15", "A16"}
#: Cases of what is set where: tests/machines/test_precedence.py has them.
POLICIES = {"A18", "A19", "A20", "A23"}


def limiter_log(kind: str, steps: list[tuple[Any, ...]], period_s: int = 1) -> list[dict[str, Any]]:
    """(seconds[, +ns], 'rate' | 'relative' | 'average' | 'use' | 'avail', permits) steps on the subscription's message limiter."""
    log = Log().start()
    for when, what, permits in steps:
        seconds, extra_ns = when if isinstance(when, tuple) else (when, 0)
        log.at(seconds, extra_ns)
        if what == "rate":
            log.rate("subscription", permits, period_s=period_s, limiter=kind)
        elif what == "relative":
            log.rate("subscription", permits, period_s=period_s, limiter=kind, relative=True)
        elif what == "average":
            log.add("publish_rate", topic=TOPIC, avg_msgs_per_s=permits, avg_bytes_per_s=0)
        elif what == "use":
            log.dispatch(permits)
        else:
            log.read(want=2**31 - 1, sub=(permits, -1))
    return log.events


LIMITER_CASES: dict[str, tuple[str, int, list[tuple[Any, ...]]]] = {
    "A2": ("classic", 1, [
        (0, "rate", 100), *[(0, "use", 100)] * 3, (0.5, "avail", 0), (1, "avail", 0), (2, "avail", 0), (3, "avail", 100),
    ]),
    "A3": ("classic", 1, [
        (0, "rate", 10), (0, "use", 30), (0, "avail", 0), (1, "avail", 0), (2, "avail", 0), (3, "avail", 10), (3.1, "use", 11),
        (4, "avail", 9),
    ]),
    "A5": ("classic", 1, [(0, "rate", 10), (0, "use", 7), (0.1, "rate", 20), (0.1, "avail", 13)]),
    "A5 lowered": ("classic", 1, [
        (0, "rate", 10), (0, "use", 7), (0.1, "rate", 5), (0.1, "avail", 0), ((1.1, -1), "avail", 0), (1.1, "avail", 3),
    ]),
    "A6": ("classic", 1, [
        (0, "relative", 10), (0, "average", 100), (0, "avail", 10), (0, "use", 25), (1, "avail", 95), (1, "average", 0), (2, "avail", 10),
    ]),
    "A12": ("token_bucket", 1, [
        (0, "relative", 10), (0, "average", 0), (0, "avail", 10), (0, "use", 10), (0.5, "average", 100), (0.5, "avail", 0),
        ((1, 1), "avail", 110), (1.1, "average", 0), (1.1, "avail", 110), (1.2, "use", 1), (1.3, "avail", 109), (2.5, "avail", 10),
    ]),
    "A7": ("token_bucket", 1, [(0, "rate", 10), (0, "use", 11), (0, "avail", 0), (1, "avail", 0), ((1, 1), "avail", 9)]),
    "A8": ("token_bucket", 1, [
        (0, "rate", 10), (0, "use", 30), *[(t, "avail", 0) for t in (0.5, 1.0, 1.001, 1.5, 2.0, 2.001, 2.002, 3.001, 3.002)],
        (3.003, "avail", 10),
    ]),
    "A9": ("token_bucket", 1, [(0, "rate", 10), (0, "use", 30), (2.5, "avail", 5), (3.5, "avail", 5), (3.501, "avail", 10)]),
    "A10 consumed first": ("token_bucket", 1, [(0, "rate", 10), (5, "use", 10), (5, "avail", 10)]),
    "A10 asked first": ("token_bucket", 1, [(0, "rate", 10), (5, "avail", 10), (5, "use", 10), (5, "avail", 0)]),
    "A11": ("token_bucket", 360, [(0, "rate", 100), (0, "use", 100), (359, "avail", 0), (360, "avail", 0), ((360, 1), "avail", 100)]),
    "A11 five": ("token_bucket", 360, [(0, "rate", 5), (0, "use", 7), (361, "avail", 3), (721, "avail", 3), (722, "avail", 5)]),
    "A37 token bucket": ("token_bucket", 1, [(0, "rate", 10), (0, "use", 30), (0.1, "rate", 10), (0.1, "avail", 10)]),
    "A37 classic": ("classic", 1, [
        (0, "rate", 10), (0, "use", 30), (0.5, "rate", 10), (0.5, "avail", 0), (1.4, "avail", 0), (1.5, "avail", 0), (3.5, "avail", 10),
    ]),
}  # fmt: skip


@pytest.mark.parametrize("case", LIMITER_CASES)
def test_limiter_answers_as_the_broker(case: str) -> None:
    kind, period_s, steps = LIMITER_CASES[case]
    windows = [w for w in tables_of(limiter_log(kind, steps, period_s))["limiter_windows"] if w["level"] == "subscription"]
    asked = sum(1 for step in steps if step[1] == "avail")
    assert asked == sum(w["compared"] for w in windows)
    assert asked == sum(w["exact"] for w in windows), windows


def test_limiter_comparison_can_fail() -> None:
    steps = [*LIMITER_CASES["A7"][2][:-1], ((1, 1), "avail", 10)]
    (window,) = [w for w in tables_of(limiter_log("token_bucket", steps))["limiter_windows"] if w["level"] == "subscription"]
    assert (window["exact"], window["within_clock_step"], window["largest_difference"]) == (2, 1, 1)


def counters(log: Log) -> dict[str, int]:
    """The six counters since open that are not 0, as M_k, B_t …; and reads_blocked."""
    (row,) = tables_of(log.events)["subscription_throttle"]
    short = {"broker": "k", "topic": "t", "subscription": "s"}
    found = {
        f"{letter}_{short[level]}": row[f"dispatch_throttled_{dimension}_events_by_{level}_limit_since_open"]
        for letter, dimension in (("M", "msg"), ("B", "bytes"))
        for level in short
    }
    found["blocked"] = row["reads_blocked"]
    return {name: count for name, count in found.items() if count}


WALK_CASES: dict[str, tuple[dict[str, Any], dict[str, int]]] = {
    "A24": ({"want": 1000, "broker": (-1, -1), "topic": (10, -1), "sub": (5, 1024)}, {"M_t": 1, "M_s": 1, "B_s": 1}),
    "A25": ({"want": 1000, "broker": (-1, -1), "topic": (10, -1), "sub": (10, -1)}, {"M_t": 1}),
    "A26": ({"want": 1000, "broker": (0, -1), "topic": (0, 0), "sub": (0, 0)}, {"M_k": 1, "blocked": 1}),
    "A27": ({"want": 1000, "broker": (50, 0)}, {"M_k": 1, "B_k": 1, "blocked": 1}),
    "A28": ({"want": 1, "broker": (-1, -1), "topic": (5, 1_000_000)}, {"B_t": 1}),
    "A31": ({"want": 100, "broker": (-1, -1), "sub": (10, -1)}, {"M_s": 1}),
    "narrowed to 32 bits": ({"want": 100, "broker": (2**31, -1), "sub": (2**32 + 7, -1)}, {"M_s": 1}),
}


@pytest.mark.parametrize("case", WALK_CASES)
def test_walk_counts_as_the_broker(case: str) -> None:
    answers, expected = WALK_CASES[case]
    assert expected == counters(Log().start().read(**answers))


def test_a17_broker_limiter_without_rates_is_unlimited_and_each_change_refills_both() -> None:
    log = Log().start().read()
    log.rate("broker", 0, 100).dispatch(0, 60).rate("broker", 100, 100).read()
    (row,) = tables_of(log.events)["subscription_throttle"]
    assert (row["dispatch_throttled_bytes_events_by_broker_limit"], row["reads_blocked"]) == (1, 0)
    assert row["dispatch_throttled_msg_events_by_broker_limit"] == 0, "want 100 is not more than 100"
    assert row["source"] == "modelled"


def test_a21_limiter_stays_when_one_dimension_replaces_the_other() -> None:
    log = Log().start().rate("topic", 100, -1).at(1).rate("topic", -1, 500).read(topic=(-1, 500))
    rows = [w for w in tables_of(log.events)["limiter_windows"] if w["level"] == "topic"]
    assert {("msg", 0), ("bytes", 500)} == {(w["dimension"], w["permits_end"]) for w in rows}
    assert len({w["created_at"] for w in rows}) == 1


def test_a22_closed_topic_has_no_limiter() -> None:
    log = Log().start().rate("topic", 10)
    topic = log.events[-1]["topic"]
    log.at(1).add("topic_unload", topic=topic).add("topic_load", topic=topic).read()
    last = tables_of(log.events)["subscription_throttle"][-1]
    assert (last["reads"], last["dispatch_throttled_msg_events_by_topic_limit"], last["complete"]) == (1, 0, False)


def test_a29_every_read_counts_though_nothing_is_delayed() -> None:
    log = Log().start().rate("topic", 50)
    for second in range(30):
        log.at(second).publish(1).read(topic=(50, -1)).dispatch(1)
    (row,) = tables_of(log.events)["subscription_throttle"]
    assert row["dispatch_throttled_msg_events_by_topic_limit"] == 30
    assert (row["reads_nominal"], row["reads_binding"], row["blocked_ns"]) == (30, 0, 0)


def test_a30_blocked_for_a_whole_period_counts_once_a_second() -> None:
    log = Log().start().rate("subscription", 5, period_s=360).publish(50).dispatch(5)
    for second in range(1, 361):
        log.at(second).read()
    log.at(361).read()
    rows = tables_of(log.events)["subscription_throttle"]
    assert sum(r["dispatch_throttled_msg_events_by_subscription_limit"] for r in rows) == 361
    assert sum(r["reads_blocked"] for r in rows) == 360
    assert sum(r["blocked_ns"] for r in rows) == 360 * SECOND
    assert sum(r["blocked_ns_by_subscription_limit"] for r in rows) == 360 * SECOND
    assert len(rows) == 7


def test_a31_debt_of_a_batch_is_paid_in_whole_windows() -> None:
    log = Log().start().rate("subscription", 10).read(want=100, sub=(10, -1)).dispatch(60, entries=10)
    for second, answer in ((1.001, 0), (2.002, 0), (3.003, 0), (4.004, 0), (5.005, 0), (6.006, 10)):
        log.at(second).read(sub=(answer, -1))
    (window,) = [w for w in tables_of(log.events)["limiter_windows"] if w["level"] == "subscription"]
    assert (window["compared"], window["exact"], window["over_delivered"]) == (7, 7, 50)


def test_a32_batch_mode_charges_entries() -> None:
    log = Log().start(dispatchThrottlingOnBatchMessageEnabled="true").rate("subscription", 5, period_s=360)
    for _ in range(5):
        log.dispatch(100, entries=1)
    (window,) = [w for w in tables_of(log.events)["limiter_windows"] if w["level"] == "subscription"]
    assert (window["used"], window["permits_end"], window["over_delivered"]) == (5, 0, 0)


def test_a35_only_the_subscription_is_charged_with_its_own_limit() -> None:
    log = Log().start().rate("subscription", 10, 1024)
    for tenth in range(100):
        log.at(tenth / 10).read().dispatch(1, 100)
    (row,) = tables_of(log.events)["subscription_throttle"]
    assert row["dispatch_throttled_msg_events_by_subscription_limit"] > 0
    assert row["dispatch_throttled_bytes_events_by_subscription_limit"] > 0
    for level in ("broker", "topic"):
        for dimension in ("msg", "bytes"):
            assert row[f"dispatch_throttled_{dimension}_events_by_{level}_limit"] == 0


def bucket(rate: int, period_ns: int, capacity: int, resolution_ns: int, tokens: int, steps: list[tuple[int, int]]) -> list[int]:
    """Balance after each (now_ns, consumed before asking)."""
    last_ns = remainder = pending = 0
    seen = []
    for now_ns, consumed in steps:
        pending += consumed
        if is_refill_due(last_ns, resolution_ns, now_ns):
            tokens, remainder = refilled(tokens, pending, last_ns, remainder, rate, period_ns, capacity, now_ns)
            pending, last_ns = 0, now_ns
        seen.append(tokens - pending)
    return seen


STEP_16_MS = 16_000_000


def test_a13_tokens_grow_with_time_up_to_the_capacity() -> None:
    steps = [(5 * SECOND, 0), (6 * SECOND, 0), (10 * SECOND, 0), (15 * SECOND, 0), (15 * SECOND, 100), (16 * SECOND, 0)]
    assert bucket(10, SECOND, 100, STEP_16_MS, 0, steps) == [50, 60, 100, 100, 0, 10]


def test_a14_consumption_may_go_below_zero() -> None:
    assert bucket(10, SECOND, 100, STEP_16_MS, 0, [(5 * SECOND, 100), (10 * SECOND, 0), (10_100_000_000, 0)]) == [-50, 0, 1]


def test_a15_time_that_bought_no_token_is_kept() -> None:
    ms = 1_000_000
    assert bucket(1, SECOND, 10, 0, 0, [(150 * ms, 0), (300 * ms, 0), (999 * ms, 0), (1000 * ms, 0), (2000 * ms, 0)]) == [0, 0, 0, 1, 2]


@pytest.mark.parametrize("rate", [1, 7, 10**6, 2**31, 2**53 + 1, INT64_MAX])
def test_a16_any_rate_is_exact_after_one_long_period(rate: int) -> None:
    period = 10 * SECOND
    assert [0, rate] == bucket(rate, period, rate, period, 0, [(10 * SECOND, 0), (10_001_000_000, 0)])


@pytest.mark.parametrize("case", [f"A{n}" for n in range(1, 38)])
def test_every_case_is_tested_or_listed_with_its_reason(case: str) -> None:
    here = {name.split()[0] for name in (*LIMITER_CASES, *WALK_CASES)} | ARITHMETIC_ONLY | POLICIES
    here |= {name.split("_")[1].upper() for name in globals() if name.startswith("test_a")}
    assert (case in here) != (case in OUTSIDE_THE_LOG)
