"""Who writes a warehouse asks of what is newest."""

from query.conftest import append, event

from pipeline.query.newest_room import NewestRoom
from pipeline.warehouse.layout import Warehouse


def test_each_question_finds_the_tables_as_they_are_then(two_days: Warehouse) -> None:
    look = NewestRoom(two_days)
    count = "SELECT count(*) AS events FROM dispatch_events"
    assert look.rows(count) == [{"events": 3}]
    append(two_days, "dispatch_events", [event(4, day=6)])
    assert look.rows(count) == [{"events": 4}]
    append(two_days, "dispatch_events", [event(5, day=6)])
    assert sum(batch.num_rows for batch in look.batches("SELECT seq FROM dispatch_events")) == 5
