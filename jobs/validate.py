"""Check log files against the contract (docs/reference/event-log.md), of any version, and show each fault with its place. Needs no Spark.

Duplicates, unknown types and unknown fields are allowed by the contract: they are reported and do not change the exit status.
A duplicate is the same event once more. Another event with a seq that is taken is a fault: two logs claim one broker and epoch.
Exit 0: clean; 1: lines were rejected, seq numbers are missing, or a seq is taken by another event; 2: bad arguments.
"""

import argparse
import glob
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.faults import BadConfig
from pipeline.sources.parse.file import ParsedBlock, ParseLimits, parse_stream
from pipeline.sources.parse.typed_table import parse_typed
from pipeline.sources.validation.seq_contents import SeqContents
from pipeline.sources.validation.seq_ranges import SeqRanges
from pipeline.visible import visible, visible_json
from schemas.events import LOG_VERSIONS, UNKNOWN_TYPE_CODE, added_since

EXAMPLES = """examples:
  ./spark-submit.sh validate /var/log/pulsar-events/events-0001.jsonl.gz
  ./spark-submit.sh validate '/var/log/pulsar-events/**/*.jsonl*' --json
"""
SUFFIXES = (".jsonl", ".jsonl.gz", ".jsonl.zst", ".parquet")
_LINES_SHOWN = 10
CLEAN, FAULTS, BAD_ARGUMENTS = 0, 1, 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `validate`."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="file, folder or glob (also **) of " + ", ".join(SUFFIXES))
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")


@dataclass
class Fault:
    """Lines of one file that were rejected for one reason. `lines` are the first line numbers (0 for tables)."""

    count: int = 0
    lines: list[int] = field(default_factory=list)
    example: str = ""


@dataclass
class Report:
    """What was found, file by file and over all files."""

    lines: dict[str, int] = field(default_factory=dict)
    faults: dict[str, dict[str, Fault]] = field(default_factory=dict)
    orders: dict[tuple[str, int], SeqRanges] = field(default_factory=dict)
    starts: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)
    unknown_types: Counter[str] = field(default_factory=Counter)
    unknown_fields: Counter[str] = field(default_factory=Counter)
    contents: SeqContents = field(default_factory=lambda: SeqContents({}))

    def add(self, name: str, block: ParsedBlock) -> None:
        """Counts a block of the file `name`."""
        self.lines[name] = self.lines.get(name, 0) + block.lines
        for reject in block.rejects.select(["reason", "detail", "source_line"]).to_pylist():
            fault = self.faults.setdefault(name, {}).setdefault(reject["reason"], Fault())
            fault.count += 1
            fault.example = fault.example or reject["detail"]
            if len(fault.lines) < _LINES_SHOWN:
                fault.lines.append(reject["source_line"])
        # A rejected line with a readable envelope is damaged, not lost: its place is taken.
        self._add_order(block.events)
        self._add_order(block.rejects.filter(block.rejects.column("seq").is_valid()))
        self._add_starts(block.events)
        self._add_unknown(block.events)

    def _add_starts(self, events: pa.RecordBatch) -> None:
        starts = events.filter(pc.equal(events.column("type"), "broker_start"))
        for start in starts.select(["broker", "epoch", "log_version", "missing_points"]).to_pylist():
            self.starts[start["broker"], start["epoch"]] = start

    def _add_order(self, rows: pa.RecordBatch) -> None:
        keys = pa.table({name: rows.column(name) for name in ("broker", "epoch")}).group_by(["broker", "epoch"]).aggregate([])
        for key in keys.to_pylist():
            mine = pc.and_(pc.equal(rows.column("broker"), key["broker"]), pc.equal(rows.column("epoch"), key["epoch"]))
            seqs = rows.column("seq").filter(mine).to_numpy()
            self.orders.setdefault((key["broker"], key["epoch"]), SeqRanges()).add(seqs)

    def _add_unknown(self, events: pa.RecordBatch) -> None:
        unknown = events.filter(pc.equal(events.column("type_code"), UNKNOWN_TYPE_CODE))
        self.unknown_types.update(unknown.column("type").to_pylist())
        for extra in events.column("extra").drop_null().to_pylist():
            self.unknown_fields.update(json.loads(extra).keys())

    @property
    def status(self) -> int:
        """Exit status of the command."""
        missing = any(ranges.missing() for ranges in self.orders.values())
        return FAULTS if self.faults or missing or self.contents.taken else CLEAN


def run(args: argparse.Namespace) -> int:
    """Validates `args.files` and prints the report to stdout (`args.json`: as JSON); returns the exit status."""
    report = Report()
    try:
        paths = _found(args.files)
        for path in paths:
            report.lines.setdefault(path, 0)
            for block in _blocks(path):
                report.add(path, block)
        _compare_repeats(report, paths)
    except BadConfig as problem:
        print(f"validate: {visible(str(problem))}", file=sys.stderr)
        return BAD_ARGUMENTS
    facts = as_json(report)
    print(visible_json(facts, indent=2) if args.json else "\n".join(map(visible, as_text(facts))))
    return report.status


def _compare_repeats(report: Report, paths: list[str]) -> None:
    """Read the files once more if a seq came twice: memory grows with what is repeated, not with the log."""
    report.contents = SeqContents({key: ranges.repeated for key, ranges in report.orders.items()})
    for path in paths if report.contents else ():
        for block in _blocks(path):
            report.contents.add(path, block.events)


def _found(patterns: list[str]) -> list[str]:
    """Every file that `patterns` name, once, in the order given; BadConfig for a pattern that names none."""
    found: dict[str, None] = {}
    for pattern in patterns:
        if os.path.isfile(pattern):
            matches = [pattern]
        elif os.path.isdir(pattern):
            matches = [str(path) for path in sorted(Path(pattern).rglob("*")) if path.is_file() and path.name.endswith(SUFFIXES)]
        else:
            matches = [path for path in sorted(glob.glob(pattern, recursive=True)) if os.path.isfile(path)]
        if not matches:
            raise BadConfig(f"no log file found at {pattern}: name a file, a folder or a glob of {', '.join(SUFFIXES)}")
        found.update(dict.fromkeys(matches))
    return list(found)


def _blocks(path: str) -> Iterator[ParsedBlock]:
    try:
        if path.endswith(".parquet"):
            with pq.ParquetFile(path) as table:
                for batch in table.iter_batches():
                    yield parse_typed(batch, ParseLimits())
        else:
            with open(path, "rb") as stream:
                yield from parse_stream(stream, path, ParseLimits())
    except PermissionError:
        raise BadConfig(f"{path} may not be read: check its permissions") from None
    except pa.ArrowInvalid as problem:
        raise BadConfig(f"{path} is not a Parquet file: {problem}") from None


def as_json(report: Report) -> dict[str, Any]:
    """The report as plain values: `files`, `totals`, `epochs`, `unknown_types`, `unknown_fields`."""
    files = []
    totals: Counter[str] = Counter()
    for name, lines in report.lines.items():
        faults = report.faults.get(name, {})
        totals.update({reason: fault.count for reason, fault in faults.items()})
        shown = [{"reason": r, "count": f.count, "first_lines": f.lines, "example": f.example} for r, f in sorted(faults.items())]
        files.append({"file": name, "lines": lines, "rejected": sum(f.count for f in faults.values()), "faults": shown})
    lines = sum(report.lines.values())
    return {
        "files": files,
        "totals": {"lines": lines, "events": lines - totals.total(), "rejected": totals.total(), "by_reason": dict(sorted(totals.items()))},
        "epochs": [
            {
                "broker": broker,
                "epoch": epoch,
                **_version(report.starts.get((broker, epoch))),
                **ranges.facts(),
                "seq_taken": report.contents.facts((broker, epoch)),
            }
            for (broker, epoch), ranges in sorted(report.orders.items(), key=lambda o: o[0])
        ],
        "unknown_types": dict(report.unknown_types.most_common()),
        "unknown_fields": dict(report.unknown_fields.most_common()),
    }


def _version(start: dict[str, Any] | None) -> dict[str, Any]:
    """Which version an epoch has, by its `broker_start`, and what cannot be in it. Nothing is known where the start is not in the files."""
    if start is None:
        return {"log_version": None, "missing_points": [], "not_in_version": []}
    version = start["log_version"] or LOG_VERSIONS[0]
    return {"log_version": version, "missing_points": start["missing_points"] or [], "not_in_version": added_since(version)}


def _taken_words(taken: dict[str, Any]) -> str:
    """Two logs claim one broker and epoch, or a line was changed: which files, and where it begins."""
    line, by_line = (f" line {number}" if number else "" for number in (taken["line"], taken["taken_by_line"]))
    return (
        f"  seq_taken: {taken['events']} events of {taken['file']} have a seq that another event of {taken['taken_by']} has taken, "
        f"first seq {taken['seq']} ({taken['file']}{line}, {taken['taken_by']}{by_line}): do two brokers have one name?"
    )


def as_text(facts: dict[str, Any]) -> Iterator[str]:
    """The lines that people read."""
    for file in facts["files"]:
        yield f"{file['file']}: {file['lines']} lines, {file['rejected']} rejected"
        for fault in file["faults"]:
            lines = ", ".join(map(str, fault["first_lines"])) + (", …" if fault["count"] > len(fault["first_lines"]) else "")
            yield f"  {fault['reason']}: {fault['count']} (line {lines}), e.g. {fault['example']}"
    for epoch in facts["epochs"]:
        seen = f"seq {epoch['first']} … {epoch['last']}, {epoch['missing']} missing, {epoch['duplicates']} duplicates"
        version = f"version {epoch['log_version']}" if epoch["log_version"] else "version unknown, its broker_start is not here"
        yield f"broker {epoch['broker']} epoch {epoch['epoch']}: {version}, {seen}"
        for words, names in (("not in this version", epoch["not_in_version"]), ("the broker lacks points", epoch["missing_points"])):
            if names:
                yield f"  {words}: {', '.join(names)}"
        for start, end in epoch["gaps"]:
            yield f"  missing seq {start}" + (f" … {end}" if end > start else "")
        yield from map(_taken_words, epoch["seq_taken"])
    for kind in ("unknown_types", "unknown_fields"):
        if facts[kind]:
            yield f"{kind.replace('_', ' ')}: " + ", ".join(f"{name} ({count})" for name, count in facts[kind].items())
    totals = facts["totals"]
    yield f"total: {totals['lines']} lines = {totals['events']} events + {totals['rejected']} rejected"
