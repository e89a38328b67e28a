"""What is shipped, in which order, and what is noted. Without Kafka."""

import gzip
import io
import os
from pathlib import Path

import pytest

from jobs.ship import ship_files
from jobs.shipping.folder import to_ship
from jobs.shipping.lines import Faults, records_of
from jobs.shipping.place import ShippedFiles
from pipeline.faults import BadConfig


def put(folder: Path, name: str, content: bytes, second: int = 0) -> Path:
    """A file that was finished at a second."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, (second, second))
    return path


class Topic:
    """Takes records as a Sender does; ends before a record if it is to."""

    def __init__(self, ends_at: int | None = None) -> None:
        self.records: list[tuple[bytes | None, bytes]] = []
        self._ends_at = ends_at

    def send(self, key: bytes | None, line: bytes) -> None:
        if len(self.records) == self._ends_at:
            raise KeyboardInterrupt
        self.records.append((key, line))

    def confirm(self) -> int:
        return 0


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
    faults = Faults()
    expected = [(b"b:1", b'{"v":1,"broker":"b:1","seq":1}'), (b"c", b'{"seq":2, "broker" : "c"}'), (None, b"rubbish")]
    assert list(records_of(io.BytesIO(lines), "x.jsonl", faults)) == expected
    assert list(records_of(io.BytesIO(gzip.compress(lines)), "x.jsonl.gz", faults)) == expected
    assert faults == []


def test_of_a_damaged_file_all_that_can_be_read_is_shipped_and_the_damage_is_named() -> None:
    faults = Faults()
    whole = gzip.compress(os.urandom(40_000).hex().encode() + b"\nsecond\n")
    records = list(records_of(io.BytesIO(gzip.compress(b"first\n") + whole[:20_000]), "x.jsonl.gz", faults))
    assert records[0] == (None, b"first")
    assert len(records) == 2
    assert faults == ["x.jsonl.gz: the gzip stream ends early; what could be read of it is shipped"]


def test_a_shipper_that_was_killed_begins_its_file_anew_and_no_other(tmp_path: Path) -> None:
    put(tmp_path, "1.jsonl", b"1\n2\n", 1)
    put(tmp_path, "2.jsonl", b"3\n4\n", 2)
    note, first, second = tmp_path / "_place.json", Topic(ends_at=3), Topic()
    with pytest.raises(KeyboardInterrupt), ShippedFiles(note, "t") as shipped:
        ship_files(tmp_path, shipped, first)  # type: ignore[arg-type]
    with ShippedFiles(note, "t") as shipped:
        assert shipped.names == {"1.jsonl": 4}
        assert ship_files(tmp_path, shipped, second)  # type: ignore[arg-type]
        assert ship_files(tmp_path, shipped, second)  # type: ignore[arg-type]
    assert [line for _, line in first.records] == [b"1", b"2", b"3"]
    assert [line for _, line in second.records] == [b"3", b"4"]


def test_names_of_deleted_files_leave_the_note(tmp_path: Path) -> None:
    put(tmp_path, "1.jsonl", b"1\n")
    with ShippedFiles(tmp_path / "_place.json", "t") as shipped:
        ship_files(tmp_path, shipped, Topic())  # type: ignore[arg-type]
        (tmp_path / "1.jsonl").unlink()
        put(tmp_path, "2.jsonl", b"2\n")
        ship_files(tmp_path, shipped, Topic())  # type: ignore[arg-type]
        assert shipped.names == {"2.jsonl": 2}


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
