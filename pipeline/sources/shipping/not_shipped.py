"""What never reached Kafka, in words: a file beside the note of shipped files, which stays until somebody deletes it."""

import os
from collections.abc import Iterable
from pathlib import Path


class NotShipped:
    """The file `path`, a fault a line. It is there if something was not shipped since somebody deleted it last."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def faults(self) -> list[str]:
        """What the file has."""
        try:
            return self.path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []

    def add(self, faults: Iterable[str]) -> None:
        """Append those that are not there yet: a shipper that was killed meets them again. They are on the disk when this returns."""
        there = set(self.faults())
        new = [fault for fault in faults if fault not in there]
        if not new:
            return
        with self.path.open("a", encoding="utf-8") as out:
            out.writelines(f"{fault}\n" for fault in new)
            out.flush()
            os.fsync(out.fileno())
