"""Questions to a warehouse of another version: the answer names the table and the command that makes it anew."""

import shutil

import deltalake
import pytest
from capture_events import write_events
from loaded import load_into
from log_builder import Log

from console.command_line import main
from pipeline.faults import BadConfig, BadWarehouse
from pipeline.query.room import ReadingRoom
from pipeline.store.arrow_reader import arrow_rows
from pipeline.warehouse.layout import Warehouse


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """Its table lane_snapshots has `mark` in place of `milestone`."""
    place = tmp_path_factory.mktemp("older")
    log = Log()
    log.at(0).add("broker_start", cluster="c", version="4.0.8", log_version="1.2", settings={})
    log.at(70).add("broker_stop")
    write_events(log.events, place / "events" / "1.jsonl")
    warehouse = load_into(place / "events", place / "warehouse")
    rows = arrow_rows(warehouse.table("lane_snapshots"))
    renamed = rows.rename_columns(["mark" if name == "milestone" else name for name in rows.column_names])
    folder = warehouse.table("lane_snapshots").removeprefix("file:")
    shutil.rmtree(folder)
    deltalake.write_deltalake(folder, renamed)
    return warehouse


REFUSED = r"table lane_snapshots in .* has no column milestone: another version made it\. Compute anew: ./spark-submit\.sh rebuild lanes"


def test_a_question_that_needs_the_column_is_refused_with_the_command(older: Warehouse) -> None:
    room = ReadingRoom(older)
    for asked in (room.rows, lambda sql: list(room.batches(sql)), room.ask):
        with pytest.raises(BadWarehouse, match=REFUSED):
            asked("SELECT milestone FROM lane_snapshots")


def test_all_others_are_answered(older: Warehouse) -> None:
    room = ReadingRoom(older)
    assert room.rows("SELECT count(mark) AS rows FROM lane_snapshots")[0]["rows"] > 0
    with pytest.raises(BadConfig, match="there is no column milestones"):
        room.ask("SELECT milestones FROM lane_snapshots")


def test_a_command_ends_with_that_line(older: Warehouse, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sql", "SELECT milestone FROM lane_snapshots", "--warehouse", older.root]) != 0
    said = capsys.readouterr().err
    assert said.startswith("error: table lane_snapshots in ")
    assert said.count("\n") == 1
