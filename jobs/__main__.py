"""`python -m jobs COMMAND …`, which spark-submit.sh starts; also the file that Spark starts in cluster mode."""

import atexit
import os
import sys
from typing import NoReturn

from console.command_line import LOADERS, READERS, UPKEEP, WITH_PANDAS, command_of, main
from console.without_pandas import leave_pandas_out


def stop_spark() -> None:
    """End a session that a command started, so that its Java process and workers end before us and in silence."""
    sql = sys.modules.get("pyspark.sql")
    session = sql.SparkSession.getActiveSession() if sql else None
    if session is not None:
        session.stop()


def end(code: int) -> NoReturn:
    """End the process as soon as what was registered for its end is done.

    Python would take modules apart beside Spark's daemon threads, which still hold them: DuckDB then reports leaks, and C++ may abort.
    """
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def leave_output() -> None:
    """Whoever read our output (head, less) has seen enough: what is still to be flushed, or said, goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())


if __name__ == "__main__":
    command = command_of(sys.argv[1:])
    if command in (*READERS, *LOADERS, *UPKEEP) and command not in WITH_PANDAS:
        leave_pandas_out()
    try:
        code = main(sys.argv[1:])
        stop_spark()
        end(code)
    except BrokenPipeError:
        leave_output()
        stop_spark()
        end(0)
