"""Dashboards and rules: what their declarations make, over metrics that are served, each alert with its section of the runbook."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from docs_pages import RUNBOOK, text_of
from ruamel.yaml import YAML

from generators.dashboards.page import Page
from generators.dashboards.pages import PAGES
from pipeline.serving.clean_metrics.families import FAMILIES, LEFT_OUT

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "dashboards"
SAMPLES = {family.sample for family in FAMILIES} | {LEFT_OUT}
_METRIC = re.compile(r"\b(?:dispatch|pulsar)_\w+|\bdispatch:[\w:]+")
_RULES = YAML(typ="safe").load((FOLDER / "rules/dispatch.yml").read_text(encoding="utf-8"))
RULES = [rule for group in _RULES["groups"] for rule in group["rules"]]
ALERTS = [rule for rule in RULES if "alert" in rule]
RECORDED = {rule["record"] for rule in RULES if "record" in rule}
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.uid)


def expressions(page: Page) -> list[str]:
    return [query.expr for panel in page.panels for query in panel.queries]


@every_page
def test_the_file_of_a_dashboard_is_what_its_declaration_makes(page: Page) -> None:
    pytest.importorskip("grafana_foundation_sdk", reason="the builder of dashboards is not installed: ./spark-submit.sh set-up dashboards")
    from generators.dashboards.grafana import grafana_json

    assert (FOLDER / f"{page.uid}.json").read_text(encoding="utf-8") == grafana_json(page), "run: python -m generators.dashboards"


def test_there_is_a_file_for_each_dashboard_and_no_other() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == {page.uid for page in PAGES}


@every_page
def test_queries_of_panels_and_variables_name_metrics_that_are_served(page: Page) -> None:
    queries = [*expressions(page), *(variable.query for variable in page.variables)]
    assert {name for query in queries for name in _METRIC.findall(query)} <= SAMPLES
    assert all(_METRIC.search(query) for query in queries)


@every_page
def test_a_query_uses_the_variables_of_its_dashboard(page: Page) -> None:
    names = {variable.name for variable in page.variables}
    used = {name for query in expressions(page) for name in re.findall(r"\$(\w+)", query)} - {"__rate_interval"}
    assert used <= names
    assert {name for name in names if not any(f"${name}" in query for query in expressions(page))} == set()


@every_page
def test_variables_come_from_info_metrics(page: Page) -> None:
    named = {name for variable in page.variables for name in _METRIC.findall(variable.query)}
    assert named <= {"dispatch_subscription_info", "dispatch_broker_info"}


@every_page
def test_a_file_has_what_grafana_needs(page: Page) -> None:
    made: Any = json.loads((FOLDER / f"{page.uid}.json").read_text(encoding="utf-8"))
    assert made["uid"] == page.uid
    places = [tuple(panel["gridPos"].values()) for panel in made["panels"]]
    assert len(set(places)) == len(page.panels)
    for panel in made["panels"]:
        names = [target["refId"] for target in panel["targets"]]
        assert all(names)
        assert len(set(names)) == len(names)
        assert panel["description"]


def test_every_metric_is_on_a_dashboard() -> None:
    queries = [query for page in PAGES for query in (*expressions(page), *(one.query for one in page.variables))]
    assert SAMPLES - {name for query in queries for name in _METRIC.findall(query)} == set()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.get("alert") or rule["record"])
def test_a_rule_is_over_metrics_that_are_served(rule: dict[str, Any]) -> None:
    names = set(_METRIC.findall(rule["expr"]))
    assert names
    assert names <= SAMPLES | RECORDED


@pytest.mark.parametrize("rule", ALERTS, ids=lambda rule: rule["alert"])
def test_an_alert_has_its_section_in_the_runbook_and_cases(rule: dict[str, Any]) -> None:
    assert f"\n### {rule['alert']}\n" in text_of(RUNBOOK)
    assert rule["annotations"]["runbook_url"] == f"docs/guide/runbook.md#{rule['alert'].lower()}"
    assert rule["labels"]["severity"] in ("warning", "critical")
    cases = (FOLDER / "rules/dispatch.test.yml").read_text(encoding="utf-8")
    assert f"alertname: {rule['alert']}\n" in cases, "a case in which it fires"
    assert f"alertname: {rule['alert']}, exp_alerts: []" in cases, "a case in which it does not"


def test_the_runbook_has_no_section_of_an_alert_that_is_gone() -> None:
    assert set(re.findall(r"^### (Dispatch\w+)$", text_of(RUNBOOK), re.MULTILINE)) == {rule["alert"] for rule in ALERTS}


def test_a_recorded_rule_has_a_case() -> None:
    cases = (FOLDER / "rules/dispatch.test.yml").read_text(encoding="utf-8")
    assert RECORDED
    assert [name for name in RECORDED if f"expr: {name}\n" not in cases] == []
