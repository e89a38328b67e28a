"""Kinds of events in a replay: planned by it, or given to it."""

#: Planned: the entries of a read come, entries come again, a blocked read is tried again, permits come, an entry is processed, and
#: acknowledged.
DELIVERY, REDELIVERY, RETRY, GRANT, DONE, ACK = range(6)
#: Given: recorded events, and settings. An entry is acknowledged (of the record, or before the replay begins), a mark is moved (only of the
#: record), a consumer is there, and has an entry, and a subscription goes on, when the replay begins.
PUBLISH, LEDGER_CLOSE, RATE, QUOTA, CHECK, SUBSCRIBE, ARRIVE, LEAVE, CHARGE, SAMPLE, ACKED, MARKED, THERE, HELD, ON = range(15)
