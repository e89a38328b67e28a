"""The families of `/metrics/clean` at instants of the past, as OpenMetrics with timestamps: what Prometheus would have scraped then."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from pipeline.faults import BadConfig
from pipeline.query.views.past import as_of
from pipeline.serving.clean_metrics import families as of
from pipeline.serving.clean_metrics.family import Family
from pipeline.serving.clean_metrics.text import heads_of, of_topics, open_metrics_head, samples_of
from pipeline.serving.metrics.family import Source
from pipeline.warehouse.literals import instant
from pipeline.warehouse.look import Queries

#: Of a family, (seconds since 1970, value) of each series, by its labels.
_Series = dict[str, list[tuple[float, float]]]
#: They are held until the end, for OpenMetrics has all samples of a series beside each other: this many take about a gigabyte.
MOST_SAMPLES = 10_000_000
#: No column has when they were known: figures of the job, and of gaps in the log.
_WITHOUT_TIME = frozenset({"dispatch_log_lost_events", "dispatch_log_late_events", "dispatch_log_clock_steps"})
_OF_THE_JOB = (of.JOB, of.BALANCE, of.QUARANTINE)
FAMILIES = tuple(one for one in of.FAMILIES if one.source not in _OF_THE_JOB and one.name not in _WITHOUT_TIME)


def history(
    look: Queries, instants: Sequence[datetime], topic: str | None = None, told: Callable[[datetime, int], None] = lambda *_: None
) -> Iterator[str]:
    """The lines of FAMILIES as of each of the instants, which ascend; a series is without those at which its value was not known.

    `topic`: as for `clean_text`. `told` gets each instant when it is done, and the number of samples until then. Raises BadConfig for more
    than MOST_SAMPLES.
    """
    samples: dict[str, _Series] = {family.name: {} for family in FAMILIES}
    count = 0
    for at in instants:
        count += _add(samples, look, at, topic)
        if count > MOST_SAMPLES:
            raise BadConfig(f"more than {MOST_SAMPLES:,} samples until {at:%FT%TZ}: ask for less time, a longer step or fewer topics")
        told(at, count)
    for family in FAMILIES:
        if series := samples.pop(family.name):
            yield open_metrics_head(family)
            for labels, values in series.items():
                yield "".join(f"{family.sample}{labels} {value} {seconds}\n" for seconds, value in values)
    yield "# EOF\n"


def _add(samples: dict[str, _Series], look: Queries, at: datetime, topic: str | None) -> int:
    """Ask each source once, as of the instant; the number of samples."""
    count, seconds = 0, at.timestamp()
    by_source: dict[Source, list[Family]] = {}
    for family in FAMILIES:
        by_source.setdefault(family.source, []).append(family)
    for source, of_it in by_source.items():
        rows = of_topics(look.rows(as_of(source.sql, at, _given(at))), topic)
        heads = heads_of(source, rows)
        for family in of_it:
            found, _ = samples_of(family, rows, heads, MOST_SAMPLES)
            count += len(found)
            for labels, value in found:
                samples[family.name].setdefault(labels, []).append((seconds, value))
    return count


def _given(at: datetime) -> dict[str, str]:
    """Rows whose time no column has, as of then."""
    return {
        # A broker that has stopped had done so once its last window was over.
        "lane_snapshots": "SELECT s.* FROM lane_snapshots s"
        " JOIN (SELECT broker, epoch, max(log_until) AS until FROM broker_windows GROUP BY broker, epoch) w"
        f" ON w.broker = s.broker AND w.epoch = s.epoch WHERE s.milestone = 'ended' AND w.until <= {instant(at)}",
        # Of an instant of the past its window tells. A later change is none of its.
        "open_logs": "SELECT broker, epoch, window_start, window_as_of AS as_of, 0 AS from_seq, 0 AS drained_seq FROM newest_events_then"
        " WHERE false",
        # The newest event that is known is one of now; without it newest_events has the end of the window.
        "batch_manifest": "SELECT * FROM batch_manifest WHERE false",
        "log_gaps": "SELECT * FROM log_gaps WHERE false",
        "late_events": "SELECT * FROM late_events WHERE false",
    }
