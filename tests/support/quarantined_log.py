"""A damaged log: lines with a tombstone, lines that look lost, lines that only their length is against, and rubbish."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deltalake import DeltaTable
from upkeep_log import capture

from pipeline.warehouse.layout import Warehouse

#: Positions in the log, all but the last in its second file.
WRONG_TYPE, CUT_SHORT, NOTED, LONG_NOTED = (500, 501, 620), (540, 700), 560, 580
RUBBISH = "{half"
FILES, LINES_OF_A_FILE = 3, 278
#: As the log was read at first: of lines so long as LONG_NOTED's quarantine has only the beginning, and a note is too long a text.
STRICT = {"ingest__max_files_per_batch": "1", "ingest__max_text_bytes": "256", "ingest__quarantine_raw_bytes": "700"}


@dataclass(frozen=True)
class Damaged:
    """`events` is what the log should have been, `seqs` those of each kind of damage; `place` reads the log's files, `more` others, too."""

    folder: Path
    warehouse: Warehouse
    events: list[dict[str, Any]]
    seqs: dict[str, set[int]] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """--events of the files that were there at first."""
        return f"{self.folder}/events/[0-9].jsonl"

    @property
    def more(self) -> str:
        """--events of all files."""
        return f"{self.folder}/events/*.jsonl"

    def right_text(self, seq: int) -> str:
        """What the line should have been; events are numbered from 1."""
        return json.dumps(self.events[seq - 1])

    def repaired(self, folder: Path, *kinds: str) -> Path:
        """What a person hands back: rows of quarantine with the right texts, by default of all lines that need one."""
        seqs = set().union(*(self.seqs[kind] for kind in kinds or ("wrong", "lost", "long")))
        rows = [{**row, "raw": self.right_text(self._seq(row))} for row in listed(self.warehouse, "quarantine") if self._seq(row) in seqs]
        assert len(rows) == len(seqs)
        path = folder / "repaired.jsonl"
        path.write_text("".join(json.dumps(row, default=str) + "\n" for row in rows), encoding="utf-8")
        return path

    def _seq(self, row: dict[str, Any]) -> int:
        """What stood on the line; of rubbish a number beyond all."""
        if row["raw"] == RUBBISH:
            return len(self.events) + 1
        return int(Path(row["source_file"]).stem) * LINES_OF_A_FILE + int(row["source_line"])


def listed(warehouse: Warehouse, table: str) -> list[dict[str, Any]]:
    """A table's rows, read without Spark."""
    rows: list[dict[str, Any]] = DeltaTable(warehouse.table(table).removeprefix("file:")).to_pyarrow_table().to_pylist()
    return rows


def damaged_log() -> tuple[list[dict[str, Any]], list[str]]:
    """The events that were meant, and the lines that came."""
    events = capture("p1_batches")
    events[NOTED] = {**events[NOTED], "note": "n" * 300}
    events[LONG_NOTED] = {**events[LONG_NOTED], "note": "n" * 900}
    lines = [json.dumps(event) for event in events]
    for position in WRONG_TYPE:
        lines[position] = json.dumps({**events[position], "topic": 7})
    for position in CUT_SHORT:
        lines[position] = lines[position][:60]
    return events, lines


def written_log(folder: Path) -> Damaged:
    """The log in three files below `folder`, where its warehouse is to be."""
    events, lines = damaged_log()
    (folder / "events").mkdir()
    for number in range(FILES):
        first = number * LINES_OF_A_FILE
        piece = [*lines[first : first + LINES_OF_A_FILE], *([RUBBISH] if number == 0 else [])]
        (folder / "events" / f"{number}.jsonl").write_text("\n".join(piece) + "\n", encoding="utf-8")
    seqs = {"wrong": {events[p]["seq"] for p in WRONG_TYPE}, "lost": {events[p]["seq"] for p in CUT_SHORT},
            "noted": {events[NOTED]["seq"]}, "long": {events[LONG_NOTED]["seq"]}}  # fmt: skip
    return Damaged(folder, Warehouse(f"file:{folder / 'warehouse'}"), events, seqs)
