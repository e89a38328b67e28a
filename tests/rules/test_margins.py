"""What blocked reads would have got without the limiter that blocked them, and which one is next: small logs, and a bookkeeper's word."""

from collections import Counter
from typing import Any

import pytest
from bookkeeper.epoch_books import ANSWERS, EpochBooks, observed_answers
from bookkeeper.longs import LEVELS
from bookkeeper.random_log import ANSWERS as RANDOM_ANSWERS
from bookkeeper.random_log import PERIODS_S, RATES
from bookkeeper.walk import Answer, Walk, walk
from capture_events import capture_events
from cause_story import WHERE, Story
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lane_rows import lane_rows
from lane_tables import as_tables, drain_row, run_lane, tables_of
from log_builder import EPOCH, START_TS_US, TOPIC, Log
from real_captures import CAPTURES, EVERY_CAPTURE
from suite.examples import examples

Event = dict[str, Any]
#: level, dimension, next level, next dimension → reads, wanted entries, wanted bytes, granted entries, granted bytes.
Margins = dict[tuple[str | None, ...], tuple[int, ...]]
PAIR = ("level", "dimension", "next_level", "next_dimension")
SUMS = ("reads", "wanted_entries", "wanted_bytes", "granted_entries", "granted_bytes")


def margins(events: list[Event]) -> Margins:
    """All rows of `limiter_margins`, over all windows and subscriptions."""
    found: dict[tuple[str | None, ...], Counter[str]] = {}
    for row in tables_of(events)["limiter_margins"]:
        found.setdefault(tuple(row[name] for name in PAIR), Counter()).update({name: row[name] for name in SUMS})
    return {pair: tuple(sums[name] for name in SUMS) for pair, sums in found.items()}


def limited(**rates: int) -> Story:
    """Five entries wait; limiters of so many messages per second are there."""
    story = Story()
    for level, rate in rates.items():
        story.rate(level, rate)
    return story.puts(5)


def test_without_the_subscriptions_limiter_all_that_waits_is_granted() -> None:
    story = Story().puts(5).reads(broker_msgs=-1, broker_bytes=-1, sub_msgs=0, sub_bytes=-1)
    assert margins(story.events) == {("subscription", "msg", None, None): (1, 100, 5_000_000, 100, 5_000_000)}


def test_the_brokers_limiter_was_asked_and_binds_next() -> None:
    """It had 3 left for the 5 that wait."""
    story = Story().puts(5).reads(broker_msgs=3, broker_bytes=-1, topic_msgs=0, topic_bytes=-1)
    assert margins(story.events) == {("topic", "msg", "broker", "msg"): (1, 100, 5_000_000, 3, 5_000_000)}


def test_a_limiter_that_leaves_enough_for_what_waits_does_not_bind() -> None:
    story = Story().puts(5).reads(broker_msgs=5, broker_bytes=-1, topic_msgs=0, topic_bytes=-1)
    assert margins(story.events) == {("topic", "msg", None, None): (1, 100, 5_000_000, 5, 5_000_000)}


def test_the_limiters_behind_the_one_that_blocks_are_looked_up() -> None:
    """The log has no answer of the subscription's: it had 2 of its 2 permits, and after their delivery none."""
    story = limited(subscription=2).reads(topic_msgs=0, topic_bytes=-1)
    assert margins(story.events) == {("topic", "msg", "subscription", "msg"): (1, 100, 5_000_000, 2, 5_000_000)}
    story.gives(2).at(0.5).reads(topic_msgs=0, topic_bytes=-1)
    assert margins(story.events) == {("topic", "msg", "subscription", "msg"): (2, 200, 10_000_000, 2, 5_000_000)}


def test_where_both_dimensions_ran_out_the_other_one_is_next() -> None:
    story = Story().puts(5).reads(broker_msgs=0, broker_bytes=0)
    assert margins(story.events) == {("broker", "msg", "broker", "bytes"): (1, 100, 5_000_000, 0, 0)}


def test_after_a_loss_they_are_not_complete() -> None:
    story = Story().puts(5).beats(1, 2).at(3).reads(broker_msgs=-1, broker_bytes=-1, topic_msgs=0, topic_bytes=-1)
    assert [row["complete"] for row in tables_of(story.events)["limiter_margins"]] == [True]
    assert [row["complete"] for row in tables_of(story.loses(1).events)["limiter_margins"]] == [False]


def test_a_log_without_answers_has_margins_too() -> None:
    story = limited(topic=2, subscription=3).reads().gives(2)
    story.at(0.1).reads()
    assert margins(story.events) == {("topic", "msg", "subscription", "msg"): (1, 100, 5_000_000, 1, 5_000_000)}


def test_a_read_that_nothing_waits_for_is_not_counted() -> None:
    story = Story().reads(sub_msgs=0, sub_bytes=-1)
    assert margins(story.puts(1).beats(1).events) == {}


def test_each_window_has_its_own_sums() -> None:
    story = Story().puts(5)
    for second in (58, 59, 60, 61):
        story.at(second).reads(sub_msgs=0, sub_bytes=-1)
    rows = tables_of(story.events)["limiter_margins"]
    assert [(row["window_start"] - START_TS_US, row["reads"]) for row in rows] == [(0, 2), (60_000_000, 2)]


class MarginBooks(EpochBooks):
    """The bookkeeper, who walks every blocked read again without the limiter that left nothing."""

    def __init__(self) -> None:
        super().__init__("b", EPOCH, 60_000, 1_000)
        self.margins: Margins = {}

    def _on_read(self, event: Event, ts: int, ns: int) -> None:
        super()._on_read(event, ts, ns)
        answers: dict[str, Answer] = observed_answers(event)
        limiters = self._limiters_of(event["topic"], event["sub"])
        now = ns if event.get("asked_ns") is None else event["asked_ns"]
        is_observed = bool(answers)
        if not is_observed:
            answers = {level: limiter.look(now) for level, limiter in limiters.items()}
        read = walk(event["want_msgs"], event["want_bytes"], answers.get)
        if not read.blocked_by:
            return
        blocked = exhausted(answers[read.blocked_by], read.blocked_by)
        behind = LEVELS[LEVELS.index(read.blocked_by) + 1 :]
        answers |= {level: limiters[level].look(now) for level in behind if level in limiters and level not in answers}
        msgs, size = answers[read.blocked_by]
        answers[read.blocked_by] = (-1, size) if blocked[1] == "msg" else (msgs, -1)
        self._note(event, blocked, walk(event["want_msgs"], event["want_bytes"], answers.get), answers)

    def _note(self, event: Event, blocked: tuple[str, str], without: Walk, answers: dict[str, Answer]) -> None:
        following: tuple[str | None, str | None] = (None, None)
        if without.blocked_by:
            following = exhausted(answers[without.blocked_by], without.blocked_by)
        else:
            waiting = dict(zip(("msg", "bytes"), self._backlog(event["topic"]).waiting(event["sub"]), strict=True))
            for dimension in ("bytes", "msg"):
                level = without.decisive(dimension)
                if level is not None and waiting[dimension] > without.granted(dimension):
                    following = (level, dimension)
        new = (1, event["want_msgs"], event["want_bytes"], without.granted("msg"), without.granted("bytes"))
        pair = (*blocked, *following)
        self.margins[pair] = tuple(a + b for a, b in zip(self.margins.get(pair, (0,) * 5), new, strict=True))


def exhausted(answer: Answer, level: str) -> tuple[str, str]:
    """The limiter of a level that blocked: of its messages, if both ran out."""
    msgs, size = answer
    return level, "bytes" if size == 0 and msgs % 2**32 != 0 else "msg"


_small = tuple(rate for rate in RATES if rate < 2**40)
_answer = st.sampled_from(RANDOM_ANSWERS)
_rate = st.tuples(
    st.just("rate"), st.sampled_from(LEVELS), st.sampled_from(_small), st.sampled_from(_small), st.sampled_from(PERIODS_S),
    st.sampled_from(("token_bucket", "classic")),
)  # fmt: skip
_read = st.tuples(
    st.just("read"), st.sampled_from((1, 5, 100)), st.sampled_from((1_000, 5_000_000)), st.none() | st.tuples(*(_answer,) * 6)
)
_give = st.tuples(st.just("give"), st.integers(1, 30))
_steps = st.lists(
    st.tuples(st.sampled_from((0, 1_000, 16_000, 400_000, 1_000_000, 2_500_000)), st.one_of(_read, _rate, _read, _give)), max_size=40
)


@st.composite
def held_back(draw: st.DrawFn) -> list[Event]:
    """A subscription with a consumer and a million entries that wait, on a broker that loses no event."""
    log = Log().add("broker_start", cluster="c", version="4.0.8", settings={}, log_version="1.1").add("topic_load", topic=TOPIC)
    log.add("ledger_close", topic=TOPIC, ledger=4, entries=1_000_000, bytes=100_000_000, close_ts=1, snapshot=True)
    log.add("ledger_open", topic=TOPIC, ledger=5, snapshot=True).add("cursor_open", **WHERE, durable=True, ledger=4, entry=-1)
    log.add("dispatcher_open", **WHERE, sub_type="Shared").add("consumer_open", **WHERE, consumer=0, conn=1)
    us = 0
    for wait_us, (kind, *drawn) in draw(_steps):
        us += wait_us
        log.at(us / 1e6)
        if kind == "rate":
            level, msg, size, period_s, limiter = drawn
            log.rate(level, msg, size, period_s, limiter)
        elif kind == "give":
            log.add("dispatch", **WHERE, entries=drawn[0], msgs=drawn[0], bytes=100 * drawn[0])
        else:
            names = [name for of_level in ANSWERS.values() for name in of_level]
            answers = {} if drawn[2] is None else {name: answer for name, answer in zip(names, drawn[2], strict=True) if answer is not None}
            log.add("read", **WHERE, sub_type="Shared", permits=1000, want_msgs=drawn[0], want_bytes=drawn[1], **answers)
    return log.events


@settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(held_back())
def test_a_bookkeeper_says_the_same_of_every_blocked_read(events: list[Event]) -> None:
    books = MarginBooks()
    for event in events:
        books.apply(event)
    assert margins(events) == books.margins


@settings(max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(held_back(), st.integers(1, 9))
def test_cuts_and_restarts_change_no_row(events: list[Event], every: int) -> None:
    rows = lane_rows(events)
    parts = [[rows[first : first + every]] for first in range(0, len(rows), every)]
    cut = as_tables(run_lane([*parts, [drain_row()]], restart=True)[0], events)
    assert cut["limiter_margins"] == tables_of(events)["limiter_margins"]


@pytest.mark.captures
@EVERY_CAPTURE
def test_on_real_logs_margins_belong_to_charges_and_to_blocked_reads(name: str) -> None:
    """No more reads than the limiter's level blocked, and each in a window that is charged to it."""
    tables = tables_of(capture_events(CAPTURES / name, until_as_of=False))
    key = ("epoch", "topic", "subscription", "window_start", "clock_segment")
    charged = {
        (*(row[n] for n in key), row["level"], row["dimension"]) for row in tables["subscription_causes"] if row["cause"] == "throttled"
    }
    blocked: Counter[Any] = Counter()
    for row in tables["subscription_throttle"]:
        for level in LEVELS:
            blocked[(*(row[n] for n in key), level)] += row[f"reads_blocked_by_{level}_limit"]
    counted: Counter[Any] = Counter()
    for row in tables["limiter_margins"]:
        where = tuple(row[n] for n in key)
        counted[*where, row["level"]] += row["reads"]
        assert (*where, row["level"], row["dimension"]) in charged
        assert row["granted_entries"] <= row["wanted_entries"]
        assert (row["level"], row["dimension"]) != (row["next_level"], row["next_dimension"])
    assert not counted - blocked
