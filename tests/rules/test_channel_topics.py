"""Topics whose producers wait, against the set of paused connections: time in which several are paused counts once."""

from hypothesis import given, settings
from hypothesis import strategies as st
from suite.examples import examples

from pipeline.rules.channel import topics as invariants
from pipeline.rules.channel.layout import TOPIC_PAUSE_ROW
from pipeline.rules.compiled import compiled
from pipeline.rules.records import Record, empty_rows

JOIN, LEAVE, END, BORDER = range(4)


@compiled
def act(pause: Record, what: int, ts_us: int, ns: int) -> None:
    if what == JOIN:
        invariants.join(pause, ts_us, ns)
    elif what == LEAVE:
        invariants.leave(pause, ns)
    elif what == END:
        invariants.end_pause(pause, ns)
    else:
        invariants.pass_pause_border(pause, ts_us, ns)


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(st.tuples(st.sampled_from([JOIN, JOIN, LEAVE, LEAVE, END, BORDER, BORDER]), st.integers(0, 99)), max_size=40))
def test_paused_time_is_the_time_in_which_any_connection_is(todo: list[tuple[int, int]]) -> None:
    """However many join, and wherever windows are cut; who is not there cannot leave."""
    pause, now_us, paused, most, lasted_us = empty_rows(TOPIC_PAUSE_ROW, 1)[0], 1_000, 0, 0, 0
    for what, later_us in [*todo, (END, 7)]:
        now_us += later_us
        lasted_us += later_us if paused else 0
        act(pause, what, now_us - later_us // 2 if what == BORDER else now_us, 1_000 * now_us)
        paused = {JOIN: paused + 1, LEAVE: max(0, paused - 1), END: 0}.get(what, paused)
        most = max(most, paused)
        assert (pause.paused_connections, pause.connections_paused_max) == (paused, most)
    assert pause.producers_paused_ns == 1_000 * lasted_us


def test_a_window_has_the_time_before_its_border() -> None:
    pause = empty_rows(TOPIC_PAUSE_ROW, 1)[0]
    act(pause, JOIN, 10_000, 0)
    act(pause, BORDER, 12_000, 5_000_000)
    assert pause.producers_paused_ns == 2_000_000
    act(pause, END, 0, 5_000_000)
    assert pause.producers_paused_ns == 5_000_000
