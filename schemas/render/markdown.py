"""The declared tables and events as docs/tables.md."""

from collections.abc import Iterable, Sequence

from schemas.events import ENVELOPE, ENVELOPE_REQUIRED, EVENT_TYPES, LONG_MAX, LONG_MIN, PAYLOAD, EventField
from schemas.field import Field, Table
from schemas.tables import TABLES
from schemas.tables.bronze import REASONS

HEAD = """# Tables and events

Generated from `schemas/` by `python -m schemas.render.write`: do not edit, a test compares. Every table is the Delta folder
`WAREHOUSE/<table>`. Times are UTC. Views over these tables: [views.md](views.md), and how to ask them: [cookbook.md](cookbook.md); what
is counted and how: [throttling.md](throttling.md), [backlog.md](backlog.md).
"""
EVENTS_HEAD = """## The event log, contract version 1

One JSON object on a line, or one Parquet row. Absent fields are left out or null. Unknown fields and unknown types are kept.
"""
KINDS = {"map": "map of strings", "longs": "list of long"}


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _grid(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def _column(field: Field) -> tuple[str, ...]:
    nullable = "null" if field.nullable else ""
    return _code(field.name), field.type, field.unit, nullable, _code(field.check), _code(field.pulsar), field.meaning


def table_section(table: Table) -> str:
    """One table: meaning, grain, partitioning, and its columns."""
    partitioned = f"Partitioned by {', '.join(map(_code, table.partition_by))}." if table.partition_by else "Not partitioned."
    grain = ", ".join(_code(name) for name in table.grain) + (f" where {_code(table.grain_where)}" if table.grain_where else "")
    columns = _grid(("column", "type", "unit", "null?", "check", "Pulsar's own name", "meaning"), map(_column, table.fields))
    return f"## {table.name}\n\n{table.meaning}\n\nOne row per {grain}. {partitioned}\n\n{columns}"


def _allowed(field: EventField) -> str:
    """What its values are limited to, in words."""
    if field.one_of:
        return ", ".join(_code(value) for value in field.one_of)
    low = field.minimum if field.minimum != LONG_MIN else None
    high = field.maximum if field.maximum != LONG_MAX else None
    if low is not None and low == high:
        return str(low)
    return ", ".join(f"{sign} {bound}" for sign, bound in (("≥", low), ("≤", high)) if bound is not None)


def _carried_by(name: str) -> str:
    return ", ".join(t.name for t in EVENT_TYPES if name in (*t.required, *t.optional))


def events_section() -> str:
    """The contract: envelope, event types, payload fields."""
    envelope = _grid(
        ("field", "type", "unit", "allowed", "must", "meaning"),
        (
            (_code(f.name), KINDS.get(f.kind, f.kind), f.unit, _allowed(f), "yes" if f.name in ENVELOPE_REQUIRED else "", f.meaning)
            for f in ENVELOPE
        ),
    )
    types = _grid(
        ("type", "code", "must carry", "may carry"),
        (
            (_code(t.name), str(t.code), ", ".join(map(_code, t.required)), ", ".join(map(_code, t.optional)))
            for t in EVENT_TYPES
        ),
    )  # fmt: skip
    payload = _grid(
        ("field", "type", "unit", "allowed", "meaning", "carried by"),
        ((_code(f.name), KINDS.get(f.kind, f.kind), f.unit, _allowed(f), f.meaning, _carried_by(f.name)) for f in PAYLOAD),
    )
    needs = "A `dispatch_rate` of level `topic` must carry `topic`, one of level `subscription` also `sub`.\n"
    parts = (EVENTS_HEAD, "### On every event\n", envelope, "### Event types\n", types, needs, "### Payload fields\n", payload)
    return "\n".join(parts)


def reasons_section() -> str:
    """Why a line is quarantined."""
    return "## Reason codes of quarantine\n\n" + _grid(("reason", "meaning"), ((_code(code), text) for code, text in REASONS.items()))


def tables_page() -> str:
    """The whole of docs/tables.md."""
    links = "\n".join(f"- [{t.name}](#{t.name}): {t.meaning}" for t in TABLES)
    return "\n".join((HEAD, links, "", *(table_section(t) for t in TABLES), reasons_section(), events_section()))
