"""What goes from a folder to a topic: finished files whole, and of growing ones what was flushed since the last look."""

from collections.abc import Callable, Iterable
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Protocol

from pipeline.sources.growing import Part, finished_name, growing_files, whole_members
from pipeline.sources.shipping.folder import LogFile, to_ship
from pipeline.sources.shipping.lines import Record, records_of, too_long
from pipeline.sources.shipping.not_shipped import NotShipped
from pipeline.sources.shipping.place import ShippedFiles


class Topic(Protocol):
    """Where records go (sender.py)."""

    def send(self, record: Record) -> None:
        """Hand a record over."""

    def confirm(self) -> list[int]:
        """Wait until all are there; numbers of lines that were refused."""


class Shipment:
    """Ships a folder. What Kafka has of growing files is known to this object alone: after a restart they are shipped anew."""

    def __init__(
        self,
        folder: Path,
        shipped: ShippedFiles,
        not_shipped: NotShipped,
        topic: Topic,
        say: Callable[[str], None],
        now_s: Callable[[], float],
    ) -> None:
        """`now_s`: a clock that never goes back, in seconds."""
        self._folder, self._shipped, self._not_shipped = folder, shipped, not_shipped
        self._topic, self._say, self._now_s = topic, say, now_s
        #: By the name that a growing file will have.
        self._parts: dict[str, Part] = {}

    def ship_finished(self) -> None:
        """Ship finished files that are not noted yet, and note them. Raises NotDelivered and OSError."""
        files = to_ship(self._folder, self._shipped.names)
        if files:
            self._shipped.forget_missing(self._folder)
        for file in files:
            faults = self._ship_file(file)
            self._add(faults)
            # Last: a shipper that is killed before begins the file anew.
            self._shipped.add(file.name, file.bytes)
            self._parts.pop(file.name, None)

    def ship_growing(self) -> bool:
        """Ship what was flushed to growing files. Whether one of them was finished meanwhile. Raises NotDelivered and OSError."""
        names = growing_files(self._folder)
        for name in names:
            try:
                stream = (self._folder / name).open("rb")
            except FileNotFoundError:
                return True
            with stream:
                self._ship_flushed(name, stream)
        return bool(self._parts.keys() - {finished_name(name) for name in names})

    def _ship_flushed(self, name: str, stream: BinaryIO) -> None:
        final = finished_name(name)
        part = self._parts.get(final, Part())
        while members := whole_members(stream, part.bytes):
            faults: list[str] = []
            lines, refused = self._send(BytesIO(members), final, part.lines, faults)
            self._add([*faults, *refused])
            part = Part(part.bytes + len(members), part.lines + lines)
            self._parts[final] = part

    def _ship_file(self, file: LogFile) -> list[str]:
        """Ship a finished file, or the rest of it. What Kafka has not got of it, in words."""
        faults: list[str] = []
        began_s, part = self._now_s(), self._parts.get(file.name, Part())
        if part.bytes > file.bytes:
            part = Part()  # another file
        try:
            stream = (self._folder / file.name).open("rb")
        except FileNotFoundError:
            return [f"{file.name}: deleted before it was shipped"]
        with stream:
            stream.seek(part.bytes)
            lines, refused = self._send(stream, file.name, part.lines, faults)
        before = f" after {part.lines} that were shipped before" if part.lines else ""
        self._say(f"{file.name}: {lines - len(refused)} lines{before} in {self._now_s() - began_s:.1f} s")
        return [*faults, *refused]

    def _send(self, stream: BinaryIO, name: str, lines_before: int, faults: list[str]) -> tuple[int, list[str]]:
        """How many lines were handed over, and faults of those that Kafka refused."""
        lines = 0
        for record in records_of(stream, name, faults):
            self._topic.send(record._replace(number=record.number + lines_before))
            lines += 1
        return lines, [too_long(name, number) for number in self._topic.confirm()]

    def _add(self, faults: Iterable[str]) -> None:
        named = list(faults)
        self._not_shipped.add(named)
        for fault in named:
            self._say(f"warning: {fault}")
