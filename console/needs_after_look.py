"""Prints `jars classes` where a command needs Spark for the warehouse that it names: of some commands only a look at the warehouse tells.

A fault is left to the command, which reports it.
"""

import sys

from console.command_line import build_parser, command_module, command_of
from pipeline.faults import BadConfig, BadWarehouse
from pipeline.store.faults import store_fault


def needs_spark(arguments: list[str]) -> bool:
    """Whether the command starts Spark. Without a warehouse that can be read it does not come so far."""
    args = build_parser(command_of(arguments)).parse_args(arguments)
    try:
        return bool(command_module(args.command).needs_spark(args))
    except (BadConfig, BadWarehouse):
        return False
    except Exception as fault:
        if store_fault(fault) is None:
            raise
        return False


if __name__ == "__main__":
    from console.without_pandas import leave_pandas_out

    leave_pandas_out()
    if needs_spark(sys.argv[1:]):
        print("jars classes")
