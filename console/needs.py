"""Checks a command line for spark-submit.sh before anything is set up. Prints what the command needs: parts of tools/environment.

Without `jars` it starts no Spark. With `look` that is not known before a look at the warehouse (console/needs_after_look.py).

Standard library only: it runs before the environment exists.
"""

import argparse
import sys

from console.command_line import LOADERS, READERS, UPKEEP, WITHOUT_SPARK, build_parser, command_of
from pipeline.store.address import scheme_of, with_hadoops_scheme

#: What a command that reads needs besides.
_ALSO = {"probe": ["rules"], "what-if": ["rules"], "right-size": ["rules"], "quality": ["quality"], "serve": ["serve"]}
#: What Spark needs where the log or the warehouse lies in an object store, by the scheme of the address.
_OF_STORES = {"s3a": "s3", "gs": "google", "abfss": "azure"}
#: Those that start Spark for several brokers.
_OF_BROKERS = ("right-size",)


def look_of(args: argparse.Namespace) -> list[str]:
    """Whether only the warehouse tells if Spark is needed: one topic, or one broker, needs none."""
    return ["look"] if args.command in _OF_BROKERS and args.broker is None and args.topic is None else []


def stores_of(args: argparse.Namespace) -> list[str]:
    """What Spark needs for the places of the log and of the warehouse."""
    schemes = {scheme_of(with_hadoops_scheme(getattr(args, name, None) or "")) for name in ("events", "warehouse")}
    return [part for scheme, part in _OF_STORES.items() if scheme in schemes]


if __name__ == "__main__":
    # A command without Spark may import what is not installed yet for its arguments; it checks them itself, soon enough.
    command = command_of(sys.argv[1:])
    if command in WITHOUT_SPARK:
        # The shipper lives on hosts of brokers: its three packages are a set of their own.
        print("ship" if command == "ship" else "packages")
    else:
        args = build_parser(command).parse_args(sys.argv[1:])
        if command in LOADERS:
            print("packages rules")
        elif getattr(args, "checkpoint", None):
            print("packages jars classes rules", *stores_of(args))
        elif command in (*READERS, *UPKEEP):
            print("packages", *(_ALSO.get(command, [])), *look_of(args))
        else:
            later = ["broker"] if getattr(args, "live", False) else []
            kafka = ["kafka"] if getattr(args, "events", None) and args.events.startswith("kafka://") else []
            page = ["serve"] if getattr(args, "serve", False) else []
            print("packages jars classes rules", *kafka, *stores_of(args), *later, *page)
