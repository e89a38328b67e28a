"""A simulator of brokers, topics, subscriptions and clients. It writes the event log, and beside it why each subscription stood still.

It shares no code with the rules that read the log: what is written twice can be compared.

Each of these knows only those behind it: broker, topic, subscription, dispatcher, backlog, consumer, cursor, ledger, process. What goes
the other way, a new entry or what a client asks for, is a call that was handed down (`sim.consumer.Server`).
"""
