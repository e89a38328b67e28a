"""Which answers are right, by answers and truths made by hand."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bench.trust.backlogs import backlogs
from bench.trust.judge import Judgement, judge
from bench.trust.tally import Tally, broken_promises, markdown, restored, stored
from bench.trust.truth import US_PER_S, Sample, Stretch, Truth, of_simulator

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
NOON_US = round(NOON.timestamp()) * US_PER_S
ENDLESS = Sample(100, 3600 * US_PER_S)


def at(second: float) -> int:
    return NOON_US + round(second * US_PER_S)


def truth(*stretches: tuple[float, float, str], sample: Sample = ENDLESS, behind: bool | None = None, is_whole: bool = True) -> Truth:
    """Each stretch: from, to, causes with `|` between them. The backlog is the same all the time."""
    found = [Stretch(at(begin), at(end), frozenset(causes.split("|")), behind) for begin, end, causes in stretches]
    return Truth(found, {at(second) // US_PER_S: sample for second in range(-60, 700)}, is_whole)


def says(cause: str | None, begin: float = 0, end: float = 60, status: str = "slow consumers", **more: Any) -> dict[str, Any]:
    told = {"cause": cause, "level": None, "dimension": None, "status": status, "behind": status not in ("current", "keeping up")}
    asked = {"from": NOON + timedelta(seconds=begin), "to": NOON + timedelta(seconds=end), "backlog_s": end - begin}
    return {**told, **asked, **more}


@pytest.mark.parametrize(
    ("said", "true", "word"),
    [
        (says("no_permits"), truth((0, 60, "no_permits")), "right"),
        (says("reading"), truth((0, 60, "no_permits")), "wrong"),
        (says("reading"), truth((0, 60, "no_permits|reading")), "right"),
        (says("unknown"), truth((0, 60, "no_permits")), "unknown"),
        # At a border: five seconds of a minute may be either's.
        (says("reading"), truth((0, 35, "no_permits"), (35, 60, "reading")), "right"),
        (says("reading"), truth((0, 37, "no_permits"), (37, 60, "reading")), "wrong"),
        # What was true for no time at all is never right.
        (says("stuck"), truth((0, 1, "no_permits")), "wrong"),
        # A level and a dimension must be those of the truth, where it has them.
        (says("throttled", level="topic", dimension="msg"), truth((0, 60, "throttled topic msg")), "right"),
        (says("throttled", level="topic", dimension="msg"), truth((0, 60, "throttled topic bytes")), "wrong"),
        (says("throttled", level="broker", dimension="msg"), truth((0, 60, "throttled broker")), "right"),
        # Nothing waits, and nothing is said to.
        (says(None, status="current"), truth(sample=Sample(0, 0)), "right"),
        (says(None, status="current"), truth((0, 60, "no_consumer")), "wrong"),
        (says("no_permits"), truth((0, 60, "*")), "open"),
        (says("no_permits"), truth((0, 50, "no_permits"), is_whole=False), "open"),
    ],
)
def test_a_cause_is_right_if_it_is_the_main_one(said: dict[str, Any], true: Truth, word: str) -> None:
    assert judge(said, true).word == word


def test_entries_weigh_more_than_time() -> None:
    """Fifty seconds with one entry, ten with a hundred."""
    samples = {at(second) // US_PER_S: Sample(1 if second < 50 else 100, 0) for second in range(60)}
    true = Truth([Stretch(at(0), at(50), frozenset({"in_flight"})), Stretch(at(50), at(60), frozenset({"no_consumer"}))], samples, True)
    assert [judge(says(cause), true).word for cause in ("no_consumer", "in_flight")] == ["right", "wrong"]


FRESH, STALE = Sample(3, US_PER_S), Sample(3, 30 * US_PER_S)


@pytest.mark.parametrize(
    ("true", "behind"),
    [
        (truth((0, 60, "no_permits"), sample=STALE), True),
        # Something is read every second: what waits is on its way.
        (truth((0, 60, "throttled topic msg"), sample=FRESH), False),
        (truth((0, 60, "in_flight"), sample=STALE), None),
        (truth((0, 60, "in_flight"), sample=STALE, behind=True), True),
        (truth((0, 60, "delayed"), sample=STALE), False),
        # It has just begun, or has just gone away.
        (truth((0, 45, "in_flight"), (45, 52.5, "in_flight"), (52.5, 60, "no_permits"), sample=STALE), None),
        (truth(sample=Sample(0, 0)), False),
        (truth(is_whole=False), None),
    ],
)
def test_behind_is_who_has_waited_for_ten_seconds_for_a_reason(true: Truth, behind: bool | None) -> None:
    assert true.is_behind(at(60)) is behind
    clear, alarm = judge(says("in_flight", status="keeping up"), true), judge(says("in_flight", status="unacknowledged"), true)
    assert (clear.false_clear, clear.false_alarm) == (behind is True, False)
    assert (alarm.false_clear, alarm.false_alarm) == (False, behind is False)


def test_a_moment_of_a_backlog_of_which_no_truth_is_stated_is_open() -> None:
    """A truth has a border, too."""
    assert judge(says("no_permits", backlog_s=4.0), truth()).word == "open"
    assert judge(says("no_permits", backlog_s=6.0), truth()).word == "wrong"


def test_who_is_current_by_the_next_whole_second_may_have_been_so_at_the_instant() -> None:
    held = truth((0, 60, "no_permits"))
    over = Truth(held.stretches, {**held.samples, at(60) // US_PER_S: Sample(0, 0)}, True)
    assert (held.is_behind(at(59.5)), over.is_behind(at(59.5)), over.is_behind(at(59))) == (True, None, True)


def test_unknown_is_no_false_alarm() -> None:
    well = truth(sample=Sample(0, 0))
    found = [judge(says("no_permits", status=status), well).false_alarm for status in ("slow consumers", "unknown")]
    assert found == [True, False]


def test_unknown_is_no_all_clear() -> None:
    assert not judge(says("unknown", status="unknown"), truth((0, 60, "no_permits"))).false_clear


def test_a_clock_that_is_set_moves_the_truth() -> None:
    """At 20 s of the monotonic clock the wall clock is set back by 5 s."""
    line = {"from_ns": 10 * 10**9, "to_ns": 30 * 10**9, "cause": "stuck", "level": None, "dimension": None}
    found = of_simulator([line], [(0, 0), (20 * 10**9, -5 * US_PER_S)])
    assert [(one.from_us, one.to_us) for one in found] == [(10 * US_PER_S, 20 * US_PER_S), (15 * US_PER_S, 25 * US_PER_S)]


def test_a_backlog_is_what_is_published_and_not_acknowledged() -> None:
    where = {"topic": "t", "sub": "s"}
    log = [
        {"type": "cursor_open", "ts": 0, **where, "ledger": 5, "entry": -1},
        *({"type": "publish", "ts": 100_000 * (entry + 1), "topic": "t", "ledger": 5, "entry": entry} for entry in range(4)),
        {"type": "ack", "ts": 1_500_000, **where, "ack_type": "individual", "ledger": 5, "entry": 2},
        {"type": "mark_delete", "ts": 2_500_000, **where, "ledger": 5, "entry": 0, "persisted": False},
        {"type": "mark_delete", "ts": 3_500_000, **where, "ledger": 5, "entry": 2, "persisted": False},
        {"type": "heartbeat", "ts": 4_000_000},
    ]
    found = backlogs(log)["t", "s"]
    assert {second: (one.backlog, one.age_us) for second, one in found.items()} == {
        1: (4, 900_000),
        2: (3, 1_900_000),
        3: (2, 2_800_000),
        4: (1, 3_600_000),
    }


def test_the_table_has_each_cause_and_what_was_promised() -> None:
    tally = Tally()
    for count, word, confidence in ((98, "right", "high"), (2, "wrong", "high"), (1, "right", "low")):
        for _ in range(count):
            tally.take(Judgement("throttled topic msg", word, "stuck", False, False), confidence, "a log")
    tally.take(Judgement("unknown", "unknown", "stuck", True, False), "low", "a log")
    tally.take(Judgement("stuck", "open", "*", False, True), "high", "a log")
    lines = markdown(tally, 1).splitlines()
    assert "| throttled | 98 of 100 |  | 1 of 1 | 2 |  |" in lines
    assert "| unknown |  |  |  |  | 1 |" in lines
    assert "| right | 98.0 % |  | 100.0 % |" in lines
    assert "Wrong all-clears: 1. False alarms: 1." in lines
    assert broken_promises(tally) == ["high: 98.00% are right, 99% are promised", "1 wrong all-clears"]
    assert markdown(restored(stored({"a log": tally}))["a log"], 1) == markdown(tally, 1)
