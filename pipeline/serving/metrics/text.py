"""The text of `/metrics`, in Prometheus' text format 0.0.4 as Pulsar 4.0.8 writes it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

from pipeline.serving.metrics.families import OF_NAMESPACES, OF_TOPICS
from pipeline.serving.metrics.family import Family, Series, Source
from pipeline.warehouse.look import Queries

Rows = Sequence[Mapping[str, Any]]
#: The same labels are in many series, and are made once. More than these are made again: about 5 MB.
_MOST_LABELS = 20_000
_ESCAPED = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def metrics_text(look: Queries, *, topics: bool = True) -> str:
    """What the brokers of a warehouse would answer to `GET /metrics`, as far as its tables know it; docs/reference/metrics.md.

    `topics`: a series for each topic and subscription; False: sums of namespaces, as with exposeTopicLevelMetricsInPrometheus=false.
    A series whose value is not known has no line (left_out.py). Each source is asked once.
    """
    families = OF_TOPICS if topics else OF_NAMESPACES
    rows: dict[str, Rows] = {}
    heads: dict[str, list[str]] = {}
    for source in dict.fromkeys(family.source for family in families):
        rows[source.name] = look.rows(source.sql)
        heads[source.name] = _heads(source, rows[source.name])
    return "".join(text for family in families for text in _block(family, heads[family.source.name], rows[family.source.name]))


@lru_cache(maxsize=_MOST_LABELS)
def label(name: str, value: str) -> str:
    """`name="value"`, escaped."""
    return f'{name}="{value.translate(_ESCAPED)}"'


def _heads(source: Source, rows: Rows) -> list[str]:
    """The labels of each row. A cluster that is not known has no label."""
    return [",".join(label(name, row[column]) for name, column in source.labels if row[column] is not None) for row in rows]


def _block(family: Family, heads: Sequence[str], rows: Rows) -> Iterator[str]:
    """The lines of a family under its type, the series of a row together; nothing if no value is known."""
    of_series = [_lines(f"{family.name}{series.suffix}", series, family.number, heads, rows) for series in family.series]
    text = "".join(chain.from_iterable(zip(*of_series, strict=True)))
    if text:
        yield f"# TYPE {family.name} {family.type}\n"
        yield text


def _lines(name: str, series: Series, number: Callable[[int], str], heads: Sequence[str], rows: Rows) -> list[str]:
    """A line of each row, empty where the value is not known."""
    column, own = series.column, ",".join(label(*one) for one in series.labels)
    after = f",{own}" if own else ""
    return [
        "" if row[column] is None else f"{name}{{{head}{after if head else own}}} {number(row[column])}\n"
        for head, row in zip(heads, rows, strict=True)
    ]
