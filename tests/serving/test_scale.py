"""`/v1/scale`: the consumers that would help; no figure where nobody knows, so that no autoscaler acts on it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from broker_scrapes import ALWAYS, loaded_whole
from capture_events import write_events
from loaded import load_into
from served import Served, served

from pipeline.diagnosis.evidence import NoAnswer
from pipeline.serving.scale import scale

Y_INCIDENT = next(scrape for scrape in ALWAYS if scrape.name == "y_incident")
LIMITED = {"answer": "no", "why": "throttled"}
SLOW = {"answer": "yes", "why": "no_permits"}


def about(**changed: Any) -> dict[str, Any]:
    """A subscription of slow consumers: 100 entries a second come, 80 go, 6,000 are there; so 120 a second clear it in five minutes."""
    return {
        "topic": "t", "subscription": "s", "as_of": "now", "status": "slow consumers", "behind": True, "cause": "no_permits",
        "unknown_reason": None, "cursor_kind": "subscription", "backlog": 6_000, "pace_per_s": 80.0, "more_consumers": SLOW,
        "catch_up": {"publish_rate": 100.0, "most_entries_per_s": None}, **changed,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("document", "connected", "more", "why"),
    [
        pytest.param(about(), 4, 2, "no_permits", id="each does 20 a second: six do 120"),
        pytest.param(about(backlog=600_000), 4, 4, "no_permits", id="at most twice as many at once"),
        pytest.param(about(backlog=1), 8, 3, "no_permits", id="each does 10: more comes than goes"),
        pytest.param(about(pace_per_s=0.0), 4, 1, "no_permits", id="nothing goes: one shows"),
        pytest.param(about(pace_per_s=None), 4, 1, "no_permits", id="the pace is not known"),
        pytest.param(about(catch_up=None), 4, 1, "no_permits", id="without checks: the backlog alone asks for 20 a second"),
        pytest.param(about(catch_up={"publish_rate": 100.0, "most_entries_per_s": 90.0}), 4, 1, "throttled", id="a limit allows five"),
        pytest.param(about(catch_up={"publish_rate": 100.0, "most_entries_per_s": 70.0}), 4, 0, "throttled", id="a limit allows four"),
        pytest.param(about(), None, 1, "no_permits", id="nobody knows how many are there"),
        pytest.param(about(more_consumers=LIMITED, status="held back"), 4, 0, "throttled", id="a limiter holds it"),
        pytest.param(about(more_consumers={"answer": "no", "why": "one_active_consumer"}), 2, 0, "one_active_consumer", id="exclusive"),
        pytest.param(about(more_consumers=LIMITED, status="held back"), 0, 1, "no_consumer", id="held back, and the last one has left"),
        pytest.param(about(status="current", behind=False, backlog=0), 0, 0, "current", id="nothing to do, nobody there"),
        pytest.param(about(status="keeping up", behind=False), 3, 0, "keeping up", id="it is well"),
        pytest.param(about(status="replicator behind", cursor_kind="replicator"), 0, 0, "replicator behind", id="no consumer ever"),
        pytest.param(about(cursor_kind="reader"), 1, 0, "slow consumers", id="another reader reads everything by itself"),
    ],
)
def test_as_many_as_clear_the_backlog_within_limits(document: dict[str, Any], connected: int | None, more: int, why: str) -> None:
    found = scale(document, connected)
    assert (found["more_consumers"], found["why"]) == (more, why)
    assert found.get("consumers_wanted") == (None if connected is None else connected + more)


@pytest.mark.parametrize("changed", [{"status": "unknown", "unknown_reason": "broker_stopped"}, {"cause": "unknown"}])
def test_what_is_not_known_is_no_figure(changed: dict[str, Any]) -> None:
    with pytest.raises(NoAnswer, match="no figure to scale by"):
        scale(about(**changed), 4)


def test_while_a_quota_shuts_producers_out_there_is_no_figure() -> None:
    with pytest.raises(NoAnswer, match="a quota shuts its producers out"):
        scale(about(more_consumers={"answer": None, "why": "shut_out"}), 4)


# These load a log, which forks: before this process has a server's threads for long.


def test_a_stopped_broker_and_strangers_get_a_reason(tmp_path_factory: pytest.TempPathFactory) -> None:
    with served(loaded_whole(Y_INCIDENT, tmp_path_factory)) as stopped:
        fraud = {"topic": "persistent://real/y/payments", "subscription": "fraud"}
        assert stopped.get("/v1/scale", **fraud) == (
            404,
            {"reason": "how it stands is not known, because broker_stopped: no figure to scale by"},
        )
        assert stopped.get("/v1/scale", topic="x", subscription="y")[0] == 404
        assert stopped.get("/v1/scale", topic="x") == (400, {"reason": "subscription: name one"})


@pytest.fixture(scope="module")
def with_clients() -> list[dict[str, Any]]:
    """The events until eleven seconds before the end of the incident: its clients are there."""
    return [event for event in Y_INCIDENT.events() if event["ts"] <= Y_INCIDENT.manifest["as_of_us"] - 11_000_000]


def test_without_the_beginning_of_the_log_the_consumers_are_not_counted(with_clients: list[dict[str, Any]], tmp_path: Path) -> None:
    log = write_events(with_clients[len(with_clients) // 3 :], tmp_path / "log" / "events.jsonl.gz").parent
    with served(load_into(log, tmp_path / "w")) as late:
        answers = [
            late.get("/v1/scale", topic=one["topic"], subscription=one["subscription"])
            for one in late.get("/v1/why", all="true")[1]["subscriptions"]
        ]
    assert answers
    assert not any("consumers" in found or "consumers_wanted" in found for _, found in answers)


@pytest.fixture(scope="module")
def server(with_clients: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("scale")
    with served(load_into(write_events(with_clients, folder / "log" / "events.jsonl.gz").parent, folder / "w")) as made:
        yield made


@pytest.mark.parametrize(
    ("topic", "subscription", "more", "why"),
    [("payments", "fraud", True, "no_permits"), ("payments", "ledger", False, "throttled"), ("refunds", "desk", True, "no_consumer")],
)
def test_of_a_real_broker_slow_consumers_get_company_and_limits_do_not(
    server: Served, with_clients: list[dict[str, Any]], topic: str, subscription: str, more: bool, why: str
) -> None:
    status, found = server.get("/v1/scale", topic=f"persistent://real/y/{topic}", subscription=subscription)
    assert (status, found["more_consumers"] > 0, found["why"]) == (200, more, why)
    assert found["consumers_wanted"] == found["consumers"] + found["more_consumers"]
    assert found["consumers"] == connected_by(with_clients, topic, subscription)


def connected_by(events: list[dict[str, Any]], topic: str, subscription: str) -> int:
    """Openings without closings in the log, counted by hand."""
    signs = {"consumer_open": 1, "consumer_close": -1}
    ours = (f"persistent://real/y/{topic}", subscription)
    return sum(signs.get(event["type"], 0) for event in events if (event.get("topic"), event.get("sub")) == ours)
