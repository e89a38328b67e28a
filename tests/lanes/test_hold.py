"""A lane on hold changes nothing but when; seeded with what a backfill computed, it goes on as if nothing had come late."""

import random
from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from busy_log import busy_log, cut, without
from capture_events import capture_events
from control_rows import REQUEST, order, seed
from day_logs import around_midnight
from hypothesis import given
from hypothesis import strategies as st
from lane_rows import lane_rows
from lane_tables import SETTINGS, Table, as_tables, drain_row, run_lane, tables_of
from real_captures import CAPTURES, EVERY_CAPTURE

from pipeline.backfill.refold import Refold
from pipeline.backfill.stretch import HELD, EpochSpan, Stretch
from pipeline.lanes import hold, windows
from pipeline.lanes.lane import Lane
from pipeline.lanes.orders import PART_BYTES, Orders, Seed, parts_of
from pipeline.machines.outcome import Rows
from schemas.events import HOLD_CODE, RELEASE_CODE
from schemas.lane_columns import COLUMN
from schemas.tables.lane_answers import ANSWERS

#: A fold until a hold leaves out nothing.
ANY_DATE = date(2026, 1, 1)


def answers(outcomes: list[Rows]) -> list[tuple[int, int, int]]:
    """(answer, epoch, next_seq) of each."""
    answers = [rows.columns for rows in outcomes if rows.table == "lane_answers"]
    return [(columns["answer"], columns["epoch"], columns["next_seq"]) for columns in answers]


def of_the_log(tables: dict[str, Table]) -> dict[str, Table]:
    return {name: rows for name, rows in tables.items() if name not in ("lane_answers", "late_events")}


def computed_until(events: list[dict], next_seq: int) -> tuple[list[Rows], bytes]:
    """Outcomes and state of a backfill from the beginning of the one epoch up to where its lane holds."""
    before = [event for event in events if event["seq"] < next_seq]
    span = EpochSpan("b", 1, events[0]["epoch"], 1, next_seq - 1)
    fold = Refold(Stretch(span, 1, next_seq - 1, next_seq - 1, HELD), b"", ANY_DATE, SETTINGS)
    outcomes = [*fold.offer(lane_rows(before)), *fold.finish()]
    (state,) = [rows.payload for rows in outcomes if rows.table == "lane_answers"]
    return [rows for rows in outcomes if rows.table != "lane_answers"], state


@pytest.mark.parametrize("random_seed", range(12))
def test_nothing_of_a_hold_is_in_the_tables(random_seed: int) -> None:
    rng = random.Random(random_seed)
    events = without(busy_log(), 200, 201) if random_seed % 3 else busy_log()
    micro_batches = [*cut(events, rng, 9), [drain_row()]]
    whole, counts = run_lane(micro_batches)
    first, last = sorted(rng.sample(range(9), 2))
    on_hold = [*micro_batches]
    on_hold[first] = [*on_hold[first], order(HOLD_CODE)]
    on_hold[last] = [order(RELEASE_CODE), *on_hold[last]]
    outcomes, counts_on_hold = run_lane(on_hold, restart=bool(random_seed % 2))
    assert of_the_log(as_tables(outcomes, events)) == of_the_log(as_tables(whole, events)), f"repeat: pytest {__file__} -k {random_seed}"
    # The newest event, and the bounds within which places came twice, are those of the last micro-batch: they are in no table.
    of_a_micro_batch = {name: 0 for name in counts if name == "newest_ts" or name.startswith("repeats_")}
    assert counts_on_hold | of_a_micro_batch == counts | of_a_micro_batch
    (held, at_hold), (released, at_release) = [(answer, next_seq) for answer, _, next_seq in answers(outcomes)]
    assert (held, released) == (hold.HELD, hold.RELEASED)
    assert at_hold == at_release


def check_seeded(events: list[dict], missing: range, at: int, rng: random.Random) -> None:
    """`missing` are held for lost when the lane holds, after `at` events; what a backfill computes until there with them, and what the lane
    gives from there on, is what a lane gives that missed nothing.
    """
    given_up = [event for event in events[:at] if event["seq"] not in missing]
    came = [[lane_rows(given_up, 0)], [lane_rows(events[at : at + 1], 1)], [lane_rows(events[at + 1 : at + 2], 2), order(HOLD_CODE)]]
    before, counts = run_lane(came)
    assert counts["lost"] == len(missing)
    (held,) = answers(before)
    assert held == (hold.HELD, events[0]["epoch"], events[at + 1]["seq"] + 1)
    _, epoch, next_seq = held
    computed, state = computed_until(events, next_seq)
    rest = cut(events[at + 2 :], rng, 3)
    outcomes, _ = run_lane([*came, *rest[:2], [seed(state, epoch, next_seq)], rest[2], [drain_row()]], restart=True)
    assert answers(outcomes) == [held, (hold.SEEDED, epoch, next_seq)]
    after = outcomes[next(n for n, rows in enumerate(outcomes) if rows.table == "lane_answers" and rows.columns["answer"] == hold.SEEDED) :]
    sound = of_the_log(tables_of(events))
    assert of_the_log(as_tables([*computed, *after], events)) == sound
    assert of_the_log(as_tables(outcomes, events)) != sound, "what was missing made a difference"


@pytest.mark.parametrize("random_seed", range(6))
def test_a_seeded_lane_goes_on_as_if_nothing_had_been_missing(random_seed: int) -> None:
    rng = random.Random(random_seed)
    events, first = busy_log(), rng.randint(30, 300)
    missing = range(first, first + rng.randint(1, 20))
    check_seeded(events, missing, rng.randint(missing.stop + 120, len(events) - 60), rng)


@EVERY_CAPTURE
def test_a_seeded_lane_of_a_real_broker_goes_on_as_if_nothing_had_been_missing(name: str) -> None:
    rng = random.Random(name)
    events = capture_events(CAPTURES / name)
    events = [event for event in events if event["epoch"] == events[0]["epoch"]]
    first = len(events) // 4
    patient = next(n for n in range(first + 12, len(events)) if events[n]["ns"] - events[first + 12]["ns"] > 10_000_000_000)
    check_seeded(events, range(events[first]["seq"], events[first]["seq"] + 10), patient + 1, rng)


def held_lane(events: list[dict]) -> tuple[Lane, int]:
    """A lane on hold and where it stands."""
    lane = Lane(SETTINGS)
    lane.offer(lane_rows(events))
    lane.offer(order(HOLD_CODE))
    ((_, _, next_seq),) = answers(lane.finish())
    return lane, next_seq


def test_a_state_that_does_not_fit_is_refused_and_the_lane_goes_on_from_its_own() -> None:
    events, rest = busy_log()[:500], busy_log()[500:]
    epoch, next_seq = events[0]["epoch"], 501
    _, state = computed_until(events, next_seq)
    other_window = replace(SETTINGS, window_ms=30_000)
    fold = Refold(Stretch(EpochSpan("b", 1, epoch, 1, 500), 1, 500, 500, HELD), b"", ANY_DATE, other_window)
    other_version = [*fold.offer(lane_rows(events)), *fold.finish()][-1].payload
    wrong = [
        seed(state, epoch, next_seq + 1),
        seed(state, epoch + 1, next_seq),
        seed(other_version, epoch, next_seq),
        seed(state, epoch, next_seq)[:-1],
    ]
    for rows in wrong:
        lane, _ = held_lane(events)
        lane.offer(rows)
        lane.offer(lane_rows(rest, 1))
        assert [answer for answer, _, _ in answers(lane.finish())] == [hold.REFUSED]
        assert not lane.hold
        assert lane.epochs[epoch].next_seq == len(events) + len(rest) + 1


def test_a_state_that_nobody_waits_for_is_refused() -> None:
    events = busy_log()[:500]
    _, state = computed_until(events, 501)
    lane, _ = held_lane(events)
    lane.offer(seed(state, events[0]["epoch"], 501, REQUEST + 1))
    assert [answer for answer, _, _ in answers(lane.finish())] == [hold.REFUSED]
    assert lane.hold.request == REQUEST, "it waits for the right one"


def test_a_hold_lapses_when_too_much_waits_or_the_log_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    events, rest = busy_log()[:100], busy_log()[100:]
    for settings, most_rows, control in (
        (replace(SETTINGS, hold_ms=60_000), hold.MOST_ROWS, None),
        (SETTINGS, len(rest) - 1, None),
        (SETTINGS, hold.MOST_ROWS, drain_row()),
    ):
        monkeypatch.setattr(hold, "MOST_ROWS", most_rows)
        lane, _ = held_lane(events)
        lane.settings = settings
        lane.offer(lane_rows(rest[:10], 1))
        assert answers(lane.finish()) == []
        lane.offer(lane_rows(rest[10:], 2))
        if control is not None:
            lane.offer(control)
        assert [answer for answer, _, _ in answers(lane.finish())] == [hold.LAPSED]
        assert lane.epochs[events[0]["epoch"]].next_seq == len(busy_log()) + 1


def test_what_lies_behind_the_lane_waits_without_making_the_hold_long() -> None:
    """A collector brings a file of an hour ago while the lane holds."""
    events = busy_log()
    lane, next_seq = held_lane(events[:400])
    old = lane_rows(events[3:4], 1)
    old[0, COLUMN["ns"]] -= 3_600 * 10**9
    lane.offer(np.concatenate([lane_rows(events[400:410], 1), old]))
    assert answers(lane.finish()) == []
    ahead = lane_rows(events[410:411], 1)
    ahead[0, COLUMN["ns"]] += 3_600 * 10**9
    lane.offer(ahead)
    assert answers(lane.finish()) == [(hold.LAPSED, events[0]["epoch"], next_seq)]


def test_an_epoch_whose_hold_lapsed_says_with_its_next_mark_that_it_goes_on_from_no_snapshot() -> None:
    """Rows that it wrote while others were replaced may be missing."""
    events = around_midnight(busy_log())
    for control, broken in ((order(RELEASE_CODE), False), (lane_rows(events[-1:]), True)):
        impatient = replace(SETTINGS, hold_ms=1000)
        ahead = [lane_rows(events[-30:]), control] if broken else [control]
        outcomes, _ = run_lane(
            [[lane_rows(events[:-30]), order(HOLD_CODE)], ahead, [lane_rows(events[-30:])], [drain_row()]], settings=impatient
        )
        (drained,) = [row for row in as_tables(outcomes, events)["lane_snapshots"] if row["mark"] == "drained"]
        assert (drained["began_from"] == windows.BROKEN_CHAIN) == broken


def test_a_request_that_was_given_up_in_the_same_micro_batch_asks_for_nothing() -> None:
    lane = Lane(SETTINGS)
    lane.offer(np.concatenate([order(RELEASE_CODE), order(HOLD_CODE)]))
    assert answers(lane.finish()) == []
    assert not lane.hold


def test_a_newer_request_takes_over_what_waits() -> None:
    lane, next_seq = held_lane(busy_log()[:100])
    lane.offer(lane_rows(busy_log()[100:110]))
    lane.offer(order(HOLD_CODE, REQUEST + 1))
    assert answers(lane.finish()) == [(hold.HELD, busy_log()[0]["epoch"], next_seq)]
    assert lane.hold.request == REQUEST + 1
    assert len(lane.hold.rows()) == 10


def test_a_lane_without_an_open_epoch_holds_too() -> None:
    lane = Lane(SETTINGS)
    lane.offer(order(HOLD_CODE))
    assert answers(lane.finish()) == [(hold.HELD, 0, 0)]
    lane.offer(order(RELEASE_CODE))
    assert answers(lane.finish()) == [(hold.RELEASED, 0, 0)]


def test_every_answer_has_its_number() -> None:
    assert [ANSWERS[number] for number in (hold.HELD, hold.SEEDED, hold.RELEASED, hold.LAPSED, hold.REFUSED)] == [
        "held",
        "seeded",
        "released",
        "lapsed",
        "refused",
    ]


@given(st.binary(max_size=500))
def test_a_state_comes_out_of_its_parts(state: bytes) -> None:
    assert {len(part) for part in parts_of(state)} == {PART_BYTES}
    orders = Orders()
    orders.add(seed(state, 5, 9))
    assert list(orders.seeds()) == [Seed(REQUEST, 5, 9, state)]
