"""How a dashboard is declared."""

from dataclasses import dataclass

LINES, TABLE, FIGURE = "lines", "table", "figure"


@dataclass(frozen=True)
class Query:
    """PromQL, and the name of each of its series (Grafana's template of labels)."""

    expr: str
    legend: str = ""


@dataclass(frozen=True)
class Panel:
    """A panel over the whole width (24), or a part of it."""

    title: str
    description: str
    queries: tuple[Query, ...]
    #: Grafana's name of the unit.
    unit: str = "short"
    kind: str = LINES
    width: int = 12
    is_stacked: bool = False


@dataclass(frozen=True)
class Variable:
    """Values of a label of an info metric, as far as the variables before it leave them."""

    name: str
    query: str


@dataclass(frozen=True)
class Page:
    """A dashboard; its file has the name of `uid`."""

    uid: str
    title: str
    description: str
    variables: tuple[Variable, ...]
    panels: tuple[Panel, ...]
