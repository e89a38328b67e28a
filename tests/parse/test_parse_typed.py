"""A table of the log gives what its lines would have given."""

import json
import random
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import pipeline.sources.parse.typed_table
from pipeline.sources.parse.block import parse_text
from pipeline.sources.parse.line import ParseLimits
from pipeline.sources.parse.lines import TextBlock
from pipeline.sources.parse.outcome import EVENT_SCHEMA, ParsedBlock
from pipeline.sources.parse.typed_table import json_line, parse_typed

LIMITS = ParseLimits()
BESIDE = ("type_code", "extra", "source_file", "source_line")
HEARTBEAT: dict[str, Any] = {
    "v": 1,
    "broker": "b",
    "epoch": 1_700_000_000_000,
    "seq": 5,
    "ts": 1_700_000_000_000_000,
    "type": "heartbeat",
    "dropped": 0,
}


def table_of(capture_lines: list[bytes]) -> pa.RecordBatch:
    return parse_text(TextBlock(b"\n".join(capture_lines), 1), "f", LIMITS).events.drop_columns(list(BESIDE))


def without_place(block: ParsedBlock) -> list[dict[str, Any]]:
    return block.events.drop_columns(["source_file", "source_line"]).to_pylist()


def typed(*rows: dict[str, Any], **types: pa.DataType) -> ParsedBlock:
    names = dict.fromkeys(name for row in rows for name in row)
    arrays = [pa.array([row.get(name) for row in rows], types.get(name)) for name in names]
    return parse_typed(pa.RecordBatch.from_arrays(arrays, names=list(names)), LIMITS)


def test_a_capture_as_a_table_gives_the_same_events(capture_lines: list[bytes]) -> None:
    block = parse_typed(table_of(capture_lines), LIMITS)
    assert without_place(block) == without_place(parse_text(TextBlock(b"\n".join(capture_lines), 1), "f", LIMITS))
    assert set(block.events.column("source_file").to_pylist()) == {""}
    assert set(block.events.column("source_line").to_pylist()) == {0}
    assert block.lines == len(capture_lines)


@pytest.mark.parametrize("few", [1, 100])
@pytest.mark.parametrize("seed", range(4))
def test_a_large_table_with_some_odd_rows_gives_what_its_lines_give(
    capture_lines: list[bytes], monkeypatch: pytest.MonkeyPatch, seed: int, few: int
) -> None:
    monkeypatch.setattr(pipeline.sources.parse.typed_table, "_FEW", few)  # 1: whatever is odd, the good rows are taken as they are
    chance = random.Random(seed)
    rows = [json.loads(raw) for raw in capture_lines[:600]]
    for row in chance.sample(rows, 5):
        row |= chance.choice([{"seq": None}, {"type": "surprise"}, {"unknown": "x"}, {"topic": ""}, {"v": 2}])
    names = [name for name in EVENT_SCHEMA.names if name not in BESIDE]
    kinds = {name: EVENT_SCHEMA.field(name).type for name in names}
    arrays = [
        pa.array([list(row[name].items()) if isinstance(row.get(name), dict) else row.get(name) for row in rows], kinds[name])
        for name in names
    ]
    unknown = pa.array([row.get("unknown") for row in rows], pa.string())
    found = parse_typed(pa.RecordBatch.from_arrays([*arrays, unknown], names=[*names, "unknown"]), LIMITS)
    lines = [json_line({name: value for name, value in row.items() if value is not None}) for row in rows]
    wanted = parse_text(TextBlock(b"\n".join(lines), 1), "f", LIMITS)
    assert without_place(found) == without_place(wanted)
    assert found.rejects["reason"].to_pylist() == wanted.rejects["reason"].to_pylist()
    assert found.rejects.num_rows > 0


def test_missing_and_narrow_columns_are_read(capture_lines: list[bytes]) -> None:
    publishes = [raw for raw in capture_lines if b'"type":"publish"' in raw]
    table = table_of(publishes)
    used = [name for name in table.schema.names if table.column(name).null_count < table.num_rows]
    narrow = {
        "v": pa.int8(),
        "msgs": pa.int32(),
        "entry": pa.uint32(),
        "topic": pa.large_string(),
        "broker": pa.dictionary(pa.int8(), pa.string()),
    }
    columns = [table.column(name).cast(narrow.get(name, table.column(name).type)) for name in used]
    block = parse_typed(pa.RecordBatch.from_arrays(columns, names=used), LIMITS)
    assert without_place(block) == without_place(parse_typed(table, LIMITS))


@pytest.mark.parametrize(
    ("change", "types"),
    [
        ({"dropped": -1}, {}),
        ({"dropped": None}, {}),
        ({"seq": None}, {}),
        ({"broker": ""}, {}),
        ({"phase": "middle"}, {}),
        ({"dropped": 1.0}, {}),
        ({"dropped": float("nan")}, {}),
        ({"seq": "5"}, {}),
        ({"v": 2}, {}),
        ({"topic": "t" * 70_000}, {}),
        ({"broker": "b" * 70_000}, {}),
        ({"topic": 'quote " and \\ and \n'}, {}),
        ({"topic": "t", "cause": "\x00\x1f" * 100}, {}),
        ({"dropped": 2**63}, {"dropped": pa.uint64()}),
        ({"type": "new_type"}, {}),
        ({"colour": "blue", "size": 1, "weights": [1, None], "nested": {"a": 1, "b": "x"}}, {}),
        ({"settings": {"a": "b"}}, {"settings": pa.map_(pa.string(), pa.string())}),
        ({"settings": {"a": None}}, {"settings": pa.map_(pa.string(), pa.string())}),
        ({"ack_set": [1, 2]}, {"ack_set": pa.list_(pa.int32())}),
    ],
)
def test_a_row_that_is_not_plain_gives_what_its_line_gives(change: dict[str, Any], types: dict[str, pa.DataType]) -> None:
    row = {**HEARTBEAT, **change}
    block = typed(row, **types)
    # NaN has no JSON: it is shown as text, which no number of the contract may be.
    members = {name: "nan" if value != value else value for name, value in row.items() if value is not None}
    raw = json.dumps(members, separators=(",", ":"), ensure_ascii=False).encode()
    expected = parse_text(TextBlock(raw, 1), "", LIMITS)
    place = ["source_line"]
    assert block.events.drop_columns(place).to_pylist() == expected.events.drop_columns(place).to_pylist()
    assert block.rejects.drop_columns(place).to_pylist() == expected.rejects.drop_columns(place).to_pylist()


def test_bad_rows_cost_no_neighbour_and_order_is_kept() -> None:
    rows = [{**HEARTBEAT, "seq": seq, "dropped": -1 if seq % 3 == 0 else seq, "x": seq if seq % 4 == 0 else None} for seq in range(1, 30)]
    block = typed(*rows)
    assert block.events.column("seq").to_pylist() == [seq for seq in range(1, 30) if seq % 3]
    assert block.rejects.column("seq").to_pylist() == [seq for seq in range(1, 30) if seq % 3 == 0]
    assert block.events.column("extra").to_pylist() == [f'{{"x":{seq}}}' if seq % 4 == 0 else None for seq in range(1, 30) if seq % 3]


def test_text_that_is_not_utf8_is_rejected_as_in_a_file() -> None:
    broken = pa.StringArray.from_buffers(2, pa.array([0, 2, 6], pa.int32()).buffers()[1], pa.py_buffer(b"t\xffgood"))
    columns = {name: pa.array([value] * 2) for name, value in HEARTBEAT.items()}
    block = parse_typed(pa.RecordBatch.from_pydict({**columns, "topic": broken}), LIMITS)
    assert block.rejects.column("reason").to_pylist() == ["invalid_utf8"]
    assert block.events.column("topic").to_pylist() == ["good"]


def test_decimals_keep_their_digits_in_extra() -> None:
    assert typed({**HEARTBEAT, "price": Decimal("1.50")}).events.column("extra").to_pylist() == ['{"price":1.50}']


def test_a_table_without_rows_or_without_a_type_column() -> None:
    assert parse_typed(pa.RecordBatch.from_pydict({"seq": pa.array([], pa.int64())}), LIMITS).lines == 0
    assert typed({"seq": 1}, {"seq": 2}).rejects.column("reason").to_pylist() == ["missing_envelope_field"] * 2


def test_a_line_and_its_row_are_rejected_with_the_same_text() -> None:
    raw = json.dumps({**HEARTBEAT, "dropped": -1}, separators=(",", ":")).encode()
    from_file = parse_text(TextBlock(raw, 1), "", LIMITS).rejects.to_pylist()[0]
    from_table = typed({**HEARTBEAT, "dropped": -1}).rejects.to_pylist()[0]
    assert {**from_file, "source_line": 0} == from_table
