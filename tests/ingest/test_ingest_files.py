"""Real files through the real query: whatever shape they have, every line is in bronze or in quarantine."""

import gzip
import json
import random
import shutil
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import zstandard
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from pipeline.faults import BadConfig, BrokenInvariant
from pipeline.ingest import micro_batch, query
from pipeline.ingest.source_log import planned_files
from pipeline.sources import jsonl_files, listed_files
from pipeline.sources.listing import visible_files
from pipeline.sources.place import find_place
from pipeline.store.arrow_reader import arrow_rows
from pipeline.store.files import files_at
from pipeline.warehouse.append import append_rows
from pipeline.warehouse.layout import Warehouse
from schemas.tables.bronze import QUARANTINE, SEQ_TAKEN

FIXTURES = Path(__file__).parents[1] / "fixtures" / "captures"


def capture_lines(name: str = "p1_batches") -> list[bytes]:
    return gzip.decompress((FIXTURES / name / "events.jsonl.gz").read_bytes()).splitlines()


def event(seq: int, **changes: object) -> bytes:
    fields = {
        "v": 1,
        "broker": "b:1",
        "epoch": 1_795_000_000_000,
        "seq": seq,
        "ts": 1_795_000_000_000_000 + seq,
        "type": "topic_load",
        "topic": "t",
    }
    return json.dumps({**fields, **changes}).encode()


def write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def test_files_of_every_form_are_read_once_and_only_they(tmp_path: Path, ingest_into: Callable) -> None:
    lines = capture_lines()
    third = len(lines) // 3
    parts = [b"\n".join(lines[start : start + third]) + b"\n" for start in range(0, len(lines), third)]
    folder = tmp_path / "a b%20+c"
    write(folder / "plain.jsonl", parts[0])
    write(folder / "deep" / "er" / "zipped.jsonl.gz", gzip.compress(parts[1]))
    write(folder / "deep" / "squeezed.jsonl.zst", zstandard.compress(parts[2]))
    for other in ("notes.txt", "events.json", ".hidden.jsonl", "_aside/x.jsonl"):
        write(folder / other, b"no event\n")
    ingest = ingest_into(folder).run()
    for late, part in enumerate(parts[3:]):
        write(folder / f"late{late}.jsonl", part)
    ingest.run()

    assert sorted(row.seq for row in ingest.rows("dispatch_events", "seq")) == sorted(json.loads(line)["seq"] for line in lines)
    assert {row.source_file.removeprefix(f"file:{folder}/"): row.lines for row in ingest.rows("ingest_files", "source_file", "lines")} == {
        "plain.jsonl": third,
        "deep/er/zipped.jsonl.gz": third,
        "deep/squeezed.jsonl.zst": third,
        **({"late0.jsonl": len(lines) - 3 * third} if len(lines) % 3 else {}),
    }
    at = {(row.source_file, row.source_line): row.seq for row in ingest.rows("dispatch_events", "source_file", "source_line", "seq")}
    assert at[f"file:{folder}/deep/squeezed.jsonl.zst", 7] == json.loads(lines[2 * third + 6])["seq"]


def test_bad_shapes_lose_no_line_and_spare_their_neighbours(tmp_path: Path, ingest_into: Callable) -> None:
    good = b"\n".join(event(seq) for seq in (1, 2, 3)) + b"\n"
    many = b"\n".join(event(seq) for seq in range(100, 3100)) + b"\n"
    write(tmp_path / "e" / "empty.jsonl", b"")
    write(tmp_path / "e" / "blank.jsonl", b"\n \r\n\n")
    write(tmp_path / "e" / "half.jsonl", good + event(4)[:30])
    write(tmp_path / "e" / "long.jsonl", event(5) + b"\n" + event(6, remote="x" * 10_000_000) + b"\n" + event(7))
    write(tmp_path / "e" / "bom_crlf.jsonl", b"\xef\xbb\xbf" + event(8) + b"\r\n" + event(9) + b"\r\n")
    write(
        tmp_path / "e" / "wrong.jsonl",
        b"\n".join([event(10, epoch="10"), b'{"v":NaN}', b"[1]", event(11, ts=1), event(12, topic=5), event(13)]),
    )
    write(tmp_path / "e" / "cut.jsonl.gz", gzip.compress(many)[:-2000])
    ingest = ingest_into(tmp_path / "e").run()

    seqs = {row.seq for row in ingest.rows("dispatch_events", "seq")}
    assert {1, 2, 3, 5, 7, 8, 9, 13, 100} <= seqs
    assert not {4, 6, 10, 11, 12} & seqs
    reasons = Counter((row.source_file.rsplit("/", 1)[1], row.reason) for row in ingest.rows("quarantine", "source_file", "reason"))
    assert reasons == {
        ("half.jsonl", "not_json"): 1,
        ("long.jsonl", "text_too_long"): 1,
        ("wrong.jsonl", "wrong_type"): 2,
        ("wrong.jsonl", "not_json"): 1,
        ("wrong.jsonl", "not_an_object"): 1,
        ("wrong.jsonl", "out_of_range"): 1,
        ("cut.jsonl.gz", "truncated_file"): 1,
    }
    faults = {row.source_file.rsplit("/", 1)[1]: row.fault for row in ingest.rows("ingest_files", "source_file", "fault")}
    assert faults == dict.fromkeys(("blank.jsonl", "half.jsonl", "long.jsonl", "bom_crlf.jsonl", "wrong.jsonl"), "none") | {
        "cut.jsonl.gz": "truncated"
    }
    tombstones = ingest.rows("lane_control", "kind", "epoch", "seq", "ts", "ingest_batch")
    places = {(row.kind, row.seq, row.ts, row.ingest_batch) for row in tombstones}
    assert ("tombstone", 12, 1_795_000_000_000_012, 0) in places
    assert {seq for _, seq, _, _ in places} <= {6, 12} | set(range(100, 3100))
    books = ingest.rows("batch_manifest", "query", "rows_in", "bronze", "quarantined")
    assert [(row.query, row.rows_in, row.bronze, row.quarantined) for row in books] == [("ingest", len(seqs) + 8, len(seqs), 8)]


def test_one_percent_of_damage_costs_no_undamaged_line(tmp_path: Path, ingest_into: Callable) -> None:
    chance = random.Random(7)
    lines = capture_lines("f_limit_above_need")
    damaged = {number for number in range(len(lines)) if chance.random() < 0.01}
    for number in damaged:
        text = bytearray(lines[number])
        text[chance.randrange(len(text))] = chance.choice(b'\x00\xff"{}:,0x\n')
        lines[number] = bytes(text)
    write(tmp_path / "events.jsonl", b"\n".join(lines))
    ingest = ingest_into(tmp_path / "events.jsonl").run()

    bronze = {row.source_line for row in ingest.rows("dispatch_events", "source_line")}
    rejected = {row.source_line for row in ingest.rows("quarantine", "source_line")}
    not_blank = [number for number, line in enumerate(b"\n".join(lines).split(b"\n"), 1) if line.strip()]
    assert not bronze & rejected
    assert sorted(bronze | rejected) == not_blank
    assert damaged
    assert 0 < len(rejected) <= 2 * len(damaged)


def test_a_broker_of_rejected_lines_alone_has_a_name(tmp_path: Path, ingest_into: Callable) -> None:
    write(tmp_path / "e" / "a.jsonl", b"\n".join([event(1), event(2, topic=5, broker="odd:8080")]))
    ingest = ingest_into(tmp_path / "e").run()
    lanes = {row.broker_id for row in ingest.rows("lane_control", "broker_id")}
    assert lanes == {row.id for row in ingest.rows("names", "id", "broker") if row.broker == "odd:8080"}


def test_a_micro_batch_that_is_run_again_writes_nothing_twice(tmp_path: Path, ingest_into: Callable) -> None:
    write(tmp_path / "e" / "a.jsonl", b"\n".join([event(1), event(2, topic=5), b"{}", event(3)]))
    ingest = ingest_into(tmp_path / "e").run()
    tables = ("dispatch_events", "quarantine", "lane_control", "names", "ingest_files", "batch_manifest")
    before = {name: ingest.rows(name, "*") for name in tables}
    ingest.lose_last_commit()
    ingest.run()

    assert {name: ingest.rows(name, "*") for name in tables} == before
    assert all(before.values())


def test_what_a_crash_left_out_is_written_by_the_rerun(tmp_path: Path, ingest_into: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "e" / "a.jsonl", b"\n".join([event(1), event(2, topic=5), event(3)]))
    ingest = ingest_into(tmp_path / "e")
    for crash_before in ("_commit", "_write_rejected", "control_rows", "write_manifest"):
        with monkeypatch.context() as patch:
            patch.setattr(micro_batch, crash_before, _crash)
            with pytest.raises(StreamingQueryException, match="the driver ended"):
                ingest.run()
    ingest.run()

    assert [row.seq for row in ingest.rows("dispatch_events", "seq")] == [1, 3]
    assert [row.seq for row in ingest.rows("quarantine", "seq")] == [2]
    assert [row.seq for row in ingest.rows("lane_control", "seq")] == [2]
    assert [row.lines for row in ingest.rows("ingest_files", "lines")] == [3]
    assert [(row.rows_in, row.bronze) for row in ingest.rows("batch_manifest", "rows_in", "bronze")] == [(3, 2)]
    assert sorted(row.level for row in ingest.rows("names", "level")) == ["broker", "topic"]


def test_a_rerun_does_not_count_what_lanes_put_into_quarantine(
    tmp_path: Path, ingest_into: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They do so for events whose place is taken, with the micro-batch of the event."""
    write(tmp_path / "e" / "a.jsonl", b"\n".join([event(1), event(2, topic=5), event(3)]))
    ingest = ingest_into(tmp_path / "e")
    for crash_before in ("control_rows", "write_manifest"):
        with monkeypatch.context() as patch:
            patch.setattr(micro_batch, crash_before, _crash)
            with pytest.raises(StreamingQueryException, match="the driver ended"):
                ingest.run()
        rows = arrow_rows(ingest.warehouse.table("quarantine"), among={"seq": [2]}).to_pylist()
        append_rows(ingest.warehouse, QUARANTINE, [{**rows[0], "seq": 3, "reason": SEQ_TAKEN}])
    ingest.run()
    assert [(row.rows_in, row.bronze, row.quarantined) for row in ingest.rows("batch_manifest", "rows_in", "bronze", "quarantined")] == [
        (3, 2, 1)
    ]
    assert [row.seq for row in ingest.rows("lane_control", "seq")] == [2]


@pytest.mark.parametrize("crash_before", ["_written", "write_manifest"])
def test_a_file_that_grew_before_the_rerun_is_read_as_far_as_before(
    tmp_path: Path, ingest_into: Callable, monkeypatch: pytest.MonkeyPatch, crash_before: str
) -> None:
    write(tmp_path / "e" / "a.jsonl", event(1) + b"\n")
    ingest = ingest_into(tmp_path / "e")
    with monkeypatch.context() as patch:
        patch.setattr(micro_batch, crash_before, _crash)
        with pytest.raises(StreamingQueryException, match="the driver ended"):
            ingest.run()
    with (tmp_path / "e" / "a.jsonl").open("ab") as file:
        file.write(event(2) + b"\n")
    ingest.run()

    assert [row.seq for row in ingest.rows("dispatch_events", "seq")] == [1]
    assert [(row.bytes, row.lines) for row in ingest.rows("ingest_files", "bytes", "lines")] == [(len(event(1)) + 1, 1)]
    assert ingest.report_grown() == 1


@pytest.mark.usefixtures("every_second_log_file_is_compacted")
@pytest.mark.parametrize("noted", [True, False])
def test_a_file_that_vanished_amid_a_micro_batch_is_missed_by_it_and_by_the_rerun(
    tmp_path: Path, ingest_into: Callable, monkeypatch: pytest.MonkeyPatch, noted: bool
) -> None:
    """Spark would go on without it in silence. Put back it is read; an empty line in its place says that it is given up.

    `noted`: whether the driver had come so far as to note the file's length.
    """
    write(tmp_path / "e" / "a.jsonl", event(1) + b"\n")
    ingest = ingest_into(tmp_path / "e").run()
    for name, number in (("back it comes", 2), ("lost", 3)):
        file = tmp_path / "e" / f"{name}.jsonl"
        write(file, event(number) + b"\n")
        missed = rf"BadWarehouse: file:{file} was taken up to be read and is gone"
        with monkeypatch.context() as patch:
            if noted:
                patch.setattr(micro_batch, "_written", partial(_after_its_end, file, micro_batch._written))
            else:
                patch.setattr(query, "first_listed", partial(_at_its_end, file))
            with pytest.raises(StreamingQueryException, match=missed if noted else "the driver ended"):
                ingest.run()
        with pytest.raises(StreamingQueryException, match=missed):
            ingest.run()
        write(file, event(number) + b"\n" if number == 2 else b"\n")
        ingest.run()
    write(tmp_path / "e" / "z.jsonl", event(4))
    ingest.run()
    assert sorted(row.seq for row in ingest.rows("dispatch_events", "seq")) == [1, 2, 4]
    assert log_of_files(ingest.warehouse) == ["0", "1.compact", "2", "3.compact"]


def log_of_files(warehouse: Warehouse) -> list[str]:
    """Names in the file source's log in the checkpoint."""
    return sorted(path.name for path in Path(warehouse.checkpoint("ingest"), "sources", "0").glob("[0-9]*"))


def _delete(log: Path) -> None:
    log.unlink()


def _rename_a_key(log: Path) -> None:
    log.write_text(log.read_text().replace('"path"', '"where"'))


@pytest.mark.parametrize("damage", [_delete, _rename_a_key])
def test_a_log_of_files_that_does_not_tell_what_was_planned_is_no_empty_plan(
    spark: SparkSession, tmp_path: Path, ingest_into: Callable, damage: Callable[[Path], None]
) -> None:
    """Of another version of Spark, say: what vanished would be missed by nobody."""
    folder = tmp_path / "a b%20+c {1}"
    write(folder / "a.jsonl", event(1) + b"\n")
    ingest = ingest_into(folder).run()
    assert planned_files(ingest.warehouse, "ingest", 0) == [f"file:{folder}/a.jsonl"]
    log = Path(ingest.warehouse.checkpoint("ingest"), "sources", "0", "0")
    log.with_name(".0.crc").unlink()
    damage(log)
    with pytest.raises(BrokenInvariant, match=r"ingest: .*names no file under \[0\]"):
        planned_files(ingest.warehouse, "ingest", 0)


def test_a_parquet_file_that_vanished_before_the_rerun_is_missed(
    spark: SparkSession, tmp_path: Path, ingest_into: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "a.jsonl", b"\n".join(event(seq) for seq in range(1, 4)))
    spark.read.json(str(tmp_path / "a.jsonl")).repartition(2).write.parquet(str(tmp_path / "e"))
    ingest = ingest_into(tmp_path / "e")
    with monkeypatch.context() as patch:
        patch.setattr(micro_batch, "_written", _crash)
        with pytest.raises(StreamingQueryException, match="the driver ended"):
            ingest.run()
    file = min((tmp_path / "e").glob("*.parquet"))
    aside = file.rename(tmp_path / file.name)
    with pytest.raises(StreamingQueryException, match=rf"BadWarehouse: file:{file} was taken up to be read and is gone"):
        ingest.run()
    aside.rename(file)
    ingest.run()
    assert sorted(row.seq for row in ingest.rows("dispatch_events", "seq")) == [1, 2, 3]


def test_a_file_of_another_name_that_vanished_is_nobody_s_loss(
    tmp_path: Path, ingest_into: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "e" / "a.jsonl", event(1) + b"\n")
    write(tmp_path / "e" / "b.jsonl.part", event(2) + b"\n")
    ingest = ingest_into(tmp_path / "e")
    with monkeypatch.context() as patch:
        patch.setattr(query, "first_listed", partial(_at_its_end, tmp_path / "e" / "b.jsonl.part"))
        with pytest.raises(StreamingQueryException, match="the driver ended"):
            ingest.run()
    ingest.run()
    assert [row.seq for row in ingest.rows("dispatch_events", "seq")] == [1]


def test_what_went_after_it_was_listed_and_before_it_was_looked_at_is_missed_only_if_it_is_wanted(
    tmp_path: Path, ingest_into: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A half-written file gets its name just then, a file that was read goes to the archive: neither may end a live job."""
    write(tmp_path / "e" / "a.jsonl", event(1) + b"\n")
    ingest = ingest_into(tmp_path / "e")

    def run_while_it_goes(name: str) -> None:
        write(tmp_path / "e" / name, event(2) + b"\n")
        with monkeypatch.context() as patch:
            patch.setattr(jsonl_files, "files_of", partial(_after_its_end, tmp_path / "e" / name, listed_files.files_of))
            ingest.run()

    run_while_it_goes("b.jsonl.part")
    assert [row.seq for row in ingest.rows("dispatch_events", "seq")] == [1]
    with pytest.raises(StreamingQueryException, match=r"c\.jsonl was taken up to be read and is gone"):
        run_while_it_goes("c.jsonl")


def test_a_listing_goes_on_without_a_file_that_is_gone(tmp_path: Path) -> None:
    """The look for files that grew, each ten minutes, beside a job that moves files to the archive."""
    for name in ("a.jsonl", "b.jsonl"):
        write(tmp_path / "e" / name, event(1) + b"\n")
    listing = visible_files(find_place(files_at(str(tmp_path)), str(tmp_path / "e"), (".jsonl",)))
    first = next(listing)
    other = {"a.jsonl": "b.jsonl", "b.jsonl": "a.jsonl"}[Path(first.path).name]
    (tmp_path / "e" / other).unlink()
    assert list(listing) == []


def _after_its_end(file: Path, write_bronze: Callable, *arguments: object) -> object:
    file.unlink()
    return write_bronze(*arguments)


def _at_its_end(file: Path, *_: object) -> None:
    file.unlink()
    _crash()


def _crash(*_: object) -> None:
    raise RuntimeError("the driver ended")


@pytest.mark.usefixtures("every_second_log_file_is_compacted")
def test_a_file_that_grew_is_reported_once(tmp_path: Path, ingest_into: Callable) -> None:
    """Of one that was empty only the source's log knows; of that Spark deletes, after minutes, what is in a compacted file, too."""
    contents = {"a": event(1) + b"\n", "was_empty": b"", "was_empty_too": b""}
    ingest = ingest_into(tmp_path / "e")
    for name, content in contents.items():
        write(tmp_path / "e" / f"{name}.jsonl", content)
        ingest.run()
    assert log_of_files(ingest.warehouse) == ["0", "1.compact", "2"]
    Path(ingest.warehouse.checkpoint("ingest"), "sources", "0", "0").unlink()
    assert ingest.report_grown() == 0
    for name in contents:
        with (tmp_path / "e" / f"{name}.jsonl").open("ab") as file:
            file.write(event(2) + b"\n")
    write(tmp_path / "e" / "new.jsonl", event(3))

    assert ingest.report_grown() == 3
    assert ingest.report_grown() == 0
    ingest.run()
    grown = {row.source_file.rsplit("/", 1)[1] for row in ingest.table("ingest_files").where("fault = 'grew'").collect()}
    assert grown == {f"{name}.jsonl" for name in contents}
    assert [row.seq for row in ingest.rows("dispatch_events", "seq")] == [1, 3]


def test_a_capture_glob_takes_the_logs_alone(ingest_into: Callable, tmp_path: Path) -> None:
    for name in ("p1_batches", "f_limit_above_need"):
        shutil.copytree(FIXTURES / name, tmp_path / "captures" / name)
        write(tmp_path / "captures" / name / "stats.json", b"{}")
    ingest = ingest_into(f"{tmp_path}/captures/**/events.jsonl*").run()

    assert ingest.table("quarantine").isEmpty()
    assert ingest.table("dispatch_events").count() == sum(len(capture_lines(name)) for name in ("p1_batches", "f_limit_above_need"))


def test_a_missing_folder_is_refused_by_name(tmp_path: Path, ingest_into: Callable) -> None:
    with pytest.raises(BadConfig, match="not_there"):
        ingest_into(tmp_path / "not_there").run()
