"""PIP-434's own story in the tables: many consumers restart, each asks for ten thousand names at once; the feature off, and on."""

import re
from pathlib import Path
from typing import Any

import pytest
from bookkeeper.channel_story import restart_of_many
from captured_warehouse import room_over

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, dict[str, Any]]:
    """Whether the feature is on → the row of the cookbook's query; the two logs are of brokers of their own."""
    logs = [
        [event | {"broker": f"pause-{feature}"} for event in restart_of_many(consumers=50, questions=10, feature=feature).events]
        for feature in (False, True)
    ]
    room = room_over(logs, tmp_path_factory.mktemp("story"))
    page = (DOCS / "guide" / "cookbook.md").read_text(encoding="utf-8")
    found = re.search(r"^## 44\. .*?```sql\n(.*?)```", page, re.DOTALL | re.MULTILINE)
    assert found is not None
    return {row["pause_enabled"]: row for row in room.rows(found.group(1))}


def test_with_the_feature_off_all_answers_lie_in_the_broker(answers: dict[bool, dict[str, Any]]) -> None:
    assert answers[False] == {
        "broker": "pause-False", "pause_enabled": False, "settings_vocabulary": "shipped", "connections": 50, "times_unwritable": 50,
        "times_paused": 0, "longest_unwritable_s": 3.181, "requests_limited": 0, "most_bytes": 221_096_000, "most_is_exact": True,
    }  # fmt: skip


def test_with_it_on_one_answer_a_connection_does(answers: dict[bool, dict[str, Any]]) -> None:
    assert answers[True] == {
        "broker": "pause-True", "pause_enabled": True, "settings_vocabulary": "shipped", "connections": 50, "times_unwritable": 500,
        "times_paused": 500, "longest_unwritable_s": 3.1, "requests_limited": 0, "most_bytes": 29_038_400, "most_is_exact": True,
    }  # fmt: skip


def test_the_page_of_channels_has_these_numbers(answers: dict[bool, dict[str, Any]]) -> None:
    page = (DOCS / "design" / "channels.md").read_text(encoding="utf-8")
    off, on = answers[False], answers[True]
    for name, shown in (("most_bytes", "{:,}"), ("times_paused", "{}"), ("times_unwritable", "{}"), ("longest_unwritable_s", "{:.4g}")):
        before, after = (re.escape(shown.format(row[name])) for row in (off, on))
        assert re.search(rf"\| {before}(?: s)? \| {after}(?: s)? \|", page), name
