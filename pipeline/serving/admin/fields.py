"""Which fields of Pulsar's `TopicStats` and `SubscriptionStats` the tables know, and the columns that have the values."""

from dataclasses import dataclass

#: How Pulsar makes the field of a partitioned topic from those of its partitions (TopicStatsImpl.add, SubscriptionStatsImpl.add).
SUM, LAST, ANY, EARLIEST, NOT_ADDED = "the sum", "that of the last partition", "true if one is", "the least, where 0 is none", "none"


@dataclass(frozen=True)
class Field:
    """A field; where the column is null the field is left out."""

    name: str
    #: Of a row of queries.TOPICS or queries.SUBSCRIPTIONS.
    column: str
    partitions: str
    meaning: str


_AT_CHECK = "; of the newest quota check"
TOPIC_FIELDS = (
    Field("backlogQuotaLimitSize", "limit_size", LAST, "PIP-323: size limit in bytes, negative = none"),
    Field("backlogQuotaLimitTime", "limit_s", LAST, "PIP-323: age limit in seconds, −1 = none"),
    Field("backlogSize", "backlog_size", SUM, f"bytes from the slowest durable cursor on{_AT_CHECK}, after its actions"),
    Field("oldestBacklogMessageAgeSeconds", "age_s", "the greatest, at least 0", "PIP-323: age by the broker's rule, −1 = none"),
    Field(
        "oldestBacklogMessageSubscriptionName", "oldest_subscription", "of the partition with that age",
        "PIP-323: whose cursor that is; left out where there is no age",
    ),
    Field("ownerBroker", "broker", NOT_ADDED, "the broker that has the topic, by its name in the log"),
)  # fmt: skip

_LEVELS = ("Subscription", "Topic", "Broker")
_DIMENSIONS = {"Msg": "messages", "Bytes": "bytes"}
SUBSCRIPTION_FIELDS = (
    Field("msgBacklog", "back_log", SUM, "entries not acknowledged"),
    Field(
        "msgBacklogNoDelayed", "back_log_no_delayed", SUM,
        "without those held for later delivery; known where none can be held",
    ),
    Field("backlogSize", "backlog_size", SUM, f"bytes from its own mark-delete position on{_AT_CHECK}"),
    Field("earliestMsgPublishTimeInBacklog", "oldest_ms", EARLIEST, f"ms since 1970, −1 = no backlog{_AT_CHECK}"),
    Field("unackedMessages", "unacked_messages", SUM, f"messages that consumers have{_AT_CHECK}"),
    Field("nonContiguousDeletedMessagesRanges", "deleted_ranges", SUM, f"0 where no entry behind the mark-delete position is{_AT_CHECK}"),
    Field("type", "sub_type", LAST, "Exclusive, Shared, Failover or Key_Shared; None where no consumer came yet"),
    Field("durable", "durable", ANY, "false: a reader's"),
    Field("isDurable", "durable", ANY, "the same"),
    *(
        Field(
            f"dispatchThrottled{dimension}EventsBy{level}Limit",
            f"dispatch_throttled_{dimension.lower()}_events_by_{level.lower()}_limit_since_open", SUM,
            f"PIP-406: reads whose {what} the {level.lower()}'s limiter lowered, since the dispatcher was opened",
        )
        for dimension, what in _DIMENSIONS.items() for level in _LEVELS
    ),
)  # fmt: skip
