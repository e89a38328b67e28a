"""A broker's web service: policies, topics, and its figures."""

import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

_TIMEOUT_S = 30.0


def rate(msgs: int = -1, byte: int = -1, *, period_s: int = 1, relative: bool = False) -> dict[str, Any]:
    """A dispatch rate as the service takes it; −1 is no limit."""
    return {
        "dispatchThrottlingRateInMsg": msgs,
        "dispatchThrottlingRateInByte": byte,
        "ratePeriodInSecond": period_s,
        "relativeToPublishRate": relative,
    }


@dataclass(frozen=True)
class Admin:
    """Requests to one broker. Topics are named in full: persistent://tenant/namespace/name."""

    web: str
    otel_metrics: str

    def is_ready(self) -> bool:
        """Whether a standalone serves: the namespace public/default is the last that it makes at its first start."""
        try:
            return "public/default" in self.ask_json("admin/v2/namespaces/public")
        except urllib.error.HTTPError:
            return False

    def ask(self, method: str, path: str, body: Any = None) -> bytes:
        """The answer of one request; urllib's HTTPError with the broker's reason if it refuses."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.web}/{path}", data=data, method=method, headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:
                return bytes(answer.read())
        except urllib.error.HTTPError as fault:
            reason = fault.read().decode("utf-8", "replace")[:300]
            raise urllib.error.HTTPError(fault.url, fault.code, f"{method} {path}: {reason}", fault.headers, None) from fault

    def ask_json(self, path: str) -> Any:
        """The answer to a GET, parsed."""
        return json.loads(self.ask("GET", path))

    # ---- what is set
    def make_namespace(self, namespace: str) -> None:
        """Make `tenant/namespace`, and the tenant where it is missing."""
        tenant = namespace.partition("/")[0]
        if tenant not in self.ask_json("admin/v2/tenants"):
            clusters = self.ask_json("admin/v2/clusters")
            self.ask("PUT", f"admin/v2/tenants/{tenant}", {"adminRoles": [], "allowedClusters": clusters})
        self.ask("PUT", f"admin/v2/namespaces/{namespace}", {})

    def make_cluster(self, name: str, web: str, service: str) -> None:
        """Declare another cluster, whether or not it is there."""
        self.ask("PUT", f"admin/v2/clusters/{name}", {"serviceUrl": web, "brokerServiceUrl": service})

    def replicate(self, namespace: str, cluster: str) -> None:
        """Replicate a namespace to a cluster, beside the clusters that it has."""
        tenant = namespace.partition("/")[0]
        path = f"admin/v2/tenants/{tenant}"
        known = self.ask_json(path)
        self.ask("POST", path, {**known, "allowedClusters": sorted({*known["allowedClusters"], cluster})})
        path = f"admin/v2/namespaces/{namespace}/replication"
        self.ask("POST", path, sorted({*self.ask_json(path), cluster}))

    def make_topic(self, topic: str) -> None:
        """Make a topic without partitions."""
        self.ask("PUT", _path(topic))

    def make_partitions(self, topic: str, count: int) -> None:
        """Make a topic with so many partitions."""
        self.ask("PUT", f"{_path(topic)}/partitions", count)

    def namespace_policy(self, namespace: str, policy: str, value: Any) -> None:
        """Set a policy of a namespace, by the name that it has in the service (`dispatchRate`, `subscriptionDispatchRate` …)."""
        self.ask("POST", f"admin/v2/namespaces/{namespace}/{policy}", value)

    def remove_namespace_policy(self, namespace: str, policy: str) -> None:
        """The namespace follows the broker again."""
        self.ask("DELETE", f"admin/v2/namespaces/{namespace}/{policy}")

    def topic_policy(self, topic: str, policy: str, value: Any) -> None:
        """The same for one topic."""
        self.ask("POST", f"{_path(topic)}/{policy}", value)

    def remove_topic_policy(self, topic: str, policy: str) -> None:
        """The topic follows its namespace again."""
        self.ask("DELETE", f"{_path(topic)}/{policy}")

    def size_quota(self, topic: str, limit_bytes: int, policy: str) -> None:
        """Set the size quota of a topic."""
        value = {"limitSize": limit_bytes, "limitTime": -1, "policy": policy}
        self.topic_policy(topic, "backlogQuota?backlogQuotaType=destination_storage", value)

    def age_quota(self, topic: str, limit_s: int, policy: str) -> None:
        """Set the age quota of a topic."""
        value = {"limitSize": -1, "limitTime": limit_s, "policy": policy}
        self.topic_policy(topic, "backlogQuota?backlogQuotaType=message_age", value)

    def broker_setting(self, name: str, value: object) -> None:
        """Change a dynamic setting of the broker."""
        self.ask("POST", f"admin/v2/brokers/configuration/{name}/{quote(str(value), safe='')}")

    def unload(self, topic: str) -> None:
        """Drop the topic's object; the next client loads it."""
        self.ask("PUT", f"{_path(topic)}/unload")

    def compact(self, topic: str) -> None:
        """Begin a compaction; HTTPError (409) where one runs."""
        self.ask("PUT", f"{_path(topic)}/compaction")

    def subscription(self, method: str, topic: str, sub: str, action: str = "", body: Any = None) -> None:
        """A request about one subscription: `skip/100`, `skip_all`, `resetcursor/TIMESTAMP_MS` …; DELETE without an action unsubscribes."""
        self.ask(method, f"{_path(topic)}/subscription/{quote(sub, safe='')}{'/' + action if action else ''}", body)

    # ---- what it reports
    def topics(self, namespace: str) -> list[str]:
        """The topics of a namespace; system topics are not among them."""
        return sorted(self.ask_json(f"admin/v2/persistent/{namespace}"))

    def stats(self, topic: str) -> Any:
        """Statistics with exact backlogs, sizes and earliest times."""
        return self.ask_json(f"{_path(topic)}/stats?getPreciseBacklog=true&subscriptionBacklogSize=true&getEarliestTimeInBacklog=true")

    def internal_stats(self, topic: str) -> Any:
        """Ledgers and cursors."""
        return self.ask_json(f"{_path(topic)}/internalStats")

    def compaction_status(self, topic: str) -> str:
        """Of the newest compaction since the topic was loaded: NOT_RUN, RUNNING, SUCCESS or ERROR."""
        return str(self.ask_json(f"{_path(topic)}/compaction")["status"])

    def metrics(self) -> str:
        """The `pulsar_…` lines of /metrics."""
        text = self.ask("GET", "metrics/").decode()
        return "".join(f"{line}\n" for line in text.splitlines() if line.startswith("pulsar_"))

    def otel(self) -> str:
        """The `pulsar_broker_…` lines of what OpenTelemetry exports."""
        with urllib.request.urlopen(self.otel_metrics, timeout=_TIMEOUT_S) as answer:
            text = answer.read().decode()
        wanted = ("pulsar_broker_connection_rate_limit", "pulsar_broker_topic_storage_backlog")
        return "".join(f"{line}\n" for line in text.splitlines() if line.startswith(wanted))


def _path(topic: str) -> str:
    return f"admin/v2/{topic.replace('://', '/')}"
