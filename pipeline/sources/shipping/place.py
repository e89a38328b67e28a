"""Which files Kafka has: one small JSON file, replaced as a whole after each file that was shipped."""

import fcntl
import json
import os
from pathlib import Path
from typing import IO

from pipeline.faults import BadConfig


class ShippedFiles:
    """Files that `topic` has (name → bytes), kept in `path`. Only one shipper may hold the file: open it within a `with`."""

    def __init__(self, path: Path, topic: str) -> None:
        self._path, self._topic = path, topic
        self._lock: IO[bytes] | None = None
        self.names: dict[str, int] = {}

    def __enter__(self) -> "ShippedFiles":
        lock = self._path.with_name(self._path.name + ".lock")
        try:
            self._lock = lock.open("ab")
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as fault:
            raise BadConfig(f"--place {self._path}: another shipper holds it: stop that one, or name another file") from fault
        except OSError as fault:
            raise BadConfig(f"--place {self._path}: {fault.strerror}; name a file in a folder that exists and may be written") from fault
        self.names = self._read()
        return self

    def __exit__(self, *_fault: object) -> None:
        if self._lock is not None:
            self._lock.close()

    def add(self, name: str, length: int) -> None:
        """Note that Kafka has a file. After a crash of the machine the note is there whole, or not at all."""
        self.names[name] = length
        written = self._path.with_name(self._path.name + ".new")
        with written.open("w", encoding="utf-8") as out:
            json.dump({"topic": self._topic, "shipped": self.names}, out, indent=0)
            out.flush()
            os.fsync(out.fileno())
        written.replace(self._path)

    def forget_missing(self, folder: Path) -> None:
        """Drop names of files that are no longer in the folder, so that the note stays small. Written with the next `add`."""
        self.names = {name: length for name, length in self.names.items() if (folder / name).exists()}

    def _read(self) -> dict[str, int]:
        try:
            noted = json.loads(self._path.read_text(encoding="utf-8"))
            topic, names = noted["topic"], {str(name): int(length) for name, length in noted["shipped"].items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as fault:
            raise BadConfig(f"--place {self._path}: cannot be read: {fault!r}; delete it to ship all files again") from fault
        if topic != self._topic:
            raise BadConfig(f"--place {self._path}: it notes what topic {topic} has, not {self._topic}: name another file")
        return names
