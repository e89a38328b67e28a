"""What clients ask before anything else: whether somebody answers, and of which version the brokers are."""

from collections.abc import Mapping

from pipeline.serving.admin.asked_rows import Tables
from pipeline.serving.admin.names import Names, NotFound
from pipeline.serving.admin.queries import BROKERS


def health(tables: Tables, _: Names, __: Mapping[str, str]) -> str:
    """`GET /brokers/health`: that the tables can be read. It is no health of a broker: `/readyz` has how old the answers are."""
    tables.rows(BROKERS)
    return "ok"


def version(tables: Tables, _: Names, __: Mapping[str, str]) -> str:
    """`GET /brokers/version`, where all brokers of the log have the same. Raises NotFound."""
    versions = {row["version"] for row in tables.rows(BROKERS)}
    if len(versions) != 1 or None in versions:
        found = ", ".join(sorted(str(one) for one in versions)) or "none"
        raise NotFound(f"the brokers have no version in common that the log has: {found}")
    return str(versions.pop())
