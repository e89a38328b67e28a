"""Write dashboards/*.json anew, and remove those that are no longer declared. A test compares each with its declaration."""

from generators.dashboards.grafana import grafana_json
from generators.dashboards.pages import PAGES
from generators.schema_files import REPOSITORY

FOLDER = REPOSITORY / "dashboards"


def main() -> None:
    """Write them."""
    files = {FOLDER / f"{page.uid}.json": grafana_json(page) for page in PAGES}
    for left_over in set(FOLDER.glob("*.json")) - files.keys():
        left_over.unlink()
    for path, content in files.items():
        path.write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
