"""The declared tables as docs/reference/tables.md."""

from schemas.completeness import INCOMPLETE_REASONS
from schemas.field import Field, Table
from schemas.packages import NEEDS
from schemas.render.words import code, grid
from schemas.tables import TABLES
from schemas.tables.bronze import REASONS

HEAD = """# Tables

Generated from `schemas/` by `python -m generators`: do not edit, a test compares. Every table is the Delta folder
`WAREHOUSE/<table>`. Times are UTC. Views over these tables: [views.md](views.md), and how to ask them:
[cookbook.md](../guide/cookbook.md). Rules of counting: [throttling.md](../design/throttling.md),
[backlog.md](../design/backlog.md). The events of the log: [event-log.md](event-log.md).
"""


def _column(field: Field) -> tuple[str, ...]:
    nullable = "null" if field.nullable else ""
    return code(field.name), field.type, field.unit, nullable, code(field.check), code(field.pulsar), field.meaning


def table_section(table: Table) -> str:
    """One table: meaning, grain, partitioning, and its columns."""
    partitioned = f"Partitioned by {', '.join(map(code, table.partition_by))}." if table.partition_by else "Not partitioned."
    grain = ", ".join(code(name) for name in table.grain)
    keyed = f"This holds only where {code(table.grain_where)}. " if table.grain_where else ""
    needs = f"\n\nIts rows need these events: {', '.join(map(code, NEEDS[table.name]))}." if table.name in NEEDS else ""
    columns = grid(("column", "type", "unit", "null?", "check", "Pulsar's own name", "meaning"), map(_column, table.fields))
    return f"## {table.name}\n\n{table.meaning}\n\nOne row per {grain}. {keyed}{partitioned}{needs}\n\n{columns}"


def reasons_section() -> str:
    """Why a line is quarantined."""
    return "## Reason codes of quarantine\n\n" + grid(("reason", "meaning"), ((code(reason), text) for reason, text in REASONS.items()))


def incomplete_section() -> str:
    """Why a row is not complete."""
    return "## Reasons why a row is not complete\n\n" + grid(
        ("incomplete_reason", "meaning"), ((code(r), text) for r, text in INCOMPLETE_REASONS.items())
    )


def tables_page() -> str:
    """The whole of docs/reference/tables.md."""
    links = "\n".join(f"- [{t.name}](#{t.name}): {t.meaning}" for t in TABLES)
    return "\n".join((HEAD, links, "", *(table_section(t) for t in TABLES), incomplete_section(), "", reasons_section()))
