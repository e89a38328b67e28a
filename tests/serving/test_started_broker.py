"""Answers about a broker that has just started: no window of it is over, and its newest events are seconds old."""

from collections.abc import Iterator

import pytest
from live_warehouse import live_warehouse
from log_builder import BROKER, SUB, TOPIC
from served import Served, served
from started_broker import nobody_reads

#: A broker that starts, nine entries, nobody who reads them. The first window ends after 60 s.
STARTED_S, GOES_ON_S = 40, 75
ABOUT = {"topic": TOPIC, "subscription": SUB}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(live_warehouse(nobody_reads(STARTED_S), tmp_path_factory.mktemp("started") / "w")) as made:
        yield made


@pytest.fixture(scope="module")
def later(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A quarter of the second window later."""
    with served(live_warehouse(nobody_reads(GOES_ON_S), tmp_path_factory.mktemp("later") / "w")) as made:
        yield made


def test_readiness_has_the_newest_event_and_the_newest_window(server: Served, later: Served) -> None:
    started = {"broker": BROKER, "as_of": "2026-11-21T11:20:40+00:00", "window_as_of": None}
    assert server.get("/readyz") == (200, {"brokers": [started], "as_of": started["as_of"]})
    goes_on = {"broker": BROKER, "as_of": "2026-11-21T11:21:15+00:00", "window_as_of": "2026-11-21T11:21:00+00:00"}
    assert later.get("/readyz") == (200, {"brokers": [goes_on], "as_of": goes_on["as_of"]})


def test_why_has_its_subscriptions_and_no_figure_of_a_window(server: Served, later: Served) -> None:
    status, found = server.get("/v1/why")
    (row,) = found["subscriptions"]
    assert (status, row["status"], row["backlog"], row["since"]) == (200, "no consumer", 9, "2026-11-21T11:20:00+00:00")
    assert row["known_until"] == "2026-11-21T11:20:40+00:00"
    assert row["as_of"] < "2026-11-21T11:20:04+00:00", "when the change was noticed"
    assert {row[name] for name in ("share", "time_share", "backlog_s", "completeness", "checked_at", "pace_per_s")} == {None}
    (row,) = later.get("/v1/why")[1]["subscriptions"]
    assert (row["status"], row["share"], row["backlog_s"], row["completeness"]) == ("no consumer", 1.0, 60.0, 1.0)
    assert (row["as_of"], row["known_until"]) == ("2026-11-21T11:21:00+00:00", "2026-11-21T11:21:15+00:00")


def test_explain_says_that_no_window_is_over(server: Served, later: Served) -> None:
    status, found = server.get("/v1/explain", **ABOUT)
    assert (status, found["status"], found["behind"], found["share"], found["confidence"]) == (200, "no consumer", True, None, "medium")
    assert "first_window" in found["missing"]
    assert (found["from"], found["to"]) == ("2026-11-21T11:19:50+00:00", "2026-11-21T11:20:40+00:00")
    assert "first_window" not in later.get("/v1/explain", **ABOUT)[1]["missing"]


def test_a_figure_to_scale_by_is_there(server: Served) -> None:
    status, found = server.get("/v1/scale", **ABOUT)
    assert (status, found["more_consumers"], found["why"]) == (200, 1, "no_consumer")


def test_the_page_shows_it(server: Served, later: Served) -> None:
    status, page = server.get("/")
    assert status == 200
    assert "1 of 1 subscriptions is behind." in page
    assert 'data-as-of="2026-11-21T11:20:40Z"' in page, "the corner has the newest event"
    assert 'data-as-of="2026-11-21T11:21:15Z"' in later.get("/")[1]
    status, page = server.get("/subscription", **ABOUT)
    assert status == 200
    assert "No window that has its backlog is over yet." in page
    assert "Its limiters are known when the first window of its broker is over." in page
    status, page = server.get("/broker", broker=BROKER)
    assert (status, "The first window of this broker is not over." in page) == (200, True)
    assert 'Its log is known to <time datetime="2026-11-21T11:20:40Z"' in page
    assert '<body data-live-page="begins">' in page, "an open page is loaded anew when the first window ends"
    full = later.get("/broker", broker=BROKER)[1]
    assert "No limiter was on in this window." in full
    assert '<body data-live-page="">' in full
    assert server.get("/broker", broker="another")[0] == 404
    assert server.get("/broker", broker=BROKER, at="2026-11-21T11:20:30Z")[0] == 404, "of the past it has windows only"
    assert server.get("/log")[0] == 200


def test_metrics_have_status_and_backlog_and_both_instants(server: Served, later: Served) -> None:
    lines = server.get("/metrics/clean")[1].splitlines()
    of_broker = f'{{cluster="c",broker="{BROKER}"}}'
    of_subscription = [line for line in lines if f'subscription="{SUB}"' in line]
    assert any(line.startswith("dispatch_subscription_status{") and 'status="no consumer"' in line for line in of_subscription)
    assert any(line.startswith("dispatch_subscription_backlog_entries{") and line.endswith(" 9") for line in of_subscription)
    assert values(lines, of_broker) == {"dispatch_log_as_of_timestamp_seconds": 1795260040}
    assert values(later.get("/metrics/clean")[1].splitlines(), of_broker) == {
        "dispatch_log_as_of_timestamp_seconds": 1795260075, "dispatch_log_window_as_of_timestamp_seconds": 1795260060,
    }  # fmt: skip


def values(lines: list[str], labels: str) -> dict[str, float]:
    """Of the two instants of a broker."""
    found = (line.rpartition(" ") for line in lines if "as_of_timestamp_seconds{" in line)
    return {name.removesuffix(labels): float(value) for name, _, value in found if name.endswith(labels)}
