"""No instant of an answer lies before the question, and what a quota takes is no progress."""

from datetime import datetime
from typing import Any

import pytest
from charges import SUBSCRIPTION, charge, evidence, judged, limit, minute, standing

from pipeline.diagnosis.delivered import NOTHING_GOES
from pipeline.diagnosis.instants import time_words
from pipeline.diagnosis.recovery import current_line, foreseen, lost_before_line, pace_line
from pipeline.diagnosis.words import quota_line, text_lines

NOW = minute(10)
RATES: dict[str, Any] = {
    "as_of": NOW,
    "over_s": 60.0,
    "publish_rate": 5.0, "dispatch_rate": 9.0, "ack_rate": 9.0, "removed_rate": 0.0, "sought_entries": 0,
    "growth_rate": -4.0, "caught_up_in_s": 25.0,
    "current_at": minute(12), "current_from": minute(11), "current_to": None, "most_entries_per_s": None, "soonest_at": None,
    "allowed": None, "outpaced": False, "shut_out": False, "complete": True, "backlog_after": 9, "unacknowledged_entries": 0,
}  # fmt: skip


def document(waiting: int = 5, *, behind: bool = True, quotas: Any = (), **given: Any) -> dict[str, Any]:
    """As of NOW. What comes, less what goes, is what it grows by."""
    rates = RATES | given
    if "ack_rate" not in given and rates["growth_rate"] is not None:
        rates["ack_rate"] = rates["publish_rate"] - rates["removed_rate"] - rates["growth_rate"]
    return {
        "status": "behind",
        "cause": "no_permits",
        "causes": [],
        "last_cause": None,
        "unknown_reason": None,
        "catch_up": rates,
        "to": NOW,
        "backlog": 9,
        "waiting": waiting,
        "behind": behind,
        "limits": [],
        "cursor_kind": "subscription",
        "quotas": quotas,
        "subscription": SUBSCRIPTION,
    }


@pytest.mark.parametrize(
    ("waiting", "at", "becomes"),
    [
        (5, minute(12), minute(12)),
        (0, minute(9), NOW),  # it came true
        (5, minute(9), None),  # it was missed
        (5, None, None),
    ],
)
def test_what_was_foreseen_is_not_before_the_question(waiting: int, at: datetime | None, becomes: datetime | None) -> None:
    found = foreseen(document(waiting, current_at=at))
    assert found is not None
    assert found["current_at"] == becomes


def test_nothing_is_current_now_while_something_waits() -> None:
    missed = document(5, current_at=minute(9), current_from=minute(9))
    assert current_line({**missed, "catch_up": foreseen(missed)}) == "not at the pace of the last minutes; no limit is in the way"
    there = document(0, current_at=minute(9), current_from=minute(9))
    assert (
        current_line({**there, "catch_up": foreseen(there)})
        == "now: all that is due is delivered, and 9 entries are not acknowledged; no limit is in the way"
    )
    unacknowledged = {**there, "last_cause": {"cause": "in_flight"}}
    words = "not before acknowledgements come for what is delivered; no limit is in the way"
    assert current_line({**unacknowledged, "catch_up": foreseen(unacknowledged)}) == words
    few_wait = {**missed, "last_cause": {"cause": "in_flight"}}
    assert current_line({**few_wait, "catch_up": foreseen(few_wait)}) == words, "three of thousands wait, and three seconds later none"
    evens = document(20, behind=False, current_at=minute(9))
    assert current_line({**evens, "catch_up": foreseen(evens)}) == "what waits goes as it comes; no limit is in the way"
    well = document(0, behind=False, current_at=minute(9), current_from=minute(9))
    assert (
        current_line({**well, "catch_up": foreseen(well)})
        == "now: all that is due is delivered, and 9 entries are not acknowledged; no limit is in the way"
    )


@pytest.mark.parametrize(
    ("behind", "growth_rate", "words"),
    [
        (True, 3.0, "before the last check): its backlog did not become less then"),
        (False, 3.0, "before the last check): more come than go; if that goes on, it is behind"),
        (False, 0.0, "before the last check)"),
        (False, 0.4, "before the last check)"),
    ],
)
def test_a_backlog_that_is_well_may_grow(behind: bool, growth_rate: float, words: str) -> None:
    assert pace_line(document(behind=behind, caught_up_in_s=None, growth_rate=growth_rate)).endswith(words)


@pytest.mark.parametrize(
    ("rates", "pace", "current"),
    [
        ({"caught_up_in_s": None, "growth_rate": 3.0}, "its backlog did not become less then", "at 2026-01-05T12:12:00Z (from "),
        ({"caught_up_in_s": None, "current_at": None}, "it does not catch up at this rate", "not at the pace of the last minutes; "),
        ({"caught_up_in_s": 600.0, "current_at": None}, "its backlog became less", "not at the pace of the last minutes; "),
        (
            {"caught_up_in_s": 60.0, "as_of": minute(9), "current_at": minute(9)},
            "its backlog became less, and that did not go on",
            "not known: the last check's pace did not go on; ",
        ),
        ({"caught_up_in_s": 563.0, "as_of": minute(5)}, "caught up in 4 min 23 s at this rate", "at 2026-01-05T12:12:00Z (from "),
        (
            {"caught_up_in_s": 563.0, "as_of": minute(5), "removed_rate": 1.0, "growth_rate": -5.5, "ack_rate": 9.5},
            "by acknowledgements alone caught up in 6 min 28 s at this rate",
            "at 2026-01-05T12:12:00Z (from ",
        ),
        ({"current_from": minute(9)}, "caught up in 25 s at this rate", "at 2026-01-05T12:12:00Z (from 2026-01-05T12:10:00Z to never)"),
    ],
)
def test_pace_and_forecast_do_not_contradict_each_other(rates: dict[str, Any], pace: str, current: str) -> None:
    """The pace is of the last check; the forecast is of the last minutes."""
    asked = document(**rates)
    asked |= {"catch_up": foreseen(asked)}
    assert pace_line(asked).endswith(f": {pace}")
    assert current_line(asked).startswith(current)


@pytest.mark.parametrize(
    ("soonest", "first", "has_limit"),
    [(minute(11), minute(11), True), (minute(10), minute(10), False), (minute(15), minute(10), False)],
)
def test_no_part_of_the_band_lies_before_limits_allow_it(soonest: Any, first: Any, has_limit: bool) -> None:
    """But a pace that is quicker than they seem to allow is there."""
    asked = {**document(current_from=minute(9), soonest_at=soonest, allowed="yes", most_entries_per_s=9.0), "limits": [{}]}
    asked |= {"catch_up": foreseen(asked)}
    assert asked["catch_up"]["current_from"] == first
    band = f"at 2026-01-05T12:12:00Z (from {time_words(first)} to never); limits allow it 9.0 entries/s at most"
    assert current_line(asked) == f"{band}{': not before 2026-01-05T12:11:00Z' if has_limit else ''}"


def test_of_what_is_delivered_no_limit_is_told() -> None:
    asked = {**document(0, behind=False, soonest_at=minute(15), allowed="yes", most_entries_per_s=9.0), "limits": [{}]}
    asked |= {"catch_up": foreseen(asked)}
    assert current_line(asked) == "now: all that is due is delivered, and 9 entries are not acknowledged"


def test_what_has_become_less_since_does_not_grow() -> None:
    grew = document(behind=False, caught_up_in_s=None, growth_rate=3.0, backlog_after=10)
    assert pace_line(grew).endswith("before the last check)")


def test_of_what_went_while_events_were_lost_nobody_knows_how() -> None:
    lost = document(complete=False, removed_rate=6.4, growth_rate=-3.0, caught_up_in_s=60.0)
    assert "6.4/s go, and the log does not tell how" in pace_line(lost)
    assert pace_line(lost).endswith(": its backlog became less")
    assert "6.4/s expire or are evicted" in pace_line(document(removed_rate=6.4, growth_rate=-3.0, caught_up_in_s=60.0))


def test_while_no_connection_takes_messages_no_pace_goes_on() -> None:
    asked = {**document(caught_up_in_s=145.0), "last_cause": {"cause": "channel"}}
    asked |= {"catch_up": foreseen(asked)}
    assert pace_line(asked).endswith(": nothing is delivered since")
    assert current_line(asked).startswith("not before its connections take messages again")


def test_where_acknowledgements_are_missing_the_forecast_of_deliveries_is_none() -> None:
    asked = {**document(0, caught_up_in_s=None, growth_rate=3.0), "last_cause": {"cause": "in_flight"}}
    assert pace_line(asked).endswith(": it does not catch up at this rate")
    late = {**document(0, caught_up_in_s=2.0, as_of=minute(9)), "last_cause": {"cause": "in_flight"}}
    assert pace_line(late).endswith(": its backlog became less, and that did not go on")


def test_of_a_subscription_that_is_well_a_pace_that_did_not_go_on_is_no_reproach() -> None:
    asked = document(4, behind=False, caught_up_in_s=2.0, as_of=minute(9))
    assert pace_line(asked).endswith("before the last check)")


@pytest.mark.parametrize(
    ("backlog", "caught_up_in_s", "words"),
    [(0, 25.0, "it has no backlog"), (0, None, "it has no backlog"), (0, 0, "it has no backlog"), (9, 0, "it had no backlog then")],
)
def test_the_check_may_lie_before_the_answer(backlog: int, caught_up_in_s: float | None, words: str) -> None:
    assert pace_line({**document(caught_up_in_s=caught_up_in_s), "backlog": backlog}).endswith(f"before the last check): {words}")


def test_what_has_no_backlog_is_current_now_whatever_the_pace_was() -> None:
    well = document(0, behind=False, current_at=None, soonest_at=minute(15), allowed="no", most_entries_per_s=4.7)
    found = foreseen(well)
    assert found is not None
    assert [found[name] for name in ("current_at", "current_from", "current_to")] == [NOW] * 3
    assert found["soonest_at"] is None, "that is sooner than limits seem to allow"
    unlimited = foreseen(document(0, behind=False))
    assert unlimited is not None
    assert unlimited["soonest_at"] is None, "no limit"
    assert (
        current_line({**well, "catch_up": found})
        == "now: all that is due is delivered, and 9 entries are not acknowledged; limits allow it 4.7 entries/s at most"
    )


def test_what_is_days_away_has_no_second() -> None:
    far = document(5, current_at=minute(10 + 3 * 1440), current_from=minute(70), current_to=minute(10 + 9 * 1440))
    assert current_line(far) == "in 3 d (from 1 h to 9 d); no limit is in the way"
    limited = document(5, current_at=None, allowed="yes", most_entries_per_s=40.0, soonest_at=minute(10 + 2 * 1440))
    assert current_line(limited).endswith("; limits allow it 40.0 entries/s at most: not for 2 d")


def test_where_nobody_takes_entries_and_they_expire_that_is_the_only_progress() -> None:
    asked = {**document(5, ack_rate=0.0, removed_rate=40.0, growth_rate=-35.0), "last_cause": {"cause": "no_consumer"}}
    assert pace_line(asked).endswith("it becomes less only because entries expire or are evicted, which its consumers never get")


@pytest.mark.parametrize(
    ("last", "current", "pace"),
    [
        ("no_consumer", "not before a consumer connects; no limit is in the way", "nothing is delivered since"),
        ("no_flow", "not before its consumers ask for messages; no limit is in the way", "nothing is delivered since"),
        ("transaction", "not before the transaction ends; no limit is in the way", "nothing is delivered since"),
        ("stuck", "not before it has a new dispatcher; no limit is in the way", "nothing is delivered since"),
        (
            "no_permits",
            "at 2026-01-05T12:12:00Z (from 2026-01-05T12:11:00Z to never); no limit is in the way",
            "caught up in 25 s at this rate",
        ),
    ],
)
def test_where_nothing_is_delivered_by_now_no_pace_of_the_past_goes_on(last: str, current: str, pace: str) -> None:
    asked = {**document(5), "last_cause": {"cause": last}}
    found = foreseen(asked)
    assert found is not None
    assert (found["current_at"] is None) == (last in NOTHING_GOES)
    assert current_line({**asked, "catch_up": found}) == current
    assert pace_line(asked).endswith(f": {pace}")


def test_nobody_connects_to_a_cursor_of_pulsar_and_a_reader_is_no_consumer() -> None:
    alone = {**document(5, current_at=None), "last_cause": {"cause": "no_consumer"}}
    assert current_line({**alone, "cursor_kind": "reader"}) == "not before a reader connects; no limit is in the way"
    assert current_line({**alone, "cursor_kind": "replicator"}) == "not at the pace of the last minutes; no limit is in the way"


def test_limits_that_the_check_does_not_have_are_in_no_sentence() -> None:
    """They were set, or changed, after it."""
    assert current_line({**document(5), "limits": [{"rate": 80}]}).endswith("; how soon its limits allow that is not known")
    well = {**document(0, behind=False), "limits": [{"rate": 80}]}
    assert current_line({**well, "catch_up": foreseen(well)}) == "now: all that is due is delivered, and 9 entries are not acknowledged"


@pytest.mark.parametrize(
    ("rates", "words"),
    [
        ({}, "5.0 entries/s come, 9.0/s are acknowledged (in the 1 min before the last check): caught up in 25 s at this rate"),
        (
            {"caught_up_in_s": None, "current_at": None},
            "5.0 entries/s come, 9.0/s are acknowledged (in the 1 min before the last check): it does not catch up at this rate",
        ),
        (
            {"ack_rate": 0.2, "removed_rate": 7.5, "caught_up_in_s": 63.0, "growth_rate": -2.7},
            "5.0 entries/s come, 0.2/s are acknowledged, 7.5/s expire or are evicted (in the 1 min before the last check):"
            " it becomes less only because entries expire or are evicted, which its consumers never get",
        ),
        (
            {"removed_rate": 6.0, "caught_up_in_s": 10.0, "growth_rate": -10.0},
            "5.0 entries/s come, 9.0/s are acknowledged, 6.0/s expire or are evicted (in the 1 min before the last check):"
            " by acknowledgements alone caught up in 25 s at this rate",
        ),
    ],
)
def test_what_a_quota_takes_is_no_progress(rates: dict[str, Any], words: str) -> None:
    assert pace_line(document(**rates)) == words


QUOTA: dict[str, Any] = {"quota_type": "size", "exceeded": False, "breach_at": minute(11), "loses_first": SUBSCRIPTION, "others_losing": []}


@pytest.mark.parametrize(
    ("quota", "words"),
    [
        (QUOTA, "the size quota evicts at 2026-01-05T12:11:00Z: billing loses entries before it is current"),
        (QUOTA | {"exceeded": True}, "the size quota evicts at each check that exceeds it: billing loses entries before it is current"),
        (
            QUOTA | {"breach_at": minute(10)},
            "the size quota evicts at its next check, which is due: billing loses entries before it is current",
        ),
        (QUOTA | {"breach_at": minute(13)}, None),
        (QUOTA | {"loses_first": "other"}, None),
        (QUOTA | {"breach_at": None}, None),
    ],
)
def test_an_eviction_that_comes_first_is_told(quota: dict[str, Any], words: str | None) -> None:
    assert lost_before_line(document(quotas=[quota])) == words


@pytest.mark.parametrize(
    ("cause", "reason", "is_known"),
    [
        ("no_permits", "broker_stopped", False),
        (None, "events_lost", False),
        ("unknown", "not_in_this_log", True),
        ("unknown", "not_checked", False),
    ],
)
def test_where_nobody_knows_what_there_is_by_now_no_instant_is_foreseen(cause: str | None, reason: str, is_known: bool) -> None:
    """Nothing is current now, and nothing has no backlog. Where only the cause is unknown the pace is known."""
    last = None if cause is None else {"cause": cause}
    waiting = None if reason in ("broker_stopped", "not_checked") else 5
    asked = document(5, caught_up_in_s=0) | {"status": "unknown", "cause": cause, "unknown_reason": reason, "last_cause": last,
                                             "waiting": waiting}  # fmt: skip
    found = foreseen(asked)
    assert found is not None
    assert (found["current_at"] == minute(12)) == is_known
    assert pace_line(asked).endswith("it had no backlog then") == is_known


@pytest.mark.parametrize(
    ("breach_at", "breach_from", "words"),
    [
        (minute(12), minute(11), "breach at 2026-01-05T12:12:00Z (not before 2026-01-05T12:11:00Z)"),
        (minute(12), None, "breach at 2026-01-05T12:12:00Z"),
        (minute(12), minute(12), "breach at 2026-01-05T12:12:00Z"),
        (minute(10 + 1440), minute(10), "breach at 2026-01-06T12:10:00Z (not before 2026-01-05T12:10:00Z)"),
        (minute(12), minute(9), "breach at 2026-01-05T12:12:00Z"),
        (minute(10), minute(9), "breach due at the check of 2026-01-05T12:10:00Z, which is not known yet"),
        (minute(10 + 19.25 * 1440), minute(10 + 600), "breach in 19 d 6 h (not before 10 h)"),
        (minute(10 + 19.25 * 1440), None, "breach in 19 d 6 h"),
        (None, None, "no breach in sight: no producer is connected"),
    ],
)
def test_minutes_foresee_no_second_of_another_day(breach_at: Any, breach_from: Any, words: str) -> None:
    quota = {
        "quota_type": "size", "exceeded": False, "share_of_limit": 0.5, "policy": "producer_exception", "breach_at": breach_at,
        "breach_from": breach_from, "loses_first": None, "others_losing": None, "producers": 0, "on_breach": "disconnect_producers",
        "as_of": minute(5), "set_by": "topic", "set_since": None, "disagreement": None,
        "not_known": None,
    }  # fmt: skip
    assert quota_line(quota, NOW).endswith(f": {words}"), "as of the answer, not of the check"


def test_limits_that_changed_after_the_check_are_not_those_of_the_forecast() -> None:
    forecast = {**RATES, "to_time": minute(3), "most_entries_per_s": 40.0, "allowed": "yes", "soonest_at": minute(4)}
    policy = {"limit_kind": "topic_dispatch_rate", "in_force": True, "set_by": None, "policy_disagreement": None}
    for since, known in ((minute(2), True), (minute(3.5), False)):
        policies = [{**policy, "since": since}, {**policy, "limit_kind": "size_quota", "since": minute(3.5)}]
        found = judged(
            evidence([charge(m, "no_permits") for m in range(4)], 4, rates=[forecast], policies=policies, limits=[limit("topic")])
        )
        assert (found["catch_up"]["allowed"] is not None) == known
        assert (found["catch_up"]["most_entries_per_s"] is not None) == known


@pytest.mark.parametrize("reason", ["broker_stopped", "not_checked"])
def test_an_answer_about_a_stretch_of_unknown_cause_that_ends_unproven_is_one(reason: str) -> None:
    """What the stretch lacked is not what the end lacks; `waiting` is null."""
    ended = standing("unknown", unknown_reason=reason, backlog=40, waiting=None, cause="no_consumer", checked_at=minute(2.5))
    rows = [charge(m, "unknown", unknown_reason="not_in_this_log") for m in range(3)]
    found = judged(evidence(rows, standing=[ended], rates=[{**RATES, "to_time": minute(2.5)}]))
    assert (found["unknown_reason"], found["confidence"]) == (reason, "low")
    rates = foreseen(found)
    assert rates is not None
    assert rates["current_at"] is None
    assert any(line.startswith("current         not known: ") for line in text_lines({**found, "catch_up": rates}))


def test_a_limit_that_is_gone_by_now_is_in_no_forecast() -> None:
    forecast = {**RATES, "to_time": minute(3), "most_entries_per_s": 40.0, "allowed": "yes", "soonest_at": minute(4)}
    found = judged(evidence([charge(m, "no_permits") for m in range(4)], 4, rates=[forecast]))
    assert (found["catch_up"]["most_entries_per_s"], found["catch_up"]["allowed"]) == (None, None)
