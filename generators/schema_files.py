"""Files that are rendered from schemas/: the DDL of each table, the pages of tables and of the log, and its JSON schema."""

from pathlib import Path

from schemas.render.ddl import create_table
from schemas.render.event_log import event_log_page
from schemas.render.json_schema import event_schema_text
from schemas.render.markdown import tables_page
from schemas.tables import TABLES

REPOSITORY = Path(__file__).resolve().parents[1]


def rendered_files() -> dict[str, str]:
    """Content of every rendered file, by its path in the repository. Folders in the DDL are `WAREHOUSE/<table>`."""
    files = {f"schemas/rendered/{t.name}.sql": create_table(t, f"WAREHOUSE/{t.name}") + ";\n" for t in TABLES}
    files["docs/reference/tables.md"] = tables_page()
    files["docs/reference/event-log.md"] = event_log_page()
    files["docs/reference/event-log.schema.json"] = event_schema_text()
    return files
