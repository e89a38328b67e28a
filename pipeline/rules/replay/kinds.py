"""Kinds of events in a replay: planned by it, or given to it."""

#: Planned: the entries of a read come, entries come again, a blocked read is tried again, permits come, an entry is processed, and
#: acknowledged.
DELIVERY, REDELIVERY, RETRY, GRANT, DONE, ACK = range(6)
#: Given: recorded events, and settings. The last two are only of the record: an entry is acknowledged, a mark is moved.
PUBLISH, LEDGER_CLOSE, RATE, QUOTA, CHECK, SUBSCRIBE, ARRIVE, LEAVE, CHARGE, SAMPLE, ACKED, MARKED = range(12)
