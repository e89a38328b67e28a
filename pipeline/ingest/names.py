"""Text of every id that bronze uses, written when it is first met."""

from collections.abc import Iterable, Mapping

import pyarrow as pa

from pipeline.faults import BrokenInvariant
from pipeline.sinks.append import app_id_of, append_rows
from pipeline.store.arrow_reader import arrow_rows
from pipeline.warehouse.layout import Warehouse
from schemas.ids import BROKER, SUBSCRIPTION, TOPIC, id_of
from schemas.render.arrow import arrow_schema
from schemas.tables.bookkeeping import NAMES

_TEXT = ("level", "broker", "topic", "subscription")
#: Broker, topic and subscription of events; null where an event has none.
Used = Iterable[tuple[str | None, str | None, str | None]]
#: What an id stands for: its level, and the text of that level.
Text = tuple[str, str | None, str | None, str | None]


def write_names(used: Used, warehouse: Warehouse, query_id: str, batch_id: int) -> None:
    """Add to `names` what `used` (repeats do not matter) names and the table lacks.

    Raises BrokenInvariant if an id has two texts: hashes of 64 bits do not collide by chance among names that a person could count.
    """
    named = texts_of_ids(used)
    known = arrow_rows(warehouse.table(NAMES.name), among={"id": named.keys()})
    for row in known.to_pylist():
        _check_one_text(row["id"], named.pop(row["id"]), tuple(row[name] for name in _TEXT))
    append_rows(warehouse, NAMES, name_rows(named), (app_id_of(query_id, NAMES.name), batch_id))


def name_rows(named: Mapping[int, Text]) -> pa.Table:
    """Rows of `names`."""
    rows = [(number, *text) for number, text in sorted(named.items())]
    columns = zip(*rows, strict=True) if rows else [[] for _ in NAMES.names]
    return pa.table({name: list(column) for name, column in zip(NAMES.names, columns, strict=True)}, arrow_schema(NAMES.fields))


def texts_of_ids(used: Used) -> dict[int, Text]:
    """What every id of `used` stands for. Raises BrokenInvariant if two texts have one id."""
    named: dict[int, Text] = {}

    def name(number: int, text: Text) -> None:
        _check_one_text(number, named.setdefault(number, text), text)

    for broker, topic, sub in set(used):
        if broker is not None:
            name(id_of(BROKER, broker), ("broker", broker, None, None))
        if topic is not None:
            name(id_of(TOPIC, topic), ("topic", None, topic, None))
            if sub is not None:
                name(id_of(SUBSCRIPTION, topic, sub), ("subscription", None, topic, sub))
    return named


def _check_one_text(number: int, one: Text, other: tuple[str | None, ...]) -> None:
    if one != other:
        raise BrokenInvariant(f"id {number} stands for {one} and {other}: two texts have the same hash")
