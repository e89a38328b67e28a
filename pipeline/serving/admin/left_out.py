"""Fields of Pulsar 4.0.8's statistics that this project does not answer, with the reason."""

_PERIOD = "the broker's average over its own period of statistics, whose borders are not in the log"
_SINCE_LOAD = "no table counts it since the topic was loaded"
_DELAYED = "no table has how many entries are held for later delivery"
_OFFLOADED = "the log does not have offloaded ledgers"
_LAST = "the time of one event of the subscription: the log has it, no table keeps it"
_RANGES = "a check has how many entries behind the mark-delete position are acknowledged, not in how many ranges"
_FILTERS = "the log does not have the work of entry filters"
_KEYS = "no table has the hashes that a Key_Shared dispatcher drains"
_POLICY = "the log does not have this setting"
_TRANSACTIONS = "no table counts transactions"

#: Of a topic: field → why it is left out.
OF_TOPICS = {
    "abortedTxnCount": _TRANSACTIONS,
    "averageMsgSize": _PERIOD,
    "bytesInCounter": _SINCE_LOAD,
    "bytesOutCounter": _SINCE_LOAD,
    "bytesOutInternalCounter": _SINCE_LOAD,
    "committedTxnCount": _TRANSACTIONS,
    "compaction": "no table has compactions",
    "deduplicationStatus": _POLICY,
    "delayedMessageIndexSizeInBytes": _DELAYED,
    "lastOffloadFailureTimeStamp": _OFFLOADED,
    "lastOffloadLedgerId": _OFFLOADED,
    "lastOffloadSuccessTimeStamp": _OFFLOADED,
    "msgChunkPublished": "the log does not have chunks",
    "msgInCounter": _SINCE_LOAD,
    "msgOutCounter": _SINCE_LOAD,
    "msgRateIn": _PERIOD,
    "msgRateOut": _PERIOD,
    "msgThroughputIn": _PERIOD,
    "msgThroughputOut": _PERIOD,
    "nonContiguousDeletedMessagesRanges": _RANGES,
    "nonContiguousDeletedMessagesRangesSerializedSize": _RANGES,
    "offloadedStorageSize": _OFFLOADED,
    "ongoingTxnCount": _TRANSACTIONS,
    "publishRateLimitedTimes": _SINCE_LOAD,
    "replication": "the log has cursors of replicators, not the clusters that they replicate to",
    "storageSize": "a check has it before the broker trims ledgers, and no table after that",
    "systemTopicBytesInCounter": _SINCE_LOAD,
    "waitingPublishers": "the log does not have producers that wait for exclusive access",
}
#: Of a subscription.
OF_SUBSCRIPTIONS = {
    "allowOutOfOrderDelivery": _POLICY,
    "blockedSubscriptionOnUnackedMsgs": "a table has that cap as a cause, not as it stands at an instant",
    "bytesOutCounter": _SINCE_LOAD,
    "chunkedMessageRate": _PERIOD,
    "consumers": "no table has the consumers at an instant",
    "consumersAfterMarkDeletePosition": "no table has the consumers at an instant",
    "delayedMessageIndexSizeInBytes": _DELAYED,
    "drainingHashesClearedTotal": _KEYS,
    "drainingHashesCount": _KEYS,
    "drainingHashesUnackedMessages": _KEYS,
    "filterAcceptedMsgCount": _FILTERS,
    "filterProcessedMsgCount": _FILTERS,
    "filterRejectedMsgCount": _FILTERS,
    "filterRescheduledMsgCount": _FILTERS,
    "isReplicated": _POLICY,
    "keySharedMode": _POLICY,
    "lastAckedTimestamp": _LAST,
    "lastConsumedFlowTimestamp": _LAST,
    "lastConsumedTimestamp": _LAST,
    "lastExpireTimestamp": _LAST,
    "lastMarkDeleteAdvancedTimestamp": _LAST,
    "messageAckRate": _PERIOD,
    "msgDelayed": _DELAYED,
    "msgInReplay": "no table has how many entries are in the replay queue",
    "msgOutCounter": _SINCE_LOAD,
    "msgRateExpired": _PERIOD,
    "msgRateOut": _PERIOD,
    "msgRateRedeliver": _PERIOD,
    "msgThroughputOut": _PERIOD,
    "nonContiguousDeletedMessagesRangesSerializedSize": _RANGES,
    "replicated": _POLICY,
    "subscriptionProperties": _POLICY,
    "totalMsgExpired": _SINCE_LOAD,
}
#: Values of fields that are answered, of which a reader would expect one.
VALUES = {
    "`msgBacklogNoDelayed` of a Shared or Key_Shared subscription with a backlog": _DELAYED,
    "`backlogSize` after an eviction that went elsewhere than the rule, until the next check": "bytes are known at checks",
    "fields of the check of a subscription whose cursor an eviction moved, until the next check": "the check is of the moment before",
    "`earliestMsgPublishTimeInBacklog` where an entry behind the mark-delete position is acknowledged; "
    "`earliestMsgPublishTimeInBacklogs` of the topic then": "the broker takes the first entry there, whether it is acknowledged or not",
    "`nonContiguousDeletedMessagesRanges` other than 0": _RANGES,
    "the fields of each object in `publishers`": "no table has producers by name: the number of objects is theirs",
    "`oldestBacklogMessageAgeSeconds` of an age that is not certain": "the broker may have seen either of two states",
    "all that an incomplete part of the log could have changed": "events were lost, or the beginning was not seen (`complete` = false)",
}
