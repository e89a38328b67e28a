"""The comparison of states with a broker's figures finds what differs. Needs no broker."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from broker_states import final_states_differing, samples_differing

TOPIC, SUB = "persistent://a/b/t", "s"
EPOCH = 1_795_000_000_000
AT = EPOCH * 1000
STATS: dict[str, Any] = {
    TOPIC: {
        "storageSize": 500,
        "publishers": [],
        "ongoingTxnCount": 0,
        "subscriptions": {
            SUB: {
                "msgBacklog": 3, "type": "Shared", "consumers": [{}], "unackedMessages": 2, "msgDelayed": 0, "msgInReplay": 1,
                "blockedSubscriptionOnUnackedMsgs": False,
            },
        },
    },
}  # fmt: skip
INTERNAL: dict[str, Any] = {
    TOPIC: {
        "lastConfirmedEntry": "3:9",
        "numberOfEntries": 10,
        "ledgers": [{}],
        "cursors": {
            SUB: {
                "markDeletePosition": "3:6", "readPosition": "3:10", "waitingReadOp": True, "subscriptionHavePendingRead": True,
                "subscriptionHavePendingReplayRead": False,
            },
        },
    },
}  # fmt: skip
STATE = {
    "type": "state", "topic": TOPIC, "sub": SUB, "as_of_seq": 1, "ledger": 3, "entry": 6, "read_ledger": 3, "read_entry": 10,
    "backlog_entries": 3, "read_waits": True, "sub_type": "Shared", "consumers": 1, "unacked_msgs": 2, "delayed_entries": 0,
    "read_out": True, "replay_entries": 1, "replay_out": False, "blocked": False,
}  # fmt: skip
OF_TOPIC = {
    "type": "topic_state", "topic": TOPIC, "as_of_seq": 2, "ledger": 3, "entry": 9, "entries": 10, "bytes": 500, "ledgers": 1,
    "producers": 0, "open_transactions": 0,
}  # fmt: skip


def written(folder: Path, *events: dict[str, Any], backlog: int = 3) -> Path:
    """A scenario as it is kept: events a second apart, one sample between the first and the last."""
    envelope = {"v": 1, "broker": "b", "epoch": EPOCH}
    lines = [{**envelope, "seq": k, "ts": AT + k * 1_000_000, **event} for k, event in enumerate(events, 1)]
    with gzip.open(folder / "events.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    end_us = AT + 60_000_000
    sample = {"ts": AT + 1_400_000, "ts_end": AT + 1_600_000, "topic": TOPIC}
    sample["subscriptions"] = {SUB: {"msgBacklog": backlog, "unackedMessages": 2}}
    for name, value in (("stats", STATS), ("internal", INTERNAL), ("manifest", {"as_of_us": end_us, "as_of_end_us": end_us})):
        (folder / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
    (folder / "timeline.jsonl").write_text(json.dumps(sample) + "\n", encoding="utf-8")
    return folder


def test_states_that_are_the_brokers_differ_in_nothing(tmp_path: Path) -> None:
    folder = written(tmp_path, STATE, STATE, OF_TOPIC)
    assert final_states_differing(folder) == []
    assert samples_differing(folder) == []


@pytest.mark.parametrize("figure", [name for name in STATE if name not in ("type", "topic", "sub", "as_of_seq")])
def test_a_figure_of_a_cursor_that_is_not_the_brokers_is_found(tmp_path: Path, figure: str) -> None:
    value = STATE[figure]
    other = not value if isinstance(value, bool) else "Failover" if figure == "sub_type" else value + 1  # type: ignore[operator]
    found = final_states_differing(written(tmp_path, {**STATE, figure: other}, OF_TOPIC))
    assert [(one.figure, one.ours, one.broker) for one in found] == [(figure, other, value)]


def test_a_cursor_without_a_state_is_found(tmp_path: Path) -> None:
    assert [(one.sub, one.figure) for one in final_states_differing(written(tmp_path, OF_TOPIC))] == [(SUB, "state")]


def test_a_sample_is_compared_where_nothing_happened_around_it(tmp_path: Path) -> None:
    ack = {"type": "ack", "topic": TOPIC, "sub": SUB}
    still, busy = tmp_path / "still", tmp_path / "busy"
    still.mkdir()
    busy.mkdir()
    found = samples_differing(written(still, STATE, STATE, backlog=4))
    assert [(one.figure, one.ours, one.broker) for one in found] == [("backlog_entries", 3, 4)]
    assert samples_differing(written(busy, STATE, ack, STATE, backlog=4)) == []
