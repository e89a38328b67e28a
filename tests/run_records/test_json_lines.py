"""Lines for log collectors: each is one object that says when, what, of which run, query and micro-batch."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipeline.upkeep.run_records.json_lines import lines_writer, log_entry
from pipeline.upkeep.run_records.outbox import Outbox

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


def test_a_line_has_its_head_first_and_leaves_out_what_is_not_known(tmp_path: Path) -> None:
    write = lines_writer(tmp_path / "log.jsonl")
    write([log_entry(NOON, "INFO", "r1", "micro_batch", query="lanes", micro_batch=812, lost=0, files_behind=None, began_at=NOON)], 0)
    write([log_entry(NOON, "WARN", "r1", "files_grew", files=2, text="ä\n")], 1)
    first, second = (tmp_path / "log.jsonl").read_text(encoding="utf-8").splitlines()
    assert list(json.loads(first).items()) == [
        ("ts", "2026-11-22T12:00:00+00:00"), ("level", "INFO"), ("run_id", "r1"), ("event", "micro_batch"), ("query", "lanes"),
        ("micro_batch", 812), ("lost", 0), ("began_at", "2026-11-22T12:00:00+00:00"),
    ]  # fmt: skip
    assert json.loads(second) == {
        "ts": "2026-11-22T12:00:00+00:00", "level": "WARN", "run_id": "r1", "event": "files_grew", "files": 2, "text": "ä\n",
    }  # fmt: skip


def test_a_file_that_was_renamed_by_logrotate_is_made_anew(tmp_path: Path) -> None:
    write = lines_writer(tmp_path / "log.jsonl")
    write([{"n": 1}], 0)
    (tmp_path / "log.jsonl").rename(tmp_path / "log.jsonl.1")
    write([{"n": 2}], 1)
    assert [(tmp_path / name).read_text() for name in ("log.jsonl.1", "log.jsonl")] == ['{"n": 1}\n', '{"n": 2}\n']


def test_a_full_disk_is_kept_as_a_fault_of_the_outbox() -> None:
    full = Path("/dev/full")
    assert full.exists(), "the test needs the device that is always full"
    box = Outbox("watch.log_file", lines_writer(full), interval_s=0.01)
    box.put({"n": 1})
    box.close()
    assert box.join(30)
    assert isinstance(box.fault, OSError)
    assert "No space left on device" in str(box.fault)
    assert (box.failures, box.given_up) == (3, 1)


def test_after_a_line_that_was_cut_short_the_next_one_stands_on_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk took half of a line; it is written again when there is room."""
    file = tmp_path / "log.jsonl"
    write = lines_writer(file)
    really_open = Path.open

    class Filling:
        def __init__(self) -> None:
            self._file = really_open(file, "ab", buffering=0)

        def __enter__(self) -> "Filling":
            return self

        def __exit__(self, *_: object) -> None:
            self._file.close()

        def write(self, data: bytes) -> int:
            if file.stat().st_size:
                raise OSError(28, "No space left on device")
            return self._file.write(data[:4])

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", lambda *_args, **_kwargs: Filling())
        with pytest.raises(OSError, match="No space left"):
            write([{"n": 1}, {"n": 2}], 0)
    write([{"n": 1}, {"n": 2}], 0)
    assert file.read_text().splitlines() == ['{"n"', '{"n": 1}', '{"n": 2}']
