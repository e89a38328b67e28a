"""A log that is loaded into an object store, and read there without Spark: as on this machine, row for row."""

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from capture_events import write_events
from loaded import contents, tables_unlike
from s3_server import BUSY, CUT_AFTER, CUT_AMID, CUT_BEFORE, S3
from upkeep_log import capture

from console.command_line import main
from console.named_warehouse import look_at_causes
from pipeline.query import delta_table
from pipeline.store.copies import send
from pipeline.store.files import files_at
from pipeline.warehouse.layout import Warehouse

CAPTURE = "p1_batches"


@pytest.fixture
def events(tmp_path: Path) -> Path:
    """A real broker's log."""
    write_events(capture(CAPTURE), tmp_path / "events" / "a.jsonl.gz")
    return tmp_path / "events"


@pytest.fixture(autouse=True)
def _copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies of files lie in a folder of the test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def load(events: Path, place: str) -> int:
    return main(["load", "--events", str(events), "--warehouse", place, "--processes", "1"])


def test_its_tables_are_those_of_this_machine_and_commands_answer(
    events: Path, lake: str, s3: S3, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert load(events, f"file:{tmp_path}/here") == 0
    assert load(events, lake.replace("s3a:", "s3:")) == 0
    assert tables_unlike(Warehouse(f"file:{tmp_path}/here"), Warehouse(lake)) == []
    assert files_at(lake).names(lake).count("_loading") == files_at(lake).names(lake).count("_driver_lock") == 0
    said = {}
    for place in (f"{tmp_path}/here", lake):
        capsys.readouterr()
        for command in (
            ["why", "--all"],
            ["sql", "SELECT count(*), sum(seq) FROM dispatch_events WHERE seq BETWEEN 5 AND 90"],
            ["sql", "SHOW TABLES"],
            ["quality"],
        ):
            assert main([*command, "--warehouse", place]) == 0
        said[place] = capsys.readouterr().out.replace(place, "")
    assert said[lake] == said[f"{tmp_path}/here"] != ""
    assert main(["status", "--warehouse", lake]) == 0
    assert "PROBLEM" not in capsys.readouterr().out
    assert load(events, lake) == 2
    assert "there is something already" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_a_log_in_the_store_is_loaded_as_one_of_this_machine(events: Path, lake: str, tmp_path: Path, kind: str) -> None:
    """A folder below a folder, and files that are hidden or have another ending."""
    if kind == "parquet":
        text = gzip.decompress((events / "a.jsonl.gz").read_bytes())
        rows = [{key: value for key, value in json.loads(line).items() if key != "settings"} for line in text.splitlines()]
        names = {name: None for row in rows for name in row}
        (events / "a.jsonl.gz").unlink()
        pq.write_table(pa.table({name: [row.get(name) for row in rows] for name in names}), events / "a.parquet", row_group_size=200)
    (file,) = events.iterdir()
    for name in (f"x y/{file.name}", f".hidden/{file.name}", f"x y/_{file.name}", "x y/notes.txt", f"other/{file.name}"):
        send(file, f"{lake}/log/{name}")
    assert load(events, f"file:{tmp_path}/here") == 0
    for number, log in enumerate((f"{lake}/log/x y", f"{lake}/log/x */[ab].{file.name.partition('.')[2]}", f"{lake}/log/x y/{file.name}")):
        there = Warehouse(f"file:{tmp_path}/there-{number}")
        assert main(["load", "--events", log, "--warehouse", there.root]) == 0
        assert set(tables_unlike(Warehouse(f"file:{tmp_path}/here"), there)) <= {"dispatch_events", "ingest_files", "quarantine"}
        assert {row["source_file"] for row in contents(there, "ingest_files").to_pylist()} == {f"{lake}/log/x y/{file.name}"}
        one, other = (contents(of, "dispatch_events") for of in (Warehouse(f"file:{tmp_path}/here"), there))
        assert one.drop_columns("source_file").equals(other.drop_columns("source_file"))


def test_a_second_question_fetches_nothing_again(
    events: Path, lake: str, s3: S3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And a table that it does not name is not fetched at all."""
    assert load(events, lake) == 0
    asked = []
    for _ in range(2):
        s3.requests.clear()
        assert main(["sql", "SELECT count(*) FROM subscription_causes", "--warehouse", lake]) == 0
        asked.append([request for request in s3.requests if request.endswith(".parquet") and "_delta_log" not in request])
    assert len(asked[0]) > 0
    assert all(request.startswith("GET wh/subscription_causes/") for request in asked[0])
    assert asked[1] == []
    for small_bytes, waits in ((1 << 20, False), (0, True)):
        with monkeypatch.context() as patch:
            patch.setattr(delta_table, "SMALL_BYTES", small_bytes)
            patch.setenv("XDG_CACHE_HOME", f"{tmp_path}/{small_bytes}")
            look = look_at_causes(lake)
            s3.requests.clear()
            assert look.rows("SELECT count(*) AS n FROM subscription_backlog")[0]["n"] > 0
            assert (s3.requests != []) == waits, "who asks several questions has copies of small tables before the first"
    for key in [key for key in s3.objects if "/limiter_windows/" in key and "_delta_log" not in key]:
        del s3.objects[key]
    monkeypatch.setenv("XDG_CACHE_HOME", f"{tmp_path}/without")
    assert look_at_causes(lake).rows("SELECT count(*) AS n FROM subscription_backlog")[0]["n"] > 0, "no question named what is gone"


def test_a_whole_bucket_may_be_a_warehouse(events: Path, s3: S3, capsys: pytest.CaptureFixture[str]) -> None:
    assert load(events, "s3a://lake") == 0
    assert main(["why", "--all", "--warehouse", "s3a://lake/"]) == 0
    assert load(events, "s3a://lake") == 2
    assert "there is something already" in capsys.readouterr().err


def test_what_a_load_left_that_was_killed_gives_way(events: Path, lake: str, capsys: pytest.CaptureFixture[str]) -> None:
    files = files_at(lake)
    files.write(f"{lake}/_loading", "")
    files.write(f"{lake}/names/half.parquet", "half")
    assert load(events, lake) == 0
    assert "half.parquet" not in files.names(f"{lake}/names")
    assert main(["why", "--all", "--warehouse", lake]) == 0


@pytest.mark.parametrize("fault", [BUSY, CUT_BEFORE, CUT_AFTER, CUT_AMID])
def test_a_store_that_fails_now_and_then_loses_and_doubles_nothing(events: Path, lake: str, s3: S3, tmp_path: Path, fault: str) -> None:
    """Every sixth request fails."""
    assert load(events, f"file:{tmp_path}/here") == 0
    count = iter(range(1_000_000))
    s3.fault = lambda method, key: fault if next(count) % 6 == 3 else None
    assert load(events, lake) == 0
    assert next(count) > 6 * 20, "twenty requests failed"
    s3.fault = lambda method, key: None
    assert tables_unlike(Warehouse(f"file:{tmp_path}/here"), Warehouse(lake)) == []


def test_a_store_that_is_not_there_is_one_line(
    events: Path, lake: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    assert main(["why", "--all", "--warehouse", lake]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.startswith("error: the object store failed: Error performing")
    assert "see the address (AWS_ENDPOINT_URL" in said
