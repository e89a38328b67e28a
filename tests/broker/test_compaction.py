"""A compaction that fails, from the broker's failure to what `explain` prints of it."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from scenarios.compactions import CACHE, CURSOR, FAILURES, LEFT
from theatre import Played, Theatre

from console.command_line import main

pytestmark = [pytest.mark.broker, pytest.mark.of_scenario("failing_compaction")]
#: By the name of Pulsar's class: what a read that takes too long ends with.
FAULT = "LowOverheadTimeoutException"
#: `explain TOPIC` ends with it where a quota is exceeded.
EXCEEDED = 1
Explain = Callable[..., tuple[int, str]]


@pytest.fixture
def explain(theatre: Theatre, capsys: pytest.CaptureFixture[str]) -> Explain:
    """The command, over the warehouse of the live job: exit status and what it prints."""

    def asked(*words: str) -> tuple[int, str]:
        capsys.readouterr()
        code = main(["explain", *words, "--warehouse", theatre.warehouse.root])
        return code, capsys.readouterr().out

    return asked


def topic_of(played: Played) -> str:
    """The topic of the scenario."""
    return f"persistent://real/{played.scenario.name.replace('_', '-')}/t"


def of_broker(played: Played) -> Any:
    """The broker's statistics of the cursor, asked when nothing moved."""
    stats = json.loads((played.capture / "stats.json").read_text(encoding="utf-8"))
    return stats[topic_of(played)]["subscriptions"][CURSOR]


def last_check(played: Played) -> dict[str, Any]:
    """What the last quota check had of the cursor."""
    rows = [row for row in played.tables["subscription_backlog"] if row["subscription"] == CURSOR]
    return max(rows, key=lambda row: int(row["check_number"]))


def test_the_log_has_every_compaction_with_its_end(played: Played) -> None:
    found = [event for event in played.all_events if event["type"] == "compaction"]
    assert [event["phase"] for event in found] == ["start", "end"] * (1 + FAILURES)
    ends = [event for event in found if event["phase"] == "end"]
    assert [event.get("error") for event in ends] == [None, *[FAULT] * FAILURES]
    # The broker waits 2 s for a message.
    assert all(event["duration_us"] >= 2_000_000 for event in ends[1:])


def test_the_log_names_the_kind_of_its_cursor(played: Played) -> None:
    kinds = {event["cursor_kind"] for event in played.all_events if event["type"] == "cursor_open" and event["sub"] == CURSOR}
    assert kinds == {"compaction"}


def test_the_tables_have_what_the_cursor_is_behind_as_the_broker_does(played: Played) -> None:
    last = last_check(played)
    broker = of_broker(played)
    assert broker["msgBacklog"] == LEFT, "the truth of the scenario"
    assert (last["cursor_kind"], last["msg_backlog"], last["backlog_size"]) == ("compaction", LEFT, broker["backlogSize"])


def test_explain_of_the_topic_names_the_cursor_and_the_failures(played: Played, explain: Explain) -> None:
    code, text = explain(topic_of(played))
    first = text.splitlines()[0]
    assert code == EXCEEDED
    assert f"its size quota is exceeded (producer_request_hold). It is filled by the cursor of compaction ({CURSOR}): {LEFT} " in first
    assert f"The last {FAILURES} compactions failed, the newest at " in first
    assert f"the last {FAILURES} compactions failed, the newest at " in text
    assert f" ({FAULT})" in text
    assert "pulsar-admin topics compaction-status" in text


def test_the_document_of_the_topic_has_the_failures(played: Played, explain: Explain) -> None:
    _, printed = explain(topic_of(played), "--format", "json")
    document = json.loads(printed)
    assert [one["error"] for one in document["compactions"]] == [None, *[FAULT] * FAILURES]
    found = {one["subscription"]: (one["cursor_kind"], one["msg_backlog"]) for one in document["subscriptions"]}
    assert found == {CURSOR: ("compaction", of_broker(played)["msgBacklog"]), CACHE: ("subscription", 0)}


def test_explain_of_the_cursor_says_it_in_its_first_line(played: Played, explain: Explain) -> None:
    # While its broker runs: of one that has stopped nobody knows who is behind.
    at = datetime.fromtimestamp(last_check(played)["check_time"] / 1e6, UTC)
    _, text = explain(topic_of(played), CURSOR, "--at", at.isoformat())
    first = text.splitlines()[0]
    assert f"The cursor of compaction ({CURSOR}) of {topic_of(played)} is behind at " in first
    assert f"The last {FAILURES} compactions failed, the newest at " in first
