"""One page of each kind: its path and its question, about the incident of the demo."""

from looked_at import AMID

TOPIC = "persistent://real/y/orders"
BILLING = {"topic": TOPIC, "subscription": "billing"}
EVICTED = {"topic": "persistent://real/y/audit"}
#: Name → path and question.
EVERY_KIND: dict[str, tuple[str, dict[str, str]]] = {
    "now": ("/", {"at": AMID}),
    "not-known": ("/", {}),
    "subscription": ("/subscription", {"at": AMID, **BILLING}),
    "losing": ("/subscription", {"at": AMID, **EVICTED, "subscription": "archive"}),
    "topic": ("/topic", {"at": AMID, **EVICTED}),
    "broker": ("/broker", {"at": AMID, "broker": "127.0.0.1:8080"}),
    "log": ("/log", {"at": AMID}),
}
