"""Charged causes against true ones, by hand-made rows."""

import dataclasses
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from simulated import shipped

from sim.confusion import NO_BACKLOG, NOT_CHARGED, Confusion, clocks, compared, markdown, split, written_into
from sim.files import read_lines
from sim.run import simulate

S = 1_000_000_000
OF = {"broker": "b", "epoch": 1, "topic": "t", "subscription": "s"}
CLOCK = {("b", 1): [(0, 0)]}
MINUTE_US = 60_000_000


def interval(from_s: float, to_s: float, cause: str, level: str | None = None, dimension: str | None = None) -> dict[str, Any]:
    return {**OF, "from_ns": int(from_s * S), "to_ns": int(to_s * S), "cause": cause, "level": level, "dimension": dimension}


def row(minute: int, seconds: float, cause: str, level: str | None = None, dimension: str | None = None) -> dict[str, Any]:
    window = {"window_start": minute * MINUTE_US, "window_end": (minute + 1) * MINUTE_US}
    return {**OF, **window, "cause": cause, "level": level, "dimension": dimension, "ns": int(seconds * S)}


def test_an_interval_is_split_at_the_borders_of_windows() -> None:
    assert list(split(50 * S, 130 * S, [(0, 0)], MINUTE_US)) == [(0, 10 * S), (MINUTE_US, 60 * S), (2 * MINUTE_US, 10 * S)]


def test_an_interval_is_split_where_the_clock_is_set() -> None:
    """At 20 s the clock is set back by 30 s: the time before 0 is the window before, and then window 0 comes again."""
    parts = list(split(10 * S, 40 * S, [(0, 0), (20 * S, -30_000_000)], MINUTE_US))
    assert parts == [(0, 10 * S), (-MINUTE_US, 10 * S), (0, 10 * S)]


def test_what_is_true_and_charged_in_the_same_window_is_right() -> None:
    truth = [interval(0, 40, "no_permits"), interval(40, 90, "throttled", "topic", "msg")]
    rows = [row(0, 40, "no_permits"), row(0, 20, "throttled", "topic", "msg"), row(1, 30, "throttled", "broker", "msg")]
    found = compared(truth, rows, CLOCK)
    assert dict(found.matrix) == {
        ("no_permits", "no_permits"): 40 * S,
        ("throttled topic msg", "throttled topic msg"): 20 * S,
        ("throttled topic msg", "throttled broker msg"): 30 * S,
    }
    assert (found.backlog, found.right, found.wrong, found.unknown) == (90 * S, 60 * S, 30 * S, 0)
    assert (found.main_right, found.main_wrong, found.main_unknown) == (60 * S, 30 * S, 0)


def test_unknown_is_not_wrong_and_what_is_not_charged_is() -> None:
    truth = [interval(0, 30, "stuck"), interval(60, 90, "stuck")]
    found = compared(truth, [row(0, 20, "unknown"), row(0, 10, "stuck")], CLOCK)
    assert dict(found.matrix) == {("stuck", "stuck"): 10 * S, ("stuck", "unknown"): 20 * S, ("stuck", NOT_CHARGED): 30 * S}
    assert (found.right, found.unknown, found.wrong) == (10 * S, 20 * S, 30 * S)
    assert (found.main_right, found.main_unknown, found.main_wrong) == (0, 30 * S, 30 * S)


def test_what_is_charged_without_backlog_stands_apart() -> None:
    found = compared([interval(0, 10, "reading")], [row(0, 15, "reading"), row(3, 5, "stuck")], CLOCK)
    assert dict(found.matrix) == {("reading", "reading"): 10 * S, (NO_BACKLOG, "reading"): 5 * S, (NO_BACKLOG, "stuck"): 5 * S}
    assert (found.backlog, found.right, found.wrong, found.charged_without_backlog) == (10 * S, 10 * S, 0, 10 * S)


def test_every_ns_of_truth_and_of_charges_is_in_the_matrix() -> None:
    truth = [interval(0, 7, "a"), interval(7, 19, "b"), interval(19, 20, "c"), interval(100, 120, "a")]
    rows = [row(0, 9, "a"), row(0, 5, "d"), row(0, 2, "unknown"), row(1, 30, "c")]
    found = compared(truth, rows, CLOCK)
    assert found.backlog == found.right + found.wrong + found.unknown == 40 * S
    assert sum(ns for (_, charged), ns in found.matrix.items() if charged != NOT_CHARGED) == 46 * S


def test_without_rows_nothing_is_charged() -> None:
    found = compared([interval(0, 100, "stuck")], [], CLOCK)
    assert dict(found.matrix) == {("stuck", NOT_CHARGED): 100 * S}


def test_windows_of_several_lengths_are_refused() -> None:
    other = {**row(0, 1, "stuck"), "window_end": 30_000_000}
    with pytest.raises(ValueError, match="several lengths"):
        compared([], [row(0, 1, "stuck"), other], CLOCK)


def test_the_matrix_as_a_page() -> None:
    found = compared([interval(0, 30, "stuck")], [row(0, 20, "stuck"), row(0, 10, "unknown")], CLOCK)
    found.add(Confusion())
    assert markdown(found).splitlines() == [
        "| true cause ↓ charged → | stuck | unknown |",
        "|---|--:|--:|",
        "| stuck | 20.0 | 10.0 |",
        "",
        "| share of backlog time | right | wrong | unknown |",
        "|---|--:|--:|--:|",
        "| by time | 66.67 % | 0.00 % | 33.33 % |",
        "| by the main cause of a window | 100.00 % | 0.00 % | 0.00 % |",
    ]


def test_a_page_gets_the_matrix_between_its_marks() -> None:
    page = "a\n<!-- begin confusion -->\nold\n<!-- end confusion -->\nb\n"
    assert written_into(page, "confusion", "new\n") == "a\n<!-- begin confusion -->\nnew\n<!-- end confusion -->\nb\n"
    with pytest.raises(ValueError, match="has no lines"):
        written_into("a\n", "confusion", "new\n")


def test_truth_charged_as_it_is_agrees_with_itself(tmp_path: Path) -> None:
    """A real run with clocks that are set: rows made of its truth, by another way of splitting, are right to the µs."""
    run = tmp_path / "life"
    facts = simulate(dataclasses.replace(shipped("life"), duration_s=320.0), 3, run)

    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    clock = {(life["broker"], life["epoch"]): life["clock"] for life in facts["lives"]}
    for line in read_lines(run / "truth.jsonl.zst"):
        one = json.loads(line)
        for window, ns in by_minutes(one["from_ns"], one["to_ns"], clock[one["broker"], one["epoch"]]):
            key = (one["broker"], one["epoch"], one["topic"], one["subscription"], window, one["cause"], one["level"], one["dimension"])
            made = {name: one[name] for name in ("broker", "epoch", "topic", "subscription", "cause", "level", "dimension")}
            rows.setdefault(key, {**made, "window_start": window, "window_end": window + MINUTE_US, "ns": 0})["ns"] += ns
    truth = map(json.loads, read_lines(run / "truth.jsonl.zst"))
    found = compared(truth, rows.values(), clocks(facts))
    assert found.backlog > 1_000 * S
    assert found.wrong + found.unknown + found.charged_without_backlog <= 2_000 * len(rows)
    assert found.main_wrong == 0


def by_minutes(from_ns: int, to_ns: int, clock: list[dict[str, int]]) -> list[tuple[int, int]]:
    """The same split, instant by instant: borders of minutes and of clock segments, sorted."""
    cuts = {from_ns, to_ns} | {part["from_ns"] for part in clock}
    for part in clock:
        ahead = part["ts_minus_ns_us"]
        first = (from_ns // 1000 + ahead) // MINUTE_US
        last = (to_ns // 1000 + ahead) // MINUTE_US
        cuts |= {(minute * MINUTE_US - ahead) * 1000 for minute in range(first, last + 2)}
    inside = sorted(cut for cut in cuts if from_ns <= cut <= to_ns)
    found = []
    for began, end in pairwise(inside):
        ahead = [part["ts_minus_ns_us"] for part in clock if part["from_ns"] <= began][-1]
        found.append(((began // 1000 + ahead) // MINUTE_US * MINUTE_US, end - began))
    return found
