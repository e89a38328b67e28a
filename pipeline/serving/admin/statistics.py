"""Statistics of a topic, of a partitioned topic, and the names of subscriptions."""

from collections.abc import Mapping

from pipeline.serving.admin.asked_rows import Rows, Tables
from pipeline.serving.admin.documents import Document, partitioned_document, topic_document
from pipeline.serving.admin.names import Names, NotFound
from pipeline.serving.admin.queries import SUBSCRIPTIONS, TOPICS
from pipeline.visible import document_json
from schemas.render.ddl import quoted


def stats(tables: Tables, names: Names, _: Mapping[str, str]) -> str:
    """`GET …/{topic}/stats`. Raises NotFound, and TooMany."""
    documents = _documents(tables, f"topic = {quoted(names.full_topic)}")
    if names.full_topic not in documents:
        raise NotFound(f"Topic {names.full_topic} not found: no broker has it now, so far as the tables tell")
    return document_json(documents[names.full_topic])


def partitioned_stats(tables: Tables, names: Names, asked: Mapping[str, str]) -> str:
    """`GET …/{topic}/partitioned-stats`, with `perPartition=true` the partitions, too. Raises NotFound, and TooMany."""
    documents = _documents(tables, f"partitioned_topic = {quoted(names.full_topic)} AND partition >= 0")
    if not documents:
        raise NotFound(f"Partitioned topic {names.full_topic} not found: no broker has a partition of it now, so far as the tables tell")
    return document_json(partitioned_document(documents, each=asked.get("perPartition", "").lower() == "true"))


def subscriptions(tables: Tables, names: Names, _: Mapping[str, str]) -> str:
    """`GET …/{topic}/subscriptions`; of a partitioned topic those of all its partitions. Raises NotFound, and TooMany."""
    topic = quoted(names.full_topic)
    documents = _documents(tables, f"(topic = {topic} OR partitioned_topic = {topic})")
    if not documents:
        raise NotFound(f"Topic {names.full_topic} not found: no broker has it now, so far as the tables tell")
    return document_json(sorted({name for document in documents.values() for name in document["subscriptions"]}))


def _documents(tables: Tables, where: str) -> dict[str, Document]:
    """Topic → its statistics, partitions in their order. Raises NotFound for a topic that two clusters have."""
    topics = {row["topic"]: row for row in _asked(tables, TOPICS, where)}
    of_topics: dict[str, list[Mapping[str, object]]] = {}
    places: dict[str, tuple[int, str]] = {name: (row["partition"], name) for name, row in topics.items()}
    for row in _asked(tables, SUBSCRIPTIONS, where):
        of_topics.setdefault(row["topic"], []).append(row)
        places[row["topic"]] = (row["partition"], row["topic"])
    return {name: topic_document(topics.get(name), of_topics.get(name, [])) for name in sorted(places, key=places.__getitem__)}


def _asked(tables: Tables, source: str, where: str) -> Rows:
    """Rows of one cluster."""
    rows = tables.rows(source, where)
    clusters = sorted({row["cluster"] or "" for row in rows})
    if len(clusters) > 1:
        raise NotFound(f"several clusters have it: {', '.join(clusters)}; ask a warehouse of one")
    return rows
