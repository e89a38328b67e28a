"""Write every generated file anew, and remove the DDL of tables that are no longer declared. Tests compare each with its declaration."""

from pathlib import Path

from generators import admin_page, by_question, clean_metrics_page, commands_page, drawing, fold, metrics_page, settings_page, views_page
from generators.schema_files import REPOSITORY, rendered_files

_PAGES = (admin_page, by_question, clean_metrics_page, commands_page, metrics_page, settings_page, views_page)


def generated() -> dict[Path, str]:
    """The content of every generated file."""
    pages = {page.DOCUMENT: page.render() for page in _PAGES}
    schemas = {REPOSITORY / path: content for path, content in rendered_files().items()}
    return {fold.FOLD: fold.formatted(), drawing.DRAWING: drawing.draw(drawing.TEXT.read_text(encoding="utf-8")), **pages, **schemas}


def main() -> None:
    """Write them."""
    files = generated()
    for left_over in (REPOSITORY / "schemas/rendered").glob("*.sql"):
        if left_over not in files:
            left_over.unlink()
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
