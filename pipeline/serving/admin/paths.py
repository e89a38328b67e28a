"""The paths below `/admin/v2` that are answered, each with its document; and those that are not, with the reason."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import unquote_plus

from pipeline.serving.admin import brokers, limits, lists, statistics
from pipeline.serving.admin.asked_rows import Tables
from pipeline.serving.admin.names import BadName, Names, NotFound

#: From tables, names of the path and the query to the text of an answer.
Document = Callable[[Tables, Names, Mapping[str, str]], str]
JSON, TEXT = "application/json", "text/plain"


@dataclass(frozen=True)
class Path:
    """A GET below `/admin/v2`."""

    pattern: str
    document: Document
    meaning: str
    #: Names of the query that change the answer; all others that a client sends change nothing.
    asked: tuple[str, ...] = ()
    media_type: str = JSON


_NAMESPACE = "{tenant}/{namespace}"
_TOPIC = f"persistent/{_NAMESPACE}/{{topic}}"
PATHS = (
    Path(f"{_TOPIC}/stats", statistics.stats, "statistics of a topic, or of one partition"),
    Path(f"{_TOPIC}/partitioned-stats", statistics.partitioned_stats, "those of its partitions, added as Pulsar does", ("perPartition",)),
    Path(f"{_TOPIC}/subscriptions", statistics.subscriptions, "names of subscriptions"),
    Path(f"{_TOPIC}/backlogQuotaMap", limits.backlog_quotas, "quotas that the topic sets; `applied=true`: those that rule", ("applied",)),
    Path(f"{_TOPIC}/dispatchRate", limits.topic_rate, "the dispatch rate of the topic, likewise; 204: none", ("applied",)),
    Path(f"{_TOPIC}/subscriptionDispatchRate", limits.subscription_rate, "that of its subscriptions, likewise; 204: none", ("applied",)),
    Path(f"persistent/{_NAMESPACE}", lists.topics, "topics; `includeSystemTopic=true`: system topics, too", ("includeSystemTopic",)),
    Path(f"persistent/{_NAMESPACE}/partitioned", lists.partitioned_topics, "topics that have partitions", ("includeSystemTopic",)),
    Path(f"non-persistent/{_NAMESPACE}", lists.nothing, "none: they are not in the log"),
    Path(f"non-persistent/{_NAMESPACE}/partitioned", lists.nothing, "none"),
    Path("namespaces/{tenant}", lists.namespaces, "namespaces of a tenant"),
    Path(f"namespaces/{_NAMESPACE}/topics", lists.topics, "the same as `persistent/…`", ("includeSystemTopic",)),
    Path(f"namespaces/{_NAMESPACE}/backlogQuotaMap", limits.namespace_quotas, "quotas that the namespace sets"),
    Path("tenants", lists.tenants, "tenants"),
    Path("clusters", lists.clusters, "clusters"),
    Path("brokers/health", brokers.health, "`ok`: the tables can be read. No health of a broker", media_type=TEXT),
    Path("brokers/version", brokers.version, "the version of all brokers", media_type=TEXT),
)
#: Pattern → why nothing answers it.
NOT_ANSWERED = {
    f"{_TOPIC}/internalStats": "no table has the ledgers and cursors of managed ledgers",
    f"{_TOPIC}/partitions": "the log has partitions that a broker loaded, not how many there are",
}
_UNKNOWN = "this path is not answered from the tables"


def path_of(raw: str) -> tuple[Path, Names]:
    """The path and its names, of what follows `/admin/v2/` in a request as it was sent: a slash within a name is percent-encoded.

    Raises NotFound for a path that is not answered, BadName for a name that no broker would take.
    """
    for path in PATHS:
        if found := _matched(path.pattern, raw):
            return path, found
    for pattern, reason in NOT_ANSWERED.items():
        if _matched(pattern, raw):
            raise NotFound(f"{_UNKNOWN}: {reason}")
    raise NotFound(_UNKNOWN)


def _matched(pattern: str, raw: str) -> Names | None:
    expression = re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(pattern))
    found = re.fullmatch(expression, raw)
    return None if found is None else Names(**{name: _decoded(text) for name, text in found.groupdict().items()})


def _decoded(text: str) -> str:
    try:
        return unquote_plus(text, errors="strict")
    except UnicodeDecodeError as fault:
        raise BadName(f"no UTF-8: {text[:100]}") from fault
