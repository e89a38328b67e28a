"""`why` on the command line, over a log by hand: who is behind, and what a log tells of a broker that stopped."""

import json
from pathlib import Path

import pytest
from log_builder import TOPIC, Log
from started_broker import unread

from console.command_line import main


def behind(*, stops: bool) -> Log:
    """Nine entries and no consumer, for a minute and a half."""
    log = unread()
    log.at(60).add("quota_check", topic=TOPIC, duration_us=1).at(90).add("heartbeat", dropped=0)
    if stops:
        log.at(91).add("topic_unload", topic=TOPIC).add("broker_stop")
    return log


@pytest.mark.parametrize(("stops", "status", "counts"), [(False, "no consumer", ["9", "9"]), (True, "unknown", ["9"])])
def test_what_a_table_says_of_a_broker_that_runs_and_of_one_that_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], stops: bool, status: str, counts: list[str]
) -> None:
    (tmp_path / "events.jsonl").write_text("".join(f"{json.dumps(event)}\n" for event in behind(stops=stops).events))
    where = ["--warehouse", str(tmp_path / "warehouse")]
    assert main(["load", "--events", str(tmp_path / "events.jsonl"), *where]) == 0
    capsys.readouterr()
    assert main(["why", *where]) == 0
    _, _, row, _, as_of, *below = capsys.readouterr().out.splitlines()
    assert status in row
    assert "no_consumer" in row
    assert [word for word in row.split() if word.isdigit()] == counts
    assert as_of == f"as of 2026-11-21T11:21:{'31' if stops else '30'}Z"
    assert [line.partition(":")[0] for line in below] == ["broker_stopped"] * stops
