"""What the demo prints: lines to try, each of which runs as printed, and who is behind while the broker runs."""

import shlex
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cause_rows import ORDERS

from console.command_line import main
from demo.live import Show
from demo.what_to_try import where_to_look, whom_to_explain
from jobs.explain import BEHIND
from pipeline.diagnosis import ranking as worst
from pipeline.query.room import ReadingRoom
from pipeline.warehouse.layout import Warehouse

BILLING = (ORDERS, "billing")
LINES = 6
SERVE = 0


def printed_lines(warehouse: Warehouse, explained: Sequence[str]) -> list[list[str]]:
    """The command lines as a shell splits them."""
    said = where_to_look(warehouse.root, warehouse.root, explained)
    return [shlex.split(line) for line in said.splitlines() if "spark-submit.sh" in line]


def test_why_and_explain_come_before_queries_and_a_shell_understands_names_with_a_space() -> None:
    lines = printed_lines(Warehouse("/data/my warehouse"), ("persistent://shop/eu/a topic", "it's"))
    assert [line[1] for line in lines] == ["serve", "why", "explain", "sql", "sql", "sql"]
    assert lines[2][2:4] == ["persistent://shop/eu/a topic", "it's"]
    assert [line[-2:] for line in lines] == [["--warehouse", "/data/my warehouse"]] * LINES


def test_the_one_to_explain_is_the_first_that_is_behind(room: ReadingRoom) -> None:
    assert whom_to_explain(room) == [*BILLING]


def test_topics_of_pulsar_itself_are_not_explained_nor_subscriptions_that_are_well() -> None:
    def look(*rows: tuple[str, str, str]) -> Any:
        named = [dict(zip(("topic", "subscription", "status"), row, strict=True)) for row in rows]
        return SimpleNamespace(rows=lambda query: named if "status" in query else [])

    own, well = ("persistent://shop/eu/__change_events", "reader", "stuck"), (ORDERS, "export", "keeping up")
    unknown = (ORDERS, "export", "unknown")
    assert whom_to_explain(look(own, well, unknown, (*BILLING, "held back"))) == [*BILLING]
    assert whom_to_explain(look(own, well)) == []
    assert [line[1] for line in printed_lines(Warehouse("/data"), [])] == ["serve", "why", "sql", "sql", "sql"]


def test_once_the_broker_has_stopped_it_is_the_one_that_was_behind_most_and_both_commands_have_an_answer_of_then(
    room: ReadingRoom, small_warehouse: Warehouse, capsys: pytest.CaptureFixture[Any]
) -> None:
    stopped: Any = SimpleNamespace(rows=lambda query: [] if "status" in query else room.rows(query))
    explained = whom_to_explain(stopped)
    assert explained[:3] == [*BILLING, "--at"]
    why, explain = printed_lines(small_warehouse, explained)[1:3]
    assert (why[1:4], explain[1:6]) == (["why", *explained[2:]], ["explain", *explained])
    assert main(why[1:]) == 0
    found = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert next(words[words.index(ORDERS) + 1] for words in found if ORDERS in words) == "billing"
    assert main(explain[1:]) == BEHIND
    assert capsys.readouterr().out.startswith(f"billing of {ORDERS} is behind by")


@pytest.mark.parametrize("number", range(SERVE + 1, LINES))
def test_a_line_that_the_demo_prints_runs_and_shows_rows(
    small_warehouse: Warehouse, number: int, capsys: pytest.CaptureFixture[Any]
) -> None:
    _script, command, *words = printed_lines(small_warehouse, BILLING)[number]
    assert main([command, *words]) == (BEHIND if command == "explain" else 0)
    first, *rows = capsys.readouterr().out.splitlines()
    assert rows
    if command == "why":
        *rows, _, as_of = rows
        assert as_of.startswith("as of ")
    if command == "explain":
        assert first.startswith(f"billing of {ORDERS} is behind by")
    else:
        assert first.split()[0] in ("broker", "topic", "conn")
        assert set(rows[0]) == {"-", " "}
        assert rows[1:]


def shown(warehouse: Warehouse) -> list[str]:
    broker: Any = None
    return (Show(broker, broker, Path(), warehouse, print).shown() or "").splitlines()


def test_a_breach_counts_from_the_newest_event_not_from_its_check(room: ReadingRoom) -> None:
    due: dict[tuple[str, str], datetime] = {}
    for risk in room.rows("SELECT * FROM quota_risk WHERE NOT exceeded AND breach_at IS NOT NULL ORDER BY breach_at DESC"):
        due[risk["broker"], risk["topic"]] = risk["breach_at"]
    found = [row for row in worst.worst(room) if (row["broker"], row["topic"]) in due]
    assert found
    for row in found:
        assert row["breach_in_s"] == (due[row["broker"], row["topic"]] - row["known_until"]).total_seconds()


def test_while_the_broker_runs_the_worst_comes_first_with_what_holds_it(small_warehouse: Warehouse) -> None:
    as_of, _, head, ruler, *rows = shown(small_warehouse)
    assert as_of.endswith("in the tables, as of 03:03:00")
    assert head.split()[:3] == ["subscription", "topic", "status"]
    assert set(ruler) == {"-", " "}
    assert rows[0].split()[:6] == ["billing", "shop/eu/orders", "held", "back", "topic", "msg"]


def test_topics_of_pulsar_itself_are_not_shown(small_warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    found = worst.worst(ReadingRoom(small_warehouse))
    own = {**found[0], "topic": "persistent://shop/eu/__change_events"}
    monkeypatch.setattr(worst, "worst", lambda _: [own, *found])
    assert [line for line in shown(small_warehouse) if "__change_events" in line] == []


def test_before_the_first_window_is_over_nothing_is_shown(tmp_path: Path) -> None:
    assert shown(Warehouse(f"file:{tmp_path / 'nothing'}")) == []
