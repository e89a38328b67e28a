"""A log that arrives while a job runs, and between its starts."""

from pathlib import Path

from in_store import uploaded
from undisturbed import log_in_files

from pipeline.store.address import object_address


class Arriving:
    """A log whose files arrive one by one, in `folder`, and from there at `place` if that is in a store."""

    def __init__(self, capture: Path, folder: Path, count: int, place: str = "") -> None:
        self.folder = folder / "events"
        self.folder.mkdir()
        self.place = place or str(self.folder)
        self._files = log_in_files(capture, folder / "log", count)
        self.arrived = self.lines = 0

    def next_file(self) -> None:
        """A file is renamed in."""
        file = self._files.pop(0)
        self.arrived += 1
        self.lines += file.read_bytes().count(b"\n")
        file.rename(self.folder / file.name)
        if object_address(self.place) is not None:
            uploaded(self.folder, self.place)

    def rest(self) -> None:
        """All others, too."""
        while self._files:
            self.next_file()
