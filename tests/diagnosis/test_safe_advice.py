"""What to do, by cause and by whose cursor it is; and that no step does harm before a milder one."""

from typing import Any

import pytest
from charges import SLOW, SUBSCRIPTION, TOPIC, charge, evidence, judged, minute, served

from pipeline.diagnosis import silence
from pipeline.diagnosis.advice import mildest_first
from pipeline.diagnosis.by_cause import BY_CAUSE
from pipeline.diagnosis.commands import CAN_BE_UNDONE, CHANGES_NOTHING, EFFECTS, LOSES_DATA, step
from pipeline.diagnosis.words import text_lines
from schemas.events import CURSOR_KINDS

HOLDER = {"subscription": SUBSCRIPTION, "msg_backlog": 600, "backlog_size": 12_000_000, "oldest_age_ms": 239_000}


def said(document: dict[str, Any]) -> str:
    """All that is said to do."""
    return " ".join(one["do"] for one in document["advice"])


def of_cause(cause: str, sub_type: str = "Shared", rates: dict[str, Any] | None = None, **around: Any) -> dict[str, Any]:
    """Of three minutes with this cause, in which 5 messages were delivered."""
    account = {name: around.pop(name) for name in ("unknown_reason", "cap") if name in around}
    throttle = [served(2, around.pop("dispatched_msgs", 5), sub_type=sub_type)]
    rows = [charge(m, cause, **account) for m in range(3)]
    return judged(evidence(rows, throttle=throttle, rates=[rates or SLOW]), **around)


@pytest.mark.parametrize("cause", [cause for cause in BY_CAUSE if cause not in ("throttled", "unknown")])
@pytest.mark.parametrize("kind", CURSOR_KINDS)
@pytest.mark.parametrize("sub_type", ["Shared", "Failover"])
def test_the_first_step_never_loses_data_and_each_command_has_an_effect(cause: str, kind: str, sub_type: str) -> None:
    found = of_cause(cause, sub_type, cursor_kind=kind)
    assert found["advice"][0]["effect"] != LOSES_DATA
    assert all((one["effect"] in EFFECTS) == (one["command"] is not None) for one in found["advice"])
    if kind != "subscription":
        assert not any("unsubscribe" in (one["command"] or "") for one in found["advice"])
    if kind == "reader" or sub_type == "Failover":
        assert "add some" not in said(found), "one is served at a time"


def alone(minutes: int = 10, **more: Any) -> dict[str, Any]:
    """Nobody was connected in so many minutes, if nothing else is said; `causes` in place of the rows."""
    rows = more.pop("causes", [charge(m, "no_consumer") for m in range(minutes)])
    return judged(evidence(rows, minutes, **more))


def test_a_command_that_loses_data_comes_last_and_says_so() -> None:
    found = alone()
    assert [one["effect"] for one in found["advice"]] == [CHANGES_NOTHING, LOSES_DATA]
    assert "it loses its 100 entries then, and nobody can bring them back" in found["advice"][-1]["do"]
    lines = list(text_lines(found))
    assert lines[next(n for n, line in enumerate(lines) if "unsubscribe" in line) - 1].strip() == "This command loses data:"


@pytest.mark.parametrize(
    "more",
    [
        {"causes": [charge(m, "no_consumer", weight=9_999) for m in (8, 9)]},  # served until two minutes ago: it had no backlog before
        {"causes": [charge(0, "no_permits", 1, weight=0), *(charge(m, "no_consumer", weight=9_999) for m in range(10))]},
        {"causes": [charge(m, "no_consumer", 59 if m == 4 else 60) for m in range(10)]},  # somebody took all, and went again
        {"minutes": 9},
        {"throttle": [served(3, 1)]},
        {"rates": [{**SLOW, "ack_rate": 0.1}]},
        {"broker_windows": [{"completeness": 0.99}]},  # who came may be among the events that were lost
    ],
)
def test_nothing_is_deleted_without_proof_that_nobody_was_connected_for_long(more: dict[str, Any]) -> None:
    found = alone(**more)
    assert found["cause"] == "no_consumer"
    assert [one["effect"] for one in found["advice"]] == [CHANGES_NOTHING], "start its consumers again"


def test_whoever_orders_the_steps_the_one_that_loses_data_is_last() -> None:
    milder = [step("a", "topics", "unload", TOPIC), step("b", "topics", "stats", TOPIC)]
    worst = step("c", "topics", "unsubscribe", "--subscription", SUBSCRIPTION, TOPIC)
    assert mildest_first([worst, *milder]) == [*milder, worst]
    with pytest.raises(ValueError, match="only loses data"):
        mildest_first([worst])


def test_a_command_without_a_declared_effect_is_a_fault_of_ours() -> None:
    with pytest.raises(KeyError, match="topics delete"):
        step("a", "topics", "delete", TOPIC)
    assert step("a", "topics", "unload", TOPIC).effect == CAN_BE_UNDONE


@pytest.mark.parametrize(
    ("cap", "has", "lacks"),
    [
        ("consumer", ["get-max-unacked-messages-per-consumer"], ["per-subscription"]),
        ("subscription", ["get-max-unacked-messages-per-subscription"], ["per-consumer"]),
        ("broker", ["maxUnackedMessagesPerBroker"], ["per-consumer", "per-subscription"]),
        (None, ["per-consumer", "per-subscription"], []),
    ],
)
def test_the_advice_of_a_cap_is_that_of_the_cap_that_is_on(cap: str | None, has: list[str], lacks: list[str]) -> None:
    found = of_cause("unacked_limit", cap=cap)
    text = f"{said(found)} {' '.join(one['command'] or '' for one in found['advice'])}"
    assert all(word in text for word in has)
    assert not any(word in text for word in lacks)


def test_a_cap_that_is_on_while_nothing_is_unacknowledged_is_a_fault_of_the_broker() -> None:
    found = of_cause("stuck", cap="consumer")
    assert "maxUnackedMessagesPerConsumer) is on, though nothing is unacknowledged" in said(found)
    assert found["advice"][-1]["command"].startswith("pulsar-admin topics unload")
    assert "hold too many messages" not in said(found)
    assert "charged to a cap of unacknowledged messages that the broker left on, since" in found["verdict"], "its name is in the advice"


@pytest.mark.parametrize(
    ("mostly", "at_the_end", "first", "then"),
    [
        ("delayed", "in_flight", "Its consumers acknowledge 13.0 entries/s", "to be delivered later"),
        ("redelivery", "no_consumer", "Start its consumers", "delivered again and again"),
        ("no_permits", "catching_up", "add some, or speed them up", None),
        ("stuck", "catching_up", "Nothing holds it back", "a fault of the broker. That is over since "),
        (
            "transaction",
            "in_flight",
            "Its consumers acknowledge 13.0 entries/s",
            "an open transaction: nothing behind it is delivered. That is over",
        ),
        ("channel", "no_permits", "add some, or speed them up", "connections of its consumers that take nothing. That is over"),
        ("no_consumer", "catching_up", "Nothing holds it back", "no consumer being connected. That is over"),
    ],
)
def test_the_first_step_is_about_what_holds_it_at_the_end(mostly: str, at_the_end: str, first: str, then: str | None) -> None:
    """But where nothing holds it then. Nobody is told to end what has ended."""
    rows = [charge(0, mostly), charge(1, mostly), charge(2, at_the_end)]
    found = judged(evidence(rows, throttle=[served(2, 5)], rates=[SLOW]))
    steps = [one["do"] for one in found["advice"]]
    assert first in steps[0]
    assert then is None or any(then in one for one in steps[1:])
    assert not any("A transaction is open" in one or "do not read" in one or "Start its" in one for one in steps[1:])


def test_consumers_that_come_and_go_are_not_over_with_one_of_them() -> None:
    rows = [charge(0, "no_consumer"), charge(1, "no_consumer"), charge(2, "in_flight")]
    told = said(judged(evidence(rows, throttle=[served(2, 5)], rates=[SLOW]), came_back=3))
    assert "3 times one came back in this stretch" in told
    assert "That is over" not in told


def client(name: str, unacked: int | None, permits: int = 5_000, **more: Any) -> dict[str, Any]:
    """A connected consumer of the document."""
    return {"consumer_name": name, "conn": 1, "consumer": 0, "remote": None, "connected_since": None, "permits": permits,
            "unacked_msgs": unacked, "redelivered_msgs": 0, "capped": False, "as_of": minute(3), **more}  # fmt: skip


@pytest.mark.parametrize(
    ("clients", "is_alone"),
    [
        ([client("a", 2_900, 1_500), client("b", 0), client("c", 0)], True),
        ([client("a", 2_900, 0), client("b", 100)], True),
        ([client("a", 2_900, 0), client("b", 600)], False),
        ([client("a", 2_900, 0), client("b", 0, 0)], False),  # no room: it is full, or it asks for nothing
        ([client("a", 2_900, 0), client("b", 0, capped=True)], False),
        ([client("a", 2_900, 0), client("b", None)], False),  # nobody knows
        ([client("a", 3, 0), client("b", 0)], False),  # by chance
        ([client("a", 2_900, 0)], False),
        (None, False),
    ],
)
@pytest.mark.parametrize("cause", ["in_flight", "no_permits"])
def test_where_one_consumer_has_everything_others_are_no_help(clients: Any, is_alone: bool, cause: str) -> None:
    steps = said(of_cause(cause, "Key_Shared", clients=clients))
    words = "a has 2,900 messages, and other consumers have none to do: speed it up, or restart it. All keys that wait are its own"
    assert (words in steps, "add some" in steps) == (is_alone, not is_alone)


def test_what_comes_while_a_quota_shuts_producers_out_is_no_demand() -> None:
    rates = {**SLOW, "outpaced": False, "publish_rate": 2.0, "growth_rate": -11.0, "caught_up_in_s": 60.0}
    assert "Wait: its backlog becomes less." in said(of_cause("in_flight", rates=rates))
    shut = {**rates, "outpaced": None, "shut_out": True}
    found = of_cause("in_flight", rates=shut)
    assert "Wait" not in said(found)
    assert "a quota shut producers out in the last minutes, and nobody knows how many come without that" in "".join(text_lines(found))
    lines = "\n".join(text_lines(of_cause("no_permits", rates=shut)))
    assert "current         not known: a quota shut producers out in the last minutes, and when they are back more comes" in lines


def test_a_step_that_two_causes_share_is_told_once() -> None:
    rows = [charge(m, "unacked_limit", cap="consumer" if m < 2 else "subscription") for m in range(3)]
    steps = judged(evidence(rows, throttle=[served(2, 5)], rates=[SLOW]))["advice"]
    told = [one["do"] for one in steps]
    assert told == list(dict.fromkeys(told))
    commands = " ".join(one["command"] or "" for one in steps)
    assert commands.index("per-subscription") < commands.index("per-consumer"), "the cap at the end first"


def test_what_is_behind_is_not_said_to_be_well_though_most_of_it_is_for_later() -> None:
    overdue = of_cause("delayed")
    assert (overdue["status"], "The rest is due" in said(overdue)) == ("overdue", True)
    assert "Nothing is wrong" not in said(overdue)


@pytest.mark.parametrize(
    ("sub_type", "dispatched", "words"),
    [
        ("Failover", 0, "Its one active consumer hangs"),
        ("Exclusive", 0, "it begins again at the first message without an acknowledgement"),
        ("Failover", 5, "Of type Failover one consumer is served at a time, and it is too slow"),
        ("Shared", 5, "add some, or speed them up"),
    ],
)
def test_more_consumers_are_no_answer_where_one_is_served(sub_type: str, dispatched: int, words: str) -> None:
    rates = SLOW if dispatched else {**SLOW, "ack_rate": 0.0}
    found = of_cause("no_permits", sub_type, rates, dispatched_msgs=dispatched, longest_silence=True)
    assert words in said(found)
    if not dispatched:
        assert "its one active consumer, which hangs" in found["verdict"]


def test_who_may_work_on_a_batch_is_not_just_restarted() -> None:
    rates = {**SLOW, "ack_rate": 0.0}
    found = of_cause("no_permits", "Exclusive", rates, dispatched_msgs=0, longest_silence=False)
    assert "its one active consumer, which seems to hang, since" in found["verdict"]
    assert said(found).startswith("Its one active consumer seems to hang: it takes and acknowledges nothing. ")
    assert "It may work on a large batch: ask its owner. If it does not, restart it: then it begins again at" in said(found)


@pytest.mark.parametrize(
    ("acknowledges", "end", "is_longest"),
    [
        ([1, 2, 3], 3.5, False),
        ([1, 2, 3], 4, False),
        ([1, 2, 3], 4.5, True),
        ([3, 16], 28, False),  # a batch of 13 minutes
        ([3, 16], 29.5, True),
        ([1], 2, False),
        ([1], 3, False),  # no pause was seen yet
        ([1], 5, True),
        ([13], 25, False),  # the first batch had a beginning
        ([], 30, False),
    ],
)
def test_a_silence_is_compared_with_the_pauses_before(acknowledges: list[int], end: float, is_longest: bool) -> None:
    checks = [
        {"from_time": minute(m - 1), "to_time": minute(m), "ack_rate": 2.0 if m in acknowledges else 0.0} for m in range(1, int(end) + 1)
    ]
    assert silence.is_longest(checks, minute(end)) == is_longest


def test_catching_up_is_no_reason_to_wait_while_the_backlog_grows() -> None:
    grows = of_cause("catching_up")
    assert "grows by 17.0 entries/s" in said(grows)
    assert "Wait" not in said(grows)
    assert "Wait" in said(of_cause("catching_up", rates={**SLOW, "growth_rate": -4.0, "caught_up_in_s": 25.0}))


@pytest.mark.parametrize(
    ("rates", "words", "never"),
    [
        ({}, "Its consumers acknowledge 13.0 entries/s, and 30.0 come. Speed its consumers up, or add some.", "Unloading"),
        (
            {"outpaced": False, "ack_rate": 60.0, "growth_rate": -30.0},
            "60.0 entries/s, and 30.0 come. Wait: its backlog becomes less.",
            "Unloading",
        ),
        ({"outpaced": False, "ack_rate": 30.1, "growth_rate": -0.1}, "Unloading the topic closes all", "Wait"),
        ({"outpaced": False, "ack_rate": 0.5, "growth_rate": -20.0, "removed_rate": 49.5}, "Unloading the topic closes all", "Wait"),
        ({"outpaced": False, "ack_rate": 0.0, "growth_rate": 30.0}, "Unloading the topic closes all", "Speed"),
    ],
)
def test_whoever_acknowledges_is_not_told_to_restart(rates: dict[str, Any], words: str, never: str) -> None:
    advised = said(of_cause("in_flight", rates={**SLOW, **rates}))
    assert words in advised
    assert never not in advised
    assert "One consumer is served at a time: speed it up." in said(of_cause("in_flight", "Failover"))


def test_a_log_that_is_of_version_1_1_is_not_asked_to_be() -> None:
    old = of_cause("unknown", unknown_reason="not_in_this_log", log_version=None)
    new = of_cause("unknown", "Key_Shared", unknown_reason="not_in_this_log", log_version="1.1")
    assert "a collector of version 1.1 writes them" in said(old)
    assert "a collector of version 1.1" not in said(new)
    assert "keys of one consumer that is full" in said(new)


def test_a_reader_that_lost_entries_is_told_so_and_gets_advice_for_readers() -> None:
    found = of_cause("no_permits", cursor_kind="reader", lost_entries=1_260)
    assert found["advice"][0]["do"].startswith("It lost 1,260 entries by trimming or expiry")
    assert "A second reader would read everything again" in said(found)
    assert "a reader that is too slow" in found["verdict"]


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("__compaction", "compaction", "The cursor of compaction (__compaction)"),
        ("pulsar.dedup", "deduplication", "The cursor of message deduplication (pulsar.dedup)"),
        ("pulsar.repl.east", "replicator", "The replicator to cluster east (pulsar.repl.east)"),
    ],
)
def test_a_cursor_of_pulsar_has_its_own_words(name: str, kind: str, words: str) -> None:
    around = {"holders": [{**HOLDER, "subscription": name, "cursor_kind": kind}], "holders_as_of": minute(3), "status": "behind"}
    rows = [charge(m, "no_consumer") for m in range(3)]
    found = judged(evidence(rows, subscription=name), cursor_kind=kind, **around)
    assert found["verdict"] == (
        f"{words} of {TOPIC} is behind at 2026-01-05T12:03:00Z: 600 entries, 12,000,000 bytes are behind it;"
        " the oldest message is 3 min 59 s old. No application reads it."
    )
    assert "consumers" not in said(found)
