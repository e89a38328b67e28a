"""A real Prometheus over `serve`: no finding in the text, series for every query of panels and rules, alerts as in the capture."""

import re
import subprocess
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from loaded import load_into
from prometheus_server import PATIENCE_S, Prometheus, program, prometheus
from served import served
from warehouses import Y_INCIDENT, until, with_what_no_capture_has

from generators.dashboards.pages import PAGES
from jobs.export import instants_between
from pipeline.query.room import ReadingRoom
from pipeline.serving.clean_metrics.history import history
from pipeline.serving.clean_metrics.text import clean_text
from pipeline.warehouse.layout import Warehouse

RULES = Path(__file__).resolve().parents[2] / "dashboards/rules"
QUERIES = sorted({query.expr for page in PAGES for query in (query for panel in page.panels for query in panel.queries)})
VARIABLES = sorted({(variable.query, variable.name) for page in PAGES for variable in page.variables})
LABEL_VALUES = re.compile(r"label_values\((.+), (\w+)\)")
#: Subscriptions, or topics and quotas, for which each alert fires at the end of the incident.
FIRING = {
    "DispatchHeldBack": {"billing", "warehouse", "ledger"},
    "DispatchSlowConsumers": {"fraud", "stats", "archive"},
    "DispatchNoConsumer": {"desk"},
    "DispatchQuotaBreachSoon": {"persistent://real/y/audit size", "persistent://real/y/clicks time"},
    "DispatchEviction": {"persistent://real/y/audit size", "persistent://real/y/clicks time"},
    "DispatchStuck": {"desk"},
    "DispatchJobBehind": {"127.0.0.1:8080"},
}


def filled(expr: str) -> str:
    """A query as Grafana sends it, with all of each variable."""
    return re.sub(r"\$\w+", ".*", expr.replace("$__rate_interval", "20s"))


@pytest.fixture(scope="module")
def warehouses(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Warehouse]:
    """A little before its end, at its end, and after the broker has stopped."""
    return {
        "before": until(tmp_path_factory.mktemp("before"), 11),
        "end": with_what_no_capture_has(until(tmp_path_factory.mktemp("end"), 0)),
        "stopped": load_into(Y_INCIDENT.log, tmp_path_factory.mktemp("stopped") / "w"),
    }


@pytest.fixture(scope="module")
def at_the_end(warehouses: dict[str, Warehouse], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """Prometheus has seen the incident shortly before its end, and at its end. Alerts wait for a second, not for minutes."""
    rules = re.sub(r"for: \d+m", "for: 1s", (RULES / "dispatch.yml").read_text(encoding="utf-8"))
    with prometheus(tmp_path_factory.mktemp("prometheus"), ("/metrics", "/metrics/clean"), rules) as server:
        with served(warehouses["before"]) as early:
            server.scrape(early.port)
            server.await_series("dispatch_quota_evictions_total")
        with served(warehouses["end"]) as late:
            server.scrape(late.port)
            server.await_series("dispatch_subscription_stuck_seconds")
            server.await_series("rate(dispatch_job_rows_total[20s])")
            server.await_series('ALERTS{alertname="DispatchEviction"}')
            yield server


def test_both_answers_are_scraped_whole(at_the_end: Prometheus) -> None:
    targets = at_the_end.ask("targets", state="active")["activeTargets"]
    assert {one["scrapePool"]: (one["health"], one["lastError"]) for one in targets} == {
        "/metrics": ("up", ""), "/metrics/clean": ("up", ""),
    }  # fmt: skip
    units = at_the_end.ask("metadata", metric="dispatch_subscription_backlog_seconds")
    assert next(iter(units.values()))[0]["unit"] == "seconds", "it asks for OpenMetrics"


@pytest.mark.parametrize("expr", QUERIES)
def test_every_query_of_every_panel_returns_series(at_the_end: Prometheus, expr: str) -> None:
    assert at_the_end.await_series(filled(expr))


@pytest.mark.parametrize(("query", "name"), VARIABLES)
def test_every_variable_has_values(at_the_end: Prometheus, query: str, name: str) -> None:
    found = LABEL_VALUES.fullmatch(query)
    assert found
    assert found[2] == name
    assert all(one["metric"][name] for one in at_the_end.await_series(filled(found[1])))


def test_rules_are_evaluated_and_recorded(at_the_end: Prometheus) -> None:
    rules = [rule for group in at_the_end.ask("rules")["groups"] for rule in group["rules"]]
    assert {rule["health"] for rule in rules} == {"ok"}
    for rule in rules:
        assert rule["type"] == "alerting" or at_the_end.await_series(rule["name"])


@pytest.mark.parametrize("alert", FIRING)
def test_alerts_fire_for_whom_the_capture_has_trouble(at_the_end: Prometheus, alert: str) -> None:
    at_the_end.await_series(f'ALERTS{{alertname="{alert}", alertstate="firing"}}')
    time.sleep(3)  # the others of the same rule
    assert firing(at_the_end, alert) == FIRING[alert]


def test_no_other_alert_fires(at_the_end: Prometheus) -> None:
    assert {one["metric"]["alertname"] for one in at_the_end.series('ALERTS{alertstate="firing"}')} == set(FIRING)


def firing(server: Prometheus, alert: str) -> set[str]:
    """Of each alert that fires the subscription, or the topic and its quota, or the broker."""
    found = [one["metric"] for one in server.series(f'ALERTS{{alertname="{alert}", alertstate="firing"}}')]
    return {named(labels) for labels in found}


def named(labels: dict[str, Any]) -> str:
    if "subscription" in labels:
        return str(labels["subscription"])
    return f"{labels['topic']} {labels['quota_type']}" if "topic" in labels else str(labels["broker"])


def test_alerts_resolve_when_the_broker_has_stopped(at_the_end: Prometheus, warehouses: dict[str, Warehouse]) -> None:
    """The last test here: nothing of its subscriptions is known any more, and figures of a stopped broker are not late."""
    with served(warehouses["stopped"]) as stopped:
        at_the_end.scrape(stopped.port)
        at_the_end.await_series("dispatch_broker_stopped == 1")
        deadline = time.monotonic() + PATIENCE_S
        others = 'ALERTS{alertstate="firing", alertname!="DispatchEviction"}'  # of the last quarter of an hour
        while at_the_end.series(others):
            assert time.monotonic() < deadline, at_the_end.series(others)
            time.sleep(0.5)


@pytest.mark.parametrize("name", ["before", "end", "stopped"])
def test_promtool_has_no_finding(warehouses: dict[str, Warehouse], name: str) -> None:
    text = clean_text(ReadingRoom(warehouses[name], consistent=True), open_metrics=False)
    done = subprocess.run([program("promtool"), "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_promtool_makes_blocks_of_the_history(warehouses: dict[str, Warehouse], tmp_path: Path) -> None:
    """All samples are in them, at their instants."""
    room = ReadingRoom(warehouses["stopped"], consistent=True)
    (log,) = room.rows("SELECT min(window_start) AS first, max(window_end) AS last FROM broker_windows")
    instants = instants_between(log["first"], log["last"], timedelta(seconds=30))
    text = "".join(history(room, instants))
    (tmp_path / "history.txt").write_text(text, encoding="utf-8")
    (tmp_path / "data" / "wal").mkdir(parents=True)  # as in the folder of a Prometheus that runs
    subprocess.run([program("promtool"), "tsdb", "create-blocks-from", "openmetrics", "history.txt", "data"], cwd=tmp_path, check=True)
    dumped = subprocess.run([program("promtool"), "tsdb", "dump", "data"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert len(dumped.splitlines()) == sum(not line.startswith("#") for line in text.splitlines()) > 1_000
    assert {int(line.rpartition(" ")[2]) for line in dumped.splitlines()} <= {int(at.timestamp() * 1_000) for at in instants}


@pytest.mark.parametrize("command", [["check", "rules", "dispatch.yml"], ["test", "rules", "dispatch.test.yml"]])
def test_rules_pass_their_cases(command: list[str]) -> None:
    done = subprocess.run([program("promtool"), *command], cwd=RULES, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "SUCCESS" in done.stdout
