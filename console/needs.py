"""Checks a command line for spark-submit.sh before anything is set up. Prints what the command needs: parts of tools/environment.

Without `jars` it starts no Spark. With `look` that is not known before a look at the warehouse (console/needs_after_look.py).

Standard library only: it runs before the environment exists.
"""

import argparse
import sys

from console.command_line import LOADERS, READERS, UPKEEP, WITHOUT_SPARK, build_parser, command_of
from pipeline.store.address import with_hadoops_scheme

#: What a command that reads needs besides.
_ALSO = {"probe": ["rules"], "what-if": ["rules"], "right-size": ["rules"], "quality": ["quality"], "serve": ["serve"]}
#: Those that start Spark for several brokers.
_OF_BROKERS = ("right-size",)


def look_of(args: argparse.Namespace) -> list[str]:
    """Whether only the warehouse tells if Spark is needed: one topic, or one broker, needs none."""
    return ["look"] if args.command in _OF_BROKERS and args.broker is None and args.topic is None else []


def s3_of(args: argparse.Namespace) -> list[str]:
    """What Spark needs where the log or the warehouse lies in S3."""
    places = [getattr(args, name, None) or "" for name in ("events", "warehouse")]
    return ["s3"] if any(with_hadoops_scheme(place).startswith("s3a:") for place in places) else []


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
            print("packages jars rules", *s3_of(args))
        elif command in (*READERS, *UPKEEP):
            print("packages", *(_ALSO.get(command, [])), *look_of(args))
        else:
            later = ["broker"] if getattr(args, "live", False) else []
            kafka = ["kafka"] if getattr(args, "events", None) and args.events.startswith("kafka://") else []
            page = ["serve"] if getattr(args, "serve", False) else []
            print("packages jars rules", *kafka, *s3_of(args), *later, *page)
