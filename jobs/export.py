"""History for other programs: the metrics of /metrics/clean at instants of the past, for a Prometheus that was not there. It only reads.

openmetrics: the text that `promtool tsdb create-blocks-from openmetrics` makes blocks of. Each sample is as /metrics/clean would have had
it at its instant: of the newest window that was over, and of the newest quota check. Figures of the job are not in it.
"""

import argparse
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, TextIO

from console.named_warehouse import look_at_causes
from pipeline.faults import BadConfig
from pipeline.times import span_of, time_of

if TYPE_CHECKING:
    from pipeline.warehouse.look import Look

EXAMPLES = """examples:
  ./spark-submit.sh export openmetrics --from 2026-11-21T11:40:00Z --to 2026-11-21T11:50:00Z --step 30s \\
    --out history.txt --warehouse ./warehouse/demo
  promtool tsdb create-blocks-from openmetrics history.txt /var/lib/prometheus/metrics2

exit: 0 written; 2 an argument or warehouse that cannot work
"""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `export`."""
    parser.add_argument("what", choices=("openmetrics",), help="the format")
    parser.add_argument("--warehouse", required=True, metavar="URI", help="folder of the Delta tables")
    parser.add_argument("--from", dest="start", required=True, metavar="TIME", help="the begin: ISO 8601 with its zone")
    parser.add_argument("--to", required=True, metavar="TIME", help="the end, included")
    parser.add_argument("--step", default="1m", metavar="TIME", help="from sample to sample: 15s, 1m, 1h (default: 1m)")
    parser.add_argument("--topic", metavar="PATTERN", help="only topics that match, with * and ?")
    parser.add_argument("--out", metavar="FILE", help="the file to write; one that is there is replaced (default: stdout)")


def run(args: argparse.Namespace) -> int:
    """Write the text. BadConfig for a bad time, an empty stretch or a file that cannot be written, BadWarehouse where no warehouse is."""
    instants = instants_between(time_of("--from", args.start), time_of("--to", args.to), span_of("--step", args.step))
    if not instants:
        raise BadConfig(f"--from {args.start} --to {args.to}: no whole step of {args.step} lies between them")
    look = look_at_causes(args.warehouse)
    if args.out is None:
        _write(look, instants, args.topic, sys.stdout)
        return 0
    try:
        with open(args.out, "w", encoding="utf-8") as out:
            _write(look, instants, args.topic, out)
    except OSError as fault:
        raise BadConfig(f"--out {args.out}: {fault.strerror}") from fault
    return 0


def instants_between(start: datetime, end: datetime, step: timedelta) -> list[datetime]:
    """Whole multiples of the step since 1970, as Prometheus asks for a range of them; both ends included."""
    first = -(-(start - _EPOCH) // step)
    return [_EPOCH + number * step for number in range(first, (end - _EPOCH) // step + 1)]


def _write(look: "Look", instants: list[datetime], topic: str | None, out: TextIO) -> None:
    from pipeline.serving.clean_metrics.history import history

    def told(at: datetime, samples: int) -> None:
        print(f"\r{at:%FT%TZ}: {samples:,} samples", end="", file=sys.stderr, flush=True)

    for text in history(look, instants, topic, told):
        out.write(text)
    print(file=sys.stderr)
