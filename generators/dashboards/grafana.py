"""A declared dashboard as Grafana's JSON, by Grafana's own builder."""

import json
from string import ascii_uppercase
from typing import Any

from grafana_foundation_sdk.builders import common, dashboard, prometheus, stat, table, timeseries
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.common import StackingMode
from grafana_foundation_sdk.models.dashboard import DataSourceRef, VariableOption, VariableRefresh, VariableSort
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

from generators.dashboards.page import FIGURE, LINES, TABLE, Page, Panel, Variable

_SOURCE = DataSourceRef(type_val="prometheus", uid="${datasource}")
_HEIGHT = 8
_FILLED = 25
_ALL = ".*"
#: The builder writes them for variables of every type; Grafana's schema has them for intervals alone.
_OF_INTERVALS = ("auto", "auto_count", "auto_min")


def grafana_json(page: Page) -> str:
    """The file of the dashboard: to be imported, or provisioned."""
    made = (
        dashboard.Dashboard(page.title).uid(page.uid).description(page.description).tags(["pulsar", "dispatch"])
        .time("now-1h", "now").refresh("30s").timezone("browser")
        .with_variable(dashboard.DatasourceVariable("datasource").label("Data source").type("prometheus"))
    )  # fmt: skip
    for variable in page.variables:
        made = made.with_variable(_variable(variable))
    for panel in page.panels:
        made = made.with_panel(_panel(panel))
    content = json.loads(JSONEncoder().encode(made.build()))
    for variable in content["templating"]["list"]:
        for name in _OF_INTERVALS:
            variable.pop(name, None)
    return json.dumps(content, sort_keys=True, indent=2) + "\n"


def _variable(one: Variable) -> Any:
    """Where a label is missing, all still has the series."""
    return (
        dashboard.QueryVariable(one.name).label(one.name.capitalize()).datasource(_SOURCE).query(one.query)
        .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED).sort(VariableSort.ALPHABETICAL_ASC).multi(True).include_all(True).all_value(_ALL)
        .current(VariableOption(selected=True, text="All", value="$__all"))
    )  # fmt: skip


def _panel(one: Panel) -> Any:
    kinds = {LINES: timeseries.Panel, TABLE: table.Panel, FIGURE: stat.Panel}
    made = kinds[one.kind]().title(one.title).description(one.description).unit(one.unit).datasource(_SOURCE)
    made = made.height(_HEIGHT).span(one.width)
    if one.is_stacked:
        made = made.stacking(common.StackingConfig().mode(StackingMode.NORMAL)).fill_opacity(_FILLED)
    for name, query in zip(ascii_uppercase, one.queries, strict=False):
        target = prometheus.Dataquery().ref_id(name).expr(query.expr)
        target = target.instant().format(PromQueryFormat.TABLE) if one.kind == TABLE else target.legend_format(query.legend)
        made = made.with_target(target)
    return made
