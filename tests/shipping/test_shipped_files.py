"""What is shipped, in which order, and what is noted. Without Kafka."""

import gzip
import io
import os
from pathlib import Path

import pytest

from pipeline.faults import BadConfig
from pipeline.sources.shipping.folder import to_ship
from pipeline.sources.shipping.lines import Record, records_of
from pipeline.sources.shipping.not_shipped import NotShipped
from pipeline.sources.shipping.place import ShippedFiles
from pipeline.sources.shipping.shipment import Shipment


def put(folder: Path, name: str, content: bytes, second: int = 0) -> Path:
    """A file that was finished at a second."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, (second, second))
    return path


class Topic:
    """Takes records as a Sender does, but for those longer than `most` bytes; ends before a record if it is to."""

    def __init__(self, ends_at: int | None = None, most: int = 1_000_000) -> None:
        self.lines: list[bytes] = []
        self._too_long: list[int] = []
        self._ends_at, self._most = ends_at, most

    def send(self, record: Record) -> None:
        if len(self.lines) == self._ends_at:
            raise KeyboardInterrupt
        if len(record.line) > self._most:
            self._too_long.append(record.number)
        else:
            self.lines.append(record.line)

    def confirm(self) -> list[int]:
        too_long, self._too_long = self._too_long, []
        return too_long


def shipment_of(folder: Path, shipped: ShippedFiles, topic: Topic) -> Shipment:
    return Shipment(folder, shipped, NotShipped(folder / "_not-shipped"), topic, lambda words: None, lambda: 0.0)


def ship(folder: Path, topic: Topic) -> list[str]:
    """Ship the folder; what was not shipped since the file of it was deleted last."""
    with ShippedFiles(folder / "_place", "t") as shipped:
        shipment_of(folder, shipped, topic).ship_finished()
    return NotShipped(folder / "_not-shipped").faults()


def noted(folder: Path) -> dict[str, int]:
    with ShippedFiles(folder / "_place", "t") as shipped:
        return shipped.names


def test_finished_files_are_shipped_the_oldest_first(tmp_path: Path) -> None:
    put(tmp_path, "b-1-9.jsonl.gz", b"", 1)
    put(tmp_path, "a-1-1.jsonl.zst", b"", 2)
    put(tmp_path, "host/c-1-1.jsonl", b"", 0)
    for other in ("_unfinished-b-1-10", "_unfinished-b-1-10.jsonl", ".hidden.jsonl", "_old/x.jsonl", "readme.txt"):
        put(tmp_path, other, b"")
    assert [file.name for file in to_ship(tmp_path, {})] == ["host/c-1-1.jsonl", "b-1-9.jsonl.gz", "a-1-1.jsonl.zst"]


def test_a_file_that_is_noted_is_not_shipped_again_unless_its_length_changed(tmp_path: Path) -> None:
    put(tmp_path, "a.jsonl", b"1\n")
    assert to_ship(tmp_path, {"a.jsonl": 2}) == []
    assert [file.bytes for file in to_ship(tmp_path, {"a.jsonl": 1})] == [2]


def test_a_record_is_a_line_and_its_key_the_broker() -> None:
    lines = b'{"v":1,"broker":"b:1","seq":1}\n\n \r\n{"seq":2, "broker" : "c"}\r\nrubbish'
    faults: list[str] = []
    expected = [(b"b:1", b'{"v":1,"broker":"b:1","seq":1}', 1), (b"c", b'{"seq":2, "broker" : "c"}', 4), (None, b"rubbish", 5)]
    assert list(records_of(io.BytesIO(lines), "x.jsonl", faults)) == expected
    assert list(records_of(io.BytesIO(gzip.compress(lines)), "x.jsonl.gz", faults)) == expected
    assert faults == []


def test_of_a_damaged_file_all_that_can_be_read_is_shipped_and_the_damage_is_named() -> None:
    faults: list[str] = []
    whole = gzip.compress(os.urandom(40_000).hex().encode() + b"\nsecond\n")
    records = list(records_of(io.BytesIO(gzip.compress(b"first\n") + whole[:20_000]), "x.jsonl.gz", faults))
    assert records[0] == (None, b"first", 1)
    assert len(records) == 2
    assert faults == ["x.jsonl.gz: the gzip stream ends early; what could be read of it is shipped"]


def test_a_shipper_that_was_killed_begins_its_file_anew_and_no_other(tmp_path: Path) -> None:
    put(tmp_path, "1.jsonl", b"1\n2\n", 1)
    put(tmp_path, "2.jsonl", b"3\n4\n", 2)
    first, second = Topic(ends_at=3), Topic()
    with pytest.raises(KeyboardInterrupt):
        ship(tmp_path, first)
    assert noted(tmp_path) == {"1.jsonl": 4}
    assert ship(tmp_path, second) == []
    assert ship(tmp_path, second) == []
    assert (first.lines, second.lines) == ([b"1", b"2", b"3"], [b"3", b"4"])


def test_what_was_not_shipped_stays_in_a_file_until_somebody_deletes_it(tmp_path: Path) -> None:
    put(tmp_path, "1.jsonl", b"1\n\nlong\n4\nlonger\n", 1)
    put(tmp_path, "2.jsonl.gz", gzip.compress(b"5\n6\n")[:-1], 2)
    long = "1.jsonl, line {}: longer than a record may be (message.max.bytes, max.message.bytes): not shipped"
    faults = [long.format(3), long.format(5), "2.jsonl.gz: the gzip stream ends early; what could be read of it is shipped"]
    topic = Topic(most=3)
    assert ship(tmp_path, topic) == faults
    assert ship(tmp_path, topic) == faults
    assert topic.lines == [b"1", b"4", b"5", b"6"]
    (tmp_path / "_not-shipped").unlink()
    assert ship(tmp_path, topic) == []


def test_a_fault_that_is_met_again_is_named_once(tmp_path: Path) -> None:
    put(tmp_path, "1.jsonl", b"long\n", 1)
    put(tmp_path, "2.jsonl", b"2\n", 2)
    first = ship(tmp_path, Topic(most=3))
    # As if the shipper had been killed before the file was noted.
    (tmp_path / "_place").unlink()
    assert ship(tmp_path, Topic(most=3)) == first
    assert len(first) == 1


def test_names_of_deleted_files_leave_the_note(tmp_path: Path) -> None:
    put(tmp_path, "1.jsonl", b"1\n")
    ship(tmp_path, Topic())
    (tmp_path / "1.jsonl").unlink()
    put(tmp_path, "2.jsonl", b"2\n")
    ship(tmp_path, Topic())
    assert noted(tmp_path) == {"2.jsonl": 2}


def test_two_shippers_do_not_share_a_note(tmp_path: Path) -> None:
    with ShippedFiles(tmp_path / "p", "t"), pytest.raises(BadConfig, match="another shipper holds it"), ShippedFiles(tmp_path / "p", "t"):
        pass


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"topic": "u", "shipped": {}}', "what topic u has, not t"),
        ('{"topic": "t"', "cannot be read"),
        ("[]", "cannot be read"),
        ('{"topic": "t", "shipped": {"a": "x"}}', "cannot be read"),
    ],
)
def test_a_note_that_cannot_be_used_is_named(tmp_path: Path, content: str, words: str) -> None:
    (tmp_path / "p").write_text(content)
    with pytest.raises(BadConfig, match=rf"--place .*/p: .*{words}"), ShippedFiles(tmp_path / "p", "t"):
        pass


def test_a_note_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match=r"--place .*No such file"), ShippedFiles(tmp_path / "absent/p", "t"):
        pass


def append(path: Path, content: bytes) -> None:
    with path.open("ab") as out:
        out.write(content)


def test_what_is_flushed_goes_at_once_and_the_rest_with_the_finished_file(tmp_path: Path) -> None:
    growing, topic = tmp_path / "_unfinished-b-1-1", Topic(most=3)
    second = gzip.compress(b"2\nlong\n")
    put(tmp_path, growing.name, gzip.compress(b"1\n") + second[:-3])
    with ShippedFiles(tmp_path / "_place", "t") as shipped:
        shipment = shipment_of(tmp_path, shipped, topic)
        assert not shipment.ship_growing()
        assert topic.lines == [b"1"]
        append(growing, second[-3:])
        assert not shipment.ship_growing()
        assert not shipment.ship_growing()
        assert topic.lines == [b"1", b"2"]
        append(growing, gzip.compress(b"4\nlonger\n"))
        growing.rename(tmp_path / "b-1-1.jsonl.gz")
        assert shipment.ship_growing()
        shipment.ship_finished()
        assert not shipment.ship_growing()
    assert topic.lines == [b"1", b"2", b"4"]
    assert [fault.partition(":")[0] for fault in NotShipped(tmp_path / "_not-shipped").faults()] == [
        "b-1-1.jsonl.gz, line 3",
        "b-1-1.jsonl.gz, line 5",
    ]
    assert noted(tmp_path).keys() == {"b-1-1.jsonl.gz"}


def test_a_shipper_that_was_killed_ships_a_growing_file_anew(tmp_path: Path) -> None:
    put(tmp_path, "host/_unfinished-b-1-1", gzip.compress(b"1\n"))
    for lines in ([b"1"], [b"1"]):
        topic = Topic()
        with ShippedFiles(tmp_path / "_place", "t") as shipped:
            shipment_of(tmp_path, shipped, topic).ship_growing()
        assert topic.lines == lines
    assert noted(tmp_path) == {}


def test_a_damaged_growing_file_waits_for_its_end(tmp_path: Path) -> None:
    put(tmp_path, "_unfinished-b-1-1", gzip.compress(b"1\n") + b"no gzip")
    topic = Topic()
    with ShippedFiles(tmp_path / "_place", "t") as shipped:
        shipment_of(tmp_path, shipped, topic).ship_growing()
    assert topic.lines == [b"1"]
