"""The level of all write buffers against the list of what was reported and proved: its maximum, and whether that is exact."""

from hypothesis import given, settings
from hypothesis import strategies as st
from suite.examples import examples

from pipeline.rules.channel import memory as invariants
from pipeline.rules.channel.layout import MEMORY_ROW
from pipeline.rules.compiled import compiled
from pipeline.rules.records import Record, empty_rows

REPORT, BOUND, EXCEED = range(3)


@compiled
def learn(buffers: Record, what: int, size: int, ts_us: int) -> None:
    if what == REPORT:
        invariants.report(buffers, size, ts_us)
    elif what == BOUND:
        invariants.bound(buffers, size, ts_us)
    else:
        invariants.exceed(buffers, size)


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.tuples(st.sampled_from([REPORT, BOUND, EXCEED]), st.integers(0, 6)), min_size=1, max_size=12))
def test_the_maximum_is_exact_if_a_heartbeat_reported_it(known: list[tuple[int, int]]) -> None:
    buffers = empty_rows(MEMORY_ROW, 1)[0]
    for ts_us, (what, size) in enumerate(known, 1):
        learn(buffers, what, size, ts_us)
    most = max(size for _, size in known)
    assert buffers.max_bytes == most
    assert most == 0 or buffers.max_exact == ((REPORT, most) in known)
    for what, seen, level, at in ((REPORT, "reported", "reported_bytes", "reported_at"), (BOUND, "bounded", "bound_bytes", "bound_at")):
        last = [(size, ts_us) for ts_us, (each, size) in enumerate(known, 1) if each == what][-1:]
        assert [(buffers[level], buffers[at])] * int(buffers[seen]) == last
