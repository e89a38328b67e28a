"""Whether the events of one place (broker, epoch, seq) are the same event. Looked at only where a place comes twice."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.sources.parse.content import content_hashes
from pipeline.sources.validation.seq_ranges import Ranges, Seqs

Key = tuple[str, int]
_NO_FILE = -1


@dataclass
class Taken:
    """Events of one file whose place another event had taken before: how many, and the first of them with the one that was there."""

    events: int
    seq: int
    line: int
    by_line: int


class _Firsts:
    """Of each repeated seq of an epoch the content that came first, with its file and line."""

    def __init__(self, repeated: Ranges) -> None:
        self.repeated = repeated
        self.contents = np.zeros(len(repeated), dtype=np.uint64)
        self.files = np.full(len(repeated), _NO_FILE, dtype=np.int32)
        self.lines = np.zeros(len(repeated), dtype=np.int64)


class SeqContents:
    """Contents of the places that `repeated` has, by (broker, epoch). `taken`: by (broker, epoch), file, and the file that came first."""

    def __init__(self, repeated: Mapping[Key, Ranges]) -> None:
        self._firsts = {key: _Firsts(ranges) for key, ranges in repeated.items() if len(ranges)}
        self._files: list[str] = []
        self.taken: dict[Key, dict[tuple[str, str], Taken]] = {}

    def __bool__(self) -> bool:
        """Whether any place comes twice."""
        return bool(self._firsts)

    def add(self, name: str, events: pa.RecordBatch) -> None:
        """Look at events (EVENT_SCHEMA) of the file `name`, in the order in which they were read before."""
        if not self._files or self._files[-1] != name:
            self._files.append(name)
        for key, firsts in self._firsts.items():
            mine = pc.and_(pc.equal(events.column("broker"), key[0]), pc.equal(events.column("epoch"), key[1]))
            own = events.filter(mine)
            own = own.filter(pa.array(firsts.repeated.have(own.column("seq").to_numpy())))
            if own.num_rows:
                self._compare(key, firsts, own)

    def _compare(self, key: Key, firsts: _Firsts, events: pa.RecordBatch) -> None:
        contents, lines = content_hashes(events), events.column("source_line").to_numpy()
        seqs = events.column("seq").to_numpy()
        places = firsts.repeated.number(seqs)
        left = np.arange(len(seqs))
        while len(left):
            _, chosen = np.unique(places[left], return_index=True)  # the first of each place
            now = left[chosen]
            at = places[now]
            new = firsts.files[at] == _NO_FILE
            firsts.contents[at[new]], firsts.lines[at[new]] = contents[now[new]], lines[now[new]]
            firsts.files[at[new]] = len(self._files) - 1
            other = now[firsts.contents[at] != contents[now]]
            self._note(key, firsts, seqs[other], places[other], lines[other])
            left = np.delete(left, chosen)

    def _note(self, key: Key, firsts: _Firsts, seqs: Seqs, places: Seqs, lines: Seqs) -> None:
        for by in np.unique(firsts.files[places]).tolist():
            of_file = firsts.files[places] == by
            found = self.taken.setdefault(key, {})
            pair = (self._files[-1], self._files[by])
            first = int(np.flatnonzero(of_file)[0])
            found.setdefault(pair, Taken(0, int(seqs[first]), int(lines[first]), int(firsts.lines[places[first]])))
            found[pair].events += int(of_file.sum())

    def facts(self, key: Key) -> list[dict[str, Any]]:
        """Of an epoch, for each two files: `file`, `taken_by`, `events`; of the first event `seq`, `line`, `taken_by_line` (0: none)."""
        return [
            {"file": file, "taken_by": by, "events": one.events, "seq": one.seq, "line": one.line, "taken_by_line": one.by_line}
            for (file, by), one in self.taken.get(key, {}).items()
        ]
