"""Who answers a driver of Spark: the room, and Spark itself where only Spark reads."""

import json
from pathlib import Path
from typing import Any

import pytest
from reading.conftest import append, event

from pipeline.reading import beside_spark
from pipeline.reading.newest import NewestRoom
from pipeline.warehouse.layout import Warehouse


class ByOther:
    """Stands for Spark's look."""

    def __init__(self, _spark: Any, warehouse: Warehouse) -> None:
        self.warehouse = warehouse

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """What was asked."""
        return [{"asked of Spark": sql}]


@pytest.fixture(autouse=True)
def by_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark's look is another one here."""
    monkeypatch.setattr(beside_spark, "SparkLook", ByOther)


def test_the_room_answers_with_what_is_newest(two_days: Warehouse) -> None:
    look = NewestRoom(two_days)
    count = "SELECT count(*) AS events FROM dispatch_events"
    assert look.rows(count) == [{"events": 3}]
    append(two_days, "dispatch_events", [event(4, day=6)])
    assert look.rows(count) == [{"events": 4}]


def test_a_table_that_only_spark_reads_is_asked_of_spark_and_the_others_are_not(two_days: Warehouse) -> None:
    look = NewestRoom(two_days)
    features = ["columnMapping"]
    protocol = {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": features, "writerFeatures": features}
    entry = Path(two_days.table("names").removeprefix("file:")) / "_delta_log" / f"{2:020}.json"
    entry.write_text(json.dumps({"protocol": protocol}) + "\n", encoding="utf-8")
    assert look.rows("SELECT id FROM names") == [{"asked of Spark": "SELECT id FROM names"}]
    assert look.rows("SELECT count(*) AS events FROM dispatch_events") == [{"events": 3}]


@pytest.mark.parametrize("uri", ["hdfs://name/warehouse", "file:/data/100%/warehouse", "file:/data/a[1]/warehouse", "file:/data/what?"])
def test_a_place_that_the_room_cannot_read_is_sparks(uri: str) -> None:
    assert isinstance(NewestRoom(Warehouse(uri)), ByOther)
