"""Which subscriptions are well, by the view `why`: the rule of docs/guide/why.md over rows by hand, one subscription a case. No Spark."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from lane_rows import text_id
from views.conftest import EPOCH, THREE, write

from pipeline.query.room import ReadingRoom
from pipeline.query.views.why_at import why_at
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.literals import instant
from pipeline.warehouse.tables import create_missing_tables

TOPIC = "persistent://shop/eu/orders"
#: The log ends within its sixth minute.
END_S = 330
#: By the beginning of the name.
KINDS = {"pulsar.repl": "replicator"}
Row = Mapping[str, Any]


def second(after_three: float) -> Any:
    return THREE + timedelta(seconds=after_three)


def minute_of(m: int) -> Row:
    return {"window_start": second(60 * m), "window_end": second(60 * m + 60), "clock_segment": 0}


def reached(m: int) -> Row:
    """The minute as the log of a broker has it."""
    return {**minute_of(m), "log_until": min(second(END_S), second(60 * m + 60)), "events": 9}


def length_s(m: int) -> float:
    return min(60, END_S - 60 * m)


def charged(subscription: str, m: int, end: int, cause: str = "in_flight", gone_s: float = 0, **more: Any) -> Row:
    """A minute in which it had a backlog but for `gone_s` seconds, and `end` entries when it ended."""
    ns = round((length_s(m) - gone_s) * 1e9)
    return {
        "topic": TOPIC, "subscription": subscription, **minute_of(m), "cause": cause, "ns": ns,
        "backlog_ns": ns, "entry_us": max(1, end) * ns // 1000, "first_at": second(60 * m), "is_main": True, "main_since": second(0),
        "backlog_end": end, **more,
    }  # fmt: skip


def served(subscription: str, m: int, entries: int) -> Row:
    """A minute in which so many entries were delivered."""
    return {"topic": TOPIC, "subscription": subscription, "opened_at": THREE, **minute_of(m), "dispatched_entries": entries}


def checked(subscription: str, m: int, backlog: int, acknowledged: int = 0, **more: Any) -> Row:
    """Its row of the check at minute `m`."""
    return {
        "topic": TOPIC, "subscription": subscription, "check_time": second(60 * m), "check_number": m, "opened_at": THREE,
        "msg_backlog": backlog, "acknowledged_entries": acknowledged, "cursor_kind": KINDS.get(subscription.rpartition(".")[0]), **more,
    }  # fmt: skip


def steady(subscription: str, backlog: int, per_minute: int, cause: str = "in_flight") -> dict[str, list[Row]]:
    """As many are acknowledged as come, and so many are always there."""
    return {
        "subscription_causes": [charged(subscription, m, backlog, cause) for m in range(6)],
        "subscription_backlog": [checked(subscription, m, backlog, per_minute * m) for m in range(1, 6)],
    }


def unserved(subscription: str, kind: str | None) -> dict[str, list[Row]]:
    """Nobody takes its entries; a check has its kind."""
    return {
        "subscription_causes": [charged(subscription, m, 600, "no_consumer") for m in range(6)],
        "subscription_backlog": [checked(subscription, m, 600, cursor_kind=kind, durable=True) for m in range(1, 6)],
    }


def growing(subscription: str, by: int, per_minute: int) -> dict[str, list[Row]]:
    """So many more are there with every minute."""
    return {
        "subscription_causes": [charged(subscription, m, round(by * (60 * m + length_s(m)) / 60)) for m in range(6)],
        "subscription_backlog": [checked(subscription, m, by * m, per_minute * m) for m in range(1, 6)],
    }


def last(subscription: str, end: int, cause: str = "in_flight", **more: Any) -> dict[str, list[Row]]:
    """A backlog in the last minute alone."""
    return {"subscription_causes": [charged(subscription, 5, end, cause, **more)]}


#: Case → (its rows, its status, why that is right).
CASES: dict[str, tuple[dict[str, list[Row]], str, str]] = {
    "empty-now": (
        {**last("empty-now", 0), "subscription_throttle": [served("empty-now", 5, 9)]}, "current", "it had a backlog, and has none",
    ),
    "gone-now": (
        {**last("gone-now", 0, "no_consumer"), "subscription_backlog": [checked("gone-now", 5, 9)]},
        "unknown", "nobody took it: its topic was unloaded, or it was deleted",
    ),
    "closed-now": (
        {**last("closed-now", 0), "subscription_throttle": [{**served("closed-now", 5, 9), "closed_at": second(320)}]},
        "unknown", "its dispatcher ended: with its topic, or not",
    ),
    "reopened": (
        {**last("reopened", 0, gone_s=2), "subscription_backlog": [checked("reopened", 5, 1)], "subscription_throttle": [
            {**served("reopened", 5, 0), "closed_at": second(302)}, {**served("reopened", 5, 9), "opened_at": second(302)}]},
        "current", "its first consumer was of another type than its dispatcher: that one closed, the next one is open",
    ),
    "idle": ({"subscription_backlog": [checked("idle", 5, 0)]}, "current", "the check says 0, and nothing was charged since"),
    "one-left": ({"subscription_causes": [charged("one-left", m, 1) for m in range(6)]}, "unacknowledged", "one entry for five minutes"),
    "just-come": (last("just-come", 500, gone_s=28), "keeping up", "for two seconds"),
    "trickle": (
        {"subscription_causes": [charged("trickle", m, 1, gone_s=12 if m == 5 else 40) for m in range(6)]},
        "keeping up", "each takes 20 s, and none is there in between",
    ),
    "steady": (steady("steady", 40, 1200), "keeping up", "it goes in two seconds, though there is always something"),
    "steady-slowly": (steady("steady-slowly", 600, 1200), "keeping up", "each takes 30 s, and not more with the time"),
    "steady-old": (steady("steady-old", 6000, 1200), "unacknowledged", "each takes five minutes"),
    "grows": (growing("grows", 240, 720), "unacknowledged", "a fourth of what comes is added"),
    "rises": (growing("rises", 360, 5640), "unacknowledged", "6 % of what comes are added in each minute, 20 s of its pace until now"),
    "rises-a-little": (growing("rises-a-little", 200, 9800), "keeping up", "2 %: more may just come than before"),
    "stands": (steady("stands", 400, 0), "unacknowledged", "nothing goes"),
    "stands-no-checks": (
        {"subscription_causes": [charged("stands-no-checks", m, 400) for m in range(6)],
         "subscription_throttle": [served("stands-no-checks", 0, 400), served("stands-no-checks", 5, 0)]},
        "unacknowledged", "all that was delivered is still there",
    ),
    "goes-no-checks": (
        {"subscription_causes": [charged("goes-no-checks", m, 40, "catching_up", waiting_end=40) for m in range(6)],
         "subscription_throttle": [served("goes-no-checks", m, 1200) for m in range(6)]},
        "keeping up", "it goes in two seconds",
    ),
    "opened-late": (
        {"subscription_causes": [charged("opened-late", 4, 900, gone_s=30), charged("opened-late", 5, 900)],
         "subscription_throttle": [{**served("opened-late", m, 1200), "opened_at": second(270)} for m in (4, 5)]},
        "keeping up", "25 go in a second since it was opened, a minute ago",
    ),
    "young": (
        {"subscription_causes": [charged("young", 4, 400, gone_s=15), charged("young", 5, 400)],
         "subscription_backlog": [checked("young", m, 400, 1200 * m) for m in range(1, 6)]},
        "keeping up", "each takes 20 s; in its first window nobody can know more",
    ),
    "one-is-old": (
        {"subscription_causes": [charged("one-is-old", m, 40) for m in range(6)],
         "subscription_backlog": [checked("one-is-old", m, 40, 1200 * m, oldest_age_ms=min(120_001, 60_000 * m + 1)) for m in range(1, 6)]},
        "unacknowledged", "others go, one is left over since two minutes",
    ),
    "clock-set-back": (
        {"subscription_causes": [charged("clock-set-back", m, 400) for m in range(6)],
         "subscription_backlog": [
             *(checked("clock-set-back", m, 400, 12_000 * m) for m in range(1, 6)),
             *({**checked("clock-set-back", m, 400, 60_000 + 60 * m), "check_number": 5 + m} for m in range(1, 6))]},
        "unacknowledged", "one goes in a second: the thousands went before the clock was set back",
    ),
    "expires": (
        {"subscription_causes": [charged("expires", m, 40) for m in range(6)],
         "subscription_backlog": [checked("expires", m, 40, expired_entries=1200 * m) for m in range(1, 6)]},
        "unacknowledged", "nobody acknowledges: entries only expire",
    ),
    "slow": (steady("slow", 40, 1200, "no_permits"), "slow consumers", "of a cause that is none of moving on nothing keeps up"),
    "held": (last("held", 240, "delayed", waiting_end=0), "delayed", "nothing is due"),
    "due": (
        {"subscription_causes": [charged("due", m, 240, "delayed", waiting_end=20) for m in range(6)]},
        "overdue", "what is due is not taken",
    ),
    "pulsar.repl.east": (
        {"subscription_backlog": [checked("pulsar.repl.east", m, 474) for m in range(1, 6)]}, "replicator behind", "it does not move",
    ),
    "pulsar.repl.west": (
        {"subscription_backlog": [checked("pulsar.repl.west", m, 20, 1200 * m) for m in range(1, 6)]}, "keeping up", "it goes in a second",
    ),
    "pulsar.repl.old": (
        {"subscription_backlog": [checked("pulsar.repl.old", m, 20, 1200 * m, oldest_age_ms=60_000 * m + 100_001) for m in range(1, 6)]},
        "replicator behind", "others go, one is left over since five minutes",
    ),
    "pulsar.repl.north": ({"subscription_backlog": [checked("pulsar.repl.north", 5, 0)]}, "current", "the check says so"),
    "pulsar.dedup": (
        {"subscription_backlog": [checked("pulsar.dedup", m, 900) for m in range(1, 6)]}, "deduplication behind", "it does not move",
    ),
    "to-east": (
        {"subscription_backlog": [checked("to-east", m, 474, cursor_kind="replicator") for m in range(1, 6)]},
        "replicator behind", "the check has its kind, whatever its name",
    ),
    "pulsar.repl.south": (unserved("pulsar.repl.south", None), "replicator behind", "its opening was not seen: its name has its kind"),
    "pulsar.repl.mine": (unserved("pulsar.repl.mine", "subscription"), "no consumer", "an application has called it so"),
    "__compaction": (unserved("__compaction", "compaction"), "keeping up", "it waits for the next compaction, and fills no quota"),
    "tail": (unserved("tail", "reader"), "no consumer", "a reader has a cause as a subscription has"),
    "lost-since": (
        {"subscription_backlog": [checked("lost-since", 5, 0, complete=False, incomplete_reason="events_lost")]},
        "unknown", "events were lost: nobody knows",
    ),
    "late": (
        {"subscription_backlog": [checked("late", 5, 0, complete=False, incomplete_reason="beginning_not_seen")]},
        "unknown", "its beginning was not seen",
    ),
    "old-pulsar": (
        {"subscription_backlog": [checked("old-pulsar", 5, 0, complete=False, incomplete_reason="points_missing")]},
        "current", "what the version lacks is no event of a backlog",
    ),
    "incomplete": (last("incomplete", 0, complete=False), "unknown", "its beginning was not seen, or events were lost"),
    "incomplete-but-behind": (
        {"subscription_causes": [charged("incomplete-but-behind", m, 9, "no_consumer", complete=False) for m in range(6)]},
        "no consumer", "what is there is there",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> ReadingRoom:
    """All cases in one warehouse; beside them a broker that lost events after its check."""
    warehouse = Warehouse(f"file:{tmp_path_factory.mktemp('standing') / 'warehouse'}")
    create_missing_tables(warehouse)
    tables: dict[str, list[Row]] = {}
    for rows, _, _ in CASES.values():
        for table, found in rows.items():
            tables.setdefault(table, []).extend(found)
    lossy = {"broker": "b2:8080"}
    tables["subscription_backlog"] += [{**checked("idle", 4, 0), **lossy, "topic": f"{TOPIC}-2"}]
    tables["topic_backlog"] = [{"topic": TOPIC, "check_time": second(60 * m), "check_number": m} for m in range(1, 6)]
    tables["topic_backlog"] += [{"topic": f"{TOPIC}-2", "check_time": second(240), "check_number": 4, **lossy}]
    tables["topic_backlog"] += [{"topic": f"{TOPIC}-4", "check_time": second(300), "check_number": 5, "decision": "size"}]
    for name, kind, entry in (("__compaction", "compaction", -1), ("next", "subscription", 9)):
        for table, found in unserved(name, kind).items():
            tables[table] += [
                {**row, "topic": f"{TOPIC}-4", **({"mark_delete_entry": entry} if "check_time" in row else {})} for row in found
            ]
    tables["broker_windows"] = [
        *(reached(m) for m in range(6)),
        *({**reached(m), **lossy, "lost_events": 3 if m == 4 else 0} for m in range(6)),
    ]
    tables["lane_snapshots"] = [{"broker": "b3:8080", "milestone": "ended", "state": b""}]
    tables["subscription_backlog"] += [{**checked("of-b3", 5, 7), "broker": "b3:8080", "topic": f"{TOPIC}-3"}]
    tables["topic_backlog"] += [{"topic": f"{TOPIC}-3", "check_time": second(300), "check_number": 5, "broker": "b3:8080"}]
    tables["broker_windows"] += [{**reached(m), "broker": "b3:8080"} for m in range(6)]
    tables["names"] = [{"id": text_id("b", broker), "level": "broker", "broker": broker} for broker in ("b1:8080", "b2:8080", "b3:8080")]
    for table, rows in tables.items():
        write(warehouse, table, rows)
    return ReadingRoom(warehouse)


@pytest.fixture(scope="module")
def found(room: ReadingRoom) -> dict[tuple[str, str], Row]:
    return {(row["broker"], row["subscription"]): row for row in room.rows(f"SELECT * FROM why WHERE topic <> '{TOPIC}-4'")}


@pytest.mark.parametrize("case", CASES)
def test_who_is_well(found: Mapping[tuple[str, str], Row], case: str) -> None:
    _, status, because = CASES[case]
    row = found["b1:8080", case]
    assert row["status"] == status, f"{because}; {row}"
    assert row["as_of"] == second(END_S)


def test_compaction_is_behind_where_its_cursor_fills_a_quota_that_is_exceeded(room: ReadingRoom) -> None:
    rows = room.rows(f"SELECT subscription, status, cause, backlog FROM why WHERE topic = '{TOPIC}-4' ORDER BY subscription")
    assert [tuple(row.values()) for row in rows] == [
        ("__compaction", "compaction behind", "no_consumer", 600),
        ("next", "no consumer", "no_consumer", 600),
    ]


def test_a_check_proves_nothing_when_events_were_lost_after_it(found: Mapping[tuple[str, str], Row]) -> None:
    row = found["b2:8080", "idle"]
    assert (row["status"], row["unknown_reason"]) == ("unknown", "events_lost")
    assert (found["b1:8080", "late"]["unknown_reason"], found["b1:8080", "lost-since"]["unknown_reason"]) == (
        "beginning_not_seen",
        "events_lost",
    )


def test_of_a_broker_that_stopped_nobody_is_current(found: Mapping[tuple[str, str], Row], room: ReadingRoom) -> None:
    row = found["b3:8080", "of-b3"]
    assert (row["status"], row["unknown_reason"], row["backlog"], row["checked_at"]) == ("unknown", "broker_stopped", 7, second(300))
    assert row["waiting"] is None, "no check tells that"
    (before,) = room.rows(why_at("broker = 'b3:8080'", instant(second(299))))[:1] or [None]
    assert before is None or before["unknown_reason"] != "broker_stopped", "before its end it ran"


@pytest.mark.parametrize(
    ("at_s", "case", "status", "as_of_s"),
    [
        (60, "grows", "unacknowledged", 60), (299, "young", "keeping up", 300),
        (150, "steady", "keeping up", 180), (300, "grows", "unacknowledged", 300),
        (310, "grows", "unacknowledged", END_S), (100_000, "stands", "unacknowledged", END_S),
    ],
)  # fmt: skip
def test_at_an_instant_it_answers_by_what_was_known_then(room: ReadingRoom, at_s: float, case: str, status: str, as_of_s: float) -> None:
    rows = room.rows(why_at(f"epoch = {EPOCH}", instant(second(at_s))))
    row = next(row for row in rows if row["subscription"] == case)
    assert (row["status"], row["as_of"]) == (status, second(as_of_s))


@pytest.mark.parametrize("shift_ns", [-6_000, -1, 0, 1, 6_000])
def test_a_clock_that_drifts_turns_no_answer(tmp_path: Any, shift_ns: int) -> None:
    """A slow monotonic clock: 1e-7 of a window decided between behind and keeping up."""
    warehouse = Warehouse(f"file:{tmp_path / 'warehouse'}")
    create_missing_tables(warehouse)
    rows = [charged("s", m, 12 * (m + 1)) for m in range(6)]
    drifted = [{**row, "ns": row["ns"] + shift_ns, "backlog_ns": row["backlog_ns"] + shift_ns} for row in rows]
    write(warehouse, "subscription_causes", drifted)
    write(warehouse, "subscription_throttle", [served("s", m, 20) for m in range(6)])
    write(warehouse, "broker_windows", [reached(m) for m in range(6)])
    (row,) = ReadingRoom(warehouse).rows(why_at("true"))
    assert row["status"] == "unacknowledged", f"drift of {shift_ns} ns: {row}"
