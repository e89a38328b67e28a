"""Events as rows of dispatch_events, made at random within the contract: every type, absent fields, odd texts."""

import random
from typing import Any

import pyarrow as pa

from schemas.events import EVENT_TYPES, FIELDS, EventField
from schemas.render.arrow import arrow_schema
from schemas.tables.bronze import DISPATCH_EVENTS, PARSED_FIELDS

#: Texts that a setting, a version or a subscription may have.
ODD_TEXTS = (
    "", " ", "true", "TRUE", "False", "0", "1", "-1", "+7", " 12 ", "\t9\n", "\x7f3", "1.5", "1e3", "0x10", "9223372036854775807",
    "9223372036854775808", "-9223372036854775808", "99999999999999999999", "2147483648", "-3", "- 3", "٣", "３", "null", "ä",
    "3.0.4", "3.0.4-rc1", "4.1", "v3.0", "3..2", "4000000000.1.1", "pulsar.dedup", "pulsar.repl.eu", "a.pulsar.repl", "PING", "PONG",
    "read", "quota_check", "topic_load",
)  # fmt: skip
START_MS, DAY_US = 1_795_000_000_000, 86_400_000_000


def random_events(seed: int, count: int, *, brokers: int = 2, days: int = 1) -> pa.Table:
    """Rows of PARSED_FIELDS and of the ids, which mean nothing."""
    chance = random.Random(seed)
    rows = [_event(chance, place, brokers, days) for place in range(count)]
    columns = {f.name: [row.get(f.name) for row in rows] for f in DISPATCH_EVENTS.fields}
    return pa.table({name: columns[name] for name in columns}, schema=arrow_schema(DISPATCH_EVENTS.fields))


def parsed_only(events: pa.Table) -> pa.Table:
    """The columns that the parser gives."""
    return events.select([f.name for f in PARSED_FIELDS])


def _event(chance: random.Random, place: int, brokers: int, days: int) -> dict[str, Any]:
    kind = chance.choice(EVENT_TYPES)
    optional = [name for name in kind.optional if chance.random() < 0.6]
    payload = {name: _value(chance, FIELDS[name]) for name in (*kind.required, *optional)}
    return {
        "v": 1, "broker": f"b-{chance.randrange(brokers)}:1", "epoch": START_MS + chance.randrange(2), "seq": place + 1,
        "ts": START_MS * 1000 + place + DAY_US * chance.randrange(days), "ns": chance.choice([None, 5_000 + place]), "type": kind.name,
        **payload, "type_code": kind.code, "source_line": place + 1, "event_date": 20_000, "broker_id": chance.randrange(brokers),
        "topic_id": chance.choice([0, 2**63 - 1, -5]), "sub_id": chance.choice([0, -(2**63)]), "ingest_batch": chance.randrange(3),
    }  # fmt: skip


def _value(chance: random.Random, declared: EventField) -> Any:
    if declared.one_of:
        return chance.choice(declared.one_of)
    if declared.kind == "boolean":
        return chance.random() < 0.5
    if declared.kind == "string":
        return chance.choice(ODD_TEXTS)
    if declared.kind == "map":
        return [(name, chance.choice(ODD_TEXTS)) for name in chance.sample(_settings(), chance.randrange(4, 8))]
    if declared.kind == "longs":
        return [chance.randrange(2**62)]
    if declared.kind == "strings":
        return [chance.choice(ODD_TEXTS)]
    near = [declared.minimum, declared.maximum, 0, 1, 2**31 - 1, 2**53 + 1]
    return chance.choice([number for number in near if declared.minimum <= number <= declared.maximum])


def _settings() -> list[str]:
    from schemas.lane_columns import SETTINGS, START_SETTINGS

    return [*SETTINGS, *(key for pair in START_SETTINGS.values() for key in pair), "another"]
