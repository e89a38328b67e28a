"""Text of every id that bronze uses, written when it is first met, and remembered by who writes or reads it."""

from collections.abc import Collection, Iterable, Mapping

import pyarrow as pa

from pipeline.faults import BrokenInvariant
from pipeline.store.arrow_reader import arrow_rows
from pipeline.store.open_tables import known_of
from pipeline.warehouse.append import app_id_of, append_rows
from pipeline.warehouse.layout import Warehouse
from schemas.ids import BROKER, SUBSCRIPTION, TOPIC, id_of
from schemas.render.arrow import arrow_schema
from schemas.tables.bookkeeping import NAMES

#: Names that a process remembers: some hundred bytes each.
_MOST_REMEMBERED = 200_000
#: Broker, topic and subscription of events; null where an event has none.
Used = Iterable[tuple[str | None, str | None, str | None]]
#: What an id stands for: its level, and the text of that level.
Text = tuple[str, str | None, str | None, str | None]


def write_names(used: Used, warehouse: Warehouse, query_id: str, batch_id: int) -> None:
    """Add to `names` what `used` (repeats do not matter) names and the table lacks.

    Raises BrokenInvariant if an id has two texts: hashes of 64 bits do not collide by chance among names that a person could count.
    """
    wanted = texts_of_ids(used)
    known = known_names(warehouse, wanted)
    for number, text in known.items():
        _check_one_text(number, wanted[number], text)
    new = {number: text for number, text in wanted.items() if number not in known}
    append_rows(warehouse, NAMES, name_rows(new), (app_id_of(query_id, NAMES.name), batch_id))
    _remember(warehouse, new)


def known_names(warehouse: Warehouse, ids: Collection[int]) -> dict[int, Text]:
    """What `names` says of these ids; one that it lacks is left out. This process asks the table once for each: names never change."""
    uri = warehouse.table(NAMES.name)
    known = known_of(uri)
    found: dict[int, Text] = {number: text for number in ids if (text := known.get(number)) is not None}
    missing = [number for number in ids if number and number not in found]  # 0: a row of no topic, of no subscription
    if missing:
        rows = arrow_rows(uri, among={"id": missing}).to_pylist()
        read: dict[int, Text] = {row["id"]: (row["level"], row["broker"], row["topic"], row["subscription"]) for row in rows}
        _remember(warehouse, read)
        found |= read
    return found


def _remember(warehouse: Warehouse, names: Mapping[int, Text]) -> None:
    known = known_of(warehouse.table(NAMES.name))
    if len(known) + len(names) > _MOST_REMEMBERED:
        known.clear()
    if len(names) <= _MOST_REMEMBERED:
        known |= names


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
