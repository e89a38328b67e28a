"""What a job prints goes into a file while somebody watches something else."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.visible import visible

_OUT, _ERR = 1, 2


@contextmanager
def job_lines_in(file: Path) -> Iterator[Callable[[str], None]]:
    """Within it all that this process and its children (Java) print is in `file`, made anew; the value prints where they printed before.

    A child that still runs afterwards goes on in the file. Raises OSError where the file cannot be made.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    _flush()
    screen, errors = os.dup(_OUT), os.dup(_ERR)

    def show(lines: str) -> None:
        rest = f"{visible(lines, keep=chr(10))}\n".encode()
        while rest:
            rest = rest[os.write(screen, rest) :]

    try:
        with file.open("wb") as target:
            os.dup2(target.fileno(), _OUT)
            os.dup2(target.fileno(), _ERR)
        yield show
    finally:
        _flush()
        os.dup2(screen, _OUT)
        os.dup2(errors, _ERR)
        os.close(screen)
        os.close(errors)


def _flush() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
