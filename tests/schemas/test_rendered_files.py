"""The files in the repository are what the declarations say today."""

import pytest

from generators.schema_files import REPOSITORY, rendered_files
from schemas.tables import TABLES
from schemas.tables.bronze import REASONS

FILES = rendered_files()
PAGE = FILES["docs/reference/tables.md"]


@pytest.mark.parametrize("path", FILES)
def test_rendered_file_in_the_repository_is_up_to_date(path: str) -> None:
    written = (REPOSITORY / path).read_text(encoding="utf-8")
    assert written == FILES[path], f"{path} is old: python -m generators"


def test_no_rendered_ddl_is_left_of_a_table_that_is_gone() -> None:
    assert {p.stem for p in (REPOSITORY / "schemas/rendered").glob("*.sql")} == {t.name for t in TABLES}


def test_the_page_shows_every_column_and_reason() -> None:
    for table in TABLES:
        section = PAGE.split(f"\n## {table.name}\n")[1].split("\n## ")[0]
        assert [line.split("`")[1] for line in section.splitlines() if line.startswith("| `")] == list(table.names)
    for name in REASONS:
        assert f"| `{name}` |" in PAGE


def test_the_page_names_pulsars_own_metric_where_a_value_equals_it() -> None:
    line = next(x for x in PAGE.splitlines() if x.startswith("| `dispatch_throttled_msg_events_by_broker_limit_since_open`"))
    assert "`pulsar_subscription_dispatch_throttled_msg_events{reason=broker}`" in line
