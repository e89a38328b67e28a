"""Lists of names: clusters, tenants, namespaces, topics. They have what a broker has now, so far as the tables tell."""

from collections.abc import Mapping

from pipeline.serving.admin.asked_rows import Rows, Tables
from pipeline.serving.admin.names import Names, NotFound
from pipeline.serving.admin.queries import BROKERS, THERE
from pipeline.visible import document_json


def clusters(tables: Tables, _: Names, __: Mapping[str, str]) -> str:
    """`GET /clusters`."""
    return document_json(sorted({row["cluster"] for row in tables.rows(BROKERS) if row["cluster"] is not None}))


def tenants(tables: Tables, _: Names, __: Mapping[str, str]) -> str:
    """`GET /tenants`."""
    return document_json(sorted({row["tenant"] for row in tables.rows(THERE)}))


def namespaces(tables: Tables, names: Names, _: Mapping[str, str]) -> str:
    """`GET /namespaces/{tenant}`. Raises NotFound."""
    found = sorted({row["namespace"] for row in tables.rows(THERE, names.condition())})
    if not found:
        raise NotFound(f"Tenant {names.tenant} does not exist, so far as the tables tell")
    return document_json(found)


def topics(tables: Tables, names: Names, asked: Mapping[str, str]) -> str:
    """`GET /namespaces/{tenant}/{namespace}/topics` and `GET /persistent/{tenant}/{namespace}`: partitions by their own names.

    Raises NotFound.
    """
    return document_json(sorted(row["topic"] for row in _of_namespace(tables, names, asked)))


def partitioned_topics(tables: Tables, names: Names, asked: Mapping[str, str]) -> str:
    """`GET /persistent/{tenant}/{namespace}/partitioned`. Raises NotFound."""
    return document_json(sorted({row["partitioned_topic"] for row in _of_namespace(tables, names, asked) if row["partition"] >= 0}))


def nothing(_: Tables, __: Names, ___: Mapping[str, str]) -> str:
    """Lists of topics that are not persistent: the log has none of them."""
    return document_json([])


def _of_namespace(tables: Tables, names: Names, asked: Mapping[str, str]) -> Rows:
    rows = tables.rows(THERE, names.condition())
    if not rows:
        raise NotFound(f"Namespace {names.full_namespace} does not exist, so far as the tables tell")
    with_system = asked.get("includeSystemTopic", "").lower() == "true"
    return [row for row in rows if with_system or not row["is_system"]]
