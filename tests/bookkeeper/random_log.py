"""Random logs of one broker that keep the contract's shapes: hypothesis draws lists of small actions, `Script` folds them into events.

`logs()` are whole; `broken(logs())` are the same with events lost, repeated, damaged and shuffled. The first of every choice is
the dullest, so that hypothesis shrinks towards few, short, boring actions.
"""

import random
from typing import Any

from bookkeeper.longs import LEVELS, LONG_MAX, LONG_MIN
from bookkeeper.script import KINDS, SUB_TYPES, Script
from hypothesis import strategies as st

Event = dict[str, Any]

SECOND = 1_000_000_000
WAITS_NS = (
    0,
    1_000,
    1_000_000,
    16_000_000,
    400_000_000,
    SECOND - 1,
    SECOND,
    SECOND + 1,
    2_500_000_000,
    11 * SECOND,
    61 * SECOND,
    300 * SECOND,
)
JITTERS_US = (0, 0, 0, 1, -7, 400, -30_000, 35_000)
#: The first two are no steps at the default of 1 s.
CLOCK_STEPS_US = (500_000, -900_000, 1_100_000, -1_200_000, 20_000_000, -20_000_000, 90_000_000, -90_000_000, 7_200_000_000, -7_200_000_000)
RATES = (10, 10, 3, 3, 100, 100, 5_000, -1, -1, 0, 1, 2**31, 2**62, LONG_MAX - 1, LONG_MAX, LONG_MIN)
PERIODS_S = (1, 1, 1, 2, 2, 0, -1, 60, 7_200, 2**31 - 1)
ANSWERS = (None, None, -1, -1, 3, 10, 10, 0, 1, 50, 100, 1_000, 2**31 - 1, 2**31, 2**32 + 5, 2**62, LONG_MAX)
WANT_MSGS = (100, 100, 100, 0, 1, 5, 2**31 - 1)
WANT_BYTES = (5_242_880, 5_242_880, 5_242_880, 0, 1, 1_000, LONG_MAX)
ENTRIES = (1, 0, 2, 5, 10, 30, 2**40)
DELIVERED = (10, 10, 3, 0, 1, 100, 100, 5_000, 2**31, 2**62, LONG_MAX)

#: What happens to one and the same thing tells most: the first topic and subscription come up more often.
#: How a log may begin: with nothing known, with loaded topics, or with a topic in full use.
LOADED = tuple(("topic_load", topic) for topic in range(3))
IN_USE = (
    *LOADED,
    ("cursor_open", 0, 0, 0, None),
    ("dispatcher_open", 0, 0, SUB_TYPES[0]),
    ("consumer_open", 0, 0),
    *(("rate", level, 0, 0, 10, 5_000, 1, False, kind) for level, kind in zip(LEVELS, (*KINDS, KINDS[0]), strict=True)),
    ("publish", 0, 12, 100, 1),
)
LENGTHS = (0, 5, 15, 30)

_topic = st.sampled_from((0, 0, 0, 0, 1, 2))
_sub = st.sampled_from((0, 0, 0, 0, 1, 2))
_flag = st.booleans()
_levels = st.sampled_from(LEVELS)
_answers = st.none() | st.tuples(*(st.sampled_from(ANSWERS),) * 6)


def _pick(values: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    return st.sampled_from(values)


def _read() -> st.SearchStrategy[tuple[Any, ...]]:
    left = _pick(("none", "right", "wrong", "msgs", "bytes"))
    asked_before_ns = _pick((None, 0, 1_000, 5_000_000, 2_000_000_000))
    return st.tuples(st.just("read"), _topic, _sub, _pick(WANT_MSGS), _pick(WANT_BYTES), _answers, left, asked_before_ns)


def _rate() -> st.SearchStrategy[tuple[Any, ...]]:
    relative = _pick((False, False, False, True))
    return st.tuples(st.just("rate"), _levels, _topic, _sub, _pick(RATES), _pick(RATES), _pick(PERIODS_S), relative, _pick(KINDS))


def _action() -> st.SearchStrategy[tuple[Any, ...]]:
    """One action. Reads, dispatches and rates are drawn more often: most rules are theirs."""
    dispatch = st.tuples(st.just("dispatch"), _topic, _sub, _pick(ENTRIES), _pick(DELIVERED), _pick(DELIVERED), _pick((None, True, False)))
    where = (_topic, _sub)
    return st.one_of(
        st.just(("heartbeat",)),
        _read(),
        dispatch,
        _rate(),
        st.tuples(st.just("publish"), _topic, _pick((1, 2, 5, 12)), _pick((100, 0, 1, 4_096)), _pick((1, 0, 50))),
        _read(),
        dispatch,
        _rate(),
        st.tuples(st.just("dispatcher_open"), *where, _pick(SUB_TYPES)),
        st.tuples(st.just("dispatcher_close"), *where),
        st.tuples(st.just("topic_load"), _topic),
        st.tuples(st.just("topic_unload"), _topic),
        st.tuples(st.just("cursor_open"), *where, _pick((0, 1, 3, 7)), _pick((None, 0, 1, 4))),
        st.tuples(st.just("cursor_close"), *where),
        st.tuples(st.just("mark_delete"), *where, _pick((0, 1, 3, 7, 20)), _flag, _pick((None, False, True))),
        st.tuples(st.just("consumer_open"), *where),
        st.tuples(st.just("consumer_close"), *where),
        st.tuples(st.just("ledger_roll"), _topic),
        st.tuples(st.just("ledger_trim"), _topic),
        st.tuples(st.just("setting"), _pick(("true", "false", "TRUE", "")), _flag),
        st.just(("unknown",)),
        st.tuples(st.just("clock"), _pick(CLOCK_STEPS_US)),
    )


@st.composite
def logs(draw: st.DrawFn, max_actions: int = 50) -> list[Event]:
    """Events of one broker in (epoch, seq) order, one or two epochs, nothing lost."""
    script = Script()
    for _ in range(draw(st.integers(1, 2))):
        script.start_epoch(
            draw(_pick((None, "true", "false"))), draw(_pick((0, 30_000_000, 59_999_999))), with_ns=not draw(_pick((False, False, True)))
        )
        for action in draw(_pick(((), LOADED, IN_USE, IN_USE))):
            script.act(1_000, 0, action)
        for wait, jitter, action in draw(
            st.lists(st.tuples(_pick(WAITS_NS), _pick(JITTERS_US), _action()), min_size=draw(_pick(LENGTHS)), max_size=max_actions)
        ):
            script.act(wait, jitter, action)
        if draw(_flag):
            script.emit("broker_stop")
    return script.events


def tombstone(event: Event) -> Event:
    """What a lane knows of an event whose line was rejected."""
    ns = event.get("ns", event["ts"] * 1000)
    return {"tombstone": True, **{name: event[name] for name in ("broker", "epoch", "seq", "ts")}, "ns": ns}


@st.composite
def broken(draw: st.DrawFn, whole: st.SearchStrategy[list[Event]]) -> list[Event]:
    """A log of `whole` with some events lost, repeated or damaged, in any order; at least one event remains."""
    events = draw(whole)
    fates = draw(st.dictionaries(st.integers(0, len(events) - 1), _pick(("repeated", "lost", "damaged")), max_size=12))
    log: list[Event] = []
    for position, event in enumerate(events):
        fate = fates.get(position)
        if fate == "damaged":
            log.append(tombstone(event))
        elif fate != "lost" or len(events) == 1:
            log += [event, event] if fate == "repeated" else [event]
    if not log:
        log = events[:1]
    if draw(_flag):
        random.Random(draw(st.integers(0, 1_000))).shuffle(log)
    return log
