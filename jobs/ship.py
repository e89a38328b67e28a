"""Carry the finished files of a collector's folder into a topic of Kafka, line by line. Needs no Spark.

Every line reaches Kafka at least once; the job drops repeats. Files that Kafka has are noted in --place. A shipper that was killed
begins the file anew that it was at. Files are neither changed nor deleted. What Kafka does not take (a line that is too long, the rest of
a damaged file) is named in _not-shipped-TOPIC.txt beside --place; until somebody deletes that file the exit status is 1.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pipeline.faults import BadConfig
from pipeline.sources.kafka_address import client_settings, is_kafka, kafka_address
from pipeline.sources.shipping.folder import LogFile, to_ship
from pipeline.sources.shipping.not_shipped import NotShipped
from pipeline.sources.shipping.place import ShippedFiles
from pipeline.visible import visible

if TYPE_CHECKING:
    from pipeline.sources.shipping.lines import Record

EXAMPLES = """examples:
  ./spark-submit.sh ship --events /var/log/pulsar-events --to kafka://broker1:9092,broker2:9092/pulsar-events --follow
  ./spark-submit.sh ship --events ./events --to kafka://broker1:9093/pulsar-events --client-file ./client.properties

exit: 0 Kafka has all; 1 it has not: see the error, or _not-shipped-TOPIC.txt; 2 bad arguments, or Kafka or the topic is not there
"""
LOOK_EVERY_S = 2.0


class Topic(Protocol):
    """Where records go (pipeline/sources/shipping/sender.py)."""

    def send(self, record: "Record") -> None:
        """Hand a record over."""

    def confirm(self) -> list[int]:
        """Wait until all are there; numbers of lines that were refused."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `ship`."""
    parser.add_argument("--events", required=True, metavar="DIR", help="the collector's folder, with its subfolders")
    parser.add_argument("--to", required=True, metavar="KAFKA", help="kafka://HOST:PORT,HOST:PORT/TOPIC; the topic must exist")
    parser.add_argument("--follow", action="store_true", help="go on: ship further files as they appear")
    parser.add_argument("--place", metavar="FILE", help="where to note which files Kafka has (default: DIR/_shipped-TOPIC.json)")
    parser.add_argument("--client-file", metavar="FILE", help="settings of librdkafka, key=value a line: security.protocol=SSL …")


def run(args: argparse.Namespace) -> int:
    """Ships; returns the exit status. BadConfig before anything is sent."""
    folder = Path(args.events)
    if not folder.is_dir():
        raise BadConfig(f"--events {folder}: is no folder")
    if not is_kafka(args.to):
        raise BadConfig(f"--to {args.to}: expected kafka://HOST:PORT/TOPIC")
    address = kafka_address(args.to, "--to")
    client = client_settings(Path(args.client_file) if args.client_file else None, "--client-file")
    place = Path(args.place) if args.place else folder / f"_shipped-{address.topic}.json"
    from pipeline.sources.shipping.sender import NotDelivered, Sender

    not_shipped = NotShipped(place.with_name(f"_not-shipped-{address.topic}.txt"))
    with ShippedFiles(place, address.topic) as shipped:
        sender = Sender(address, client, _say, time.monotonic, waits=args.follow)
        _say(f"from {folder} to {args.to}; {len(shipped.names)} files are noted as shipped in {place}")
        _warn_of_before(not_shipped)
        try:
            ship_files(folder, shipped, not_shipped, sender)
            while args.follow:
                time.sleep(LOOK_EVERY_S)
                ship_files(folder, shipped, not_shipped, sender)
        except (NotDelivered, OSError) as fault:
            print(f"error: {args.to}: {visible(str(fault))}; the next start goes on with this file", file=sys.stderr)
            return 1
    return 1 if not_shipped.faults() else 0


def _warn_of_before(not_shipped: NotShipped) -> None:
    faults = not_shipped.faults()
    if faults:
        _say(f"warning: not shipped, {len(faults)} in all: {faults[-1]} (see {not_shipped.path}; delete it when you have read it)")


def ship_files(folder: Path, shipped: ShippedFiles, not_shipped: NotShipped, topic: Topic) -> None:
    """Ship what is not noted yet, and note it. Raises NotDelivered and OSError."""
    files = to_ship(folder, shipped.names)
    if files:
        shipped.forget_missing(folder)
    for file in files:
        faults = _ship_file(folder, file, topic)
        not_shipped.add(faults)
        # Last: a shipper that is killed before begins the file anew.
        shipped.add(file.name, file.bytes)
        for fault in faults:
            _say(f"warning: {fault}")


def _ship_file(folder: Path, file: LogFile, topic: Topic) -> list[str]:
    """What of the file Kafka has not got, in words."""
    # Here, since --help comes before zstandard is installed.
    from pipeline.sources.shipping.lines import records_of, too_long

    faults: list[str] = []
    lines, began_s = 0, time.monotonic()
    try:
        stream = (folder / file.name).open("rb")
    except FileNotFoundError:
        return [f"{file.name}: deleted before it was shipped"]
    with stream:
        for record in records_of(stream, file.name, faults):
            topic.send(record)
            lines += 1
    refused = topic.confirm()
    _say(f"{file.name}: {lines - len(refused)} lines in {time.monotonic() - began_s:.1f} s")
    return [*faults, *(too_long(file.name, number) for number in refused)]


def _say(words: str) -> None:
    print(f"ship: {visible(words)}", flush=True)
