"""`python -m jobs COMMAND …`, which spark-submit.sh starts; also the file that Spark starts in cluster mode."""

import os
import sys

from jobs.cli import main

if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BrokenPipeError:
        # Whoever read our output (head, less) has seen enough; the interpreter must not complain when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
