"""Checks a command line for spark-submit.sh before anything is set up. Prints what the command needs: parts of tools/environment.

Without `jars` it starts no Spark.

Standard library only: it runs before the environment exists.
"""

import sys

from console.command_line import LOADERS, READERS, UPKEEP, WITHOUT_SPARK, build_parser, command_of
from pipeline.store.address import with_hadoops_scheme

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
        elif command in (*READERS, *UPKEEP):
            print("packages", *(["rules"] if command == "probe" else ["quality"] if command == "quality" else []))
        else:
            later = ["broker"] if getattr(args, "live", False) else []
            kafka = ["kafka"] if getattr(args, "events", None) and args.events.startswith("kafka://") else []
            places = [getattr(args, name, None) or "" for name in ("events", "warehouse")]
            s3 = ["s3"] if any(with_hadoops_scheme(place).startswith("s3a:") for place in places) else []
            print("packages jars rules", *kafka, *s3, *later)
