"""Causes over windows and restarts: runs of one main cause, and the same rows however the log is cut."""

from typing import Any

import numpy as np
from cause_story import Story, measured
from lane_rows import lane_rows
from lane_tables import drain_row, run_lane, tables_of
from log_builder import TOPIC

SECOND = 1_000_000_000


def test_a_status_is_a_run_of_windows_with_one_main_cause() -> None:
    story = Story(consumer=False).puts(10)
    story.at(150).of_sub("consumer_open", consumer=0, conn=1).reads().gives(10)
    story.at(290).acks(*range(10))
    story.beats(400).add("broker_stop")
    tables = tables_of(story.events)
    start = tables["subscription_causes"][0]["window_start"]
    seen = [
        (row["cause"], (row["since"] - start) / 1e6, (row["until"] - start) / 1e6, row["windows"], row["ns"] / SECOND)
        for row in tables["subscription_status"]
    ]
    assert sorted(seen) == [("in_flight", 180, 290, 2, 110), ("no_consumer", 0, 180, 3, 150)]
    since = {
        (row["window_start"] - start) / 60e6: (row["main_since"] - start) / 1e6 for row in tables["subscription_causes"] if row["is_main"]
    }
    assert since == {0: 0, 1: 0, 2: 0, 3: 180, 4: 180}


def test_a_main_cause_ends_with_its_backlog_also_where_the_topic_is_unloaded_a_window_later() -> None:
    story = Story(consumer=False).puts(1).at(20).acks(0).at(70)
    story.add("topic_unload", topic=TOPIC).beats(200).add("broker_stop")
    tables = tables_of(story.events)
    start = tables["subscription_causes"][0]["window_start"]
    assert [(row["until"] - start) / 1e6 for row in tables["subscription_status"]] == [20]


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
