"""Every incident."""

from incidents import (
    batched_rate,
    compaction_cursor,
    delay_queue,
    ends_mid_window,
    hanging_failover,
    idle_consumer,
    key_shared_blocked,
    leaves_without_ack,
    lost_read,
    nack_storm,
    open_transaction,
    outpaced_consumer,
    quiet_broker,
    replicator_evicted,
    slow_storage,
    stale_unacked_block,
)
from incidents.incident import Incident

INCIDENTS: dict[str, Incident] = {
    module.INCIDENT.name: module.INCIDENT
    for module in (
        batched_rate,
        replicator_evicted,
        stale_unacked_block,
        lost_read,
        key_shared_blocked,
        delay_queue,
        open_transaction,
        compaction_cursor,
        quiet_broker,
        ends_mid_window,
        nack_storm,
        leaves_without_ack,
        hanging_failover,
        idle_consumer,
        slow_storage,
        outpaced_consumer,
    )
}
