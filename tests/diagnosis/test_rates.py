"""The rate that a limiter needs: of what comes, of sizes, and of all that draw on it."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from charges import SLOW, SUBSCRIPTION, TOPIC, charge, evidence, judged, limit, minute

from pipeline.diagnosis.rates import needed

Row = dict[str, Any]
ASKED: Row = {"cause": "throttled", "broker": "b1:8080", "epoch": 1, "topic": TOPIC, "subscription": SUBSCRIPTION, "from": minute(0),
              "to": minute(5), "waiting": 0, "catch_up": None}  # fmt: skip


class Look:
    """Two tables, and the units of the broker's limiters."""

    def __init__(self, draws: Sequence[Row], served: Sequence[Row], by_entries: bool = False) -> None:
        self._draws, self._served, self._units = draws, served, [{"counts_entries": by_entries}]

    def rows(self, sql: str) -> list[Row]:
        """Of the one that the query names."""
        if "limiter_units" in sql:
            return self._units
        return [dict(row) for row in (self._draws if "subscription_backlog" in sql else self._served)]


def draw(subscription: str, waiting: int = 6_000, published: int = 67 * 240, dispatched: int = 100 * 240, **more: Any) -> Row:
    """Between two checks four minutes apart; entries of 600 bytes and 10 messages."""
    return {
        "topic": TOPIC, "subscription": subscription, "opened_at": minute(-60), "first_check_time": minute(1), "check_time": minute(5),
        "first_published_entries": 1_000, "published_entries": 1_000 + published, "first_dispatched_entries": 50,
        "dispatched_entries": 50 + dispatched, "dispatched_msgs": 10 * (50 + dispatched), "in_flight_entries": 7,
        "msg_backlog": waiting + 7,
        "backlog_size": 600 * (waiting + 7), "backlog_messages": 10 * (waiting + 7),
        "check_time_before": minute(4), "published_entries_before": 1_000 + published * 3 // 4, **more,
    }  # fmt: skip


def served(subscription: str, blocked_by: str | None = "topic") -> Row:
    """What it got in the stretch."""
    blocked = {f"blocked_ns_by_{level}_limit": 10**9 * (level == blocked_by) for level in ("broker", "topic", "subscription")}
    return {"topic": TOPIC, "subscription": subscription, "dispatched_entries": 10, "dispatched_msgs": 100, "dispatched_bytes": 6_000,
            **blocked}  # fmt: skip


def of(level: str, dimension: str, draws: Sequence[Row], got: Sequence[Row], *, by_entries: bool = False) -> Row | None:
    """The computed rate for the first subscription."""
    return needed(Look(draws, got, by_entries), {**ASKED, "level": level, "dimension": dimension})


def test_two_subscriptions_that_a_topic_s_limiter_holds_need_the_sum() -> None:
    """67 entries/s come to each of them: twice the limit of 50 entries/s would leave both behind."""
    both = [SUBSCRIPTION, "audit"]
    found = of("topic", "bytes", [draw(one) for one in both], [served(one) for one in both])
    assert found is not None
    assert (found["held"], found["publish_entries_per_s"], found["permits_per_entry"]) == (2, 67.0, 600.0)
    assert found["keeps_up_per_s"] == pytest.approx(2 * 67 * 600)
    assert found["current_per_s"] == pytest.approx(2 * (67 + 6_000 / 600) * 600)


def test_who_only_draws_on_the_limiter_needs_what_it_draws() -> None:
    found = of("topic", "msg", [draw(SUBSCRIPTION), draw("slow", dispatched=3 * 240)], [served(SUBSCRIPTION), served("slow", None)])
    assert found is not None
    assert (found["held"], found["others_per_s"]) == (1, pytest.approx(30))
    assert found["keeps_up_per_s"] == pytest.approx((67 + 3) * 10)


def test_who_draws_nothing_needs_nothing() -> None:
    found = of("topic", "msg", [draw(SUBSCRIPTION), draw("idle")], [served(SUBSCRIPTION)])
    assert found is not None
    assert found["keeps_up_per_s"] == pytest.approx(670)


def test_its_own_limiter_serves_it_alone_and_counts_entries_where_the_broker_does() -> None:
    everybody = [draw(SUBSCRIPTION), draw("audit")], [served(SUBSCRIPTION, "subscription"), served("audit", "subscription")]
    by_messages, by_entries = (of("subscription", "msg", *everybody, by_entries=one) for one in (False, True))
    assert by_messages is not None
    assert by_entries is not None
    assert (by_messages["keeps_up_per_s"], by_entries["keeps_up_per_s"]) == (pytest.approx(670), pytest.approx(67))


def test_of_one_check_the_rate_is_that_since_the_cursor_was_opened() -> None:
    once = draw(SUBSCRIPTION, published=0, check_time_before=None, first_check_time=minute(5), opened_at=minute(5) - timedelta(seconds=100))
    found = of("subscription", "msg", [once], [served(SUBSCRIPTION, "subscription")])
    assert found is not None
    assert found["publish_entries_per_s"] == pytest.approx(10)


@pytest.mark.parametrize(
    ("of_late", "counts"),
    [(60 * 67, 67.0), (60 * 33, 33.0), (60 * 34, 67.0), (0, 0.0), (60 * 135, 135.0), (60 * 133, 67.0)],
)
def test_what_comes_of_late_counts_where_it_is_half_or_double(of_late: int, counts: float) -> None:
    """A burst that is over comes no more."""
    asked = draw(SUBSCRIPTION, published_entries_before=1_000 + 67 * 240 - of_late)
    found = of("subscription", "msg", [asked], [served(SUBSCRIPTION, "subscription")])
    assert found is not None
    assert found["publish_entries_per_s"] == pytest.approx(counts)


def test_of_few_entries_half_may_be_chance() -> None:
    asked = draw(SUBSCRIPTION, published=40, published_entries_before=1_040)
    found = of("subscription", "msg", [asked], [served(SUBSCRIPTION, "subscription")])
    assert found is not None
    assert found["publish_entries_per_s"] == pytest.approx(40 / 240)


def test_what_waits_by_now_counts_though_the_last_check_had_none() -> None:
    one = {**ASKED, "level": "subscription", "dimension": "msg", "waiting": 60_000}
    found = needed(Look([draw(SUBSCRIPTION, waiting=0)], [served(SUBSCRIPTION, "subscription")], by_entries=True), one)
    assert found is not None
    assert (found["waiting"], found["current_per_s"]) == (60_000, pytest.approx(67 + 100))


def test_without_a_check_nothing_is_computed() -> None:
    assert of("topic", "msg", [], [served(SUBSCRIPTION)]) is None
    assert needed(Look([draw(SUBSCRIPTION)], []), {**ASKED, "cause": "no_permits"}) is None


NEED: Row = {"level": "topic", "dimension": "msg", "publish_entries_per_s": 6.7, "permits_per_entry": 10.0, "waiting": 600, "held": 2,
             "keeps_up_per_s": 134.0, "current_per_s": 153.4, "others_per_s": 0.0, "counts_entries": False}  # fmt: skip


def advised(need: Row | None, **more: Any) -> list[Row]:
    """What is to be done about the topic's limiter of messages, 10 a second."""
    rows = [charge(2, "throttled", level="topic", dimension="msg")]
    found: list[Row] = judged(evidence(rows, limits=[limit("topic", **more)]), needed=need)["advice"]
    return found


def test_the_command_has_the_computed_rate_and_says_from_which_figures() -> None:
    first, batches = advised(NEED)
    assert first["command"] == f"pulsar-admin topicPolicies set-dispatch-rate -md 154 -bd -1 -dt 1 {TOPIC}"
    assert first["do"].startswith(
        "Raise the topic's limit of messages. 6.7 entries/s came in the last minutes, 10.0 messages each,"
        " to each of 2 subscriptions that it holds: it catches up above 134 messages per 1 s, and at 154 it is current in 10 min,"
        " if its consumers take as much."
    )
    assert "10 entries are batches of 10, 100 messages at once" in batches["do"]
    assert "dispatchThrottlingOnBatchMessageEnabled=true" in batches["do"]


def test_a_relative_limit_gives_what_is_published_besides() -> None:
    assert "-md 87 -bd -1 -dt 1 -rp" in advised(NEED, relative=True)[0]["command"]  # 153.4 less 6.7 × 10


def test_a_limit_that_allows_it_by_now_is_not_raised() -> None:
    first = advised(NEED, rate=200)[0]
    assert first["command"] is None
    assert "allows what is needed by now, 154 per 1 s" in first["do"]


def test_where_what_comes_is_not_known_the_rate_is_doubled_and_the_answer_says_so() -> None:
    first = advised(None)[0]
    assert "-md 20 " in first["command"]
    assert "No quota check tells what comes" in first["do"]
    shut = {**SLOW, "outpaced": None, "shut_out": True}
    rows = [charge(2, "throttled", level="topic", dimension="msg")]
    held = judged(evidence(rows, limits=[limit("topic")], rates=[shut]))["advice"][0]
    assert "A quota shut its producers out in the last minutes, so the rate is doubled here" in held["do"]


def test_each_of_two_limiters_gets_its_own_rate_and_users() -> None:
    """The broker's limit of bytes held most of the stretch, its limit of messages holds it at the end; both have a rate of their own."""
    rows = [
        *(charge(m, "throttled", level="broker", dimension="bytes") for m in (0, 1)),
        charge(2, "throttled", level="broker", dimension="msg", weight=1),
    ]
    limits = [limit("broker", rate=60), limit("broker", "bytes", rate=50_000)]
    of_msgs, of_bytes = (
        {**NEED, "level": "broker", "dimension": name, "permits_per_entry": each} for name, each in (("msg", 1.0), ("bytes", 760.0))
    )
    last = {"cause": "throttled", "level": "broker", "dimension": "msg", "unknown_reason": None, "cap": None, "since": minute(2)}
    users = [{"topic": TOPIC, "subscription": "other", "share": 0.9, "this": False}]
    found = judged(evidence(rows, limits=limits), needed={**of_bytes, "current_per_s": 57_000.0}, shared_with=[],
                   last_cause={**last, "needed": of_msgs, "shared_with": users})  # fmt: skip
    said = [step["do"] for step in found["advice"]]
    assert "Raise the broker's limit of messages. 6.7 entries/s came in the last minutes, 1.0 messages each" in said[0]
    assert "Or slow down its largest user: other" in said[1]
    assert "Raise the broker's limit of bytes. 6.7 entries/s came in the last minutes, 760.0 bytes each" in said[2]
    assert len(said) == 3, "nothing else, and no batches of 760 messages"
