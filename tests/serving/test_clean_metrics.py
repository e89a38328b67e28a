"""`/metrics/clean`: the figures of the views, in a format that others read; what is not known has no line."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any

import pytest
from broker_scrapes import ALWAYS, loaded_until_scraped, loaded_whole
from capture_events import write_events
from loaded import load_into
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_open_metrics
from prometheus_client.parser import text_string_to_metric_families as read_prometheus
from served import served

from console.command_line import main
from generators import clean_metrics_page as page
from pipeline.query.room import ReadingRoom
from pipeline.query.views.status_words import WELL
from pipeline.serving.answers import KEPT_VIEWS
from pipeline.serving.clean_metrics.families import FAMILIES, LEFT_OUT, SUBSCRIPTIONS
from pipeline.serving.clean_metrics.queries import current_in_s
from pipeline.serving.clean_metrics.text import OPEN_METRICS, PROMETHEUS, clean_text

Labels = frozenset[tuple[str, str]]
Y_INCIDENT, F_LIMIT = (next(scrape for scrape in ALWAYS if scrape.name == name) for name in ("y_incident", "f_limit_above_need"))
#: Of a broker that has stopped: all else of its subscriptions, topics, limiters and connections is not known any more.
OF_STOPPED_BROKERS = {
    "dispatch_subscription", "dispatch_subscription_status",
    "dispatch_subscription_backlog_seconds", "dispatch_subscription_backlog_entry_seconds",
    "dispatch_broker", "dispatch_broker_stopped", "dispatch_log_as_of_timestamp_seconds", "dispatch_log_window_as_of_timestamp_seconds",
    "dispatch_log_completeness_ratio",
    "dispatch_log_lost_events", "dispatch_log_late_events", "dispatch_log_clock_steps",
    "dispatch_job_rows", "dispatch_job_commit_timestamp_seconds", "dispatch_job_held_events", "dispatch_job_lanes_behind_rows",
}  # fmt: skip


@pytest.fixture(scope="module")
def rooms(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ReadingRoom]:
    """Of captures, each loaded until its figures were taken."""
    scrapes = (Y_INCIDENT, F_LIMIT)
    warehouses = {scrape.name: loaded_until_scraped(scrape, tmp_path_factory) for scrape in scrapes}
    return {name: ReadingRoom(one, consistent=True, kept=KEPT_VIEWS) for name, one in warehouses.items()}


@pytest.fixture(scope="module", params=["y_incident", "f_limit_above_need"])
def room(request: pytest.FixtureRequest, rooms: dict[str, ReadingRoom]) -> ReadingRoom:
    return rooms[request.param]


@pytest.fixture(scope="module")
def incident(rooms: dict[str, ReadingRoom]) -> ReadingRoom:
    return rooms["y_incident"]


@cache
def text_of(room: ReadingRoom) -> str:
    """Every test of a room asks for it."""
    return clean_text(room, open_metrics=True)


def values(text: str, sample: str) -> dict[Labels, float]:
    """Labels of each line of that name, without those of the place, and its value."""
    found = {}
    for family in read_open_metrics(text):
        for one in family.samples:
            if one.name == sample:
                found[frozenset(one.labels.items()) - {("cluster", "standalone")}] = one.value
    return found


def expected(rows: Sequence[Mapping[str, Any]], value: str, *labels: str, **fixed: str) -> dict[Labels, float]:
    """The same of rows of a view, where the value is known; a label that is null has no place."""
    return {
        frozenset({*((name, str(row[name])) for name in ("broker", *labels) if row[name] is not None), *fixed.items()}): row[value]
        for row in rows
        if row[value] is not None
    }


def left_s(at: datetime | None, now: datetime) -> float | None:
    """What is left of a time that a check foresaw: it counts from now, not from the check."""
    return None if at is None else max(0.0, (at - now).total_seconds())


def without_namespace(found: Mapping[Labels, float]) -> dict[Labels, float]:
    return {frozenset(one for one in labels if one[0] != "namespace"): value for labels, value in found.items()}


def figures(text: str, sample: str) -> dict[Labels, float]:
    return without_namespace(values(text, sample))


def test_each_family_is_read_as_it_is_declared(room: ReadingRoom) -> None:
    """By the client library of Prometheus, which refuses a text that is not OpenMetrics."""
    read = {family.name: family for family in read_open_metrics(text_of(room))}
    declared = {family.name: family for family in FAMILIES}
    assert len(read) > 20
    for name, family in read.items():
        if name != LEFT_OUT:
            assert (family.type, family.unit, family.documentation) == (declared[name].type, declared[name].unit, f"{declared[name].help}.")
            assert {one.name for one in family.samples} == {declared[name].sample}
            series = [frozenset(one.labels.items()) for one in family.samples]
            assert len(set(series)) == len(series)
    assert list(read) == [*(name for name in declared if name in read), LEFT_OUT]


def test_the_older_format_has_the_same_lines(room: ReadingRoom) -> None:
    new, old = text_of(room), clean_text(room, open_metrics=False)
    assert [line for line in old.splitlines() if line[0] != "#"] == [line for line in new.splitlines() if line[0] != "#"]
    assert new.endswith("# EOF\n")
    types = {family.name: family.type for family in read_prometheus(old)}
    assert types["dispatch_subscription_info"] == "gauge"
    assert types["dispatch_subscription_backlog_seconds"] == "counter"
    assert "unknown" not in types.values()


@pytest.mark.parametrize("family", FAMILIES, ids=lambda one: one.name)
def test_a_name_ends_with_its_unit_and_is_ours_or_promised_by_a_pip(family: Any) -> None:
    assert family.name.startswith("dispatch_") or family.name == "pulsar_server_channel_write_buf_memory_used_bytes"
    assert family.name.endswith(f"_{family.unit}") or not family.unit
    assert not family.name.endswith(("_total", "_info"))


def test_names_are_declared_once() -> None:
    assert len({family.name for family in FAMILIES} | {LEFT_OUT}) == len(FAMILIES) + 1


def test_subscriptions_have_the_figures_of_why(room: ReadingRoom) -> None:
    text = text_of(room)
    rows = room.rows("SELECT * FROM why")
    behind = [row for row in rows if row["status"] not in WELL]
    known = [row for row in rows if row["complete"]]
    of = ("topic", "subscription")
    assert set(figures(text, "dispatch_subscription_status")) == set(expected([{**row, "one": 1} for row in rows], "one", *of, "status"))
    assert figures(text, "dispatch_subscription_backlog_entries") == expected(known, "backlog", *of)
    assert figures(text, "dispatch_subscription_waiting_entries") == expected(known, "waiting", *of)
    assert figures(text, "dispatch_subscription_main_cause_ratio") == expected(behind, "share", *of, "cause", "level", "dimension")
    since = [{**row, "since": row["since"] and row["since"].timestamp()} for row in behind]
    assert figures(text, "dispatch_subscription_main_cause_since_timestamp_seconds") == pytest.approx(
        expected(since, "since", *of, "cause", "level", "dimension")
    )


def test_ages_are_those_of_the_newest_check(room: ReadingRoom) -> None:
    rows = [{**row, "age_s": row["age_ms"] / 1e3} for row in room.rows("SELECT * FROM backlog_now WHERE complete AND age_ms IS NOT NULL")]
    known = figures(text_of(room), "dispatch_subscription_oldest_age_seconds")
    assert known == expected(rows, "age_s", "topic", "subscription")


def test_forecasts_of_catching_up_are_those_of_the_newest_check(room: ReadingRoom) -> None:
    """By the view over all checks. One that had passed by the newest event came true, or is not known."""
    rows = room.rows(
        "SELECT f.*, y.status, y.waiting, y.known_until FROM catch_up_forecasts f JOIN topic_backlog_now t"
        " ON t.broker = f.broker AND t.epoch = f.epoch AND t.topic = f.topic AND t.check_number = f.check_number"
        " JOIN why y ON y.broker = f.broker AND y.topic = f.topic AND y.subscription = f.subscription WHERE f.complete"
    )
    for row in rows:
        is_over = row["current_at"] is not None and row["current_at"] <= row["known_until"]
        there = 0.0 if row["waiting"] == 0 or row["status"] in WELL else None
        row |= {name: there if is_over else left_s(row[name], row["known_until"]) for name in ("current_at", "current_from", "current_to")}
    of = ("topic", "subscription")
    bounds = {"expected": "current_at", "earliest": "current_from", "latest": "current_to"}
    merged = {labels: value for bound, column in bounds.items() for labels, value in expected(rows, column, *of, bound=bound).items()}
    assert figures(text_of(room), "dispatch_subscription_current_in_seconds") == merged
    assert merged


@pytest.mark.parametrize(
    ("current_at", "current_to", "waiting", "status", "left"),
    [
        (12, 15, 5, "slow consumers", (120.0, 300.0)),
        (12, None, 5, "slow consumers", (120.0, None)),
        (None, 15, 5, "slow consumers", (None, 300.0)),
        (10, 15, 5, "slow consumers", (None, None)),  # it did not come true
        (10, 15, 5, "keeping up", (0.0, 0.0)),
        (10, 15, 0, "slow consumers", (0.0, 0.0)),
    ],
)
def test_when_it_is_current_counts_from_the_newest_event(
    room: ReadingRoom, current_at: int | None, current_to: int | None, waiting: int, status: str, left: tuple[float | None, float | None]
) -> None:
    """Minutes; the newest event is of minute 10, whenever the check was."""

    def time(minute: int | None) -> str:
        return "CAST(NULL AS TIMESTAMP)" if minute is None else f"CAST('2026-01-05 12:{minute}:00' AS TIMESTAMP)"

    (row,) = room.rows(
        f"SELECT {current_in_s('f.current_at')} AS expected, {current_in_s('f.current_to')} AS latest FROM (SELECT true AS is_of_now,"
        f" {time(10)} AS known_until, {waiting} AS waiting, '{status}' AS status) y"
        " CROSS JOIN (SELECT true AS complete, false AS none_waits) c"
        f" CROSS JOIN (SELECT {time(current_at)} AS current_at, {time(current_to)} AS current_to) f"
    )
    assert (row["expected"], row["latest"]) == left


def test_quotas_are_those_of_the_risk(room: ReadingRoom) -> None:
    text = text_of(room)
    until = {row["broker"]: row["as_of"] for row in room.rows("SELECT broker, as_of FROM newest_events")}
    rows = room.rows("SELECT * FROM quota_risk WHERE complete")
    for row in rows:
        row |= {name: left_s(row[name], until[row["broker"]]) for name in ("breach_at", "breach_from", "breach_to")}
    of = ("topic", "quota_type")
    assert figures(text, "dispatch_quota_used_ratio") == expected(rows, "share_of_limit", *of)
    breaches = figures(text, "dispatch_quota_breach_in_seconds")
    for bound, column in (("expected", "breach_at"), ("earliest", "breach_from"), ("latest", "breach_to")):
        of_bound = {labels: value for labels, value in breaches.items() if ("bound", bound) in labels}
        assert of_bound == expected(rows, column, *of, bound=bound)


def test_evictions_are_counted_since_the_broker_started(incident: ReadingRoom) -> None:
    text = text_of(incident)
    rounds = figures(text, "dispatch_quota_evictions_total")
    for kind in ("size", "time"):
        counted = incident.rows(f"SELECT topic, count(*) AS rounds FROM quota_evictions WHERE quota_type = '{kind}' GROUP BY topic")
        by_topic = {dict(labels)["topic"]: value for labels, value in rounds.items() if ("quota_type", kind) in labels}
        assert {topic: value for topic, value in by_topic.items() if value} == {row["topic"]: row["rounds"] for row in counted}
        assert 0 in by_topic.values()


def test_entries_lost_to_quotas_are_those_of_decisions_before_the_newest_check(incident: ReadingRoom) -> None:
    counted = figures(text_of(incident), "dispatch_subscription_evicted_entries_total")
    moved = incident.rows(
        "SELECT m.broker, m.topic, m.subscription, sum(m.entries_evicted) AS n FROM quota_eviction_moves m JOIN topic_backlog_now t"
        " ON t.topic = m.topic AND m.check_number < t.check_number GROUP BY m.broker, m.topic, m.subscription"
    )
    lost = {labels: n for labels, n in counted.items() if n}
    assert lost == expected(moved, "n", "topic", "subscription")
    assert lost


def test_causes_add_up_to_those_of_topics(room: ReadingRoom) -> None:
    text = text_of(room)
    sums: dict[tuple[str, str], float] = {}
    for labels, value in values(text, "dispatch_subscription_backlog_seconds_total").items():
        key = dict(labels)["topic"], dict(labels)["cause"]
        sums[key] = sums.get(key, 0) + value
    rows = room.rows("SELECT name, cause, sum(backlog_s) AS s FROM backlog_seconds_by_cause WHERE scope = 'topic' GROUP BY name, cause")
    assert sums == pytest.approx({(row["name"], row["cause"]): row["s"] for row in rows})
    entry_s = sum(values(text, "dispatch_subscription_backlog_entry_seconds_total").values())
    assert entry_s == pytest.approx(room.rows("SELECT sum(entry_us) / 1e6 AS s FROM subscription_causes")[0]["s"] or 0)


def test_limiters_have_tokens_debt_and_use_of_the_newest_window(incident: ReadingRoom) -> None:
    text = text_of(incident)
    of = ("level", "topic", "subscription", "dimension")
    rows = incident.rows(
        "SELECT u.* FROM limiter_use u JOIN newest_windows n ON n.broker = u.broker AND n.epoch = u.epoch AND"
        " n.clock_segment = u.clock_segment AND n.window_start = u.window_start WHERE u.complete AND closed_at IS NULL AND NOT relative"
    )
    assert figures(text, "dispatch_limiter_tokens") == expected(rows, "permits_end", *of)
    assert figures(text, "dispatch_limiter_used_ratio") == expected(rows, "used_share", *of)
    owed = {labels: value for labels, value in figures(text, "dispatch_limiter_debt").items() if value}
    assert owed == expected(incident.rows("SELECT * FROM limiter_debt"), "debt", *of)
    assert owed


def test_throttles_are_binding_or_nominal(incident: ReadingRoom) -> None:
    found = figures(text_of(incident), "dispatch_subscription_throttled_reads_total")
    rows = incident.rows("SELECT * FROM subscription_throttle_now WHERE complete")
    of = ("topic", "subscription")
    assert found == {**expected(rows, "reads_binding", *of, effect="binding"), **expected(rows, "reads_nominal", *of, effect="nominal")}
    assert max(found.values()) > 100


def test_of_a_broker_that_has_stopped_little_is_known(tmp_path_factory: pytest.TempPathFactory) -> None:
    text = clean_text(ReadingRoom(loaded_whole(Y_INCIDENT, tmp_path_factory), consistent=True), open_metrics=True)
    assert {family.name for family in read_open_metrics(text)} - {LEFT_OUT} == OF_STOPPED_BROKERS
    assert set(figures(text, "dispatch_broker_stopped").values()) == {1}
    assert {dict(labels)["status"] for labels in values(text, "dispatch_subscription_status")} == {"unknown"}


def test_of_a_log_without_its_beginning_only_what_is_known_has_a_line(tmp_path: Any) -> None:
    events = Y_INCIDENT.events()
    log = write_events(events[len(events) // 2 :], tmp_path / "log" / "events.jsonl.gz").parent
    late = ReadingRoom(load_into(log, tmp_path / "w"), consistent=True)
    text = clean_text(late, open_metrics=True)
    (known,) = late.rows("SELECT count(*) AS n FROM why WHERE complete")
    assert len(values(text, "dispatch_subscription_backlog_entries")) == known["n"] < len(values(text, "dispatch_subscription_status"))
    assert values(text, "dispatch_subscription_throttled_reads_total") == {}


def test_the_worst_series_stay_and_the_others_are_counted(incident: ReadingRoom) -> None:
    whole, cut = (list(read_open_metrics(clean_text(incident, open_metrics=True, most=most))) for most in (10_000, 3))
    left = {dict(labels)["metric"]: value for labels, value in values(clean_text(incident, open_metrics=True, most=3), LEFT_OUT).items()}
    for all_of, some in zip(whole[:-1], cut[:-1], strict=True):
        assert [one.labels for one in some.samples] == [one.labels for one in all_of.samples[:3]]
        assert left[all_of.name] == len(all_of.samples) - len(some.samples)
    assert left["dispatch_subscription"] > 0
    worst = [row["subscription"] for row in incident.rows("SELECT * FROM why ORDER BY backlog DESC LIMIT 3")]
    assert [one.labels["subscription"] for one in cut[0].samples] == worst


@pytest.mark.parametrize(
    ("pattern", "kept"),
    [("*/orders", {"orders"}), ("persistent://real/y/i*s", {"images"}), ("persistent://real/y/?udit", {"audit"}), ("orders", set())],
)
def test_a_pattern_keeps_topics(incident: ReadingRoom, pattern: str, kept: set[str]) -> None:
    read = list(read_open_metrics(clean_text(incident, open_metrics=True, topic=pattern)))
    topics = {one.labels["topic"].rpartition("/")[2] for family in read for one in family.samples if "topic" in one.labels}
    assert topics == kept
    assert "dispatch_broker" in {family.name for family in read}


class Rows:
    """A look that has one row of subscriptions, and none of anything else."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        self._row = row
        self.asked: list[str] = []

    def rows(self, sql: str) -> list[dict[str, Any]]:
        self.asked.append(sql)
        return [dict(self._row)] if sql == SUBSCRIPTIONS.sql else []


COLUMNS = (
    "cluster", "broker", "namespace", "topic", "subscription", "status", "cause", "level", "dimension", "unknown_reason", "one", "backlog",
    "waiting", "share", "since_s", "age_s", "evicted_entries", "current_in_s", "current_in_least_s", "current_in_most_s",
)  # fmt: skip


@pytest.mark.parametrize("name", ['a"b', "a\\nb", "a\nb", "}", "ü 名", '\\"'])
def test_names_of_strangers_come_back_as_they_were(name: str) -> None:
    look = Rows(dict.fromkeys(COLUMNS) | {"broker": "b", "topic": name, "subscription": name, "status": "current", "one": 1})
    text = clean_text(look, open_metrics=True)
    assert values(text, "dispatch_subscription_info") == {frozenset({("broker", "b"), ("topic", name), ("subscription", name)}): 1}


def test_each_query_is_asked_once() -> None:
    look = Rows(dict.fromkeys(COLUMNS))
    assert clean_text(look, open_metrics=False) == ""
    assert len(set(look.asked)) == len(look.asked) == len({family.source.sql for family in FAMILIES})


def test_serve_answers_in_the_format_that_is_asked_for(incident: ReadingRoom) -> None:
    with served(incident.warehouse, series_per_metric=4) as server:
        assert server.get("/metrics/clean") == (200, clean_text(incident, open_metrics=False, most=4))
        accepted = {"Accept": "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3"}
        new = clean_text(incident, open_metrics=True, most=4, topic="*/orders")
        assert server.get("/metrics/clean", headers=accepted, topic="*/orders") == (200, new)
        head = b"GET /metrics/clean HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        assert f"content-type: {PROMETHEUS}".encode() in server.raw(head + b"\r\n")
        assert f"content-type: {OPEN_METRICS}".encode() in server.raw(head + b"Accept: application/openmetrics-text\r\n\r\n")
        assert server.get("/metrics/clean", topics="x") == (400, {"reason": "topics: not known here; known are topic"})


def test_no_series_at_all_cannot_be_asked_for(incident: ReadingRoom, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--warehouse", incident.warehouse.root, "--series-per-metric", "0"]) == 2
    assert "--series-per-metric 0: expected 1 or more" in capsys.readouterr().err


def test_the_page_of_clean_metrics_is_what_the_declarations_have() -> None:
    assert page.DOCUMENT.read_text(encoding="utf-8") == page.render(), "run: python -m generators"
