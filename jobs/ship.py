"""Carry the files of a collector's folder into a topic of Kafka, line by line. Needs no Spark.

Every line reaches Kafka at least once; the job drops repeats. With --follow lines go as soon as the collector has flushed them. Files
that Kafka has whole are noted in --place. A shipper that was killed begins the file anew that it was at. Files are neither changed nor
deleted. What Kafka does not take (a line that is too long, the rest of a damaged file) is named in _not-shipped-TOPIC.txt beside --place;
until somebody deletes that file the exit status is 1.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.faults import BadConfig
from pipeline.sources.kafka_address import client_settings, is_kafka, kafka_address
from pipeline.sources.shipping.not_shipped import NotShipped
from pipeline.sources.shipping.place import ShippedFiles
from pipeline.visible import visible

if TYPE_CHECKING:
    from pipeline.sources.shipping.shipment import Shipment

EXAMPLES = """examples:
  ./spark-submit.sh ship --events /var/log/pulsar-events --to kafka://broker1:9092,broker2:9092/pulsar-events --follow
  ./spark-submit.sh ship --events ./events --to kafka://broker1:9093/pulsar-events --client-file ./client.properties

exit: 0 Kafka has all; 1 it has not: see the error, or _not-shipped-TOPIC.txt; 2 bad arguments, or Kafka or the topic is not there
"""
LOOK_EVERY_S = 2.0
FLUSHED_EVERY_S = 0.25


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `ship`."""
    parser.add_argument("--events", required=True, metavar="DIR", help="the collector's folder, with its subfolders")
    parser.add_argument("--to", required=True, metavar="KAFKA", help="kafka://HOST:PORT,HOST:PORT/TOPIC; the topic must exist")
    parser.add_argument("--follow", action="store_true", help="go on: ship lines that are flushed, and further files")
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
    # Here, since --help comes before zstandard is installed.
    from pipeline.sources.shipping.sender import NotDelivered, Sender
    from pipeline.sources.shipping.shipment import Shipment

    not_shipped = NotShipped(place.with_name(f"_not-shipped-{address.topic}.txt"))
    with ShippedFiles(place, address.topic) as shipped:
        sender = Sender(address, client, _say, time.monotonic, waits=args.follow)
        _say(f"from {folder} to {args.to}; {len(shipped.names)} files are noted as shipped in {place}")
        _warn_of_before(not_shipped)
        shipment = Shipment(folder, shipped, not_shipped, sender, _say, time.monotonic)
        try:
            shipment.ship_finished()
            while args.follow:
                _follow(shipment)
        except (NotDelivered, OSError) as fault:
            print(f"error: {args.to}: {visible(str(fault))}; the next start goes on with this file", file=sys.stderr)
            return 1
    return 1 if not_shipped.faults() else 0


def _follow(shipment: "Shipment") -> None:
    """Until the next look at finished files, which takes longer than one at growing ones. Raises NotDelivered and OSError."""
    until_s = time.monotonic() + LOOK_EVERY_S
    while not shipment.ship_growing() and time.monotonic() < until_s:
        time.sleep(FLUSHED_EVERY_S)
    shipment.ship_finished()


def _warn_of_before(not_shipped: NotShipped) -> None:
    faults = not_shipped.faults()
    if faults:
        _say(f"warning: not shipped, {len(faults)} in all: {faults[-1]} (see {not_shipped.path}; delete it when you have read it)")


def _say(words: str) -> None:
    print(f"ship: {visible(words)}", flush=True)
