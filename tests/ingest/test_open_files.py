"""Files that a collector is still writing: read as far as they are whole, once, whatever happens to the job and to the collector."""

import gzip
import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from pyspark.errors import StreamingQueryException

from pipeline.faults import BadWarehouse
from pipeline.ingest import micro_batch
from pipeline.ingest.first_listing import first_listed
from pipeline.ingest.following import followed
from pipeline.query.newest_room import NewestRoom
from pipeline.settings import default_settings
from pipeline.sources.growing import UNFINISHED, Part, whole_part
from pipeline.sources.jsonl_files import KIND, SUFFIXES, JsonlFiles
from pipeline.sources.kind import parse_limits
from pipeline.sources.listed_files import files_of, share_out
from pipeline.sources.listing import ListedFile
from pipeline.sources.names_met import TaskNames
from pipeline.sources.open_files import look
from pipeline.sources.place import Place, find_place
from pipeline.sources.rows import EVENT, SUMMARY
from pipeline.store.files import files_at
from pipeline.store.local_files import LocalFiles
from pipeline.upkeep.leftovers import old_listings
from pipeline.warehouse.checkpoint import offset_entry, read_checkpoint
from pipeline.warehouse.guard import check_checkpoint
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.offsets import is_same_input, source_offsets, with_another_source

LIMITS = parse_limits(default_settings().ingest)


def member(*seqs: int) -> bytes:
    """What a collector appends at once."""
    events = (
        {
            "v": 1,
            "broker": "b:1",
            "epoch": 1_795_000_000_000,
            "seq": seq,
            "ts": 1_795_000_000_000_000 + seq,
            "type": "topic_load",
            "topic": "t",
        }
        for seq in seqs
    )
    return gzip.compress("".join(json.dumps(event) + "\n" for event in events).encode(), 1)


def append(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(content)


def finish(path: Path) -> Path:
    """As the collector does: the file gets its final name."""
    return path.rename(path.with_name(path.name.removeprefix(UNFINISHED) + ".jsonl.gz"))


def place_of(events: Path | str) -> Place:
    return find_place(files_at(str(events)), str(events), SUFFIXES)


def test_a_part_ends_with_its_last_whole_member_wherever_reading_stops(tmp_path: Path) -> None:
    chance = Random(5)
    whole = [gzip.compress(chance.randbytes(chance.randrange(1, 90_000)) + b"\n") for _ in range(20)]
    text = b"".join(whole)
    ends = [sum(map(len, whole[:count])) for count in range(len(whole) + 1)]
    lines = [sum(gzip.decompress(one).count(b"\n") for one in whole[:count]) for count in range(len(whole) + 1)]
    file, part = tmp_path / "f", Part()
    for end in sorted({*(chance.randrange(len(text)) for _ in range(60)), *ends}):
        file.write_bytes(text[:end])
        with file.open("rb") as stream:
            part = whole_part(stream, part)
        count = max(number for number, at in enumerate(ends) if at <= end)
        assert part == (ends[count], lines[count])


def test_a_look_sees_whole_members_of_wanted_files_under_their_finished_names(tmp_path: Path) -> None:
    first, second = member(1, 2), member(3)
    append(tmp_path / "host a" / f"{UNFINISHED}b-1-1", first + second[:-1])
    append(tmp_path / "_hidden" / f"{UNFINISHED}b-1-1", first)
    append(tmp_path / f"{UNFINISHED}c-1-1", b"")
    append(tmp_path / f"{UNFINISHED}left-1-1", first)
    append(tmp_path / "left-1-1.jsonl.gz", first)
    place = place_of(tmp_path)
    file = f"file:{tmp_path}/host a/b-1-1.jsonl.gz"
    seen = look(place, {})
    assert seen == {file: Part(len(first), 2)}
    append(tmp_path / "host a" / f"{UNFINISHED}b-1-1", second[-1:] + b"no gzip")
    assert look(place, seen) == {file: Part(len(first + second), 3)}
    assert look(place_of(f"{tmp_path}/host*/b-*"), {}).keys() == {file}
    assert look(place_of(f"{tmp_path}/**/c-*"), {}) == {}
    assert look(place_of(tmp_path / "left-1-1.jsonl.gz"), {}) == {}


def test_a_finished_file_stays_until_it_is_gone(tmp_path: Path) -> None:
    place, names = place_of(tmp_path), ("a-1-1", "b-1-1", "c-1-1")
    for name in names:
        append(tmp_path / f"{UNFINISHED}{name}", member(1))
    seen = look(place, {})
    a, b, c = (f"file:{tmp_path}/{name}.jsonl.gz" for name in names)
    assert list(seen) == [a, b, c]
    for name in names[:2]:
        finish(tmp_path / f"{UNFINISHED}{name}")
    assert look(place, seen) == seen
    (tmp_path / "a-1-1.jsonl.gz").unlink()
    assert look(place, seen).keys() == {b, c}


def test_a_host_that_sees_less_of_an_open_file_is_no_end_of_it(tmp_path: Path) -> None:
    growing = tmp_path / f"{UNFINISHED}b-1-1"
    append(growing, member(1))
    ((file, part),) = look(place_of(tmp_path), {}).items()
    longer = ListedFile(file, part.bytes + 1, is_open=True)
    with pytest.raises(BadWarehouse, match=r"_unfinished-b-1-1 has \d+ bytes, and had \d+ when it was listed"):
        list(KIND.read(longer, LIMITS, TaskNames()))
    finish(growing)
    assert read([longer], TaskNames()) == [(file, 1, 1)]


class Listed:
    """The rows of a micro-batch, as Spark lists finished files."""

    def __init__(self, files: dict[str, int]) -> None:
        self._rows = [type("Row", (), {"path": path, "length": length}) for path, length in files.items()]

    def select(self, *_: str) -> "Listed":
        return self

    def collect(self) -> list:
        return self._rows


def read(files: list, met: TaskNames) -> list[tuple[str, int, int]]:
    """(file, line, seq) of all events of a micro-batch; what is counted must agree."""
    rows = [
        row for task in share_out(files, 2, KIND) for file in task for batch in KIND.read(file, LIMITS, met) for row in batch.to_pylist()
    ]
    events = [(row["source_file"], row["source_line"], row["seq"]) for row in rows if row["row_kind"] == EVENT]
    assert sum(row["summary"]["lines"] for row in rows if row["row_kind"] == SUMMARY) == len(events)
    return events


class Schedule:
    """A collector and a job that take turns at random. Spark's share of the job is played: it lists finished files, each once."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.chance, self.folder, self.place = Random(seed), folder, place_of(folder)
        self.seq, self.file, self.torn, self.over = 0, 0, b"", False
        self.listed: set[str] = set()
        self.number = 0
        self.events: list[tuple[str, int, int]] = []

    @property
    def open(self) -> Path:
        return self.folder / f"{UNFINISHED}b-1-{self.file:06}"

    def write(self) -> None:
        """A member, whole or torn; the rest of a torn one comes first."""
        count = self.chance.randrange(1, 4)
        content = self.torn + member(*range(self.seq + 1, self.seq + 1 + count))
        cut = self.chance.choice((len(content), self.chance.randrange(len(content))))
        append(self.open, content[:cut])
        self.seq, self.torn = self.seq + count, content[cut:]

    def roll(self) -> None:
        """A whole file is finished."""
        append(self.open, self.torn)
        self.torn = b""
        finish(self.open)
        self.file += 1

    def run(self) -> None:
        """A micro-batch, which may be run twice: the second time the collector has gone on."""
        finished = {f"file:{path}": path.stat().st_size for path in sorted(self.folder.glob("*.gz"))}
        new = {path: length for path, length in finished.items() if path not in self.listed}
        taken = dict(list(new.items())[: self.chance.randrange(3)])
        files = self.files_of(taken)
        if not self.over and self.chance.random() < 0.3:
            read(files, TaskNames())
            self.step()
            again = self.files_of(taken)
            assert again == files or not files
            files = again
        self.events += read(files, TaskNames())
        self.listed |= taken.keys()
        self.number += 1

    def files_of(self, taken: dict[str, int]) -> list[ListedFile]:
        """The files of the running micro-batch."""
        keep = first_listed(str(self.folder.parent / "checkpoint"), self.number)
        return files_of(Listed(taken), self.place, lambda: list(taken), keep, follows=True)

    def step(self) -> None:
        """What a collector does next."""
        self.chance.choice((self.write, self.write, self.roll if self.open.exists() else self.write))()


@pytest.mark.parametrize("seed", range(8))
def test_every_event_is_read_once_and_under_its_line_whatever_the_order_of_writes_renames_and_reruns(tmp_path: Path, seed: int) -> None:
    (tmp_path / "log").mkdir()
    schedule = Schedule(tmp_path / "log", seed)
    for _ in range(60):
        schedule.chance.choice((schedule.step, schedule.run))()
    schedule.write()
    schedule.roll()
    schedule.over = True
    for _ in range(60):
        schedule.run()
    lines = [
        (f"file:{path}", line, json.loads(text)["seq"])
        for path in sorted((tmp_path / "log").glob("*.gz"))
        for line, text in enumerate(gzip.decompress(path.read_bytes()).splitlines(), 1)
    ]
    assert sorted(schedule.events) == lines
    assert [seq for _, _, seq in lines] == list(range(1, schedule.seq + 1))
    (newest,) = (tmp_path / "checkpoint" / "listed").iterdir()
    kept = json.loads(newest.read_text())
    assert not isinstance(kept, dict) or kept["open"] == {}


@pytest.mark.parametrize(
    ("mode", "root", "follows"),
    [("auto", "/w", True), ("auto", "s3a://b/w", False), ("always", "s3a://b/w", True), ("never", "/w", False)],
)
def test_a_warehouse_in_a_store_is_not_asked_for_a_commit_a_second_unless_somebody_wants_it(
    tmp_path: Path, mode: str, root: str, follows: bool
) -> None:
    source = JsonlFiles(place_of(tmp_path), 10, LIMITS)
    assert followed(source, Warehouse(root), mode) == replace(source, follows=follows)


def test_a_source_that_came_later_is_the_same_input() -> None:
    entry = 'v1\n{"conf":{}}\n{"logOffset":3}'
    longer = with_another_source(entry)
    assert source_offsets(longer) == [{"logOffset": 3}, None]
    assert is_same_input(entry, longer)
    assert not is_same_input(entry, longer.replace("3", "4"))
    assert not is_same_input(entry, f'{entry}\n{{"offset":1}}')


def test_a_job_that_never_followed_begins_to_and_reads_each_event_once(tmp_path: Path, ingest_into: Callable) -> None:
    """Before, between and after: files that were finished at once, parts of an open file, its rest, and a micro-batch that is run again."""
    folder = tmp_path / "e"
    append(folder / "b-1-1.jsonl.gz", member(1, 2))
    ingest = ingest_into(folder).run().run()
    assert len(source_offsets(offset_entry(ingest.warehouse, "ingest", 0) or "")) == 1
    growing = folder / f"{UNFINISHED}b-1-3"
    append(growing, member(3) + member(4, 5)[:-5])
    ingest.run()
    assert seqs(ingest) == [1, 2, 3]
    check_checkpoint(NewestRoom(ingest.warehouse), "ingest")
    append(growing, member(4, 5)[-5:] + member(6))
    ingest.run()
    assert seqs(ingest) == [1, 2, 3, 4, 5, 6]
    append(growing, member(7))
    finish(growing)
    ingest.lose_last_commit()
    ingest.run()
    ingest.run()
    assert [(row.source_file, row.source_line, row.seq) for row in events(ingest)] == [
        (f"file:{folder}/b-1-1.jsonl.gz", 1, 1),
        (f"file:{folder}/b-1-1.jsonl.gz", 2, 2),
        *((f"file:{folder}/b-1-3.jsonl.gz", line, line + 2) for line in range(1, 6)),
    ]
    size, first = (folder / "b-1-3.jsonl.gz").stat().st_size, len(member(3))
    second = first + len(member(4, 5) + member(6))
    books = [(row.source_file.removeprefix(f"file:{folder}/b-1-"), row.bytes, row.lines) for row in ingest.rows("ingest_files", "*")]
    assert sorted(books) == [
        ("1.jsonl.gz", (folder / "b-1-1.jsonl.gz").stat().st_size, 2),
        ("3.jsonl.gz", size, 1),
        (f"3.jsonl.gz?bytes=0-{first}", first, 1),
        (f"3.jsonl.gz?bytes={first}-{second}", second - first, 3),
    ]
    assert ingest.report_grown() == 0


def test_a_crash_amid_a_part_and_a_broker_that_dies_meanwhile_cost_no_event(
    tmp_path: Path, ingest_into: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next start of the broker cuts the torn member off, and gives the file its final name."""
    folder = tmp_path / "e"
    growing = folder / f"{UNFINISHED}b-1-1"
    append(growing, member(1) + member(2)[:-4])
    ingest = ingest_into(folder)
    for crash_before in ("_commit", "write_manifest"):
        with monkeypatch.context() as patch:
            patch.setattr(micro_batch, crash_before, _crash)
            with pytest.raises(StreamingQueryException, match="the driver ended"):
                ingest.run()
    growing.write_bytes(member(1))
    finish(growing)
    append(folder / f"{UNFINISHED}b-2-1", member(9))
    ingest.run()
    ingest.run()
    assert seqs(ingest) == [1, 9]
    assert ingest.report_grown() == 0


def test_an_open_file_that_is_gone_before_it_is_read_is_missed(
    tmp_path: Path, ingest_into: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    growing = tmp_path / "e" / f"{UNFINISHED}b-1-1"
    append(growing, member(1))
    ingest = ingest_into(tmp_path / "e")
    with monkeypatch.context() as patch:
        patch.setattr(micro_batch, "_written", _crash)
        with pytest.raises(StreamingQueryException, match="the driver ended"):
            ingest.run()
    growing.unlink()
    with pytest.raises(StreamingQueryException, match=r"b-1-1\.jsonl\.gz was taken up to be read and is gone"):
        ingest.run()
    append(growing, member(1))
    ingest.run()
    assert seqs(ingest) == [1]


def test_looks_that_find_nothing_write_nothing_and_hold_nobody_up(tmp_path: Path, ingest_into: Callable) -> None:
    """A job that was started beside an empty open file, over and over: more often than Spark keeps micro-batches."""
    growing = tmp_path / "e" / f"{UNFINISHED}b-1-1"
    append(growing, b"")
    ingest = ingest_into(tmp_path / "e")
    query = ingest.live()
    wait_for(lambda: newest_committed(ingest) > 1)
    query.stop()
    check_checkpoint(NewestRoom(ingest.warehouse), "ingest")
    append(growing, member(1))
    ingest.run()
    assert ingest.table("batch_manifest").count() == 1
    read_by = newest_committed(ingest)
    query = ingest.live()
    wait_for(lambda: newest_committed(ingest) > read_by + 25)
    query.stop()
    check_checkpoint(NewestRoom(ingest.warehouse), "ingest")
    (kept,) = (Path(ingest.warehouse.checkpoint("ingest")) / "listed").iterdir()
    assert int(kept.name) <= read_by
    assert old_listings(LocalFiles(), ingest.warehouse, read_checkpoint(ingest.warehouse, "ingest")) == []
    append(growing, member(2))
    assert seqs(ingest.run()) == [1, 2]


def newest_committed(ingest) -> int:
    committed = Path(ingest.warehouse.checkpoint("ingest")) / "commits"
    return max((int(path.name) for path in committed.glob("[0-9]*") if path.name.isdigit()), default=-1)


def wait_for(done: Callable[[], bool]) -> None:
    until = time.monotonic() + 120
    while not done():
        assert time.monotonic() < until
        time.sleep(0.1)


def events(ingest) -> list:
    return sorted(ingest.rows("dispatch_events", "source_file", "source_line", "seq"), key=lambda row: row.seq)


def seqs(ingest) -> list[int]:
    return [row.seq for row in events(ingest)]


def _crash(*_: object) -> None:
    raise RuntimeError("the driver ended")
