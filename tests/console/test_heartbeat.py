"""Signs of life: what, how far, and not too many."""

import time
from types import SimpleNamespace
from typing import Any

import pytest

from console import heartbeat as heartbeats
from console.heartbeat import Heartbeat, running_tasks


def tracker(*stages: tuple[int, int] | None) -> Any:
    """Spark's tracker: (tasks done, all tasks) of each active stage; None: it has just ended."""
    infos = [stage and SimpleNamespace(numCompletedTasks=stage[0], numTasks=stage[1]) for stage in stages]
    return SimpleNamespace(getActiveStageIds=lambda: list(range(len(infos))), getStageInfo=infos.__getitem__)


@pytest.mark.parametrize(
    ("stages", "words"), [([], ""), ([None], ""), ([(3, 8)], "3 of 8 tasks"), ([(3, 8), None, (0, 4)], "3 of 12 tasks")]
)
def test_tasks_of_all_stages_that_run(stages: list[Any], words: str) -> None:
    assert running_tasks(tracker(*stages)) == words


def wait_for_lines(lines: list[str], count: int) -> None:
    end_s = time.monotonic() + 30
    while len(lines) < count:
        assert time.monotonic() < end_s
        time.sleep(0.005)


def test_long_work_says_what_it_does_and_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeats, "FIRST_AFTER_S", 0.0)
    monkeypatch.setattr(heartbeats, "THEN_EVERY_S", 0.0)
    lines: list[str] = []
    heartbeat = Heartbeat("backfill", lines.append, lambda: "3 of 8 tasks")
    with heartbeat.beating():
        heartbeat.step("planning ranges of dates 2 to 2 of 5")
        wait_for_lines(lines, 3)
    assert lines[-1] == "backfill: planning ranges of dates 2 to 2 of 5 (3 of 8 tasks, 0 s)"


def test_after_the_first_line_one_now_and_then_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeats, "FIRST_AFTER_S", 0.0)
    lines: list[str] = []
    with Heartbeat("rebuild", lines.append, str).beating():
        wait_for_lines(lines, 1)
        time.sleep(0.3)
    assert lines == ["rebuild: beginning (0 s)"]


def test_short_work_and_work_that_speaks_itself_need_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeats, "FIRST_AFTER_S", 5.0)
    lines: list[str] = []
    heartbeat = Heartbeat("rebuild", lines.append, str)
    with heartbeat.beating():
        heartbeat.say("deleted lanes")
        time.sleep(0.2)
    assert lines == ["deleted lanes"]


def test_a_second_block_counts_from_its_own_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeats, "FIRST_AFTER_S", 0.0)
    lines: list[str] = []
    heartbeat = Heartbeat("rebuild", lines.append, str)
    with heartbeat.beating():
        pass
    lines.clear()
    with heartbeat.beating():
        wait_for_lines(lines, 1)
    assert lines[0] == "rebuild: beginning (0 s)"
