"""A simulator of brokers, topics, subscriptions and clients. It writes the event log, and beside it why each subscription stood still.

It shares no code with the rules that read the log: what is written twice can be compared.
"""
