"""How long a broker takes from a read to its delivery: measured, so that nobody has to guess from when on storage is slow."""

from pipeline.rules.cause.layout import BUCKET_COUNT, STALL_NS
from pipeline.rules.compiled import compiled_part
from pipeline.rules.integers import floor_log2
from pipeline.rules.records import Record

#: A turnaround is measured this often before anything is called slow.
LEAST_MEASURED = 16
#: Normal is up to this many times the median turnaround: pauses of a JVM and of a disk lie within.
TIMES_MEDIAN = 8


@compiled_part
def measure(pace: Record, turnaround_ns: int) -> None:
    """One more turnaround. The median is looked at ever more rarely: constant time, amortized."""
    pace.turnarounds[min(floor_log2(turnaround_ns), BUCKET_COUNT - 1)] += 1
    pace.measured += 1
    if pace.measured >= LEAST_MEASURED and pace.measured >= pace.next_look:
        pace.normal_ns = TIMES_MEDIAN * _median_bound_ns(pace)
        pace.due_ns = min(pace.normal_ns, STALL_NS)
        pace.next_look = pace.measured + pace.measured // 8


@compiled_part
def _median_bound_ns(pace: Record) -> int:
    """The least power of two that at least half of all turnarounds are below."""
    below, bucket = pace.turnarounds[0], 0
    while 2 * below < pace.measured:
        bucket += 1
        below += pace.turnarounds[bucket]
    return 1 << (bucket + 1)
