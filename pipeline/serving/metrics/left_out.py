"""What Pulsar 4.0.8 prints and this project does not, with the reason."""

_PERIOD = "the broker's average over its own period of statistics, whose borders are not in the log"
_SINCE_LOAD = "no table counts it since the topic was loaded"
_LATENCY = "latencies of storage and sizes of entries: the log does not have them"
_INNER = "the inner life of the broker and of the services that it calls: the log does not have it"
_DELAYED = "no table has how many entries are held for later delivery"
_LAST = "the time of one event of the subscription: the log has it, no table keeps it"

#: Family, or the beginning of the names of several with * at its end → why it has no line.
LEFT_OUT = {
    "pulsar_consumers_count": "no table has the number of consumers at an instant",
    "pulsar_subscription_consumers_count": "no table has the number of consumers at an instant",
    "pulsar_rate_in": _PERIOD,
    "pulsar_rate_out": _PERIOD,
    "pulsar_throughput_in": _PERIOD,
    "pulsar_throughput_out": _PERIOD,
    "pulsar_average_msg_size": _PERIOD,
    "pulsar_storage_read_rate": _PERIOD,
    "pulsar_storage_write_rate": _PERIOD,
    "pulsar_storage_read_cache_misses_rate": _PERIOD,
    "pulsar_subscription_msg_rate_out": _PERIOD,
    "pulsar_subscription_msg_throughput_out": _PERIOD,
    "pulsar_subscription_msg_rate_redeliver": _PERIOD,
    "pulsar_subscription_msg_rate_expired": _PERIOD,
    "pulsar_subscription_msg_ack_rate": _PERIOD,
    "pulsar_subscription_msg_drop_rate": _PERIOD,
    "pulsar_in_bytes_total": _SINCE_LOAD,
    "pulsar_in_messages_total": _SINCE_LOAD,
    "pulsar_out_bytes_total": _SINCE_LOAD,
    "pulsar_out_messages_total": _SINCE_LOAD,
    "pulsar_publish_rate_limit_times": _SINCE_LOAD,
    "pulsar_subscription_total_msg_expired": _SINCE_LOAD,
    "pulsar_txn_*": _SINCE_LOAD,
    "pulsar_subscription_delayed": _DELAYED,
    "pulsar_subscription_delayed_message_index_size_bytes": _DELAYED,
    "pulsar_delayed_message_index_size_bytes": _DELAYED,
    "pulsar_subscription_in_replay": "no table has how many entries are in the replay queue",
    "pulsar_subscription_unacked_messages": "the broker adds up its consumers', the tables have the subscription's: not yet compared",
    "pulsar_subscription_blocked_on_unacked_messages": "a table has that cap as a cause, not as it stands at an instant",
    "pulsar_subscription_last_*": _LAST,
    "pulsar_subscription_filter_*": "the log does not have the work of entry filters",
    "pulsar_storage_size": "the bytes of all copies: the log does not have how many copies a ledger has",
    "pulsar_storage_logical_size": "a check has it before the broker trims ledgers, and no table after that",
    "pulsar_storage_offloaded_size": "the log does not have offloaded ledgers",
    "pulsar_storage_write_latency_*": _LATENCY,
    "pulsar_storage_ledger_write_latency_*": _LATENCY,
    "pulsar_entry_size_*": _LATENCY,
    "pulsar_topics_count": "topics that are not persistent are not in the log, and count here",
    "pulsar_broker_topics_count": "topics that are not persistent are not in the log, and count here",
    "pulsar_broker_in_bytes_total": "system topics count here, and their life is not in the log",
    "pulsar_broker_out_bytes_total": "system topics count here, and their life is not in the log",
    "pulsar_broker_msg_backlog": "system topics count here, and their life is not in the log",
    "pulsar_broker_storage_size": "system topics count here, and their life is not in the log",
    "pulsar_broker_storage_logical_size": "system topics count here, and their life is not in the log",
    "pulsar_broker_subscriptions_count": "system topics count here, and their life is not in the log",
    "pulsar_broker_producers_count": "system topics count here, and their life is not in the log",
    "pulsar_broker_consumers_count": "system topics count here, and their life is not in the log",
    "pulsar_broker_rate_in": _PERIOD,
    "pulsar_broker_rate_out": _PERIOD,
    "pulsar_broker_throughput_in": _PERIOD,
    "pulsar_broker_throughput_out": _PERIOD,
    "pulsar_broker_storage_read_rate": _PERIOD,
    "pulsar_broker_storage_write_rate": _PERIOD,
    "pulsar_broker_storage_read_cache_misses_rate": _PERIOD,
    "pulsar_broker_pending_bytes_to_dispatch": "the log does not have it",
    "pulsar_broker_throttled_connections": "its own limit of connections, not PIP-434's: the log does not have it",
    "pulsar_broker_publish_latency*": _LATENCY,
    "pulsar_broker_lookup*": _INNER,
    "pulsar_broker_topic_load_pending_requests": _INNER,
    "pulsar_active_connections": "channel_memory has open connections; the broker counts its own ones to itself, too",
    "pulsar_connection_*": "no table counts connections since the broker started",
    "pulsar_compaction_*": "no table has compactions",
    "pulsar_health": _INNER,
    "pulsar_metadata_store_*": _INNER,
    "pulsar_ml_*": "managed ledgers by namespace: system topics count here, and their life is not in the log",
    "pulsar_resource_group_*": _INNER,
    "pulsar_schema_*": _INNER,
    "pulsar_topic_load_*": _INNER,
    "pulsar_version_info": "the log has no commit",
    "pulsar_web_executor_*": _INNER,
}

#: Lines of the families that are served, of which a reader would expect one.
LINES_LEFT_OUT = {
    "series of system topics (`__…`, and the tenant `pulsar`)": "their life is not in the log. So they have no part in the sums of "
    "namespaces; in the evictions of brokers and in the durations of checks they have, for the log has their checks",
    "`…_quota_check_duration_seconds_created`": "when that counter was made is not in the log",
    "`pulsar_subscription_back_log_no_delayed` of a Shared or Key_Shared subscription with a backlog": _DELAYED,
    "`pulsar_storage_backlog_size` after an eviction that went elsewhere than the rule, until the next check": "bytes are known at checks. "
    "An eviction by age ends a moment after its check, and takes entries that became too old meanwhile",
    "`pulsar_storage_backlog_age_seconds` of an age that is not certain": "the broker may have seen either of two states",
    "all that an incomplete part of the log could have changed": "events were lost, or the beginning was not seen (`complete` = false)",
}


def reason(family: str) -> str | None:
    """Why the family has no line; None: it is not among those left out."""
    exact = LEFT_OUT.get(family)
    return exact or next((why for name, why in LEFT_OUT.items() if name.endswith("*") and family.startswith(name[:-1])), None)
