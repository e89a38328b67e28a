"""What `state` and its like have, beside what the broker itself reports of the same: stats, internal stats, the time line.

Pure: it reads a kept scenario and no tables.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from capture_events import capture_events

Event = dict[str, Any]
#: The type of a subscription that nobody has used since its topic was loaded: a state has nothing of a dispatcher then.
NO_DISPATCHER = "None"


class Difference(NamedTuple):
    """One figure of the log that is not the broker's."""

    topic: str
    sub: str
    figure: str
    ours: Any
    broker: Any


def final_states_differing(capture: Path) -> list[Difference]:
    """The last `state` and `topic_state` of everything, beside the figures of a broker in which nothing moves any more.

    A cursor without backlog and consumer whose state has not changed is not written again: its last one still holds.
    """
    stats, internal = (json.loads((capture / f"{name}.json").read_text(encoding="utf-8")) for name in ("stats", "internal"))
    as_of_end_us = json.loads((capture / "manifest.json").read_text(encoding="utf-8"))["as_of_end_us"]
    last: dict[tuple[str, str], Event] = {}
    for event in capture_events(capture, until_as_of=False):
        if event["type"] in ("state", "topic_state") and event["ts"] <= as_of_end_us:
            last[event["topic"], event.get("sub", "")] = event
    found = []
    for topic, said in stats.items():
        found += _differing(topic, "", _of_topic(said, internal[topic]), last.get((topic, "")))
        for name, cursor in internal[topic]["cursors"].items():
            found += _differing(topic, name, _of_cursor(cursor, said["subscriptions"].get(name)), last.get((topic, name)))
    return found


def _differing(topic: str, sub: str, broker: Mapping[str, Any], ours: Event | None) -> Iterator[Difference]:
    if ours is None:
        yield Difference(topic, sub, "state", None, "there is one")
        return
    for figure, value in broker.items():
        if ours.get(figure) != value:
            yield Difference(topic, sub, figure, ours.get(figure), value)


def _position(name: str, text: str) -> dict[str, int]:
    ledger, entry = map(int, text.split(":"))
    return {f"{name}ledger": ledger, f"{name}entry": entry}


def _of_topic(stats: Mapping[str, Any], internal: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **_position("", internal["lastConfirmedEntry"]),
        "entries": internal["numberOfEntries"],
        "bytes": stats["storageSize"],
        "ledgers": len(internal["ledgers"]),
        "producers": len(stats["publishers"]),
        "open_transactions": stats["ongoingTxnCount"],
    }


def _of_cursor(cursor: Mapping[str, Any], sub: Mapping[str, Any] | None) -> dict[str, Any]:
    found = {**_position("", cursor["markDeletePosition"]), **_position("read_", cursor["readPosition"])}
    found["read_waits"] = cursor["waitingReadOp"]
    if sub is not None:
        found["backlog_entries"] = sub["msgBacklog"]
    if sub is not None and sub["type"] == NO_DISPATCHER:
        found["sub_type"] = None
    elif sub is not None:
        found |= {"sub_type": sub["type"], "consumers": len(sub["consumers"])}
        found |= {"unacked_msgs": sub["unackedMessages"], "delayed_entries": sub["msgDelayed"]}
        found["read_out"] = cursor["subscriptionHavePendingRead"]
        if sub["type"] in ("Shared", "Key_Shared"):
            found |= {"replay_entries": sub["msgInReplay"], "replay_out": cursor["subscriptionHavePendingReplayRead"]}
            found["blocked"] = sub["blockedSubscriptionOnUnackedMsgs"]
    return found


def samples_differing(capture: Path) -> list[Difference]:
    """Samples of the time line between two states with the same figures, of a subscription and topic without an event between the two."""
    states: defaultdict[tuple[str, str], list[Event]] = defaultdict(list)
    changes: defaultdict[str, list[int]] = defaultdict(list)
    for event in capture_events(capture, until_as_of=False):
        if event["type"] == "state":
            states[event["topic"], event["sub"]].append(event)
        elif "topic" in event and not event["type"].endswith("_state"):
            changes[event["topic"]].append(event["ts"])
    found = []
    for line in map(json.loads, (capture / "timeline.jsonl").read_text(encoding="utf-8").splitlines()):
        for sub, said in line.get("subscriptions", {}).items():
            around = _around(states[line["topic"], sub], line["ts"], line["ts_end"])
            if around is not None and not any(around[0]["ts"] < at < around[1]["ts"] for at in changes[line["topic"]]):
                ours = around[0]
                broker = {"backlog_entries": said["msgBacklog"], "unacked_msgs": said["unackedMessages"]}
                found += _differing(line["topic"], sub, broker, ours)
    return found


def _around(states: list[Event], begin_us: int, end_us: int) -> tuple[Event, Event] | None:
    before = [event for event in states if event["ts"] <= begin_us]
    after = [event for event in states if event["as_of_seq"] and event["ts"] >= end_us]
    return (before[-1], after[0]) if before and after else None
