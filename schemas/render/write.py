"""Write every rendered file into the repository: `python -m schemas.render.write`."""

from pathlib import Path

from schemas.render.ddl import create_table
from schemas.render.event_log import event_log_page
from schemas.render.json_schema import event_schema_text
from schemas.render.markdown import tables_page
from schemas.tables import TABLES

REPOSITORY = Path(__file__).resolve().parents[2]


def rendered_files() -> dict[str, str]:
    """Content of every rendered file, by its path in the repository. Folders in the DDL are `WAREHOUSE/<table>`."""
    files = {f"schemas/rendered/{t.name}.sql": create_table(t, f"WAREHOUSE/{t.name}") + ";\n" for t in TABLES}
    files["docs/reference/tables.md"] = tables_page()
    files["docs/reference/event-log.md"] = event_log_page()
    files["docs/reference/event-log.schema.json"] = event_schema_text()
    return files


def main() -> None:
    """Write them all, and remove the DDL of tables that are no longer declared."""
    files = rendered_files()
    for left_over in (REPOSITORY / "schemas/rendered").glob("*.sql"):
        if f"schemas/rendered/{left_over.name}" not in files:
            left_over.unlink()
    for path, content in files.items():
        target = REPOSITORY / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
