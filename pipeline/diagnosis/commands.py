"""Commands of pulsar-admin, and the effect that each has on what the broker holds. Pure.

Commands are those of Pulsar 4.0.8: tests hold them against what its pulsar-admin knows, and ./test.sh broker runs them at a real broker.
Another version may name them otherwise. A name is quoted for the shell.
"""

import re
import shlex
from typing import NamedTuple

ADMIN = "pulsar-admin"
#: How the name of a partition ends; as in the view `topics`.
_PARTITION = re.compile(r"-partition-(0|[1-9][0-9]*)\Z")
#: What a command does. The least harm first.
CHANGES_NOTHING, CAN_BE_UNDONE, LOSES_DATA = EFFECTS = ("changes_nothing", "can_be_undone", "loses_data")
#: By the first two words of each command. An unload drops no message: clients connect again, and a cursor goes on where it stood.
_EFFECT_OF = {
    "brokers update-dynamic-config": CAN_BE_UNDONE,
    "namespaces get-clusters": CHANGES_NOTHING,
    "topicPolicies get-delayed-delivery": CHANGES_NOTHING,
    "topicPolicies get-max-unacked-messages-per-consumer": CHANGES_NOTHING,
    "topicPolicies get-max-unacked-messages-per-subscription": CHANGES_NOTHING,
    "topicPolicies set-backlog-quota": CAN_BE_UNDONE,
    "topicPolicies set-dispatch-rate": CAN_BE_UNDONE,
    "topicPolicies set-subscription-dispatch-rate": CAN_BE_UNDONE,
    # Writes the newest message of each key into another ledger. The topic keeps what it has.
    "topics compact": CAN_BE_UNDONE,
    "topics compaction-status": CHANGES_NOTHING,
    "topics get-backlog-quotas": CHANGES_NOTHING,
    "topics stats": CHANGES_NOTHING,
    "topics stats-internal": CHANGES_NOTHING,
    "topics unload": CAN_BE_UNDONE,
    # Its cursor goes, and with it every message that only this subscription had still to get.
    "topics unsubscribe": LOSES_DATA,
    "transactions slow-transactions": CHANGES_NOTHING,
}


class Step(NamedTuple):
    """`do` is a sentence. `command` is null where pulsar-admin has nothing for it; then `effect` is, too. Else it is one of EFFECTS."""

    do: str
    command: str | None
    effect: str | None


def told(do: str) -> Step:
    """A step without a command."""
    return Step(do, None, None)


def step(do: str, *words: object) -> Step:
    """A step with the command of pulsar-admin that these words make. KeyError for one whose effect is not declared above."""
    return Step(do, " ".join([ADMIN, *(shlex.quote(str(word)) for word in words)]), _EFFECT_OF[f"{words[0]} {words[1]}"])


def stats(do: str, topic: str) -> Step:
    """With the command that shows cursors, consumers and rates of a topic."""
    return step(do, "topics", "stats", topic)


def unload(do: str, topic: str) -> Step:
    """With the command that drops the topic's object: the broker makes it anew for the next client."""
    return step(do, "topics", "unload", topic)


def policy_of(do: str, command: str, topic: str, *words: object) -> Step:
    """With a command of topicPolicies. Policies are those of the whole topic: the broker refuses one for a partition."""
    return step(do, "topicPolicies", command, *words, whole_topic(topic))


def whole_topic(topic: str) -> str:
    """The topic's name without that of its partition."""
    return _PARTITION.sub("", topic)


def is_partition(topic: str) -> bool:
    """Whether the topic is a partition of another one."""
    return _PARTITION.search(topic) is not None


def namespace_of(topic: str) -> str:
    """`shop/eu` of `persistent://shop/eu/orders`."""
    return topic.partition("://")[2].rpartition("/")[0]
