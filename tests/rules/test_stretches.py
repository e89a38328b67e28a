"""How long stretches last: their parts add up to them, wherever windows and steps of the wall clock cut."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from suite.examples import examples

from pipeline.rules.channel import stretches as invariants
from pipeline.rules.channel.layout import COOLDOWN, COOLDOWN_RATE, FIRST_TYPE, NO_CHANNEL, PAUSED, STRETCH_COUNT, UNWRITABLE
from pipeline.rules.compiled import compiled
from pipeline.rules.integers import INT64_MAX
from pipeline.rules.records import Record

BEGIN, END, BORDER, STEP, END_ALL, CHARGE = range(6)
BY_TIMER = FIRST_TYPE + COOLDOWN_RATE


@compiled
def act(channel: Record, what: int, stretch: int, ts_us: int, ns: int) -> bool:
    if what == BEGIN:
        invariants.begin(channel, stretch, ts_us, ns)
    elif what == END:
        invariants.end(channel, stretch, ns)
    elif what == BORDER:
        return invariants.pass_border(channel, ts_us, ns)
    elif what == STEP:
        invariants.step_clock(channel, ts_us, ns)
    elif what == CHARGE:
        invariants.charge(channel, stretch, ns)
    else:
        invariants.end_all(channel, ns)
    return False


@compiled
def place_of_border(began_us: int, began_ns: int, border_us: int, latest_ns: int) -> int:
    return invariants.place_of_border(began_us, began_ns, border_us, latest_ns)


def channel() -> Record:
    row = NO_CHANNEL.copy()[0]
    row.cooldown_end_ns = INT64_MAX
    return row


def window(row: Record) -> list[int]:
    """What lasted in the window that closes; the next one begins at 0."""
    lasted = row.lasted_ns.tolist()
    row.lasted_ns[:] = 0
    return lasted


cuts = st.tuples(
    st.sampled_from([BEGIN, BEGIN, END, BORDER, BORDER, STEP, CHARGE]), st.integers(0, STRETCH_COUNT - 1), st.integers(0, 5_000)
)


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(cuts, max_size=60), st.integers(-10_000, 10_000))
def test_the_parts_add_up_however_it_is_cut(todo: list[tuple[int, int, int]], step_us: int) -> None:
    """A border lies anywhere on the wall clock, before or after now; the wall clock may step either way."""
    row, ns, ts_us = channel(), 1_000_000_000, 10**9
    sums, began, expected = [0] * STRETCH_COUNT, dict[int, int](), [0] * STRETCH_COUNT
    for what, stretch, later_us in [*todo, (END_ALL, 0, 7)]:
        ns, ts_us = ns + 1_000 * later_us, ts_us + later_us
        if what == BEGIN and stretch not in began:
            began[stretch] = ns
            act(row, BEGIN, stretch, ts_us, ns)
        elif what == BORDER:
            is_any = act(row, BORDER, 0, ts_us - later_us // 2 if stretch else ts_us + 99, ns)
            parts = window(row)
            assert is_any == any(parts)
            sums = [a + b for a, b in zip(sums, parts, strict=True)]
        elif what == STEP:
            ts_us += step_us
            act(row, STEP, 0, ts_us, ns)
        elif what == CHARGE:
            act(row, CHARGE, stretch, ts_us, ns)
        elif what in (END, END_ALL):
            act(row, what, stretch, ts_us, ns)
            for ended in [stretch] if what == END else list(began):
                expected[ended] += ns - began.pop(ended, ns)
        assert set(row.running.nonzero()[0].tolist()) == set(began)
    assert [a + b for a, b in zip(sums, window(row), strict=True)] == expected


def test_each_window_has_the_part_before_its_border() -> None:
    """Begun at 10.000 s; the border is at 12 s, and the next event comes at 15 s."""
    row = channel()
    act(row, BEGIN, UNWRITABLE, 10_000_000, 400)
    act(row, BORDER, 0, 12_000_000, 400 + 5 * 10**9)
    assert window(row)[UNWRITABLE] == 2 * 10**9
    act(row, END, UNWRITABLE, 0, 400 + 5 * 10**9)
    assert window(row)[UNWRITABLE] == 3 * 10**9


def test_a_moment_before_the_last_one_adds_nothing_and_takes_nothing_back() -> None:
    row = channel()
    act(row, BEGIN, PAUSED, 0, 400)
    for ns in (500, 300, 600):
        act(row, CHARGE, PAUSED, 0, ns)
    assert window(row)[PAUSED] == 200


def test_a_border_before_the_beginning_counts_nothing_and_is_forgotten() -> None:
    row = channel()
    act(row, BEGIN, PAUSED, 10_000_000, 0)
    assert not act(row, BORDER, 0, 5_000_000, 0)
    act(row, BORDER, 0, 12_000_000, 9 * 10**9)
    assert window(row)[PAUSED] == 2 * 10**9


def test_a_step_of_the_wall_clock_moves_borders_but_no_time() -> None:
    """An hour ahead after a second: the border is a second after the step, not an hour before the beginning."""
    row = channel()
    act(row, BEGIN, PAUSED, 10_000_000, 0)
    act(row, STEP, 0, 3_611_000_000, 10**9)
    act(row, BORDER, 0, 3_612_000_000, 9 * 10**9)
    assert window(row)[PAUSED] == 2 * 10**9


@pytest.mark.parametrize(
    ("stretch", "row_of", "lasted"),
    [
        (COOLDOWN, {"cooldown_end_ns": 100}, 100),
        (BY_TIMER, {"by_rule": 1, "due_ns": 70}, 70),
        (BY_TIMER, {"by_rule": 0, "due_ns": 70}, 500),
        (PAUSED, {"by_rule": 1, "due_ns": 70, "throttled": 1}, 70),
        (PAUSED, {"by_rule": 1, "due_ns": 70, "throttled": 2}, 500),
        (UNWRITABLE, {"by_rule": 1, "due_ns": 70, "throttled": 1, "cooldown_end_ns": 100}, 500),
    ],
)
def test_a_border_counts_no_time_after_a_timer_that_ends_the_stretch(stretch: int, row_of: dict[str, int], lasted: int) -> None:
    row = channel()
    for name, value in row_of.items():
        row[name] = value
    act(row, BEGIN, stretch, 0, 0)
    act(row, BORDER, 0, 10**6, 500)
    assert window(row)[stretch] == lasted


@pytest.mark.parametrize(("border_us", "latest_ns", "place"), [(5, 9_000, 5_000), (0, 9_000, 4_000), (5, 4_500, 4_500), (5, 1, 4_000)])
def test_a_border_lies_between_the_beginning_and_the_latest(border_us: int, latest_ns: int, place: int) -> None:
    assert place_of_border(4, 4_000, border_us, latest_ns) == place
