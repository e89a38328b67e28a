"""Random logs of one broker that keep the contract: hypothesis draws lists of small actions, `Broker` carries them out and writes.

Small ledgers, holes, cumulative acks, skips, seeks, trims, unloads and restarts with snapshots, readers, changing policies, rounds that
overlap, evictions that come late, brokers that say nothing. The first of every choice is the dullest: hypothesis shrinks towards it.
"""

from typing import Any

from bookkeeper.quota_broker import Broker
from hypothesis import strategies as st

Event = dict[str, Any]

WAITS_MS = (0, 1, 400, 1_000, 2_001, 5_000, 61_000)
SIZES = (100, 100, 1, 7, 1_024)
SIZE_LIMITS = (-1, 0, 1, 11, 500, 2_000)
AGE_LIMITS_S = (-1, 0, 1, 2, 10)
#: A producer's clock behind the broker's, and before it.
BEHIND_MS = (0, 0, 3, 1_500, 20_000, -400, -5_000)

#: How a log may go on from the first load: with nothing, or with a topic in full use, behind in entries or also in time.
IN_USE = (
    *(("subscribe", 0, sub, True, True) for sub in range(3)),
    ("subscribe", 0, 3, False, True),
    ("publish_some", 0, 5, 100, 1, 0),
    ("roll", 0, False),
    ("publish_some", 0, 5, 100, 10, 3),
    ("roll", 0, False),
    ("publish_some", 0, 3, 7, 1, 0),
    ("produce", 0, True),
)
WITH_HOLES = (*IN_USE, ("ack_some", 0, 0, 1, 2, 4), ("ack_all_to", 0, 1, 6, True), ("ack_some", 0, 1, 1, 1, 2))
LENGTHS = (0, 5, 15, 25)

_topic = st.sampled_from((0, 0, 0, 1))
_sub = st.integers(0, 3)
_flag = st.booleans()
#: Of size and age, three each; evictions most.
_policies = st.sampled_from((0, 0, 0, *range(9)))
_seldom = st.sampled_from((False,) * 7 + (True,))


def _pick(values: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    return st.sampled_from(values)


def _publish() -> st.SearchStrategy[tuple[Any, ...]]:
    return st.tuples(st.just("publish_some"), _topic, st.integers(1, 6), _pick(SIZES), _pick((1, 1, 10)), _pick(BEHIND_MS))


def _ack() -> st.SearchStrategy[tuple[Any, ...]]:
    return st.tuples(st.just("ack_some"), _topic, _sub, _pick((0, 0, 1, 3)), st.integers(1, 3), st.integers(1, 6))


def _round() -> st.SearchStrategy[tuple[Any, ...]]:
    return st.tuples(st.just("round"), _pick((0, 3, 6_500)), _seldom, _seldom, _flag)


def _load() -> st.SearchStrategy[tuple[Any, ...]]:
    return st.tuples(st.just("load_topic"), _topic, _pick(AGE_LIMITS_S), _pick(SIZE_LIMITS), _policies)


def _action() -> st.SearchStrategy[tuple[Any, ...]]:
    """One action. Entries, acks and rounds are drawn more often: most rules are theirs."""
    return st.one_of(
        _publish(),
        _ack(),
        _round(),
        st.tuples(st.just("flush"), _topic, _sub),
        st.tuples(st.just("ack_all_to"), _topic, _sub, st.integers(1, 8), _flag),
        _publish(),
        _ack(),
        _round(),
        st.tuples(st.just("roll"), _topic, _flag),
        st.tuples(st.just("trim_some"), _topic),
        st.tuples(st.just("subscribe"), _topic, _sub, _pick((True, True, False)), _flag),
        st.tuples(st.just("leave"), _topic, _sub),
        st.tuples(st.just("seek"), _topic, _sub, st.integers(0, 20)),
        st.tuples(st.just("ack_again"), _topic, _sub, _flag),
        st.tuples(st.just("produce"), _topic, _flag),
        st.tuples(st.just("new_quota"), _topic, _flag, _pick((*SIZE_LIMITS, *AGE_LIMITS_S)), _pick((0, 0, 1, 2))),
        st.tuples(st.just("unload_topic"), _topic, st.none() | _load()),
        _load(),
        st.tuples(st.just("restart"), _flag, st.integers(0, 3), _flag, _load()),
    )


@st.composite
def quota_logs(draw: st.DrawFn, max_actions: int = 40, *, honest: bool = False, known: bool = False) -> list[Event]:
    """Events of one broker in (epoch, seq) order, nothing lost.

    `honest`: every decision is said and carried out. `known`: every entry and every hole is of this log, and its broker ends by
    crashes, which lose holes; otherwise the log may begin in the middle of a topic's life, and a broker that ended by itself starts
    again there: with ledgers, and cursors with so many deleted entries, of which the log says no more.
    """
    broker = Broker(2, version=draw(st.integers(0, 3)), precise=draw(_flag), with_ns=not draw(_seldom), at_once=draw(_flag))
    if not known and draw(_seldom):
        _life_before(broker)
    broker.load_topic(0, draw(_pick(AGE_LIMITS_S)), draw(_pick(SIZE_LIMITS)), draw(_policies))
    for name, *arguments in draw(_pick(((), IN_USE[:1], IN_USE, WITH_HOLES, WITH_HOLES))):
        getattr(broker, name)(*arguments)
    actions = st.lists(st.tuples(_pick(WAITS_MS), _action()), min_size=draw(_pick(LENGTHS)), max_size=max_actions)
    for wait_ms, (name, *arguments) in draw(actions):
        broker.wait(wait_ms)
        if honest and name == "round":
            arguments[2] = False
        if known and name == "restart":
            arguments[0] = False
        getattr(broker, name)(*arguments)
    return broker.events


def _life_before(broker: Broker) -> None:
    """Topic 0 has two ledgers and two cursors, one with holes, before anything is logged of them."""
    writer = Broker(2, version=0, precise=True, with_ns=True, at_once=True)
    writer.load_topic(0, -1, -1, 0)
    for sub in range(2):
        writer.subscribe(0, sub, True, True)
    for _ in range(2):
        writer.publish_some(0, 4, 100, 1, 0)
        writer.roll(0, False)
    writer.ack_some(0, 0, 1, 2, 3)
    writer.ack_all_to(0, 1, 3, True)
    writer.unload_topic(0, None)
    broker.topics, broker.next_ledger = writer.topics, writer.next_ledger
