"""Renders docs/reference/clean-metrics.md from the declarations of `/metrics/clean`.

`python -m generators` writes it anew; a test compares it.
"""

from pathlib import Path

from generators.metrics_page import table
from pipeline.serving.clean_metrics.families import FAMILIES, LEFT_OUT, LEFT_OUT_HELP
from pipeline.serving.clean_metrics.family import Family

DOCUMENT = Path(__file__).resolve().parents[1] / "docs/reference/clean-metrics.md"
_HEAD = """# Clean metrics

Generated from `pipeline/serving/clean_metrics` by `python -m generators`: do not edit, a test compares.

`/metrics/clean` of `serve` has the metrics that the broker lacks: the cause of a backlog, its age per subscription,
forecasts, limiters, the health of the log and of the job. Pulsar's own families are in `/metrics`
([metrics.md](metrics.md)). Prometheus scrapes both ([serve.md](../guide/serve.md#prometheus)).

* The format is OpenMetrics 1.0 for clients that ask for it, as Prometheus does, else Prometheus' text format 0.0.4. The
  latter has info metrics as gauges, and no units.
* A value that is not known has no line: never 0, never NaN. Of rows that are not complete there are no figures. Of a
  broker that has stopped there are `dispatch_broker_…` and `dispatch_log_…`, the status of its subscriptions, and the
  counters of their causes.
* Status and cause of a subscription are as old as `dispatch_log_as_of_timestamp_seconds`, figures of windows as
  `dispatch_log_window_as_of_timestamp_seconds`. Backlogs by quota checks are of the last check.
* Times until something (`…_in_seconds`) count from `dispatch_log_as_of_timestamp_seconds`, not from the check: they
  become less between two checks. While a log goes on, that is one or two seconds before the scrape.
* A quota has no `dispatch_quota_breach_in_seconds` where no breach is in sight, and where that is not known: a size
  quota whose topic has one check since it was loaded, an age quota while the broker counts no age (the ledger is open).
* A label without a value is left out: a cluster that the log does not name, the level of a cause that is no limiter.
* The worst series of a name come first: those that are behind with the largest backlog, the quota that trips next, the
  limiter with the largest debt. `--series-per-metric N` keeps the first N of each name.
* `?topic=persistent://shop/*` keeps the topics that match: `*` is any text, `?` one character. Series without a topic
  stay.
* Counters of causes go over all windows of the tables. So a restart of a broker or of the job does not set them back.
  After a `backfill` they may fall by a little, which Prometheus takes for a restart.

"""


def render() -> str:
    """The whole page."""
    rows = [
        (f"`{family.sample}`", family.type, family.unit, f"`{','.join(_labels(family)) or '-'}`", family.source.name, family.help)
        for family in FAMILIES
    ]
    rows.append((f"`{LEFT_OUT}`", "gauge", "", "`metric`", "", LEFT_OUT_HELP))
    instants = {family.source.name: family.source.as_of for family in FAMILIES}
    sources = "".join(f"* {name}: as of {instant}.\n" for name, instant in instants.items())
    return f"{_HEAD}{table(('series', 'type', 'unit', 'labels', 'source', 'meaning'), rows)}\nSources:\n\n{sources}"


def _labels(family: Family) -> list[str]:
    """In their order, with the values that are the same in all rows."""
    own: dict[str, list[str]] = {}
    for series in family.series:
        for name, value in series.labels:
            own.setdefault(name, []).append(value)
    varying = [name for name, _ in (*family.source.labels, *family.labels)]
    return [*varying, *(f"{name}={'|'.join(values)}" for name, values in own.items())]
