"""Where this package's fields lie in a lane row."""

from pipeline.rules.fields import columns

(TELLS_DELIVERIES,) = columns("broker_start", "tells_deliveries")
(READ_PERMITS,) = columns("read", "permits")
(GRANTED_PERMITS,) = columns("flow", "permits")
CAP, CAP_ON = columns("consumer_blocked", "cap", "on")
(DELAYED_ENTRIES,) = columns("delayed", "entries")
(REDELIVERED_ENTRIES,) = columns("redeliver", "entries")
FAILED, DONE_ENTRIES, DONE_REPLAY = columns("read_done", "failed", "entries", "replay")
(TRANSACTION_ACTION,) = columns("transaction", "transaction_action")
(STATED_TRANSACTIONS,) = columns("topic_state", "open_transactions")
#: The same column in both.
(OPEN_TRANSACTIONS,) = {*columns("transaction_open", "open_transactions"), *columns("transaction_end", "open_transactions")}
