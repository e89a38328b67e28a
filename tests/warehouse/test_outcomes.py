"""Outcomes become the table rows that lanes meant."""

import random
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from pipeline.lanes.named_outcomes import NamedOutcomes
from pipeline.lanes.outcome_packets import outcome_schema
from schemas.field import Table
from schemas.outcomes import FILLED_LATER, LANE_REPORT, NULL, OUTCOME_COLUMNS, PAYLOAD, TEXT_OF_IDS, texts_of
from schemas.render.arrow import arrow_schema
from schemas.tables import LANE_TABLES, TABLES_BY_NAME
from schemas.tables.bookkeeping import NAMES

TEXTS = {
    11: ("broker", "b:1", None, None),
    -12: ("broker", "b:2", None, None),
    21: ("topic", None, "persistent://t/n/ä", None),
    31: ("subscription", None, "persistent://t/n/ä", "s"),
}
NAMED = pa.table(
    {name: list(column) for name, column in zip(NAMES.names, zip(*((i, *text) for i, text in TEXTS.items()), strict=True), strict=True)},
    arrow_schema(NAMES.fields),
)


def value(table: str, name: str, chance: random.Random) -> int:
    """Any value that a column of an outcome may have."""
    field = next((field for field in TABLES_BY_NAME[table].fields if field.name == name), None)
    if field is not None and field.nullable and chance.random() < 0.3:
        return NULL
    texts = texts_of(table, name)
    if field is not None and texts and field.type == "string":
        return chance.randrange(len(texts))
    if field is None or field.type in ("boolean", "int", "date"):
        return chance.randrange(2)
    return chance.choice([0, 1, 2**53 + 1, 1_700_000_000_123_456] if field.type == "long" else [0, 1_700_000_000_123_456])


def entities(table: Table) -> list[tuple[int, int]]:
    """Ids of topic and subscription that a row of the table may have."""
    needed = {field.name for field in table.fields if not field.nullable}
    return [(21, 31)] if "subscription" in needed else [(21, 0), (21, 31)] if "topic" in needed else [(0, 0), (21, 0), (21, 31)]


def random_outcomes(seed: int) -> dict[str, pa.Table]:
    """Some rows of every table, as they come out of packets."""
    chance = random.Random(seed)
    outcomes = {}
    for table in LANE_TABLES:
        rows = []
        for _ in range(chance.randrange(1, 6)):
            named = {name: value(table.name, name, chance) for name in OUTCOME_COLUMNS[table.name]}
            topic_id, sub_id = chance.choice(entities(table))
            state = chance.choice([b"", b"\x00state"])
            rows.append({**named, "topic_id": topic_id, "sub_id": sub_id, "broker_id": chance.choice([11, -12]), PAYLOAD: state})
        outcomes[table.name] = pa.Table.from_pylist(rows, schema=outcome_schema(table.name))
    return outcomes


def as_told(table: Table, row: dict[str, Any]) -> dict[str, Any]:
    """A row of the table, value by value, by what its declaration says."""
    broker, entity = TEXTS[row["broker_id"]], TEXTS.get(row["sub_id"] or row["topic_id"], (None,) * 4)
    text = {"broker": broker[1], "topic": entity[2], "subscription": entity[3]}
    told: dict[str, Any] = {}
    for field in table.fields:
        number = row.get(field.name)
        texts = texts_of(table.name, field.name)
        if field.name in TEXT_OF_IDS:
            told[field.name] = text[TEXT_OF_IDS[field.name]]
        elif field.name == "completeness":
            applied, missing = row["window_applied"], row["window_missing"]
            told[field.name] = 1.0 if applied + missing == 0 else applied / (applied + missing)
        elif field.name == PAYLOAD:
            told[field.name] = row[PAYLOAD]
        elif field.name in FILLED_LATER or number == NULL:
            told[field.name] = None
        elif texts and field.type == "string":
            told[field.name] = texts[number]
        elif field.type == "timestamp":
            told[field.name] = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=number)
        elif field.type == "date":
            told[field.name] = date(1970, 1, 1) + timedelta(days=number)
        else:
            told[field.name] = bool(number) if field.type == "boolean" else number
    return told


@pytest.mark.parametrize("seed", range(3))
def test_a_table_has_the_rows_that_lanes_told(seed: int) -> None:
    outcomes = random_outcomes(seed)
    named = NamedOutcomes(outcomes, NAMED)
    assert not named.lacks_text()
    for table in LANE_TABLES:
        rows = named.rows_of(table)
        assert rows.schema == arrow_schema(table.fields)
        assert rows.to_pylist() == [as_told(table, row) for row in outcomes[table.name].to_pylist()], table.name
        assert rows.num_rows > 0


@pytest.mark.parametrize("lost", sorted(TEXTS))
def test_an_id_without_a_name_is_seen(lost: int) -> None:
    known = NAMED.filter(pa.array([number != lost for number in NAMED["id"].to_pylist()]))
    assert NamedOutcomes(random_outcomes(7), known).lacks_text()


def test_every_table_of_lanes_is_tried() -> None:
    assert {*OUTCOME_COLUMNS} - {LANE_REPORT} == {table.name for table in LANE_TABLES}
