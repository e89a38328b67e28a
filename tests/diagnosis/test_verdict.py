"""The verdict by rows: what holds a subscription, since when, how sure, and what to do."""

import shlex
from datetime import timedelta
from typing import Any

import pytest
from charges import NOON, SUBSCRIPTION, TOPIC, charge, evidence, judged, limit, minute, policy, served, standing
from hypothesis import given
from hypothesis import strategies as st

from pipeline.diagnosis.instants import time_words
from pipeline.diagnosis.policies import NOT_IN_THIS_LOG
from pipeline.diagnosis.words import CAUSES, chart, limit_line, precedence_lines, quota_line, text_lines
from schemas.packages.cause.causes import ACCOUNTS
from schemas.packages.cause.causes import CAUSES as DECLARED

TOPIC_LIMIT: dict[str, Any] = {"level": "topic", "dimension": "msg"}


def test_the_main_cause_has_most_entries_times_time_and_its_run_has_a_begin() -> None:
    rows = [
        charge(0, "no_consumer", 50, weight=10),
        charge(0, "throttled", 10, weight=5, main=False, **TOPIC_LIMIT),
        *(charge(m, "throttled", weight=400, main_since=minute(1), **TOPIC_LIMIT) for m in (1, 2)),
    ]
    found = judged(evidence(rows, limits=[limit("topic", rate=1_000)]))
    assert (found["behind"], found["status"], found["cause"], found["level"], found["dimension"]) == (
        True,
        "held back",
        "throttled",
        "topic",
        "msg",
    )
    assert found["share"] == pytest.approx(805 / 815)
    assert found["time_share"] == pytest.approx(130 / 180)
    assert (found["since"], found["backlog"], found["backlog_s"]) == (minute(1), 100, 180)
    assert found["verdict"] == (
        f"{SUBSCRIPTION} of {TOPIC} is behind by 100 entries at 2026-01-05T12:03:00Z. 99% of its backlog of the last 3 min is charged"
        " to the topic's limiter of messages (1,000 messages per 1 s, set by: not in this log), since 2026-01-05T12:01:00Z (2 min)."
    )


@pytest.mark.parametrize(("cause", "level", "dimension", "reason"), [account[:4] for account in ACCOUNTS])
def test_every_account_has_words_and_advice(cause: str, level: str | None, dimension: str | None, reason: str | None) -> None:
    account = {"level": level, "dimension": dimension, "unknown_reason": reason}
    limits = [limit(level, dimension or "", asks_blocked=3)] if level else []
    more = {"waiting_end": 40} if cause == "in_flight" else {}
    throttle = [served(2, 9)] if cause == "catching_up" else []
    found = judged(evidence([charge(m, cause, **account, **more) for m in range(3)], limits=limits, throttle=throttle))
    assert found["behind"]
    assert found["advice"], "there is always something to look at"
    assert found["confidence"] == ("low" if cause == "unknown" else "high")
    lines = list(text_lines(found))
    assert lines[0] == found["verdict"]
    assert any(line.startswith("do ") for line in lines)


def test_every_declared_cause_has_words() -> None:
    assert set(DECLARED) <= set(CAUSES)


@pytest.mark.parametrize(
    ("rows", "status", "behind"),
    [
        ([], "current", False),
        ([charge(0, "no_permits")], "current", False),
        ([charge(2, "catching_up", 30)], "keeping up", False),
        ([charge(2, "delayed")], "delayed", False),
        ([charge(2, "catching_up")], "catching up", True),
        ([charge(2, "no_permits", 30)], "slow consumers", True),
    ],
)
def test_it_is_behind_unless_the_view_says_that_it_is_well(rows: list[Any], status: str, behind: bool) -> None:
    found = judged(evidence(rows, standing=[standing(status, backlog=7)]))
    assert (found["status"], found["behind"], found["backlog"]) == (status, behind, 7)
    assert bool(found["advice"]) == behind
    assert found["cause"] == (rows[0]["cause"] if rows else None)
    assert found["verdict"].startswith(f"{SUBSCRIPTION} of {TOPIC} is {'behind by' if behind else status}")


def test_a_cursor_that_only_checks_know_is_behind_as_its_last_check_counted() -> None:
    found = judged(evidence([], standing=[standing("replicator behind", backlog=474, checked_at=minute(2.5))]))
    assert (found["behind"], found["cause"], found["backlog"], found["confidence"]) == (True, None, 474, "high")
    assert found["verdict"] == (
        f"{SUBSCRIPTION} of {TOPIC} is behind by 474 entries at 2026-01-05T12:03:00Z,"
        " as its last quota check at 2026-01-05T12:02:30Z counted: replicator behind."
    )


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("events_lost", "events of the log were lost"),
        ("beginning_not_seen", "the log begins after the subscription"),
        ("not_there", "neither"),
    ],
)
def test_without_proof_it_is_unknown_and_not_well(reason: str, words: str) -> None:
    rows = [] if reason == "not_there" else [standing("unknown", unknown_reason=reason, complete=False)]
    found = judged(evidence([], standing=rows))
    assert (found["status"], found["behind"], found["confidence"], found["unknown_reason"]) == ("unknown", True, "low", reason)
    assert reason in found["missing"]
    assert found["verdict"].startswith(f"Whether {SUBSCRIPTION} of {TOPIC} is behind at 2026-01-05T12:03:00Z is not known: {words}")
    assert found["advice"], "what would decide it"


def test_events_lost_in_the_stretch_make_an_all_clear_less_sure() -> None:
    lost = [{"completeness": 0.99}]
    found = judged(evidence([], broker_windows=lost))
    assert (found["status"], found["confidence"]) == ("current", "medium")
    assert "events_lost" in found["missing"]


@pytest.mark.parametrize(
    ("asked", "to", "now", "words"),
    [
        (None, minute(3), True, "2026-01-05T12:03:00Z, b1:8080"),
        (minute(3), minute(3), True, "2026-01-05T12:03:00Z, b1:8080"),
        (minute(4), minute(3), True, "2026-01-05T12:03:00Z, b1:8080: asked about 2026-01-05T12:04:00Z, which its log has not reached"),
        (minute(4), minute(3), False, "2026-01-05T12:03:00Z, b1:8080: asked about 2026-01-05T12:04:00Z, after which its log was silent"),
        (minute(2.5), minute(3), True, "2026-01-05T12:03:00Z, b1:8080: the end of the window that has 2026-01-05T12:02:30Z"),
    ],
)
def test_it_says_which_instant_it_is_about(asked: Any, to: Any, now: bool, words: str) -> None:
    lines = list(text_lines(judged(evidence([], end=to, asked_at=asked, is_now=now))))
    assert next(line for line in lines if line.startswith("as of")).removeprefix("as of").strip().startswith(words)


@pytest.mark.parametrize(
    ("rows", "confidence", "missing"),
    [
        ([charge(2, "no_permits")], "high", ["quota_checks"]),
        ([charge(2, "no_permits", complete=False)], "medium", ["beginning_not_seen", "quota_checks"]),
        ([charge(2, "no_permits", completeness=0.9)], "medium", ["events_lost", "quota_checks"]),
        ([charge(2, "no_permits", weight=55), charge(2, "catching_up", weight=45, main=False)], "high", ["quota_checks"]),
        ([charge(2, one, weight=w) for w, one in ((40, "no_permits"), (35, "reading"), (25, "channel"))], "medium", ["quota_checks"]),
        ([charge(2, one, weight=25, main=False) for one in ("no_permits", "reading", "channel", "in_flight")], "low", ["quota_checks"]),
        ([charge(2, "no_permits", weight=75), charge(2, "unknown", weight=25, main=False, unknown_reason="not_in_this_log")], "low",
         ["event_kinds", "quota_checks"]),
    ],
)  # fmt: skip
def test_how_sure_and_what_is_missing(rows: list[Any], confidence: str, missing: list[str]) -> None:
    found = judged(evidence(rows))
    assert (found["confidence"], found["missing"]) == (confidence, missing)


def test_limits_come_least_first_and_say_who_set_them_or_that_the_log_does_not() -> None:
    limits = [limit("broker", rate=500), limit("topic", rate=10, permits_end=-7), limit("topic", "bytes", rate=4096)]
    unknown = judged(evidence([charge(2, "throttled", **TOPIC_LIMIT)], limits=limits))
    assert [(one["level"], one["dimension"], one["debt"], one["set_by"]) for one in unknown["limits"]] == [
        ("topic", "msg", 7, NOT_IN_THIS_LOG), ("broker", "msg", 0, NOT_IN_THIS_LOG), ("topic", "bytes", 0, NOT_IN_THIS_LOG),
    ]  # fmt: skip
    assert "who_set_limits" in unknown["missing"]
    setters = [policy("broker_dispatch_rate", "dynamic_config"), policy("topic_dispatch_rate", "namespace")]
    known = judged(evidence([charge(2, "throttled", **TOPIC_LIMIT)], limits=limits, policies=setters))
    assert [one["set_by"] for one in known["limits"]] == ["namespace", "dynamic_config", "namespace"]
    assert "who_set_limits" not in known["missing"]
    assert "set by: namespace" in known["verdict"]


def test_a_limit_is_raised_with_both_of_its_dimensions_and_the_next_one_is_named() -> None:
    """A policy is one object (§1.5): a command that named messages alone would lift the limit of bytes."""
    limits = [limit("broker", rate=500), limit("topic", rate=10), limit("topic", "bytes", rate=4096)]
    margin = {**TOPIC_LIMIT, "next_level": "broker", "next_dimension": "msg", "reads": 30, "wanted_entries": 3_000, "granted_entries": 90}
    found = judged(evidence([charge(2, "throttled", **TOPIC_LIMIT)], limits=limits, margins=[margin]))
    raise_it, then = found["advice"]
    assert raise_it["command"] == f"pulsar-admin topicPolicies set-dispatch-rate -md 20 -bd 4096 -dt 1 {TOPIC}"
    words = "Then the broker's limiter of messages (500 messages per 1 s) is next, which others share."
    assert then == {"do": words, "command": None, "effect": None}
    assert any("the broker's limiter of messages is next" in line for line in text_lines(found)), "as `next limit` has it"


@pytest.mark.parametrize(
    ("level", "dimension", "command"),
    [
        ("broker", "msg", "brokers update-dynamic-config --config dispatchThrottlingRateInMsg --value 20"),
        ("broker", "bytes", "brokers update-dynamic-config --config dispatchThrottlingRateInByte --value 20"),
        ("topic", "bytes", f"topicPolicies set-dispatch-rate -md -1 -bd 20 -dt 1 {TOPIC}"),
        ("subscription", "msg", f"topicPolicies set-subscription-dispatch-rate --subscription billing -md 20 -bd -1 -dt 1 {TOPIC}"),
    ],
)
def test_the_command_raises_the_limit_that_holds(level: str, dimension: str, command: str) -> None:
    found = judged(evidence([charge(2, "throttled", level=level, dimension=dimension)], limits=[limit(level, dimension)]))
    assert found["advice"][0]["command"] == f"pulsar-admin {command}"


def test_a_name_out_of_the_log_cannot_leave_its_place_in_a_command() -> None:
    evil = "persistent://shop/eu/x; rm -rf '$HOME' \u202e"
    found = judged(evidence([charge(2, "stuck")], topic=evil))
    for step in found["advice"]:
        assert shlex.split(step["command"])[-1] == evil


def test_who_shares_the_limiter_is_shown_by_what_it_gave_them() -> None:
    used = [("export", 900), (SUBSCRIPTION, 100)]
    rows = [{"level": "topic", "dimension": "msg", "topic": TOPIC, "subscription": name, "used": n} for name, n in used]
    found = judged(evidence([charge(2, "throttled", **TOPIC_LIMIT)], limits=[limit("topic")], neighbours=rows))
    assert [(one["subscription"], one["share"], one["this"]) for one in found["shared_with"]] == [
        ("export", 0.9, False),
        ("billing", 0.1, True),
    ]
    assert "export of persistent://shop/eu/orders has 90%" in found["advice"][-1]["do"]
    assert judged(evidence([charge(2, "no_permits")], neighbours=rows))["shared_with"] == []


def test_the_chart_has_a_row_per_cause_and_a_column_per_window() -> None:
    rows = [charge(0, "no_permits", 30), charge(1, "no_permits", 60), charge(2, "reading", 1)]
    assert chart(judged(evidence(rows))["windows"], NOON, minute(3)) == [
        "no_permits  ▄█ ",
        "reading       ▁",
        "            2026-01-05T12:00:00Z to 2026-01-05T12:03:00Z, a column is 1 min",
    ]
    days = [charge(m, "no_permits") for m in range(600)]
    assert len(chart(judged(evidence(days, 600))["windows"], NOON, NOON + timedelta(hours=10))[0]) == len("no_permits  ") + 60


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.sampled_from([one[:4] for one in ACCOUNTS]), st.integers(1, 60), st.integers(0, 10**6)),
        min_size=1,
        max_size=20,
    )
)
def test_shares_add_up_to_one(charges: list[tuple[int, tuple[str, str | None, str | None, str | None], int, int]]) -> None:
    rows = [
        charge(m, cause, seconds, weight=weight, level=level, dimension=dimension, unknown_reason=reason)
        for m, (cause, level, dimension, reason), seconds, weight in sorted(charges, key=str)
    ]
    found = judged(evidence(sorted(rows, key=lambda row: row["window_start"]), 5))
    assert sum(one["share"] for one in found["causes"]) == pytest.approx(1)
    assert sum(one["time_share"] for one in found["causes"]) == pytest.approx(1)
    assert found["share"] == max(one["share"] for one in found["causes"])
    assert sum(one["seconds"] for one in found["causes"]) == pytest.approx(found["backlog_s"])


def test_a_limit_that_no_place_sets_has_no_since() -> None:
    """The log lacks the place, or the broker applies a limit that nobody sets any more."""
    removed = "no place sets it any more, and the broker still applies it"
    for row, words in (
        (policy("topic_dispatch_rate", None, policy_disagreement=None), "set by: not in this log"),
        (policy("topic_dispatch_rate", None, policy_disagreement="other_value", msg_rate=0, applied_msg_rate=10), removed),
        (policy("topic_dispatch_rate", "namespace"), "set by: namespace since 2026-01-05T12:00:00Z"),
    ):
        (found,) = judged(evidence([charge(2, "no_permits")], limits=[limit("topic")], policies=[row]))["limits"]
        assert limit_line(found) == f"topic: 10 messages per 1 s, {words}"


def test_a_limiter_that_was_turned_off_is_not_in_force() -> None:
    """Its last row in the table is of the time before: the table has no row of a limiter without a rate."""
    off = policy("topic_dispatch_rate", None, msg_rate=0, applied_msg_rate=-1, applied_byte_rate=0, since=minute(1))
    assert judged(evidence([charge(2, "no_permits")], limits=[limit("topic")], policies=[off]))["limits"] == []
    made_later = [limit("topic", created_at=minute(2))]
    assert judged(evidence([charge(2, "no_permits")], limits=made_later, policies=[off]))["limits"] != []


def test_every_place_that_sets_a_limit_is_there_the_one_that_rules_first() -> None:
    """§1.5: the strongest place rules as a whole, so the namespace's bytes do not hold here."""
    rows = [
        policy("size_quota", "broker_config", "namespace", quota_limit=-1, quota_policy="producer_request_hold", msg_rate=None),
        policy("topic_dispatch_rate", "broker_config", "topic", msg_rate=-1, byte_rate=-1),
        policy("topic_dispatch_rate", "namespace", "topic", msg_rate=500, byte_rate=1_000, relative=True),
        policy("topic_dispatch_rate", "topic"),
        policy("subscription_dispatch_rate", "subscription", msg_rate=60),
        policy("size_quota", "namespace", quota_limit=4_096, quota_policy="consumer_backlog_eviction", msg_rate=None),
        policy("replicator_dispatch_rate", "namespace"),
        policy("broker_dispatch_rate", None),
    ]
    found = judged(evidence([charge(2, "throttled", **TOPIC_LIMIT)], limits=[limit("topic")], policies=rows))
    assert [(one["limit_kind"], one["set_by"], one["in_force"], one["shadowed_by"]) for one in found["policies"]] == [
        ("topic_dispatch_rate", "topic", True, None),
        ("topic_dispatch_rate", "namespace", False, "topic"),
        ("topic_dispatch_rate", "broker_config", False, "topic"),
        ("subscription_dispatch_rate", "subscription", True, None),
        ("size_quota", "namespace", True, None),
        ("size_quota", "broker_config", False, "namespace"),
    ]
    assert precedence_lines(found["policies"]) == [
        "topic_dispatch_rate: topic (10 messages per 1 s) rules over namespace (500 messages and 1,000 bytes per 1 s above"
        " the publish rate), broker_config (no limit)",
        "size_quota: namespace (4,096 bytes, consumer_backlog_eviction) rules over broker_config (no limit)",
    ]
    assert any(line.startswith("precedence      topic_dispatch_rate: topic (10") for line in text_lines(found))


@pytest.mark.parametrize(("m", "words"), [(0, "(10 messages per 1 s, set by: topic)"), (2, "(now 10 messages per 1 s, set by: topic)")])
def test_the_rate_of_now_is_no_rate_of_then(m: int, words: str) -> None:
    """The limiter held it since noon; its rate is the one since minute m."""
    rows = [charge(one, "throttled", level="topic", dimension="msg") for one in range(3)]
    found = judged(evidence(rows, limits=[limit("topic")], policies=[policy("topic_dispatch_rate", "topic", since=minute(m))]))
    assert f"the topic's limiter of messages {words}, since {time_words(NOON)}" in found["verdict"]
    assert found["limits"][0]["applied_since"] == minute(m)


def test_a_quota_has_the_place_that_sets_it() -> None:
    row = {"quota_type": "time", "exceeded": True, "share_of_limit": 1.2, "used": 72_000, "quota_limit": 60, "policy": "producer_exception"}
    row |= dict.fromkeys(("on_breach", "breach_at", "breach_from", "breach_to", "loses_first", "others_losing", "producers", "complete"))
    setter = policy("age_quota", "topic", quota_limit=60, quota_policy="producer_exception")
    (found,) = judged(evidence([charge(2, "no_permits")], quotas=[{**row, "check_time": NOON}], quota_policies=[setter]))["quotas"]
    line = "time quota, 120% used, producer_exception, set by: topic since 2026-01-05T12:00:00Z: "
    assert quota_line(found, NOON) == f"{line}exceeded now"
    assert quota_line(found, minute(4)) == f"{line}exceeded at the check of 2026-01-05T12:00:00Z"


AT_MOST = "limits allow it 40.0 entries/s at most"


RATES: dict[str, Any] = {
    "over_s": 60.0,
    "publish_rate": 5.0, "dispatch_rate": 9.0, "ack_rate": 9.0, "removed_rate": 0.0, "sought_entries": 0,
    "growth_rate": -4.0, "caught_up_in_s": 25.0,
    "to_time": minute(3), "current_at": minute(5), "current_from": minute(4), "current_to": None, "most_entries_per_s": 40.0,
    "soonest_at": minute(4), "allowed": "yes",
    "outpaced": False,
    "shut_out": False,
    "complete": True,
    "backlog_after": 100,
}  # fmt: skip


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (
            {},
            f"at 2026-01-05T12:05:00Z (from 2026-01-05T12:04:00Z to never); {AT_MOST}: not before 2026-01-05T12:04:00Z",
        ),
        ({"current_at": None}, f"not at the pace of the last minutes; {AT_MOST}: not before 2026-01-05T12:04:00Z"),
        (
            {"allowed": "no", "soonest_at": None, "current_to": minute(9)},
            f"at 2026-01-05T12:05:00Z (from 2026-01-05T12:04:00Z to 2026-01-05T12:09:00Z); {AT_MOST}: less than came in the last minutes",
        ),
        ({"allowed": None, "most_entries_per_s": None, "current_at": None}, "not at the pace of the last minutes; no limit is in the way"),
    ],
)
def test_when_it_is_current_and_what_the_limits_allow(more: dict[str, Any], words: str) -> None:
    rows = [charge(m, "throttled", **TOPIC_LIMIT) for m in range(3)]
    found = judged(evidence(rows, rates=[{**RATES, **more}], limits=[limit("topic")] if more.get("allowed", "yes") else []))
    assert f"{'current':<15} {words}" in list(text_lines(found))
    assert found["catch_up"]["as_of"] == minute(3)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (
            {**TOPIC_LIMIT, "next_level": "broker", "next_dimension": "bytes", "reads": 30, "wanted_entries": 3_000, "granted_entries": 90},
            "without the topic's limiter of messages: 30 blocked reads would have got 90 of the 3,000 entries that were asked for;"
            " the broker's limiter of bytes is next",
        ),
        (
            {**TOPIC_LIMIT, "next_level": None, "next_dimension": None, "reads": 1, "wanted_entries": 100, "granted_entries": 100},
            "without the topic's limiter of messages: 1 blocked read would have got 100 of the 100 entries that were asked for;"
            " no other limiter is next",
        ),
    ],
)
def test_what_a_limiter_uncovers(row: dict[str, Any], words: str) -> None:
    found = judged(evidence([charge(m, "throttled", **TOPIC_LIMIT) for m in range(3)], margins=[row]))
    assert found["uncovers"] == [row]
    assert f"{'next limit':<15} {words}" in list(text_lines(found))


MORE = {"answer": "yes", "why": "no_permits", "consumers_share": 1.0, "limits_share": 0.0, "dispatched_per_s": 1.0,
        "most_msgs_per_s": None, "most_bytes_per_s": None}  # fmt: skip


def test_what_held_it_before_its_broker_stopped_is_told() -> None:
    """Whoever looks into a log that is over asks that."""
    stopped = standing("unknown", unknown_reason="broker_stopped", backlog=100, waiting=None, checked_at=minute(2.5))
    found = judged(evidence([charge(m, "throttled", **TOPIC_LIMIT) for m in range(3)], standing=[stopped], more_consumers=[MORE]))
    assert found["verdict"] == (
        f"Whether {SUBSCRIPTION} of {TOPIC} is behind at 2026-01-05T12:03:00Z is not known: its broker stopped; its check at"
        " 2026-01-05T12:02:30Z counted 100 entries. 100% of its backlog of the last 3 min was charged to the topic's limiter of messages."
    )
    assert found["more_consumers"] is None


@pytest.mark.parametrize(
    ("last", "more", "answer"),
    [
        ("throttled", {"answer": "no", "why": "throttled"}, ("no", "throttled")),
        ("no_consumer", {"answer": "yes", "why": "no_permits"}, ("yes", "no_permits")),
        (None, {"answer": "yes", "why": "no_consumer"}, None),
    ],
)
def test_more_consumers_are_for_those_who_are_behind(last: str | None, more: dict[str, Any], answer: tuple[str, str] | None) -> None:
    """Whoever is well needs none."""
    end = [] if last is None else [charge(2, last, weight=1, **(TOPIC_LIMIT if last == "throttled" else {}))]
    rows = [*(charge(m, "throttled", **TOPIC_LIMIT) for m in range(2)), *end]
    found = judged(evidence(rows, more_consumers=[{**MORE, **more}]))
    said = found["more_consumers"]
    assert (None if said is None else (said["answer"], said["why"])) == answer
    assert any(line.startswith("more consumers") for line in text_lines(found)) == (answer is not None)
