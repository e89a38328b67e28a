"""`right-size` of several brokers: one broker a task of Spark, and the answer of one process."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from several_brokers import warehouse_of

from console.command_line import main
from console.named_warehouse import look_at
from console.needs_after_look import needs_spark
from driver import brokers_on_spark
from driver.brokers_on_spark import of_each_broker
from jobs.right_size import SORTS
from pipeline.faults import BadWarehouse
from pipeline.query.room import ReadingRoom
from pipeline.visible import document_json
from pipeline.warehouse.layout import Warehouse
from pipeline.what_if.limited import Asked, limited
from pipeline.what_if.right_size import right_size

#: Of the quota's pair no topic has a limit.
BROKERS = {
    "east": "topic_rate_50_to_200",
    "north": "quota_raised",
    "west": "topic_rate_50_to_200",
}
WEST = "west/topic-rate-50-to-200"
LIMITED = ["east:8080", "west:8080"]
ASKED = Asked(5.0)


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """A warehouse of three brokers."""
    return warehouse_of(BROKERS, tmp_path_factory.mktemp("several"))


def _answer(warehouse: Warehouse, asked: Asked) -> str:
    """The document of one process, as the command prints it."""
    found = right_size(look_at(warehouse.root, consistent=True), asked, None)
    found["limits"].sort(key=SORTS["verdict"])
    return document_json(found)


def test_tasks_give_the_answer_of_one_process(spark: SparkSession, several: Warehouse, capsys: pytest.CaptureFixture[str]) -> None:
    jobs = _jobs(spark)
    words = ["right-size", "--keep-age", "5s", "--warehouse", several.root]
    assert main([*words, "--format", "json"]) == 1
    answer = capsys.readouterr().out.strip()
    assert answer == _answer(several, ASKED)
    assert [one["broker"] for one in json.loads(answer)["limits"]] == LIMITED
    assert [_tasks(spark, job) for job in _jobs(spark) - jobs] == [len(LIMITED)]


@pytest.mark.slow(reason="twenty logs are loaded; test_tasks_give_the_answer_of_one_process has two")
def test_twenty_brokers_are_twenty_tasks(spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    jobs = _jobs(spark)
    twenty = warehouse_of({f"b{number:02}": "topic_rate_50_to_200" for number in range(20)}, tmp_path)
    assert main(["right-size", "--keep-age", "5s", "--read-budget", "100000", "--format", "json", "--warehouse", twenty.root]) == 1
    assert capsys.readouterr().out.strip() == _answer(twenty, Asked(5.0, 100_000.0))
    assert [_tasks(spark, job) for job in _jobs(spark) - jobs] == [20]


def test_one_broker_is_answered_without_spark(
    several: Warehouse, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("driver.session.build_session", _no_session)
    words = ["right-size", "--keep-age", "5s", "--warehouse", several.root, "--format", "json"]
    for alone in (
        ["--broker", "west:8080"],
        ["persistent://west/topic-rate-50-to-200/orders"],
        ["--namespace", WEST],
    ):
        assert main([*words, *alone]) == 1
        (row,) = json.loads(capsys.readouterr().out)["limits"]
        assert row["broker"] == "west:8080"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], True),
        (["--namespace", WEST], False),
        (["--broker", "east:8080"], False),
        (["--namespace", "no/such"], False),
    ],
)
def test_a_look_tells_whether_spark_is_needed(several: Warehouse, words: list[str], expected: bool) -> None:
    assert needs_spark(["right-size", "--keep-age", "5s", "--warehouse", several.root, *words]) is expected


def test_a_warehouse_that_is_not_there_is_left_to_the_command(tmp_path: Path) -> None:
    assert not needs_spark(["right-size", "--keep-age", "5s", "--warehouse", str(tmp_path)])


def test_tasks_read_at_the_cut_of_the_driver(spark: SparkSession, several: Warehouse) -> None:
    look = look_at(several.root, consistent=True)
    assert look.cut is not None
    brokers = limited(look, ASKED, None)
    earlier = replace(look.cut, versions={**look.cut.versions, "dispatch_events": 0})
    parts = of_each_broker(spark, ReadingRoom(several, cut=earlier), ASKED, brokers)
    assert [part["limits"] for part in parts] == [[]] * len(brokers)
    assert parts[0]["without_answer"][0]["reasons"] == [f"the log has no event of {brokers[0].topics[0]} on east:8080"]


def test_a_room_stays_at_the_cut_that_it_was_given(several: Warehouse) -> None:
    look = look_at(several.root, consistent=True)
    assert look.cut is not None
    room = ReadingRoom(several, cut=replace(look.cut, versions={**look.cut.versions, "dispatch_events": 0}))
    for _ in range(2):
        assert room.rows("SELECT count(*) AS events FROM dispatch_events") == [{"events": 0}]
        assert room.refresh() == []


def test_a_host_without_the_warehouse_is_named(
    spark: SparkSession, several: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This process has it: it asks how large the brokers are."""
    look = look_at(several.root, consistent=True)
    monkeypatch.setattr(brokers_on_spark, "_events_of", lambda _: {})
    brokers = limited(look, ASKED, None)
    look.warehouse = Warehouse(f"file:{tmp_path}/elsewhere")
    with pytest.raises(BadWarehouse, match=r"elsewhere is not the same folder on .*: on a cluster, choose a folder that all hosts share"):
        of_each_broker(spark, look, ASKED, brokers)


def _jobs(spark: SparkSession) -> set[int]:
    """Jobs that the session has run."""
    return set(spark.sparkContext.statusTracker().getJobIdsForGroup())


def _tasks(spark: SparkSession, job: int) -> int:
    tracker = spark.sparkContext.statusTracker()
    about = tracker.getJobInfo(job)
    assert about is not None
    stages = [tracker.getStageInfo(stage) for stage in about.stageIds]
    return sum(stage.numTasks for stage in stages if stage is not None)


def _no_session(*_: object) -> None:
    raise AssertionError("Spark was started")
