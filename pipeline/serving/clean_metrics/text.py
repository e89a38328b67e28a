"""The text of `/metrics/clean`: OpenMetrics 1.0, or Prometheus' text format 0.0.4 for clients that do not ask for that."""

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import translate
from typing import Any

from pipeline.serving.clean_metrics.families import FAMILIES, LEFT_OUT, LEFT_OUT_HELP
from pipeline.serving.clean_metrics.family import COUNTER, GAUGE, INFO, Family
from pipeline.serving.metrics.family import Source
from pipeline.serving.metrics.text import label
from pipeline.warehouse.look import Queries

Rows = Sequence[Mapping[str, Any]]
OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
#: Of `--series-per-metric`: Prometheus stays quick with that many series of a name, and a page of all families with 10 MB.
USUAL_SERIES_PER_METRIC = 5_000


def clean_text(look: Queries, *, open_metrics: bool, most: int = USUAL_SERIES_PER_METRIC, topic: str | None = None) -> str:
    """The metrics of a warehouse, docs/reference/clean-metrics.md.

    `most`: series of a family, the worst stay; dispatch_series_left_out counts the others. `topic`: a pattern with `*` and `?` for the
    whole name; series of other topics are not asked for, those without a topic stay. Each query is asked once.
    """
    rows: dict[str, Rows] = {}
    heads: dict[str, list[str]] = {}
    left_out: dict[str, int] = {}
    text: list[str] = []
    for family in FAMILIES:
        source = family.source
        if source.name not in rows:
            rows[source.name] = of_topics(look.rows(source.sql), topic)
            heads[source.name] = heads_of(source, rows[source.name])
        samples, more = samples_of(family, rows[source.name], heads[source.name], most)
        if samples:
            left_out[family.name] = more
            text.append(_head(family.name, family.type, family.unit, family.help, open_metrics=open_metrics))
            text += [f"{family.sample}{labels} {value}\n" for labels, value in samples]
    if left_out:
        text.append(_head(LEFT_OUT, GAUGE, "", LEFT_OUT_HELP, open_metrics=open_metrics))
        text += [f"{LEFT_OUT}{{{label('metric', name)}}} {count}\n" for name, count in left_out.items()]
    return "".join([*text, "# EOF\n" if open_metrics else ""])


def of_topics(rows: Rows, pattern: str | None) -> Rows:
    """Rows of topics that match; a row of no topic stays."""
    if pattern is None:
        return rows
    matches = re.compile(translate(pattern)).match
    return [row for row in rows if row.get("topic") is None or matches(row["topic"])]


def _head(name: str, kind: str, unit: str, text: str, *, open_metrics: bool) -> str:
    """Format 0.0.4 knows no info and no unit, and takes a counter by the name of its lines."""
    if open_metrics:
        return f"# TYPE {name} {kind}\n{f'# UNIT {name} {unit}{chr(10)}' if unit else ''}# HELP {name} {text}.\n"
    shown = name + {COUNTER: "_total", INFO: "_info"}.get(kind, "")
    return f"# HELP {shown} {text}.\n# TYPE {shown} {GAUGE if kind == INFO else kind}\n"


def samples_of(family: Family, rows: Rows, heads: Sequence[str], most: int) -> tuple[list[tuple[str, Any]], int]:
    """Labels in braces and value, where that is known, in the order of the rows: the first `most`, and the number of the others."""
    series = [(one.column, _joined(label(*own) for own in one.labels)) for one in family.series]
    known, samples = 0, list[tuple[str, Any]]()
    for row, head in zip(rows, heads, strict=True):
        labels = None
        for column, own in series:
            value = row[column]
            if value is None:
                continue
            known += 1
            if known > most:
                continue
            if labels is None:
                labels = _joined((head, _labels(family.labels, row)))
            all_labels = _joined((labels, own)) if own else labels
            samples.append((f"{{{all_labels}}}" if all_labels else "", value))
    return samples, known - len(samples)


def heads_of(source: Source, rows: Rows) -> list[str]:
    """The labels of the source, of each row."""
    return [_labels(source.labels, row) for row in rows]


def open_metrics_head(family: Family) -> str:
    """The lines before those of a family in OpenMetrics."""
    return _head(family.name, family.type, family.unit, family.help, open_metrics=True)


def _joined(labels: Iterable[str]) -> str:
    return ",".join(filter(None, labels))


def _labels(names: Sequence[tuple[str, str]], row: Mapping[str, Any]) -> str:
    """Without those that have no value."""
    return ",".join(label(name, row[column]) for name, column in names if row[column] is not None) if names else ""
