"""Runs events through the production lane without Spark and gives its tables as rows with text, comparable and sortable."""

import math
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np
from lane_rows import lane_rows, text_id

from pipeline.lanes.codec import decode, encode
from pipeline.lanes.lane import Lane, LaneTiming
from pipeline.rules.outcome import Rows
from schemas.events import DRAIN_CODE
from schemas.lane_columns import COLUMN, LANE_COLUMNS
from schemas.outcomes import FILLED_LATER, LANE_REPORT, NULL, OUTCOME_COLUMNS, PAYLOAD, TEXT_OF_IDS, texts_of
from schemas.tables import TABLES_BY_NAME

SETTINGS = LaneTiming(lateness_ms=10_000, window_ms=60_000, clock_step_ms=1_000)
OUTCOME_TABLES = tuple(name for name in OUTCOME_COLUMNS if name != LANE_REPORT)
Table = list[dict[str, Any]]


def drain_row() -> np.ndarray:
    """The control row that ends a finite log."""
    row = np.zeros((1, len(LANE_COLUMNS)), dtype=np.int64)
    row[0, COLUMN["type_code"]] = DRAIN_CODE
    return row


def run_lane(
    micro_batches: Iterable[Sequence[np.ndarray]], *, settings: LaneTiming = SETTINGS, restart: bool = False
) -> tuple[list[Rows], dict[str, int]]:
    """Each micro-batch is a sequence of chunks; with `restart` the state goes through its blob after each one.

    Returns outcomes and summed counts.
    """
    lane = Lane(settings)
    outcomes: list[Rows] = []
    counts: dict[str, int] = {}
    for chunks in micro_batches:
        for chunk in chunks:
            if len(chunk):
                lane.offer(chunk)
        for rows in lane.finish():
            if rows.table == LANE_REPORT:
                for name, value in rows.columns.items():
                    counts[name] = counts.get(name, 0) + int(value)
            else:
                outcomes.append(rows)
        if restart:
            lane = decode(encode(lane), settings)
    return outcomes, counts


def tables_of(events: list[dict[str, Any]], *, settings: LaneTiming = SETTINGS) -> dict[str, Table]:
    """All outcome tables of a finite log, drained."""
    outcomes, _ = run_lane([[lane_rows(events)], [drain_row()]], settings=settings)
    return as_tables(outcomes, events)


def as_tables(outcomes: list[Rows], events: list[dict[str, Any]]) -> dict[str, Table]:
    """Outcomes as rows by table, sorted; ids as text of `events`, booleans and enumerations as declared, null as None."""
    text: dict[int, tuple[str | None, str | None]] = {0: (None, None)}
    for event in events:
        if event.get("topic"):
            text[text_id("t", event["topic"])] = (event["topic"], None)
            if event.get("sub"):
                text[text_id("s", event["topic"], event["sub"])] = (event["topic"], event["sub"])
    broker = events[0]["broker"] if events else ""
    tables: dict[str, Table] = {name: [] for name in OUTCOME_TABLES}
    for rows in outcomes:
        columns = [[int(values)] * rows.count if np.isscalar(values) else values.tolist() for values in rows.columns.values()]
        of_table = tables[rows.table]
        for values in zip(*columns, strict=True):
            of_table.append(_row(rows.table, dict(zip(rows.columns, values, strict=True)), rows.payload, broker, text))
    for table in tables.values():
        table.sort(
            key=lambda row: [(value is None, str(type(value)), value) if value is not None else (True, "", 0) for value in row.values()]
        )
    return tables


@cache
def _plain_columns(table: str) -> tuple[tuple[str, Sequence[str] | None, bool], ...]:
    """Columns of a table that are in the outcome: name, texts of an enumeration, whether it is a boolean."""
    fields = [field for field in TABLES_BY_NAME[table].fields if field.name not in (*TEXT_OF_IDS, "completeness", PAYLOAD, *FILLED_LATER)]
    texts = {field.name: texts_of(table, field.name) or () for field in fields if field.type == "string"}
    return tuple((field.name, texts.get(field.name), field.type == "boolean") for field in fields)


def _row(table: str, values: dict[str, int], payload: bytes, broker: str, text: dict[int, tuple[str | None, str | None]]) -> dict[str, Any]:
    topic, subscription = text[values.get("sub_id") or values.get("topic_id", 0)]
    place = {"broker": broker, "topic": topic, "subscription": subscription}
    row: dict[str, Any] = dict.fromkeys(TABLES_BY_NAME[table].names)
    row.update((name, place[of]) for name, of in TEXT_OF_IDS.items() if name in row)
    if "completeness" in row:
        seen, missing = values["window_applied"], values["window_missing"]
        row["completeness"] = seen / (seen + missing) if seen + missing else 1.0
    if PAYLOAD in row:
        row[PAYLOAD] = payload
    for name, texts, is_boolean in _plain_columns(table):
        value = values[name]
        if value != NULL:
            row[name] = bool(value) if is_boolean else value if texts is None else texts[value]
    assert not any(isinstance(value, float) and math.isnan(value) for value in row.values())
    return row
