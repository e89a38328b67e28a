"""Random logs into which a broker writes what it holds, right or wrong, and of which events are lost."""

from typing import Any

from hypothesis import strategies as st

Event = dict[str, Any]
_SMALL = st.integers(0, 9)
_FLAG = st.booleans()
_LEDGER = st.sampled_from((5, 6, 4))
_FLAGS = ("moving", "durable", "blocked", "read_out", "read_waits")


@st.composite
def _state(draw: st.DrawFn) -> Event:
    of_cursor = {"ledger": draw(_LEDGER), "entry": draw(st.integers(-1, 9)), "read_ledger": draw(_LEDGER), "read_entry": draw(_SMALL)}
    counts = ("backlog_entries", "deleted_entries", "consumers", "permits", "delayed_entries", "replay_entries")
    flags = {name: True for name in _FLAGS if draw(_FLAG) and draw(_FLAG)}
    kind = draw(st.sampled_from(("subscription", "reader", "replicator")))
    return {"type": "state", **of_cursor, **{name: draw(_SMALL) for name in counts}, **flags, "cursor_kind": kind}


@st.composite
def _other(draw: st.DrawFn) -> Event:
    kind = draw(st.sampled_from(("topic_state", "consumer_state", "broker_ack", "transaction_open")))
    if kind == "consumer_state":
        return {"type": kind, "conn": draw(st.integers(1, 3)), "consumer": draw(st.integers(0, 3)), "permits": 0, "unacked_msgs": 0}
    position = {"ledger": draw(_LEDGER), "entry": draw(st.integers(-1 if kind == "topic_state" else 0, 9))}
    if kind == "topic_state":
        return {"type": kind, **position, "entries": draw(_SMALL), "bytes": draw(_SMALL), "open_transactions": draw(st.integers(0, 1))}
    if kind == "transaction_open":
        return {"type": kind, "open_transactions": draw(st.integers(0, 1))}
    return {"type": kind, **position, "ack_type": draw(st.sampled_from(("individual", "cumulative")))}


@st.composite
def stated(draw: st.DrawFn, whole: st.SearchStrategy[list[Event]]) -> list[Event]:
    """A log of `whole`, of one epoch, with such events after some of its own, and some events lost."""
    events = draw(whole)
    own = [event for event in events if event["epoch"] == events[0]["epoch"]] if events else []
    named = sorted({(event["topic"], event["sub"]) for event in own if event.get("topic") and event.get("sub")})
    if not named:
        return own
    more = draw(st.dictionaries(st.integers(0, len(own) - 1), st.lists(st.one_of(_state(), _state(), _other()), max_size=3), max_size=12))
    log: list[Event] = []
    for place, event in enumerate(own):
        log.append(event)
        for told in more.get(place, ()):
            topic, sub = draw(st.sampled_from(named))
            head = {name: event[name] for name in ("v", "broker", "epoch", "ts", "ns") if name in event}
            log.append({**head, **told, "topic": topic, **({} if told["type"] in ("topic_state", "transaction_open") else {"sub": sub})})
    numbered = [{**event, "seq": place, "as_of_seq": place - draw(st.integers(1, 3))} for place, event in enumerate(log, start=1)]
    lost = draw(st.sets(st.integers(0, len(numbered) - 1), max_size=6))
    return [event for place, event in enumerate(numbered) if place not in lost]
