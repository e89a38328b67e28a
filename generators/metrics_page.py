"""Renders docs/reference/metrics.md from the declarations of metrics.

`python -m generators` writes it anew; a test compares it.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pipeline.serving.metrics.families import OF_NAMESPACES, OF_TOPICS
from pipeline.serving.metrics.family import Family
from pipeline.serving.metrics.left_out import LEFT_OUT, LINES_LEFT_OUT

DOCUMENT = Path(__file__).resolve().parents[1] / "docs/reference/metrics.md"
_HEAD = """# Metrics

Generated from `pipeline/serving/metrics` by `python -m generators`: do not edit, a test compares.

The families of Pulsar 4.0.8's `/metrics` that the tables know: the broker's names, types, labels and numbers. So
dashboards and alerts for a broker's metrics work with them. Like the broker's, the text has no HELP, and gauges are
called `_total`. One family of OpenTelemetry is here, too, for it has PIP-434's counters.

* A value that is not known has no line: never 0, never NaN. [Below](#left-out) are the families without lines.
* Entries are of the newest quota check of the topic, or of the end of the newest finished window if that is later.
  Bytes, limits and producers are of the check, after the actions of the broker at it. A broker shows the moment of the
  scrape. The exact figures of any other moment: `probe --at` ([operations.md](../guide/operations.md)).
* A counter begins anew with its subject, as the broker's does: a dispatcher, a topic's load, the broker.
* Series without a topic have no label for the broker. So those of a cluster's brokers are added up.
* A cluster that the log does not name has no label.
* Label values are escaped as the format demands (`\\`, `"`, line feed). Pulsar 4.0.8 escapes `"` alone.
"""
_NAMESPACES = """
These stand instead of the series of topics and subscriptions, as with `exposeTopicLevelMetricsInPrometheus=false`. Each
is the sum of its topics without system topics. It is left out where one of them is not known.
"""


def render() -> str:
    """The whole page."""
    of_namespaces = [family for family in OF_NAMESPACES if family not in OF_TOPICS]
    return "".join((
        _HEAD, "\n## Topics and subscriptions\n\n", _families(OF_TOPICS), "\n## Sums of namespaces\n", _NAMESPACES, "\n",
        _families(of_namespaces), "\n## Left out\n\n", _reasons("lines", LINES_LEFT_OUT), "\n",
        _reasons("family", {f"`{name}`": why for name, why in LEFT_OUT.items()}),
    ))  # fmt: skip


def _families(families: Sequence[Family]) -> str:
    """A table of them."""
    rows = [(f"`{family.name}`", family.type, f"`{','.join(_labels(family))}`", family.source.name, family.meaning) for family in families]
    instants = {family.source.name: family.source.as_of for family in families}
    asked = "".join(f"* {name}: as of {instant}.\n" for name, instant in instants.items())
    return f"{table(('family', 'type', 'labels', 'source', 'meaning'), rows)}\nSources:\n\n{asked}"


def _labels(family: Family) -> list[str]:
    """In their order, with the values that are the same in all rows."""
    own: dict[str, list[str]] = {}
    for series in family.series:
        for name, value in series.labels:
            own.setdefault(name, []).append(value)
    return [*(name for name, _ in family.source.labels), *(f"{name}={'|'.join(values)}" for name, values in own.items())]


def _reasons(what: str, reasons: Mapping[str, str]) -> str:
    return table((what, "why not"), list(reasons.items()))


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)
