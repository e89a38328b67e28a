"""Causes over windows and restarts: runs of one main cause, and the same rows however the log is cut."""

from typing import Any

import numpy as np
from cause_story import Story, measured
from lane_rows import lane_rows
from lane_tables import drain_row, run_lane, tables_of

SECOND = 1_000_000_000


def test_a_main_cause_lasts_through_windows_that_touch() -> None:
    story = Story(consumer=False).puts(10)
    story.at(150).of_sub("consumer_open", consumer=0, conn=1).reads().gives(10)
    story.at(290).acks(*range(10))
    story.beats(400).add("broker_stop")
    rows = tables_of(story.events)["subscription_causes"]
    start = rows[0]["window_start"]
    since = {
        (row["window_start"] - start) / 60e6: (row["cause"], (row["main_since"] - start) / 1e6, row["ns"] / SECOND)
        for row in rows
        if row["is_main"]
    }
    assert since == {
        0: ("no_consumer", 0, 60),
        1: ("no_consumer", 0, 60),
        2: ("no_consumer", 0, 30),
        3: ("in_flight", 180, 60),
        4: ("in_flight", 180, 50),
    }


def test_restarts_change_nothing() -> None:
    story = measured(Story()).reads()
    story.at(3).puts(20).gives(5)
    story.at(70).acks(16, 17).at(80).of_sub("consumer_close", consumer=0, conn=1).beats(200)
    rows = lane_rows(story.events)
    whole = run_lane([[rows], [drain_row()]])[0]
    cut = run_lane([*([part] for part in (rows[:30], rows[30:60], rows[60:])), [drain_row()]], restart=True)[0]

    def of_causes(outcomes: list[Any]) -> list[Any]:
        found = [rows.columns for rows in outcomes if rows.table == "subscription_causes"]
        return [{name: np.asarray(value).tolist() for name, value in columns.items()} for columns in found]

    assert of_causes(whole) == of_causes(cut) != []
