"""The story in docs/guide/why.md: main cause, its share and rate, quotas that are exceeded; the tables are made without Spark.

Figures of pace, of neighbours and of rows that are current are not compared.
"""

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from captured_warehouse import warehouse_of

from demo.bundled import CAPTURE
from pipeline.diagnosis.answer import answer
from pipeline.diagnosis.words import CAUSES, rate_words
from pipeline.query.room import ReadingRoom

WHY = (Path(__file__).parents[2] / "docs" / "guide" / "why.md").read_text(encoding="utf-8")
STORY = WHY.partition("## A story: ")[2]
#: Topic, subscriptions, and what the docs have on them.
ROWS = re.findall(r"^\| `(\w+)`: ([`\w, ]+) \| (.*?) \| ", STORY, re.MULTILINE)
NAMED = [(topic, subscription, words) for topic, names, words in ROWS for subscription in re.findall(r"\w+", names)]
WHOLE_LOG = timedelta(minutes=10)


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> ReadingRoom:
    """Over the demo's log."""
    return ReadingRoom(warehouse_of([CAPTURE], tmp_path_factory.mktemp("demo")))


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def test_the_story_has_all_topics_and_every_subscription_that_is_behind(room: ReadingRoom) -> None:
    rows = room.rows("SELECT * FROM why")
    behind = {row["subscription"] for row in rows if row["status"] not in ("current", "keeping up")}
    assert len(behind) == 7
    assert behind <= {subscription for _, subscription, _ in NAMED}
    assert {topic for topic, _, _ in NAMED} == {row["topic"].rpartition("/")[2] for row in rows}


@pytest.mark.parametrize(("topic", "subscription", "words"), NAMED)
def test_a_row_of_the_story_is_what_explain_has(room: ReadingRoom, topic: str, subscription: str, words: str) -> None:
    found: dict[str, Any] = answer(room, f"persistent://real/y/{topic}", subscription, None, None, WHOLE_LOG)
    if not found["behind"]:
        assert words.startswith("current, exit status 0")
        return
    assert words.startswith(f"{percent(found['share'])} is charged to {CAUSES[found['cause']](found)}")
    held_by = [one for one in found["limits"] if (one["level"], one["dimension"]) == (found["level"], found["dimension"])]
    assert all(f"({rate_words(one)})" in words or f"({one['rate']} per {one['period_s']:g} s)" in words for one in held_by)
    helps = re.search(r"More consumers: (\w+)", words)
    assert helps is None or helps[1] == found["more_consumers"]["answer"]
    used = {one["quota_type"]: (percent(one["share_of_limit"]), one["loses_first"]) for one in found["quotas"] if one["exceeded"]}
    claimed = re.search(r"(\w+) quota (\d+ %) used.*?`(\w+)` loses messages", words)
    assert used == ({} if claimed is None else {claimed[1].lower(): (claimed[2], claimed[3])})
