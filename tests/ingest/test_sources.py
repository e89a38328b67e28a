"""Every kind of source gives the same rows; work is shared out; a glob means what it says."""

import gzip
import json
from collections.abc import Callable
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from capture_events import capture_events
from ids_of_spark import with_ids
from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F

from pipeline.faults import BadConfig, BrokenInvariant
from pipeline.ingest import micro_batch
from pipeline.run_context import RunContext
from pipeline.settings import load_settings
from pipeline.sources import parquet_files
from pipeline.sources.jsonl_files import KIND, Prefix
from pipeline.sources.kind import open_source
from pipeline.sources.listed_files import Kind, share_out
from pipeline.sources.listing import ListedFile, files_now
from pipeline.sources.names_met import TaskNames
from pipeline.sources.parquet_files import ParquetFiles
from pipeline.sources.parse import lines
from pipeline.sources.parse.line import ParseLimits
from pipeline.sources.place import Place, find_place
from pipeline.sources.rows import REJECT, SUMMARY
from pipeline.store.files import files_at
from pipeline.store.open_tables import forget_table
from pipeline.warehouse import names
from pipeline.warehouse.names import write_names
from schemas.events import FIELDS
from schemas.ids import BROKER, SUBSCRIPTION, TOPIC, id_of
from schemas.render.spark import struct
from schemas.tables import TABLES_BY_NAME
from schemas.tables.bronze import PARSED_FIELDS

CAPTURE = Path(__file__).parents[1] / "fixtures" / "captures" / "p1_batches" / "events.jsonl.gz"
RUN = RunContext("run", "0", lambda: datetime(2026, 1, 2, tzinfo=UTC), lambda: None, lambda _: None)
LIMITS = ParseLimits(1 << 20, 1 << 16, 8192)
CONTRACT = struct([field for field in PARSED_FIELDS if field.name in FIELDS])


@pytest.mark.parametrize("kind", ["parquet", "delta"])
def test_a_table_of_events_gives_what_its_lines_would_give(spark: SparkSession, tmp_path: Path, ingest_into: Callable, kind: str) -> None:
    good = spark.read.schema(CONTRACT).json(str(CAPTURE))
    bad = good.limit(1).selectExpr("* EXCEPT (seq)", "cast(-5 as bigint) AS seq")
    good.unionByName(bad).withColumn("colour", good.seq.cast("string")).coalesce(2).write.format(kind).save(str(tmp_path / "e"))
    ingest = ingest_into(tmp_path / "e").run().run()

    events = ingest.table("dispatch_events").orderBy("seq").collect()
    expected = sorted(capture_events(CAPTURE.parent, until_as_of=False), key=lambda event: event["seq"])
    assert len(events) == len(expected)
    for row, event in zip(events, expected, strict=True):
        assert {name: value for name, value in row.asDict().items() if name in FIELDS and value is not None} == event
        assert json.loads(row.extra) == {"colour": str(event["seq"])}
    rejects = ingest.rows("quarantine", "reason", "source_file")
    assert [row.reason for row in rejects] == ["out_of_range"]
    files = ingest.rows("ingest_files", "source_file", "lines")
    assert sum(row.lines for row in files) == (len(expected) + 1 if kind == "parquet" else 0)
    assert {row.source_file for row in files} == ({row.source_file for row in [*events, *rejects]} if kind == "parquet" else set())


def odd_parquet(folder: Path) -> None:
    """A file of several row groups with types that are not the contract's, and one of other columns."""
    folder.mkdir()
    events = [event for event in capture_events(CAPTURE.parent, until_as_of=False) if event["type"] in ("read", "dispatch", "publish")][:90]
    table = pa.Table.from_pylist([{name: event.get(name) for name in ("topic", "sub", "sub_type", *events[0])} | event for event in events])
    narrow = table.set_column(table.schema.get_field_index("seq"), "seq", table["seq"].cast(pa.int32()))
    named = narrow.set_column(narrow.schema.get_field_index("type"), "type", narrow["type"].dictionary_encode())
    odd = named.append_column("colour", pa.array([None, True, False] * (len(events) // 3)))
    odd = odd.append_column("when", pa.array([datetime(2026, 1, 2, tzinfo=UTC)] * len(events), pa.timestamp("us", tz="UTC")))
    odd = odd.append_column("counts", pa.array([[1, None, 3]] * len(events)))
    pq.write_table(odd, folder / "a b%20+c.parquet", row_group_size=7)
    wrong = narrow.slice(0, 3).set_column(table.schema.get_field_index("epoch"), "epoch", pa.array([5, None, 1_795_000_000_000]))
    pq.write_table(wrong.drop_columns(["ts"]), folder / "wrong.parquet")
    pq.write_table(narrow.slice(0, 0), folder / "empty.parquet")


def rows_of(kind: Kind, file: Path, parts: int = 1) -> list[dict[str, Any]]:
    """Events and rejected lines of a file that is read in parts, in their order, and the summaries' sums at the end."""
    rows, lines, rejects, truncated = [], 0, 0, False
    for part in range(parts):
        for batch in kind.read(ListedFile(f"file:{file}", file.stat().st_size, part, parts), LIMITS, TaskNames()):
            found = batch.to_pylist()
            rows += [row for row in found if row["row_kind"] != SUMMARY]
            for summary in (row["summary"] for row in found if row["row_kind"] == SUMMARY):
                lines, rejects = lines + summary["lines"], rejects + summary["rejects"]
                truncated = truncated or summary["truncated"]
    return [*rows, {"lines": lines, "rejects": rejects, "truncated": truncated}]


def test_parquet_of_other_types_gives_events_and_its_parts_are_the_whole(tmp_path: Path) -> None:
    odd_parquet(tmp_path / "e")
    file = tmp_path / "e" / "a b%20+c.parquet"
    *rows, summary = rows_of(parquet_files.KIND, file)
    assert summary == {"lines": 90, "rejects": 0, "truncated": False}
    events = [event for event in capture_events(CAPTURE.parent, until_as_of=False) if event["type"] in ("read", "dispatch", "publish")][:90]
    assert [{name: value for name, value in row.items() if name in FIELDS and value is not None} for row in rows] == events
    assert {row["source_file"] for row in rows} == {f"file:{file}"}
    assert [rows_of(parquet_files.KIND, file, parts) for parts in (2, 5, 40)] == [[*rows, summary]] * 3
    wrong = rows_of(parquet_files.KIND, tmp_path / "e" / "wrong.parquet")
    assert [row["row_kind"] for row in wrong[:-1]] == [REJECT] * 3


def broken_log(text: bytes) -> bytes:
    """A log that begins with a mark, and has blank and broken lines, ends of Windows, a line beyond limits, and none at its end."""
    events = text.splitlines()
    events[5:5] = [b"", b"{", b" "]
    events[40] += b"\r"
    beyond = events[60][:-1] + b', "note": "' + b"x" * (1 << 18) + b'"}'
    return b"\xef\xbb\xbf" + b"\n".join([*(events * 3), beyond, *events[:50], events[1][:30]])


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "cut.jsonl.gz", "damaged.jsonl.zst"])
def test_the_parts_of_a_file_of_lines_are_the_whole(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "BLOCK_BYTES", 20_000)
    monkeypatch.setattr(lines, "LONGEST_WHOLE_LINE", 1 << 17)
    monkeypatch.setattr(lines, "_READ_BYTES", 3_000)
    content = broken_log(gzip.decompress(CAPTURE.read_bytes()))
    if name.endswith(".gz"):
        content = gzip.compress(content)
    if name.endswith(".zst"):
        frames = [content[start : start + 20_000] for start in range(0, len(content), 20_000)]
        content = b"".join(map(zstandard.compress, frames))
    if name.startswith("cut"):
        content = content[:-4_000]
    if name.startswith("damaged"):
        content = content[: len(content) // 2] + b"\0" * 100 + content[len(content) // 2 + 100 :]
    (tmp_path / name).write_bytes(content)
    whole = rows_of(KIND, tmp_path / name)
    assert len(whole) > 500
    assert whole[-1]["truncated"] == name.startswith(("cut", "damaged"))
    for parts in (2, 3, 7):
        assert rows_of(KIND, tmp_path / name, parts) == whole, f"{parts} parts"
    counts = [len(rows_of_part(tmp_path / name, part)) for part in range(3)]
    if not whole[-1]["truncated"]:
        assert min(counts) > 0, "no part is empty"


def rows_of_part(file: Path, part: int) -> list[pa.RecordBatch]:
    """Batches of a third of a file, without the summary."""
    return list(KIND.read(ListedFile(f"file:{file}", file.stat().st_size, part, 3), LIMITS, TaskNames()))[:-1]


def test_a_stream_that_gives_less_than_it_is_asked_for_changes_nothing() -> None:
    class Slow(BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(min(size or 0, 3))

    stream = Prefix(Slow(b"0123456789"), 9)
    assert [stream.read(8), stream.read(8), stream.read(8)] == [b"01234567", b"8", b""]


def test_parquet_that_is_cut_short_is_named(tmp_path: Path, ingest_into: Callable) -> None:
    odd_parquet(tmp_path / "e")
    file = tmp_path / "e" / "wrong.parquet"
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(StreamingQueryException, match=r"BadWarehouse: .*wrong\.parquet cannot be read as Parquet"):
        ingest_into(tmp_path / "e").run()


def listed_by_spark(spark: SparkSession, place: Place) -> list[str]:
    """Wanted files of the place as Spark's own source lists them, which the stream follows."""
    try:
        files = spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(place.load)
    except AnalysisException as refused:
        if refused.getCondition() != "PATH_NOT_FOUND":
            raise
        return []  # a glob that matches nothing
    return [row.path for row in files.where(F.col("path").rlike(place.wanted)).select("path").collect()]


@pytest.mark.parametrize(
    ("glob", "taken"),
    [
        ("**/*.jsonl", {"a.jsonl", "x/b.jsonl", "x/y/c.jsonl", "linked/e.jsonl"}),
        ("x/**", {"x/b.jsonl", "x/y/c.jsonl", "x/y/n.txt"}),
        ("*/b.jsonl", {"x/b.jsonl"}),
        ("x*", {"x/b.jsonl", "x/y/c.jsonl"}),
        ("**/{a,c}.jsonl", {"a.jsonl", "x/y/c.jsonl"}),
        ("**/[!abe].jsonl", {"x/y/c.jsonl"}),
        ("?.jsonl", {"a.jsonl"}),
        ("", {"a.jsonl", "x/b.jsonl", "x/y/c.jsonl", "linked/e.jsonl"}),
        ("nothing*", set()),
        ("*/*.jsonl", {"x/b.jsonl", "_h/d.jsonl", ".h/d.jsonl", "linked/e.jsonl"}),
        ("_h", {"_h/d.jsonl"}),
        ("_*", {"_h/d.jsonl"}),
        ("[^x]*/{d,e}.jsonl", {"_h/d.jsonl", ".h/d.jsonl", "linked/e.jsonl"}),
        ("{x/{b,n},x/y/c,l*/e}.jsonl", {"x/b.jsonl", "x/y/c.jsonl", "linked/e.jsonl"}),
        ("linked", {"linked/e.jsonl"}),
    ],
)
def test_globs(spark: SparkSession, tmp_path: Path, glob: str, taken: set[str]) -> None:
    root = tmp_path / "r [1] (a+b) %41"
    hidden = ("_h/d.jsonl", ".h/d.jsonl", "_h/.g/f.jsonl", "x/.b.jsonl")
    for name in ("a.jsonl", "x/b.jsonl", "x/y/c.jsonl", "x/y/n.txt", *hidden, "../elsewhere/e.jsonl"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("{}\n")
    (root / "linked").symlink_to(root / "../elsewhere")
    place = find_place(files_at(str(root)), f"{root}/{glob}", (".jsonl",))
    assert {path.removeprefix(f"file:{root}/") for path in listed_by_spark(spark, place)} == taken
    assert [file.path.removeprefix(f"file:{root}/") for file in files_now(place)] == sorted(taken)


def test_spark_gets_the_name_of_a_place_that_hadoop_knows(lake: str) -> None:
    """Hadoop has no file system for `s3:`, by which all others know the place."""
    files_at(lake).write(f"{lake}/lines/a.jsonl", "{}")
    files_at(lake).write(f"{lake}/table/_delta_log/{0:020}.json", "{}")
    other = lake.replace("s3a:", "s3:")
    settings = load_settings(None, [], {})
    lines, glob, table = (open_source(f"{other}/{place}", settings) for place in ("lines", "lines/*.jsonl", "table"))
    assert (lines.place.load, glob.place.load, table.path) == (f"{lake}/lines", f"{lake}/lines/*.jsonl", f"{lake}/table")


def test_a_glob_is_no_delta_table(spark: SparkSession, tmp_path: Path) -> None:
    settings = load_settings(None, ["ingest.source_format=delta"], {})
    with pytest.raises(BadConfig, match=r"ingest\.source_format"):
        open_source(f"{tmp_path}/*", settings)


@pytest.mark.parametrize(
    "file", ["a.parquet", "below/A.PARQUET", "_date=1/a.parquet", "_temporary/a.parquet", ".b/a.parquet", "_a.parquet", "a.jsonl"]
)
def test_a_folder_is_parquet_if_spark_would_list_such_a_file(spark: SparkSession, tmp_path: Path, file: str) -> None:
    path = tmp_path / "a%20b c" / file
    path.parent.mkdir(parents=True)
    path.write_text("x")
    place = find_place(files_at(str(tmp_path)), str(tmp_path / "a%20b c"), parquet_files.SUFFIXES)
    listed = [path for path in listed_by_spark(spark, place) if path.endswith(".parquet")]
    found = open_source(str(tmp_path / "a%20b c"), load_settings(None, [], {}))
    assert isinstance(found, ParquetFiles) == bool(listed)


def test_two_texts_with_one_id_stop_ingest(
    spark: SparkSession, tmp_path: Path, ingest_into: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest = ingest_into(tmp_path)
    used = [("b", "t", "s"), ("b", "t", None), ("b", None, None)]
    write_names(used, ingest.warehouse, "q", 0)
    write_names(used, ingest.warehouse, "q", 1)
    named = [(row.level, row.broker, row.topic, row.subscription) for row in ingest.rows("names", *TABLES_BY_NAME["names"].names)]
    assert sorted(named, key=str) == [("broker", "b", None, None), ("subscription", None, "t", "s"), ("topic", None, "t", None)]
    monkeypatch.setattr(names, "id_of", lambda level, *texts: id_of(level, *("t" if text == "other" else text for text in texts)))
    with pytest.raises(BrokenInvariant, match="other"):
        write_names([("b", "other", None)], ingest.warehouse, "q", 2)
    with pytest.raises(BrokenInvariant, match="other"):
        names.texts_of_ids([("b", "other", None), ("b", "t", None)])


def test_the_driver_computes_the_ids_of_bronze(spark: SparkSession) -> None:
    """Known answers of Spark's hash: short and long texts, bytes beyond ASCII, the empty text."""
    texts = ["b", "", "persistent://public/default/orders-partition-0", "ä€😀", "x" * 31, "x" * 32, "x" * 33, "x" * 1000]
    rows = [(broker, topic, sub, 0) for broker, topic, sub in zip(texts, texts[1:], texts[2:], strict=False)]
    frame = with_ids(spark.createDataFrame(rows, "broker string, topic string, sub string, ts long"), 0)
    for row in frame.collect():
        found = id_of(BROKER, row.broker), id_of(TOPIC, row.topic), id_of(SUBSCRIPTION, row.topic, row.sub)
        assert found == (row.broker_id, row.topic_id, row.sub_id)


def test_ids_are_null_safe_and_dates_are_utc(spark: SparkSession) -> None:
    rows = "('b', null, 's', 1795219199999999L), ('t', 't', null, 1795219200000000L)"
    frame = with_ids(spark.sql(f"SELECT * FROM VALUES {rows} AS e(broker, topic, sub, ts)"), 4)
    first, second = frame.orderBy("ts").collect()
    assert (first.topic_id, first.sub_id, second.sub_id) == (0, 0, 0)
    assert second.topic_id != second.broker_id
    assert [str(first.event_date), str(second.event_date)] == ["2026-11-20", "2026-11-21"]


def test_work_is_shared_out_evenly_and_always_alike() -> None:
    mib = 1 << 20
    files = [ListedFile(f"file:/{number:02}.jsonl", (number + 1) * mib) for number in range(40)]
    shares = share_out(files, 4, KIND)
    assert shares == share_out(files[::-1], 4, KIND)
    assert sorted(file for share in shares for file in share) == sorted(files)
    loads = [sum(file.length for file in share) for share in shares]
    assert len(loads) == 4
    assert max(loads) - min(loads) <= mib


@pytest.mark.parametrize(
    ("lengths", "cores", "tasks"),
    [([10] * 50, 8, 1), ([8 << 20] * 3, 8, 3), ([1 << 30], 8, 8), ([1 << 30] * 9, 2, 9), ([64 << 20] * 9, 2, 4), ([0], 4, 1), ([], 4, 0)],
)
def test_few_tasks_for_little_work_and_more_than_cores_for_much(lengths: list[int], cores: int, tasks: int) -> None:
    assert len(share_out([ListedFile(f"{number}.jsonl", length) for number, length in enumerate(lengths)], cores, KIND)) == tasks


def test_a_task_hands_over_each_name_once_and_none_when_there_are_too_many() -> None:
    met = TaskNames(most=3)

    def new_in(*names: tuple[str | None, ...]) -> list[tuple[str | None, ...]] | None:
        columns = [pa.array(column, pa.string()) for column in zip(*names, strict=True)]
        new = met.new_in(pa.RecordBatch.from_arrays(columns, names=["broker", "topic", "sub"]))
        return None if new is None else sorted((tuple(name.values()) for name in new), key=str)

    assert new_in(("b", "t", "s"), ("b", None, None), ("b", "t", "s")) == [("b", "t", "s"), ("b", None, None)]
    assert new_in(("b", "t", "s"), ("b", "t", None)) == [("b", "t", None)]
    assert new_in(("b", "u", "s")) is None
    assert new_in(("b", "t", "s")) is None


def test_names_that_tasks_hand_over_are_those_of_bronze(tmp_path: Path, ingest_into: Callable) -> None:
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / CAPTURE.name).write_bytes(CAPTURE.read_bytes())
    ingest = ingest_into(tmp_path / "e").run()
    by_tasks = ingest.rows("names", "*")
    micro = micro_batch.MicroBatch(ingest.spark, ingest.warehouse, RUN, "ingest", "another", 0)
    read_back = micro_batch.used_names(micro, [Row(names=None)])
    ingest.table("names").limit(0).write.format("delta").mode("overwrite").save(ingest.warehouse.table("names"))
    forget_table(ingest.warehouse.table("names"))
    names.write_names(read_back, ingest.warehouse, "another", 0)

    assert len(by_tasks) > 3
    assert ingest.rows("names", "*") == by_tasks


def test_what_is_appended_while_a_file_is_read_is_left_alone() -> None:
    stream = Prefix(BytesIO(b"0123456789"), 7)
    assert [stream.read(4), stream.read(4), stream.read(4), stream.read()] == [b"0123", b"456", b"", b""]
