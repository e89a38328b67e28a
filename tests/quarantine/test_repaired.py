"""The file of --from: what is taken, and what is refused, by its line."""

import json
from pathlib import Path

import pytest

from console.command_line import main
from pipeline.faults import BadConfig
from pipeline.repair.quarantine.repaired_lines import RepairedLine, read_repaired

ROW = {"source_file": "file:/a.jsonl", "source_line": 7, "raw_sha256": "ab", "raw": "{}"}


def test_a_row_of_quarantine_as_sql_prints_it_is_taken_whatever_else_is_in_it() -> None:
    text = json.dumps({**ROW, "reason": "not_json", "raw_bytes": 3})
    assert read_repaired([text, "\n", ""], "f") == [RepairedLine("file:/a.jsonl", 7, "ab", "{}")]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{half", "line 2: not JSON"),
        ("[1]", "line 2: not an object"),
        (json.dumps({**ROW, "raw": None}), "line 2: raw is not a text"),
        (json.dumps({key: value for key, value in ROW.items() if key != "raw_sha256"}), "line 2: raw_sha256 is missing"),
        (json.dumps({**ROW, "source_line": "7"}), "line 2: source_line is not a number"),
        (json.dumps({**ROW, "source_line": True}), "line 2: source_line is not a number"),
        (json.dumps({**ROW, "raw": "{}\n{}"}), "line 2: raw has more than one line"),
        (json.dumps(ROW), "line 2: line 7 of file:/a.jsonl is there twice"),
    ],
)
def test_what_cannot_be_is_named_by_its_line(text: str, words: str) -> None:
    with pytest.raises(BadConfig, match=f"--from f, {words}"):
        read_repaired([json.dumps(ROW), text], "f")


def test_a_bad_file_ends_the_command_before_it_looks_for_a_warehouse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad").write_text("{half\n", encoding="utf-8")
    (tmp_path / "latin").write_bytes(b"\xff\n")
    for file, words in (("bad", "line 1: not JSON"), ("none", "No such file"), ("latin", "can't decode")):
        assert main(["quarantine", "replay", "--warehouse", "nowhere", "--from", str(tmp_path / file)]) == 2
        assert words in capsys.readouterr().err
