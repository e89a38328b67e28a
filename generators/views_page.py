"""Renders docs/reference/views.md from the comments at the heads of the views.

`python -m generators` writes it anew; a test compares it.
"""

from pathlib import Path

from pipeline.query.views.catalog import VIEWS, question, sql_of

DOCUMENT = Path(__file__).resolve().parents[1] / "docs/reference/views.md"
_HEAD = """# Views

Generated from `pipeline/query/views/*.sql` by `python -m generators`: do not edit, a test compares.
Each is a temporary view over the tables ([tables.md](tables.md)) in `./spark-submit.sh sql`, as fresh as they are.
Questions and their SQL: [cookbook.md](../guide/cookbook.md).
"""


def explanation(view: str) -> list[str]:
    """The lines of the view's comment block below its question: what a row is, what the columns are."""
    lines = sql_of(view).splitlines()
    first_of_query = next(number for number, line in enumerate(lines) if not line.startswith("--"))
    return [line.removeprefix("--").removeprefix(" ") for line in lines[1:first_of_query]]


def render() -> str:
    """The whole page."""
    links = "".join(f"- [{view}](#{view}): {question(view)}\n" for view in VIEWS)
    return "".join((_HEAD, "\n", links, *map(_section, VIEWS)))


def _section(view: str) -> str:
    return "\n".join(("", f"## {view}", "", question(view), "", "```text", *explanation(view), "```", ""))
